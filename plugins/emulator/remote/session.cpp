// SPDX-License-Identifier: Apache-2.0
#include "remote/session.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <string_view>

#include "control.h"
#include "remote/server.h"

namespace opennrt::emu::remote {

namespace {

constexpr std::size_t kPathBytes = 4096;
constexpr timeval kHelloPatience{10, 0};

std::string text_of(const Message& message) {
  return std::string(reinterpret_cast<const char*>(message.payload), message.head.bytes);
}

// A descriptor as the client names it.
int number_of(std::uint64_t argument) {
  return argument <= INT32_MAX ? static_cast<int>(argument) : -1;
}

}  // namespace

Session::Session(Server& server, int socket, bool* watching)
    : server_(server),
      watching_(watching),
      channel_(socket),
      memory_(*this),
      shown_(server.regions().size()) {}

Session::~Session() {
  if (inheritance_) server_.processes().give_up(inheritance_);
  if (process_) server_.processes().leave(process_, channel_.fd());
}

bool Session::refuse(int error, const std::string& text) {
  Head head{.kind = Kind::kRefused};
  head.result = error;
  channel_.send(head, text.data(), std::min(text.size(), kMaxPayload));
  return false;
}

bool Session::greet() {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(channel_.fd(), SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  const std::string here = "opennrt-emud (pid " + std::to_string(getpid()) + ")";
  if (peer.uid != geteuid())
    return refuse(-EPERM, here + " serves user " + std::to_string(geteuid()) + ", not user " +
                              std::to_string(peer.uid));
  // Nobody holds a thread here without saying who he is.
  setsockopt(channel_.fd(), SOL_SOCKET, SO_RCVTIMEO, &kHelloPatience, sizeof kHelloPatience);
  Message hello;
  if (channel_.receive(&hello, false) != 0) return false;
  const timeval forever{};
  setsockopt(channel_.fd(), SOL_SOCKET, SO_RCVTIMEO, &forever, sizeof forever);
  if (hello.head.kind != Kind::kHello || hello.head.arg[0] != kHelloMagic ||
      hello.head.bytes < sizeof(Hello))
    return refuse(-EPROTO, "this is the software device of OpenNRT; that was no hello");
  Hello said;
  std::memcpy(&said, hello.payload, sizeof said);
  said.version[sizeof said.version - 1] = '\0';
  const std::string& version = server_.options().version;
  if (hello.head.arg[1] != kProtocol || version != said.version)
    return refuse(-EPROTO, here + " is OpenNRT " + version + " (protocol " +
                               std::to_string(kProtocol) + "), this process has OpenNRT " +
                               said.version + " (protocol " + std::to_string(hello.head.arg[1]) +
                               "); end the daemon, then the next process starts its own version");
  // 0: the kernel has no number for it here.
  if (peer.pid <= 0 || static_cast<std::uint64_t>(peer.pid) != hello.head.arg[3])
    return refuse(-EPERM, here + " runs in another pid namespace than this process, which is " +
                              std::to_string(hello.head.arg[3]) + " to itself and " +
                              std::to_string(peer.pid) +
                              " here; run both in one container, or give it emulator.socket of "
                              "its own");
  const std::string asked(reinterpret_cast<const char*>(hello.payload) + sizeof said,
                          hello.head.bytes - sizeof said);
  if (const std::string other = server_.difference(asked); !other.empty())
    return refuse(-EINVAL, here + other);
  std::string error;
  process_ =
      server_.processes().find(static_cast<std::uint32_t>(peer.pid), peer.uid, hello.head.arg[2],
                               channel_.fd(), hello.head.result == kWatches, &error);
  if (!process_) return refuse(-EAGAIN, here + ": " + error);
  if (hello.head.result == kWatches) server_.watches(watching_);
  Head welcome{.kind = Kind::kWelcome};
  welcome.arg[0] = static_cast<std::uint64_t>(getpid());
  const std::string& log = server_.options().log;
  return channel_.send(welcome, log.data(), log.size(), server_.page_fd()) == 0;
}

void Session::run() {
  try {
    if (!greet()) return;
    Message message;
    while (channel_.receive(&message, false) == 0) {
      int r = 0;
      try {
        r = serve(message);
      } catch (const std::bad_alloc&) {
        r = reply(-ENOMEM);
      }
      if (r != 0) return;
    }
  } catch (...) {
    server_.machine().log(NRTP_LOG_ERROR, "a connection has ended: %s", "no memory");
  }
}

int Session::reply(std::int64_t result, const std::string& text) {
  Head head{.kind = Kind::kReply};
  head.result = result;
  return channel_.send(head, text.data(), std::min(text.size(), kMaxPayload));
}

int Session::ask(Head question, std::span<const std::uint8_t> payload, int descriptor,
                 Message* answer) {
  int r = channel_.send(question, payload.data(), payload.size(), descriptor);
  if (r == 0) r = channel_.receive(answer, false);
  if (r == 0 && answer->head.kind != Kind::kUserData) r = -EPROTO;
  // Nothing more is expected of somebody who breaks the rules in between.
  if (r != 0) shutdown(channel_.fd(), SHUT_RDWR);
  return r;
}

bool Session::show(const Region& region, std::uint64_t* id, int* descriptor) {
  const auto& all = server_.regions();
  const auto it = std::find(all.begin(), all.end(), &region);
  if (it == all.end()) return false;
  *id = static_cast<std::uint64_t>(it - all.begin());
  *descriptor = shown_[*id] ? -1 : region.fd();
  shown_[*id] = true;
  return true;
}

int Session::serve(const Message& message) {
  const Head head = message.head;
  Machine& machine = server_.machine();
  ProcessTable& processes = server_.processes();
  switch (head.kind) {
    case Kind::kIoctl:
      return ioctl(head, message);
    case Kind::kOpen:
      processes.settle(*process_);
      if (head.bytes > kPathBytes) return reply(-ENAMETOOLONG);
      return reply(processes.open(*process_, text_of(message).c_str(),
                                  static_cast<std::uint32_t>(head.arg[0])));
    case Kind::kClose:
      return reply(processes.close(*process_, number_of(head.arg[0])));
    case Kind::kDuplicate:
      return reply(processes.duplicate(*process_, number_of(head.arg[0])));
    case Kind::kMap:
      return map(head);
    case Kind::kUnmap:
      return unmap(head);
    case Kind::kExists:
      return reply(machine.exists(text_of(message).c_str()));
    case Kind::kReadText: {
      std::string text(std::min<std::uint64_t>(head.arg[0], kMaxPayload), '\0');
      const std::int64_t n = machine.read_text(text_of(message).c_str(), text.data(), text.size());
      text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
      return reply(n, text);
    }
    case Kind::kWriteText: {
      const std::string both = text_of(message);
      if (head.arg[0] > both.size()) return reply(-EINVAL);
      return reply(machine.write_text(both.substr(0, head.arg[0]).c_str(),
                                      std::string_view(both).substr(head.arg[0])));
    }
    case Kind::kControl: {
      std::string text;
      const int r = control(machine, text_of(message).c_str(), &text, process_->client.pid);
      return reply(r ? r : static_cast<std::int64_t>(text.size()), text);
    }
    case Kind::kPrepareFork:
      return prepare_fork();
    case Kind::kAdopt:
      return reply(processes.adopt(*process_, head.arg));
    default:
      return -EPROTO;
  }
}

int Session::ioctl(const Head& head, const Message& message) {
  memory_.begin(head.arg[2], {message.payload, head.bytes});
  const int fd = ProcessTable::descriptor(*process_, number_of(head.arg[0]));
  std::int64_t result = -EBADF;
  server_.processes().settle(*process_);
  if (fd >= 0)
    result = head.arg[1] > UINT32_MAX
                 ? -EINVAL
                 : server_.machine().ioctl(process_->client, memory_, fd,
                                           static_cast<std::uint32_t>(head.arg[1]), head.arg[2]);
  server_.wake_devices();
  Head back{.kind = Kind::kReply};
  back.result = result;
  back.arg[0] = memory_.count();
  back.arg[1] = memory_.descriptor_write();
  return channel_.send(back, memory_.writes().data(), memory_.writes().size(),
                       memory_.descriptor());
}

int Session::map(const Head& head) {
  const int fd = ProcessTable::descriptor(*process_, number_of(head.arg[0]));
  if (fd < 0) return reply(fd);
  Machine::Mapping mapping;
  int r =
      server_.machine().decide_map(process_->client, fd, head.arg[1],
                                   static_cast<std::uint32_t>(head.arg[2]), head.arg[3], &mapping);
  if (r == 0) {
    std::lock_guard own(process_->mutex);
    if (process_->mappings >= kMappingsOfProcess)
      r = -ENOMEM;
    else
      ++process_->mappings;
  }
  if (r != 0) return reply(r);
  Head back{.kind = Kind::kReply};
  back.arg[0] = mapping.memory_offset;
  back.arg[1] = mapping.bytes;
  back.arg[2] = mapping.writable ? 1 : 0;
  int descriptor = -1;
  show(*mapping.region, &back.arg[3], &descriptor);
  server_.machine().record_mapping(std::move(mapping), static_cast<std::uint64_t>(head.result));
  return channel_.send(back, nullptr, 0, descriptor);
}

int Session::unmap(const Head& head) {
  const int r = server_.machine().munmap(
      process_->client, reinterpret_cast<void*>(static_cast<std::uintptr_t>(head.arg[0])),
      head.arg[1]);
  if (r == 0) {
    std::lock_guard own(process_->mutex);
    --process_->mappings;
  }
  return reply(r);
}

int Session::prepare_fork() {
  if (inheritance_) return reply(-EBUSY);
  int error = 0;
  inheritance_ = server_.processes().prepare(process_, &error);
  if (!inheritance_) return reply(error);
  Head back{.kind = Kind::kReply};
  back.arg[0] = inheritance_->id[0];
  back.arg[1] = inheritance_->id[1];
  return channel_.send(back);
}

}  // namespace opennrt::emu::remote
