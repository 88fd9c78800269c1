// SPDX-License-Identifier: Apache-2.0
//
// What a process prints and leaves behind when calls fail. Each case is a
// process of its own: some things are told once per process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "base/cause.h"
#include "nrt/nrt_async.h"
#include "nrt/nrt_version.h"
#include "support/vecadd_client.h"

namespace opennrt {
namespace {

namespace fs = std::filesystem;
using test::read_file;
using test::Runtime;
using test::VecAddModel;
using test::VecAddTensors;
using ::testing::HasSubstr;
using ::testing::Not;

std::string text_of(const std::string& path) {
  std::stringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

class Diagnostics : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/opennrt-diagnostics-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    dir_ = name;
  }
  void TearDown() override { fs::remove_all(dir_); }

  // Runs in a child with more environment; its stderr. The body's value is
  // expected.
  std::string run(const std::map<std::string, std::string>& environment, NRT_STATUS expected,
                  const std::function<NRT_STATUS()>& body) {
    const std::string output = dir_ + "/stderr";
    const pid_t child = fork();
    if (child == 0) {
      for (const auto& [variable, value] : environment) setenv(variable.c_str(), value.c_str(), 1);
      if (freopen(output.c_str(), "w", stderr) == nullptr) _exit(99);
      const NRT_STATUS got = body();
      if (got != expected) fprintf(stderr, "status %d\n", got);
      _exit(got == expected ? 0 : 98);
    }
    int status = -1;
    waitpid(child, &status, 0);
    const std::string text = text_of(output);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status << ": " << text;
    return text;
  }

  // The last line of the only failed call ends with the remedy.
  static void expect_one_line(const std::string& text, const std::string& api, Cause cause) {
    const std::vector<std::string> lines = lines_of(text);
    ASSERT_EQ(lines.size(), 1u) << text;
    EXPECT_THAT(lines[0], HasSubstr(" ERROR   NRT:" + api + " ")) << text;
    EXPECT_THAT(lines[0], testing::EndsWith(" Resolution: " + std::string(resolution(cause))));
  }

  std::string dir_;
};

NRT_STATUS init() { return nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""); }

// The vector addition whose engines wait for each other.
std::string deadlock(const std::string& dir) {
  std::string text = text_of(OPENNRT_EXAMPLE);
  const std::string from = "- NOP wait=SEM_GE_IMM(8) value=16";
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos);
  text.replace(at, from.size(), "- NOP wait=SEM_GE_IMM(12) value=16");
  std::ofstream(dir + "/m.yaml") << text;
  const std::string command =
      "'" OPENNRT_NEFF_TOOL "' build " + dir + "/m.yaml " + dir + "/m.neff >/dev/null";
  EXPECT_EQ(system(command.c_str()), 0);
  return dir + "/m.neff";
}

NRT_STATUS execute(const std::string& neff) {
  const NRT_STATUS started = init();
  if (started != NRT_SUCCESS) return started;
  VecAddModel model(read_file(neff));
  VecAddTensors tensors(model, 1);
  return tensors.execute();
}

