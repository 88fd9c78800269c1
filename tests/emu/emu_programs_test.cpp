// SPDX-License-Identifier: Apache-2.0
//
// Programs of the system, Python and our own runtime under `opennrt emu`.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "run_program.h"

namespace opennrt::emu::test {
namespace {

const std::string kBin = OPENNRT_BIN;

// Words before "--" are options of opennrt emu.
Ended emu(const std::vector<std::string>& words,
          const std::vector<std::pair<std::string, std::string>>& environment = {}) {
  std::vector<std::string> all = {kBin + "/opennrt", "emu"};
  all.insert(all.end(), words.begin(), words.end());
  return run_program(all, environment);
}

TEST(EmuPrograms, Tools) {
  Ended e = emu({"--", "cat", "/sys/module/neuron/version"});
  EXPECT_EQ(e.out, "2.27.4.0\n") << e.error;
  EXPECT_EQ(e.code, 0);
  e = emu({"--driver-version", "2.24.7.0", "--", "cat", "/sys/module/neuron/version"});
  EXPECT_EQ(e.out, "2.24.7.0\n") << e.error;
  e = emu(
      {"--product", "trn1.32xlarge", "--devices=16", "--", "sh", "-c", "ls /dev/neuron* | wc -l"});
  EXPECT_EQ(e.out, "16\n") << e.error;
  e = emu({"--", "stat", "-c", "%F %t %T %a", "/dev/neuron0"});
  EXPECT_EQ(e.out, "character special file f5 0 666\n") << e.error;
  e = emu({"--", "cat", "/dev/neuron0"});
  EXPECT_EQ(e.code, 1);
  EXPECT_NE(e.error.find("Invalid argument"), std::string::npos) << e.error;
  e = emu({"--", "cat", "/sys/class/neuron_device/neuron0/info/architecture/device_name"});
  EXPECT_EQ(e.out, "Trainium1\n") << e.error;
  e = emu({"--", "sh", "-c",
           "echo 1 > /sys/class/neuron_device/neuron0/reset && cat "
           "/sys/class/neuron_device/neuron0/reset"});
  EXPECT_EQ(e.code, 0) << e.error;
  // These look at a name and at what they opened, and at extended attributes.
  e = emu({"--", "sh", "-c",
           "d=$(mktemp -d) && cp -a /sys/module/neuron/version $d/v && cat $d/v && rm -r $d && "
           "ls -l /dev/neuron0 >&2"});
  EXPECT_EQ(e.code, 0) << e.error;
  EXPECT_EQ(e.out, "2.27.4.0\n") << e.error;
  EXPECT_EQ(e.error.find("No such file"), std::string::npos) << e.error;
}

TEST(EmuPrograms, PythonIoctlAndMmap) {
  const Ended e = emu({"--product", "trn1.2xlarge", "--", "python3", "-c", R"(
import fcntl, mmap, os, struct, ctypes
fd = os.open("/dev/neuron0", os.O_RDWR)
libc = ctypes.CDLL(None, use_errno=True)
for round in range(50):  # what works leaves errno alone
    version = (ctypes.c_uint32 * 2)()
    ctypes.set_errno(0)
    assert libc.ioctl(fd, ctypes.c_ulong(0x40084E5D), version) == 0 and ctypes.get_errno() == 0
handle = ctypes.c_uint64(0)
form = bytearray(struct.pack("<QQIIIIIxxxxQIxxxx", 65536, 0, 1, 0, 0, 0, 2, ctypes.addressof(handle), 0))
assert fcntl.ioctl(fd, 0x80384E66, form) == 0
address = ctypes.c_uint64(0)
where = bytearray(struct.pack("<QQ", handle.value, ctypes.addressof(address)))
box = (ctypes.c_char * len(where)).from_buffer(where)
assert fcntl.ioctl(fd, 0x80084E19, where) == 0
m = mmap.mmap(fd, 65536, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE, offset=address.value)
m[100:105] = b"hello"
out = ctypes.create_string_buffer(5)
copy = bytearray(struct.pack("<QQQQIxxxx", handle.value, ctypes.addressof(out), 5, 100, 0))
assert fcntl.ioctl(fd, 0xC0284E18, copy) == 0
print(handle.value, out.raw)
try:
    fcntl.ioctl(fd, 0x80084E16, struct.pack("<Q", 99))
except OSError as e:
    print(e.errno)
m.close()
os.close(fd)
)"});
  EXPECT_EQ(e.out, "1 b'hello'\n22\n") << e.error;
  EXPECT_EQ(e.code, 0);
}

// Our own runtime with the kernel's port: the whole stack over device files.
TEST(EmuPrograms, TheRuntimeOverDeviceFiles) {
  const std::string model = std::string(OPENNRT_EXAMPLES) + "/vecadd.neff";
  const Directory directory;
  const Ended e =
      emu({"--product", "trn1.2xlarge", "--", kBin + "/opennrt", "run", model, "--device", "kernel",
           "--fill", "ones", "-n", "3", "--raw", "--output-dir", directory / "out"},
          {{"OPENNRT_DEVICE", "kernel"}});
  EXPECT_EQ(e.code, 0) << e.out << e.error;
  const std::string bytes = contents(directory / "out/out.bin");
  ASSERT_EQ(bytes.size(), 1024000u);
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(float)) {
    float sum = 0;
    std::memcpy(&sum, bytes.data() + i, sizeof sum);
    ASSERT_EQ(sum, 2.0f) << i;
  }
}

TEST(EmuPrograms, RefusedWithTheReason) {
  const std::string fixed = kBin + "/tests/emulator_launcher_static";
  Ended e = emu({"--", fixed, "open", "/dev/null"});
  EXPECT_EQ(e.code, 126);
  EXPECT_NE(e.error.find("linked statically"), std::string::npos) << e.error;
  e = emu({"--", "no-such-program-at-all"});
  EXPECT_EQ(e.code, 127);
  EXPECT_NE(e.error.find("not found"), std::string::npos) << e.error;
  e = emu({"--devices", "1000", "--", "true"});
  EXPECT_EQ(e.code, 125);
  EXPECT_NE(e.error.find("1000"), std::string::npos) << e.error;
  e = emu({"--product", "none", "--", "true"});
  EXPECT_EQ(e.code, 125);
  EXPECT_NE(e.error.find("none"), std::string::npos) << e.error;
  EXPECT_EQ(emu({"--nothing", "--", "true"}).code, 2);
  EXPECT_EQ(emu({}).code, 2);
  e = emu({"--help"});
  EXPECT_EQ(e.code, 0);
  EXPECT_TRUE(e.out.starts_with("usage: opennrt emu"));
}

// What goes past the library is ended, whoever started it.
TEST(EmuPrograms, GuardedChildren) {
  const std::string tests = kBin + "/tests/";
  Ended e = emu({"--", "sh", "-c", tests + "emulator_launcher_static open /dev/neuron0; echo $?"});
  EXPECT_EQ(e.out, "137\n");
  EXPECT_NE(e.error.find("linked statically"), std::string::npos) << e.error;
  e = emu({"--", tests + "emulator_launcher_direct", "open", "/dev/neuron0"});
  EXPECT_EQ(e.code, 126);
  // Opened through the library, used past it.
  e = emu({"--", tests + "emulator_launcher_direct", "ioctl", "/dev/neuron0"});
  EXPECT_EQ(e.code, 126);
  EXPECT_NE(e.error.find("calls ioctl on /dev/neuron0"), std::string::npos) << e.error;
  e = emu({"--", "/sbin/ldconfig", "--version"});
  EXPECT_EQ(e.code, 126);
  // A static helper that has no business with devices runs.
  e = emu({"--", "sh", "-c", tests + "emulator_launcher_static open /dev/null"});
  EXPECT_EQ(e.out, "0\n") << e.error;
}

TEST(EmuPrograms, OneInsideAnother) {
  const Ended e = emu(
      {"--product", "trn1.32xlarge", "--devices", "2", "--", kBin + "/opennrt", "emu", "--product",
       "trn1.32xlarge", "--devices", "4", "--", "sh", "-c",
       "ls /dev/neuron* | wc -l; " + kBin + "/tests/emulator_launcher_direct open /dev/neuron0"});
  EXPECT_EQ(e.out, "4\n") << e.error;
  EXPECT_EQ(e.code, 137) << e.error;
}

TEST(EmuPrograms, ExitCodesAndSignals) {
  EXPECT_EQ(emu({"--", "sh", "-c", "exit 42"}).code, 42);
  EXPECT_EQ(emu({"--", "sh", "-c", "kill -SEGV $$"}).code, 128 + SIGSEGV);
}

// Nothing is left of a launch: no process, no directory.
TEST(EmuPrograms, NothingIsLeft) {
  const Directory directory;
  const std::string log = directory / "machine.log";
  const Ended e = emu({"--log", log, "--", "sh", "-c", "echo $OPENNRT_EMU_SOCKET"},
                      {{"TMPDIR", directory.path()}});
  EXPECT_EQ(e.code, 0) << e.error;
  EXPECT_TRUE(e.out.starts_with(directory.path())) << e.out;
  int others = 0;
  for (const auto& entry : std::filesystem::directory_iterator(directory.path()))
    others += entry.path() != log;
  EXPECT_EQ(others, 0);
  EXPECT_TRUE(std::filesystem::exists(log));
  const Ended daemons = run_program({"pgrep", "-f", directory.path() + "/opennrt-emu"});
  EXPECT_EQ(daemons.out, "");
}

// A daemon that a program leaves behind keeps its machine.
TEST(EmuPrograms, WhatGoesOnKeepsItsMachine) {
  const Directory directory;
  const std::string result = directory / "result";
  const Ended e = emu({"--", "sh", "-c",
                       "(sleep 1; cat /sys/module/neuron/version > " + result + ".new; mv " +
                           result + ".new " + result + ") > /dev/null 2>&1 & exit 3"},
                      {{"TMPDIR", directory.path()}});
  EXPECT_EQ(e.code, 3) << e.error;
  for (int i = 0; i < 4000 && !std::filesystem::exists(result); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(contents(result), "2.27.4.0\n");
  // Then all of it goes.
  bool left = true;
  for (int i = 0; i < 4000 && left; ++i) {
    left = false;
    for (const auto& entry : std::filesystem::directory_iterator(directory.path()))
      left = left || entry.path().filename().string().starts_with("opennrt-emu-");
    if (left) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_FALSE(left);
}

// Two launches share the user's machine only when told to.
TEST(EmuPrograms, SharedMachine) {
  const Directory runtime;
  ASSERT_EQ(::chmod(runtime.path().c_str(), 0700), 0);
  const std::vector<std::pair<std::string, std::string>> environment = {
      {"XDG_RUNTIME_DIR", runtime.path()}};
  const std::string second = kBin + "/opennrt emu --shared -- sh -c 'echo $OPENNRT_EMU_SOCKET'";
  const Ended e =
      emu({"--shared", "--", "sh", "-c", "echo $OPENNRT_EMU_SOCKET; " + second}, environment);
  const std::string socket = runtime / "opennrt/emud.sock";
  EXPECT_EQ(e.out, socket + "\n" + socket + "\n") << e.error;
}

}  // namespace
}  // namespace opennrt::emu::test
