// SPDX-License-Identifier: Apache-2.0
#include "launcher/guard.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "launcher/elf.h"
#include "preload/paths.h"
#include "preload/system.h"

namespace opennrt::emu::launcher {

namespace {

using preload::kPathBytes;

// Calls that name a file, and which argument does. The numbers of x86-64. ioctl
// names none: with a request of the driver it must not reach a placeholder.
struct Named {
  int number;
  const char* name;
  int directory;  // argument, or the descriptor itself; -1: the working directory
  int path;       // argument; -1: none
};
constexpr Named kNamed[] = {{SYS_open, "open", -1, 0},
                            {SYS_creat, "creat", -1, 0},
                            {SYS_openat, "openat", 0, 1},
                            {SYS_openat2, "openat2", 0, 1},
                            {SYS_stat, "stat", -1, 0},
                            {SYS_lstat, "lstat", -1, 0},
                            {SYS_newfstatat, "fstatat", 0, 1},
                            {SYS_statx, "statx", 0, 1},
                            {SYS_access, "access", -1, 0},
                            {SYS_faccessat, "faccessat", 0, 1},
                            {SYS_faccessat2, "faccessat2", 0, 1},
                            {SYS_ioctl, "ioctl", 0, -1}};
constexpr std::uint32_t kRequestType = 0x4E00, kRequestTypeMask = 0xFF00;
constexpr char kPlaceholder[] = "/memfd:opennrt:neuron";
// The same of 32-bit programs, which have no mark.
constexpr Named kNamed32[] = {
    {5, "open", -1, 0},      {8, "creat", -1, 0},      {295, "openat", 0, 1},
    {437, "openat2", 0, 1},  {106, "stat", -1, 0},     {195, "stat64", -1, 0},
    {196, "lstat64", -1, 0}, {300, "fstatat64", 0, 1}, {383, "statx", 0, 1},
    {33, "access", -1, 0},   {307, "faccessat", 0, 1}, {439, "faccessat2", 0, 1}};
constexpr std::uint32_t kX32 = 0x40000000;

constexpr std::uint32_t argument(int n, bool high) {
  return static_cast<std::uint32_t>(offsetof(seccomp_data, args)) +
         static_cast<std::uint32_t>(n) * 8 + (high ? 4 : 0);
}

std::vector<sock_filter> filter() {
  std::vector<sock_filter> f;
  const auto load = [&](std::size_t offset) {
    f.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)));
  };
  const auto give = [&](std::uint32_t action) { f.push_back(BPF_STMT(BPF_RET | BPF_K, action)); };
  // Skips `n` instructions unless equal.
  const auto unless_equal = [&](std::uint32_t value, std::size_t n) {
    f.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 0, static_cast<std::uint8_t>(n)));
  };
  load(offsetof(seccomp_data, arch));
  unless_equal(AUDIT_ARCH_I386, 2 + 2 * std::size(kNamed32));
  load(offsetof(seccomp_data, nr));
  for (const Named& call : kNamed32) {
    unless_equal(static_cast<std::uint32_t>(call.number), 1);
    give(SECCOMP_RET_USER_NOTIF);
  }
  give(SECCOMP_RET_ALLOW);
  load(offsetof(seccomp_data, nr));
  f.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, ~kX32));
  // A call of the table jumps behind the first return.
  for (std::size_t i = 0; i < std::size(kNamed); ++i)
    f.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(kNamed[i].number),
                         static_cast<std::uint8_t>(std::size(kNamed) - i), 0));
  give(SECCOMP_RET_ALLOW);
  // The status of a descriptor names no file.
  unless_equal(SYS_newfstatat, 3);
  load(argument(3, false));
  f.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, AT_EMPTY_PATH, 0, 1));
  give(SECCOMP_RET_ALLOW);
  load(offsetof(seccomp_data, nr));
  unless_equal(SYS_ioctl, 4);
  load(argument(1, false));
  f.push_back(BPF_STMT(BPF_ALU | BPF_AND | BPF_K, kRequestTypeMask));
  f.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kRequestType, 1, 0));
  give(SECCOMP_RET_ALLOW);
  load(argument(5, false));
  unless_equal(static_cast<std::uint32_t>(preload::kCallMark), 3);
  load(argument(5, true));
  unless_equal(static_cast<std::uint32_t>(preload::kCallMark >> 32), 1);
  give(SECCOMP_RET_ALLOW);
  give(SECCOMP_RET_USER_NOTIF);
  return f;
}

