// SPDX-License-Identifier: Apache-2.0
//
// The driver layer over a scripted port whose mappings are real memory, with a
// host that has settings.
#pragma once

#include <sys/mman.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ndl-common/record/trace.h"
#include "ndl/fake_port.h"
#include "opennrt/ndl.h"
#include "scratch.h"

namespace opennrt::test {

// Settings and log of a plugin.
struct Host : ndl_test::FakeHost {
  std::map<std::string, std::string> settings;

  Host() {
    table.abi_minor = NRTP_ABI_MINOR;
    table.config_get = [](void* self, const char* key, char* buf, size_t n) -> int {
      const auto& all = static_cast<Host*>(static_cast<FakeHost*>(self))->settings;
      const auto found = all.find(key);
      if (found == all.end()) return NRTP_INVALID;
      if (found->second.size() >= n) return NRTP_RESOURCE;
      std::memcpy(buf, found->second.c_str(), found->second.size() + 1);
      return NRTP_OK;
    };
    table.now_ns = [](void*) -> uint64_t {
      return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                       std::chrono::steady_clock::now().time_since_epoch())
                                       .count());
    };
    table.self = static_cast<FakeHost*>(this);
  }
  std::string log() {
    const std::lock_guard guard(lock);
    std::string out;
    for (const Line& line : lines)
      if (line.level <= NRTP_LOG_ERROR) out += line.text + "\n";
    return out;
  }
};

// A scripted driver. Copies go to and from `memory` by handle.
class Driver : public ndl_test::FakePort {
 public:
  Driver() {
    using ndl_test::get;
    port_ = *table();
    port_.mmap = [](void* ctx, int fd, uint64_t bytes, uint32_t prot, uint64_t offset, void** out) {
      auto* self = static_cast<Driver*>(static_cast<FakePort*>(ctx));
      void* at = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
      if (at == MAP_FAILED) return -ENOMEM;
      const std::lock_guard guard(self->lock);
      self->maps[at] = {fd, bytes, offset, prot};
      *out = at;
      return 0;
    };
    port_.munmap = [](void* ctx, void* at, uint64_t bytes) {
      auto* self = static_cast<Driver*>(static_cast<FakePort*>(ctx));
      const std::lock_guard guard(self->lock);
      if (self->maps.erase(at) == 0) return -EINVAL;
      return ::munmap(at, bytes);
    };
    port_.sleep_us = [](void* ctx, uint32_t) {
      auto* self = static_cast<Driver*>(static_cast<FakePort*>(ctx));
      if (self->on_sleep) self->on_sleep();
    };
    on(0xC0284E18, 40, [this](void* arg) {  // MEM_BUF_COPY64
      const auto handle = get<uint64_t>(arg, 0), bytes = get<uint64_t>(arg, 16);
      const auto offset = get<uint64_t>(arg, 24);
      auto* buffer = get<uint8_t*>(arg, 8);
      const std::lock_guard guard(lock);
      std::vector<uint8_t>& there = memory[handle];
      if (there.size() < offset + bytes) there.resize(offset + bytes);
      if (get<uint32_t>(arg, 32) != 0)
        std::copy_n(buffer, bytes, there.data() + offset);
      else
        std::copy_n(there.data() + offset, bytes, buffer);
      return int64_t{0};
    });
  }

  const nrtp_sys_port* port() const { return &port_; }
  void* ctx() { return static_cast<FakePort*>(this); }
  void* only_map() { return maps.size() == 1 ? maps.begin()->first : nullptr; }

  std::function<void()> on_sleep;
  std::map<uint64_t, std::vector<uint8_t>> memory;

 private:
  nrtp_sys_port port_;
};

// The driver layer attached to a port.
class Layer {
 public:
  Layer(Host& host, const nrtp_sys_port* port, void* port_ctx) {
    ops = nrtp_ndl_query(1, 0);
    result = ops->attach(&host.table, port, port_ctx, &ctx);
  }
  ~Layer() { detach(); }
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;
  void detach() {
    if (ctx) ops->detach(ctx);
    ctx = nullptr;
  }
  uint64_t open(uint32_t index = 0) {
    uint64_t dev = 0;
    EXPECT_EQ(ops->device->open(ctx, index, &dev, nullptr), 0);
    return dev;
  }
  uint64_t alloc(uint64_t dev, uint64_t bytes, uint32_t host = 1) {
    uint64_t mem = 0;
    EXPECT_EQ(ops->mem->alloc(ctx, dev, bytes, 0, host, 0, 0, 0, NRTP_MEM_TENSORS_HOST, &mem), 0);
    return mem;
  }

  const nrtp_ndl_ops* ops = nullptr;
  void* ctx = nullptr;
  int result = -1;
};

inline trace::Trace trace_of(const std::string& path) {
  trace::Trace out;
  std::string error;
  EXPECT_EQ(trace::read_trace(path, &out, &error), 0) << error;
  return out;
}

inline std::vector<trace::Line> calls(const trace::Trace& recording, const std::string& name,
                                      std::size_t session = 0) {
  std::vector<trace::Line> out;
  if (session < recording.sessions.size())
    for (const trace::Line& line : recording.sessions[session].lines)
      if (line.call == name) out.push_back(line);
  return out;
}

}  // namespace opennrt::test
