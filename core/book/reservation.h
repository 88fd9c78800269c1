// SPDX-License-Identifier: Apache-2.0
//
// Cores reserved for this process through the driver. Given back by the
// destructor; the driver does it as well when the process ends.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "book/machine.h"

namespace opennrt::book {

class Reservation {
 public:
  // NRT_FAILURE: not enough free cores. NRT_INVALID: the free ones do not start
  // at a logical core.
  static Result<std::unique_ptr<Reservation>> take(const Driver& driver, const Machine& machine,
                                                   const CoreRequest& request);
  ~Reservation();
  Reservation(const Reservation&) = delete;
  Reservation& operator=(const Reservation&) = delete;

  std::uint32_t lnc_size() const { return lnc_size_; }
  std::uint32_t first() const { return first_; }  // machine-wide index of local core 0
  // Process-local logical core -> its physical cores.
  const std::vector<std::vector<PhysicalCore>>& logical_cores() const { return cores_; }

 private:
  explicit Reservation(const Driver& driver) : driver_(driver) {}
  Status find_first(const Machine& machine, const CoreRequest& request);
  void fill(const Machine& machine, std::uint32_t count);

  const Driver& driver_;
  std::array<std::uint64_t, 8> bitmap_{};
  std::uint32_t lnc_size_ = 1, first_ = 0;
  std::vector<std::vector<PhysicalCore>> cores_;
};

}  // namespace opennrt::book
