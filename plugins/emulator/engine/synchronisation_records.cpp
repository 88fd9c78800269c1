// SPDX-License-Identifier: Apache-2.0
//
// Records without data: semaphores and events, the state of the sequencer,
// notifications. Layouts as found in device images of real runs, except where
// noted.
#include "engine/sequencer.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

namespace op = isa::op;
namespace layout = isa::layout;

Outcome do_nothing(Sequencer&, const Decoded&) { return Outcome::kNext; }

// --- EVENT_SEMAPHORE: two waits, then the update.

bool check_event_semaphore(const PlanContext& context, const Decoded& d, std::string* error) {
  const auto r = d.as<isa::EventSemaphoreRecord>();
  const nrtp_arch_geometry& g = context.map.geometry();
  return check_wait(g, r.wait_mode, r.wait_index, r.wait_value, error) &&
         check_update(g, r.update_mode, r.update_index, r.update_value, error);
}

// Most of them only write a constant: the runtime sets each semaphore of a core
// before a run.
Outcome write_semaphore(Sequencer& s, const Decoded& d) {
  const auto r = d.as<isa::EventSemaphoreRecord>();
  s.set_semaphore(r.update_index, static_cast<std::int32_t>(r.update_value));
  return Outcome::kNext;
}

Outcome event_semaphore(Sequencer& s, const Decoded& d) {
  // Both waits hold at the same time before either consumes its event.
  const auto r = d.as<isa::EventSemaphoreRecord>();
  if (!s.wait_holds(r.wait_mode, r.wait_index, r.wait_value))
    return s.block_on(r.wait_mode, r.wait_index, r.wait_value);
  if (!s.consume(r.h.wait_mode, r.h.wait_index)) return Outcome::kBlocked;
  if (!s.consume(r.wait_mode, r.wait_index)) {
    s.undo_consume(r.h.wait_mode, r.h.wait_index);
    return Outcome::kBlocked;
  }
  s.note_wait(r.wait_mode, r.wait_index, r.wait_value);
  s.update(r.update_mode, r.update_index, r.update_value);
  return Outcome::kNext;
}

Handler choose_event_semaphore(const Decoded& d) {
  const auto r = d.as<isa::EventSemaphoreRecord>();
  const bool only_writes = r.h.wait_mode == isa::kWaitNone && r.wait_mode == isa::kWaitNone &&
                           r.update_mode == isa::kUpdateSemWrite;
  return only_writes ? write_semaphore : event_semaphore;
}

// --- EVENT_SEMAPHORE_RANGE_CLEAR: semaphores first to last, or a set of them
// (published offsets; not found in device images).

constexpr std::uint32_t kClearRange = 1, kClearSet = 2;

bool check_range_clear(const PlanContext& context, const Decoded& d, std::string* error) {
  const auto r = d.as<isa::RangeClearRecord>();
  if (r.mode != kClearRange && r.mode != kClearSet)
    return refuse(error, "range mode " + std::to_string(r.mode));
  if (r.mode == kClearRange && r.first > r.last)
    return refuse(error,
                  "empty range " + std::to_string(r.first) + " to " + std::to_string(r.last));
  if (r.mode == kClearSet && (r.first | r.last) != 0)
    return refuse(error, "a range in the set mode");
  for (std::uint32_t i = 0; r.mode == kClearRange && i < layout::CTRL_ER::mask.kCount; ++i)
    if (layout::CTRL_ER::mask(d.raw, i) != 0) return refuse(error, "a set in the range mode");
  const nrtp_arch_geometry& g = context.map.geometry();
  if (r.mode == kClearRange) return check_semaphore(g, r.last, error);
  for (std::uint32_t i = g.semaphores; i < SyncBank::kCount; ++i)
    if ((layout::CTRL_ER::mask(d.raw, i / 8) >> i % 8 & 1) != 0)
      return check_semaphore(g, i, error);
  return true;
}

Outcome range_clear(Sequencer& s, const Decoded& d) {
  const auto r = d.as<isa::RangeClearRecord>();
  if (r.mode == kClearRange) {
    for (std::uint32_t i = r.first; i <= r.last; ++i) s.set_semaphore(i, 0);
    return Outcome::kNext;
  }
  for (std::uint32_t i = 0; i < SyncBank::kCount; ++i)
    if ((layout::CTRL_ER::mask(d.raw, i / 8) >> i % 8 & 1) != 0) s.set_semaphore(i, 0);
  return Outcome::kNext;
}

// --- TEST_EVENT_SEM: up to 16 semaphores or events and as many registers. Fields
// as public analyses of the instruction headers give them.

