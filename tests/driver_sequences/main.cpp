// SPDX-License-Identifier: Apache-2.0
//
// driver_sequences --count N [--seed S] [--length L] [--only K] [--verbose]
// Random sequences of requests by several processes: each outcome is predicted by
// the model and compared with the emulated driver. The first difference is
// printed with the sequence that leads to it. Exit status 1: there was one.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <sstream>
#include <string>

#include "cayman/table.h"
#include "device/device.h"
#include "driver/abi.h"
#include "driver/machine.h"
#include "model.h"
#include "sunda/table.h"
#include "support/arena_memory.h"
#include "support/driver_books.h"

namespace opennrt::sequences {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::size_t kArena = 1 << 17, kOut = 1 << 14, kData = 1 << 15;
constexpr std::uint32_t kFirstPid = 500;

// From the description of the interface, not from the driver's tables.
Family family_of(bool arch3, std::uint64_t channel_bytes) {
  Family f;
  f.channel_bytes = channel_bytes;
  if (arch3) {
    f.cores = 8;
    f.topsps = 16;
    f.channel_base = {0, 274877906944, 140737488355328, 141012366262272};
    f.host_window = 0x400000000000;
    f.copy_engine = {128, 128, 129, 129, 130, 130, 131, 131};
    f.copy_queue = {0, 1, 0, 1, 0, 1, 0, 1};
  } else {
    f.channel_base = {0, 68719476736};
    f.host_window = 0x100000000000;
    f.copy_engine = {32, 33};
    f.copy_queue = {0, 0};
  }
  return f;
}

const nrtp_product* product_named(const nrtp_arch_plugin& arch, const std::string& name) {
  for (std::uint32_t i = 0; i < arch.n_products; ++i) {
    const auto* p = reinterpret_cast<const nrtp_product*>(
        reinterpret_cast<const char*>(arch.products) + std::size_t{i} * arch.product_stride);
    if (name == p->name) return p;
  }
  return nullptr;
}

struct Difference {
  std::string text;
};

class Sequence {
 public:
  Sequence(std::uint64_t seed, bool verbose)
      : random_(seed), verbose_(verbose), memory_(kArena), model_({}, 0, false) {
    const bool arch3 = random_() % 2;
    // Some channels have a pool for small requests, which needs more than 1 GiB.
    const std::uint64_t channel = (random_() % 2 ? 1088 : 80) * kMiB;
    emu::MachineConfig config;
    config.arch = arch3 ? &cayman::plugin() : &sunda::plugin();
    config.product = product_named(*config.arch, arch3 ? "trn2.3xlarge" : "trn1.2xlarge");
    config.devices = 1 + random_() % 2;
    config.hbm_bytes = channel;
    config.host_bytes = 256 * kMiB;
    config.make_device = &emu::Device::create;
    // The releases that the model describes: with every form of every request.
    do config.driver = &emu::kDriverPresets[random_() % std::size(emu::kDriverPresets)];
    while (config.driver->version < emu::kDriver2_24);
    config.reader_patience = config.writer_patience = config.init_patience =
        std::chrono::milliseconds(0);
    std::string error;
    machine_ = emu::Machine::create(config, &error);
    if (!machine_) throw Difference{error};
    modern_ = std::string(config.driver->text) != "2.24.7.0";
    devices_ = config.devices;
    model_ = Model(family_of(arch3, channel), devices_, modern_);
    clients_ = random_() % 8 == 0 ? 18 : 1 + random_() % 4;
    say() << "machine: arch " << (arch3 ? 3 : 2) << ", " << devices_ << " devices, channels of "
          << channel / kMiB << " MiB, driver " << config.driver->text << ", " << clients_
          << " processes";
    note();
  }

  // The number of requests.
  std::uint64_t run(std::uint32_t length) {
    try {
      for (std::uint32_t i = 0; i < length; ++i) step();
      finish();
    } catch (Difference& d) {
      std::string all;
      for (const std::string& line : log_) all += line + "\n";
      throw Difference{all + "difference: " + d.text};
    }
    return requests_;
  }

