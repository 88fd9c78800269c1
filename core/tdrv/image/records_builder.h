// SPDX-License-Identifier: Apache-2.0
//
// Builder of the 64-byte records that the runtime itself puts into an image.
// Every function appends one record whose bytes equal those found in device
// images of real runs (runtimes 2.25 to 2.30).
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "opennrt/isa/records.h"

namespace opennrt::tdrv::image {

struct RegisterWrite {
  std::uint64_t address = 0;
  std::uint32_t value = 0;
};

// A 2-D run of 4-byte registers: element (i, o) lies at
// address + 4 * (i * step_inner + o * step_outer).
struct RegisterGrid {
  std::uint64_t address = 0;
  std::uint8_t count_inner = 1, count_outer = 1;
  std::int32_t step_inner = 0, step_outer = 0;  // elements of 4 bytes
};

class RecordBuilder {
 public:
  explicit RecordBuilder(std::vector<std::uint8_t>& bytes) : bytes_(bytes) {}

  std::uint32_t slot() const {
    return static_cast<std::uint32_t>(bytes_.size() / isa::kRecordBytes);
  }
  std::uint32_t offset() const { return static_cast<std::uint32_t>(bytes_.size()); }

  template <typename Record>
  void append(const Record& record) {
    static_assert(sizeof(Record) == isa::kRecordBytes);
    const auto* p = reinterpret_cast<const std::uint8_t*>(&record);
    bytes_.insert(bytes_.end(), p, p + sizeof record);
  }
  // bytes: whole records.
  void append_bytes(std::span<const std::uint8_t> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }

  void notify(isa::NotifyKind kind);
  void order(std::uint8_t mode);
  void drain(std::uint8_t count = 0);
  void halt();
  void nop_wait_event(std::uint8_t event);  // set, then clear
  void nop_set_event(std::uint8_t event);
  // EVENT_SEMAPHORE on one semaphore: wait (kWaitNone = no wait), then update.
  void semaphore(std::uint8_t index, isa::WaitMode wait, std::uint32_t threshold,
                 isa::UpdateMode update, std::uint32_t operand);
  void write(RegisterWrite first);
  void write(RegisterWrite first, RegisterWrite second);
  void store(const RegisterGrid& grid, std::span<const std::uint32_t> data);  // at most 8
  void load(std::uint64_t address, std::uint8_t reg);
  void load_pair(std::uint64_t address, std::uint8_t reg_lo, std::uint8_t reg_hi);
  void branch_register(std::uint8_t reg_lo, std::uint8_t reg_hi);
  // Branches whose target is not known yet; the result names the record for
  // set_target().
  std::uint32_t branch_always();
  std::uint32_t branch_if_zero(std::uint8_t reg);
  void set_target(std::uint32_t branch_slot, std::uint32_t target_slot);
  // Gives a record the waits and updates of a source record.
  void take_events(std::uint32_t slot, const isa::Header& source);

 private:
  std::vector<std::uint8_t>& bytes_;
};

}  // namespace opennrt::tdrv::image
