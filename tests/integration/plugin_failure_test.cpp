// SPDX-License-Identifier: Apache-2.0
//
// A copy of the library with its plugins, damaged in one way each time:
// nrt_init fails with the documented status and one line that says why.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "nrt/nrt.h"
#include "support/plugin_directory.h"

namespace opennrt::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

struct Outcome {
  int status = -1;  // of nrt_init; -1: the process died
  std::string text;
  std::size_t error_lines = 0;
};

class PluginFailure : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(plugins());
    fs::copy_file(OPENNRT_LIBRARY, tree_.file("libnrt.so.1"));
    for (const auto& entry : fs::directory_iterator(OPENNRT_BUILT_PLUGINS))
      if (!other_family(entry.path()))
        fs::copy_file(entry.path(), plugins() + "/" + entry.path().filename().string());
  }
  // One family alone, so that no other one steps in for it.
  static bool other_family(const fs::path& file) {
    const std::string name = file.filename().string();
    return name.find("cayman") != std::string::npos || name.find("mariana") != std::string::npos;
  }
  void add_other_families() {
    for (const auto& entry : fs::directory_iterator(OPENNRT_BUILT_PLUGINS))
      if (other_family(entry.path()))
        fs::copy_file(entry.path(), plugins() + "/" + entry.path().filename().string());
  }
  std::string plugins() const { return tree_.file("plugins"); }

  // nrt_init in a process that has seen no plugin yet.
  Outcome init() {
    int pipe_ends[2];
    EXPECT_EQ(pipe(pipe_ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      dup2(pipe_ends[1], STDERR_FILENO);
      close(pipe_ends[0]);
      setenv("OPENNRT_DEVICE", "emulator", 1);
      setenv("OPENNRT_PLUGIN_PATH", extra_.path().c_str(), 1);
      if (product_ != nullptr) setenv("OPENNRT_EMULATOR_PRODUCT", product_, 1);
      if (logical_size_ != nullptr) setenv("NEURON_LOGICAL_NC_CONFIG", logical_size_, 1);
      void* library = dlopen(tree_.file("libnrt.so.1").c_str(), RTLD_NOW | RTLD_LOCAL);
      if (library == nullptr) {
        fprintf(stderr, "%s\n", dlerror());
        _exit(99);
      }
      auto* start = reinterpret_cast<decltype(&nrt_init)>(dlsym(library, "nrt_init"));
      _exit(start(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
    }
    close(pipe_ends[1]);
    Outcome out;
    char buffer[4096];
    for (ssize_t n; (n = read(pipe_ends[0], buffer, sizeof buffer)) > 0;)
      out.text.append(buffer, static_cast<std::size_t>(n));
    close(pipe_ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status)) out.status = WEXITSTATUS(status);
    for (std::size_t at = 0; (at = out.text.find(" ERROR ", at)) != std::string::npos; ++at)
      ++out.error_lines;
    return out;
  }
  void expect_one_line(std::initializer_list<std::string> parts) {
    const Outcome out = init();
    EXPECT_EQ(out.status, NRT_INVALID) << out.text;
    EXPECT_EQ(out.error_lines, 1u) << out.text;
    for (const std::string& part : parts) EXPECT_THAT(out.text, HasSubstr(part));
  }

  PluginDirectory tree_, extra_;
  const char* product_ = nullptr;
  const char* logical_size_ = nullptr;
};

TEST_F(PluginFailure, TheUndamagedCopyWorks) {
  const Outcome out = init();
  EXPECT_EQ(out.status, 0) << out.text;
  EXPECT_EQ(out.text, "");
}

TEST_F(PluginFailure, MissingArchManifest) {
  fs::remove(plugins() + "/sunda.plugin.yaml");
  expect_one_line({plugins() + "/opennrt-sunda.so", "no manifest of this directory names it"});
}

TEST_F(PluginFailure, MissingArchPlugin) {
  fs::remove(plugins() + "/sunda.plugin.yaml");
  fs::remove(plugins() + "/opennrt-sunda.so");
  expect_one_line({"no arch plugin found in ", plugins()});
}

// emulator.product auto: the only silicon installed, else trn1.2xlarge.
TEST_F(PluginFailure, TheOnlyFamilyServesWhenNoProductIsNamed) {
  add_other_families();
  for (const char* family : {"sunda", "mariana"}) {
    fs::remove(plugins() + "/" + family + ".plugin.yaml");
    fs::remove(plugins() + "/opennrt-" + family + ".so");
  }
  setenv("NEURON_RT_LOG_LEVEL", "INFO", 1);
  const Outcome out = init();
  unsetenv("NEURON_RT_LOG_LEVEL");
  EXPECT_EQ(out.status, 0) << out.text;
  EXPECT_THAT(out.text, HasSubstr("only the plugin of arch 3 is installed"));
  EXPECT_THAT(out.text, HasSubstr("(cayman): emulator.product is auto"));
}

TEST_F(PluginFailure, SeveralFamiliesAreNoChoiceWithoutTheUsualOne) {
  add_other_families();
  fs::remove(plugins() + "/sunda.plugin.yaml");
  fs::remove(plugins() + "/opennrt-sunda.so");
  expect_one_line({"no arch plugin lists the product 'trn1.2xlarge'", "cayman lists ",
                   "mariana lists ", "OPENNRT_EMULATOR_PRODUCT"});
}

TEST_F(PluginFailure, TheUsualFamilyIsBroken) {
  add_other_families();
  const std::string library = plugins() + "/opennrt-sunda.so";
  fs::resize_file(library, fs::file_size(library) / 3);
  expect_one_line({"'trn1.2xlarge'", library + ": truncated: ", "emulator.product is auto"});
}

TEST_F(PluginFailure, WithSeveralFamiliesTheProductIsTold) {
  add_other_families();
  setenv("NEURON_RT_LOG_LEVEL", "INFO", 1);
  const Outcome out = init();
  unsetenv("NEURON_RT_LOG_LEVEL");
  EXPECT_EQ(out.status, 0) << out.text;
  EXPECT_THAT(out.text, HasSubstr("3 arch plugins are installed: trn1.2xlarge unless"));
  EXPECT_THAT(out.text, HasSubstr("the software device is a trn1.2xlarge (sunda)"));
}

TEST_F(PluginFailure, MissingPortOfTheDeviceThatIsAskedFor) {
  fs::remove(plugins() + "/emulator.plugin.yaml");
  fs::remove(plugins() + "/opennrt-emulator.so");
  const Outcome out = init();
  EXPECT_EQ(out.status, NRT_INVALID) << out.text;
  EXPECT_THAT(out.text, HasSubstr("OPENNRT_DEVICE=emulator: no port plugin emulator found in "));
  EXPECT_THAT(out.text, ::testing::Not(HasSubstr("/dev/neuron")));
}

TEST_F(PluginFailure, EachFamilyServesItsProducts) {
  add_other_families();
  for (const char* product : {"trn1.2xlarge", "trn2.48xlarge", "trn3-gen1-server"}) {
    product_ = product;
    for (const char* size : {"1", "2"}) {
      logical_size_ = size;
      if (*size == '2' && std::string(product) == "trn1.2xlarge") continue;
      const Outcome out = init();
      EXPECT_EQ(out.status, 0) << product << ": " << out.text;
    }
  }
}

TEST_F(PluginFailure, TheFamilyOfTheProductIsMissing) {
  product_ = "trn2.48xlarge";
  expect_one_line({"trn2.48xlarge", "no arch plugin lists the product"});
}

TEST_F(PluginFailure, TheToolListsThreeFamilies) {
  FILE* tool = popen("OPENNRT_PLUGIN_PATH= " OPENNRT_TOOL " plugins", "r");
  ASSERT_NE(tool, nullptr);
  std::string text;
  char buffer[4096];
  for (std::size_t n; (n = fread(buffer, 1, sizeof buffer, tool)) > 0;) text.append(buffer, n);
  EXPECT_EQ(pclose(tool), 0) << text;
  for (const char* name : {"sunda", "cayman", "mariana"})
    EXPECT_THAT(text, HasSubstr(std::string("selected  arch  ") + name));
}

TEST_F(PluginFailure, TruncatedArchLibrary) {
  const std::string library = plugins() + "/opennrt-sunda.so";
  fs::resize_file(library, fs::file_size(library) / 3);
  expect_one_line({library + ": truncated: "});
}

TEST_F(PluginFailure, EmptyLibrary) {
  const std::string library = plugins() + "/opennrt-ndl-kernel.so";
  fs::resize_file(library, 0);
  expect_one_line({library + ": not a shared library"});
}

TEST_F(PluginFailure, OtherMajor) {
  extra_.manifest("ndl-kernel.plugin.yaml", "ndl", "ndl-kernel",
                  PluginDirectory::library("ndl-other-major"));
  expect_one_line(
      {PluginDirectory::library("ndl-other-major"), "plugin ABI 2.0, this runtime has 1.0"});
}

TEST_F(PluginFailure, HiddenMember) {
  extra_.manifest("ndl-kernel.plugin.yaml", "ndl", "ndl-kernel",
                  PluginDirectory::library("ndl-missing-member"));
  expect_one_line(
      {PluginDirectory::library("ndl-missing-member"), "mandatory member sync.sem_inc is missing"});
}

TEST_F(PluginFailure, BrokenManifestOfThePort) {
  PluginDirectory unused;
  fs::remove(plugins() + "/emulator.plugin.yaml");
  std::ofstream(plugins() + "/emulator.plugin.yaml") << "kind: lamp\n";
  expect_one_line({plugins() + "/emulator.plugin.yaml: kind is 'lamp'"});
}

TEST_F(PluginFailure, AnotherBrokenPluginHarmsNobody) {
  extra_.manifest("x.plugin.yaml", "ndl", "other", PluginDirectory::library("ndl-wrong-magic"));
  extra_.write("y.plugin.yaml", "[");
  EXPECT_EQ(init().status, 0);
}

}  // namespace
}  // namespace opennrt::test