 private:
  using Rng = std::mt19937_64;
  std::uint64_t below(std::uint64_t n) { return n == 0 ? 0 : random_() % n; }
  template <typename T>
  T pick(std::initializer_list<T> values) {
    return *(values.begin() + below(values.size()));
  }
  std::ostream& say() { return line_; }
  void note() {
    log_.push_back(line_.str());
    if (verbose_) std::printf("%s\n", log_.back().c_str());
    line_.str("");
  }
  [[noreturn]] void differ(const std::string& what) { throw Difference{what}; }
  template <typename A, typename B>
  void same(const char* what, const A& expected, const B& got) {
    if (static_cast<std::int64_t>(expected) == static_cast<std::int64_t>(got)) return;
    std::ostringstream out;
    out << what << ": expected " << static_cast<std::int64_t>(expected) << ", the driver gives "
        << static_cast<std::int64_t>(got);
    differ(out.str());
  }
  emu::Client client(std::uint32_t pid) {
    emu::Client c;
    c.pid = pid;
    return c;
  }
  std::uint32_t any_pid() { return kFirstPid + static_cast<std::uint32_t>(below(clients_)); }
  // Mostly one's own descriptor.
  int any_fd(std::uint32_t pid) {
    if (below(40) == 0 || fds_.empty()) return static_cast<int>(below(4)) - 1;
    std::vector<int> mine;
    for (const auto& [fd, owner] : fds_)
      if (owner == pid) mine.push_back(fd);
    if (!mine.empty() && below(12) != 0) return mine[below(mine.size())];
    auto it = fds_.begin();
    std::advance(it, static_cast<std::ptrdiff_t>(below(fds_.size())));
    return it->first;
  }
  std::uint64_t any_handle(int fd) {
    if (model_.is_open(fd) && below(16) != 0) {
      const auto& blocks = model_.device(fd).blocks;
      if (!blocks.empty()) {
        auto it = blocks.begin();
        std::advance(it, static_cast<std::ptrdiff_t>(below(blocks.size())));
        return it->first;
      }
    }
    return pick<std::uint64_t>({0, 1, 2, 999, 4194303, 4194304, UINT64_MAX});
  }
  std::uint64_t out_pointer() { return memory_.base() + kOut; }
  template <typename T>
  T out() {
    T value;
    std::memcpy(&value, memory_.at(kOut), sizeof value);
    return value;
  }
  template <typename T>
  std::int64_t send(std::uint32_t pid, int fd, std::uint32_t code, T& argument) {
    ++requests_;
    std::memcpy(memory_.at(0), &argument, sizeof argument);
    const std::int64_t r = machine_->ioctl(client(pid), memory_, fd, code, memory_.base());
    std::memcpy(&argument, memory_.at(0), sizeof argument);
    return r;
  }
  std::uint64_t pa_of(std::uint32_t pid, int fd, std::uint64_t handle) {
    emu::abi::MemGetPa a;
    a.mem_handle = handle;
    a.pa = out_pointer();
    const std::int64_t r = send(pid, fd, emu::abi::kMemGetPa, a);
    same("MEM_GET_PA", 0, r);
    return out<std::uint64_t>();
  }

  void step();
  void finish();
  void open();
  void close(std::uint32_t pid, int fd);
  void allocate(std::uint32_t pid, int fd);
  void free(std::uint32_t pid, int fd);
  void query(std::uint32_t pid, int fd);
  void buffer(std::uint32_t pid, int fd);
  void copy(std::uint32_t pid, int fd);
  void fill(std::uint32_t pid, int fd);
  void map(std::uint32_t pid, int fd);
  void lock(std::uint32_t pid, int fd);
  void mark(std::uint32_t pid, int fd);
  void store(std::uint32_t pid, int fd);
  void count(std::uint32_t pid, int fd, Store& store);
  void state(std::uint32_t pid, int fd);
  void sync(std::uint32_t pid, int fd);
  void ring(std::uint32_t pid, int fd);
  void h2t(std::uint32_t pid, int fd);
  void notification(std::uint32_t pid, int fd);
  void list(std::uint32_t pid, int fd);
  void facts(std::uint32_t pid, int fd);

  // Host memory must not overlap other host memory that is in use.
  void place_host(int fd, Block& block, std::uint64_t pa) {
    if ((pa & model_.family().host_window) == 0 || pa % kPageBytes)
      differ("host memory outside the host window");
    block.pa = pa;
    for (const auto& [other_fd, owner] : fds_) {
      if (model_.file(other_fd).misc) continue;
      for (const auto& [handle, other] : model_.device(other_fd).blocks)
        if (other.host && &other != &block && pa < other.pa + other.bytes &&
            other.pa < pa + block.bytes)
          differ("host memory is given out twice");
    }
    for (const auto& view : views_)
      if (view.host && pa < view.pa + view.bytes && view.pa < pa + block.bytes)
        differ("host memory is given out under a mapping");
    (void)fd;
  }

