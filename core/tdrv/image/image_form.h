// SPDX-License-Identifier: Apache-2.0
//
// The image forms as data: which steps each region has, in which form and on
// which engines. Read from device images of runtimes 2.25, 2.27 and 2.30.
#pragma once

#include <cstdint>
#include <span>

#include "opennrt/arch.h"

namespace opennrt::tdrv::image {

// One place in a region. What it appends is in region_steps.cpp.
enum class Step : std::uint8_t {
  kNotifySwitchStart,
  kOrder,             // ORDER 1
  kQueueSetup,        // of the sets the engine owns
  kTableRing,         // DVE and ACT tables: ring set-up and kick
  kReloadTest,        // skips to kReloadSkipped when the sequencer keeps its set-up
  kNxSetup,           // arch: sequencer local registers
  kBarrier,           // DRAIN, barrier of the five engines, DRAIN
  kBarrierAfterMain,  // same; the first DRAIN counts MAIN
  kReload,            // start control, HALT: the sequencer reloads and goes on
  kReloadSkipped,     // target of kReloadTest
  kRoundMode,
  kLibraryLoad,
  kTableWait,
  kNotifySwitchEnd,
  kBranchToStart,
  kGateEntry,   // every later run enters here
  kGateWait,    // PE: request; others: release by PE
  kSwitchTest,  // branches to START when this program stays
  kLoadTarget,  // address of the next image
  kLibraryClear,
  kClearTest,  // skips the arch's clear writes
  kNxClear,
  kBranchToTarget,
  kStart,     // NOTIFY START
  kIoSwitch,  // exec ring doorbell and its event
  kArgumentTable,
  kPeerBarrier,
  kBoundCheck,
  kSemaphoreReset,
  kQueueReset,
  kNotifyEnd,
  kBranchToGate,
};

inline constexpr std::uint8_t kFormAll =
    NRTP_FORM_BIT_2_25 | NRTP_FORM_BIT_2_27 | NRTP_FORM_BIT_2_30;

struct Row {
  Step step;
  std::uint8_t forms = kFormAll;  // enum nrtp_ib_form_bit
  bool starts_patch = false;      // 2.25 lists the records from here as an insert of their own
};

std::span<const Row> preamble_rows();
std::span<const Row> postamble_rows();

// What a form fixes beside its rows.
struct FormTraits {
  std::uint32_t form = 0;
  std::uint8_t bit = 0;
  bool split_patches = false;       // one insert per part instead of one per region
  bool argument_table = false;      // programs with a dge-table can run
  bool conditional_reload = false;  // request words reload_seq_config, load_act_dve_tables
  bool flat_request = false;        // all low words, then all high words
};

// nullptr: unknown form.
const FormTraits* find_form(std::uint32_t form);

// Byte offsets of the words of a request.
inline constexpr std::uint32_t kRequestSwitch = 0x00;
inline constexpr std::uint32_t kRequestReload = 0x2C;      // flat layout only
inline constexpr std::uint32_t kRequestLoadTables = 0x30;  // flat layout only
std::uint32_t request_address_lo(const FormTraits& form, std::uint32_t engine);
std::uint32_t request_address_hi(const FormTraits& form, std::uint32_t engine);

}  // namespace opennrt::tdrv::image