namespace test {

constexpr std::size_t kMode = 12, kUpdate = 13, kRepeat = 14, kCount = 15, kIds = 16,
                      kRegisters = 32, kThreshold = 48, kSignature = 52;
constexpr std::uint32_t kMaxIds = 16;
constexpr std::uint32_t kReadSemaphores = 0, kReadEvents = 1, kUpdateSemaphores = 2;

// Increments, decrements and what takes a register; nothing with an immediate.
bool register_update(std::uint32_t mode) {
  constexpr std::uint32_t kAtCompletion = 0x10;
  switch (mode & ~kAtCompletion) {
    case 0x03:
    case 0x04:
    case 0x06:
    case 0x08:
    case 0x0A:
      return true;
    default:
      return false;
  }
}

bool check(const PlanContext& context, const Decoded& d, std::string* error) {
  const std::uint8_t* r = d.raw;
  if (r[kMode] > kUpdateSemaphores)
    return refuse(error, "mode " + std::to_string(r[kMode]) +
                             " is not implemented: 0 (read semaphores), 1 (read events) and 2 "
                             "(update semaphores) are");
  if (r[kCount] == 0 || r[kCount] > kMaxIds)
    return refuse(error, std::to_string(r[kCount]) + " semaphores or events, a record has 1 to 16");
  if (r[kMode] == kUpdateSemaphores ? !register_update(r[kUpdate]) : r[kUpdate] != 0)
    return refuse(error, "update mode " + hex(r[kUpdate]) + " in mode " + std::to_string(r[kMode]));
  if (r[kRepeat] != 0)
    return refuse(
        error, "repeat count " + std::to_string(r[kRepeat]) + ", only conditional updates repeat");
  for (std::uint32_t i = 0; i < kMaxIds; ++i) {
    if (i >= r[kCount]) {
      if (r[kIds + i] != 0 || r[kRegisters + i] != 0)
        return refuse(error, "slot " + std::to_string(i) + " is not in use and not zero");
      continue;
    }
    if (r[kRegisters + i] >= Sequencer::kRegisters)
      return refuse(error, "register " + std::to_string(r[kRegisters + i]) + " does not exist");
    const nrtp_arch_geometry& g = context.map.geometry();
    if (r[kMode] == kReadEvents ? !check_event(g, r[kIds + i], error)
                                : !check_semaphore(g, r[kIds + i], error))
      return false;
    for (std::uint32_t j = 0; j < i; ++j)
      if (r[kIds + j] == r[kIds + i])
        return refuse(error, "number " + std::to_string(r[kIds + i]) + " occurs twice");
  }
  for (std::size_t i = kThreshold; i < isa::kRecordBytes; ++i)
    if (r[i] != 0 && i != kSignature)
      return refuse(error, "byte " + std::to_string(i) + " is " + hex(r[i]) + ", must be 0");
  return true;
}

Outcome execute(Sequencer& s, const Decoded& d) {
  const std::uint8_t* r = d.raw;
  const SyncBank& bank = s.sync();
  for (std::uint32_t i = 0; i < r[kCount]; ++i) {
    const std::uint8_t id = r[kIds + i], reg = r[kRegisters + i];
    if (r[kMode] == kReadSemaphores)
      *s.reg(reg) = static_cast<std::uint32_t>(bank.semaphore(id));
    else if (r[kMode] == kReadEvents)
      *s.reg(reg) = bank.event(id);
    else
      s.update(r[kUpdate], id, reg);
  }
  return Outcome::kNext;
}

}  // namespace test

// --- HALT, NOTIFY, SET_ORDERING_MODE, POOL configuration

Outcome halt(Sequencer& s, const Decoded&) {
  return s.take_arm() ? Outcome::kNext : Outcome::kHalted;
}

Outcome notify(Sequencer& s, const Decoded& d) {
  const auto r = d.as<isa::ControlRecord>();
  s.notify(r.notify_kind, r.notify_sub_id, r.h.debug_hint);
  return Outcome::kNext;
}

// Records complete one at a time: every mode orders them at least as it asks.
bool check_ordering_mode(const PlanContext&, const Decoded& d, std::string* error) {
  const std::uint32_t mode = layout::CTRL_OM::ordering_mode(d.raw);
  return mode <= 1 ||
         refuse(error, "ordering mode " + std::to_string(mode) + ", known are 0 and 1");
}

// The POOL library records of runtime form 2.30: sub-op 1 load, 2 clear. Library
// code is not modelled, an instruction that would need it is refused by opcode.
bool check_pool_config(const PlanContext&, const Decoded& d, std::string* error) {
  const std::uint32_t sub_op = layout::POOL_CFG_LIB::sub_op(d.raw);
  return sub_op == 1 || sub_op == 2 ||
         refuse(error, "sub-operation " + std::to_string(sub_op) + ", known are 1 and 2");
}

constexpr RecordEntry kEntries[] = {
    {op::EVENT_SEMAPHORE, event_semaphore, check_event_semaphore, choose_event_semaphore},
    {op::EVENT_SEMAPHORE_RANGE_CLEAR, range_clear, check_range_clear},
    {op::TEST_EVENT_SEM, test::execute, test::check},
    {op::HALT, halt, nullptr},
    {op::NOTIFY, notify, nullptr},
    {op::NOP, do_nothing, nullptr},
    {op::ENGINE_NOP, do_nothing, nullptr},
    // Records complete one at a time, so a drain finds nothing in flight.
    {op::DRAIN, do_nothing, nullptr},
    // Each fetch compares the slot with memory, so there is nothing to flush, and
    // nothing a hint could make faster.
    {op::INSTRUCTION_FLUSH, do_nothing, nullptr},
    {op::BRANCH_PREFETCH_HINT, do_nothing, nullptr},
    {op::SET_ORDERING_MODE, do_nothing, check_ordering_mode},
    {op::MODIFY_POOL_CONFIG, do_nothing, check_pool_config},
};

}  // namespace

std::span<const RecordEntry> synchronisation_records() { return kEntries; }

}  // namespace opennrt::emu
