// SPDX-License-Identifier: Apache-2.0
#include "api/microcode.h"

#include <mutex>
#include <utility>

#include "api/entry.h"

using namespace opennrt;
using namespace opennrt::api;

namespace opennrt::api {

namespace {

std::mutex& offer_mutex() {
  static std::mutex* const mutex = new std::mutex;
  return *mutex;
}
constinit nrt_ucode_info g_offer{};

}  // namespace

Status offer_microcode(const nrt_ucode_info& info) {
  if (state() != State::kStart)
    return Status::failure("microcode is possible before nrt_init only");
  const std::lock_guard lock(offer_mutex());
  g_offer = info;
  return {};
}

nrt_ucode_info take_microcode() {
  const std::lock_guard lock(offer_mutex());
  return std::exchange(g_offer, nrt_ucode_info{});
}

}  // namespace opennrt::api

extern "C" {

NRT_STATUS nrt_set_pool_eng_ucode(const nrt_ucode_info* ucode_info) {
  return unguarded(__func__, [&]() -> Status {
    // The state comes before the arguments.
    if (state() != State::kStart)
      return Status::failure("microcode is possible before nrt_init only");
    ONRT_TRY(require(ucode_info, "ucode_info"));
    for (const auto& [image, name] :
         {std::pair{ucode_info->iram, "iram"}, {ucode_info->dram, "dram"}}) {
      if (image.bin == nullptr) return Status::invalid("ucode_info.{}.bin is NULL", name);
      if (image.size == 0) return Status::invalid("ucode_info.{}.size is 0", name);
    }
    return offer_microcode(*ucode_info);
  });
}

}  // extern "C"
