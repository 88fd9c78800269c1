// SPDX-License-Identifier: Apache-2.0
//
// opennrt_driver_bench --limits [NAME]
// What a driver request costs on the software device: in this process, and through
// opennrt-emud; copies through it beside memcpy.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "bench/limit_table.h"
#include "bench/measure.h"
#include "device/device.h"
#include "driver/abi.h"
#include "port.h"

extern "C" const nrtp_arch_plugin* nrtp_arch_query(uint32_t, uint32_t);

namespace opennrt::bench {
namespace {

constexpr std::size_t kCopyBytes = 64 << 20;
constexpr int kRequests = 20'000, kFewestRequests = 500, kCopies = 9;
constexpr double kLongSeconds = 5;  // on a busy machine fewer have to do

// A host with a configuration of its own.
struct BenchHost {
  std::map<std::string, std::string> settings;
  nrtp_host table{};

  BenchHost() {
    table.size = sizeof table;
    table.self = this;
    table.log = [](void*, std::uint32_t level, const char*, const char* text) {
      if (level == NRTP_LOG_ERROR) std::fprintf(stderr, "%s\n", text);
    };
    table.config_get = [](void* self, const char* key, char* out, std::size_t n) -> int {
      const auto& known = static_cast<BenchHost*>(self)->settings;
      const auto it = known.find(key);
      if (it == known.end() || it->second.size() >= n) return NRTP_INVALID;
      std::strcpy(out, it->second.c_str());
      return NRTP_OK;
    };
    table.now_ns = [](void*) -> std::uint64_t {
      timespec t{};
      clock_gettime(CLOCK_MONOTONIC, &t);
      return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
             static_cast<std::uint64_t>(t.tv_nsec);
    };
    table.arch = [](void*, std::uint32_t) -> const nrtp_arch_plugin* {
      return nrtp_arch_query(1, 0);
    };
    table.arch_of_product = [](void*, const char*) -> const nrtp_arch_plugin* {
      return nrtp_arch_query(1, 0);
    };
  }
};

// One device behind the port.
class Port {
 public:
  explicit Port(BenchHost& host) {
    if (port_->attach(&host.table, &ctx_) != 0) std::exit(2);
    fd_ = port_->open(ctx_, "/dev/neuron0", NRTP_OPEN_READ_WRITE);
    if (fd_ < 0) std::exit(2);
  }
  ~Port() {
    port_->close(ctx_, fd_);
    port_->detach(ctx_);
  }
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  template <typename T>
  void call(std::uint32_t request, T& argument) {
    const std::int64_t r =
        port_->ioctl(ctx_, fd_, request, reinterpret_cast<std::uintptr_t>(&argument));
    if (r == 0) return;
    std::fprintf(stderr, "request 0x%x failed: %lld\n", request, static_cast<long long>(r));
    std::exit(2);
  }
  std::uint64_t alloc(std::uint64_t bytes) {
    std::uint64_t handle = 0;
    emu::abi::MemAllocV2MemType64 a;
    a.size = bytes;
    a.mem_type = 9;
    a.mem_handle = reinterpret_cast<std::uintptr_t>(&handle);
    call(emu::abi::kMemAllocV2mt64, a);
    return handle;
  }
  void copy(std::uint64_t handle, void* buffer, std::uint64_t bytes, bool to_device) {
    emu::abi::MemBufCopy64 a;
    a.mem_handle = handle;
    a.buffer = reinterpret_cast<std::uintptr_t>(buffer);
    a.size = bytes;
    a.copy_to_mem_handle = to_device;
    call(emu::abi::kMemBufCopy64, a);
  }
  // The chunk in this process.
  void* map(std::uint64_t handle, std::uint64_t bytes) {
    std::uint64_t pa = 0;
    emu::abi::MemGetPa a;
    a.mem_handle = handle;
    a.pa = reinterpret_cast<std::uintptr_t>(&pa);
    call(emu::abi::kMemGetPa, a);
    void* out = nullptr;
    if (port_->mmap(ctx_, fd_, bytes, NRTP_PROT_READ | NRTP_PROT_WRITE, pa, &out) != 0)
      std::exit(2);
    return out;
  }
  // Median of a semaphore read, in microseconds.
  double request_us() {
    emu::abi::Semaphore s;
    std::vector<double> times;
    const double start = wall_seconds();
    for (int i = 0; i < kRequests && (i < kFewestRequests || wall_seconds() - start < kLongSeconds);
         ++i)
      times.push_back(timed(wall_seconds, [&] { call(emu::abi::kSemaphoreRead, s); }));
    return median(times) * 1e6;
  }

