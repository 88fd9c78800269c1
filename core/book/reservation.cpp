// SPDX-License-Identifier: Apache-2.0
#include "book/reservation.h"

#include <errno.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <sstream>
#include <string>

#include "book/errno_status.h"
#include "log/log.h"

namespace opennrt::book {

namespace {

// Who holds cores of a range, as "core 3: pid 17 (command)"; what a driver can
// tell, which the kernel's cannot.
std::string owners_of(const Driver& driver, const Machine& machine, std::uint32_t start,
                      std::uint32_t end, std::uint32_t lnc_size) {
  std::string out, last;
  std::istringstream lines(driver.ask("owners"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::uint32_t device = 0, core = 0;
    std::string pid, command;
    if (!(words >> device >> core >> pid) || !std::getline(words >> std::ws, command)) continue;
    const auto place = std::find(machine.devices.begin(), machine.devices.end(), device);
    if (place == machine.devices.end()) continue;
    const auto at =
        static_cast<std::uint32_t>(place - machine.devices.begin()) * machine.cores_per_device +
        core;
    if (at < start || at > end) continue;
    const std::string one = fmt::format("core {}: pid {} ({})", at / lnc_size, pid, command);
    if (one != last) out += (out.empty() ? "" : ", ") + one;
    last = one;
  }
  return out;
}

}  // namespace

Result<std::unique_ptr<Reservation>> Reservation::take(const Driver& driver, const Machine& machine,
                                                       const CoreRequest& request) {
  std::unique_ptr<Reservation> out(new Reservation(driver));
  out->lnc_size_ = request.lnc_size;
  const std::uint32_t physical = request.count * request.lnc_size;
  const std::uint32_t start = request.is_explicit ? request.first * request.lnc_size : 0;
  const std::uint32_t end =
      request.is_explicit ? start + physical - 1 : machine.physical_cores() - 1;
  std::uint32_t longest = 0;
  const int error = driver.ndl().share->range_mark(driver.ctx(), physical, start, end, &longest,
                                                   out->bitmap_.data());
  if (error == -EBUSY) {
    out->bitmap_ = {};
    const std::string owners = owners_of(driver, machine, start, end, request.lnc_size);
    return Status::failure(
               "cores {}-{}: {} logical core(s) asked for, {} free in a row; the others are taken "
               "by another process{}{}",
               start / request.lnc_size, end / request.lnc_size, request.count,
               longest / request.lnc_size, owners.empty() ? "" : ": ", owners)
        .because(Cause::kDeviceInUse);
  }
  if (error != 0) {
    out->bitmap_ = {};
    return errno_status(error, "reserving cores");
  }
  ONRT_TRY(out->find_first(machine, request));
  out->fill(machine, request.count);
  return out;
}

Status Reservation::find_first(const Machine& machine, const CoreRequest& request) {
  std::uint32_t first = 0;
  while (first < 512 && (bitmap_[first / 64] >> (first % 64) & 1) == 0) ++first;
  if (first == 512 || first >= machine.physical_cores())
    return Status::failure("the driver reserved no core of this machine");
  if (first % lnc_size_ != 0) {
    const std::uint32_t next = first / lnc_size_ + 1;
    return Status::invalid(
        "the first free physical core {} is inside a logical core of {}; name whole ones, e.g. "
        "NEURON_RT_VISIBLE_CORES={}-{}",
        first, lnc_size_, next, next + request.count - 1);
  }
  first_ = first / lnc_size_;
  return {};
}

void Reservation::fill(const Machine& machine, std::uint32_t count) {
  for (std::uint32_t l = first_; l < first_ + count; ++l) {
    std::vector<PhysicalCore> cores;
    for (std::uint32_t p = l * lnc_size_; p < (l + 1) * lnc_size_; ++p)
      cores.push_back(
          {machine.devices[p / machine.cores_per_device], p % machine.cores_per_device});
    cores_.push_back(std::move(cores));
  }
}

Reservation::~Reservation() {
  if (bitmap_ == decltype(bitmap_){}) return;
  if (const int error = driver_.ndl().share->range_unmark(driver_.ctx(), bitmap_.data());
      error != 0)
    ONRT_LOG(kNrt, kWarn, "{}", errno_status(error, "giving back cores").message());
}

}  // namespace opennrt::book
