// SPDX-License-Identifier: Apache-2.0
//
// What a software device can tell beyond the driver's interface: that nothing
// can move any more, who waits for what, which output bytes nothing wrote. On
// silicon every answer is "unknown".
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tdrv/tdrv.h"

namespace opennrt::tdrv {

class SoftwareDevice {
 public:
  SoftwareDevice() = default;
  // Asks the driver layer once which checks are on.
  explicit SoftwareDevice(const Bindings& bindings);

  bool present() const { return control_ != nullptr; }
  bool checks_coverage() const { return coverage_; }
  bool checks_anything() const { return checks_; }
  bool inspects() const { return inspects_; }

  struct Motion {
    bool stuck = false;          // no engine and no DMA queue of the machine can go on
    std::uint64_t progress = 0;  // grows while programs get on, not in an endless loop
    std::string lost;            // not empty: the device has ended, and how
  };
  Motion motion() const;
  // Processes that use a device, as "pid 1 (command), ..."; empty: nobody can tell.
  std::string holders(std::uint32_t device) const;
  // Engines of a core that stand inside a program or have failed.
  std::string describe(std::uint32_t device, std::uint32_t core) const;
  // One engine of it.
  struct Standing {
    std::uint64_t program_counter = 0;
    std::string state;  // "waits (mode 21) for semaphore 9 >= 48 (value 16)"
  };
  std::optional<Standing> standing(std::uint32_t device, std::uint32_t core,
                                   std::uint32_t engine) const;
  // What findings call a range of device memory.
  void name(std::uint32_t device, std::uint64_t address, std::uint64_t bytes,
            std::string_view text) const;
  void forget(std::uint32_t device, std::uint64_t address, std::uint64_t bytes) const;
  // Nobody uses what lies there: accesses are not checked.
  void ignore(std::uint32_t device, std::uint64_t address, std::uint64_t bytes) const;
  // From now on the bytes count as not written; offset of the first that still
  // is not.
  void expect_written(std::uint32_t device, std::uint64_t address, std::uint64_t bytes) const;
  std::optional<std::uint64_t> first_unwritten(std::uint32_t device, std::uint64_t address,
                                               std::uint64_t bytes) const;
  // The runtime found something the device cannot see.
  void count_finding(std::uint32_t device) const;
  // Bytes of one HBM channel of the machine, which may be other than the product's.
  std::optional<std::uint64_t> hbm_channel_bytes() const;
  // For inspection: where a variable, input or output lies, and the image of one engine with the
  // places of its records (runs_text).
  void variable(std::uint32_t device, std::uint32_t core, std::uint64_t address,
                std::uint64_t bytes, std::string_view name) const;
  void tensor(std::uint32_t device, std::uint32_t core, std::uint64_t address,
              const neff::TensorInfo& info) const;
  void image(std::uint32_t device, std::uint32_t core, std::uint32_t engine, std::size_t subgraph,
             std::uint64_t address, std::uint64_t bytes, std::string_view runs) const;

 private:
  std::optional<std::string> ask(const std::string& request) const;

  int64_t (*control_)(void*, const char*, char*, size_t) = nullptr;
  void* ctx_ = nullptr;
  bool coverage_ = false, checks_ = false, inspects_ = false;
};

}  // namespace opennrt::tdrv
