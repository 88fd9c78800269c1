// SPDX-License-Identifier: Apache-2.0
//
// A machine without a driver: it writes down what it is asked to
// (OPENNRT_FAKE_LOG) and answers by simple rules.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "preload/backend.h"

namespace opennrt::emu::preload {

namespace {

constexpr int kFirst = 1 << 20;

class Fake final : public Backend {
 public:
  Fake() {
    const char* path = std::getenv("OPENNRT_FAKE_LOG");
    if (path)
      log_ = static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CLOEXEC));
    memory_ = static_cast<int>(syscall(SYS_memfd_create, "fake", MFD_CLOEXEC));
    syscall(SYS_ftruncate, memory_, 1 << 20);
  }
  int open(const char* path, std::uint32_t access) override {
    const int descriptor = kFirst + next_++;
    say("open %s %u = %d", path, access, descriptor);
    ++open_;
    return descriptor;
  }
  int close(int descriptor) override {
    say("close %d", descriptor);
    --open_;
    return 0;
  }
  int duplicate(int descriptor) override {
    const int copy = kFirst + next_++;
    say("duplicate %d = %d", descriptor, copy);
    ++open_;
    return copy;
  }
  // 0x4E01: descriptors open; 0x4E02: writes the descriptor at the argument;
  // 0x4E03: the argument; 0x4E04: -524; others -EINVAL.
  std::int64_t ioctl(int descriptor, std::uint32_t request, std::uint64_t argument) override {
    if (request == 0x4E01) return open_;
    if (request == 0x4E02) {
      std::memcpy(reinterpret_cast<void*>(argument), &descriptor, sizeof descriptor);
      return 0;
    }
    if (request == 0x80084E6B) {
      const int made = static_cast<int>(syscall(SYS_memfd_create, "made", MFD_CLOEXEC));
      void* out = nullptr;
      std::memcpy(&out, reinterpret_cast<void*>(argument + 16), sizeof out);
      std::memcpy(out, &made, sizeof made);
      return 0;
    }
    if (request == 0x4E03) return static_cast<std::int64_t>(argument);
    return request == 0x4E04 ? -524 : -EINVAL;
  }
  int mmap(int, std::uint64_t bytes, std::uint32_t prot, std::uint64_t offset, void* address,
           void** out) override {
    if (offset >= 1 << 20) return -EPERM;
    say("mmap %llu %u", static_cast<unsigned long long>(bytes), prot);
    const int rights = ((prot & 1) != 0 ? PROT_READ : 0) | ((prot & 2) != 0 ? PROT_WRITE : 0);
    void* made = ::mmap(address, bytes, rights, MAP_SHARED | (address ? MAP_FIXED : 0), memory_,
                        static_cast<off_t>(offset));
    if (made == MAP_FAILED) return -errno;
    *out = made;
    return 0;
  }
  int munmap(void* address, std::uint64_t bytes) override {
    say("munmap %llu", static_cast<unsigned long long>(bytes));
    return ::munmap(address, bytes) == 0 ? 0 : -errno;
  }
  std::int64_t read_text(const char* path, char* buffer, std::size_t bytes) override {
    const int n = std::snprintf(buffer, bytes, "text of %s\n", path);
    return n;
  }
  std::int64_t write_text(const char* path, const char* text, std::size_t bytes) override {
    say("write %s %.*s", path, static_cast<int>(bytes), text);
    return static_cast<std::int64_t>(bytes);
  }
  int prepare(Handover* out) override {
    out->id[0] = 17;
    out->id[1] = static_cast<std::uint64_t>(getpid());
    out->hold = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    say("prepare");
    return 0;
  }
  int adopt(const Handover& handover) override {
    say("adopt %d", handover.id[0] == 17 && fcntl(handover.hold, F_GETFD) >= 0);
    return 0;
  }
  void cancel(const Handover& handover) override {
    ::close(handover.hold);
    say("cancel");
  }

 private:
  __attribute__((format(printf, 2, 3))) void say(const char* format, ...) {
    char line[512];
    va_list list;
    va_start(list, format);
    int n = std::vsnprintf(line, sizeof line - 1, format, list);
    va_end(list);
    line[n++] = '\n';
    if (log_ >= 0) syscall(SYS_write, log_, line, n);
  }

  int log_ = -1, memory_ = -1;
  std::atomic<int> next_{0}, open_{0};
};

}  // namespace

Backend* connect_backend(const char* socket, std::string* error) {
  if (std::strcmp(socket, "none") != 0) return new Fake;
  *error = "nothing serves none";
  return nullptr;
}

}  // namespace opennrt::emu::preload
