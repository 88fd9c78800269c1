// SPDX-License-Identifier: Apache-2.0
//
// Data moved by the driver: user buffers, chunk to chunk, fill, asynchronous
// slots, zero copy, engine windows. Ranges are checked under the node's mutex,
// bytes move without it.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "driver/operations.h"
#include "opennrt/plugin.h"

namespace opennrt::emu {

namespace {

constexpr std::uint64_t kPiece = 65536;  // bounce size, as one descriptor
constexpr std::uint64_t kBulk = 8192;    // from here on a caller elsewhere copies itself
constexpr std::uint64_t kAsyncMax = 133169152;
constexpr std::uint32_t kBar4Max = 8192;

// A checked range of a chunk, whose memory goes to nobody else while this lives.
struct Range {
  Range() = default;
  ~Range() {
    if (chunk) node->machine->unpin(*node, chunk);
  }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

  std::uint64_t pa = 0, bytes = 0;
  std::uint32_t core = 0;
  bool host = false;
  DeviceNode* node = nullptr;
  Chunk* chunk = nullptr;
};

int find_range(Call& call, std::uint64_t handle, std::uint64_t offset, std::uint64_t bytes,
               Range* out) {
  std::lock_guard lock(call.node.mutex);
  Chunk* chunk = call.node.handles.find(handle);
  if (!chunk) return -EINVAL;
  const std::uint64_t reach = Machine::reach(call.node, *chunk);
  if (offset > reach || bytes > reach - offset) return -EINVAL;
  out->pa = chunk->pa + offset;
  out->bytes = bytes;
  out->core = chunk->core;
  out->host = chunk->host();
  out->node = &call.node;
  out->chunk = chunk;
  ++chunk->pins;
  return 0;
}

// The region behind device memory that one large copy moves to or from.
Region* bulk_region(Call& call, std::uint64_t pa, std::uint64_t bytes, std::uint64_t* offset) {
  const std::uint8_t* memory = bytes >= kBulk ? call.node.device->memory_at(pa, bytes) : nullptr;
  Region* region = memory ? call.node.memory->find(memory) : nullptr;
  if (region) *offset = static_cast<std::uint64_t>(memory - region->data());
  return region;
}

// User buffer to device address.
std::int64_t copy_in(Call& call, std::uint64_t pa, std::uint64_t user, std::uint64_t bytes) {
  if (bytes == 0) return 0;
  if (const void* in = call.memory.direct(user, bytes))
    return call.node.device->write(pa, in, bytes);
  std::uint64_t offset = 0;
  if (Region* region = bulk_region(call, pa, bytes, &offset)) {
    call.node.device->memory_mapped(pa, bytes);  // written unseen
    return call.memory.copy_in(*region, offset, user, bytes);
  }
  std::vector<std::uint8_t> bounce(std::min(bytes, kPiece));
  for (std::uint64_t done = 0; done < bytes; done += kPiece) {
    const std::uint64_t n = std::min(kPiece, bytes - done);
    if (int r = call.memory.read(user + done, bounce.data(), n)) return r;
    if (int r = call.node.device->write(pa + done, bounce.data(), n)) return r;
  }
  return 0;
}

std::int64_t copy_out(Call& call, std::uint64_t pa, std::uint64_t user, std::uint64_t bytes) {
  if (bytes == 0) return 0;
  if (void* out = call.memory.direct(user, bytes)) return call.node.device->read(pa, out, bytes);
  std::uint64_t offset = 0;
  if (Region* region = bulk_region(call, pa, bytes, &offset))
    return call.memory.copy_out(*region, offset, user, bytes);
  std::vector<std::uint8_t> bounce(std::min(bytes, kPiece));
  for (std::uint64_t done = 0; done < bytes; done += kPiece) {
    const std::uint64_t n = std::min(kPiece, bytes - done);
    if (int r = call.node.device->read(pa + done, bounce.data(), n)) return r;
    if (int r = call.memory.write(user + done, bounce.data(), n)) return r;
  }
  return 0;
}

// Descriptors of 64 KiB in ascending order, each read before it is written.
std::int64_t move_bytes(Call& call, std::uint64_t dst, std::uint64_t src, std::uint64_t bytes) {
  if (bytes == 0) return 0;
  Device& device = *call.node.device;
  const bool overlap = src < dst + bytes && dst < src + bytes;
  const std::uint8_t* from = overlap ? nullptr : device.memory_at(src, bytes);
  if (from) return device.write(dst, from, bytes);
  std::vector<std::uint8_t> bounce(std::min(bytes, kPiece));
  for (std::uint64_t done = 0; done < bytes; done += kPiece) {
    const std::uint64_t n = std::min(kPiece, bytes - done);
    if (int r = device.read(src + done, bounce.data(), n)) return r;
    if (int r = device.write(dst + done, bounce.data(), n)) return r;
  }
  return 0;
}

std::int64_t buffer_copy(Call& call, std::uint64_t handle, std::uint64_t user, std::uint64_t offset,
                         std::uint64_t bytes, bool to_device) {
  Range range;
  if (int r = find_range(call, handle, offset, bytes, &range)) return r;
  return to_device ? copy_in(call, range.pa, user, bytes) : copy_out(call, range.pa, user, bytes);
}

std::int64_t chunk_copy(Call& call, std::uint64_t src, std::uint64_t dst, std::uint64_t src_offset,
                        std::uint64_t dst_offset, std::uint64_t bytes) {
  Range from, to;
  if (int r = find_range(call, src, src_offset, bytes, &from)) return r;
  if (int r = find_range(call, dst, dst_offset, bytes, &to)) return r;
  return move_bytes(call, to.pa, from.pa, bytes);
}

std::int64_t fill(Call& call, std::uint64_t handle, std::uint64_t offset, std::uint64_t bytes,
                  std::uint32_t value) {
  Range range;
  if (int r = find_range(call, handle, offset, bytes, &range)) return r;
  if (bytes == 0) return 0;
  const std::vector<std::uint8_t> block(std::min(bytes, kPiece), static_cast<std::uint8_t>(value));
  for (std::uint64_t done = 0; done < bytes; done += kPiece)
    if (int r =
            call.node.device->write(range.pa + done, block.data(), std::min(kPiece, bytes - done)))
      return r;
  return 0;
}

// The two asynchronous slots belong to the copy ring of one core: that of the
// chunk on the device side.
std::array<bool, 3>& slots_of(DeviceNode& node, const Range& from, const Range& to) {
  return node.async_slots[(from.host ? to.core : from.core) % kMaxCores];
}

std::int64_t copy_async(Call& call, abi::MemCopyAsync64& a) {
  Range from, to;
  if (int r = find_range(call, a.src_mem_handle, a.src_offset, a.size, &from)) return r;
  if (int r = find_range(call, a.dst_mem_handle, a.dst_offset, a.size, &to)) return r;
  const std::int32_t previous = static_cast<std::int32_t>(a.pwait_handle);
  if (previous < -1 || previous > 2 || a.size > kAsyncMax) return -EINVAL;
  std::uint32_t slot = 0;
  {
    std::lock_guard lock(call.node.mutex);
    auto& slots = slots_of(call.node, from, to);
    if (previous > 0) {
      if (!slots[static_cast<std::uint32_t>(previous)]) return -EINVAL;
      slots[static_cast<std::uint32_t>(previous)] = false;
    }
    if (previous != 0) {
      slot = previous == 1 ? 2 : 1;
      slots[slot] = true;
    }
  }
  a.wait_handle = slot;
  return move_bytes(call, to.pa, from.pa, a.size);
}

bool inside_program_window(const Machine& machine, std::uint64_t address, std::uint64_t bytes) {
  for (const nrtp_device_window& w : machine.facts().program_windows)
    if (address >= w.device && address - w.device <= w.bytes &&
        bytes <= w.bytes - (address - w.device))
      return true;
  return false;
}

std::int64_t program(Call& call, std::uint32_t core, std::uint64_t dst, std::uint64_t user,
                     std::uint64_t bytes, std::uint64_t offset) {
  if (core >= kMaxCores || dst > UINT64_MAX - offset ||
      !inside_program_window(call.machine, dst + offset, bytes))
    return -ENOMEM;
  std::vector<std::uint8_t> bounce(std::min(bytes, kPiece));
  for (std::uint64_t done = 0; done < bytes; done += kPiece) {
    const std::uint64_t n = std::min(kPiece, bytes - done);
    if (call.memory.read(user + offset + done, bounce.data(), n) != 0) return -EFAULT;
    // Parts of a window may hold nothing on this product; the transfer to
    // them is lost, as on silicon.
    if (call.node.device->write(dst + offset + done, bounce.data(), n) != 0)
      call.machine.log(NRTP_LOG_DEBUG, "device %u: engine write of %llu bytes at 0x%llx is lost",
                       call.node.index, static_cast<unsigned long long>(n),
                       static_cast<unsigned long long>(dst + offset + done));
  }
  return 0;
}

// Copy queue of a zero-copy request: -1 is the default one.
bool queue_number(std::int32_t queue) {
  return queue >= -1 && queue < static_cast<std::int32_t>(kMaxQueues);
}

// The core's default queue or one that a process took.
bool owned_queue(Call& call, std::uint32_t core, std::int32_t queue) {
  const nrtp_arch_dma& dma = *call.machine.config().arch->dma;
  const nrtp_product* product = call.machine.config().product;
  const auto number = static_cast<std::uint32_t>(queue);
  if (queue == -1 || number == dma.host_queue(product, core)) return true;
  std::lock_guard lock(call.node.mutex);
  return call.node.queues[dma.host_engine(product, core)][number].h2t_owner != 0;
}

bool kernel_half(std::uint64_t user, std::uint64_t bytes) {
  constexpr std::uint64_t kEnd = 1ull << 47;
  return user >= kEnd || bytes > kEnd - user;
}

std::int64_t zero_copy_one(Call& call, const Range& range, std::uint64_t user, bool to_device,
                           std::uint32_t threshold, std::int32_t queue) {
  if (range.bytes == 0) return 0;
  if (kernel_half(user, range.bytes)) return -EFAULT;
  const bool word = range.bytes % 4 == 0 && range.pa % 4 == 0;
  if (to_device && !range.host && word && range.bytes <= std::min(threshold, kBar4Max))
    return copy_in(call, range.pa, user, range.bytes);
  if (!queue_number(queue)) return -ENOENT;
  if (call.machine.facts().dma_retry) return -EINVAL;
  if (!owned_queue(call, range.core, queue)) return -ENOENT;
  const std::int64_t r = to_device ? copy_in(call, range.pa, user, range.bytes)
                                   : copy_out(call, range.pa, user, range.bytes);
  return r == -EFAULT ? -ENOMEM : r;  // the pages cannot be pinned
}

}  // namespace

std::int64_t mem_copy(Call& call, abi::MemCopy& a) {
  return chunk_copy(call, a.src_mem_handle, a.dst_mem_handle, a.src_offset, a.dst_offset, a.size);
}

std::int64_t mem_copy64(Call& call, abi::MemCopy64& a) {
  return chunk_copy(call, a.src_mem_handle, a.dst_mem_handle, a.src_offset, a.dst_offset, a.size);
}

std::int64_t mem_buf_copy(Call& call, abi::MemBufCopy& a) {
  return buffer_copy(call, a.mem_handle, a.buffer, a.offset, a.size, a.copy_to_mem_handle != 0);
}

std::int64_t mem_buf_copy64(Call& call, abi::MemBufCopy64& a) {
  return buffer_copy(call, a.mem_handle, a.buffer, a.offset, a.size, a.copy_to_mem_handle != 0);
}

std::int64_t mem_set(Call& call, abi::Memset& a) {
  return fill(call, a.mem_handle, a.offset, a.size, a.value);
}

std::int64_t mem_set64(Call& call, abi::Memset64& a) {
  return fill(call, a.mem_handle, a.offset, a.size, a.value);
}

std::int64_t mem_copy_async64(Call& call, abi::MemCopyAsync64& a) {
  if (std::int64_t r = copy_async(call, a)) return r;
  return call.reply(a);
}

std::int64_t mem_copy_async(Call& call, abi::MemCopyAsync& a) {
  abi::MemCopyAsync64 wide;
  wide.src_mem_handle = a.src_mem_handle;
  wide.dst_mem_handle = a.dst_mem_handle;
  wide.size = a.size;
  wide.src_offset = a.src_offset;
  wide.dst_offset = a.dst_offset;
  wide.pwait_handle = a.pwait_handle;
  if (std::int64_t r = copy_async(call, wide)) return r;
  a.wait_handle = wide.wait_handle;
  return call.reply(a);
}

std::int64_t mem_copy_async_wait(Call& call, abi::MemCopyAsyncWait& a) {
  Range from, to;
  if (int r = find_range(call, a.src_mem_handle, 0, 0, &from)) return r;
  if (int r = find_range(call, a.dst_mem_handle, 0, 0, &to)) return r;
  if (a.pwait_handle != 1 && a.pwait_handle != 2) return -EINVAL;
  std::lock_guard lock(call.node.mutex);
  bool& busy = slots_of(call.node, from, to)[a.pwait_handle];
  if (!busy) return -EINVAL;
  busy = false;
  return 0;
}

std::int64_t zero_copy(Call& call, abi::MemBufCopy64zc& a) {
  Range range;
  if (int r = find_range(call, a.mem_handle, a.offset, a.size, &range)) return r;
  return zero_copy_one(call, range, a.buffer, a.is_copy_to_device != 0, a.bar4_wr_threshold,
                       a.h2t_qid);
}

std::int64_t zero_copy_batches(Call& call, abi::MemBufCopy64zcBatches& a) {
  if (a.batches_ptr == 0 || a.num_batches == 0) return -EINVAL;
  for (std::uint32_t b = 0; b < a.num_batches; ++b) {
    abi::MemcpyBatch batch;
    if (call.memory.read(a.batches_ptr + b * sizeof batch, &batch, sizeof batch) != 0)
      return -EFAULT;
    if (batch.ops_ptr == 0 || batch.num_ops == 0) return -EINVAL;
    for (std::uint32_t i = 0; i < batch.num_ops; ++i) {
      abi::NrtTensorBatchOp op;
      if (call.memory.read(batch.ops_ptr + i * sizeof op, &op, sizeof op) != 0) return -EFAULT;
      Range range;
      if (op.size == 0 || op.offset > UINT64_MAX - batch.mem_handle_offset) return -EINVAL;
      if (int r = find_range(call, batch.mem_handle, batch.mem_handle_offset + op.offset, op.size,
                             &range))
        return r;
      if (std::int64_t r = zero_copy_one(call, range, op.buffer, a.is_copy_to_device != 0,
                                         batch.bar4_wr_threshold, a.h2t_qid))
        return r;
    }
  }
  return 0;
}

std::int64_t program_engine(Call& call, abi::ProgramEngine& a) {
  return program(call, 0, a.dst, a.buffer, a.size, a.offset);
}

std::int64_t program_engine_nc(Call& call, abi::ProgramEngineNc& a) {
  return program(call, a.nc_id, a.dst, a.buffer, a.size, a.offset);
}

std::int64_t program_engine_nc64(Call& call, abi::ProgramEngineNc64& a) {
  return program(call, a.nc_id, a.dst, a.buffer, a.size, a.offset);
}

}  // namespace opennrt::emu
