// SPDX-License-Identifier: Apache-2.0
//
// The silicon as a software device, under the whole runtime: bring-up starts the ready
// program on every core and has it answer one request.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "arch/arch_case.h"
#include "link/libraries.h"
#include "nrt/nrt.h"

namespace opennrt::conform {
namespace {

class ArchDevice : public ArchCase {
 protected:
  void SetUp() override {
    ArchCase::SetUp();
    if (HasFatalFailure() || IsSkipped()) return;
    library_ = tools::own_library();
    if (library_.empty()) GTEST_SKIP() << "the runtime is not installed (package opennrt-core)";
    const auto plugins = std::filesystem::path(library_).parent_path() / "plugins";
    if (!std::filesystem::exists(plugins / "emulator.plugin.yaml"))
      GTEST_SKIP() << "no software device (package opennrt-emulator)";
    char name[] = "/tmp/opennrt-conform-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    directory_ = name;
    std::ofstream(directory_ + "/tested.plugin.yaml")
        << "kind: arch\nname: " << arch().name << "\narch_type: " << arch().arch_type
        << "\nlibrary: " << std::filesystem::absolute(subject().path()).string()
        << "\nabi: \"1.0\"\nversion: \"1\"\n";
  }
  void TearDown() override {
    std::error_code ignored;
    if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
  }
  // Status of nrt_init in a process of its own, 255 when the library does not open.
  int bring_up() const {
    const pid_t child = fork();
    if (child == 0) _exit(bring_up_here());
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return 254;
    EXPECT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 253;
  }
  // The smallest products: one by devices, one by cores.
  bool is_small() const {
    const nrtp_product *by_devices = product(), *by_cores = product();
    for (std::uint32_t i = 0; i < arch().n_products; ++i) {
      const nrtp_product* other = product_at(i);
      if (other->devices < by_devices->devices) by_devices = other;
      if (other->cores * other->devices < by_cores->cores * by_cores->devices) by_cores = other;
    }
    return product() == by_devices || product() == by_cores;
  }

 private:
  int bring_up_here() const {
    setenv("OPENNRT_PLUGIN_PATH", directory_.c_str(), 1);
    setenv("OPENNRT_DEVICE", "emulator", 1);
    setenv("OPENNRT_EMULATOR_SCOPE", "process", 1);
    setenv("OPENNRT_EMULATOR_HBM_BYTES", "256M", 0);
    setenv("OPENNRT_EMULATOR_PRODUCT", product()->name, 1);
    unsetenv("OPENNRT_CONFIG");
    for (const char* name : {"NEURON_RT_VISIBLE_CORES", "NEURON_RT_NUM_CORES"}) unsetenv(name);
    void* library = dlopen(library_.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* init = library != nullptr ? dlsym(library, "nrt_init") : nullptr;
    void* close = library != nullptr ? dlsym(library, "nrt_close") : nullptr;
    if (init == nullptr || close == nullptr) return 255;
    const int status =
        reinterpret_cast<decltype(&nrt_init)>(init)(NRT_FRAMEWORK_TYPE_NO_FW, "", "");
    if (status == NRT_SUCCESS) reinterpret_cast<decltype(&nrt_close)>(close)();
    std::fflush(nullptr);
    return status;
  }
  std::string library_, directory_;
};

ARCH_CASE(ArchDevice, ComesUpAndEveryCoreAnswers) {
  if (!is_small()) return;
  EXPECT_EQ(bring_up(), 0) << "nrt_init of " << product()->name
                           << "; the reason is in the output of the case";
}

}  // namespace
}  // namespace opennrt::conform
