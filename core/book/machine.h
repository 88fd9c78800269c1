// SPDX-License-Identifier: Apache-2.0
//
// What the machine is: devices, silicon, product; and the arithmetic of
// logical cores, which works before nrt_init.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/status.h"
#include "book/driver.h"
#include "config/config.h"
#include "nrt/nrt.h"
#include "opennrt/arch.h"

namespace opennrt::book {

struct Machine {
  std::vector<std::uint32_t> devices;  // driver indexes, ascending
  const nrtp_arch_plugin* arch = nullptr;
  const nrtp_product* product = nullptr;
  bool product_known = false;  // the machine told its instance type and the arch lists it
  std::uint32_t revision = 0;
  std::uint32_t platform = NRTP_PLATFORM_SILICON;
  std::uint32_t cores_per_device = 0;  // usable ones

  std::uint32_t physical_cores() const {
    return static_cast<std::uint32_t>(devices.size()) * cores_per_device;
  }
};

// NRT_INVALID: no device, no plugin for its arch, or a driver failure.
Result<Machine> discover(const Driver& driver, plugin::Loader& loader);

nrt_instance_info_t instance_info(const Machine& machine);

// Physical cores per logical core: cores.lnc_size, else the default of the
// silicon; silicon that knows one size only has that size, whatever is asked.
Result<std::uint32_t> lnc_size(const Machine& machine, const config::Config& config);

struct PhysicalCore {
  std::uint32_t device = 0;  // driver index
  std::uint32_t core = 0;    // on the device
};

// Which logical cores this process asks for.
struct CoreRequest {
  std::uint32_t lnc_size = 1;
  std::uint32_t total = 0;   // logical cores of the machine
  bool is_explicit = false;  // cores.visible: exactly first .. first + count - 1
  std::uint32_t first = 0, count = 0;
};
// NRT_INVALID: more cores than there are, or a count the silicon cannot give.
Result<CoreRequest> core_request(const Machine& machine, const config::Config& config);

}  // namespace opennrt::book
