// SPDX-License-Identifier: Apache-2.0
//
// The exported calls, seen by an unmodified program (probe.c), over a machine
// that only writes down what it is asked.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "launcher/tree.h"
#include "run_program.h"

namespace opennrt::emu::test {
namespace {

// Two devices; the second has no reset attribute.
bool exists(const std::string& name) {
  if (name == "/dev/neuron0" || name == "/dev/neuron1" || name == "/sys/module/neuron/version")
    return true;
  const std::string base = "/sys/class/neuron_device/";
  return name == base + "neuron0/reset" || name == base + "neuron0/core_count" ||
         name == base + "neuron1/core_count" || name == base + "node_id_2";
}

class Calls : public testing::Test {
 protected:
  void SetUp() override {
    std::string error;
    ASSERT_TRUE(launcher::make_tree(directory_ / "tree", exists, &error)) << error;
    std::ofstream(directory_ / "log").flush();
  }
  Ended probe(const std::vector<std::string>& words, const std::string& socket = "here") {
    std::vector<std::string> all = {OPENNRT_PROBE};
    all.insert(all.end(), words.begin(), words.end());
    return run_program(all, environment(socket));
  }
  std::vector<std::pair<std::string, std::string>> environment(const std::string& socket = "here") {
    return {{"LD_PRELOAD", OPENNRT_FAKE_PRELOAD},
            {"OPENNRT_EMU_PRELOAD", OPENNRT_FAKE_PRELOAD},
            {"OPENNRT_EMU_TREE", directory_ / "tree"},
            {"OPENNRT_EMU_SOCKET", socket},
            {"OPENNRT_FAKE_LOG", directory_ / "log"}};
  }
  std::string log() const { return contents(directory_ / "log"); }
  int logged(const std::string& line) const {
    std::istringstream text(log());
    int n = 0;
    for (std::string l; std::getline(text, l);) n += l == line;
    return n;
  }
  Directory directory_;
};

TEST_F(Calls, NumbersAreTheKernels) {
  const Ended e = probe({"numbers"});
  EXPECT_EQ(e.code, 0) << e.error;
  // Also those that the program closed behind the library's back.
  int given = 0, back = 0;
  std::istringstream text(log());
  for (std::string l; std::getline(text, l);) {
    given += l.starts_with("open ") || l.starts_with("duplicate ");
    back += l.starts_with("close ");
  }
  EXPECT_EQ(given, 12);
  EXPECT_EQ(given, back) << log();
}

TEST_F(Calls, NamesAndDirectories) {
  const Ended e = probe({"names"});
  EXPECT_EQ(e.code, 0) << e.error;
}

TEST_F(Calls, AttributesAreReadAtOpenAndWrittenBothWays) {
  const Ended e = probe({"texts"});
  EXPECT_EQ(e.code, 0) << e.error;
  const std::string reset = "write /sys/class/neuron_device/neuron0/reset ";
  EXPECT_EQ(logged(reset + "1"), 1);
  EXPECT_EQ(logged(reset + "2"), 1);
  EXPECT_EQ(logged(reset + "3"), 1);
  EXPECT_EQ(log().find("text of"), std::string::npos) << log();
}

TEST_F(Calls, MappingsGoAsAWhole) {
  const Ended e = probe({"memory"});
  EXPECT_EQ(e.code, 0) << e.error;
  // All that were made are gone at the machine as well.
  int made = 0, gone = 0;
  std::istringstream text(log());
  for (std::string l; std::getline(text, l);) {
    made += l.starts_with("mmap ");
    gone += l.starts_with("munmap ");
  }
  EXPECT_GE(made, 5);
  EXPECT_EQ(made, gone);
}

TEST_F(Calls, ChildrenAndNewPrograms) {
  const Ended e = probe({"processes"});
  EXPECT_EQ(e.code, 0) << e.error;
  EXPECT_GE(logged("adopt 1"), 6) << log();
  // Closed by two children, and on exec of two others.
  EXPECT_EQ(logged("close 1048577"), 4) << log();
  EXPECT_EQ(logged("adopt 0"), 0);
}

TEST_F(Calls, TheLibrarysOwnDescriptorsAreOutOfTheWay) {
  const Ended e = probe({"daemons"});
  EXPECT_EQ(e.code, 0) << e.error;
}

TEST_F(Calls, TheCallNamedSyscall) {
  const Ended e = probe({"calls"});
  EXPECT_EQ(e.code, 0) << e.error;
}

TEST_F(Calls, ThreadsAndSignalHandlers) {
  const Ended e = probe({"threads"});
  EXPECT_EQ(e.code, 0) << e.error;
}

TEST_F(Calls, NoMachineIsSaidOnce) {
  const Ended e =
      run_program({"/bin/sh", "-c", "cat /dev/neuron0; cat /dev/neuron1"}, environment("none"));
  EXPECT_NE(e.code, 0);
  EXPECT_NE(e.error.find("opennrt emu: nothing serves none"), std::string::npos) << e.error;
  EXPECT_NE(e.error.find("Input/output error"), std::string::npos) << e.error;
}

TEST_F(Calls, WithoutALaunchTheLibraryDoesNothing) {
  const Ended e = run_program({"/bin/cat", "/sys/module/neuron/version"},
                              {{"LD_PRELOAD", OPENNRT_FAKE_PRELOAD}});
  EXPECT_EQ(e.code, 1);
  EXPECT_NE(e.error.find("No such file"), std::string::npos) << e.error;
}

TEST_F(Calls, RealPrograms) {
  Ended e = run_program({"cat", "/sys/module/neuron/version"}, environment());
  EXPECT_EQ(e.out, "text of /sys/module/neuron/version\n") << e.error;
  e = run_program({"cat", "/dev/neuron0"}, environment());
  EXPECT_EQ(e.code, 1);
  EXPECT_NE(e.error.find("Invalid argument"), std::string::npos) << e.error;
  e = run_program({"ls", "-l", "/dev/neuron0", "/dev/neuron1"}, environment());
  EXPECT_NE(e.out.find("crw-rw-rw-"), std::string::npos) << e.out << e.error;
  e = run_program(
      {"sh", "-c", "cd /sys/class/neuron_device && ls && cat neuron1/core_count && pwd"},
      environment());
  EXPECT_EQ(e.out,
            "neuron0\nneuron1\nnode_id_2\ntext of /sys/class/neuron_device/neuron1/core_count\n"
            "/sys/class/neuron_device\n")
      << e.error;
  e = run_program({"sh", "-c", "ls -d /dev/neuron*"}, environment());
  EXPECT_EQ(e.out, "/dev/neuron0\n/dev/neuron1\n") << e.error;
  e = run_program({"bash", "-c", "echo 1 > /sys/class/neuron_device/neuron0/reset"}, environment());
  EXPECT_EQ(e.code, 0) << e.error;
  EXPECT_EQ(logged("write /sys/class/neuron_device/neuron0/reset 1"), 1) << log();
  e = run_program({"find", "/sys/class/neuron_device", "-name", "reset"}, environment());
  EXPECT_EQ(e.out, "/sys/class/neuron_device/neuron0/reset\n") << e.error;
  e = run_program({"grep", "-r", "core_count", "/sys/class/neuron_device/neuron0"}, environment());
  EXPECT_NE(e.out.find("core_count:text of"), std::string::npos) << e.out << e.error;
}

TEST_F(Calls, Python) {
  const Ended e = run_program({"python3", "-c", R"(
import fcntl, glob, mmap, os, subprocess
fd = os.open("/dev/neuron0", os.O_RDWR)
print(fcntl.ioctl(fd, 0x4E03, 11), os.path.realpath("/dev/neuron0"))
m = mmap.mmap(fd, 4096, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE)
m[0:5] = b"hello"
n = mmap.mmap(fd, 4096, mmap.MAP_SHARED, mmap.PROT_READ)
print(n[0:5], sorted(glob.glob("/dev/neuron*")), "neuron1" in os.listdir("/dev"))
m.close(); n.close(); os.close(fd)
print(open("/sys/module/neuron/version").read().strip())
print(subprocess.run(["cat", "/sys/module/neuron/version"], env={}, capture_output=True).stdout)
)"},
                              environment());
  EXPECT_EQ(e.out,
            "11 /dev/neuron0\nb'hello' ['/dev/neuron0', '/dev/neuron1'] True\n"
            "text of /sys/module/neuron/version\nb'text of /sys/module/neuron/version\\n'\n")
      << e.error;
  EXPECT_EQ(e.code, 0);
}

// The library exports the calls it must and nothing else, and needs the C library
// only.
TEST(Library, ExportsAndNeeds) {
  std::set<std::string> wanted, exported;
  std::istringstream map(contents(OPENNRT_PRELOAD_MAP));
  bool names = false;
  for (std::string word; map >> word;) {
    if (word == "global:")
      names = true;
    else if (word == "local:")
      names = false;
    else if (names)
      wanted.insert(word.substr(0, word.find(';')));
  }
  const Ended nm = run_program({"nm", "-D", "--defined-only", "-P", OPENNRT_FAKE_PRELOAD});
  std::istringstream lines(nm.out);
  for (std::string line; std::getline(lines, line);)
    exported.insert(line.substr(0, line.find(' ')));
  EXPECT_EQ(wanted, exported);
  const Ended needs = run_program({"readelf", "-d", OPENNRT_FAKE_PRELOAD});
  std::istringstream entries(needs.out);
  int libraries = 0;
  for (std::string line; std::getline(entries, line);) {
    if (line.find("(NEEDED)") == std::string::npos) continue;
    ++libraries;
    EXPECT_TRUE(line.find("[libc.so.6]") != std::string::npos ||
                line.find("[libm.so.6]") != std::string::npos ||
                line.find("[ld-linux-x86-64.so.2]") != std::string::npos)
        << line;
  }
  EXPECT_GE(libraries, 1);
}

}  // namespace
}  // namespace opennrt::emu::test
