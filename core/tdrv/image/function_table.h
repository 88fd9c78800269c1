// SPDX-License-Identifier: Apache-2.0
//
// Functions of a stream: MAIN ends where the first one begins, and each reaches
// to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace opennrt::tdrv::image {

// Record `begin` starts it, its body ends before `end`.
struct Function {
  std::string_view name;  // in the stream
  std::size_t begin = 0, end = 0;
  std::uint8_t return_lo = 0, return_hi = 0;  // registers of the return address
};

struct FunctionTable {
  std::vector<Function> list;
  std::size_t main_records = 0;
  const Function* find(std::string_view name) const;
};

// stream: whole records. place: names a record in messages. Every body must end
// in a record that does not fall through.
Result<FunctionTable> read_functions(std::span<const std::byte> stream,
                                     const std::function<std::string(std::size_t)>& place);

}  // namespace opennrt::tdrv::image