  struct View {
    std::uint32_t pid = 0;
    void* address = nullptr;
    std::uint64_t bytes = 0, pa = 0;
    bool host = false;
  };
  Rng random_;
  bool verbose_;
  emu::ArenaMemory memory_;
  std::unique_ptr<emu::Machine> machine_;
  Model model_;
  bool modern_ = false;
  std::uint32_t devices_ = 1;
  std::uint64_t clients_ = 1, requests_ = 0;
  std::map<int, std::uint32_t> fds_;  // and who has them
  std::vector<View> views_;
  std::vector<std::string> log_;
  std::ostringstream line_;
};

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

void Sequence::lock(std::uint32_t pid, int fd) {
  static constexpr std::uint32_t kCodes[] = {emu::abi::kCrwlReaderEnter, emu::abi::kCrwlReaderExit,
                                             emu::abi::kCrwlWriterEnter,
                                             emu::abi::kCrwlWriterDowngrade};
  const int what = static_cast<int>(below(4));
  emu::abi::Crwl a;
  a.nc_id = below(20) == 0 ? 8 : static_cast<std::uint32_t>(below(2));
  const std::uint32_t uuid = 1 + static_cast<std::uint32_t>(below(2));
  std::memset(a.uuid.value, static_cast<int>(uuid), sizeof a.uuid.value);
  const std::int64_t r = send(pid, fd, kCodes[what], a);
  say() << pid << " fd " << fd << " CRWL " << what << " core " << a.nc_id << " uuid " << uuid
        << " = " << r;
  note();
  int expected = model_.enter(pid, fd, Model::kDeviceLane, Model::kOpen);
  if (expected == 0) expected = model_.lock(pid, fd, what, a.nc_id, uuid);
  same("CRWL", expected, r);
}

void Sequence::mark(std::uint32_t pid, int fd) {
  emu::abi::CrwlNcMapExt a;
  int expected = model_.enter(pid, fd, Model::kBothLanes, Model::kOpen);
  if (below(3) == 0) {
    std::array<std::uint64_t, 8> bitmap{};
    bitmap[0] = random_();
    bitmap[7] = random_();
    std::copy(bitmap.begin(), bitmap.end(), a.bitmap);
    const std::int64_t r = send(pid, fd, emu::abi::kCrwlNcRangeUnmarkExt0, a);
    say() << pid << " fd " << fd << " unmark = " << r;
    note();
    if (expected == 0) model_.unmark(pid, fd, bitmap);
    same("CRWL_NC_RANGE_UNMARK", expected, r);
    return;
  }
  a.nc_count = static_cast<std::uint32_t>(below(5));
  a.start_nc_index = static_cast<std::uint32_t>(below(10));
  a.end_nc_index = a.start_nc_index + static_cast<std::uint32_t>(below(12));
  switch (below(20)) {
    case 0:
      a.end_nc_index = a.start_nc_index - 1;
      break;
    case 1:
      a.end_nc_index = 512;
      break;
    case 2:
      a.start_nc_index = 505, a.end_nc_index = 511;
      break;
    default:
      break;
  }
  // What a count of 0 finds without a free core is not described.
  if (a.nc_count == 0 && expected == 0 && a.end_nc_index < 512 &&
      !model_.range_has_free(fd, a.start_nc_index, a.end_nc_index))
    a.nc_count = 1;
  const emu::abi::CrwlNcMapExt asked = a;
  const std::int64_t r = send(pid, fd, emu::abi::kCrwlNcRangeMarkExt0, a);
  say() << pid << " fd " << fd << " mark " << asked.nc_count << " in " << asked.start_nc_index
        << ".." << asked.end_nc_index << " = " << r;
  note();
  std::uint32_t max = 0;
  std::array<std::uint64_t, 8> bitmap{};
  if (expected == 0)
    expected = model_.mark(pid, fd, asked.nc_count, asked.start_nc_index, asked.end_nc_index, &max,
                           &bitmap);
  same("CRWL_NC_RANGE_MARK", expected, r);
  if (r == 0 || r == -EBUSY) same("max_nc_available", max, a.max_nc_available);
  for (std::size_t i = 0; r == 0 && i < 8; ++i) same("bitmap", bitmap[i], a.bitmap[i]);
}

void Sequence::store(std::uint32_t pid, int fd) {
  emu::abi::DsInfo a;
  a.pid = below(2) ? 0 : static_cast<std::int32_t>(any_pid());
  const bool acquire = below(3) != 0;
  const std::int32_t which = a.pid;
  const std::int64_t r =
      send(pid, fd, acquire ? emu::abi::kAcquireNeuronDs : emu::abi::kReleaseNeuronDs, a);
  say() << pid << " fd " << fd << (acquire ? " acquire" : " release") << " store of " << which
        << " = " << r;
  note();
  int expected = model_.enter(pid, fd, Model::kDeviceLane, Model::kOpen);
  Store* slot = nullptr;
  if (expected == 0 && acquire) expected = model_.store_acquire(pid, fd, which, &slot);
  if (expected == 0 && !acquire) model_.store_release(pid, fd, which);
  same("data store", expected, r);
  if (r != 0 || !acquire) return;
  same("store size", 262144, a.size);
  if (slot->cookie == 0) {
    for (const Store& other : model_.device(fd).stores)
      if (other.cookie == a.mmap_offset) differ("two stores in one place");
    slot->cookie = a.mmap_offset;
  }
  same("store cookie", slot->cookie, a.mmap_offset);
  count(pid, fd, *slot);
}

// Counts in a store, and asks the statistics for it. Places of the counters as
// the description of the store gives them.
void Sequence::count(std::uint32_t pid, int fd, Store& store) {
  const auto core = static_cast<std::uint32_t>(below(model_.family().cores));
  const std::uint32_t counter = pick({1u, 30u, 31u, 40u});
  const std::size_t word = core > 3        ? 7248 + 96 * (core - 4) + counter
                           : counter <= 30 ? 32 + 31 * core + counter
                                           : 6992 + 64 * core + (counter - 31);
  void* address = nullptr;
  const bool write = model_.file(fd).writable;
  const int r = machine_->mmap(client(pid), fd, 262144, write ? 3 : 1, store.cookie, &address);
  ++requests_;
  same("mmap of a store", model_.file(fd).readable ? 0 : -EACCES, r);
  if (r != 0) return;
  if (write) {
    const std::uint64_t more = 1 + below(1000);
    static_cast<std::uint64_t*>(address)[word] += more;
    store.counters[core << 8 | counter] += more;
    say() << pid << " counts " << more << " at core " << core << " counter " << counter;
    note();
  }
  same("munmap of a store", 0, machine_->munmap(client(pid), address, 262144));
  static const std::map<std::uint32_t, const char*> kNames = {{1, "success"},
                                                              {30, "oob_error"},
                                                              {31, "hw_collectives_error"},
                                                              {40, "hw_repairable_hbm_ue_error"}};
  const std::string path = "/sys/class/neuron_device/neuron" +
                           std::to_string(model_.file(fd).device) + "/neuron_core" +
                           std::to_string(core) + "/stats/status/" + kNames.at(counter) + "/";
  for (const bool total : {false, true}) {
    char text[32] = {};
    const std::int64_t n =
        machine_->read_text((path + (total ? "total" : "present")).c_str(), text, sizeof text - 1);
    if (n < 2) differ("no statistics in " + path);
    const DeviceModel& d = model_.device(fd);
    same("statistics",
         total ? Model::total(d, core << 8 | counter) : Model::present(d, core << 8 | counter),
         std::strtoull(text, nullptr, 10));
  }
}

void Sequence::state(std::uint32_t pid, int fd) {
  int expected = model_.enter(pid, fd, Model::kDeviceLane, Model::kOpen);
  switch (below(3)) {
    case 0: {
      emu::abi::CinitSet a;
      a.nc_id = below(16) == 0 ? 8 : static_cast<std::uint32_t>(below(2));
      a.state = static_cast<std::uint32_t>(below(5));
      const std::uint32_t wanted = a.state;
      const std::int64_t r = send(pid, fd, emu::abi::kCinitSetState, a);
      say() << pid << " fd " << fd << " CINIT core " << a.nc_id << " to " << wanted << " = " << r;
      note();
      std::uint32_t now = 0;
      if (expected == 0) expected = model_.init_state(fd, a.nc_id, wanted, &now);
      same("CINIT_SET_STATE", expected, r);
      if (r == 0) same("new_state", now, a.new_state);
      return;
    }
    case 1: {
      emu::abi::DeviceReset a;
      a.nc_map = pick({0u, 1u, 2u, 3u, 0xFFu, UINT32_MAX, 0x100u});
      const std::uint32_t map = a.nc_map;
      const std::int64_t r = send(pid, fd, emu::abi::kNcReset, a);
      say() << pid << " fd " << fd << " NC_RESET " << map << " = " << r;
      note();
      if (expected == 0) expected = model_.reset(pid, fd, map);
      same("NC_RESET", expected, r);
      if (r == 0) same("request_id", pid, a.request_id);
      return;
    }
    default: {
      emu::abi::DeviceReady a;
      a.request_id = any_pid();
      const std::int64_t r = send(pid, fd, emu::abi::kNcResetReady, a);
      say() << pid << " fd " << fd << " NC_RESET_READY " << a.request_id << " = " << r;
      note();
      same("NC_RESET_READY", expected, r);
      if (r == 0) same("result", model_.ready(fd, a.request_id), a.result);
    }
  }
}

void Sequence::sync(std::uint32_t pid, int fd) {
  int expected = model_.enter(pid, fd, Model::kDeviceLane, Model::kOpen);
  const std::uint32_t core =
      below(16) == 0 ? pick({8u, 200u}) : static_cast<std::uint32_t>(below(2));
  const std::uint32_t index =
      below(16) == 0 ? pick({256u, 65536u, UINT32_MAX}) : static_cast<std::uint32_t>(below(256));
  std::uint32_t* value = nullptr;
  if (below(3) == 0) {
    emu::abi::Event a;
    a.nc_id = core;
    a.event_index = index;
    a.value = static_cast<std::uint32_t>(below(2));
    const bool set = below(2);
    const std::int64_t r = send(pid, fd, set ? emu::abi::kEventSet : emu::abi::kEventGet, a);
    say() << pid << " fd " << fd << (set ? " set" : " get") << " event " << core << ":" << index
          << " = " << r;
    note();
    if (expected == 0) expected = model_.event(fd, core, index, &value);
    same("event", expected, r);
    if (r == 0 && set) *value = a.value;
    if (r == 0) same("event value", *value, a.value);
    return;
  }
  static constexpr std::uint32_t kCodes[] = {emu::abi::kSemaphoreIncrement,
                                             emu::abi::kSemaphoreDecrement,
                                             emu::abi::kSemaphoreWrite, emu::abi::kSemaphoreRead};
  const std::size_t what = below(4);
  emu::abi::Semaphore a;
  a.nc_id = core;
  a.semaphore_index = index;
  a.value = static_cast<std::uint32_t>(below(100));
  const std::int64_t r = send(pid, fd, kCodes[what], a);
  say() << pid << " fd " << fd << " semaphore " << what << " " << core << ":" << index << " value "
        << a.value << " = " << r;
  note();
  if (expected == 0) expected = model_.semaphore(fd, core, index, &value);
  same("semaphore", expected, r);
  if (r != 0) return;
  if (what == 0) *value += a.value;
  if (what == 1) *value -= a.value;
  if (what == 2) *value = a.value;
  if (what == 3) same("semaphore value", *value, a.value);
}

void Sequence::ring(std::uint32_t pid, int fd) {
  emu::abi::DmaQueueInit a;
  const std::uint32_t last = model_.family().copy_engine.back();
  a.eng_id = pick({0u, 1u, 17u, last, 132u, UINT32_MAX});
  a.qid = pick({0u, 1u, 2u, 3u, 15u, 16u});
  a.tx_desc_count = a.rx_desc_count = 64;
  if (below(6) == 0) a.tx_desc_count = pick({0u, 31u, 16u, 32u, 48u, 16777216u});
  if (below(6) == 0) a.rx_desc_count = pick({0u, 33u, 16u, 128u});
  a.tx_handle = below(3) ? any_handle(fd) : 0;
  a.rx_handle = below(3) ? any_handle(fd) : 0;
  const std::int64_t r = send(pid, fd, emu::abi::kDmaQueueInit, a);
  say() << pid << " fd " << fd << " DMA_QUEUE_INIT " << a.eng_id << "/" << a.qid << " counts "
        << a.tx_desc_count << " " << a.rx_desc_count << " memory " << a.tx_handle << " "
        << a.rx_handle << " = " << r;
  note();
  int expected = model_.enter(pid, fd, Model::kDeviceLane, Model::kAttached);
  if (expected == 0)
    expected = model_.ring_init(pid, fd, a.eng_id, a.qid, a.tx_desc_count, a.rx_desc_count,
                                a.tx_handle, a.rx_handle);
  same("DMA_QUEUE_INIT", expected, r);
  if (r != 0) return;
  emu::abi::DmaQueueGetState get;
  get.eng_id = a.eng_id;
  get.qid = a.qid;
  get.tx = out_pointer();
  get.rx = out_pointer() + 256;
  same("DMA_QUEUE_GET_STATE", 0, send(pid, fd, emu::abi::kDmaQueueGetState, get));
  const auto state = out<emu::abi::DmaQueueState>();
  const Block* tx = model_.find(fd, a.tx_handle);
  same("ring length", a.tx_desc_count, state.length);
  same("ring base", tx ? tx->pa : 0, state.base_addr);
  same("ring head", 0, state.head_pointer);
  same("ring tail", 0, state.tail_pointer);
  // Starts that must be refused.
  emu::abi::DmaQueueCopyStart start;
  start.eng_id = a.eng_id;
  start.qid = a.qid;
  start.tx_desc_count = 1;
  start.rx_desc_count = 0;
  same("start without receive descriptors", -1, send(pid, fd, emu::abi::kDmaQueueCopyStart, start));
  start.rx_desc_count = a.rx_desc_count + 1;
  same("start of too many", -1, send(pid, fd, emu::abi::kDmaQueueCopyStart, start));
  if (model_.find(fd, a.rx_handle)) return;
  start.rx_desc_count = 1;
  same("start without ring memory", -EINVAL, send(pid, fd, emu::abi::kDmaQueueCopyStart, start));
}

void Sequence::h2t(std::uint32_t pid, int fd) {
  int expected = model_.enter(pid, fd, Model::kDeviceLane, Model::kOpen);
  const auto core = static_cast<std::uint16_t>(below(12) == 0 ? 8 : below(2));
  if (below(2)) {
    emu::abi::H2tDmaFreeQueues a;
    a.nc_id = static_cast<std::uint8_t>(core);
    a.queue_bmap = below(4) == 0 ? 0x8000u : 1u << below(6);
    const std::int64_t r = send(pid, fd, emu::abi::kH2tDmaFreeQueues, a);
    say() << pid << " fd " << fd << " H2T free " << core << " " << a.queue_bmap << " = " << r;
    note();
    if (!modern_) expected = expected == -EBADF ? -EBADF : -EINVAL;
    if (expected == 0) expected = model_.h2t_free(fd, core, a.queue_bmap);
    same("H2T_DMA_FREE_QUEUES", expected, r);
    return;
  }
  emu::abi::H2tDmaAllocQueues a;
  a.nc_id = core;
  a.copy_queue_cnt = static_cast<std::uint16_t>(below(12) == 0 ? 14 : below(3));
  a.service_queue_cnt = static_cast<std::uint16_t>(below(3));
  const std::int64_t r = send(pid, fd, emu::abi::kH2tDmaAllocQueues, a);
  say() << pid << " fd " << fd << " H2T take " << core << " " << a.copy_queue_cnt << "+"
        << a.service_queue_cnt << " = " << r;
  note();
  if (!modern_) expected = expected == -EBADF ? -EBADF : -EINVAL;
  std::uint32_t copies = 0, services = 0;
  if (expected == 0)
    expected =
        model_.h2t_take(pid, fd, core, a.copy_queue_cnt, a.service_queue_cnt, &copies, &services);
  same("H2T_DMA_ALLOC_QUEUES", expected, r);
  if (r != 0) return;
  same("copy queues", copies, a.copy_queue_bmap);
  same("service queues", services, a.service_queue_bmap);
  same("default queue", model_.family().copy_queue[core], a.copy_default_queue);
}

void Sequence::notification(std::uint32_t pid, int fd) {
  Model::Queue q;
  q.kind = below(16) == 0 ? 2 : static_cast<std::uint32_t>(below(2));
  q.id = below(16) == 0 ? 16 : static_cast<std::uint32_t>(below(2));
  q.type = below(16) == 0 ? 6 : static_cast<std::uint32_t>(below(6));
  q.engine = static_cast<std::uint32_t>(below(3));
  q.bytes = below(10) == 0 ? pick({0u, 3u, 4097u}) : pick({1u, 4096u, 8192u, 65536u, 1u << 20});
  q.channel = below(16) == 0 ? 4 : static_cast<std::uint32_t>(below(2));
  q.host = below(2);
  q.force = below(4) == 0;
  emu::abi::NotificationsInitWithReallocV2 a;
  a.nq_dev_type = q.kind;
  a.nq_dev_id = q.id;
  a.nq_type = q.type;
  a.engine_index = q.engine;
  a.size = q.bytes;
  a.dram_channel = q.channel;
  a.on_host_memory = q.host;
  a.force_alloc_mem = q.force;
  const std::int64_t r = send(pid, fd, emu::abi::kNotificationsInitWithReallocV2, a);
  say() << pid << " fd " << fd << " NOTIFICATIONS_INIT " << q.kind << ":" << q.id << " type "
        << q.type << " engine " << q.engine << " size " << q.bytes << (q.host ? " host" : " device")
        << (q.force ? " force" : "") << " = " << r << " handle " << a.mem_handle;
  note();
  int expected = model_.enter(pid, fd, Model::kDeviceLane, Model::kAttached);
  Block* known = nullptr;
  if (expected == 0) expected = model_.notification(fd, q, &known);
  // Whether there is room for it is told by the driver; the place is checked.
  if (expected == 0 && !known && r == -ENOMEM) return;
  same("NOTIFICATIONS_INIT", expected, r);
  if (r != 0) return;
  if (!known) {
    const std::uint64_t pa = pa_of(pid, fd, a.mem_handle);
    model_.notification_made(pid, fd, q, a.mem_handle, pa);
    if (!model_.wrong.empty()) differ(model_.wrong);
    known = model_.find(fd, a.mem_handle);
    if (q.host) place_host(fd, *known, pa);
  }
  same("queue handle", known->handle, a.mem_handle);
  same("queue cookie", known->host ? known->pa : UINT64_MAX, a.mmap_offset);
}

// Lists of chunks and of processes.
void Sequence::list(std::uint32_t pid, int fd) {
  int expected = model_.enter(pid, fd, Model::kDeviceLane, Model::kOpen);
  if (below(2)) {
    struct {
      emu::abi::GetAppsInfo head;
      emu::abi::AppInfo app[16];
    } a;
    a.head.apps_info_flags = 2;
    a.head.capacity = 16;
    const std::int64_t r = send(pid, fd, emu::abi::kDeviceGetAllAppsInfo, a);
    say() << pid << " fd " << fd << " DEVICE_GET_ALL_APPS_INFO = " << r;
    note();
    same("DEVICE_GET_ALL_APPS_INFO", expected, r);
    if (r != 0) return;
    const DeviceModel& d = model_.device(fd);
    same("processes", d.attached.size(), a.head.size);
    for (std::uint32_t i = 0; i < a.head.size; ++i) {
      const auto app = static_cast<std::uint32_t>(a.app[i].pid);
      if (!d.attached.count(app)) differ("an unattached process is listed");
      std::uint64_t host = 0, device = 0;
      for (const auto& [handle, block] : d.blocks)
        if (block.owner == app) (block.host ? host : device) += block.bytes;
      same("host memory of a process", host, a.app[i].host_mem_size);
      same("device memory of a process", device, a.app[i].device_mem_size);
    }
    return;
  }
  emu::abi::DumpMemChunks a;
  a.hbm_index = static_cast<std::uint32_t>(below(2));
  a.num_entries_in = below(3) == 0 ? 0 : 1000;
  a.data = memory_.base() + kData;
  const std::int64_t r = send(pid, fd, emu::abi::kDumpMemChunks, a);
  say() << pid << " fd " << fd << " DUMP_MEM_CHUNKS " << a.hbm_index << " = " << r;
  note();
  std::map<std::uint64_t, const Block*> there;
  if (expected == 0) {
    for (const auto& [handle, block] : model_.device(fd).blocks)
      if (!block.host && block.channel == a.hbm_index) there[block.pa] = &block;
    if (a.num_entries_in < there.size() + 1) expected = -EAGAIN;
  }
  same("DUMP_MEM_CHUNKS", expected, r);
  if (r != 0 && r != -EAGAIN) return;
  same("chunks", there.size() + 1, a.num_entries_out);  // and the firmware's
  for (std::uint32_t i = 0; r == 0 && i < a.num_entries_out; ++i) {
    emu::abi::MemChunkInfo info;
    std::memcpy(&info, memory_.at(kData + i * sizeof info), sizeof info);
    const auto it = there.find(info.pa);
    if (it == there.end()) {
      same("firmware area", model_.family().channel_base[a.hbm_index], info.pa);
      continue;
    }
    same("size of a chunk", it->second->bytes, info.size);
    same("type of a chunk", it->second->type, info.mem_type);
  }
}

void Sequence::facts(std::uint32_t pid, int fd) {
  const int device = model_.enter(pid, fd, Model::kDeviceLane, Model::kOpen);
  const int both = model_.enter(pid, fd, Model::kBothLanes, Model::kOpen);
  switch (below(6)) {
    case 0: {
      emu::abi::Printk a;
      a.buffer = memory_.base() + kData;
      a.size = static_cast<std::uint32_t>(pick({0, 1, 5, 512, 513}));
      std::memset(memory_.at(kData), 'x', 600);
      const bool ends = below(2);
      if (ends && a.size) memory_.at(kData)[a.size - 1] = 0;
      const std::int64_t r = send(pid, fd, emu::abi::kPrintk, a);
      say() << pid << " fd " << fd << " PRINTK " << a.size << (ends ? "" : " open") << " = " << r;
      note();
      same("PRINTK", both ? both : a.size > 512 ? -EFAULT : a.size == 0 || !ends ? -EBADMSG : 0, r);
      return;
    }
    case 1: {
      emu::abi::DeviceBdfExt a;
      a.nd_index = static_cast<std::uint32_t>(below(3));
      const std::int64_t r = send(pid, fd, emu::abi::kDeviceBdfExt, a);
      say() << pid << " fd " << fd << " DEVICE_BDF_EXT " << a.nd_index << " = " << r;
      note();
      const bool there = both == 0 && model_.file(fd).device + a.nd_index < devices_;
      same("DEVICE_BDF_EXT", both ? both : there ? 0 : -EINVAL, r);
      return;
    }
    case 2: {
      emu::abi::PostMetric a;
      a.data = memory_.base() + kData;
      a.data_size = static_cast<std::uint32_t>(pick({0, 128, 129}));
      const std::int64_t r = send(pid, fd, emu::abi::kPostMetric, a);
      say() << pid << " fd " << fd << " POST_METRIC " << a.data_size << " = " << r;
      note();
      const int gate = model_.enter(pid, fd, Model::kDeviceLane, Model::kAttached);
      same("POST_METRIC", gate ? gate : a.data_size > 128 ? -E2BIG : 0, r);
      return;
    }
    case 3: {
      emu::abi::PodStatusV2 a;
      a.v1.sz = below(2) ? sizeof a : 4;
      const std::uint32_t size = a.v1.sz;
      const std::int64_t r = send(pid, fd, emu::abi::kPodStatusV2, a);
      say() << pid << " fd " << fd << " POD_STATUS_V2 = " << r;
      note();
      same("POD_STATUS_V2", both ? both : size == sizeof a ? 0 : -EINVAL, r);
      if (r == 0) same("pod state", 4, a.v1.state);
      if (r == 0) same("pod node", -1, a.v1.node_id);
      return;
    }
    case 4: {
      emu::abi::HostDeviceId a;
      const std::int64_t r = send(pid, fd, emu::abi::kHostDeviceId, a);
      say() << pid << " fd " << fd << " HOST_DEVICE_ID = " << r;
      note();
      same("HOST_DEVICE_ID", device, r);
      if (r == 0) same("device id", model_.file(fd).device, a.host_device_id);
      return;
    }
    default: {
      std::uint64_t nothing = 0;
      const std::int64_t r = send(pid, fd, 0x80084EFFu, nothing);
      say() << pid << " fd " << fd << " unknown request = " << r;
      note();
      same("unknown request", both == -EBADF ? -EBADF : -EINVAL, r);
    }
  }
}

void Sequence::step() {
  const std::uint32_t pid = any_pid();
  const int fd = any_fd(pid);
  switch (below(34)) {
    case 0:
    case 1:
      return open();
    case 2:
      return close(pid, fd);
    case 3: {
      const int copy = machine_->duplicate(fd);
      ++requests_;
      say() << pid << " dup " << fd << " = " << copy;
      note();
      same("dup", model_.is_open(fd) ? 0 : -EBADF, copy < 0 ? copy : 0);
      if (copy < 0) return;
      model_.duplicated(fd, copy);
      fds_[copy] = any_pid();
      return;
    }
    case 4:
    case 5:
    case 6:
    case 7:
    case 8:
    case 9:
      return allocate(pid, fd);
    case 10:
    case 11:
    case 12:
      return free(pid, fd);
    case 13:
    case 14:
      return query(pid, fd);
    case 15:
    case 16:
      return buffer(pid, fd);
    case 17:
    case 18:
      return copy(pid, fd);
    case 19:
      return fill(pid, fd);
    case 20:
    case 21:
      return map(pid, fd);
    case 22:
    case 23:
      return lock(pid, fd);
    case 24:
      return mark(pid, fd);
    case 25:
    case 26:
      return store(pid, fd);
    case 27:
      return state(pid, fd);
    case 28:
      return sync(pid, fd);
    case 29:
      return ring(pid, fd);
    case 30:
      return h2t(pid, fd);
    case 31:
      return notification(pid, fd);
    case 32:
      return list(pid, fd);
    default:
      return facts(pid, fd);
  }
}

// Everybody leaves; the books must add up.
void Sequence::finish() {
  if (const std::string wrong = emu::MachineBooks::check(*machine_); !wrong.empty()) differ(wrong);
  while (!fds_.empty()) close(fds_.begin()->second, fds_.begin()->first);
  for (const View& view : views_)
    same("munmap", 0, machine_->munmap(client(view.pid), view.address, view.bytes));
  if (const std::string wrong = emu::MachineBooks::check_idle(*machine_); !wrong.empty())
    differ(wrong);
}

int main_of(int argc, char** argv) {
  std::uint64_t count = 100, seed = 1, length = 200, only = UINT64_MAX;
  bool verbose = false;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const auto number = [&](std::uint64_t* out) {
      char* end = nullptr;
      if (i + 1 >= argc) return false;
      *out = std::strtoull(argv[++i], &end, 0);
      return end != argv[i] && *end == '\0';
    };
    const bool good = option == "--count"    ? number(&count)
                      : option == "--seed"   ? number(&seed)
                      : option == "--length" ? number(&length)
                      : option == "--only"   ? number(&only)
                                             : option == "--verbose" && (verbose = true);
    if (good) continue;
    std::fprintf(stderr, "usage: %s --count N [--seed S] [--length L] [--only K] [--verbose]\n",
                 argv[0]);
    return 2;
  }
  std::uint64_t sequences = 0, requests = 0, differences = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (only != UINT64_MAX && i != only) continue;
    ++sequences;
    try {
      Sequence sequence(seed * 1000003 + i, verbose);
      requests += sequence.run(static_cast<std::uint32_t>(length));
    } catch (const Difference& d) {
      if (differences++ == 0)
        std::printf("sequence %llu of seed %llu:\n%s\n", static_cast<unsigned long long>(i),
                    static_cast<unsigned long long>(seed), d.text.c_str());
    }
  }
  std::printf("%llu sequences, %llu requests, %llu differences\n",
              static_cast<unsigned long long>(sequences), static_cast<unsigned long long>(requests),
              static_cast<unsigned long long>(differences));
  return differences ? 1 : 0;
}

}  // namespace
}  // namespace opennrt::sequences

int main(int argc, char** argv) { return opennrt::sequences::main_of(argc, argv); }
