// SPDX-License-Identifier: Apache-2.0
//
// Steps: descriptors, memory, copies, mappings.
#include "sequence.h"

namespace opennrt::sequences {

void Sequence::open() {
  const std::uint32_t pid = any_pid();
  const std::uint32_t device = below(20) == 0 ? 7 : static_cast<std::uint32_t>(below(devices_));
  const std::uint32_t flags = pick({2u, 2u, 2u, 0u, 1u, 1u, 3u});
  const int r =
      machine_->open(client(pid), ("/dev/neuron" + std::to_string(device)).c_str(), flags);
  ++requests_;
  say() << pid << " open device " << device << " flags " << flags << " = " << r;
  note();
  const int expected = model_.open_result(pid, device, flags);
  same("open", expected, r < 0 ? r : 0);
  if (r < 0) return;
  model_.opened(pid, device, flags, r);
  fds_[r] = pid;
}

void Sequence::close(std::uint32_t pid, int fd) {
  const int r = machine_->close(client(pid), fd);
  ++requests_;
  say() << pid << " close " << fd << " = " << r;
  note();
  same("close", model_.close(pid, fd), r);
  fds_.erase(fd);
}

void Sequence::allocate(std::uint32_t pid, int fd) {
  Model::Allocation m;
  m.bytes = pick<std::uint64_t>({1, 4096, 4097, 8192, 65536, 512 * 1024, 512 * 1024 + 1, kMiB,
                                 3 * kMiB, 16 * kMiB, 40 * kMiB});
  m.host = below(3) == 0;
  if (m.host) m.bytes = std::min(m.bytes, kMiB);
  m.channel = static_cast<std::uint32_t>(below(2));
  m.core = static_cast<std::uint32_t>(below(3));
  m.type = m.host ? 2 : pick({9u, 9u, 8u, 19u, 77u});
  if (!m.host && below(4) == 0 && m.type != 19)
    m.align = pick<std::uint64_t>({1, 4096, 8192, 65536, kMiB});
  // At most one thing is wrong.
  switch (below(30)) {
    case 0:
      m.bytes = 0;
      break;
    case 1:
      m.bytes = pick<std::uint64_t>({1ull << 63, UINT64_MAX});
      break;
    case 2:
      m.channel = pick({4u, UINT32_MAX});
      break;
    case 3:
      m.core = pick({8u, UINT32_MAX});
      break;
    case 4:
      m.align = m.host ? 4096 : 1ull << 31;
      break;
    case 5:
      if (!m.host) m.bytes = 1ull << 40;
      break;
    default:
      break;
  }
  emu::abi::MemAllocV2MemType64 a;
  a.size = m.bytes;
  a.align = m.align;
  a.host_memory = m.host;
  a.dram_channel = m.channel;
  a.nc_id = m.core;
  a.mem_type = m.type;
  a.mem_handle = out_pointer();
  const std::int64_t r = send(pid, fd, emu::abi::kMemAllocV2mt64, a);
  const auto handle = out<std::uint64_t>();
  say() << pid << " fd " << fd << " MEM_ALLOC size " << m.bytes << " align " << m.align << " host "
        << m.host << " channel " << m.channel << " core " << m.core << " type " << m.type << " = "
        << r << " handle " << (r == 0 ? handle : 0);
  note();
  int expected = model_.enter(pid, fd, Model::kDeviceLane, Model::kOpen);
  Block* block = nullptr;
  if (expected == 0) expected = model_.allocate(pid, fd, m, &block);
  same("MEM_ALLOC", expected, r);
  if (r != 0) return;
  same("handle", block->handle, handle);
  const std::uint64_t pa = pa_of(pid, fd, handle);
  if (m.host)
    place_host(fd, *block, pa);
  else
    same("address", block->pa, pa);
}

void Sequence::free(std::uint32_t pid, int fd) {
  emu::abi::MemFree a;
  a.mem_handle = any_handle(fd);
  if (model_.is_open(fd)) {
    const Block* block = model_.find(fd, a.mem_handle);
    if (block && block->stays) return;  // of a notification queue
  }
  const std::int64_t r = send(pid, fd, emu::abi::kMemFree, a);
  say() << pid << " fd " << fd << " MEM_FREE " << a.mem_handle << " = " << r;
  note();
  int expected = model_.enter(pid, fd, Model::kDeviceLane, Model::kAttached);
  if (expected == 0) expected = model_.release(fd, a.mem_handle);
  same("MEM_FREE", expected, r);
}

void Sequence::query(std::uint32_t pid, int fd) {
  const std::uint64_t handle = any_handle(fd);
  Block* block = model_.is_open(fd) ? model_.find(fd, handle) : nullptr;
  switch (below(4)) {
    case 0: {
      emu::abi::MemGetInfo a;
      a.mem_handle = handle;
      a.pa = out_pointer();
      a.mmap_offset = below(2) ? out_pointer() + 8 : 0;
      const std::int64_t r = send(pid, fd, emu::abi::kMemGetInfo, a);
      say() << pid << " fd " << fd << " MEM_GET_INFO " << handle << " = " << r;
      note();
      int expected = model_.enter(pid, fd, Model::kDeviceLane, Model::kAttached);
      if (expected == 0 && !block) expected = -EINVAL;
      same("MEM_GET_INFO", expected, r);
      if (r == 0) same("address", block->pa, out<std::uint64_t>());
      return;
    }
    case 1: {
      emu::abi::MemGetExtendedInfo a;
      a.mem_handle = handle;
      const std::int64_t r = send(pid, fd, emu::abi::kMemGetExtendedInfo, a);
      say() << pid << " fd " << fd << " MEM_GET_EXTENDED_INFO " << handle << " = " << r;
      note();
      int expected = model_.enter(pid, fd, Model::kDeviceLane, Model::kOpen);
      if (expected == 0 && !block) expected = EINVAL;  // positive
      same("MEM_GET_EXTENDED_INFO", expected, r);
      if (r != 0) return;
      same("host", block->host, a.host_memory);
      same("address", block->pa, a.pa);
      same("owner", block->owner, a.pid);
      same("size", block->bytes, a.size);
      return;
    }
    default: {
      if (!block) return;
      emu::abi::MemGetMcMmapInfoV2 a;
      a.pa = block->pa + below(block->bytes);
      const std::int64_t r = send(pid, fd, emu::abi::kMemMcGetInfoV2, a);
      say() << pid << " fd " << fd << " MEM_MC_GET_INFO_V2 of " << handle << " = " << r;
      note();
      const int expected = model_.enter(pid, fd, Model::kDeviceLane, Model::kOpen);
      same("MEM_MC_GET_INFO_V2", expected, r);
      if (r != 0) return;
      same("cookie", block->pa, a.mmap_offset);
      same("size", block->bytes, a.size);
      same("handle", block->handle, a.mem_handle);
    }
  }
}

void Sequence::buffer(std::uint32_t pid, int fd) {
  emu::abi::MemBufCopy64 a;
  a.mem_handle = any_handle(fd);
  a.buffer = memory_.base() + kData;
  a.size = below(64);
  a.offset = pick<std::uint64_t>({0, 0, 8, 64, 4095, 4096});
  a.copy_to_mem_handle = static_cast<std::uint32_t>(below(2));
  if (below(20) == 0) a.offset = pick<std::uint64_t>({UINT64_MAX, UINT64_MAX - 32, 1ull << 32});
  if (below(30) == 0) a.buffer = 0x10;
  for (std::uint64_t i = 0; i < 64; ++i)
    memory_.at(kData)[i] = static_cast<std::uint8_t>(random_());
  std::vector<std::uint8_t> before(memory_.at(kData), memory_.at(kData) + 64);
  const bool bad = a.buffer == 0x10;
  const std::int64_t r = send(pid, fd, emu::abi::kMemBufCopy64, a);
  say() << pid << " fd " << fd << " MEM_BUF_COPY handle " << a.mem_handle << " offset " << a.offset
        << " size " << a.size << (a.copy_to_mem_handle ? " in" : " out") << (bad ? " bad" : "")
        << " = " << r;
  note();
  int expected = model_.enter(pid, fd, Model::kDeviceLane, Model::kOpen);
  Block* block = nullptr;
  if (expected == 0) expected = model_.range(fd, a.mem_handle, a.offset, a.size, &block);
  if (expected == 0 && bad && a.size) expected = -EFAULT;
  same("MEM_BUF_COPY64", expected, r);
  if (r != 0) return;
  for (std::uint64_t i = 0; i < a.size; ++i) {
    const std::uint64_t at = a.offset + i;
    if (at >= block->bytes) return;  // a contiguous piece goes on in the next
    if (a.copy_to_mem_handle) {
      block->known[at] = before[i];
    } else if (const auto known = block->known.find(at); known != block->known.end()) {
      same("byte", known->second, memory_.at(kData)[i]);
    }
  }
}

void Sequence::copy(std::uint32_t pid, int fd) {
  const std::uint64_t from = any_handle(fd), to = any_handle(fd);
  const std::uint64_t bytes = 1 + below(100), at = below(64), where = below(64);
  Block *source = nullptr, *target = nullptr;
  const bool async = below(2);
  if (async && below(3) == 0) {
    emu::abi::MemCopyAsyncWait a;
    a.src_mem_handle = from;
    a.dst_mem_handle = to;
    const std::int32_t slot = pick({0, 1, 2, 1, 2, 3, -1});
    a.pwait_handle = static_cast<decltype(a.pwait_handle)>(slot);
    const std::int64_t r = send(pid, fd, emu::abi::kMemCopyAsyncWait, a);
    say() << pid << " fd " << fd << " MEM_COPY_ASYNC_WAIT " << from << " " << to << " slot " << slot
          << " = " << r;
    note();
    int expected = model_.enter(pid, fd, Model::kDeviceLane, Model::kAttached);
    if (expected == 0) expected = model_.range(fd, from, 0, 0, &source);
    if (expected == 0) expected = model_.range(fd, to, 0, 0, &target);
    if (expected == 0) expected = model_.async_wait(fd, *source, *target, slot);
    same("MEM_COPY_ASYNC_WAIT", expected, r);
    return;
  }
  const std::int32_t previous = pick({-1, -1, 1, 2, 0, 3, -2});
  std::int64_t r = 0;
  std::uint32_t slot = 0;
  if (async) {
    emu::abi::MemCopyAsync64 a;
    a.src_mem_handle = from;
    a.dst_mem_handle = to;
    a.size = bytes;
    a.src_offset = at;
    a.dst_offset = where;
    a.pwait_handle = static_cast<decltype(a.pwait_handle)>(previous);
    r = send(pid, fd, emu::abi::kMemCopyAsync64, a);
    slot = static_cast<std::uint32_t>(a.wait_handle);
    say() << pid << " fd " << fd << " MEM_COPY_ASYNC after " << previous << ": ";
  } else {
    emu::abi::MemCopy64 a;
    a.src_mem_handle = from;
    a.dst_mem_handle = to;
    a.size = bytes;
    a.src_offset = at;
    a.dst_offset = where;
    r = send(pid, fd, emu::abi::kMemCopy64, a);
    say() << pid << " fd " << fd << " MEM_COPY ";
  }
  say() << bytes << " bytes of " << from << " at " << at << " to " << to << " at " << where << " = "
        << r;
  note();
  int expected = model_.enter(pid, fd, Model::kDeviceLane, Model::kOpen);
  if (expected == 0) expected = model_.range(fd, from, at, bytes, &source);
  if (expected == 0) expected = model_.range(fd, to, where, bytes, &target);
  std::uint32_t expected_slot = 0;
  if (expected == 0 && async)
    expected = model_.async_start(fd, *source, *target, bytes, previous, &expected_slot);
  same(async ? "MEM_COPY_ASYNC64" : "MEM_COPY64", expected, r);
  if (r != 0) return;
  if (async) same("slot", expected_slot, slot);
  Model::copied(*source, at, *target, where, bytes);
}

void Sequence::fill(std::uint32_t pid, int fd) {
  emu::abi::Memset64 a;
  a.mem_handle = any_handle(fd);
  a.offset = below(100);
  a.size = below(100);
  a.value = static_cast<std::uint32_t>(random_());
  const std::int64_t r = send(pid, fd, emu::abi::kMemset64, a);
  say() << pid << " fd " << fd << " MEMSET " << a.mem_handle << " at " << a.offset << " size "
        << a.size << " = " << r;
  note();
  int expected = model_.enter(pid, fd, Model::kDeviceLane, Model::kOpen);
  Block* block = nullptr;
  if (expected == 0) expected = model_.range(fd, a.mem_handle, a.offset, a.size, &block);
  same("MEMSET64", expected, r);
  for (std::uint64_t i = 0; r == 0 && i < a.size; ++i)
    block->known[a.offset + i] = static_cast<std::uint8_t>(a.value);
}

void Sequence::map(std::uint32_t pid, int fd) {
  if (!views_.empty() && below(2)) {
    const std::size_t i = below(views_.size());
    const View view = views_[i];
    const int r = machine_->munmap(client(view.pid), view.address, view.bytes);
    ++requests_;
    say() << view.pid << " munmap of " << view.pa << " = " << r;
    note();
    same("munmap", 0, r);
    views_.erase(views_.begin() + static_cast<std::ptrdiff_t>(i));
    return;
  }
  const std::uint64_t handle = any_handle(fd);
  const Block* block = model_.is_open(fd) ? model_.find(fd, handle) : nullptr;
  std::uint64_t bytes = block ? block->bytes : 4096;
  std::uint64_t pa = block ? block->pa : 0x123456000;
  switch (below(10)) {
    case 0:
      bytes += 4096;
      break;
    case 1:
      pa += 4096;
      break;
    case 2:
      bytes = 0;
      break;
    case 3:
      pa += 12;
      break;
    case 4:
      bytes -= 1;
      break;  // rounded up again
    default:
      break;
  }
  // An offset inside another block, or past this one, is another question.
  const bool inside = block && pa >= block->pa && pa - block->pa < block->bytes;
  if (block && !inside) return;
  if (block && block->contiguous && pa != block->pa) return;
  const bool write = below(2);
  void* address = nullptr;
  const int r = machine_->mmap(client(pid), fd, bytes, write ? 3 : 1, pa, &address);
  ++requests_;
  say() << pid << " fd " << fd << " mmap " << bytes << " at " << pa << (write ? " rw" : " r")
        << " = " << r;
  note();
  bool writable = false;
  same("mmap", model_.map_result(pid, fd, bytes, write, pa, &writable), r);
  if (r != 0) return;
  views_.push_back({pid, address, bytes, pa, block->host});
  const auto* seen = static_cast<const std::uint8_t*>(address);
  for (const auto& [at, value] : block->known)
    if (at < bytes) same("mapped byte", value, seen[at]);
  if (!writable) return;
  static_cast<std::uint8_t*>(address)[5] = 0x5A;
  model_.find(fd, handle)->known[5] = 0x5A;
}

}  // namespace opennrt::sequences