 private:
  const nrtp_sys_port* const port_ = emu::port_table(NRTP_ABI_MAJOR);
  void* ctx_ = nullptr;
  int fd_ = -1;
};

double in_process_us() {
  BenchHost host;
  host.settings = {{"emulator.hbm_bytes", "1G"}};
  Port port(host);
  return port.request_us();
}

struct Directory {
  std::string path = (std::filesystem::temp_directory_path() / "emud-bench-XXXXXX").string();
  Directory() {
    if (!mkdtemp(path.data())) std::exit(2);
  }
  ~Directory() { std::filesystem::remove_all(path); }
};

// Share of the speed of a memcpy between the same memories: the buffer and the
// device memory, mapped here.
double copy_share(Port& port, std::uint64_t handle, void* mapped, bool to_device) {
  std::vector<char> buffer(kCopyBytes, 'a');
  const Work ours = [&] { port.copy(handle, buffer.data(), kCopyBytes, to_device); };
  const Work peer = [&] {
    std::memcpy(to_device ? mapped : buffer.data(), to_device ? buffer.data() : mapped, kCopyBytes);
  };
  const Pair pair = compare_best(kCopies, ours, peer);
  // What the calling thread spends tells of a busy machine.
  const Pair cpu = compare(thread_seconds, kCopies, ours, peer);
  std::fprintf(stderr, "64 MiB %s: %.2f GB/s, memcpy %.2f GB/s; by CPU time %.2f of it\n",
               to_device ? "in" : "out", kCopyBytes / pair.ours / 1e9, kCopyBytes / pair.peer / 1e9,
               1 / cpu.ratio);
  return 1 / pair.ratio;
}

int limits(const char* only) {
  LimitTable table(only);
  if (table.wanted("request-in-process-us")) table.add("request-in-process-us", in_process_us(), 1);
  if (!table.wanted("request-daemon-us") && !table.wanted("copy-in-daemon") &&
      !table.wanted("copy-out-daemon"))
    return table.finish();
  const Directory directory;
  BenchHost host;
  host.settings = {{"emulator.hbm_bytes", "1G"},
                   {"emulator.scope", "machine"},
                   {"emulator.socket", directory.path + "/emud.sock"}};
  setenv("OPENNRT_EMULATOR_IDLE_EXIT_S", "1", 1);
  Port port(host);
  if (table.wanted("request-daemon-us")) table.add("request-daemon-us", port.request_us(), 15);
  const std::uint64_t handle = port.alloc(kCopyBytes);
  void* const mapped = port.map(handle, kCopyBytes);
  if (table.wanted("copy-in-daemon"))
    table.add("copy-in-daemon", copy_share(port, handle, mapped, true), 0.70, true);
  if (table.wanted("copy-out-daemon"))
    table.add("copy-out-daemon", copy_share(port, handle, mapped, false), 0.70, true);
  return table.finish();
}

}  // namespace
}  // namespace opennrt::bench

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3 || std::strcmp(argv[1], "--limits") != 0) {
    std::fprintf(stderr, "usage: opennrt_driver_bench --limits [NAME]\n");
    return 2;
  }
  return opennrt::bench::limits(argc > 2 ? argv[2] : "");
}
