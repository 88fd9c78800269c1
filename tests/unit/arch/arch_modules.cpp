// SPDX-License-Identifier: Apache-2.0
#include "arch_modules.h"

#include <dlfcn.h>

#include <cstdlib>
#include <sstream>

namespace opennrt::arch_test {
namespace {

std::vector<Module> open_modules() {
  const char* list = std::getenv("OPENNRT_ARCH_MODULES");
  std::istringstream paths(list != nullptr ? list : OPENNRT_ARCH_MODULES_DEFAULT);
  std::vector<Module> result;
  for (std::string path; std::getline(paths, path, ':');) {
    Module module{path, nullptr, nullptr};
    if (void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      module.query = reinterpret_cast<nrtp_arch_query_fn>(dlsym(handle, NRTP_ARCH_QUERY_SYMBOL));
    } else {
      ADD_FAILURE() << dlerror();
    }
    if (module.query != nullptr) {
      module.plugin = module.query(NRTP_ARCH_ABI_MAJOR, NRTP_ARCH_ABI_MINOR);
    }
    result.push_back(module);
  }
  return result;
}

}  // namespace

const std::vector<Module>& modules() {
  static const std::vector<Module> opened = open_modules();
  return opened;
}

const nrtp_product* product_at(const nrtp_arch_plugin* plugin, std::uint32_t index) {
  const auto* first = reinterpret_cast<const char*>(plugin->products);
  return reinterpret_cast<const nrtp_product*>(first + std::size_t{index} * plugin->product_stride);
}

std::vector<Subject> subjects() {
  std::vector<Subject> result;
  for (const Module& module : modules()) {
    if (module.plugin == nullptr) continue;
    for (std::uint32_t i = 0; i < module.plugin->n_products; ++i) {
      result.push_back({module.plugin, product_at(module.plugin, i)});
    }
  }
  return result;
}

std::string subject_name(const testing::TestParamInfo<Subject>& info) {
  std::string name = std::string(info.param.plugin->name) + "_" + info.param.product->name;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
}

nrtp_addr_class ArchTest::decode(std::uint64_t device) const {
  nrtp_addr_class out{};
  out.size = sizeof out;
  if (address().classify(product(), device, &out) != NRTP_OK) {
    ADD_FAILURE() << std::hex << "0x" << device << " decodes to nothing";
    out.kind = UINT32_MAX;
  }
  return out;
}

bool ArchTest::in_region(std::uint64_t bar0, std::uint64_t bytes) const {
  std::uint32_t n = 0;
  const nrtp_csr_region* regions = address().csr_regions(product(), &n);
  for (std::uint32_t i = 0; i < n; ++i) {
    const nrtp_csr_region& r = regions[i];
    if (bar0 >= r.bar0 && bar0 - r.bar0 < r.bytes && r.bytes - (bar0 - r.bar0) >= bytes) {
      return true;
    }
  }
  return false;
}

}  // namespace opennrt::arch_test