TEST_F(Diagnostics, TheBlockComesOnceAfterInit) {
  const std::string text = run({{"NEURON_RT_LOG_LEVEL_NRT", "INFO"}}, NRT_SUCCESS, [] {
    if (init() != NRT_SUCCESS) return NRT_FAILURE;
    nrt_close();
    return init();
  });
  std::vector<std::string> block;
  for (const std::string& line : lines_of(text))
    if (line.find(" INFO   NRT:nrt_infodump  ") != std::string::npos)
      block.push_back(line.substr(line.find("nrt_infodump") + 41));
  ASSERT_GE(block.size(), 15u) << text;
  EXPECT_EQ(block.front(), "----8<---- support information ----8<----");
  EXPECT_EQ(block.back(), "----8<---- end of support information ----8<----");
  EXPECT_EQ(std::count(block.begin(), block.end(), block.front()), 1);
  nrt_version_t version{};
  ASSERT_EQ(nrt_get_version(&version, sizeof version), NRT_SUCCESS);
  EXPECT_THAT(block[1], testing::StartsWith("runtime: " + std::string(version.rt_detail)));
  EXPECT_THAT(block[1], HasSubstr(version.git_hash));
  std::map<std::string, std::string> fields;
  for (const std::string& line : block)
    if (const auto colon = line.find(": "); colon != std::string::npos)
      fields.emplace(line.substr(0, colon), line.substr(colon + 2));
  for (const char* field : {"microcode library", "CCOM", "NCFW", "instance id", "cluster id",
                            "kernel", "node name", "process", "driver version", "devices", "LNC"})
    EXPECT_NE(fields[field], "") << field;
  EXPECT_THAT(fields["visible cores"], testing::StartsWith("0-"));
  EXPECT_EQ(fields["tensors"], "0, sets of tensors: 0");
  EXPECT_THAT(fields["  logical core 0"], HasSubstr("usable"));
  EXPECT_THAT(block, testing::Contains("environment:"));
  EXPECT_THAT(block, testing::Contains("  device = emulator (OPENNRT_DEVICE)"));
  EXPECT_FALSE(fields.contains("failure"));
}

TEST_F(Diagnostics, AFailedInitIsOneLineAndABlockInTheFile) {
  const std::string bad = "NEURON_RT_EXEC_TIMEOUT";
  expect_one_line(run({{bad, "soon"}}, NRT_INVALID, init), "nrt_init", Cause::kConfiguration);
  const std::string file = dir_ + "/log";
  EXPECT_EQ(run({{bad, "soon"}, {"NEURON_RT_LOG_LOCATION", file}}, NRT_INVALID, init), "");
  const std::string text = text_of(file);
  EXPECT_THAT(text, HasSubstr(" failure: NRT_INVALID in nrt_init\n"));
  EXPECT_THAT(text, HasSubstr(" ERROR   NRT:nrt_infodump "));
  EXPECT_LT(text.find(" Resolution: "), text.find("support information")) << "the cause is first";
  EXPECT_GT(text.rfind("NRT_INVALID (2): "), text.find("last failures:"));
}

TEST_F(Diagnostics, NoDevice) {
  if (fs::exists("/dev/neuron0")) GTEST_SKIP() << "there is a device";
  expect_one_line(run({{"OPENNRT_DEVICE", "kernel"}}, NRT_INVALID, init), "nrt_init",
                  Cause::kNoDevice);
}

TEST_F(Diagnostics, PluginMissing) {
  expect_one_line(run({{"OPENNRT_DEVICE", "nowhere"}}, NRT_INVALID, init), "nrt_init",
                  Cause::kPluginMissing);
}

TEST_F(Diagnostics, NeffOfAnotherArch) {
  expect_one_line(run({{"OPENNRT_EMULATOR_PRODUCT", "trn2.3xlarge"}}, NRT_INVALID,
                      [] {
                        if (init() != NRT_SUCCESS) return NRT_FAILURE;
                        const std::vector<char> neff = read_file(OPENNRT_VECADD_NEFF);
                        nrt_model_t* model = nullptr;
                        return nrt_load(neff.data(), neff.size(), -1, -1, &model);
                      }),
                  "nrt_load", Cause::kForeignNeff);
}

TEST_F(Diagnostics, OutOfDeviceMemory) {
  expect_one_line(run({}, NRT_RESOURCE,
                      [] {
                        if (init() != NRT_SUCCESS) return NRT_FAILURE;
                        nrt_tensor_t* tensor = nullptr;
                        return nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 1ull << 40,
                                                   "big", &tensor);
                      }),
                  "nrt_tensor_allocate", Cause::kDeviceMemory);
}

