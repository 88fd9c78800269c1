// SPDX-License-Identifier: Apache-2.0
//
// One random sequence against a machine and the model beside it.
#pragma once

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

inline constexpr std::uint64_t kMiB = 1 << 20;
inline constexpr std::size_t kArena = 1 << 17, kOut = 1 << 14, kData = 1 << 15;
inline constexpr std::uint32_t kFirstPid = 500;

// From the description of the interface, not from the driver's tables.
inline Family family_of(bool arch3, std::uint64_t channel_bytes) {
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

inline const nrtp_product* product_named(const nrtp_arch_plugin& arch, const std::string& name) {
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

}  // namespace opennrt::sequences