// The text at an address of another process; false: it cannot be read.
bool read_path(pid_t pid, std::uint64_t address, std::array<char, kPathBytes>* out) {
  std::size_t done = 0;
  constexpr std::uint64_t kPage = 4096;
  while (done < out->size()) {
    const std::size_t rest = static_cast<std::size_t>(kPage - ((address + done) & (kPage - 1)));
    const std::size_t bytes = std::min(rest, out->size() - done);
    iovec here{out->data() + done, bytes};
    iovec there{reinterpret_cast<void*>(static_cast<std::uintptr_t>(address + done)), bytes};
    const ssize_t n = ::process_vm_readv(pid, &here, 1, &there, 1, 0);
    if (n <= 0) return false;
    if (std::memchr(out->data() + done, '\0', static_cast<std::size_t>(n))) return true;
    done += static_cast<std::size_t>(n);
  }
  return false;  // longer than any served name
}

std::string link_of(const std::string& path) {
  char target[4096];
  const ssize_t n = ::readlink(path.c_str(), target, sizeof target);
  return n > 0 ? std::string(target, static_cast<std::size_t>(n)) : "";
}

std::string directory_of(pid_t pid, const Named& call, std::uint64_t descriptor) {
  const std::string process = "/proc/" + std::to_string(pid);
  const int fd = static_cast<int>(descriptor);
  if (call.directory < 0 || fd == AT_FDCWD) return link_of(process + "/cwd");
  return link_of(process + "/fd/" + std::to_string(fd));
}

const Named* named(const seccomp_data& data) {
  if (data.arch == AUDIT_ARCH_I386) {
    for (const Named& call : kNamed32)
      if (call.number == data.nr) return &call;
  } else {
    for (const Named& call : kNamed)
      if (call.number == static_cast<int>(static_cast<std::uint32_t>(data.nr) & ~kX32))
        return &call;
  }
  return nullptr;
}

// *subject: what it names.
bool names_served(pid_t thread, const Named& call, const seccomp_data& data, std::string* subject) {
  if (call.path < 0) {
    *subject = directory_of(thread, call, data.args[0]);
    if (!subject->starts_with(kPlaceholder)) return false;
    *subject = "/dev/neuron" + subject->substr(sizeof kPlaceholder - 1);
    *subject = subject->substr(0, subject->find(':'));
    return true;
  }
  std::array<char, kPathBytes> path{};
  if (!read_path(thread, data.args[call.path], &path)) return false;
  if (!preload::suspicious(path.data(), std::strstr(path.data(), "neuron") != nullptr))
    return false;
  const std::string base =
      path[0] != '/' ? directory_of(thread, call, data.args[0]) : std::string();
  char full[kPathBytes];
  if (!preload::normalise(base, path.data(), full)) return false;
  *subject = full;
  const preload::Place place = preload::locate(full).place;
  return place == preload::Place::kDevice || place == preload::Place::kAttribute;
}

pid_t process_of(pid_t thread) {
  std::FILE* file = std::fopen(("/proc/" + std::to_string(thread) + "/status").c_str(), "re");
  if (!file) return thread;
  char line[256];
  int process = thread;
  while (std::fgets(line, sizeof line, file))
    if (std::sscanf(line, "Tgid: %d", &process) == 1) break;
  std::fclose(file);
  return process;
}

std::string why(const std::string& program) {
  Program facts;
  std::string reason;
  inspect(program, &facts, &reason);
  if (facts.is_static)
    return "it is linked statically, so that no library can serve it the devices";
  if (facts.go) return "it is a Go program, which calls the kernel without the C library";
  return "the call was made without the C library, or inside it by a function that is not served";
}

}  // namespace

int install_guard() {
  std::vector<sock_filter> instructions = filter();
  sock_fprog program{static_cast<unsigned short>(instructions.size()), instructions.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -errno;
  const long fd =
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
  return fd < 0 ? -errno : static_cast<int>(fd);
}

pid_t Guard::answer(std::string* message) {
  seccomp_notif question;
  std::memset(&question, 0, sizeof question);
  if (::ioctl(listener_, SECCOMP_IOCTL_NOTIF_RECV, &question) != 0) return 0;
  const auto thread = static_cast<pid_t>(question.pid);
  const auto still_waits = [&] {
    return ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_ID_VALID, &question.id) == 0;
  };
  const Named* call = named(question.data);
  std::string subject;
  if (call && names_served(thread, *call, question.data, &subject) && still_waits()) {
    const pid_t process = process_of(thread);
    const std::string program = link_of("/proc/" + std::to_string(process) + "/exe");
    *message = program + " (process " + std::to_string(process) + ") calls " + call->name + " on " +
               subject + ": " + why(program) + "; it was ended";
    ::kill(process, SIGKILL);
    return process;
  }
  seccomp_notif_resp response;
  std::memset(&response, 0, sizeof response);
  response.id = question.id;
  response.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
  ::ioctl(listener_, SECCOMP_IOCTL_NOTIF_SEND, &response);
  return 0;
}

}  // namespace opennrt::emu::launcher