TEST_F(Diagnostics, ExecutionTimeout) {
  const std::string neff = deadlock(dir_);
  const std::string text = run({}, NRT_TIMEOUT, [&] { return execute(neff); });
  expect_one_line(text, "nrt_execute", Cause::kExecutionTimeout);
  EXPECT_THAT(text, HasSubstr("(FATAL-RT-UNDEFINED-STATE)"));
}

// Mistakes of the caller leave one line.
TEST_F(Diagnostics, BadArgumentsLeaveNoBlock) {
  const std::string file = dir_ + "/log";
  run({{"NEURON_RT_LOG_LOCATION", file}}, NRT_INVALID, [] {
    if (init() != NRT_SUCCESS) return NRT_FAILURE;
    nrt_model_t* model = nullptr;
    return nrt_load(nullptr, 1, -1, -1, &model);
  });
  EXPECT_EQ(lines_of(text_of(file)).size(), 1u) << text_of(file);
}

TEST_F(Diagnostics, AsynchronousFailuresAreTold) {
  const std::string neff = deadlock(dir_);
  const std::string text = run({}, NRT_TIMEOUT, [&] {
    if (init() != NRT_SUCCESS) return NRT_FAILURE;
    VecAddModel model(read_file(neff));
    VecAddTensors tensors(model, 1);
    NRT_STATUS result = NRT_FAILURE;
    nrta_seq_t sequence{};
    if (nrta_execute_schedule(model.get(), tensors.in(), tensors.out(), 0, &result, &sequence) !=
        NRT_SUCCESS)
      return NRT_FAILURE;
    for (bool done = false; !done; usleep(1000))
      if (nrta_is_completed(sequence, &done) != NRT_SUCCESS) return NRT_FAILURE;
    return result;
  });
  expect_one_line(text, "nrta_execute_schedule", Cause::kExecutionTimeout);
}

TEST_F(Diagnostics, LinesOfAFailedCallAreOneBlock) {
  const std::map<std::string, std::string> environment = {{"NEURON_RT_LOG_LEVEL_PLUG", "WARN"},
                                                          {"NEURON_RT_LOG_COALESCING_ENABLED", "1"},
                                                          {"OPENNRT_PLUGIN_PATH", dir_}};
  std::ofstream(dir_ + "/bad.plugin.yaml")
      << "kind: arch\nname: sunda\narch_type: 2\nlibrary: none.so\nabi: 1.0\nversion: 9.0.0\n";
  const std::string text = run(environment, NRT_INVALID, init);
  const std::vector<std::string> lines = lines_of(text);
  ASSERT_GE(lines.size(), 2u) << text;
  EXPECT_THAT(lines[0], HasSubstr(" ERROR   NRT:nrt_init "));
  EXPECT_THAT(lines[0], HasSubstr("none.so: No such file"));
  for (std::size_t i = 1; i < lines.size(); ++i) EXPECT_EQ(lines[i][0], '\t') << text;
  EXPECT_THAT(lines[1], HasSubstr(" WARN  PLUG:"));
}

TEST_F(Diagnostics, ACoreDumpIsLeft) {
  const std::string neff = deadlock(dir_), dumps = dir_ + "/dumps";
  const std::string text = run({{"NEURON_RT_LOCAL_CORE_DUMP_DIRECTORY", dumps + "/%i-%l-%c"}},
                               NRT_TIMEOUT, [&] { return execute(neff); });
  std::vector<fs::path> files;
  for (const auto& e : fs::recursive_directory_iterator(dumps))
    if (e.is_regular_file()) files.push_back(e.path());
  std::sort(files.begin(), files.end());
  ASSERT_EQ(files.size(), 2u) << text;
  EXPECT_THAT(files[0].parent_path().filename(), HasSubstr("-1-0000000000000000"));
  EXPECT_THAT(text, HasSubstr("files for support are in " + files[0].parent_path().string()));
  const std::string about = text_of(files[0]), log = text_of(files[1]);
  EXPECT_THAT(files[0].filename(), testing::EndsWith("-info.txt"));
  EXPECT_THAT(about, HasSubstr("\nfailure: NRT_TIMEOUT in nrt_execute\n"));
  EXPECT_THAT(about, HasSubstr("  logical core 0: in an unknown state"));
  EXPECT_THAT(about, HasSubstr("' on logical core 0\n"));
  EXPECT_THAT(about, HasSubstr("tensors: 3, sets of tensors: 2\n"));
  EXPECT_THAT(about, HasSubstr("core_dump.dir = "));
  EXPECT_THAT(log, HasSubstr("nrt_execute failed with status 5\n--- logical core 0\n"));
  EXPECT_THAT(log, HasSubstr("NRT_TIMEOUT (5): "));
}

