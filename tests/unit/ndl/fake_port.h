// SPDX-License-Identifier: Apache-2.0
//
// A scripted system port and host. The port records what it is asked and
// answers 0 unless the test scripts something else for a request code.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "opennrt/ndl.h"

extern "C" const nrtp_ndl_ops* nrtp_ndl_query(uint32_t host_major, uint32_t host_minor);

namespace opennrt::ndl_test {

inline constexpr uint32_t kDeviceInfoCode = 0x80084E03;
inline constexpr uint32_t kMemAllocCode = 0x80384E66;
inline constexpr uint32_t kMemFreeCode = 0x80084E16;
inline constexpr uint32_t kMemGetInfoCode = 0x80084E1A;
inline constexpr uint32_t kCompatCode = 0x40084E5D;
inline constexpr uint32_t kDriverInfoCode = 0x80184E6E;
inline constexpr uint64_t kBarBase = 0x20000000000;
inline constexpr uint64_t kBarBytes = 0x10000000;

template <typename T>
T get(const void* at, size_t offset) {
  T value;
  std::memcpy(&value, static_cast<const char*>(at) + offset, sizeof value);
  return value;
}
template <typename T>
void put(void* at, size_t offset, T value) {
  std::memcpy(static_cast<char*>(at) + offset, &value, sizeof value);
}

// Bytes of an argument, little endian as on x86-64.
class Bytes {
 public:
  Bytes& u8(uint8_t v) { return add(v); }
  Bytes& u16(uint16_t v) { return add(v); }
  Bytes& u32(uint32_t v) { return add(v); }
  Bytes& u64(uint64_t v) { return add(v); }
  Bytes& zeros(size_t n) {
    data_.resize(data_.size() + n);
    return *this;
  }
  operator std::vector<uint8_t>() const { return data_; }

 private:
  template <typename T>
  Bytes& add(T v) {
    const auto* at = reinterpret_cast<const uint8_t*>(&v);
    data_.insert(data_.end(), at, at + sizeof v);
    return *this;
  }
  std::vector<uint8_t> data_;
};

struct Call {
  int fd;
  uint32_t code;
  std::vector<uint8_t> arg;
};

struct OpenFile {
  std::string path;
  uint32_t flags;
};

struct Map {
  int fd;
  uint64_t bytes, offset;
  uint32_t prot;
};

class FakePort {
 public:
  using Answer = std::function<int64_t(void* arg)>;

  FakePort() {
    add_device(0);
    texts["/sys/module/neuron/version"] = "2.27.4.0\n";
    texts["/sys/devices/virtual/dmi/id/product_name"] = "trn2.48xlarge\n";
    on(kDeviceInfoCode, 80, [](void* arg) {
      put<uint32_t>(arg, 0, 3);
      put<uint32_t>(arg, 4, 240);
      put<uint32_t>(arg, 8, 2);
      put<uint32_t>(arg, 12, 1);
      put<uint32_t>(arg, 16, 7);
      put<uint64_t>(arg, 48, kBarBase);
      put<uint64_t>(arg, 64, kBarBytes);
      return int64_t{0};
    });
    on(kMemAllocCode, 56, [this](void* arg) {
      *get<uint64_t*>(arg, 40) = ++last_driver_handle;
      return int64_t{0};
    });
    // Cookie and address of handle h: h MiB.
    on(kMemGetInfoCode, 24, [](void* arg) {
      const uint64_t pa = get<uint64_t>(arg, 0) << 20;
      if (auto* cookie = get<uint64_t*>(arg, 8)) *cookie = pa;
      *get<uint64_t*>(arg, 16) = pa;
      return int64_t{0};
    });
    driver(3, 10, 11, 0x1FF);
  }

  void driver(uint32_t arch, uint32_t min, uint32_t max, uint64_t features) {
    on(kCompatCode, 8, [=](void* arg) {
      put<uint32_t>(arg, 0, max);
      put<uint32_t>(arg, 4, min);
      return int64_t{0};
    });
    on(kDriverInfoCode, 24, [=](void* arg) {
      put<uint32_t>(arg, 0, arch);
      put<uint64_t>(arg, 16, features);
      return int64_t{0};
    });
  }

