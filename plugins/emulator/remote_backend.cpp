// SPDX-License-Identifier: Apache-2.0
//
// emulator.scope: machine. The machine lives in opennrt-emud.
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "backend.h"
#include "port_config.h"
#include "remote/client.h"

namespace opennrt::emu {

namespace {

constexpr std::uint64_t kTellAgainNs = 1'000'000'000;

class RemoteBackend final : public Backend {
 public:
  RemoteBackend(const nrtp_host* host, std::unique_ptr<remote::Client> client)
      : host_(host), owner_(getpid()), client_(std::move(client)) {}

  int open(const char* path, std::uint32_t flags) override {
    return heard(client_->open(path, flags));
  }
  int close(int fd) override { return heard(client_->close(fd)); }
  std::int64_t ioctl(int fd, std::uint32_t request, std::uintptr_t arg) override {
    return heard(client_->ioctl(fd, request, arg));
  }
  int mmap(int fd, std::uint64_t bytes, std::uint32_t prot, std::uint64_t offset,
           void** out) override {
    return heard(client_->mmap(fd, bytes, prot, offset, out));
  }
  int munmap(void* address, std::uint64_t bytes) override {
    return client_->munmap(address, bytes);
  }
  int exists(const char* path) override { return heard(client_->exists(path)); }
  std::int64_t read_text(const char* path, char* buffer, std::size_t n) override {
    return heard(client_->read_text(path, buffer, n));
  }
  void sleep_us(std::uint32_t us) override { client_->sleep_us(us); }
  int control(const char* request, std::string* reply) override {
    if (request && std::strcmp(request, "lost") == 0) {
      *reply = client_->lost();
      return 0;
    }
    return request ? heard(client_->control(request, reply)) : -EINVAL;
  }
  bool mine() const override { return getpid() == owner_; }

 private:
  // Whoever fails next to each other for the same reason hears of it once.
  template <typename T>
  T heard(T result) {
    if (result != remote::kDaemonGone) return result;
    const std::uint64_t now = host_->now_ns(host_->self);
    std::uint64_t last = told_ns_.load();
    if ((last == 0 || now - last > kTellAgainNs) && told_ns_.compare_exchange_strong(last, now)) {
      const std::string text = "the software device is lost: " + client_->lost() +
                               "; nrt_close, then nrt_init starts a new one; its log is " +
                               client_->log_path();
      host_->log(host_->self, NRTP_LOG_ERROR, "EMU", text.c_str());
    }
    return result;
  }

  const nrtp_host* const host_;
  const pid_t owner_;
  const std::unique_ptr<remote::Client> client_;
  std::atomic<std::uint64_t> told_ns_{0};
};

}  // namespace

std::unique_ptr<Backend> make_remote_backend(const nrtp_host* host, std::string* error) {
  remote::Options options;
  if (!read_remote_options(host, &options, error)) return nullptr;
  auto client = remote::Client::attach(options, error);
  if (!client) {
    *error = "emulator.scope machine: " + *error;
    return nullptr;
  }
  const std::string text = "the software device is opennrt-emud (pid " +
                           std::to_string(client->daemon_pid()) + "), its log is " +
                           client->log_path();
  host->log(host->self, NRTP_LOG_INFO, "EMU", text.c_str());
  return std::make_unique<RemoteBackend>(host, std::move(client));
}

}  // namespace opennrt::emu
