// SPDX-License-Identifier: Apache-2.0
//
// Semaphores, events and registers. The semaphore requests start executions:
// they take no lock and allocate nothing.
#include <cerrno>

#include "driver/operations.h"
#include "opennrt/plugin.h"

namespace opennrt::emu {

namespace {

constexpr std::uint32_t kBarReadMax = 100;

std::int64_t check(const Call& call, std::uint32_t core, std::uint32_t index, std::uint32_t count) {
  if (core >= call.machine.cores()) return -E2BIG;
  return index < count ? 0 : -EINVAL;
}

std::int64_t check(const Call& call, const abi::Semaphore& s) {
  return check(call, s.nc_id, s.semaphore_index, call.machine.geometry().semaphores);
}

std::int64_t check(const Call& call, const abi::Event& e) {
  return check(call, e.nc_id, e.event_index, call.machine.geometry().events);
}

// Offset inside BAR 0 of an address as the caller knows it.
bool bar0_offset(const Call& call, std::uint64_t address, std::uint64_t* out) {
  const std::uint64_t offset = address - kBar0Base;
  if (address < kBar0Base || offset > call.machine.facts().bar0_bytes - sizeof(std::uint32_t))
    return false;
  *out = offset;
  return true;
}

}  // namespace

std::int64_t semaphore_increment(Call& call, abi::Semaphore& s) {
  if (std::int64_t r = check(call, s)) return r;
  call.node.device->semaphore_add(s.nc_id, s.semaphore_index, static_cast<std::int32_t>(s.value));
  return 0;
}

std::int64_t semaphore_decrement(Call& call, abi::Semaphore& s) {
  if (std::int64_t r = check(call, s)) return r;
  call.node.device->semaphore_add(s.nc_id, s.semaphore_index,
                                  static_cast<std::int32_t>(0u - s.value));
  return 0;
}

std::int64_t semaphore_read(Call& call, abi::Semaphore& s) {
  if (std::int64_t r = check(call, s)) return r;
  s.value = call.node.device->semaphore_read(s.nc_id, s.semaphore_index);
  return call.reply(s);
}

std::int64_t semaphore_write(Call& call, abi::Semaphore& s) {
  if (std::int64_t r = check(call, s)) return r;
  call.node.device->semaphore_set(s.nc_id, s.semaphore_index, s.value);
  return 0;
}

std::int64_t event_set(Call& call, abi::Event& e) {
  if (std::int64_t r = check(call, e)) return r;
  call.node.device->event_write(e.nc_id, e.event_index, e.value);
  return 0;
}

std::int64_t event_get(Call& call, abi::Event& e) {
  if (std::int64_t r = check(call, e)) return r;
  e.value = call.node.device->event_read(e.nc_id, e.event_index);
  return call.reply(e);
}

std::int64_t bar_read(Call& call, abi::BarRw& a) {
  if (a.bar != 0 && a.bar != 2) return -EINVAL;
  if (a.count > (a.bar == 0 ? kBarReadMax : 1u)) return -EINVAL;
  std::uint64_t addresses[kBarReadMax];
  std::uint32_t values[kBarReadMax];
  if (call.memory.read(a.address, addresses, a.count * sizeof addresses[0]) != 0) return -EFAULT;
  for (std::uint32_t i = 0; i < a.count; ++i) {
    std::uint64_t offset = 0;
    if (!bar0_offset(call, addresses[i], &offset)) return -EINVAL;
    // Inside the BAR but no register: reads as zero.
    values[i] = 0;
    if (call.node.device->bar0_read32(offset, &values[i]) != 0) {
      values[i] = 0;
      call.machine.log(NRTP_LOG_DEBUG, "device %u: read of BAR0+0x%llx, where no register is",
                       call.node.index, static_cast<unsigned long long>(offset));
    }
  }
  return call.memory.write(a.data, values, a.count * sizeof values[0]);
}

std::int64_t bar_write(Call& call, abi::BarRw& a) {
  if (a.bar != 0) return -EINVAL;
  // Not limited in number; fetched in pieces, applied in order.
  std::uint64_t addresses[kBarReadMax];
  std::uint32_t values[kBarReadMax];
  for (std::uint32_t done = 0; done < a.count;) {
    const std::uint32_t n = a.count - done < kBarReadMax ? a.count - done : kBarReadMax;
    if (call.memory.read(a.address + done * sizeof addresses[0], addresses,
                         n * sizeof addresses[0]) != 0 ||
        call.memory.read(a.data + done * sizeof values[0], values, n * sizeof values[0]) != 0)
      return -EFAULT;
    for (std::uint32_t i = 0; i < n; ++i) {
      std::uint64_t offset = 0;
      if (!bar0_offset(call, addresses[i], &offset) || call.machine.blocked_register(offset))
        return -EINVAL;
      if (call.node.device->bar0_write32(offset, values[i]) != 0)
        call.machine.log(NRTP_LOG_DEBUG, "device %u: write to BAR0+0x%llx, where no register is",
                         call.node.index, static_cast<unsigned long long>(offset));
    }
    done += n;
  }
  return 0;
}

namespace {

// The firmware takes the addresses by which the driver names mappable windows;
// on split address maps those are not the device's own.
int read_by_driver_address(Call& call, std::uint64_t address, std::uint32_t* value) {
  for (const nrtp_driver_map& map : call.machine.facts().special) {
    if (map.block == NRTP_DRIVER_HBM || address < map.device) continue;
    const std::uint64_t at = address - map.device;
    if (at < map.bytes) return call.node.device->bar0_read32(map.bar + at, value);
  }
  return call.node.device->read(address, value, sizeof *value);
}

}  // namespace

std::int64_t read_hw_counters(Call& call, abi::ReadHwCounters& a) {
  for (std::uint32_t i = 0; i < a.count; ++i) {
    std::uint64_t address = 0;
    std::uint32_t value = 0;
    if (call.memory.read(a.address + i * sizeof address, &address, sizeof address) != 0)
      return -EFAULT;
    if (read_by_driver_address(call, address, &value) != 0) return kFailed;
    if (call.memory.write(a.data + i * sizeof value, &value, sizeof value) != 0) return -EFAULT;
  }
  return 0;
}

}  // namespace opennrt::emu
