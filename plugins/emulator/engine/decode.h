// SPDX-License-Identifier: Apache-2.0
//
// Decoded instruction records. A decoded record keeps the 64 bytes it came
// from; the fetch compares them with memory, so that a rewritten image is never
// executed in its old form.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>

#include "compute/plan.h"
#include "opennrt/isa/records.h"

namespace opennrt::emu {

class Sequencer;
struct Decoded;

enum class Outcome : std::uint8_t {
  kNext,     // continue with the next slot
  kJumped,   // the handler has set the program counter
  kBlocked,  // nothing has happened; try again later
  kHalted,   // retires, then the engine stops until started
  kFailed    // reported; the engine has stopped
};

// Executes a record whose header wait holds.
using Handler = Outcome (*)(Sequencer&, const Decoded&);

struct Decoded {
  std::uint8_t raw[isa::kRecordBytes] = {};
  Handler handler = nullptr;  // nullptr: slot not decoded yet, or refused
  std::unique_ptr<ComputePlan> plan;
  std::uint64_t weight = 1;  // of its execution, in small records

  template <typename Record>
  Record as() const {
    return isa::load_record<Record>(raw);
  }
  isa::Header header() const {
    isa::Header h;
    std::memcpy(&h, raw, sizeof h);
    return h;
  }
};

// An opcode the sequencer executes itself. `check` finds what can be wrong with
// a record before it runs; nullptr: nothing.
struct RecordEntry {
  std::uint8_t opcode;
  Handler handler;
  bool (*check)(const PlanContext& context, const Decoded& decoded, std::string* error);
  // Of a checked record: a handler that does the same for records like it. nullptr:
  // `handler` takes all.
  Handler (*choose)(const Decoded& decoded) = nullptr;
};
std::span<const RecordEntry> synchronisation_records();
std::span<const RecordEntry> register_records();
std::span<const RecordEntry> memory_records();
std::span<const RecordEntry> dma_records();
std::span<const RecordEntry> indirect_dma_records();

// For checks: sets *error, returns false.
bool refuse(std::string* error, std::string text);
bool known_register(std::uint32_t number);
// A semaphore or event of that number exists on this silicon.
bool check_semaphore(const nrtp_arch_geometry& geometry, std::uint32_t index, std::string* error);
bool check_event(const nrtp_arch_geometry& geometry, std::uint32_t index, std::string* error);
bool check_wait(const nrtp_arch_geometry& geometry, std::uint32_t mode, std::uint32_t index,
                std::uint32_t value, std::string* error);
bool check_update(const nrtp_arch_geometry& geometry, std::uint32_t mode, std::uint32_t index,
                  std::uint32_t value, std::string* error);
bool check_header(const nrtp_arch_geometry& geometry, const isa::Header& header,
                  std::string* error);

// Fills in handler and plan from `raw`. False: *error says why the record
// cannot be executed on this device.
bool decode_record(const PlanContext& context, Decoded* out, std::string* error);

// True when a sequencer executes the opcode itself: no compute family is asked.
bool is_sequencer_opcode(std::uint8_t opcode);

// How many small records the execution of a decoded one stands for, so that
// what is executed in one go takes a bounded time. At least 1, and a function
// of the record alone: the interleaving of engines does not depend on the clock.
std::uint64_t record_weight(const Decoded& decoded, EngineState& state);

// Records by device address, in pages of 64 slots.
class DecodeCache {
 public:
  // What stands at a 64-byte aligned address: its bytes in memory (nullptr: not
  // memory) and its decoded form, which never moves until `clear`.
  struct Fetched {
    const std::uint8_t* memory;
    Decoded* decoded;
  };
  Fetched fetch(const AddressMap& map, std::uint64_t address) {
    const std::uint64_t number = address / kPageBytes;
    if (!page_ || number != page_->number) {
      open(map, number);
      if (!page_) return {nullptr, nullptr};
    }
    const std::uint64_t offset = address % kPageBytes;
    return {page_->memory + offset, &page_->slots[offset / isa::kRecordBytes]};
  }
  void clear() {
    pages_.clear();
    page_ = nullptr;
  }
  // The memory no longer holds an image.
  void forget(std::uint64_t address, std::uint64_t bytes) {
    if (pages_.empty() || bytes == 0) return;
    page_ = nullptr;
    const std::uint64_t first = address / kPageBytes, last = (address + bytes - 1) / kPageBytes;
    if (last - first < pages_.size())
      for (std::uint64_t number = first; number <= last; ++number) pages_.erase(number);
    else
      std::erase_if(pages_,
                    [&](const auto& page) { return page.first >= first && page.first <= last; });
  }
  std::size_t pages() const { return pages_.size(); }

 private:
  static constexpr std::uint64_t kPageBytes = 4096;  // memory windows are multiples of it
  // 256 Ki records; images of dead models are forgotten wholesale beyond.
  static constexpr std::size_t kMaxPages = 4096;
  struct Page {
    std::uint64_t number;
    const std::uint8_t* memory;
    Decoded slots[kPageBytes / isa::kRecordBytes];
  };

  void open(const AddressMap& map, std::uint64_t number) {
    page_ = nullptr;
    const auto it = pages_.find(number);
    if (it != pages_.end()) {
      page_ = it->second.get();
      return;
    }
    const std::uint8_t* memory = map.memory(number * kPageBytes, kPageBytes);
    if (!memory) return;
    if (pages_.size() >= kMaxPages) pages_.clear();
    auto page = std::make_unique<Page>();
    page->number = number;
    page->memory = memory;
    page_ = page.get();
    pages_.emplace(number, std::move(page));
  }

  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  Page* page_ = nullptr;
};

}  // namespace opennrt::emu
