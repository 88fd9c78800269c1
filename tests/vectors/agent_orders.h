// SPDX-License-Identifier: Apache-2.0
//
// What a process of a recording is told to do, packet by packet, over a socket
// that is named after it.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace opennrt::replay {

enum class Do : std::uint32_t {
  kOpen,
  kClose,
  kDuplicate,
  kIoctl,
  kMap,
  kUnmap,
  kLoad,
  kStore,
  kReadText,
  kWriteText,
  kFork,
  kEnd
};

// One packet each way. Texts and bytes of memory are in `data`.
struct Order {
  Do what = Do::kEnd;
  std::int32_t fd = 0;
  std::uint64_t a = 0, b = 0, c = 0;
  std::uint32_t bytes = 0;
  char data[8192];
};
struct Done {
  std::int64_t result = 0;
  std::uint64_t value = 0;
  char data[8192];
};

inline sockaddr_un name_of(std::uint32_t pid, socklen_t* size) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = "opennrt-replay-" + std::to_string(pid);  // abstract
  std::memcpy(address.sun_path + 1, name.data(), name.size());
  *size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

inline int listen_as_self() {
  socklen_t size = 0;
  const sockaddr_un address = name_of(static_cast<std::uint32_t>(getpid()), &size);
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), size) != 0 || listen(fd, 64) != 0)
    _exit(3);
  return fd;
}

}  // namespace opennrt::replay
