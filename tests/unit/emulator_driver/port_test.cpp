// SPDX-License-Identifier: Apache-2.0
//
// The port as a host sees it: configuration, attach, fork.
#include "port.h"

#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>

#include "harness.h"
#include "port_config.h"

namespace opennrt::emu::test {
namespace {

// Host services with a configuration of their own.
struct TestHost {
  std::map<std::string, std::string> settings{{"emulator.hbm_bytes", "1G"}};
  std::vector<std::string> errors;
  nrtp_host table{};

  TestHost() {
    table.size = sizeof table;
    table.self = this;
    table.log = [](void* self, std::uint32_t level, const char*, const char* text) {
      if (level == NRTP_LOG_ERROR) static_cast<TestHost*>(self)->errors.emplace_back(text);
    };
    table.config_get = [](void* self, const char* key, char* out, std::size_t n) -> int {
      const auto& known = static_cast<TestHost*>(self)->settings;
      const auto it = known.find(key);
      if (it == known.end()) return NRTP_INVALID;
      std::snprintf(out, n, "%s", it->second.c_str());
      return NRTP_OK;
    };
    table.now_ns = [](void*) -> std::uint64_t {
      timespec t{};
      clock_gettime(CLOCK_MONOTONIC, &t);
      return static_cast<std::uint64_t>(t.tv_sec) * 1000000000u +
             static_cast<std::uint64_t>(t.tv_nsec);
    };
    table.arch = [](void*, std::uint32_t) -> const nrtp_arch_plugin* {
      return nrtp_arch_query(1, 0);
    };
    table.arch_of_product = [](void*, const char* name) -> const nrtp_arch_plugin* {
      return product(name) ? nrtp_arch_query(1, 0) : nullptr;
    };
  }
};

struct Attached {
  explicit Attached(TestHost& host) { result = port->attach(&host.table, &ctx); }
  ~Attached() {
    if (result == 0) port->detach(ctx);
  }
  const nrtp_sys_port* port = port_table(NRTP_ABI_MAJOR);
  void* ctx = nullptr;
  int result = 0;
};

std::string read_file(const Attached& a, const char* path) {
  char text[128];
  const std::int64_t n = a.port->read_text(a.ctx, path, text, sizeof text);
  return n < 0 ? std::to_string(n) : std::string(text, static_cast<std::size_t>(n));
}

TEST(Port, TableIsComplete) {
  EXPECT_EQ(port_table(NRTP_ABI_MAJOR + 1), nullptr);
  const nrtp_sys_port* port = port_table(NRTP_ABI_MAJOR);
  ASSERT_NE(port, nullptr);
  EXPECT_EQ(port->head.size, sizeof(nrtp_sys_port));
  EXPECT_EQ(port->head.magic, NRTP_MAGIC);
  EXPECT_EQ(port->head.kind, std::uint32_t{NRTP_KIND_PORT});
  EXPECT_STREQ(port->name, "emulator");
}

TEST(Port, DefaultsAreOneTrainium) {
  TestHost host;
  Attached a(host);
  ASSERT_EQ(a.result, 0);
  EXPECT_EQ(read_file(a, "/sys/module/neuron/version"), "2.27.4.0\n");
  EXPECT_EQ(read_file(a, "/sys/devices/virtual/dmi/id/product_name"), "trn1.2xlarge\n");
  EXPECT_EQ(read_file(a, "/sys/class/neuron_device/neuron0/core_count"), "2");
  EXPECT_EQ(read_file(a, "/sys/class/neuron_device/neuron0/connected_devices"), "\n");
  EXPECT_EQ(read_file(a, "/sys/class/neuron_device/neuron0/reset"), "1\n");
  EXPECT_EQ(read_file(a, "/sys/class/neuron_device/neuron0/info/architecture/instance_type"),
            "Trn1\n");
  EXPECT_EQ(
      read_file(a, "/sys/class/neuron_device/neuron0/neuron_core1/info/architecture/arch_type"),
      "NCv2\n");
  EXPECT_EQ(
      read_file(a, "/sys/class/neuron_device/neuron0/neuron_core2/info/architecture/arch_type"),
      std::to_string(-ENOENT));
  EXPECT_EQ(read_file(a, "/etc/passwd"), std::to_string(-ENOENT));
  EXPECT_EQ(a.port->exists(a.ctx, "/dev/neuron0"), 1);
  EXPECT_EQ(a.port->exists(a.ctx, "/dev/neuron1"), 0);
}

TEST(Port, ConfigurationIsRead) {
  TestHost host;
  host.settings = {{"emulator.product", "inf2.24xlarge"},
                   {"emulator.devices", "6"},
                   {"emulator.hbm_bytes", "0x4000000"},
                   {"emulator.host_bytes", "64MiB"},
                   {"emulator.driver_version", "2.25.4.0"}};
  Attached a(host);
  ASSERT_EQ(a.result, 0);
  EXPECT_EQ(a.port->exists(a.ctx, "/dev/neuron5"), 1);
  EXPECT_EQ(read_file(a, "/sys/module/neuron/version"), "2.25.4.0\n");
  EXPECT_EQ(read_file(a, "/sys/class/neuron_device/neuron1/connected_devices"), "0, 2\n");
}

TEST(Port, UnconfirmedInstructionsRunUnlessRefused) {
  TestHost host;
  for (const auto& [value, refuse] : {std::pair{"", false}, {"run", false}, {"refuse", true}}) {
    host.settings["emulator.unconfirmed_instructions"] = value;
    MachineConfig config;
    std::string error;
    ASSERT_TRUE(read_machine_config(&host.table, &config, &error)) << error;
    EXPECT_EQ(config.refuse_unconfirmed, refuse) << value;
  }
}

TEST(Port, BadConfigurationNamesKeyAndValue) {
  for (auto [key, value] : {std::pair{"emulator.product", "gpu.large"},
                            {"emulator.devices", "many"},
                            {"emulator.devices", "65"},
                            {"emulator.hbm_bytes", "12Q"},
                            {"emulator.hbm_bytes", "4096"},
                            {"emulator.host_bytes", "8G"},
                            {"emulator.unconfirmed_instructions", "maybe"},
                            {"emulator.driver_version", "1.0"}}) {
    TestHost host;
    host.settings[key] = value;
    Attached a(host);
    EXPECT_EQ(a.result, -EINVAL) << key;
    ASSERT_EQ(host.errors.size(), 1u) << key;
    EXPECT_NE(host.errors[0].find(key), std::string::npos) << host.errors[0];
  }
}

TEST(Port, AttachesShareOneMachine) {
  TestHost host;
  {
    Attached a(host), b(host);
    ASSERT_EQ(a.result, 0);
    ASSERT_EQ(b.result, 0);
    const int fd = a.port->open(a.ctx, "/dev/neuron0", NRTP_OPEN_READ_WRITE);
    ASSERT_GE(fd, 0);
    abi::Semaphore s;
    s.value = 21;
    const auto arg = reinterpret_cast<std::uintptr_t>(&s);
    EXPECT_EQ(a.port->ioctl(a.ctx, fd, abi::kSemaphoreWrite, arg), 0);
    s.value = 0;
    EXPECT_EQ(b.port->ioctl(b.ctx, fd, abi::kSemaphoreRead, arg), 0);
    EXPECT_EQ(s.value, 21u);
  }
  Attached c(host);
  const int fd = c.port->open(c.ctx, "/dev/neuron0", NRTP_OPEN_READ_WRITE);
  abi::Semaphore s;
  s.value = 9;
  EXPECT_EQ(c.port->ioctl(c.ctx, fd, abi::kSemaphoreRead, reinterpret_cast<std::uintptr_t>(&s)), 0);
  EXPECT_EQ(s.value, 0u) << "the last detach freed the machine";
}

// Reply, or the error as a number.
std::string ask(const Attached& a, const char* request) {
  char reply[256] = "";
  const std::int64_t n = a.port->control(a.ctx, request, reply, sizeof reply);
  return n < 0 ? std::to_string(n) : std::string(reply);
}

TEST(Port, ControlAnswersAndRefuses) {
  TestHost host;
  Attached a(host);
  ASSERT_EQ(a.result, 0);
  EXPECT_EQ(ask(a, "inspect"), "0");
  EXPECT_EQ(ask(a, "engine 0 0 4"), "");  // stopped
  EXPECT_EQ(ask(a, "finding 0"), "");
  EXPECT_EQ(ask(a, "findings 0"), "0");
  const std::string invalid = std::to_string(-EINVAL), absent = std::to_string(-ENODEV);
  for (const char* request : {"", "nonsense", "engine", "engine 0", "engine 0 0", "engine x 0 0",
                              "finding", "image 0 0 0 0 0", "image", "variable 0 0 0",
                              "variable 0 0 x 4", "tensor 0 0 0 4", "tensor 0 0 0 4 float32",
                              "tensor 0 0 0 4 float32 2x name", "tensor 0 0 0 4 float32 x2 name"})
    EXPECT_EQ(ask(a, request), invalid) << request;
  for (const char* request :
       {"engine 1 0 0", "engine 0 2 0", "engine 0 0 5", "finding 1", "image 0 9 0 0 0 64 1:1:1",
        "image 0 0 9 0 0 64 1:1:1", "variable 4294967296 0 0 4 x", "variable 0 2 0 4 x"})
    EXPECT_EQ(ask(a, request), absent) << request;
  // Nobody inspects: heard and forgotten.
  EXPECT_EQ(ask(a, "image 0 0 0 0 0x0 64 nonsense"), "");
  EXPECT_EQ(ask(a, "variable 0 0 0x0 4 name"), "");
  EXPECT_EQ(ask(a, "tensor 0 0 0x0 4 float32 1 name"), "");
  EXPECT_EQ(ask(a, "tensor 0 0 0x0 4 unknown - name"), "");
}

TEST(Port, ControlTellsTheMemoryThatTheMachineHas) {
  TestHost host;
  host.settings["emulator.hbm_bytes"] = "64M";
  Attached a(host);
  ASSERT_EQ(a.result, 0);
  EXPECT_EQ(ask(a, "memory"), "67108864");
}

TEST(Port, InspectionIsReadAndReportedAtTheLastDetach) {
  const std::string report = "/tmp/opennrt-report-" + std::to_string(getpid());
  TestHost host;
  host.settings["emulator.inspect"] = "sg00/SP:1 var:x a.npy, SP:2 sbuf:0:0+4:float32 b.bin";
  host.settings["emulator.inspect_dir"] = "/tmp";
  host.settings["emulator.report"] = report;
  {
    Attached a(host);
    ASSERT_EQ(a.result, 0);
    EXPECT_EQ(ask(a, "inspect"), "1");
    EXPECT_EQ(ask(a, "image 0 0 4 0 0x0 64 0:1:1"), "");
    EXPECT_EQ(ask(a, "image 0 0 4 0 0x0 64 nonsense"), std::to_string(-EINVAL));
    EXPECT_EQ(ask(a, "image 0 0 4 0 0x0 64 0:1:1"), "");
    EXPECT_FALSE(std::filesystem::exists(report));
  }
  std::ifstream in(report);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  EXPECT_EQ(text,
            "findings 0\nunreached a.npy the program never got there\n"
            "unreached b.bin no loaded program has this record\n");
  std::filesystem::remove(report);
}

TEST(Port, AReportThatCannotBeWrittenIsTold) {
  TestHost host;
  host.settings["emulator.report"] = "/no/such/directory/report";
  {
    Attached a(host);
  }
  ASSERT_EQ(host.errors.size(), 1u);
  EXPECT_EQ(host.errors[0], "emulator.report /no/such/directory/report: No such file or directory");
}

TEST(Port, BadInspectionFailsTheAttach) {
  for (const char* items : {"nonsense", "SP:0 var:x a", "SP:1 var:x /a", "SP:1 sbuf:0:0:what a"}) {
    TestHost host;
    host.settings["emulator.inspect"] = items;
    Attached a(host);
    EXPECT_EQ(a.result, -EINVAL) << items;
    ASSERT_EQ(host.errors.size(), 1u) << items;
    EXPECT_EQ(host.errors[0].rfind("emulator.inspect: ", 0), 0u) << host.errors[0];
  }
}

TEST(Port, ClientIsThisProcess) {
  TestHost host;
  Attached a(host);
  const int fd = a.port->open(a.ctx, "/dev/neuron0", NRTP_OPEN_READ_WRITE);
  std::int32_t pid = 0;
  EXPECT_EQ(a.port->ioctl(a.ctx, fd, abi::kDeviceAppPid, reinterpret_cast<std::uintptr_t>(&pid)),
            0);
  EXPECT_EQ(pid, getpid());
}

TEST(Port, ForkedChildIsRefusedAndHarmless) {
  TestHost host;
  Attached a(host);
  const int fd = a.port->open(a.ctx, "/dev/neuron0", NRTP_OPEN_READ_WRITE);
  ASSERT_GE(fd, 0);
  const pid_t child = fork();
  if (child == 0) {
    abi::DeviceInfo info;
    bool ok = a.port->ioctl(a.ctx, fd, abi::kDeviceInfo, reinterpret_cast<std::uintptr_t>(&info)) ==
              -EACCES;
    ok = ok && a.port->open(a.ctx, "/dev/neuron0", 2) == -EACCES;
    ok = ok && a.port->close(a.ctx, fd) == -EACCES;
    a.port->sleep_us(a.ctx, 1000000);
    a.port->detach(a.ctx);
    _exit(ok ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  abi::DeviceInfo info;
  EXPECT_EQ(a.port->ioctl(a.ctx, fd, abi::kDeviceInfo, reinterpret_cast<std::uintptr_t>(&info)), 0);
}

TEST(Port, IdleSleepIsShort) {
  TestHost host;
  Attached a(host);
  const std::uint64_t before = a.port->now_us(a.ctx);
  a.port->sleep_us(a.ctx, 10000000);
  EXPECT_LT(a.port->now_us(a.ctx) - before, 5000000u);
}

TEST(Port, ControlGroupLimit) {
  namespace fs = std::filesystem;
  const fs::path root = fs::temp_directory_path() / ("opennrt_cgroup_" + std::to_string(getpid()));
  fs::create_directories(root / "a/b");
  const auto write = [](const fs::path& path, const char* text) { std::ofstream(path) << text; };
  write(root / "self", "0::/a/b\n");
  write(root / "a/memory.max", "1000\n");
  write(root / "a/b/memory.max", "max\n");
  const std::string self = (root / "self").string(), mount = root.string();
  EXPECT_EQ(cgroup_memory_max(self.c_str(), mount.c_str()), 1000u) << "the parent's limit counts";
  write(root / "a/b/memory.max", "500\n");
  EXPECT_EQ(cgroup_memory_max(self.c_str(), mount.c_str()), 500u);
  EXPECT_EQ(cgroup_memory_max("/nonexistent", mount.c_str()), 0u);
  fs::remove_all(root);
}

}  // namespace
}  // namespace opennrt::emu::test
