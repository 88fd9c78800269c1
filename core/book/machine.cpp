// SPDX-License-Identifier: Apache-2.0
#include "book/machine.h"

#include <errno.h>
#include <string.h>

#include <algorithm>
#include <bit>

#include "book/errno_status.h"
#include "log/log.h"

namespace opennrt::book {

namespace {

const nrtp_product* product_at(const nrtp_arch_plugin& arch, std::uint32_t i) {
  return reinterpret_cast<const nrtp_product*>(reinterpret_cast<const char*>(arch.products) +
                                               std::size_t{i} * arch.product_stride);
}

// The product of that name, else the first one with as many devices, else the
// first one.
const nrtp_product* choose_product(const nrtp_arch_plugin& arch, const std::string& name,
                                   std::size_t devices, bool* out_known) {
  for (std::uint32_t i = 0; i < arch.n_products; ++i)
    if (const nrtp_product* p = product_at(arch, i); p->name != nullptr && name == p->name) {
      *out_known = true;
      return p;
    }
  *out_known = false;
  for (std::uint32_t i = 0; i < arch.n_products; ++i)
    if (product_at(arch, i)->devices == devices) return product_at(arch, i);
  return product_at(arch, 0);
}

std::uint32_t platform_of(const nrtp_arch_geometry& geometry, std::uint32_t revision) {
  if (revision <= geometry.hw_revision_max) return NRTP_PLATFORM_SILICON;
  return revision <= geometry.emulator_revision_max ? NRTP_PLATFORM_EMULATOR : NRTP_PLATFORM_QEMU;
}

std::string product_name(const Driver& driver) {
  char text[128] = "";
  return driver.ndl().probe->product_name(driver.ctx(), text, sizeof text) == 0 ? text : "";
}

}  // namespace

Result<Machine> discover(const Driver& driver, plugin::Loader& loader) {
  const nrtp_ndl_device& device = *driver.ndl().device;
  std::int32_t indexes[NRTP_MAX_DEVICES];
  const int n = device.available(driver.ctx(), indexes, NRTP_MAX_DEVICES);
  const auto lost = [&](int error) {  // it ended after the driver was chosen
    return errno_status(error, "the software device is lost: " + driver.lost());
  };
  if (n == -EOWNERDEAD) return lost(n);
  if (n <= 0) return Status::invalid("no device found").because(Cause::kNoDevice);
  Machine out;
  out.devices.assign(indexes, indexes + std::min<int>(n, NRTP_MAX_DEVICES));
  std::sort(out.devices.begin(), out.devices.end());
  std::uint32_t arch_type = 0;
  if (const int error = device.board_info(driver.ctx(), &arch_type, &out.revision); error != 0)
    return error == -EOWNERDEAD ? lost(error)
                                : Status::invalid("device {}: silicon cannot be identified: {}",
                                                  out.devices.front(), strerror(-error));
  if (arch_type < 2)
    return Status::invalid("device {}: arch {} is not supported", out.devices.front(), arch_type);
  auto arch = loader.arch(arch_type);
  if (!arch.is_ok())
    return std::move(arch).status().with_context(fmt::format("unsupported arch {}", arch_type));
  out.arch = *arch;
  const std::string name = product_name(driver);
  out.product = choose_product(*out.arch, name, out.devices.size(), &out.product_known);
  if (!out.product_known)
    ONRT_LOG(kNrt, kInfo, "instance type '{}' is not listed by {}, treated as {}", name,
             out.arch->name, out.product->name);
  out.platform = platform_of(*out.arch->geometry, out.revision);
  out.cores_per_device = out.product->cores != 0
                             ? std::min(out.product->cores, out.arch->geometry->tpbs)
                             : out.arch->geometry->tpbs;
  return out;
}

nrt_instance_info_t instance_info(const Machine& machine) {
  nrt_instance_info_t info{};
  info.family = NRT_INSTANCE_UNKNOWN;
  info.size = NRT_INSTANCE_SIZE_UNKNOWN;
  if (machine.product_known) {
    info.family = machine.product->instance_family;
    info.size = machine.product->instance_size;
  }
  strncpy(info.arch_name, machine.arch->name, sizeof info.arch_name - 1);
  return info;
}

Result<std::uint32_t> lnc_size(const Machine& machine, const config::Config& config) {
  const nrtp_arch_geometry& g = *machine.arch->geometry;
  if (std::has_single_bit(g.lnc_mask))
    return static_cast<std::uint32_t>(std::countr_zero(g.lnc_mask)) + 1;
  const bool asked = config.is_given(config::Key::kCoresLncSize);
  if (!asked) return machine.cores_per_device == 1 ? 1u : g.lnc_default;
  const auto size = static_cast<std::uint32_t>(config.number(config::Key::kCoresLncSize));
  if (!std::has_single_bit(size) || machine.cores_per_device % size != 0 || size > 32 ||
      (g.lnc_mask >> (size - 1) & 1) == 0)
    return Status::invalid(
        "{} is {}: {} with {} cores per device allows the sizes of mask 0x{:x} (bit n-1 = size n)",
        config.source(config::Key::kCoresLncSize), size, machine.arch->name,
        machine.cores_per_device, g.lnc_mask);
  return size;
}

Result<CoreRequest> core_request(const Machine& machine, const config::Config& config) {
  CoreRequest out;
  ONRT_ASSIGN(out.lnc_size, lnc_size(machine, config));
  out.total = machine.physical_cores() / out.lnc_size;
  out.count = out.total;
  if (const auto cores = config.visible_cores()) {
    const std::uint32_t last = cores->first + cores->count - 1;
    if (last >= out.total)
      return Status::invalid(
          "{}: visible cores {}-{}: core {} is on /dev/neuron{}, this machine has the cores 0-{} "
          "on {} "
          "device(s)",
          config.source(config::Key::kCoresVisible), cores->first, last, last,
          last / std::max(1u, machine.cores_per_device / out.lnc_size), out.total - 1,
          machine.devices.size());
    out.is_explicit = true;
    out.first = cores->first;
    out.count = cores->count;
    return out;
  }
  const auto asked = config.number(config::Key::kCoresCount);
  if (asked == 0) return out;
  if (asked > out.total)
    return Status::invalid("{} is {}, this machine has {} cores",
                           config.source(config::Key::kCoresCount), asked, out.total);
  out.count = static_cast<std::uint32_t>(asked);
  const bool several_sizes = !std::has_single_bit(machine.arch->geometry->lnc_mask);
  if (several_sizes && out.count != 1 && out.count * out.lnc_size % machine.cores_per_device != 0)
    return Status::invalid(
        "{} is {}: must be 1 or whole devices of {} cores; name the cores in "
        "NEURON_RT_VISIBLE_CORES (cores.visible) instead",
        config.source(config::Key::kCoresCount), out.count,
        machine.cores_per_device / out.lnc_size);
  return out;
}

}  // namespace opennrt::book
