// SPDX-License-Identifier: Apache-2.0
//
// opennrt config as a process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace opennrt {
namespace {

using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

class ToolConfig : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/opennrt-config-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    directory_ = name;
  }
  void TearDown() override {
    for (const char* file : {"/out", "/err", "/nrt.yaml"}) unlink((directory_ + file).c_str());
    rmdir(directory_.c_str());
  }
  // variables: "NAME=value NAME=value". Returns the exit code.
  int run(const std::string& arguments, const std::string& variables = "") {
    const std::string command =
        "env -u OPENNRT_CONFIG OPENNRT_DEVICE=emulator OPENNRT_EMULATOR_PRODUCT=trn2.48xlarge " +
        variables + " '" OPENNRT_TOOL "' config " + arguments + " >" + directory_ + "/out 2>" +
        directory_ + "/err";
    const int status = std::system(command.c_str());
    out_ = contents("/out");
    errors_ = contents("/err");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  std::string contents(const std::string& file) const {
    std::ifstream in(directory_ + file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // The line of a setting with single blanks.
  std::string line(const std::string& key) const {
    const auto at = out_.find(key + " ");
    std::string text = at == std::string::npos ? "" : out_.substr(at, out_.find('\n', at) - at);
    for (auto blank = text.find("  "); blank != std::string::npos; blank = text.find("  "))
      text.erase(blank, 1);
    return text;
  }
  std::string directory_, out_, errors_;
};

TEST_F(ToolConfig, EveryOriginIsShown) {
  std::ofstream(directory_ + "/nrt.yaml") << "exec:\n  timeout_s: 7\ncc: {nop: 1}\n";
  ASSERT_EQ(run("", "OPENNRT_CONFIG=" + directory_ + "/nrt.yaml NEURON_RT_NUM_CORES=2"), 0)
      << errors_;
  EXPECT_EQ(line("cores.count"), "cores.count 2 NEURON_RT_NUM_CORES");
  EXPECT_EQ(line("exec.timeout_s"), "exec.timeout_s 7 " + directory_ + "/nrt.yaml:2");
  EXPECT_EQ(line("exec.xu_queue_depth"), "exec.xu_queue_depth 8 default");
  EXPECT_EQ(line("cores.visible"), "cores.visible - default");
  EXPECT_EQ(line("cores.lnc_size"), "cores.lnc_size 2 default of arch 3");
  EXPECT_EQ(line("load.hw_decode_toggle"),
            "load.hw_decode_toggle 3 default of arch 3 (no effect in this release)");
  EXPECT_EQ(line("cc.nop"), "cc.nop 1 " + directory_ + "/nrt.yaml:3 (no effect in this release)");
}

TEST_F(ToolConfig, PrefixAndChangedSelect) {
  ASSERT_EQ(run("exec.t inspect.filter", "NEURON_RT_INSPECT_EVENT_FILTER_NC=1"), 0) << errors_;
  EXPECT_EQ(line("exec.timeout_s"), "exec.timeout_s 30 default");
  EXPECT_EQ(line("inspect.filter.cores"),
            "inspect.filter.cores 1 NEURON_RT_INSPECT_EVENT_FILTER_NC");
  EXPECT_THAT(out_, Not(HasSubstr("device")));
  ASSERT_EQ(run("--changed exec cores", "NEURON_RT_EXEC_TIMEOUT=30 NEURON_RT_NUM_CORES=0x2"), 0);
  EXPECT_THAT(out_, MatchesRegex("cores.count +2 +NEURON_RT_NUM_CORES\n"));
  EXPECT_EQ(run("exec.nothing"), 1);
  EXPECT_THAT(errors_, HasSubstr("no setting begins with 'exec.nothing'"));
}

TEST_F(ToolConfig, JsonForPrograms) {
  ASSERT_EQ(run("--json cores.visible plugins.arch log.file exec.barrier.disable",
                "NEURON_RT_VISIBLE_CORES=0-1"),
            0);
  EXPECT_EQ(out_,
            "[\n {\"key\": \"cores.visible\", \"value\": \"0-1\", \"layer\": \"environment\", "
            "\"origin\": \"NEURON_RT_VISIBLE_CORES\", \"effect\": true},\n"
            " {\"key\": \"exec.barrier.disable\", \"value\": \"0\", \"layer\": \"default\", "
            "\"origin\": \"default\", \"effect\": false},\n"
            " {\"key\": \"log.file\", \"value\": null, \"layer\": \"default\", \"origin\": "
            "\"default\", \"effect\": true},\n"
            " {\"key\": \"plugins.arch\", \"value\": \"auto\", \"layer\": \"default\", "
            "\"origin\": \"default\", \"effect\": true}\n]\n");
}

TEST_F(ToolConfig, JsonIsUtf8WhateverAVariableHolds) {
  ASSERT_EQ(run("--json nds.process_tag", "NEURON_PROCESS_TAG=\"$(printf 'a\\377b')\""), 0);
  EXPECT_THAT(out_, HasSubstr("\"value\": \"a\\ufffdb\""));
}

TEST_F(ToolConfig, MistakesAreToldAndFail) {
  EXPECT_EQ(run("exec.timeout_s", "NEURON_RT_EXEC_TIMEOUT=x OPENNRT_DEVCE=y"), 1);
  EXPECT_THAT(errors_,
              HasSubstr("NEURON_RT_EXEC_TIMEOUT: exec.timeout_s='x': must be a number from "));
  EXPECT_THAT(errors_, HasSubstr("did you mean OPENNRT_DEVICE?"));
  EXPECT_EQ(line("exec.timeout_s"), "exec.timeout_s 30 default");
  EXPECT_EQ(run("--nonsense"), 2);
  EXPECT_EQ(run("--help"), 0);
  EXPECT_THAT(out_, HasSubstr("usage: opennrt config"));
}

TEST_F(ToolConfig, ShowIsTheListing) {
  ASSERT_EQ(run("show exec.timeout_s"), 0);
  EXPECT_EQ(line("exec.timeout_s"), "exec.timeout_s 30 default");
  EXPECT_EQ(out_.find('\n'), out_.size() - 1);
}

TEST_F(ToolConfig, CheckNamesThePlaceOfEachMistake) {
  const std::string file = directory_ + "/nrt.yaml";
  std::ofstream(file) << "exec:\n"
                         "  timeout_s: soon\n"
                         "  xu_queue_dept: 4\n"
                         "emulatr: {devices: 2}\n"
                         "emulator: {devices: 40, product: trn2.48xlarg}\n"
                         "timeout_s: 3\n"
                         "qqqqqq: 3\n"
                         "device: emulater\n"
                         "cc: {nop: 1}\n";
  EXPECT_EQ(run("check " + file, "NEURON_RT_EXEC_TIMEOUT=x"), 1);  // variables are not looked at
  const auto at = [&](const std::string& text) { return HasSubstr(file + ":" + text); };
  EXPECT_THAT(out_, at("2:14: error: exec.timeout_s='soon': must be a number from 0 to "));
  EXPECT_THAT(out_, at("3:3: warning: unknown key exec.xu_queue_dept; did you mean "
                       "exec.xu_queue_depth?\n"));
  EXPECT_THAT(out_, at("4:1: warning: unknown key emulatr; did you mean emulator?\n"));
  EXPECT_THAT(out_, at("5:21: error: emulator.devices='40': must be 1 to 32\n"));
  EXPECT_THAT(out_, at("5:34: warning: (emulator.product): "));
  EXPECT_THAT(out_, HasSubstr("trn2.48xlarge"));
  EXPECT_THAT(out_, at("6:1: warning: unknown key timeout_s; did you mean exec.timeout_s?\n"));
  EXPECT_THAT(out_, at("7:1: warning: unknown key qqqqqq; `opennrt config` lists"));
  EXPECT_THAT(out_, at("8:9: warning: (device): no port plugin 'emulater'"));
  EXPECT_THAT(out_, at("9:11: note: cc.nop has no effect in this release\n"));
}

TEST_F(ToolConfig, CheckOfWhatIsNoConfiguration) {
  const std::string file = directory_ + "/nrt.yaml";
  EXPECT_EQ(run("check " + file), 1);
  EXPECT_EQ(out_, file + ": error: No such file or directory\n");
  std::ofstream(file) << "exec: {timeout_s: 3\ncores: 1\n";
  EXPECT_EQ(run("check " + file), 1);
  EXPECT_THAT(out_, MatchesRegex(file + ":[0-9]+:[0-9]+: error: .*\n"));
  std::ofstream(file) << "- a\n";
  EXPECT_EQ(run("check " + file), 1);
  EXPECT_EQ(out_, file + ": error: must be a map of settings\n");
  ASSERT_EQ(unlink(file.c_str()), 0);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  EXPECT_EQ(run("check " + file), 1);
  EXPECT_EQ(out_, file + ": error: not a regular file\n");
  ASSERT_EQ(unlink(file.c_str()), 0);
  EXPECT_EQ(run("check /dev/zero"), 1);
  EXPECT_EQ(out_, "/dev/zero: error: not a regular file\n");
  std::ofstream(file) << "device: auto\n---\nexec: {timeout_s: soon}\n";
  EXPECT_EQ(run("check " + file), 1);
  EXPECT_THAT(out_, HasSubstr(file + ":3:1: error: a second document begins here"));
  std::ofstream(file) << "? [x]\n: 1\n";
  EXPECT_EQ(run("check " + file), 1);
  EXPECT_EQ(out_, file + ":1:3: error: a key must be a word\n");
  std::ofstream(file) << "exec: {x: 1}\n";
  EXPECT_EQ(run("check " + file), 1);
  EXPECT_THAT(out_, HasSubstr("unknown key exec.x; `opennrt config exec` lists those there are"));
  EXPECT_EQ(run("check ''"), 2);
  EXPECT_THAT(errors_, HasSubstr("FILE is empty"));
  EXPECT_EQ(run("check"), 2);
  EXPECT_EQ(run("check --nonsense " + file), 2);
}

TEST_F(ToolConfig, CheckForPrograms) {
  const std::string file = directory_ + "/nrt.yaml";
  std::ofstream(file) << "a\"b: 1\n";
  EXPECT_EQ(run("check --json " + file), 1);
  EXPECT_THAT(out_, HasSubstr("[\n {\"file\": \"" + file +
                              "\", \"line\": 1, \"column\": 1, \"severity\": \"warning\", "
                              "\"text\": \"unknown key a"));
  EXPECT_THAT(out_, MatchesRegex("[^\n]*\n[^\n]*\n]\n"));
  std::ofstream(file) << "cc: {nop: 1}\n";  // a note is no mistake
  EXPECT_EQ(run("check " + file), 0);
  std::ofstream(file) << "\n";
  EXPECT_EQ(run("check " + file), 0);
  EXPECT_EQ(out_, file + ": good\n");
}

TEST_F(ToolConfig, ShippedFilesAreGood) {
  std::string files = OPENNRT_CONFIG_DIR "/nrt.yaml";
  std::size_t examples = 0;
  for (const auto& entry : std::filesystem::directory_iterator(OPENNRT_CONFIG_DIR "/examples")) {
    if (entry.path().extension() != ".yaml") continue;
    files += " " + entry.path().string();
    ++examples;
  }
  EXPECT_EQ(run("check " + files), 0) << out_;
  EXPECT_GE(examples, 5u);
}

// The file that hides a plugin leaves the other generation's.
TEST_F(ToolConfig, ExampleOfTwoArchesHidesOne) {
  const std::string with = "OPENNRT_CONFIG=" OPENNRT_CONFIG_DIR "/examples/two_arches.yaml ";
  ASSERT_EQ(run("cores.lnc_size", with), 0) << errors_;
  EXPECT_EQ(line("cores.lnc_size"), "cores.lnc_size 2 default of arch 3");
  EXPECT_EQ(run("cores.lnc_size", with + "OPENNRT_EMULATOR_PRODUCT=trn1.2xlarge"), 0);
  EXPECT_THAT(errors_, HasSubstr("without the defaults of silicon: "));
}

// Without a machine the listing goes on without the defaults of its silicon.
TEST_F(ToolConfig, NoMachineIsNoMistake) {
  EXPECT_EQ(run("cores.lnc_size", "OPENNRT_EMULATOR_PRODUCT=no.such"), 0);
  EXPECT_EQ(line("cores.lnc_size"), "cores.lnc_size - default");
  EXPECT_THAT(errors_, HasSubstr("without the defaults of silicon: "));
}

}  // namespace
}  // namespace opennrt
