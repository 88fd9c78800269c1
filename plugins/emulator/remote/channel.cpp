// SPDX-License-Identifier: Apache-2.0
#include "remote/channel.h"

#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>

#include <fcntl.h>

namespace opennrt::emu::remote {

namespace {

constexpr std::chrono::microseconds kEager{50};

constexpr std::size_t kShort = 512;  // payload that is copied beside its head

// /proc/PID/stat from field 3 on, empty when there is no such process.
struct Stat {
  explicit Stat(pid_t pid) {
    char path[48];
    std::snprintf(path, sizeof path, "/proc/%d/stat", static_cast<int>(pid));
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return;
    const ssize_t n = read(fd, text, sizeof text - 1);
    ::close(fd);
    if (n <= 0) return;
    text[n] = '\0';
    // The name in field 2 may hold anything, so count from its end.
    const char* end = std::strrchr(text, ')');
    const char* begin = std::strchr(text, '(');
    if (begin == nullptr || end == nullptr || end < begin || end[1] != ' ') return;
    name.assign(begin + 1, end);
    fields = end + 2;
  }
  char text[1024];
  std::string name;
  const char* fields = "";
};

}  // namespace

std::uint64_t process_start_time(pid_t pid) {
  const Stat stat(pid);
  unsigned long long start = 0;  // field 22
  if (std::sscanf(stat.fields,
                  "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d "
                  "%llu",
                  &start) != 1)
    return 0;
  return start;
}

std::string process_name(pid_t pid) { return Stat(pid).name; }

char process_state(pid_t pid) { return Stat(pid).fields[0]; }

void Channel::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

int Channel::send(Head head, const void* payload, std::size_t bytes, int descriptor, bool own) {
  if (bytes > kMaxPayload) return -EMSGSIZE;
  head.bytes = static_cast<std::uint32_t>(bytes);
  if (descriptor < 0 && bytes <= kShort && own) {
    // One piece costs less.
    std::uint8_t whole[sizeof head + kShort];
    std::memcpy(whole, &head, sizeof head);
    if (bytes) std::memcpy(whole + sizeof head, payload, bytes);
    for (;;) {
      if (::send(fd_, whole, sizeof head + bytes, MSG_NOSIGNAL) >= 0) return 0;
      if (errno == EINTR) continue;
      return errno == EAGAIN || errno == EWOULDBLOCK ? -ETIMEDOUT : -errno;
    }
  }
  iovec parts[2] = {{&head, sizeof head}, {const_cast<void*>(payload), bytes}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = bytes ? 2 : 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  if (descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  for (;;) {
    // Past the checkers of sanitizers: a payload may be what lies at an argument,
    // and a little more.
    if (syscall(SYS_sendmsg, fd_, &message, MSG_NOSIGNAL) >= 0) return 0;
    if (errno == EINTR) continue;
    return errno == EAGAIN || errno == EWOULDBLOCK ? -ETIMEDOUT : -errno;
  }
}

int Channel::receive(Message* out, bool take_descriptor) {
  // Not cleared: a packet fills what is looked at.
  constexpr std::size_t kRoom = sizeof(Head) + kMaxPayload;
  if (!buffer_) buffer_.reset(new std::uint8_t[kRoom]);
  iovec parts[1] = {{buffer_.get(), kRoom}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  if (take_descriptor) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
  }
  out->descriptor = -1;
  // The real length, be it more than there is room for.
  const auto take = [&](int flags) {
    return take_descriptor ? recvmsg(fd_, &message, flags | MSG_CMSG_CLOEXEC | MSG_TRUNC)
                           : recv(fd_, buffer_.get(), kRoom, flags | MSG_TRUNC);
  };
  // The other side is mostly about to send; waking a sleeper of an idle machine
  // takes longer than a whole request.
  ssize_t n = -1;
  const auto until = std::chrono::steady_clock::now() + kEager;
  do n = take(MSG_DONTWAIT);
  while (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) &&
         std::chrono::steady_clock::now() < until);
  // The other end closed before it read all that was sent. The kernel says so once;
  // what it had sent itself is still there.
  if (n < 0 && errno == ECONNRESET) n = take(MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) do
      n = take(0);
    while (n < 0 && errno == EINTR);
  if (n < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK) return -ETIMEDOUT;
    return errno == ECONNRESET ? -EPIPE : -errno;
  }
  if (take_descriptor)
    for (cmsghdr* h = CMSG_FIRSTHDR(&message); h; h = CMSG_NXTHDR(&message, h))
      if (h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS &&
          h->cmsg_len == CMSG_LEN(sizeof(int)))
        std::memcpy(&out->descriptor, CMSG_DATA(h), sizeof(int));
  if (n == 0) return -EPIPE;
  const auto bytes = static_cast<std::size_t>(n);
  if (bytes >= sizeof(Head)) std::memcpy(&out->head, buffer_.get(), sizeof(Head));
  if (bytes > kRoom || bytes < sizeof(Head) || bytes != sizeof(Head) + out->head.bytes) {
    if (out->descriptor >= 0) ::close(out->descriptor);
    out->descriptor = -1;
    return -EPROTO;
  }
  out->payload = buffer_.get() + sizeof(Head);
  return 0;
}

}  // namespace opennrt::emu::remote
