// SPDX-License-Identifier: Apache-2.0
//
// The control records: decoding (what is refused, and why) and execution.
#include <algorithm>
#include <cstring>

#include "engine/sequencer.h"

namespace opennrt::emu {

namespace {

using Check = bool (*)(std::uint32_t engine, const Decoded&, std::string*);

bool refuse(std::string* error, std::string text) {
  *error = std::move(text);
  return false;
}

bool known_register(std::uint32_t number) {
  return number < Sequencer::kRegisters || number == isa::kRegArgTableLo ||
         number == isa::kRegArgTableHi;
}

bool check_wait(std::uint32_t mode, std::uint32_t value, std::string* error) {
  if (!valid_wait_mode(mode)) return refuse(error, "unknown wait mode " + hex(mode));
  if ((mode & isa::kWaitRegisterBit) != 0 && !known_register(value))
    return refuse(error, "wait on register " + std::to_string(value) + ", which does not exist");
  return true;
}

bool check_update(std::uint32_t mode, std::uint32_t value, std::string* error) {
  if (!valid_update_mode(mode)) return refuse(error, "unknown update mode " + hex(mode));
  const std::uint32_t action = mode & 0xF;
  const bool from_register =
      (mode & isa::kWaitRegisterBit) != 0 || action == 6 || action == 8 || action == 10;
  if (from_register && !known_register(value))
    return refuse(error,
                  "update from register " + std::to_string(value) + ", which does not exist");
  return true;
}

Outcome do_nothing(Sequencer&, const Decoded&) { return Outcome::kNext; }

// --- EVENT_SEMAPHORE: two waits, then the update.

bool check_event_semaphore(std::uint32_t, const Decoded& d, std::string* error) {
  const auto r = d.as<isa::EventSemaphoreRecord>();
  return check_wait(r.wait_mode, r.wait_value, error) &&
         check_update(r.update_mode, r.update_value, error);
}

Outcome event_semaphore(Sequencer& s, const Decoded& d) {
  // Both waits hold at the same time before either consumes its event.
  const auto r = d.as<isa::EventSemaphoreRecord>();
  if (!s.wait_holds(r.wait_mode, r.wait_index, r.wait_value)) return Outcome::kBlocked;
  if (!s.consume(r.h.wait_mode, r.h.wait_index)) return Outcome::kBlocked;
  if (!s.consume(r.wait_mode, r.wait_index)) {
    s.undo_consume(r.h.wait_mode, r.h.wait_index);
    return Outcome::kBlocked;
  }
  s.update(r.update_mode, r.update_index, r.update_value);
  return Outcome::kNext;
}

// --- WRITE

bool check_write(std::uint32_t, const Decoded& d, std::string* error) {
  const auto r = d.as<isa::WriteRecord>();
  if (r.size0 != 4 || (r.size1 != 4 && r.size1 != 0))
    return refuse(error, "write sizes " + std::to_string(r.size0) + " and " +
                             std::to_string(r.size1) +
                             ", only 4 (and 0 for no second write) exist");
  return true;
}

Outcome write(Sequencer& s, const Decoded& d) {
  const auto r = d.as<isa::WriteRecord>();
  const Origin who = s.origin();
  const auto data0 = static_cast<std::uint32_t>(r.data0);
  s.bus().bus_write(r.address0, &data0, 4, who);
  if (r.size1 != 0) {
    const auto data1 = static_cast<std::uint32_t>(r.data1);
    s.bus().bus_write(r.address1, &data1, 4, who);
  }
  return Outcome::kNext;
}

// --- TENSOR_LOAD, TENSOR_STORE: up to 32 words from or to device space.

// Marker byte of the address field: register pair instead of an address.
constexpr std::uint32_t kAddressRegister = 0x80;

bool check_memory(std::uint32_t, const Decoded& d, std::string* error) {
  const auto r = d.as<isa::MemRecord>();
  const bool store = r.h.opcode == isa::kOpTensorStore;
  if (r.dtype != isa::kDtUint32 && r.dtype != isa::kDtInt32 && r.dtype != isa::kDtFloat32)
    return refuse(error, "data type " + std::to_string(r.dtype) + ", only 4-byte types move");
  if (r.immediate > (store ? 1 : 0))
    return refuse(error, "data mode " + std::to_string(r.immediate));
  const std::uint32_t n = std::uint32_t{r.count_inner} * r.count_outer;
  const std::uint32_t limit = r.immediate ? 8 : 32;
  if (n == 0 || n > limit)
    return refuse(error, std::to_string(r.count_inner) + " x " + std::to_string(r.count_outer) +
                             " elements, the record holds 1 to " + std::to_string(limit));
  const auto marker = static_cast<std::uint32_t>(r.address >> 56);
  if (marker != 0 && marker != kAddressRegister)
    return refuse(error, "address marker " + hex(marker) + " is not implemented");
  if (marker == kAddressRegister &&
      (!known_register(r.address & 0xFF) || !known_register(r.address >> 8 & 0xFF)))
    return refuse(error, "address register pair does not exist");
  if (!r.immediate)
    for (std::uint32_t i = 0; i < n; ++i)
      if (!known_register(r.reg[i]))
        return refuse(error, "register " + std::to_string(r.reg[i]) + " does not exist");
  return true;
}

template <typename Element>
void for_each_word(Sequencer& s, const isa::MemRecord& r, Element element) {
  std::uint64_t address = r.address;
  if (address >> 56 == kAddressRegister)
    address = std::uint64_t{*s.reg(r.address >> 8 & 0xFF)} << 32 | *s.reg(r.address & 0xFF);
  std::uint32_t k = 0;
  for (std::int64_t j = 0; j < r.count_outer; ++j)
    for (std::int64_t i = 0; i < r.count_inner; ++i)
      element(address + static_cast<std::uint64_t>(4 * (i * r.step_inner + j * r.step_outer)), k++);
}

Outcome tensor_load(Sequencer& s, const Decoded& d) {
  const auto r = d.as<isa::MemRecord>();
  const Origin who = s.origin();
  // All words are read before a register changes: the address may come from one.
  std::uint32_t words[32];
  for_each_word(s, r, [&](std::uint64_t address, std::uint32_t k) {
    s.bus().bus_read(address, &words[k], 4, who);
  });
  const std::uint32_t n = std::uint32_t{r.count_inner} * r.count_outer;
  for (std::uint32_t k = 0; k < n; ++k) *s.reg(r.reg[k]) = words[k];
  return Outcome::kNext;
}

Outcome tensor_store(Sequencer& s, const Decoded& d) {
  const auto r = d.as<isa::MemRecord>();
  const Origin who = s.origin();
  for_each_word(s, r, [&](std::uint64_t address, std::uint32_t k) {
    std::uint32_t word;
    if (r.immediate)
      std::memcpy(&word, d.raw + offsetof(isa::MemRecord, data) + 4 * k, 4);
    else
      word = *s.reg(r.reg[k]);
    s.bus().bus_write(address, &word, 4, who);
  });
  return Outcome::kNext;
}

// --- COMPARE_BRANCH

// Register forms follow the immediate ones.
constexpr std::uint32_t kBranchRegisterForms = 8;

bool check_branch(std::uint32_t, const Decoded& d, std::string* error) {
  const auto r = d.as<isa::CompareBranchRecord>();
  const bool register_form = r.op > kBranchRegisterForms;
  const std::uint32_t op = register_form ? r.op - kBranchRegisterForms : r.op;
  if (op > isa::kBranchGtImm) return refuse(error, "compare code " + std::to_string(r.op));
  if (op != isa::kBranchAlways) {
    if (r.dtype != isa::kDtUint32 && r.dtype != isa::kDtInt32 && r.dtype != isa::kDtFloat32)
      return refuse(error, "compares data type " + std::to_string(r.dtype) +
                               ", only int32, uint32 and float32 are implemented");
    if (!known_register(r.lhs) || (register_form && !known_register(r.rhs)))
      return refuse(error, "compares a register that does not exist");
  }
  if (r.target_mode == isa::kTargetRegister) {
    if (!known_register(r.target_lo) || !known_register(r.target_hi))
      return refuse(error, "target register pair does not exist");
  } else if (r.target_mode != isa::kTargetRelative) {
    return refuse(error, "branch target mode " + std::to_string(r.target_mode));
  }
  return true;
}

template <typename T>
bool compare(std::uint32_t op, T a, T b) {
  switch (op) {
    case isa::kBranchLtImm:
      return a < b;
    case isa::kBranchLeImm:
      return a <= b;
    case isa::kBranchEqImm:
      return a == b;
    case isa::kBranchNeImm:
      return a != b;
    case isa::kBranchGeImm:
      return a >= b;
    case isa::kBranchGtImm:
      return a > b;
    default:
      return true;
  }
}

template <typename T>
T as_type(std::uint32_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

Outcome compare_branch(Sequencer& s, const Decoded& d) {
  const auto r = d.as<isa::CompareBranchRecord>();
  bool taken = r.op == isa::kBranchAlways;
  if (!taken) {
    const bool register_form = r.op > kBranchRegisterForms;
    const std::uint32_t op = register_form ? r.op - kBranchRegisterForms : r.op;
    const std::uint32_t a = *s.reg(r.lhs);
    const std::uint32_t b = register_form ? *s.reg(r.rhs) : r.immediate;
    if (r.dtype == isa::kDtInt32)
      taken = compare(op, static_cast<std::int32_t>(a), static_cast<std::int32_t>(b));
    else if (r.dtype == isa::kDtFloat32)
      taken = compare(op, as_type<float>(a), as_type<float>(b));
    else
      taken = compare(op, a, b);
  }
  if (!taken) return Outcome::kNext;
  if (r.target_mode == isa::kTargetRegister)
    s.jump(std::uint64_t{*s.reg(r.target_hi)} << 32 | *s.reg(r.target_lo));
  else
    s.jump(s.program_counter() + static_cast<std::uint64_t>(std::int64_t{r.offset}));
  return Outcome::kJumped;
}

// --- HALT, NOTIFY, RANGE_CLEAR, table selection, POOL configuration

Outcome halt(Sequencer& s, const Decoded&) {
  return s.take_arm() ? Outcome::kNext : Outcome::kHalted;
}

Outcome notify(Sequencer& s, const Decoded& d) {
  const auto r = d.as<isa::ControlRecord>();
  const std::uint64_t line = s.program_counter() / isa::kRecordBytes;
  // Tag 4 * (engine + 1) + 2; hint in the high nibble of byte 2.
  const std::uint32_t tag = 4 * (s.engine() + 1) + 2;
  const Notification n{.word0 = static_cast<std::uint32_t>(line & 0xFFFFF) |
                                (r.h.debug_hint & std::uint32_t{0xF}) << 20 | (tag & 0x1F) << 24,
                       .word1 = r.notify_sub_id | std::uint32_t{r.notify_kind} << 16};
  s.bus().notify(s.core(), s.bus().map().geometry().status_queue_first + s.engine(), n);
  return Outcome::kNext;
}

bool check_range_clear(std::uint32_t, const Decoded& d, std::string* error) {
  const auto r = d.as<isa::RangeClearRecord>();
  if (r.mode != 1) return refuse(error, "range mode " + std::to_string(r.mode));
  if (r.first > r.last)
    return refuse(error,
                  "empty range " + std::to_string(r.first) + " to " + std::to_string(r.last));
  return true;
}

Outcome range_clear(Sequencer& s, const Decoded& d) {
  const auto r = d.as<isa::RangeClearRecord>();
  for (std::uint32_t i = r.first; i <= r.last; ++i) s.bus().sync(s.core()).set_semaphore(i, 0);
  return Outcome::kNext;
}

Outcome activation_table_load(Sequencer& s, const Decoded& d) {
  s.state().activation_set = d.as<isa::ControlRecord>().act_set_index;
  return Outcome::kNext;
}

// The POOL library records of runtime form 2.30: sub-op 1 load, 2 clear. Library
// code is not modelled, an instruction that would need it is refused by opcode.
bool check_pool_config(std::uint32_t engine, const Decoded& d, std::string* error) {
  if (engine != NRTP_ENGINE_POOL) return refuse(error, "exists on POOL only");
  if (d.raw[12] != 1 && d.raw[12] != 2)
    return refuse(error, "sub-operation " + std::to_string(d.raw[12]));
  return true;
}

// --- Compute records

Outcome compute(Sequencer& s, const Decoded& d) {
  std::string error;
  return d.plan->execute(s.state(), &error) ? Outcome::kNext : s.fail(d.raw[0], error);
}

struct Entry {
  std::uint8_t opcode;
  Handler handler;
  Check check;  // nullptr: nothing beyond the header
};

constexpr Entry kEntries[] = {
    {isa::kOpActivationTableLoad, activation_table_load, nullptr},
    {isa::kOpPoolConfig, do_nothing, check_pool_config},
    {isa::kOpEventSemaphore, event_semaphore, check_event_semaphore},
    {isa::kOpHalt, halt, nullptr},
    // Records complete one at a time, so a drain finds nothing in flight.
    {isa::kOpDrain, do_nothing, nullptr},
    {isa::kOpNop, do_nothing, nullptr},
    {isa::kOpWrite, write, check_write},
    {isa::kOpNotify, notify, nullptr},
    {isa::kOpCompareBranch, compare_branch, check_branch},
    {isa::kOpTensorLoad, tensor_load, check_memory},
    {isa::kOpTensorStore, tensor_store, check_memory},
    {isa::kOpRangeClear, range_clear, check_range_clear},
    {isa::kOpSetOrderingMode, do_nothing, nullptr},
};

}  // namespace

bool decode_record(const PlanContext& context, Decoded* out, std::string* error) {
  out->plan.reset();
  const isa::Header h = out->header();
  if (!check_wait(h.wait_mode, h.value, error) || !check_update(h.update_mode, h.value, error))
    return false;
  for (const Entry& e : kEntries) {
    if (e.opcode != h.opcode) continue;
    out->handler = e.handler;
    return !e.check || e.check(context.engine, *out, error);
  }
  if (find_plan_maker(h.opcode)) {
    out->handler = compute;
    out->plan = plan_compute(context, out->raw, error);
    return out->plan != nullptr;
  }
  if (h.opcode >= 0xC0 && h.opcode <= 0xDF)
    return refuse(error, "a pseudo-instruction must not appear in an image");
  return refuse(error, std::string(isa::opcode_name(h.opcode)) +
                           " is not implemented by the software device");
}

}  // namespace opennrt::emu
