// SPDX-License-Identifier: Apache-2.0
//
// The machine is in the program's own process. A child of it is another client:
// its calls come back to the parent, which answers them while it waits.
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <string>

#include "device/device.h"
#include "driver/machine.h"
#include "shim.h"
#include "sunda/table.h"

namespace opennrt::emu::test {

namespace {

enum class What { kOpen, kClose, kIoctl, kExists };
struct Question {
  What what;
  std::uint64_t a, b, c;
  char path[128];
};

MachineConfig config() {
  MachineConfig config;
  const nrtp_arch_plugin& arch = sunda::plugin();
  config.arch = &arch;
  for (std::uint32_t i = 0; i < arch.n_products; ++i) {
    const auto* product = reinterpret_cast<const nrtp_product*>(
        reinterpret_cast<const char*>(arch.products) + std::size_t{i} * arch.product_stride);
    if (std::strcmp(product->name, OPENNRT_RAW_PRODUCT) == 0) config.product = product;
  }
  config.devices = OPENNRT_RAW_DEVICES;
  config.make_device = &Device::create;
  return config;
}

class InProcess final : public Machinery {
 public:
  InProcess() {
    std::string error;
    machine_ = Machine::create(config(), &error);
    if (!machine_) {
      std::fprintf(stderr, "%s\n", error.c_str());
      std::exit(100);
    }
    self_.pid = static_cast<std::uint32_t>(getpid());
  }
  int open(const char* path, std::uint32_t access) override {
    if (to_parent_ >= 0) return static_cast<int>(ask({What::kOpen, access, 0, 0, {}}, path));
    const int fd = machine_->open(self_, path, access);
    if (fd >= 0) open_.insert(fd);
    return fd;
  }
  int close(int fd) override {
    if (to_parent_ >= 0)
      return static_cast<int>(ask({What::kClose, static_cast<std::uint64_t>(fd), 0, 0, {}}));
    open_.erase(fd);
    return machine_->close(self_, fd);
  }
  std::int64_t ioctl(int fd, std::uint32_t request, std::uint64_t argument) override {
    if (to_parent_ >= 0)
      return ask({What::kIoctl, static_cast<std::uint64_t>(fd), request, argument, {}});
    CheckedMemory memory(getpid());
    return machine_->ioctl(self_, memory, fd, request, argument);
  }
  int mmap(int fd, std::uint64_t bytes, std::uint32_t prot, std::uint64_t offset,
           void** out) override {
    const int result = machine_->mmap(self_, fd, bytes, prot, offset, out);
    if (result == 0) mapped_.insert(*out);
    return result;
  }
  int munmap(void* address, std::uint64_t bytes) override {
    return mapped_.erase(address) == 0 ? -ENOENT : machine_->munmap(self_, address, bytes);
  }
  int exists(const char* path) override {
    return to_parent_ >= 0 ? static_cast<int>(ask({What::kExists, 0, 0, 0, {}}, path))
                           : machine_->exists(path);
  }
  std::int64_t read_text(const char* path, char* buffer, std::size_t bytes) override {
    return machine_->read_text(path, buffer, bytes);
  }
  void pause(unsigned us) override {
    if (!machine_->run(4096)) __real_usleep(us);
  }
  pid_t fork() override {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) != 0) return -1;
    std::map<int, int> copies;
    for (const int fd : open_) copies[fd] = machine_->duplicate(fd);
    const pid_t child = __real_fork();
    ::close(pair[child == 0 ? 0 : 1]);
    if (child == 0) {
      to_parent_ = pair[1];
    } else {
      from_child_ = pair[0];
      child_ = std::move(copies);
    }
    return child;
  }
  pid_t wait(pid_t child, int* status) override {
    const Client client{static_cast<std::uint32_t>(child), 0, 0};
    Question q;
    while (::recv(from_child_, &q, sizeof q, 0) == static_cast<ssize_t>(sizeof q)) {
      const std::int64_t result = answer(client, q);
      if (::send(from_child_, &result, sizeof result, MSG_NOSIGNAL) < 0) break;
    }
    // Its end.
    for (const auto& [number, fd] : child_) machine_->close(client, fd);
    child_.clear();
    ::close(from_child_);
    return __real_waitpid(child, status, 0);
  }

 private:
  std::int64_t ask(Question question, const char* path = "") {
    std::snprintf(question.path, sizeof question.path, "%s", path);
    std::int64_t result = -EIO;
    if (::send(to_parent_, &question, sizeof question, MSG_NOSIGNAL) < 0) return -EIO;
    return ::recv(to_parent_, &result, sizeof result, 0) == static_cast<ssize_t>(sizeof result)
               ? result
               : -EIO;
  }
  std::int64_t answer(const Client& client, const Question& q) {
    const auto known = child_.find(static_cast<int>(q.a));
    CheckedMemory memory(static_cast<pid_t>(client.pid));
    switch (q.what) {
      case What::kOpen: {
        const int fd = machine_->open(client, q.path, static_cast<std::uint32_t>(q.a));
        if (fd >= 0) child_[fd] = fd;
        return fd;
      }
      case What::kExists:
        return machine_->exists(q.path);
      case What::kIoctl:
        return known == child_.end() ? -EBADF
                                     : machine_->ioctl(client, memory, known->second,
                                                       static_cast<std::uint32_t>(q.b), q.c);
      case What::kClose: {
        if (known == child_.end()) return -EBADF;
        const int fd = known->second;
        child_.erase(known);
        return machine_->close(client, fd);
      }
    }
    return -EINVAL;
  }

  std::unique_ptr<Machine> machine_;
  Client self_;
  std::set<int> open_;
  std::set<void*> mapped_;
  int to_parent_ = -1, from_child_ = -1;
  std::map<int, int> child_;  // its numbers -> the machine's
};

}  // namespace

std::unique_ptr<Machinery> make_machinery() { return std::make_unique<InProcess>(); }

}  // namespace opennrt::emu::test
