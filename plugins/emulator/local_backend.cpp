// SPDX-License-Identifier: Apache-2.0
//
// emulator.scope: process. The machine lives in this process.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <ctime>
#include <new>

#include "backend.h"
#include "control.h"
#include "device/device.h"
#include "driver/machine.h"
#include "port_config.h"
#include "remote/channel.h"
#include "report.h"

namespace opennrt::emu {

namespace {

// Records per sleep_us: long enough to amortise the call, short enough for the
// waiter to look at its clock.
constexpr std::uint64_t kRunRecords = 4096;
constexpr std::uint32_t kIdleSleepUs = 50;

// The process as the driver sees it. The page is emptied in a forked child, so
// that the child is told apart without a system call per request.
struct Identity {
  std::atomic<std::uint32_t> pid;
  std::uint64_t start_time;
};

class LocalBackend final : public Backend {
 public:
  ~LocalBackend() override {
    if (identity_) ::munmap(identity_, sizeof *identity_);
  }

  bool build(const nrtp_host* host, std::string* error) {
    host_ = host;
    owner_ = static_cast<std::uint32_t>(getpid());
    uid_ = static_cast<std::uint32_t>(getuid());
    void* page = ::mmap(nullptr, sizeof(Identity), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
      *error = "no memory for the software device";
      return false;
    }
    identity_ = new (page) Identity{};
    madvise(page, sizeof(Identity), MADV_WIPEONFORK);
    identity_->pid.store(owner_, std::memory_order_relaxed);
    identity_->start_time = remote::process_start_time(getpid());
    MachineConfig config;
    config.make_device = &Device::create;
    if (read_machine_config(host, &config, error)) machine_ = Machine::create(config, error);
    return machine_ != nullptr;
  }

  int open(const char* path, std::uint32_t flags) override {
    Client client;
    return know(&client) ? machine_->open(client, path, flags) : -EACCES;
  }
  int close(int fd) override {
    Client client;
    return know(&client) ? machine_->close(client, fd) : -EACCES;
  }
  std::int64_t ioctl(int fd, std::uint32_t request, std::uintptr_t arg) override {
    Client client;
    if (!know(&client)) return -EACCES;
    DirectMemory memory;
    return machine_->ioctl(client, memory, fd, request, arg);
  }
  int mmap(int fd, std::uint64_t bytes, std::uint32_t prot, std::uint64_t offset,
           void** out) override {
    Client client;
    return know(&client) ? machine_->mmap(client, fd, bytes, prot, offset, out) : -EACCES;
  }
  int munmap(void* address, std::uint64_t bytes) override {
    Client client;
    return know(&client) ? machine_->munmap(client, address, bytes) : -EACCES;
  }
  int exists(const char* path) override { return machine_->exists(path); }
  std::int64_t read_text(const char* path, char* buffer, std::size_t n) override {
    return machine_->read_text(path, buffer, n);
  }
  void sleep_us(std::uint32_t us) override {
    if (!mine() || machine_->run(kRunRecords)) return;
    const timespec pause{0, static_cast<long>(us < kIdleSleepUs ? us : kIdleSleepUs) * 1000};
    nanosleep(&pause, nullptr);
  }
  int control(const char* request, std::string* reply) override {
    return mine() ? emu::control(*machine_, request, reply, owner_) : -EACCES;
  }
  void finish() override { write_report(*machine_, host_); }
  bool mine() const override { return identity_->pid.load(std::memory_order_relaxed) == owner_; }

 private:
  bool know(Client* out) const {
    if (!mine()) return false;
    *out = Client{owner_, identity_->start_time, uid_};
    return true;
  }

  std::unique_ptr<Machine> machine_;
  const nrtp_host* host_ = nullptr;
  Identity* identity_ = nullptr;
  std::uint32_t owner_ = 0;  // pid that made the machine
  std::uint32_t uid_ = 0;
};

}  // namespace

std::unique_ptr<Backend> make_local_backend(const nrtp_host* host, std::string* error) {
  auto backend = std::make_unique<LocalBackend>();
  if (!backend->build(host, error)) return nullptr;
  return backend;
}

}  // namespace opennrt::emu
