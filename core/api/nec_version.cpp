// SPDX-License-Identifier: Apache-2.0
//
// Declared in the public headers, linked by callers from the archive, not
// exported. There is no collectives library that could have a version.
#include <cstddef>
#include <cstring>

#include "nrt/nec.h"

extern "C" NRT_STATUS nec_get_version_info(nec_version_info_t* version_info) {
  if (version_info == nullptr) return NRT_INVALID;
  std::memset(version_info, 0, offsetof(nec_version_info_t, future_fields));
  return NRT_FAILURE;
}
