// SPDX-License-Identifier: Apache-2.0
//
// Emulator port, driver layer and arch plugin as built, opened through their
// query functions: what TDRV runs on, without loader and configuration.
#pragma once

#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

#include "opennrt/arch.h"
#include "opennrt/ndl.h"
#include "opennrt/port.h"
#include "tdrv/tdrv.h"

namespace opennrt::test {

class DeviceStack {
 public:
  // plugin_dir: lib/plugins of the build tree. arch: "sunda".
  DeviceStack(const std::string& plugin_dir, const std::string& arch,
              std::map<std::string, std::string> config = {})
      : config_(std::move(config)) {
    host_.size = sizeof(host_);
    host_.abi_major = NRTP_ABI_MAJOR;
    host_.abi_minor = NRTP_ABI_MINOR;
    host_.self = this;
    host_.log = [](void*, std::uint32_t level, const char* component, const char* message) {
      if (level <= NRTP_LOG_WARN || std::getenv("OPENNRT_TEST_LOG") != nullptr) {
        std::fprintf(stderr, "[%s] %s\n", component, message);
      }
    };
    host_.log_enabled = [](void*, std::uint32_t level, const char*) -> std::uint32_t {
      return level <= NRTP_LOG_WARN || std::getenv("OPENNRT_TEST_LOG") != nullptr;
    };
    host_.alloc = [](void*, std::size_t bytes, std::size_t align) -> void* {
      return std::aligned_alloc(align < 16 ? 16 : align, (bytes + (align < 16 ? 15 : align - 1)) /
                                                             (align < 16 ? 16 : align) *
                                                             (align < 16 ? 16 : align));
    };
    host_.release = [](void*, void* p) { std::free(p); };
    host_.config_get = [](void* self, const char* key, char* buf, std::size_t n) -> int {
      const auto& values = static_cast<DeviceStack*>(self)->config_;
      const auto found = values.find(key);
      if (found == values.end()) return NRTP_INVALID;
      if (found->second.size() >= n) return NRTP_RESOURCE;
      std::memcpy(buf, found->second.c_str(), found->second.size() + 1);
      return NRTP_OK;
    };
    host_.now_ns = [](void*) -> std::uint64_t {
      return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                            std::chrono::steady_clock::now().time_since_epoch())
                                            .count());
    };
    host_.fault = [](void*, const char*) { return 0; };
    host_.arch = [](void* self, std::uint32_t type) -> const nrtp_arch_plugin* {
      const auto* table = static_cast<DeviceStack*>(self)->arch_;
      return type == 0 || type == table->arch_type ? table : nullptr;
    };
    host_.arch_of_product = [](void* self, const char* name) -> const nrtp_arch_plugin* {
      const auto* table = static_cast<DeviceStack*>(self)->arch_;
      return find_product(table, name) != nullptr ? table : nullptr;
    };

    arch_ = query<nrtp_arch_query_fn>(plugin_dir, arch, NRTP_ARCH_QUERY_SYMBOL)(
        NRTP_ARCH_ABI_MAJOR, NRTP_ARCH_ABI_MINOR);
    port_ = query<nrtp_port_query_fn>(plugin_dir, "emulator", NRTP_PORT_QUERY_SYMBOL)(
        NRTP_PORT_ABI_MAJOR, NRTP_PORT_ABI_MINOR);
    ndl_ = query<nrtp_ndl_query_fn>(plugin_dir, "ndl-kernel", NRTP_NDL_QUERY_SYMBOL)(
        NRTP_NDL_ABI_MAJOR, NRTP_NDL_ABI_MINOR);
    check(port_->attach(&host_, &port_ctx_), "port attach");
    check(ndl_->attach(&host_, port_, port_ctx_, &ndl_ctx_), "ndl attach");
    check(ndl_->probe->probe(ndl_ctx_), "ndl probe");
    char name[64] = "";
    check(ndl_->probe->product_name(ndl_ctx_, name, sizeof(name)), "product name");
    bindings_.host = &host_;
    bindings_.ndl = ndl_;
    bindings_.ndl_ctx = ndl_ctx_;
    bindings_.arch = arch_;
    bindings_.product = find_product(arch_, name);
    if (bindings_.product == nullptr) check(-1, name);
    bindings_.platform = NRTP_PLATFORM_EMULATOR;
  }
  ~DeviceStack() {
    ndl_->detach(ndl_ctx_);
    port_->detach(port_ctx_);
  }
  DeviceStack(const DeviceStack&) = delete;
  DeviceStack& operator=(const DeviceStack&) = delete;

  const tdrv::Bindings& bindings() const { return bindings_; }
  const nrtp_arch_plugin& arch() const { return *arch_; }

 private:
  static const nrtp_product* find_product(const nrtp_arch_plugin* arch, const char* name) {
    const auto* at = reinterpret_cast<const char*>(arch->products);
    for (std::uint32_t i = 0; i < arch->n_products; ++i, at += arch->product_stride) {
      const auto* product = reinterpret_cast<const nrtp_product*>(at);
      if (std::strcmp(product->name, name) == 0) return product;
    }
    return nullptr;
  }
  static void check(int rc, const char* what) {
    if (rc == 0) return;
    std::fprintf(stderr, "device stack: %s failed: %d\n", what, rc);
    std::abort();
  }
  template <typename Query>
  static Query query(const std::string& dir, const std::string& name, const char* symbol) {
    const std::string path = dir + "/opennrt-" + name + ".so";
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      std::fprintf(stderr, "device stack: %s\n", dlerror());
      std::abort();
    }
    return reinterpret_cast<Query>(dlsym(library, symbol));
  }

  std::map<std::string, std::string> config_;
  nrtp_host host_{};
  const nrtp_arch_plugin* arch_ = nullptr;
  const nrtp_sys_port* port_ = nullptr;
  const nrtp_ndl_ops* ndl_ = nullptr;
  void* port_ctx_ = nullptr;
  void* ndl_ctx_ = nullptr;
  tdrv::Bindings bindings_;
};

}  // namespace opennrt::test
