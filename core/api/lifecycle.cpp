// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include <algorithm>

#include "api/entry.h"
#include "api/session.h"
#include "api/version.h"
#include "nrt/nrt_version.h"

using namespace opennrt::api;
using opennrt::Status;

extern "C" {

NRT_STATUS nrt_init(nrt_framework_type_t framework, const char* fw_version,
                    const char* fal_version) {
  log_call(__func__, "API:IN", NRT_SUCCESS);
  const NRT_STATUS code = init(__func__, {framework, fw_version, fal_version});
  log_call(__func__, "API:OUT", code);
  return code;
}

void nrt_close(void) {
  log_call(__func__, "API:IN", NRT_SUCCESS);
  close();
  log_call(__func__, "API:OUT", NRT_SUCCESS);
}

NRT_STATUS nrt_get_version(nrt_version_t* ver, size_t size) {
  return unguarded(__func__, [&]() -> Status {
    ONRT_TRY(require(ver, "ver"));
    constexpr size_t kWithoutHash = offsetof(nrt_version_t, git_hash);
    constexpr size_t kHashFrom = 200;  // callers below it have no room for a hash
    if (size < kWithoutHash)
      return Status::failure("size is {}, need at least {}", size, kWithoutHash);
    nrt_version_t out{};
    out.rt_major = kVersionMajor;
    out.rt_minor = kVersionMinor;
    out.rt_patch = kVersionPatch;
    out.rt_maintenance = kVersionMaintenance;
    strncpy(out.rt_detail, kVersionText, sizeof out.rt_detail - 1);
    strncpy(out.git_hash, kGitHash, sizeof out.git_hash - 1);
    memcpy(ver, &out, size > kHashFrom ? std::min(size, sizeof out) : kWithoutHash);
    return {};
  });
}

NRT_STATUS nrt_get_total_vnc_count(uint32_t* vnc_count) {
  return unguarded(__func__, [&]() -> Status {
    ONRT_TRY(require(vnc_count, "vnc_count"));
    return total_cores(vnc_count);
  });
}

NRT_STATUS nrt_get_total_nc_count(uint32_t* vnc_count) {
  return nrt_get_total_vnc_count(vnc_count);
}

NRT_STATUS nrt_get_visible_vnc_count(uint32_t* vnc_count) {
  return unguarded(__func__, [&]() -> Status {
    ONRT_TRY(require(vnc_count, "vnc_count"));
    return visible_cores(vnc_count);
  });
}

NRT_STATUS nrt_get_visible_nc_count(uint32_t* vnc_count) {
  return nrt_get_visible_vnc_count(vnc_count);
}

NRT_STATUS nrt_get_instance_info(nrt_instance_info_t* info, size_t instance_info_len) {
  return unguarded(__func__, [&]() -> Status {
    ONRT_TRY(require(info, "info"));
    nrt_instance_info_t out{};
    ONRT_TRY(instance_info(&out));
    if (instance_info_len > sizeof out)
      ONRT_LOG(kNrt, kWarn, "instance_info_len is {}, this library fills {} bytes",
               instance_info_len, sizeof out);
    memcpy(info, &out, std::min(instance_info_len, sizeof out));
    return {};
  });
}

}  // extern "C"
