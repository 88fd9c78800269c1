// SPDX-License-Identifier: Apache-2.0
//
// opennrt ls as a process: without a machine, with the shared software device and a
// program on it, and on device files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <simdjson.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace opennrt {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class ToolLs : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/opennrt-ls-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    directory_ = name;
  }
  void TearDown() override {
    if (program_ > 0) {
      ::kill(-program_, SIGKILL);
      ::waitpid(program_, nullptr, 0);
    }
    fs::remove_all(directory_);
  }
  std::string environment(const std::string& variables) const {
    return "env -u OPENNRT_CONFIG -u NEURON_RT_VISIBLE_CORES OPENNRT_DEVICE=emulator "
           "OPENNRT_EMULATOR_HBM_BYTES=256M OPENNRT_EMULATOR_IDLE_EXIT_S=0 "
           "OPENNRT_EMULATOR_SOCKET=" +
           directory_ + "/s/emud.sock " + variables + " ";
  }
  int run(const std::string& command, const std::string& variables = "") {
    const std::string line =
        environment(variables) + command + " >" + directory_ + "/out 2>" + directory_ + "/err";
    const int status = std::system(line.c_str());
    out_ = contents("/out");
    errors_ = contents("/err");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  int ls(const std::string& options = "", const std::string& variables = "") {
    return run("'" OPENNRT_LS "' " + options, variables);
  }
  // A program that stays, in a process group of its own.
  void start(const std::string& command, const std::string& variables) {
    const std::string line = environment(variables) + "'" OPENNRT_TOOL "' " + command + " >" +
                             directory_ + "/program 2>&1";
    program_ = ::fork();
    if (program_ != 0) return;
    ::setpgid(0, 0);
    execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    _exit(1);
  }
  void wait_for(const std::string& text) {
    for (int i = 0; i < 6000 && contents("/program").find(text) == std::string::npos; ++i)
      ::usleep(10'000);
    ASSERT_THAT(contents("/program"), HasSubstr(text));
  }
  std::string contents(const std::string& file) const {
    std::ifstream in(directory_ + file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string directory_, out_, errors_;
  pid_t program_ = 0;
};

constexpr char kMachine[] = "OPENNRT_EMULATOR_SCOPE=machine OPENNRT_EMULATOR_PRODUCT=trn1.2xlarge";

TEST_F(ToolLs, ProcessScopeHasNoMachineToShow) {
  EXPECT_EQ(ls(), 0) << errors_;
  EXPECT_THAT(out_, AllOf(HasSubstr("every process has a software device of its own"),
                          HasSubstr("set OPENNRT_EMULATOR_SCOPE=machine"),
                          ContainsRegex("plugin   arch  sunda +[0-9.]+ +selected")));
  EXPECT_EQ(ls("--json"), 0);
  EXPECT_THAT(out_, AllOf(HasSubstr("{\"served_by\": null, \"driver\": null"),
                          HasSubstr("\"devices\": []"), HasSubstr("\"name\": \"emulator\"")));
}

TEST_F(ToolLs, NoDaemonIsStarted) {
  EXPECT_EQ(ls("", kMachine), 0) << errors_;
  EXPECT_THAT(out_, HasSubstr("nothing serves " + directory_ + "/s/emud.sock: "));
  EXPECT_FALSE(fs::exists(directory_ + "/s"));
}

TEST_F(ToolLs, SharedDeviceWithAProgram) {
  start("run '" OPENNRT_MODEL "' --fill ones --executions 100000000",
        std::string(kMachine) + " NEURON_RT_VISIBLE_CORES=1");
  wait_for("output");
  EXPECT_EQ(ls("", kMachine), 0) << errors_;
  EXPECT_THAT(out_, ContainsRegex("driver   2\\.27\\.4\\.0, opennrt-emud \\(pid [0-9]+, "));
  EXPECT_THAT(out_, HasSubstr("product  trn1.2xlarge\n"));
  EXPECT_THAT(out_, ContainsRegex("\n0 +Trainium1 +sunda +2 +0-1 +[1-9][0-9]* / 536870912\n"));
  EXPECT_THAT(out_, ContainsRegex("\nheld     device 0, cores 1-1 \\(logical 1-1\\): pid [0-9]+ "
                                  "\\([^\n]*opennrt[^\n]*\\), running for [0-9]+ s\n"));
  EXPECT_EQ(ls("--json", kMachine), 0);
  EXPECT_THAT(out_,
              ContainsRegex("\"cores\": \\[\\{\"core\": 0, \"logical\": 0, \"process\": null\\}, "
                            "\\{\"core\": 1, \"logical\": 1, \"process\": \\{\"pid\": "));
  // Whoever wants these cores is told who has them; whoever wants others is not.
  EXPECT_EQ(run("'" OPENNRT_DOCTOR "'", kMachine), 1);
  EXPECT_THAT(out_, ContainsRegex("holders +core 1: 2 of 2 cores are asked for; it is held by pid "
                                  "[0-9]+ [^\n]*\n +fix: end it \\(kill [0-9]+\\)"));
  EXPECT_EQ(run("'" OPENNRT_DOCTOR "'", std::string(kMachine) + " NEURON_RT_VISIBLE_CORES=0"), 0)
      << out_;
}

TEST_F(ToolLs, ASocketThatIsNone) {
  fs::create_directory(directory_ + "/s");
  std::ofstream(directory_ + "/s/emud.sock") << "text\n";
  EXPECT_EQ(ls("", kMachine), 1);
  const std::string said = directory_ +
                           "/s/emud.sock is no socket; move it away, or set emulator.socket to "
                           "another path";
  EXPECT_THAT(out_, HasSubstr(said + "\n"));
  EXPECT_EQ(run("'" OPENNRT_DOCTOR "'", kMachine), 1);
  EXPECT_THAT(out_, HasSubstr(directory_ + "/s/emud.sock: is no socket"));
}

TEST_F(ToolLs, ADaemonThatIsStopped) {
  start("run '" OPENNRT_MODEL "' --fill ones --executions 100000000", kMachine);
  wait_for("output");
  ASSERT_EQ(ls("", kMachine), 0) << errors_;
  const std::size_t at = out_.find("opennrt-emud (pid ");
  ASSERT_NE(at, std::string::npos);
  const int pid = std::atoi(out_.c_str() + at + 18);
  ASSERT_GT(pid, 1);
  ::kill(pid, SIGSTOP);
  const std::string number = std::to_string(pid);
  const std::string said = "opennrt-emud (pid " + number +
                           ") is stopped and has not answered for 2 s; kill -CONT " + number +
                           " lets it go on, kill -9 " + number + " ends it";
  EXPECT_EQ(ls("", kMachine), 1);
  EXPECT_THAT(out_, HasSubstr(said + "\n"));
  EXPECT_EQ(run("'" OPENNRT_DOCTOR "'", kMachine), 1);
  EXPECT_THAT(out_, HasSubstr(said));
  ::kill(pid, SIGCONT);
  EXPECT_EQ(ls("", kMachine), 0);
}

// What a process is called does nothing to a terminal, and is UTF-8 for programs.
TEST_F(ToolLs, NamesOfProcesses) {
  const std::string name = directory_ + "/a\x1b[2J\x9b\xC3\xA4\xFF.neff";
  fs::copy_file(OPENNRT_MODEL, name);
  start("run '" + name + "' --fill ones --executions 100000000", kMachine);
  wait_for("output");
  EXPECT_EQ(ls("", kMachine), 0) << errors_;
  EXPECT_THAT(out_, HasSubstr("/a [2J???.neff "));
  for (const char c : out_) EXPECT_TRUE(c == '\n' || (c >= ' ' && c < '\x7f')) << out_;
  EXPECT_EQ(ls("--json", kMachine), 0);
  simdjson::dom::parser parser;
  auto parsed = parser.parse(out_);
  ASSERT_EQ(parsed.error(), simdjson::SUCCESS) << out_;
  EXPECT_THAT(
      std::string(
          parsed.value()["devices"].at(0)["processes"].at(0)["command"].get_string().value()),
      HasSubstr("/a [2J"));
}

TEST_F(ToolLs, DeviceFiles) {
  const std::string emu =
      "'" OPENNRT_EMU "' --product trn2.48xlarge --devices 2 --hbm-bytes 256M -- ";
  EXPECT_EQ(run(emu + "env OPENNRT_DEVICE=auto '" OPENNRT_LS "'"), 0) << errors_;
  EXPECT_THAT(out_, AllOf(HasSubstr("driver   2.27.4.0, kernel\n"),
                          ContainsRegex("\n0 +Trainium2 +cayman +8 +0-3 +0 / "),
                          ContainsRegex("\n1 +Trainium2 +cayman +8 +4-7 +0 / ")));
  EXPECT_EQ(run(emu + "env OPENNRT_DEVICE=auto NEURON_LOGICAL_NC_CONFIG=1 '" OPENNRT_LS "'"), 0);
  EXPECT_THAT(out_, ContainsRegex("\n1 +Trainium2 +cayman +8 +8-15 "));
}

TEST_F(ToolLs, EmptyKernel) {
  EXPECT_EQ(ls("", "OPENNRT_DEVICE=kernel OPENNRT_TEST_ROOT=" + directory_), 1);
  EXPECT_THAT(out_, HasSubstr("the kernel driver is not loaded; `opennrt doctor` looks closer\n"));
  fs::create_directories(directory_ + "/sys/module/neuron");
  std::ofstream(directory_ + "/sys/module/neuron/version") << "2.27.4.0\n";
  EXPECT_EQ(ls("", "OPENNRT_DEVICE=kernel OPENNRT_TEST_ROOT=" + directory_), 1);
  EXPECT_THAT(out_, HasSubstr("driver 2.27.4.0 is loaded, but there is no /dev/neuron* here"));
}

TEST_F(ToolLs, Usage) {
  EXPECT_EQ(ls("--help"), 0);
  EXPECT_THAT(out_, HasSubstr("usage: opennrt ls"));
  EXPECT_EQ(ls("--nonsense"), 2);
  EXPECT_EQ(ls("word"), 2);
  EXPECT_EQ(ls("", "NEURON_RT_EXEC_TIMEOUT=x"), 1);
  EXPECT_THAT(out_, HasSubstr("NEURON_RT_EXEC_TIMEOUT"));
}

}  // namespace
}  // namespace opennrt
