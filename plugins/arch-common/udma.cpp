// SPDX-License-Identifier: Apache-2.0
#include "arch-common/udma.h"

#include <array>

namespace opennrt::arch_common {
namespace {

// Offsets inside a queue page, by enum nrtp_queue_reg. sw_ctrl is the only
// register whose place depends on the direction.
constexpr std::array<std::uint64_t, 7> kCommonRegs = {
    0x28,        // BASE_LO
    0x2C,        // BASE_HI
    0x30,        // LENGTH
    0x34,        // HEAD
    0x3C,        // TAIL
    0x38,        // TAIL_INC
    UINT64_MAX,  // DATA_TAIL_INC: second doorbell, absent
};
constexpr std::array<std::uint64_t, 2> kSwCtrl = {0xB0, 0x64};  // m2s, s2m

}  // namespace

std::uint64_t udma_queue_reg(std::uint32_t queue, std::uint32_t dir, std::uint32_t reg) {
  if (queue >= kUdmaQueues || dir > 1) return UINT64_MAX;
  std::uint64_t in_page = UINT64_MAX;
  if (reg == NRTP_QREG_SW_CTRL) {
    in_page = kSwCtrl[dir];
  } else if (reg < kCommonRegs.size()) {
    in_page = kCommonRegs[reg];
  }
  if (in_page == UINT64_MAX) return UINT64_MAX;
  return dir * kUdmaS2mOffset + kUdmaQueueBase + queue * std::uint64_t{kUdmaQueuePage} + in_page;
}

void udma_decode(std::uint64_t offset, nrtp_addr_class* out) {
  out->local = offset;
  out->bytes_left = kUdmaWindowBytes - offset;
  out->dir = offset >= kUdmaS2mOffset ? 1 : 0;
  const std::uint64_t in_half = offset - out->dir * kUdmaS2mOffset;
  const std::uint64_t queues_end = kUdmaQueueBase + kUdmaQueues * std::uint64_t{kUdmaQueuePage};
  if (in_half >= kUdmaQueueBase && in_half < queues_end) {
    out->queue = static_cast<std::uint32_t>((in_half - kUdmaQueueBase) / kUdmaQueuePage);
    out->reg = static_cast<std::uint32_t>((in_half - kUdmaQueueBase) % kUdmaQueuePage);
  } else {
    out->queue = kUdmaUnitRegisters;
    out->reg = static_cast<std::uint32_t>(in_half);
  }
}

}  // namespace opennrt::arch_common
