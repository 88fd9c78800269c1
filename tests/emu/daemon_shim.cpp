// SPDX-License-Identifier: Apache-2.0
//
// The machine is a daemon's.
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>

#include "remote/client.h"
#include "shim.h"

namespace opennrt::emu::test {

namespace {

class OverDaemon final : public Machinery {
 public:
  OverDaemon() {
    remote::Options options;
    options.socket = std::getenv("OPENNRT_RAW_SOCKET");
    options.settings = {{"emulator.product", OPENNRT_RAW_PRODUCT},
                        {"emulator.devices", std::to_string(OPENNRT_RAW_DEVICES)}};
    std::string error;
    client_ = remote::Client::attach(options, &error);
    if (client_) return;
    std::fprintf(stderr, "%s\n", error.c_str());
    std::exit(100);
  }
  int open(const char* path, std::uint32_t access) override { return client_->open(path, access); }
  int close(int fd) override { return client_->close(fd); }
  std::int64_t ioctl(int fd, std::uint32_t request, std::uint64_t argument) override {
    return client_->ioctl(fd, request, argument);
  }
  int mmap(int fd, std::uint64_t bytes, std::uint32_t prot, std::uint64_t offset,
           void** out) override {
    const int result = client_->mmap(fd, bytes, prot, offset, out);
    if (result == 0) mapped_.insert(*out);
    return result;
  }
  int munmap(void* address, std::uint64_t bytes) override {
    return mapped_.erase(address) == 0 ? -ENOENT : client_->munmap(address, bytes);
  }
  int exists(const char* path) override { return client_->exists(path); }
  std::int64_t read_text(const char* path, char* buffer, std::size_t bytes) override {
    return client_->read_text(path, buffer, bytes);
  }
  void pause(unsigned us) override { client_->sleep_us(us); }
  pid_t fork() override {
    remote::ForkToken token;
    if (const int r = client_->fork_prepare(&token); r != 0) {
      errno = -r;
      return -1;
    }
    const pid_t child = __real_fork();
    if (child != 0) {
      client_->cancel(token);
      return child;
    }
    if (client_->adopt(token) != 0) _exit(99);
    return 0;
  }
  pid_t wait(pid_t child, int* status) override { return __real_waitpid(child, status, 0); }

 private:
  std::unique_ptr<remote::Client> client_;
  std::set<void*> mapped_;
};

}  // namespace

std::unique_ptr<Machinery> make_machinery() { return std::make_unique<OverDaemon>(); }

}  // namespace opennrt::emu::test