  void add_device(uint32_t index) { nodes["/dev/neuron" + std::to_string(index)] = 0; }

  // arg_bytes of the argument are recorded; then `answer` fills it.
  void on(uint32_t code, size_t arg_bytes, Answer answer) {
    answers[code] = {arg_bytes, std::move(answer)};
  }
  void fail(uint32_t code, int64_t result) {
    on(code, answers.count(code) ? answers[code].first : 0, [=](void*) { return result; });
  }

  std::vector<Call> calls_of(uint32_t code) {
    const std::lock_guard guard(lock);
    std::vector<Call> found;
    for (const Call& call : calls)
      if (call.code == code) found.push_back(call);
    return found;
  }
  size_t open_count() {
    const std::lock_guard guard(lock);
    return files.size();
  }
  OpenFile file(int fd) {
    const std::lock_guard guard(lock);
    return files.count(fd) ? files[fd] : OpenFile{};
  }

  const nrtp_sys_port* table() const { return &kTable; }

  std::mutex lock;
  std::map<std::string, int> nodes;  // 0, or the -errno that open returns
  std::map<std::string, std::string> texts;
  std::map<std::string, int> text_errors;
  int exists_error = 0;
  std::map<uint32_t, std::pair<size_t, Answer>> answers;
  std::vector<Call> calls;
  std::map<int, OpenFile> files;
  std::map<void*, Map> maps;
  std::vector<std::pair<void*, uint64_t>> unmaps;
  std::set<int> closed;
  int opens = 0;
  int mmap_error = 0;
  std::function<void()> before_open;
  std::atomic<uint64_t> last_driver_handle{0};
  uint64_t now = 12345;
  std::vector<uint32_t> sleeps;

 private:
  static FakePort& self(void* ctx) { return *static_cast<FakePort*>(ctx); }

  static int open_(void* ctx, const char* path, uint32_t flags) {
    FakePort& port = self(ctx);
    if (port.before_open) port.before_open();
    const std::lock_guard guard(port.lock);
    ++port.opens;
    const auto node = port.nodes.find(path);
    if (node == port.nodes.end()) return -ENOENT;
    if (node->second) return node->second;
    const int fd = port.next_fd_++;
    port.files[fd] = {path, flags};
    return fd;
  }
  static int close_(void* ctx, int fd) {
    FakePort& port = self(ctx);
    const std::lock_guard guard(port.lock);
    port.closed.insert(fd);
    return port.files.erase(fd) ? 0 : -EBADF;
  }
  static int64_t ioctl_(void* ctx, int fd, uint32_t request, uintptr_t arg) {
    FakePort& port = self(ctx);
    void* at = reinterpret_cast<void*>(arg);
    Answer answer;
    {
      const std::lock_guard guard(port.lock);
      if (!port.files.count(fd)) {
        ADD_FAILURE() << "request 0x" << std::hex << request << " on closed descriptor " << fd;
        return -EBADF;
      }
      const auto found = port.answers.find(request);
      // Struct forms carry their size in the code.
      size_t bytes = (request >> 16 & 0x3FFF) != 8 ? request >> 16 & 0x3FFF : 0;
      if (found != port.answers.end()) {
        if (found->second.first) bytes = found->second.first;
        answer = found->second.second;
      }
      const auto* begin = static_cast<const uint8_t*>(at);
      port.calls.push_back({fd, request, {begin, begin + bytes}});
    }
    return answer ? answer(at) : 0;
  }
  static int mmap_(void* ctx, int fd, uint64_t bytes, uint32_t prot, uint64_t offset, void** out) {
    FakePort& port = self(ctx);
    const std::lock_guard guard(port.lock);
    if (port.mmap_error) return port.mmap_error;
    *out = reinterpret_cast<void*>(port.next_va_);
    port.next_va_ += 0x10000000;
    port.maps[*out] = {fd, bytes, offset, prot};
    return 0;
  }
  static int munmap_(void* ctx, void* addr, uint64_t bytes) {
    FakePort& port = self(ctx);
    const std::lock_guard guard(port.lock);
    port.unmaps.emplace_back(addr, bytes);
    const auto found = port.maps.find(addr);
    if (found == port.maps.end() || found->second.bytes != bytes) {
      ADD_FAILURE() << "unmap of something else than a whole mapping";
      return -EINVAL;
    }
    port.maps.erase(found);
    return 0;
  }
  static int exists_(void* ctx, const char* path) {
    FakePort& port = self(ctx);
    const std::lock_guard guard(port.lock);
    if (port.exists_error) return port.exists_error;
    return port.nodes.count(path) ? 1 : 0;
  }
  static int64_t read_text_(void* ctx, const char* path, char* buf, size_t n) {
    FakePort& port = self(ctx);
    const std::lock_guard guard(port.lock);
    if (port.text_errors.count(path)) return port.text_errors[path];
    const auto found = port.texts.find(path);
    if (found == port.texts.end()) return -ENOENT;
    const size_t length = std::min(n, found->second.size());
    std::memcpy(buf, found->second.data(), length);  // no terminating zero: none is promised
    return static_cast<int64_t>(length);
  }

