// SPDX-License-Identifier: Apache-2.0
//
// A process of a recording that knows nothing of us: it does what it is told with
// the C library's open, ioctl, mmap and so on, and answers what came back.
//
// program PARENT {FILE ADDRESS BYTES COUNT}...: socket of the one who started it;
// memory of the requests.
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <thread>

#include "agent_orders.h"

namespace {

using namespace opennrt::replay;

constexpr std::size_t kPage = 4096;

std::int64_t answer(std::int64_t result) { return result == -1 ? -errno : result; }

bool map_buffers(int file, std::uintptr_t address, std::size_t bytes, std::size_t count) {
  const std::size_t step = bytes + kPage;
  void* place = reinterpret_cast<void*>(address);
  if (mmap(place, step * count, PROT_READ | PROT_WRITE,
           MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, file, 0) != place)
    return false;
  close(file);
  for (std::size_t i = 0; i < count; ++i)
    mprotect(reinterpret_cast<void*>(address + i * step + bytes), kPage, PROT_NONE);
  return true;
}

std::int64_t move(bool out, std::uint64_t address, void* data, std::size_t bytes) {
  iovec here{data, bytes};
  iovec there{reinterpret_cast<void*>(address), bytes};
  const ssize_t n = out ? process_vm_readv(getpid(), &here, 1, &there, 1, 0)
                        : process_vm_writev(getpid(), &here, 1, &there, 1, 0);
  return n == static_cast<ssize_t>(bytes) ? 0 : -EFAULT;
}

[[noreturn]] void live(int listener);

void do_fork(Done* done) {
  int ready[2];
  if (pipe2(ready, O_CLOEXEC) != 0) _exit(3);
  const pid_t pid = fork();
  if (pid == 0) {
    const int listener = listen_as_self();
    [[maybe_unused]] const ssize_t n = write(ready[1], "x", 1);
    live(listener);
  }
  close(ready[1]);
  char byte;
  done->result = pid > 0 && read(ready[0], &byte, 1) == 1 ? 0 : -EIO;
  close(ready[0]);
  done->value = static_cast<std::uint64_t>(pid);
}

Done carry_out(const Order& order) {
  Done done;
  const std::string text(order.data, order.bytes);
  switch (order.what) {
    case Do::kOpen:
      done.result = answer(open(text.c_str(), static_cast<int>(order.a)));
      break;
    case Do::kClose:
      done.result = answer(close(order.fd));
      break;
    case Do::kDuplicate:
      done.result = answer(dup(order.fd));
      break;
    case Do::kIoctl:
      done.result = answer(ioctl(order.fd, static_cast<unsigned long>(order.a), order.b));
      break;
    case Do::kMap: {
      const int rights =
          ((order.b & 1) != 0 ? PROT_READ : 0) | ((order.b & 2) != 0 ? PROT_WRITE : 0);
      void* made =
          mmap(nullptr, order.a, rights, MAP_SHARED, order.fd, static_cast<off_t>(order.c));
      done.result = made == MAP_FAILED ? -errno : 0;
      done.value = made == MAP_FAILED ? 0 : reinterpret_cast<std::uintptr_t>(made);
      break;
    }
    case Do::kUnmap:
      done.result = answer(munmap(reinterpret_cast<void*>(order.a), order.b));
      break;
    case Do::kLoad:
      done.result = move(true, order.a, done.data, order.b);
      break;
    case Do::kStore:
      done.result = move(false, order.a, const_cast<char*>(order.data), order.bytes);
      break;
    case Do::kReadText: {
      const int fd = open(text.c_str(), O_RDONLY);
      done.result = answer(fd < 0 ? -1 : read(fd, done.data, std::min(order.a, sizeof done.data)));
      if (fd >= 0) close(fd);
      break;
    }
    case Do::kWriteText: {
      const int fd = open(text.substr(0, order.a).c_str(), O_WRONLY);
      done.result = answer(fd < 0 ? -1 : write(fd, text.data() + order.a, text.size() - order.a));
      if (fd >= 0) close(fd);
      break;
    }
    case Do::kFork:
      do_fork(&done);
      break;
    case Do::kEnd:
      _exit(0);
  }
  return done;
}

void live(int listener) {
  for (;;) {
    const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) _exit(0);
    std::thread([fd] {
      auto order = std::make_unique<Order>();
      while (recv(fd, order.get(), sizeof *order, 0) == sizeof *order) {
        const Done done = carry_out(*order);
        if (send(fd, &done, sizeof done, MSG_NOSIGNAL) < 0) break;
      }
      close(fd);
    }).detach();
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const int parent = std::atoi(argv[1]);
  std::int64_t word = getpid();
  for (int i = 2; i + 3 < argc; i += 4)
    if (!map_buffers(std::atoi(argv[i]), std::strtoull(argv[i + 1], nullptr, 10),
                     std::strtoull(argv[i + 2], nullptr, 10),
                     std::strtoull(argv[i + 3], nullptr, 10)))
      word = -ENOMEM;
  const int listener = listen_as_self();
  send(parent, &word, sizeof word, MSG_NOSIGNAL);
  close(parent);
  if (word < 0) return 3;
  live(listener);
}
