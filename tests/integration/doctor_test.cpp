// SPDX-License-Identifier: Apache-2.0
//
// opennrt doctor on setups that are broken in one way each: the finding names it.
// Devices and driver are files below a directory of the test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace opennrt {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;

class Doctor : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/opennrt-doctor-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    fs::permissions(name, fs::perms(0755));
    directory_ = name;
    fs::create_directory(directory_ + "/tree");
  }
  void TearDown() override { fs::remove_all(directory_); }

  void write(const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(directory_ + path).parent_path());
    std::ofstream(directory_ + path, std::ios::binary) << text;
  }
  // A driver of that version with one device.
  void driver(const std::string& version) {
    write("/tree/sys/module/neuron/version", version + "\n");
  }
  void node() { write("/tree/dev/neuron0", ""); }

  // A process, of that name, that has the node open; to be ended by the caller.
  pid_t hold_node(const char* command) {
    const pid_t holder = ::fork();
    if (holder == 0) {
      const std::string path = directory_ + "/tree/dev/neuron0";
      if (std::freopen(path.c_str(), "r", stdin) != nullptr)
        execl("/bin/sleep", command, "60", nullptr);
      _exit(1);
    }
    // The descriptor is there before the other program is.
    const auto name = [&] {
      std::ifstream file("/proc/" + std::to_string(holder) + "/comm");
      std::string text;
      std::getline(file, text);
      return text;
    };
    for (int i = 0; i < 10000 && name() != "sleep"; ++i) ::usleep(1000);
    return holder;
  }

  // before: words in front of the command, "NAME=value" or programs. Returns the exit code.
  int run(const std::string& options = "", const std::string& before = "",
          const std::string& shell = "") {
    const std::string line =
        shell + " cd " + directory_ +
        "; env -u LD_LIBRARY_PATH -u LD_PRELOAD -u OPENNRT_CONFIG -u OPENNRT_DEVICE -u TMPDIR "
        "-u OPENNRT_CORPUS OPENNRT_EMULATOR_HBM_BYTES=256M OPENNRT_TEST_ROOT=" +
        directory_ + "/tree " + before + " '" OPENNRT_DOCTOR "' " + options + " >" + directory_ +
        "/out 2>" + directory_ + "/err";
    const int status = std::system(("(" + line + ")").c_str());
    out_ = contents("/out");
    errors_ = contents("/err");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  // The finding of a check: object, what, fix.
  void expect(const std::string& check, const std::string& where, const std::string& what,
              const std::string& fix) {
    EXPECT_EQ(errors_, "");
    const std::string begin = "\n" + check + std::string(12 - check.size(), ' ') + where + ": ";
    const std::string text = "\n" + out_;
    const std::size_t at = text.find(begin);
    ASSERT_NE(at, std::string::npos) << begin << out_;
    const std::size_t end = text.find('\n', text.find('\n', at + 1) + 1);
    EXPECT_THAT(text.substr(at, end - at),
                AllOf(HasSubstr(what), HasSubstr("fix: "), HasSubstr(fix)));
  }
  std::string contents(const std::string& file) const {
    std::ifstream in(directory_ + file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string directory_, out_, errors_;
};

constexpr char kVendorDirectory[] = OPENNRT_DROP_IN_DIR "/vendor";
const std::string kPrograms = OPENNRT_DROP_IN_DIR "/";

TEST_F(Doctor, HealthySetupsHaveNoFinding) {
  EXPECT_EQ(run(), 0);
  EXPECT_THAT(out_, ContainsRegex("^no findings \\(1[0-9] checks\\)\n$"));
  EXPECT_EQ(run("--json"), 0);
  EXPECT_EQ(out_, "[\n]\n");
  driver("2.27.4.0");
  node();
  EXPECT_EQ(run(), 0) << out_;
  EXPECT_EQ(run("-- " + kPrograms + "ours"), 0) << out_;
  EXPECT_EQ(run("-- /bin/ls", "LD_LIBRARY_PATH=" OPENNRT_LIB_DIR), 0) << out_;
  // Nor has a copy of the library.
  fs::create_directory(directory_ + "/copy");
  fs::copy_file(OPENNRT_LIB_DIR "/libnrt.so.1", directory_ + "/copy/libnrt.so.1");
  EXPECT_EQ(run("-- /bin/ls", "LD_LIBRARY_PATH=" + directory_ + "/copy"), 0) << out_;
}

TEST_F(Doctor, OnTheDevicesOfTheSystem) {
  const std::string emu = "env -u OPENNRT_TEST_ROOT '" OPENNRT_EMU "' --hbm-bytes 256M -- ";
  EXPECT_EQ(run("", emu + "env OPENNRT_DEVICE=kernel"), 0) << out_ << errors_;
  EXPECT_THAT(out_, HasSubstr("no findings"));
  EXPECT_EQ(run("", emu + "env OPENNRT_DEVICE=kernel NEURON_RT_VISIBLE_CORES=8"), 1);
  EXPECT_THAT(out_, AllOf(HasSubstr("start "), HasSubstr("core 8 is on /dev/neuron")));
}

TEST_F(Doctor, ContainerWithoutNodes) {
  driver("2.27.4.0");
  EXPECT_EQ(run(), 1);
  expect("nodes", "/dev/neuron0", "no device node here; programs run on the software device",
         "docker run --device /dev/neuron0");
}

TEST_F(Doctor, DriverNotLoaded) {
  EXPECT_EQ(run("", "OPENNRT_DEVICE=kernel"), 1);
  expect("driver", "/sys/module/neuron", "the driver is not loaded", "modprobe neuron");
}

TEST_F(Doctor, HardwareWithoutDriver) {
  write("/tree/sys/bus/pci/devices/0000:00:1e.0/vendor", "0x1d0f\n");
  write("/tree/sys/bus/pci/devices/0000:00:1e.0/device", "0x7164\n");
  EXPECT_EQ(run(), 1);
  expect("driver", "/sys/module/neuron", "Trainium1 at PCI 0000:00:1e.0, but its driver",
         "modprobe neuron");
}

TEST_F(Doctor, NodeWithoutPermission) {
  driver("2.27.4.0");
  node();
  fs::permissions(directory_ + "/tree/dev/neuron0", fs::perms(0600));
  std::string as_other;
  if (::geteuid() == 0) {
    as_other = "setpriv --reuid=65534 --regid=65534 --clear-groups";
  } else {
    fs::permissions(directory_ + "/tree/dev/neuron0", fs::perms(0));
  }
  EXPECT_EQ(run("", as_other), 1);
  expect("nodes", "/dev/neuron0", "Permission denied: mode 0", "add the user to group ");
}

TEST_F(Doctor, NodeIsADirectory) {
  driver("2.27.4.0");
  fs::create_directories(directory_ + "/tree/dev/neuron0");
  EXPECT_EQ(run(), 1);
  expect("nodes", "/dev/neuron0", "is a directory: the host has no such device", "start the");
}

TEST_F(Doctor, SystemFilesHidden) {
  node();
  EXPECT_EQ(run(), 1);
  expect("driver", "/sys/module/neuron", "the driver is not loaded or /sys is hidden",
         "mount /sys read-only");
}

TEST_F(Doctor, DriverVersions) {
  node();
  const std::string file = "/sys/module/neuron/version";
  driver("2.10.0.0");
  EXPECT_EQ(run(), 1);
  expect("driver", file, "driver 2.10.0.0 is older than 2.19.64.0", "install a newer driver");
  driver("2.20.28.0");
  EXPECT_EQ(run(), 0) << out_;
  EXPECT_EQ(run("", "OPENNRT_NDL=kernel"), 1);
  expect("driver", "OPENNRT_NDL (ndl)", "needs driver 2.24.7.0; this one is 2.20.28.0",
         "set ndl: auto");
  driver("99999999999999999999999.1.0.0");
  EXPECT_EQ(run(), 0) << out_;
  driver("unknown");
  EXPECT_EQ(run(), 1);
  expect("driver", file, "says \"unknown\", which is no version", "install the driver");
  driver("");
  EXPECT_EQ(run(), 1);
  expect("driver", file, "version cannot be read", "make /sys readable");
}

TEST_F(Doctor, AnotherLibraryFirst) {
  EXPECT_EQ(run("", std::string("LD_LIBRARY_PATH=") + kVendorDirectory), 1);
  expect("library", "LD_LIBRARY_PATH",
         std::string("another libnrt comes first: ") + kVendorDirectory +
             "/libnrt.so.1 (offers NRT_2.0.0, NRT_3.0.0, NRT_9.0.0)",
         "opennrt exec -- PROGRAM");
  EXPECT_EQ(run("", std::string("LD_PRELOAD=") + kVendorDirectory + "/libnrt.so.1"), 1);
  expect("library", "LD_PRELOAD", "puts another libnrt first", "unset LD_PRELOAD");
}

TEST_F(Doctor, TrapsOfAProgram) {
  const auto trapped = [&](const char* name, const std::string& what) {
    EXPECT_EQ(run("-- " + kPrograms + name), 1) << name;
    this->expect("program", kPrograms + name, what, "opennrt exec -- " + kPrograms + name);
  };
  trapped("rpath", "its RPATH names " + std::string(kVendorDirectory) +
                       ", which is searched before LD_LIBRARY_PATH");
  trapped("runpath", "its RUNPATH names " + std::string(kVendorDirectory));
  trapped("absolute", "it was linked with that path");
  trapped("plain", "needs libnrt.so.1, which is not found: not in LD_LIBRARY_PATH");
  trapped("opens_path", "names " + std::string(kVendorDirectory) +
                            "/libnrt.so.1, which LD_LIBRARY_PATH and LD_PRELOAD do not change");
  trapped("opens_1", "opening libnrt.so.1 by its name finds nothing");
  EXPECT_EQ(run("-- " + kPrograms + "needs_9", "LD_LIBRARY_PATH=" OPENNRT_LIB_DIR), 1);
  expect("program", kPrograms + "needs_9", "needs version NRT_9.0.0 of libnrt.so.1",
         "install a release");
  EXPECT_EQ(run("-- " + kPrograms + "drop_in_static"), 1);
  expect("program", kPrograms + "drop_in_static", "linked statically", "link it dynamically");
  trapped("opens_here", "names ./libnrt.so.1, which LD_LIBRARY_PATH");
  // What is no program at all.
  EXPECT_EQ(run("-- ./tree"), 1);
  expect("program", "./tree", "is a directory", "name the file of a program");
  write("/text", "words\n");
  EXPECT_EQ(run("-- ./text"), 1);
  expect("program", "./text", "is not executable", "chmod +x ./text");
  write("/data", std::string("\1\0\2", 3));
  fs::permissions(directory_ + "/data", fs::perms(0755));
  EXPECT_EQ(run("-- ./data"), 1);
  expect("program", "./data", "is neither a program nor a script", "name a program");
  ASSERT_EQ(mkfifo((directory_ + "/fifo").c_str(), 0755), 0);
  EXPECT_EQ(run("-- ./fifo"), 1);
  expect("program", "./fifo", "is no regular file", "name the file of a program");
  EXPECT_EQ(run("-- no-such-program"), 1);
  expect("program", "no-such-program", "not found on PATH", "name its path");
}

TEST_F(Doctor, SettingsAndVariables) {
  write("/nrt.yaml", "exec: {timeout: 5}\nemulator: {devices: 40}\n");
  EXPECT_EQ(run("", "OPENNRT_CONFIG=nrt.yaml"), 1);
  expect("settings", "nrt.yaml:1", "unknown key exec.timeout; did you mean exec.timeout_s?",
         "it has no effect");
  expect("settings", "nrt.yaml:2", "emulator.devices='40': must be 1 to 32", "nrt_init refuses it");
  EXPECT_EQ(run("", "OPENNRT_DEVCE=kernel"), 1);
  expect("settings", "OPENNRT_DEVCE", "no such setting, ignored; did you mean OPENNRT_DEVICE?",
         "correct");
  EXPECT_EQ(run("", "NEURON_RT_VISIBLE_CORE=0"), 1);
  expect("variables", "NEURON_RT_VISIBLE_CORE", "no variable of this runtime",
         "did you mean NEURON_RT_VISIBLE_CORES?");
  EXPECT_EQ(run("", "NEURON_RT_VISIBLE_CORES="), 1);
  expect("variables", "NEURON_RT_VISIBLE_CORES", "set and empty", "unset it");
  EXPECT_EQ(run("", "OPENNRT_CONFIG=/nonexistent.yaml"), 1);
  expect("settings", "/nonexistent.yaml", "No such file or directory", "correct it");
  EXPECT_EQ(run("", "OPENNRT_EMULATOR_PRODUCT=trn9.large"), 1);
  expect("settings", "OPENNRT_EMULATOR_PRODUCT (emulator.product)", "trn9.large", "name a product");
  EXPECT_EQ(run("", "OPENNRT_DEVICE=emulater"), 1);
  expect("settings", "OPENNRT_DEVICE (device)", "no port plugin 'emulater'", "auto, kernel");
}

TEST_F(Doctor, Plugins) {
  write("/plugins/bad.plugin.yaml",
        "kind: arch\nname: bad\narch_type: 9\nlibrary: bad.so\nabi: 1.0\nversion: 1\n");
  write("/plugins/bad.so", "no library");
  EXPECT_EQ(run("", "OPENNRT_PLUGIN_PATH=" + directory_ + "/plugins"), 1);
  expect("plugins", directory_ + "/plugins/bad.plugin.yaml",
         "plugin refused: ", "install its package");
  // What the settings say is not said again.
  EXPECT_EQ(run("", "OPENNRT_PLUGIN_PATH=/gone"), 1);
  expect("settings", "OPENNRT_PLUGIN_PATH (plugins.path)", "plugin directory /gone does not exist",
         "correct or remove it");
  EXPECT_THAT(out_, HasSubstr("\n1 finding\n"));
  write("/no_arch.yaml", "plugins: {disable: [sunda, cayman, mariana]}\n");
  EXPECT_EQ(run("", "OPENNRT_CONFIG=no_arch.yaml"), 1);
  expect("plugins", "plugins", "no arch plugin is installed and usable",
         "install opennrt-plugin-sunda");
  write("/no_device.yaml", "plugins: {disable: [emulator]}\n");
  EXPECT_EQ(run("", "OPENNRT_CONFIG=no_device.yaml"), 1);
  expect("plugins", "plugins", "no software device is installed", "install opennrt-emulator");
  write("/no_ndl.yaml", "plugins: {disable: ['ndl-*']}\n");
  EXPECT_EQ(run("", "OPENNRT_CONFIG=no_ndl.yaml"), 1);
  expect("plugins", "plugins", "no driver layer is installed", "install opennrt-ndl");
}

TEST_F(Doctor, Limits) {
  EXPECT_EQ(run("", "", "ulimit -Sn 64;"), 1);
  expect("limits", "ulimit -n", "the limit of open files is 64, needed are 264", "ulimit -n 264,");
  EXPECT_EQ(run("", "", "ulimit -Sn 64; ulimit -n 264;"), 0) << out_;  // the fix works
  EXPECT_EQ(run("", "", "ulimit -f 100;"), 1);
  expect("limits", "ulimit -f", "needed are 268435456", "hard limit");
}

TEST_F(Doctor, PlacesThatCannotBeWrittenTo) {
  write("/file", "");
  write("/nrt.yaml",
        "log: {file: file/run.log}\ninspect: {enable: 1, output_dir: file/out}\n"
        "failure: {dump_inputs_on: 1, input_dump_dir: /proc/x}\n");
  EXPECT_EQ(run("", "OPENNRT_CONFIG=nrt.yaml"), 1);
  expect("directories", "nrt.yaml:1 (log.file)", "file is no directory", "may write to");
  expect("directories", "nrt.yaml:2 (inspect.output_dir)", "Not a directory", "may write to");
  EXPECT_EQ(run("", "TMPDIR=" + directory_ + "/file"), 1);
  expect("directories", "TMPDIR", "no temporary files", "writable directory");
}

TEST_F(Doctor, Models) {
  ASSERT_EQ(std::system(("'" OPENNRT_NEFF_TOOL "' build '" OPENNRT_EXAMPLE "' " + directory_ +
                         "/good.neff >/dev/null")
                            .c_str()),
            0);
  EXPECT_EQ(run("--neff good.neff"), 0) << out_;
  const std::string whole = contents("/good.neff");
  write("/cache/a/empty.neff", "");
  write("/cache/b/cut.neff", whole.substr(0, whole.size() / 2));
  std::string changed = whole;
  changed[changed.size() / 2] ^= 1;
  write("/cache/c/changed.neff", changed);
  write("/cache/d/good.neff", whole);
  EXPECT_EQ(run("--neff cache"), 1);
  expect("models", "cache/a/empty.neff", "the file is empty", "remove it");
  expect("models", "cache/b/cut.neff", "", "remove it");
  expect("models", "cache/c/changed.neff", "", "remove it");
  EXPECT_EQ(out_.find("good.neff"), std::string::npos);
  EXPECT_EQ(run("--neff=good.neff", "OPENNRT_EMULATOR_PRODUCT=trn2.48xlarge"), 1);
  expect("models", "good.neff", "compiled for sunda, but the device here is cayman",
         "set OPENNRT_EMULATOR_PRODUCT=");
  EXPECT_EQ(run("--neff nothing.neff"), 1);
  expect("models", "nothing.neff", "no such file or directory", "name a model");
  fs::create_directory(directory_ + "/none");
  EXPECT_EQ(run("--neff none"), 1);
  expect("models", "none", "holds no .neff file", "name the directory");
}

TEST_F(Doctor, ModelsThatAreNoFiles) {
  fs::create_directory(directory_ + "/cache");
  ASSERT_EQ(mkfifo((directory_ + "/cache/fifo.neff").c_str(), 0644), 0);
  fs::create_symlink("/dev/zero", directory_ + "/cache/zero.neff");
  write("/cache/large.neff", "");
  ASSERT_EQ(truncate((directory_ + "/cache/large.neff").c_str(), off_t{1} << 41), 0);
  EXPECT_EQ(run("--neff cache", "", "ulimit -Sv 4000000;"), 1);
  expect("models", "cache/fifo.neff", "is a pipe", "leave it out");
  expect("models", "cache/zero.neff", "is a device", "leave it out");
  expect("models", "cache/large.neff", "this is not a NEFF file", "remove it");
}

TEST_F(Doctor, ModelsBesideWhatCannotBeRead) {
  write("/cache/a/cut.neff", "x");
  write("/cache/b/cut.neff", "x");
  write("/cache/c/cut.neff", "x");
  fs::permissions(directory_ + "/cache/b", fs::perms(0));
  fs::permissions(directory_ + "/cache/c/cut.neff", fs::perms(0));
  const bool root = ::geteuid() == 0;
  fs::permissions(directory_, fs::perms(0777));
  EXPECT_EQ(run("--neff cache", root ? "setpriv --reuid=65534 --regid=65534 --clear-groups" : ""),
            1);
  fs::permissions(directory_ + "/cache/b", fs::perms(0755));
  expect("models", "cache/b", "Permission denied", "make that directory readable");
  expect("models", "cache/c/cut.neff", "Permission denied", "make it readable");
  expect("models", "cache/a/cut.neff", "less than the header", "remove it");
}

TEST_F(Doctor, WhatReplayAnswersFrom) {
  EXPECT_EQ(run("", "OPENNRT_DEVICE=replay"), 1);
  expect("recording", "OPENNRT_DEVICE (device)", "none is named", "OPENNRT_REPLAY_FILE");
  const std::string file = "OPENNRT_REPLAY_FILE (replay.file)";
  EXPECT_EQ(run("", "OPENNRT_DEVICE=replay OPENNRT_REPLAY_FILE=none.trace"), 1);
  expect("recording", file, "none.trace: No such file or directory", "OPENNRT_NDL_RECORD");
  write("/bad.trace", "no recording\n");
  EXPECT_EQ(run("", "OPENNRT_DEVICE=replay OPENNRT_REPLAY_FILE=bad.trace"), 1);
  expect("recording", file, "bad.trace", "OPENNRT_NDL_RECORD");
  ASSERT_EQ(truncate((directory_ + "/bad.trace").c_str(), off_t{1} << 41), 0);
  EXPECT_EQ(run("", "OPENNRT_DEVICE=replay OPENNRT_REPLAY_FILE=bad.trace", "ulimit -Sv 4000000;"),
            1);
  expect("recording", file, "is no port trace", "OPENNRT_NDL_RECORD");
  ASSERT_EQ(mkfifo((directory_ + "/fifo").c_str(), 0644), 0);
  EXPECT_EQ(run("", "OPENNRT_DEVICE=replay OPENNRT_REPLAY_FILE=fifo"), 1);
  expect("recording", file, "fifo: ", "OPENNRT_NDL_RECORD");
}

TEST_F(Doctor, WhoHasTheDevice) {
  driver("2.27.4.0");
  node();
  const pid_t holder = hold_node("sleep");
  ::kill(holder, SIGSTOP);
  int status = 0;
  ASSERT_EQ(::waitpid(holder, &status, WUNTRACED), holder);
  EXPECT_EQ(run(), 1);
  const std::string pid = std::to_string(holder);
  expect("holders", "/dev/neuron0", "it is open in pid " + pid + " (sleep), stopped, running for ",
         "kill " + pid + "; kill -CONT " + pid);
  // The remedy works.
  ::kill(holder, SIGTERM);
  ::kill(holder, SIGCONT);
  ASSERT_EQ(::waitpid(holder, &status, 0), holder);
  EXPECT_TRUE(WIFSIGNALED(status));
}

// A terminal gets no control characters of another process's command line.
TEST_F(Doctor, WordsOfOthersAreShownWithoutControlCharacters) {
  driver("2.27.4.0");
  node();
  const pid_t holder = hold_node("sl\x9b\xff\x1b]e\np");
  EXPECT_EQ(run(), 1);
  expect("holders", "/dev/neuron0", "(sl???]e?p)", "kill ");
  EXPECT_EQ(run("--json"), 1);
  EXPECT_THAT(out_, HasSubstr("(sl???]e?p)"));
  ::kill(holder, SIGKILL);
  ::waitpid(holder, nullptr, 0);
}

TEST_F(Doctor, SocketOfTheSharedDevice) {
  const std::string machine =
      "OPENNRT_EMULATOR_SCOPE=machine OPENNRT_EMULATOR_SOCKET=" + directory_ + "/s/emud.sock";
  EXPECT_EQ(run("", machine), 0) << out_;
  EXPECT_FALSE(fs::exists(directory_ + "/s"));  // nothing was started or made
  fs::create_directory(directory_ + "/s");
  fs::permissions(directory_ + "/s", fs::perms(0777));
  EXPECT_EQ(run("", machine), 1);
  expect("daemon", directory_ + "/s", "is not this user's alone", "chmod 0700");
  if (::geteuid() != 0) GTEST_SKIP() << "only root can be another user";
  // Of root, with a device that others cannot reach, or cannot start.
  const std::string as_other = machine + " setpriv --reuid=65534 --regid=65534 --clear-groups";
  fs::permissions(directory_ + "/s", fs::perms(0700));
  EXPECT_EQ(run("", as_other), 1);
  expect("daemon", directory_ + "/s", "is another user's: Permission denied", "emulator.socket");
  fs::permissions(directory_ + "/s", fs::perms(0755));
  EXPECT_EQ(run("", as_other), 1);
  expect("daemon", directory_ + "/s", "cannot be started", "emulator.socket");
}

TEST_F(Doctor, SettingsThatTheSharedDeviceRefuses) {
  const std::string machine = "OPENNRT_EMULATOR_SCOPE=machine OPENNRT_EMULATOR_SOCKET=";
  const std::string variable = "OPENNRT_EMULATOR_SOCKET (emulator.socket)";
  EXPECT_EQ(run("", machine + "/tmp/" + std::string(120, 'x')), 1);
  expect("daemon", variable, "has 125 characters", "at most 107 characters");
  EXPECT_EQ(run("", machine + "emud.sock"), 1);
  expect("daemon", variable, "is no absolute path", "a whole path");
  write("/s/emud.sock", "");
  fs::permissions(directory_ + "/s", fs::perms(0700));
  EXPECT_EQ(run("", machine + directory_ + "/s/emud.sock"), 1);
  expect("daemon", directory_ + "/s/emud.sock", "is no socket", "remove it");
  EXPECT_EQ(run("", machine + directory_ + "/s/other.sock OPENNRT_EMULATOR_FAULTS=nonsense"), 1);
  expect("daemon", "software device", "emulator.faults: expected", "correct that setting");
}

// Answers the first message of a client with a refusal, as a daemon of another
// release does.
TEST_F(Doctor, DaemonOfAnotherRelease) {
  fs::create_directory(directory_ + "/s");
  fs::permissions(directory_ + "/s", fs::perms(0700));
  const std::string socket = directory_ + "/s/emud.sock";
  const int listener = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, socket.c_str(), sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener, 4), 0);
  std::thread server([listener] {
    char buffer[65536];
    const int client = ::accept(listener, nullptr, nullptr);
    if (client < 0) return;
    if (::recv(client, buffer, sizeof buffer, 0) > 0) {
      const char text[] = "opennrt-emud is OpenNRT 0.0.9, this process 0.1.0";
      char message[48 + sizeof text] = {};
      const std::uint32_t refused = 101, bytes = sizeof text - 1;
      std::memcpy(message, &refused, 4);
      std::memcpy(message + 4, &bytes, 4);
      std::memcpy(message + 48, text, bytes);
      ::send(client, message, 48 + bytes, MSG_NOSIGNAL);
    }
    ::close(client);
  });
  EXPECT_EQ(run("", "OPENNRT_EMULATOR_SCOPE=machine OPENNRT_EMULATOR_SOCKET=" + socket), 1);
  ::shutdown(listener, SHUT_RDWR);
  server.join();
  ::close(listener);
  expect("daemon", socket, "opennrt-emud is OpenNRT 0.0.9", "end that opennrt-emud");
}

TEST_F(Doctor, Usage) {
  EXPECT_EQ(run("--help"), 0);
  EXPECT_THAT(out_, HasSubstr("usage: opennrt doctor"));
  EXPECT_EQ(run("--nonsense"), 2);
  EXPECT_EQ(run("program"), 2);
  EXPECT_EQ(run("--"), 2);
  EXPECT_THAT(errors_, HasSubstr("behind --"));
  EXPECT_EQ(run("--json", "OPENNRT_DEVICE=kernel"), 1);
  EXPECT_THAT(
      out_, ContainsRegex("^\\[\n \\{\"check\": \"driver\", \"where\": "
                          "\"/sys/module/neuron\", \"what\": \".*\", \"fix\": \".*\"\\}\n\\]\n$"));
}

}  // namespace
}  // namespace opennrt