  static uint64_t now_us_(void* ctx) { return self(ctx).now; }
  static void sleep_us_(void* ctx, uint32_t us) { self(ctx).sleeps.push_back(us); }

  static constexpr nrtp_sys_port kTable = {
      .head = NRTP_HEAD_INIT(nrtp_sys_port, PORT, "1.0"),
      .name = "fake",
      .attach = [](const nrtp_host*, void**) { return 0; },
      .detach = [](void*) {},
      .open = open_,
      .close = close_,
      .ioctl = ioctl_,
      .mmap = mmap_,
      .munmap = munmap_,
      .exists = exists_,
      .read_text = read_text_,
      .now_us = now_us_,
      .sleep_us = sleep_us_,
      .control = nullptr,
  };

  int next_fd_ = 100;
  uintptr_t next_va_ = 0x7000000000;
};

// Host services that keep the log.
struct FakeHost {
  struct Line {
    uint32_t level;
    std::string text;
  };
  std::mutex lock;
  std::vector<Line> lines;
  nrtp_host table{};

  FakeHost() {
    table.size = sizeof table;
    table.abi_major = NRTP_ABI_MAJOR;
    table.self = this;
    table.log = [](void* self, uint32_t level, const char*, const char* msg) {
      auto* host = static_cast<FakeHost*>(self);
      const std::lock_guard guard(host->lock);
      host->lines.push_back({level, msg});
    };
    table.log_enabled = [](void*, uint32_t, const char*) { return 1u; };
  }
  std::vector<std::string> errors() {
    const std::lock_guard guard(lock);
    std::vector<std::string> found;
    for (const Line& line : lines)
      if (line.level == NRTP_LOG_ERROR) found.push_back(line.text);
    return found;
  }
};

class NdlTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ops = nrtp_ndl_query(1, 0);
    ASSERT_NE(ops, nullptr);
    ASSERT_EQ(ops->attach(&host.table, port.table(), &port, &ctx), 0);
  }
  void TearDown() override {
    if (ctx) ops->detach(ctx);
    EXPECT_EQ(port.open_count(), 0u) << "descriptors left open";
    EXPECT_TRUE(port.maps.empty()) << "mappings left";
  }
  uint64_t open_device(uint32_t index = 0) {
    uint64_t dev = 0;
    EXPECT_EQ(ops->device->open(ctx, index, &dev, nullptr), 0);
    return dev;
  }
  uint64_t alloc(uint64_t dev, uint64_t bytes = 8192) {
    uint64_t mem = 0;
    EXPECT_EQ(ops->mem->alloc(ctx, dev, bytes, 0, 0, 0, 0, 0, NRTP_MEM_TENSORS_DEVICE, &mem), 0);
    return mem;
  }

  FakePort port;
  FakeHost host;
  const nrtp_ndl_ops* ops = nullptr;
  void* ctx = nullptr;
};

}  // namespace opennrt::ndl_test
