// SPDX-License-Identifier: Apache-2.0
//
// What a test asks of the fault port (README.md). Requests are named as the
// software device names them ("MEM_COPY"); a name stands for every request that
// begins with it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace opennrt::test {

inline constexpr char kFaultPortSymbol[] = "opennrt_fault_port";

struct FaultPort {
  // The request fails with -error, after `good` calls that still work, until
  // clear(). One request at a time.
  void (*fail)(const char* request, int error, unsigned good);
  // The next call of the request waits inside the driver until release().
  void (*hold)(const char* request);
  bool (*is_held)();
  void (*release)();
  void (*clear)();
};

}  // namespace opennrt::test
