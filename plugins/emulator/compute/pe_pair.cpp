// SPDX-License-Identifier: Apache-2.0
#include "compute/pe_pair.h"

#include <cstring>

#include "device/bus.h"
#include "inspect/inspector.h"
#include "opennrt/isa/layouts.h"
#include "opennrt/isa/records.h"

namespace opennrt::emu {

namespace {

constexpr std::size_t kPayload = sizeof(isa::Header);
// Fields that are at the same place in every generation.
constexpr std::size_t kMode = isa::layout::S3_LW::sunda::fp32_mode.kOffset;
constexpr std::size_t kFlags = isa::layout::S3D3_MM::sunda::psum_accumulate_flags.kOffset;
static_assert(kMode == isa::layout::S3_LW::cayman::fp32_mode.kOffset &&
              kMode == isa::layout::S3_LW::mariana::fp32_mode.kOffset);
static_assert(kFlags == isa::layout::S3D3_MM::cayman::psum_accumulate_flags.kOffset &&
              kFlags == isa::layout::S3D3_MM::mariana::psum_accumulate_flags.kOffset);

// Payloads equal but for one byte.
bool alike(const std::uint8_t* a, const std::uint8_t* b, std::size_t except) {
  return std::memcmp(a + kPayload, b + kPayload, except - kPayload) == 0 &&
         std::memcmp(a + except + 1, b + except + 1, isa::kRecordBytes - except - 1) == 0;
}

bool posts_nothing(const std::uint8_t* record) {
  return record[offsetof(isa::Header, update_mode)] == isa::kUpdateNone;
}

}  // namespace

bool begins_fp32_pair(const EngineState& state) {
  namespace flag = isa::code::psum_accumulate;
  if (!state.bus) return false;
  const std::uint8_t* low_load = state.bus->map().memory(state.pc, 4 * isa::kRecordBytes);
  if (!low_load) return false;
  const std::uint8_t* low = low_load + kPairLowProduct;
  const std::uint8_t* high_load = low_load + kPairHighLoad;
  const std::uint8_t* high = low_load + kPairHighProduct;
  if (low_load[0] != isa::op::LDWEIGHTS || low[0] != isa::op::MATMUL ||
      high_load[0] != isa::op::LDWEIGHTS || high[0] != isa::op::MATMUL)
    return false;
  if (low_load[kMode] != isa::code::fp32_mode::LOW ||
      high_load[kMode] != isa::code::fp32_mode::HIGH || !alike(low_load, high_load, kMode) ||
      !alike(low, high, kFlags))
    return false;
  // The HIGH product must add to what the LOW one would have left. Holding the
  // elements, it would find them as they were before where the LOW one is due to
  // replace them.
  if (high[kFlags] & flag::START) return false;
  if ((high[kFlags] & flag::ACCUMULATE) != 0 && (low[kFlags] & flag::ACCUMULATE) == 0) return false;
  if (!posts_nothing(low_load) || !posts_nothing(low) || !posts_nothing(high_load)) return false;
  const Inspector* const inspector = state.bus->inspector();
  return !inspector || !(inspector->looks_after(state.pc + kPairLowProduct) ||
                         inspector->looks_after(state.pc + kPairHighLoad));
}

}  // namespace opennrt::emu
