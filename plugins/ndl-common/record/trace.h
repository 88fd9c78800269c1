// SPDX-License-Identifier: Apache-2.0
//
// A port trace: the calls that went through a system port, one line each.
//
//   # opennrt port trace 1 pid=77 start=4711 ndl="ndl-kernel" port="emulator"
//   1 t0 @12 +3 open path="/dev/neuron0" flags=2 -> 3
//   2 t0 @20 +1 MEM_ALLOC_V2MT64 fd=3 size=4096 align=0 .. -> 0 mem_handle=1
//   3 t0 @31 +9 mmap fd=3 bytes=4096 prot=3 offset=0x5c0000000 -> 0 map=1
//   4 t0 @50 +0 mem seen="wait" map=1 offset=0 data=x:01000000
//   5 t0 @52 +1 CRWL_NC_RANGE_MARK_EXT0 fd=4 .. -> -16 EBUSY max_nc_available=0
//   # end lines=5
//
// sequence, thread (numbered by first call), start and duration in us of the
// monotonic clock since the first line, name, what the caller gave, result, what
// the driver gave. A name in capitals is a request; `ioctl` with code= is one
// that this interface does not know. `mem` is memory of a mapping that changed:
// seen="map" when mapped, "before" found at the beginning of the thread's next
// call, "call" at its end, "wait" while the thread waited. Lines with the same
// sequence were seen at once. Each attach begins with a # opennrt line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ndl-common/record/value.h"

namespace opennrt::trace {

inline constexpr char kMagic[] = "# opennrt port trace ";
inline constexpr uint64_t kVersion = 1;
inline constexpr char kEnd[] = "# end";

struct Line {
  uint32_t number = 0;  // in the file
  uint32_t thread = 0;
  uint64_t sequence = 0, at_us = 0, took_us = 0;
  std::string call;
  Fields args;
  bool answered = false;  // has a result
  int64_t result = 0;
  Fields outs;

  bool is_memory() const { return call == "mem"; }
  bool is_request() const { return !call.empty() && call[0] >= 'A' && call[0] <= 'Z'; }
};

std::string to_text(const Line& line);  // without the line end
bool parse_line(std::string_view text, Line* out, std::string* error);

struct Session {
  Fields header;
  std::vector<Line> lines;
  bool ended = false;  // its detach was seen
};

struct Trace {
  std::vector<Session> sessions;
  bool cut = false;  // the last line is not whole: the process died writing it
};

// 0 or -errno; *error says what is wrong and where: "FILE:LINE: ...". The whole
// trace is kept in memory.
int read_trace(const std::string& path, Trace* out, std::string* error);
// The same from text; `name` stands for the file in messages.
int parse_trace(std::string_view text, const std::string& name, Trace* out, std::string* error);

}  // namespace opennrt::trace
