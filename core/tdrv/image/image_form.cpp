// SPDX-License-Identifier: Apache-2.0
#include "tdrv/image/image_form.h"

#include <array>

namespace opennrt::tdrv::image {

namespace {

constexpr std::uint8_t kFrom227 = NRTP_FORM_BIT_2_27 | NRTP_FORM_BIT_2_30;
constexpr std::uint8_t kUpTo227 = NRTP_FORM_BIT_2_25 | NRTP_FORM_BIT_2_27;
constexpr std::uint8_t kOnly230 = NRTP_FORM_BIT_2_30;

constexpr Row kPreamble[] = {
    // SWITCH: this program is new on the engine
    {Step::kNotifySwitchStart},
    {Step::kOrder},
    {Step::kQueueSetup},
    {Step::kTableRing},
    {Step::kReloadTest, kOnly230},
    {Step::kNxSetup},
    {Step::kBarrier},
    {Step::kReload},
    {Step::kReloadSkipped, kOnly230},
    {Step::kBarrier},
    {Step::kRoundMode, kUpTo227},
    {Step::kLibraryLoad, kOnly230},
    {Step::kTableWait},
    {Step::kBarrier},
    {Step::kNotifySwitchEnd},
    {Step::kBranchToStart},
    // GATE
    {Step::kGateEntry},
    {Step::kOrder},
    {Step::kOrder, kFrom227},
    {Step::kGateWait},
    {Step::kSwitchTest},
    {Step::kLoadTarget},
    {Step::kLibraryClear, kOnly230},
    {Step::kClearTest, kOnly230},
    {Step::kNxClear},
    {Step::kReload},
    {Step::kBarrier},
    {Step::kBranchToTarget},
    // RUN-PROLOGUE
    {Step::kStart},
    {Step::kIoSwitch, kFormAll, true},
    {Step::kBarrier},
    {Step::kArgumentTable, kOnly230},
    {Step::kBarrier, kFormAll, true},
    {Step::kPeerBarrier},
};

constexpr Row kPostamble[] = {
    {Step::kBoundCheck, kFormAll, true},
    {Step::kBarrierAfterMain},
    {Step::kSemaphoreReset},
    {Step::kBarrier},
    {Step::kQueueReset},
    {Step::kNotifyEnd},
    {Step::kBranchToGate, kFormAll, true},
};

constexpr FormTraits kForms[] = {
    {.form = NRTP_FORM_2_25, .bit = NRTP_FORM_BIT_2_25, .split_patches = true},
    {.form = NRTP_FORM_2_27, .bit = NRTP_FORM_BIT_2_27},
    {.form = NRTP_FORM_2_30,
     .bit = NRTP_FORM_BIT_2_30,
     .argument_table = true,
     .conditional_reload = true,
     .flat_request = true},
};

constexpr std::uint32_t kFirstAddress = 0x04;
constexpr std::uint32_t kFirstHighFlat = 0x18;

}  // namespace

std::span<const Row> preamble_rows() { return kPreamble; }
std::span<const Row> postamble_rows() { return kPostamble; }

const FormTraits* find_form(std::uint32_t form) {
  for (const FormTraits& traits : kForms) {
    if (traits.form == form) return &traits;
  }
  return nullptr;
}

std::uint32_t request_address_lo(const FormTraits& form, std::uint32_t engine) {
  return kFirstAddress + engine * (form.flat_request ? 4 : 8);
}

std::uint32_t request_address_hi(const FormTraits& form, std::uint32_t engine) {
  return form.flat_request ? kFirstHighFlat + engine * 4 : kFirstAddress + 4 + engine * 8;
}

}  // namespace opennrt::tdrv::image
