// SPDX-License-Identifier: Apache-2.0
//
// A machine behind a server of this process, and ways to talk to it: clients,
// processes of their own, and sockets that break the rules.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "device/device.h"
#include "driver/abi.h"
#include "driver/machine.h"
#include "remote/channel.h"
#include "remote/client.h"
#include "remote/server.h"

extern "C" const nrtp_arch_plugin* nrtp_arch_query(uint32_t, uint32_t);

namespace opennrt::emu::remote::test {

inline constexpr std::uint64_t kMiB = 1 << 20;

inline MachineConfig small_machine() {
  MachineConfig config;
  config.arch = nrtp_arch_query(1, 0);
  config.product = reinterpret_cast<const nrtp_product*>(config.arch->products);
  config.hbm_bytes = std::uint64_t{2} << 30;
  config.host_bytes = 256 * kMiB;
  config.make_device = &Device::create;
  return config;
}

// A directory of its own that is removed with everything in it.
class Directory {
 public:
  Directory() {
    std::string name = (std::filesystem::temp_directory_path() / "emud-XXXXXX").string();
    path_ = mkdtemp(name.data()) ? name : "";
  }
  ~Directory() { std::filesystem::remove_all(path_); }
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Waits for what other processes and threads do. False: it did not come.
inline bool soon(const std::function<bool()>& holds) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

class RemoteTest : public ::testing::Test {
 protected:
  void SetUp() override { start({}); }
  void TearDown() override { stop(); }

  void start(std::vector<Setting> settings) {
    std::string error;
    machine = Machine::create(small_machine(), &error);
    ASSERT_TRUE(machine) << error;
    ServerOptions options;
    options.socket = directory.file("socket");
    options.settings = std::move(settings);
    options.idle_exit_s = 1'000'000;
    server = std::make_unique<Server>(*machine, std::move(options));
    ASSERT_TRUE(server->listen(&error)) << error;
    thread = std::thread([this] { server->run(); });
  }
  void stop() {
    if (!server) return;
    server->stop();
    thread.join();
    server.reset();
    machine.reset();
  }

  Options options() const {
    Options o;
    o.socket = directory.file("socket");
    o.start = false;
    return o;
  }
  std::unique_ptr<Client> attach() {
    std::string error;
    auto client = Client::attach(options(), &error);
    EXPECT_TRUE(client) << error;
    return client;
  }
  // Runs in a forked process. Its exit code is the result.
  pid_t spawn(const std::function<int()>& body) {
    const pid_t pid = fork();
    if (pid == 0) _exit(body());
    return pid;
  }
  static int wait_for(pid_t pid) {
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }

  // What a device has given to processes.
  struct Books {
    std::size_t chunks = 0, attached = 0, processes = 0, marks = 0;
    std::uint32_t descriptors = 0;
    bool operator==(const Books&) const = default;
  };
  Books books() {
    Books b;
    DeviceNode& node = *machine->node(0);
    b.attached = machine->attached(node).size();
    for (const std::uint32_t owner : machine->core_owners()) b.marks += owner != 0;
    b.processes = server->processes().size();
    std::lock_guard lock(node.mutex);
    for (const auto& [pa, chunk] : node.chunks)
      b.chunks += chunk->owner != 0 && chunk->lifespan == Lifespan::kProcess;
    b.descriptors = node.descriptors;
    return b;
  }

  Directory directory;
  std::unique_ptr<Machine> machine;
  std::unique_ptr<Server> server;
  std::thread thread;
};

// --- requests

inline std::int64_t alloc(Client& c, int fd, std::uint64_t bytes, std::uint64_t* handle,
                          bool host = false) {
  abi::MemAllocV2MemType64 a;
  a.size = bytes;
  a.host_memory = host;
  a.mem_type = 9;
  a.mem_handle = reinterpret_cast<std::uintptr_t>(handle);
  return c.ioctl(fd, abi::kMemAllocV2mt64, reinterpret_cast<std::uintptr_t>(&a));
}
inline std::int64_t release(Client& c, int fd, std::uint64_t handle) {
  abi::MemFree a;
  a.mem_handle = handle;
  return c.ioctl(fd, abi::kMemFree, reinterpret_cast<std::uintptr_t>(&a));
}
inline std::uint64_t pa_of(Client& c, int fd, std::uint64_t handle) {
  std::uint64_t pa = 0;
  abi::MemGetPa a;
  a.mem_handle = handle;
  a.pa = reinterpret_cast<std::uintptr_t>(&pa);
  return c.ioctl(fd, abi::kMemGetPa, reinterpret_cast<std::uintptr_t>(&a)) == 0 ? pa : UINT64_MAX;
}
inline std::int64_t copy(Client& c, int fd, std::uint64_t handle, const void* buffer,
                         std::uint64_t bytes, std::uint64_t offset, bool to_device) {
  abi::MemBufCopy64 a;
  a.mem_handle = handle;
  a.buffer = reinterpret_cast<std::uintptr_t>(buffer);
  a.size = bytes;
  a.offset = offset;
  a.copy_to_mem_handle = to_device;
  return c.ioctl(fd, abi::kMemBufCopy64, reinterpret_cast<std::uintptr_t>(&a));
}

}  // namespace opennrt::emu::remote::test