TEST_F(Diagnostics, NoCoreDumpUnlessAsked) {
  const std::string neff = deadlock(dir_);
  run({{"TMPDIR", dir_ + "/tmp"}}, NRT_TIMEOUT, [&] { return execute(neff); });
  EXPECT_FALSE(fs::exists(dir_ + "/tmp"));
  EXPECT_FALSE(fs::exists("/tmp/neuron-core-dump"));
  const std::string text = run({{"NEURON_RT_LOCAL_CORE_DUMP_DIRECTORY", ""}}, NRT_TIMEOUT,
                               [&] { return execute(neff); });
  EXPECT_THAT(text, Not(HasSubstr("files for support")));
}

TEST_F(Diagnostics, InputsOfAFailedExecution) {
  const std::string neff = deadlock(dir_), inputs = dir_ + "/inputs";
  std::map<std::string, std::string> environment = {{"NEURON_RT_DBG_INPUT_DUMP_DIRECTORY", inputs},
                                                    {"NEURON_RT_DBG_DUMP_INPUTS_ON_ERR", "1202"}};
  run(environment, NRT_TIMEOUT, [&] { return execute(neff); });
  EXPECT_FALSE(fs::exists(inputs)) << "another status";
  environment["NEURON_RT_DBG_DUMP_INPUTS_ON_ERR"] = "5";
  const std::string wanted = dir_ + "/wanted";
  const std::string text = run(environment, NRT_TIMEOUT, [&] {
    if (init() != NRT_SUCCESS) return NRT_FAILURE;
    VecAddModel model(read_file(neff));
    VecAddTensors tensors(model, 1);
    const std::string& name = model.inputs().at(0);
    nrt_tensor_t* tensor = nullptr;
    std::vector<char> bytes(model.bytes());
    if (nrt_get_tensor_from_tensor_set(tensors.in(), name.c_str(), &tensor) != NRT_SUCCESS ||
        nrt_tensor_read(tensor, bytes.data(), 0, bytes.size()) != NRT_SUCCESS)
      return NRT_FAILURE;
    std::ofstream(wanted) << name << "\n";
    std::ofstream(wanted + ".bin", std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return tensors.execute();
  });
  std::vector<std::string> directories, files;
  for (const auto& e : fs::directory_iterator(inputs)) directories.push_back(e.path());
  ASSERT_EQ(directories.size(), 1u) << text;
  EXPECT_THAT(directories[0], testing::MatchesRegex(".*/input_dump_[0-9a-f]+_h_nn_[0-9]+"));
  EXPECT_THAT(text, HasSubstr(" are in " + directories[0] + "\n"));
  for (const auto& e : fs::directory_iterator(directories[0])) files.push_back(e.path().filename());
  EXPECT_EQ(files.size(), 3u);
  EXPECT_THAT(files, testing::Contains("model_name.txt"));
  const std::string name = lines_of(text_of(wanted)).at(0);
  EXPECT_EQ(read_file(directories[0] + "/" + name + ".bin"), read_file(wanted + ".bin"));
  environment["NEURON_RT_DBG_INPUT_DUMP_DIRECTORY"] = "/proc/none";
  EXPECT_THAT(run(environment, NRT_TIMEOUT, [&] { return execute(neff); }),
              HasSubstr("cannot make the directory /proc/none/"));
}

}  // namespace
}  // namespace opennrt
