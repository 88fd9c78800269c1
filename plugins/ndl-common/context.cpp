// SPDX-License-Identifier: Apache-2.0
#include "ndl-common/context.h"

#include <cerrno>

#include "ndl-common/normalise.h"

namespace opennrt::ndl {
namespace {

enum HandleTag : uint32_t { kDeviceTag = 1, kMemoryTag = 2, kQueueTag = 3 };

// Tells the handles of two contexts apart (not a secret).
uint32_t salt_of(const void* context) {
  return static_cast<uint32_t>((reinterpret_cast<uintptr_t>(context) >> 12) * 0x9E3779B1u >> 24);
}

}  // namespace

Context::Context(const nrtp_host* host_in, const nrtp_sys_port* port_in, void* port_ctx_in,
                 const Policy& policy_in) noexcept
    : host(host_in),
      port(port_in),
      port_ctx(port_ctx_in),
      policy(policy_in),
      log(host_in),
      descriptors(port_in, port_ctx_in),
      devices(kDeviceTag, salt_of(this)),
      memories(kMemoryTag, salt_of(this)),
      queues(kQueueTag, salt_of(this)),
      fork_generation_(g_fork_generation.load(std::memory_order_relaxed)) {}

Context::~Context() {
  // A forked child owns neither the mappings nor the attachments.
  if (forked()) {
    devices.for_each([](uint64_t, Device& device) {
      while (Mapping* mapping = device.mappings) {
        device.mappings = mapping->next;
        delete mapping;
      }
    });
    return;
  }
  devices.for_each([this](uint64_t dev, Device&) { close_device(dev); });
  descriptors.close_all();
}

int Context::request(Target target, uint32_t code, void* arg) const noexcept {
  const int64_t raw = port->ioctl(port_ctx, target.fd, code, reinterpret_cast<uintptr_t>(arg));
  const int error = raw == 0 ? 0 : normalise(code, raw);
  if (log.debugs()) {
    const RequestInfo* info = find_request(code);
    const char* name = info ? info->name : "request";
    if (error == 0)
      log.debug("neuron%u: %s", target.index, name);
    else
      log.debug("neuron%u: %s failed: %s", target.index, name, ErrnoName(error).text);
  }
  return error;
}

int Context::open_failed(uint32_t index, int error) const noexcept {
  const DevicePath path(index);
  switch (error) {
    case -ENOENT:
      log.error(
          "%s does not exist: no such device here; in a container pass it with --device %s, "
          "elsewhere load the kernel module (modprobe neuron)",
          path.text, path.text);
      break;
    case -EACCES:
    case -EPERM:
      log.error(
          "%s: permission denied (%s): give this user read and write permission on the node, in a "
          "container allow it in the device cgroup (--device %s)",
          path.text, ErrnoName(error).text, path.text);
      break;
    case -ENODEV:
    case -ENXIO:
      log.error(
          "%s exists but no driver answers (%s): load the kernel module (modprobe neuron) and "
          "check dmesg",
          path.text, ErrnoName(error).text);
      break;
    case -EBUSY:
      log.error("%s: %u processes have it open, the most the driver admits: end one of them",
                path.text, kMaxProcessesPerDevice);
      break;
    case -EINVAL:
      log.error(
          "%s: the driver marked the device invalid after a failed reset: reload the kernel "
          "module or reboot, and check dmesg",
          path.text);
      break;
    default:
      log.error("%s cannot be opened: %s", path.text, ErrnoName(error).text);
  }
  return error;
}

OnContext on_context(void* ctx) noexcept {
  auto* ndl = static_cast<Context*>(ctx);
  if (!ndl) return {-EINVAL, nullptr};
  if (ndl->forked()) return {-EACCES, nullptr};
  return {0, ndl};
}

OnDevice on_device(void* ctx, uint64_t dev) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return {at.error, nullptr, nullptr, 0};
  Device* device = at.ndl->devices.find(dev);
  if (!device) return {-EINVAL, nullptr, nullptr, 0};
  return {0, at.ndl, device, dev};
}

OnMemory on_memory(void* ctx, uint64_t mem) noexcept {
  OnMemory result{};
  const OnContext at = on_context(ctx);
  result.error = at.error;
  if (at.error) return result;
  result.error = -EINVAL;
  Memory* memory = at.ndl->memories.find(mem);
  if (!memory) return result;
  const uint64_t dev = memory->device.load(std::memory_order_acquire);
  result.driver_handle = memory->driver_handle.load(std::memory_order_acquire);
  result.bytes = memory->bytes.load(std::memory_order_acquire);
  result.owner = static_cast<Owner>(memory->owner.load(std::memory_order_acquire));
  result.open_ended = memory->open_ended.load(std::memory_order_acquire) != 0;
  Device* device = at.ndl->devices.find(dev);
  if (!device || !at.ndl->memories.still(mem)) return result;
  result.ndl = at.ndl;
  result.device = device;
  result.memory = memory;
  result.mem = mem;
  result.dev = dev;
  result.error = 0;
  return result;
}

}  // namespace opennrt::ndl
