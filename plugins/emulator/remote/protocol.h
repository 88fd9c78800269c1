// SPDX-License-Identifier: Apache-2.0
//
// Messages between a process and opennrt-emud. Both are of one release: another
// protocol number or version is refused by the first message. One message is one
// packet of a SEQPACKET socket: the head, then `bytes` of payload.
//
// A client sends a request and gets kReply. In between the daemon may ask for
// caller memory (kUserRead, kUserWrite, kUserMove); each is answered by kUserData.
#pragma once

#include <cstddef>
#include <cstdint>

namespace opennrt::emu::remote {

inline constexpr std::uint32_t kProtocol = 1;
inline constexpr std::int64_t kWatches = 1;  // this process does not use the machine
inline constexpr std::uint64_t kHelloMagic = 0x31444D5545545052;
// Largest payload; both sides keep one buffer of this size per connection.
inline constexpr std::size_t kMaxPayload = 64 << 10;
// Bytes at the argument of a request that go with it.
inline constexpr std::size_t kEagerBytes = 256;

enum class Kind : std::uint32_t {
  // To the daemon. Arguments in `arg`, texts in the payload.
  kHello = 1,    // arg: magic, protocol, start time of the process, pid as it sees itself;
                 // result: kWatches or 0; payload: Hello
  kOpen,         // flags; path
  kClose,        // fd
  kDuplicate,    // fd
  kIoctl,        // fd, request, argument; payload: the bytes found at the argument
  kMap,          // fd, bytes, prot, offset; result: address that the client has reserved
  kUnmap,        // address, bytes
  kExists,       // path
  kReadText,     // most bytes; path
  kWriteText,    // bytes of the path; path, then text
  kControl,      // request
  kPrepareFork,  // reply: arg 0, 1: token, which lives as long as this connection
  kAdopt,        // arg 0, 1: token
  kUserData,     // result of the access; payload: the bytes that were read

  // To the client.
  kWelcome = 100,  // arg: pid; descriptor of the shared page; payload: path of the log
  kRefused,        // result: -errno; payload: reason
  kReply,          // result; arg 0: number of writes in the payload, arg 1: 1 + index of the
                   // write that becomes the number of the descriptor sent along.
                   // kMap: arg: offset, bytes, writable, region. Texts: payload
  kUserRead,       // address, bytes; arg 2: number of writes in the payload, made first
  kUserWrite,      // arg 2: number of writes in the payload
  kUserMove        // address, bytes, offset in the region, region; result: 1 to the device;
                   // payload: bytes of the region (u64)
};

struct Head {
  Kind kind = Kind::kReply;
  std::uint32_t bytes = 0;  // of the payload
  std::int64_t result = 0;
  std::uint64_t arg[4] = {0, 0, 0, 0};
};
static_assert(sizeof(Head) == 48);

// One write into caller memory; its bytes follow, padded to eight.
struct Write {
  std::uint64_t address = 0;
  std::uint32_t bytes = 0, zero = 0;
};
static_assert(sizeof(Write) == 16);
constexpr std::size_t padded(std::size_t bytes) { return (bytes + 7) & ~std::size_t{7}; }

// Payload of kHello, then the settings as lines "key=value".
struct Hello {
  char version[48] = {};
};
static_assert(sizeof(Hello) == 48);

// Page that every client sees: made by the daemon, readable by all.
struct SharedPage {
  std::uint32_t progress = 0;  // futex: changes when the device has got on
  // How the daemon ended, when it could still tell: a signal number, or -1 for an
  // orderly end.
  std::int32_t end_signal = 0;
  char end_reason[120] = {};
};

// The client cannot map the region; the daemon moves the bytes itself.
inline constexpr int kCannotMap = -1000;

}  // namespace opennrt::emu::remote
