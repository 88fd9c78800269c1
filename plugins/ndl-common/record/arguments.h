// SPDX-License-Identifier: Apache-2.0
//
// Arguments of requests as fields of a trace, by the table of
// request_fields.h, and back.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ndl-common/record/value.h"
#include "ndl-common/request_fields.h"

namespace opennrt::trace {

// Memory of this process, by addresses that a caller gave: a bad one is told
// and not followed.
class UserMemory {
 public:
  virtual ~UserMemory() = default;
  bool read(uint64_t address, void* out, uint64_t bytes) const;
  bool write(uint64_t address, const void* data, uint64_t bytes) const;

 protected:
  // Whether the range is known to be mapped. Pages of a driver cannot be reached
  // through the kernel's checked copies.
  virtual bool mapped(uint64_t, uint64_t) const { return false; }
};

// Of a longer buffer only the beginning is kept.
inline constexpr uint64_t kMostKept = 16u << 20;
// Longer arrays behind a pointer are shown as bytes.
inline constexpr uint64_t kMostItems = 4096;

// What the caller gave, before the call. Buffers above kShortBytes as digest.
Fields inputs(const ndl::RequestShape& shape, uint64_t arg, const UserMemory& memory);
// What the driver gave, after the call. `succeeded` false: only what stands in
// the argument itself.
Fields outputs(const ndl::RequestShape& shape, uint64_t arg, bool succeeded,
               const UserMemory& memory);
// Writes outputs into an argument that has the recorded inputs. Nothing outside
// what the argument names is written. 0, -EFAULT, or -EINVAL with *error.
int store(const ndl::RequestShape& shape, uint64_t arg, const Fields& outs,
          const UserMemory& memory, std::string* error);

// "size: recorded 4096, now 8192", one per field that differs; `shape` null:
// all are compared.
std::vector<std::string> differences(const ndl::RequestShape* shape, const Fields& recorded,
                                     const Fields& now);

}  // namespace opennrt::trace
