// SPDX-License-Identifier: Apache-2.0
#include "engine/sequencer.h"

#include <algorithm>
#include <cstring>

#include "engine/own_instruction.h"
#include "inspect/inspector.h"
#include "opennrt/isa/arch.h"
#include "opennrt/isa/support.h"
#include "verify/verifier.h"

namespace opennrt::emu {

namespace {

// Low nibble of an update mode. Bit 4 (at completion instead of at operand read)
// makes no difference to a sequencer that finishes each record at once; the
// verifier is told.
constexpr std::uint32_t kAtCompletion = 0x10;
enum UpdateAction : std::uint32_t {
  kEvtSet = 1,
  kEvtClear = 2,
  kSemInc = 3,
  kSemDec = 4,
  kSemAdd = 5,
  kSemAddReg = 6,
  kSemSub = 7,
  kSemSubReg = 8,
  kSemWrite = 9,
  kSemWriteReg = 10
};

// Sixteen bytes at a time: this happens for every slot that an engine reaches.
typedef std::uint64_t Words __attribute__((vector_size(16)));

Words difference(const std::uint8_t* a, const std::uint8_t* b, std::size_t at) {
  Words x, y;
  std::memcpy(&x, a + at, sizeof x);
  std::memcpy(&y, b + at, sizeof y);
  return x ^ y;
}

bool same_record(const std::uint8_t* a, const std::uint8_t* b) {
  static_assert(isa::kRecordBytes == 4 * sizeof(Words));
  const Words all =
      (difference(a, b, 0) | difference(a, b, 16)) | (difference(a, b, 32) | difference(a, b, 48));
  return (all[0] | all[1]) == 0;
}

const char* comparison(std::uint32_t mode) {
  static constexpr const char* kNames[] = {"", "==", "<", "<=", ">", ">="};
  return kNames[mode & 7];
}

}  // namespace

const char* engine_name(std::uint32_t engine) {
  static constexpr const char* kNames[] = {"PE", "ACT", "POOL", "DVE", "SP"};
  return engine < 5 ? kNames[engine] : "?";
}

bool valid_wait_mode(std::uint32_t mode) {
  switch (mode) {
    case isa::kWaitNone:
    case isa::kWaitEvtSet:
    case isa::kWaitEvtSetThenClear:
    case isa::kWaitEvtClear:
    case isa::kWaitEvtClearThenSet:
    case isa::kWaitUnordered:
      return true;
    default: {
      const std::uint32_t compare = mode & ~std::uint32_t{isa::kWaitRegisterBit};
      return compare >= isa::kWaitSemEq && compare <= isa::kWaitSemGe;
    }
  }
}

bool valid_update_mode(std::uint32_t mode) {
  const std::uint32_t plain = mode & ~std::uint32_t{isa::kWaitRegisterBit};
  if (plain == 0) return mode == 0;
  if (plain > 0x1A) return false;
  const std::uint32_t action = plain & 0xF;
  if (action < kEvtSet || action > kSemWriteReg) return false;
  // The register bit belongs to the modes that have an operand.
  return mode == plain || action == kSemAdd || action == kSemSub || action == kSemWrite;
}

void Sequencer::configure(Bus* bus, SyncBank* sync, std::uint32_t core, std::uint32_t engine) {
  bus_ = bus;
  sync_ = sync;
  map_ = &bus->map();
  verifier_ = bus->verifier();
  state_.bus = bus;
  state_.core = core;
  state_.engine = engine;
  inspector_ = bus->inspector();
  defer_transfers_ = verifier_ && verifier_->options().order_seed;
  generation_ = isa::generation_of(map_->arch());
}

void Sequencer::reset() {
  running_ = failed_ = hung_ = false;
  blocked_on_ = {};
  pc_ = 0;
  state_.reset();
  std::memset(arg_table_, 0, sizeof arg_table_);
  start_ctrl_.store(0, std::memory_order_release);
  start_lo_.store(0, std::memory_order_release);
  start_hi_.store(0, std::memory_order_release);
  cache_.clear();
  pending_transfers_.clear();
}

std::uint64_t Sequencer::start_address() const {
  return std::uint64_t{start_hi_.load(std::memory_order_acquire)} << 32 |
         start_lo_.load(std::memory_order_acquire);
}

void Sequencer::end_program(std::span<const MemoryRange> gone) {
  const auto lies_in = [gone](std::uint64_t address) {
    return std::any_of(gone.begin(), gone.end(),
                       [address](const MemoryRange& r) { return address - r.begin < r.bytes; });
  };
  if (lies_in(start_address())) take_arm();
  if (!running_ || !lies_in(pc_)) return;
  running_ = false;
  blocked_on_ = {};
  pending_transfers_.clear();
}

std::uint32_t* Sequencer::reg(std::uint32_t number) {
  if (number < kRegisters) return &state_.registers[number];
  if (number == isa::kRegArgTableLo) return &arg_table_[0];
  if (number == isa::kRegArgTableHi) return &arg_table_[1];
  return nullptr;
}

bool Sequencer::wait_holds(std::uint32_t mode, std::uint32_t index, std::uint32_t value) const {
  const SyncBank& sync = *sync_;
  switch (mode) {
    case isa::kWaitNone:
    case isa::kWaitUnordered:  // in order is one of the orders it allows
      return true;
    case isa::kWaitEvtSet:
    case isa::kWaitEvtSetThenClear:
      return sync.event(index) != 0;
    case isa::kWaitEvtClear:
    case isa::kWaitEvtClearThenSet:
      return sync.event(index) == 0;
    default:
      break;
  }
  std::uint32_t operand = value;
  if (mode & isa::kWaitRegisterBit) {
    const std::uint32_t* r = reg(value);
    if (!r) return false;  // refused when the record was decoded
    operand = *r;
  }
  const std::int32_t threshold = static_cast<std::int32_t>(operand);
  const std::int32_t have = sync.semaphore(index);
  switch (mode & ~std::uint32_t{isa::kWaitRegisterBit}) {
    case isa::kWaitSemEq:
      return have == threshold;
    case isa::kWaitSemLt:
      return have < threshold;
    case isa::kWaitSemLe:
      return have <= threshold;
    case isa::kWaitSemGt:
      return have > threshold;
    default:
      return have >= threshold;
  }
}

bool Sequencer::consume(std::uint32_t mode, std::uint32_t index) {
  if (mode == isa::kWaitEvtSetThenClear) return sync_->flip_event(index, true);
  if (mode == isa::kWaitEvtClearThenSet) return sync_->flip_event(index, false);
  return true;
}

void Sequencer::undo_consume(std::uint32_t mode, std::uint32_t index) {
  if (mode == isa::kWaitEvtSetThenClear) sync_->set_event(index, true);
  if (mode == isa::kWaitEvtClearThenSet) sync_->set_event(index, false);
}

void Sequencer::update(std::uint32_t mode, std::uint32_t index, std::uint32_t value) {
  if (mode == 0) return;
  SyncBank& sync = *sync_;
  Verifier* const verifier = verifier_;
  const std::uint32_t action = mode & 0xF;
  const bool from_register = (mode & isa::kWaitRegisterBit) != 0 || action == kSemAddReg ||
                             action == kSemSubReg || action == kSemWriteReg;
  std::uint32_t operand = value;
  if (from_register) {
    const std::uint32_t* r = reg(value);
    operand = r ? *r : 0;  // the number was checked when the record was decoded
  }
  const auto add = [&](std::uint32_t delta) {
    const std::int32_t now = sync.add_semaphore(index, delta);
    if (verifier) verifier->semaphore_added(origin(), core(), index, now);
  };
  switch (action) {
    case kEvtSet:
    case kEvtClear:
      sync.set_event(index, action == kEvtSet);
      if (verifier) verifier->event_written(origin(), core(), index);
      break;
    case kSemInc:
      add(1);
      break;
    case kSemDec:
      add(~0u);
      break;
    case kSemAdd:
    case kSemAddReg:
      add(operand);
      break;
    case kSemSub:
    case kSemSubReg:
      add(0u - operand);
      break;
    default:
      set_semaphore(index, static_cast<std::int32_t>(operand));
      break;
  }
}

void Sequencer::tell_semaphore_set(std::uint32_t index, std::int32_t value) {
  verifier_->semaphore_set(origin(), core(), index, value);
}

void Sequencer::note_wait(std::uint32_t mode, std::uint32_t index, std::uint32_t value) {
  Verifier* const verifier = verifier_;
  if (!verifier || mode == isa::kWaitNone || mode == isa::kWaitUnordered) return;
  if (mode == isa::kWaitEvtSet || mode == isa::kWaitEvtSetThenClear || mode == isa::kWaitEvtClear ||
      mode == isa::kWaitEvtClearThenSet) {
    verifier->event_passed(origin(), core(), index);
    // What consumes the event is what the next setter waits for.
    if (mode == isa::kWaitEvtSetThenClear || mode == isa::kWaitEvtClearThenSet)
      verifier->event_written(origin(), core(), index);
    return;
  }
  const std::uint32_t* r = (mode & isa::kWaitRegisterBit) != 0 ? reg(value) : &value;
  const auto threshold = static_cast<std::int32_t>(r ? *r : 0);
  const std::uint32_t compare = mode & ~std::uint32_t{isa::kWaitRegisterBit};
  const std::int32_t reached = compare == isa::kWaitSemGt ? threshold + 1 : threshold;
  const bool rising = compare == isa::kWaitSemGe || compare == isa::kWaitSemGt;
  verifier->semaphore_passed(origin(), core(), index, rising ? &reached : nullptr);
}

// --- descriptor generator

void Sequencer::start_transfer(const GeneratedTransfer& transfer) {
  if (Verifier* v = verifier_) v->generator_started(origin(), generator(transfer.slot));
  if (defer_transfers_)
    pending_transfers_.push_back(transfer);
  else
    perform(transfer);
}

void Sequencer::perform(const GeneratedTransfer& transfer) {
  const Origin who = generator(transfer.slot);
  Verifier* const verifier = verifier_;
  if (verifier) verifier->begin(who);
  copy_generated(*bus_, transfer, who);
  const std::int32_t now = sync_->add_semaphore(transfer.semaphore, transfer.increment);
  if (verifier) verifier->semaphore_added(who, core(), transfer.semaphore, now);
}

bool Sequencer::perform_pending_transfer() {
  if (pending_transfers_.empty()) return false;
  const GeneratedTransfer transfer = pending_transfers_.front();
  pending_transfers_.pop_front();
  perform(transfer);
  return true;
}

void Sequencer::notify(std::uint32_t kind, std::uint32_t sub_id, std::uint32_t hint) {
  if (kind == isa::kNotifyStart) furthest_ = pc_;
  const std::uint64_t line = pc_ / isa::kRecordBytes;
  // Tag 4 * (engine + 1) + 2; hint in the high nibble of byte 2.
  const std::uint32_t tag = 4 * (engine() + 1) + 2;
  const Notification n{
      .word0 = static_cast<std::uint32_t>(line & 0xFFFFF) | (hint & 0xF) << 20 | (tag & 0x1F) << 24,
      .word1 = (sub_id & 0xFFFF) | kind << 16};
  bus_->notify(core(), map_->geometry().status_queue_first + engine(), n);
  if (inspector_ && kind == isa::kNotifyStart) inspector_->started(core(), engine(), pc_);
}

Outcome Sequencer::fail(std::uint32_t opcode, const std::string& text) {
  running_ = false;
  failed_ = true;
  bus_->report(origin(), ErrorType::kUnitStopped, static_cast<std::uint16_t>(opcode),
               "opcode " + hex(opcode) + ": " + text + "; the engine stops");
  return Outcome::kFailed;
}

bool Sequencer::decode(Decoded* d, const std::uint8_t* memory) {
  std::memcpy(d->raw, memory, isa::kRecordBytes);
  std::string error;
  const bool own = claimed(map_->arch(), engine(), d->raw[0]);
  const char* reading = own ? nullptr : isa::device_reading(d->raw[0]);
  if (!decode_record({*map_, core(), engine(), generation_}, d, &error) ||
      (reading && !bus_->accept_unconfirmed(d->raw[0], reading, &error))) {
    d->handler = nullptr;
    fail(d->raw[0], error);
    return false;
  }
  d->weight = record_weight(*d, state_);
  return true;
}

[[gnu::always_inline]] inline bool Sequencer::step() {
  DecodeCache::Fetched slot{};
  if (pc_ % isa::kRecordBytes == 0) slot = cache_.fetch(*map_, pc_);
  if (!slot.decoded) {
    fail(0, "program counter is not a 64-byte slot in memory");
    return false;
  }
  const std::uint8_t* memory = slot.memory;
  // Most records are followed by the next ones; a page more asks for nothing.
  __builtin_prefetch(memory + 2 * isa::kRecordBytes);
  __builtin_prefetch(slot.decoded + 2);
  Decoded& d = *slot.decoded;
  if ((!d.handler || !same_record(d.raw, memory)) && !decode(&d, memory)) return false;
  const isa::Header h = d.header();
  if (h.wait_mode != 0) {
    if (!wait_holds(h.wait_mode, h.wait_index, h.value)) {
      block_on(h.wait_mode, h.wait_index, h.value);
      return false;
    }
    if (h.opcode != isa::kOpEventSemaphore && !consume(h.wait_mode, h.wait_index)) return false;
  }
  state_.pc = pc_;
  if (pc_ > furthest_) {
    furthest_ = pc_;
    slots_reached_.store(slots_reached_.load(std::memory_order_relaxed) + 1,
                         std::memory_order_relaxed);
  }
  if (verifier_) [[unlikely]]
    tell_verifier(h, d);
  const Outcome outcome = d.handler(*this, d);
  if (outcome == Outcome::kBlocked || outcome == Outcome::kFailed) return false;
  if (outcome != Outcome::kJumped) pc_ += isa::kRecordBytes;
  if (outcome == Outcome::kHalted) running_ = false;
  if (h.update_mode != 0) update(h.update_mode, h.update_index, h.value);
  if (inspector_) [[unlikely]]
    inspector_->retired(core(), engine(), state_.pc);
  weight_ = d.weight;
  return true;
}

void Sequencer::tell_verifier(const isa::Header& h, const Decoded& d) {
  verifier_->begin(origin());
  note_wait(h.wait_mode, h.wait_index, h.value);
  if (d.plan)
    verifier_->operands(origin(), *d.plan, state_,
                        h.update_mode == isa::kUpdateNone || (h.update_mode & kAtCompletion) != 0
                            ? Verifier::Update::kWhenComplete
                            : Verifier::Update::kWhenRead);
}

std::uint64_t Sequencer::run(std::uint64_t budget) {
  // A record that waits was fetched; it is looked at again once the wait holds.
  if (blocked_on_.mode != 0) {
    if (!wait_holds(blocked_on_.mode, blocked_on_.index, blocked_on_.value)) return 0;
    blocked_on_ = {};
  }
  std::uint64_t retired = 0;
  while (retired < budget) {
    if (!running_) {
      if (hung_ || !take_arm()) break;
      pc_ = start_address();
      running_ = true;
      failed_ = false;
      furthest_ = 0;
      ++retired;
      continue;
    }
    if (!step()) break;
    retired += weight_;
  }
  return retired;
}

std::string Sequencer::describe() const {
  const std::string state = describe_state();
  return state.empty() ? state
                       : std::string(engine_name(engine())) + " at " + hex(pc_) + " " + state;
}

std::string Sequencer::describe_state() const {
  if (hung_) return "hangs by an injected fault";
  if (!running_) return failed_ ? "stopped by an error" : "";
  std::string text;
  const std::uint8_t* memory = map_->memory(pc_, isa::kRecordBytes);
  if (!memory) return "runs";
  const auto r = isa::load_record<isa::EventSemaphoreRecord>(memory);
  const auto wait = [&](std::uint32_t mode, std::uint32_t index, std::uint32_t value) {
    if (mode == 0 || !valid_wait_mode(mode) || wait_holds(mode, index, value)) return;
    const std::string joint = text.empty() ? "" : " and ";
    if ((mode & 0xF) > isa::kWaitSemGe && (mode & isa::kWaitRegisterBit) == 0) {
      const bool set = mode == isa::kWaitEvtSet || mode == isa::kWaitEvtSetThenClear;
      text += joint + "waits (mode " + std::to_string(mode) + ") for event " +
              std::to_string(index) + (set ? " set" : " clear") + " (value " +
              std::to_string(sync_->event(index)) + ")";
      return;
    }
    const std::uint32_t* operand = mode & isa::kWaitRegisterBit ? reg(value) : &value;
    text += joint + "waits (mode " + std::to_string(mode) + ") for semaphore " +
            std::to_string(index) + " " + comparison(mode) + " " +
            std::to_string(static_cast<std::int32_t>(operand ? *operand : 0)) + " (value " +
            std::to_string(sync_->semaphore(index)) + ")";
  };
  wait(r.h.wait_mode, r.h.wait_index, r.h.value);
  if (r.h.opcode == isa::kOpEventSemaphore) wait(r.wait_mode, r.wait_index, r.wait_value);
  return text.empty() ? "runs" : text;
}

}  // namespace opennrt::emu
