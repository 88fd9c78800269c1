// SPDX-License-Identifier: Apache-2.0
//
// opennrt run as a process: the software device it chooses for a model, and what
// it leaves to the user.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

namespace opennrt {
namespace {

std::string corpus_file(const std::string& name) {
  const char* folder = std::getenv("OPENNRT_CORPUS");
  return std::string(folder != nullptr ? folder : OPENNRT_DEFAULT_CORPUS) + "/" + name;
}

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class ToolRun : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/opennrt-run-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    directory_ = name;
    for (const char* variable : {"OPENNRT_EMULATOR_PRODUCT", "OPENNRT_EMULATOR_DEVICES",
                                 "NEURON_LOGICAL_NC_CONFIG", "NEURON_RT_VIRTUAL_CORE_SIZE"})
      unsetenv(variable);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  // settings: "NAME=value NAME=value". Returns the exit code.
  int run(const std::string& model, const std::string& settings = "") {
    const std::string command = "env OPENNRT_DEVICE=emulator " + settings +
                                " '" OPENNRT_TOOL "' run '" + model +
                                "' --fill ones --raw --output-dir " + directory_ + " >" +
                                directory_ + "/out 2>" + directory_ + "/err";
    const int status = std::system(command.c_str());
    errors_ = contents(directory_ + "/err");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string model(const char* name) {
    const std::string path = corpus_file(name);
    return access(path.c_str(), R_OK) == 0 ? path : "";
  }
  std::string directory_, errors_;
};

#define NEED(path) \
  if ((path).empty()) GTEST_SKIP() << "corpus absent: set OPENNRT_CORPUS"

// Whatever device of all processes there is, programs take it as it is.
TEST_F(ToolRun, ADeviceThatIsThereIsNotChosen) {
  const std::string sunda = model("vecadd_1tile_sunda.neff");
  if (sunda.empty()) GTEST_SKIP() << "no corpus";
  const std::string shared =
      "OPENNRT_EMULATOR_SCOPE=machine OPENNRT_EMULATOR_IDLE_EXIT_S=5 "
      "OPENNRT_EMULATOR_HBM_BYTES=256M OPENNRT_EMULATOR_SOCKET=" +
      directory_ + "/emud.sock ";
  ASSERT_EQ(run(sunda, shared + "OPENNRT_EMULATOR_PRODUCT=inf2.xlarge"), 0) << errors_;
  EXPECT_EQ(run(sunda, shared), 0) << errors_;
  EXPECT_EQ(errors_.find("was compiled for"), std::string::npos) << errors_;
  const auto ended = [&] {
    for (int i = 0; i < 300 && access((directory_ + "/emud.sock").c_str(), F_OK) == 0; ++i)
      usleep(100'000);
    return access((directory_ + "/emud.sock").c_str(), F_OK) != 0;
  };
  EXPECT_TRUE(ended());
  EXPECT_EQ(run(sunda, shared), 0) << errors_;  // it starts one that fits
  EXPECT_NE(errors_.find("was compiled for sunda: running on"), std::string::npos) << errors_;
  EXPECT_TRUE(ended());
}

TEST_F(ToolRun, TheDeviceBecomesWhatTheModelWasCompiledFor) {
  const std::string neff = model("vecadd_1tile_cayman.neff");
  NEED(neff);
  ASSERT_EQ(run(neff), 0) << errors_;
  EXPECT_NE(errors_.find("was compiled for cayman: running on OPENNRT_EMULATOR_PRODUCT="
                         "trn2.48xlarge NEURON_LOGICAL_NC_CONFIG=2 OPENNRT_EMULATOR_DEVICES=1\n"),
            std::string::npos)
      << errors_;
  const std::string sums = contents(directory_ + "/out.bin");
  ASSERT_EQ(sums.size(), 256000u * 4);
  for (std::size_t i = 0; i < sums.size(); i += 4) {
    float value = 0;
    std::memcpy(&value, sums.data() + i, 4);
    ASSERT_EQ(value, 2.0f) << i / 4;
  }
}

TEST_F(ToolRun, SundaModelsBindNoCoreSize) {
  const std::string neff = model("vecadd_1tile_sunda.neff");
  NEED(neff);
  ASSERT_EQ(run(neff), 0) << errors_;
  EXPECT_NE(errors_.find("was compiled for sunda: running on OPENNRT_EMULATOR_PRODUCT="),
            std::string::npos)
      << errors_;
  EXPECT_EQ(errors_.find("NEURON_LOGICAL_NC_CONFIG"), std::string::npos) << errors_;
}

TEST_F(ToolRun, TheUsersProductStays) {
  const std::string neff = model("vecadd_1tile_cayman.neff");
  NEED(neff);
  EXPECT_EQ(run(neff, "OPENNRT_EMULATOR_PRODUCT=trn1.2xlarge"), 1);
  EXPECT_EQ(errors_.find("running on OPENNRT_EMULATOR_PRODUCT"), std::string::npos) << errors_;
  EXPECT_NE(errors_.find("set OPENNRT_EMULATOR_PRODUCT=trn2.48xlarge\n"), std::string::npos)
      << errors_;
}

TEST_F(ToolRun, TheUsersCoreSizeStays) {
  const std::string neff = model("vecadd_1tile_cayman.neff");
  NEED(neff);
  EXPECT_EQ(run(neff, "NEURON_LOGICAL_NC_CONFIG=1"), 1);
  EXPECT_NE(errors_.find("set NEURON_LOGICAL_NC_CONFIG=2\n"), std::string::npos) << errors_;
}

TEST_F(ToolRun, SiliconWithoutPluginIsNamed) {
  const std::string neff = model("vecadd_2tiles_sunda_a.neff");
  NEED(neff);
  std::ofstream(directory_ + "/junk") << "plugins: {disable: [sunda]}\n";
  EXPECT_EQ(run(neff, "OPENNRT_CONFIG=" + directory_ + "/junk"), 1);
  EXPECT_NE(errors_.find("was compiled for sunda: no usable plugin for arch 2: "),
            std::string::npos)
      << errors_;
  EXPECT_NE(errors_.find("disabled by plugins.disable"), std::string::npos) << errors_;
}

TEST_F(ToolRun, WhatIsNoModelIsRefusedByTheRuntime) {
  std::ofstream(directory_ + "/junk") << std::string(4096, 'x');
  EXPECT_EQ(run(directory_ + "/junk"), 1);
  EXPECT_EQ(errors_.find("was compiled for"), std::string::npos) << errors_;
  EXPECT_NE(errors_.find("nrt_load"), std::string::npos) << errors_;
}

// The demo looks at its file before it starts the runtime, and says who speaks.
TEST_F(ToolRun, TheDemoNamesItselfAndTheFile) {
  for (const auto& [file, why] : {std::pair("/nonexistent.neff", "No such file or directory"),
                                  std::pair("/dev/zero", "is no regular file")}) {
    const std::string command = std::string("OPENNRT_DEVICE=none '" OPENNRT_DEMO "' ") + file +
                                " >" + directory_ + "/out 2>" + directory_ + "/err";
    const int status = std::system(command.c_str());
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1) << file;
    EXPECT_EQ(contents(directory_ + "/err"),
              std::string("vecadd_demo: ") + file + ": " + why + "\n");
    EXPECT_EQ(contents(directory_ + "/out"), "");
  }
}

TEST_F(ToolRun, OutputThatDoesNotArriveIsAnError) {
  for (const char* words : {"isa", "isa --summary", "plugins", "--version", "help", "run --help"}) {
    const std::string command =
        std::string("'" OPENNRT_TOOL "' ") + words + " >/dev/full 2>" + directory_ + "/err";
    const int status = std::system(command.c_str());
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1) << words;
    EXPECT_NE(contents(directory_ + "/err").find("standard output: cannot write"),
              std::string::npos)
        << words;
  }
}

TEST_F(ToolRun, AMisspeltVariableAndANonsenseLevelAreTold) {
  const std::string neff = model("vecadd_1tile_sunda.neff");
  NEED(neff);
  ASSERT_EQ(run(neff,
                "OPENNRT_EMULATOR_PRODCUT=x NEURON_RT_LOG_LEVEL=nonsense "
                "OPENNRT_PLUGIN_PATH=/no/such/directory"),
            0)
      << errors_;
  for (const char* part : {"did you mean OPENNRT_EMULATOR_PRODUCT?", "log.level='nonsense'",
                           "plugin directory /no/such/directory does not exist"})
    EXPECT_NE(errors_.find(part), std::string::npos) << part << ": " << errors_;
}

}  // namespace
}  // namespace opennrt
