// SPDX-License-Identifier: Apache-2.0
//
// Decoded instruction records. A decoded record keeps the 64 bytes it came
// from; the fetch compares them with memory, so that a rewritten image is never
// executed in its old form.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
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

// Fills in handler and plan from `raw`. False: *error says why the record
// cannot be executed on this device.
bool decode_record(const AddressMap& map, std::uint32_t core, std::uint32_t engine, Decoded* out,
                   std::string* error);

// Records by device address, in pages of 64 slots.
class DecodeCache {
 public:
  // Slot of a 64-byte aligned address; never moves until `clear`.
  Decoded& slot(std::uint64_t address) {
    const std::uint64_t page = address / kPageBytes;
    if (page != page_number_ || !page_) open(page);
    return page_->slots[address % kPageBytes / isa::kRecordBytes];
  }
  void clear() {
    pages_.clear();
    page_ = nullptr;
  }

 private:
  static constexpr std::uint64_t kPageBytes = 4096;
  // 256 Ki records; images of dead models are forgotten wholesale beyond.
  static constexpr std::size_t kMaxPages = 4096;
  struct Page {
    Decoded slots[kPageBytes / isa::kRecordBytes];
  };

  void open(std::uint64_t page) {
    if (pages_.size() >= kMaxPages && !pages_.contains(page)) clear();
    auto& entry = pages_[page];
    if (!entry) entry = std::make_unique<Page>();
    page_ = entry.get();
    page_number_ = page;
  }

  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  Page* page_ = nullptr;
  std::uint64_t page_number_ = 0;
};

}  // namespace opennrt::emu
