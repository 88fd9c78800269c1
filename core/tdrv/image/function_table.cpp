// SPDX-License-Identifier: Apache-2.0
#include "tdrv/image/function_table.h"

#include <algorithm>
#include <cstring>

#include "tdrv/image/pseudo_records.h"

namespace opennrt::tdrv::image {

namespace {

using isa::kRecordBytes;
using Place = std::function<std::string(std::size_t)>;

std::uint8_t opcode_of(std::span<const std::byte> stream, std::size_t index) {
  return std::to_integer<std::uint8_t>(stream[index * kRecordBytes]);
}

Status check_begin(const FunctionBeginRecord& begin, const Function& function,
                   const FunctionTable& table, const Place& place) {
  if (table.find(function.name) != nullptr) {
    return Status::invalid("{}: function '{}' is defined twice", place(function.begin),
                           function.name);
  }
  if (begin.return_lo >= kRegisters || begin.return_hi >= kRegisters) {
    return Status::invalid("{}: function '{}' returns through registers {} and {}; there are {}",
                           place(function.begin), function.name, begin.return_lo, begin.return_hi,
                           int{kRegisters});
  }
  if (begin.reset_semaphores == 0) return Status::ok();
  return Status::invalid(
      "{}: function '{}' resets semaphores on return ({}), which is not supported by this release",
      place(function.begin), function.name, begin.reset_semaphores);
}

Status check_end(std::span<const std::byte> stream, const Function& function, const Place& place) {
  const std::size_t last = function.end - 1;
  const std::uint8_t op = opcode_of(stream, last);
  const bool jumps =
      op == isa::kOpCompareBranch &&
      isa::load_record<isa::CompareBranchRecord>(stream.data() + last * kRecordBytes).op ==
          isa::kBranchAlways;
  if (op == kOpPseudoFunctionReturn || op == kOpPseudoInst || jumps) return Status::ok();
  return Status::invalid("{}: function '{}' does not end in a return, an exit or a branch",
                         place(last), function.name);
}

}  // namespace

const Function* FunctionTable::find(std::string_view name) const {
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Function& f) { return f.name == name; });
  return found == list.end() ? nullptr : &*found;
}

Result<FunctionTable> read_functions(std::span<const std::byte> stream, const Place& place) {
  FunctionTable table;
  const std::size_t records = stream.size() / kRecordBytes;
  table.main_records = records;
  for (std::size_t i = 0; i < records; ++i) {
    if (opcode_of(stream, i) != kOpPseudoFunctionBegin) continue;
    const std::byte* record = stream.data() + i * kRecordBytes;
    const auto begin = isa::load_record<FunctionBeginRecord>(record);
    const char* name = reinterpret_cast<const char*>(record) + offsetof(FunctionBeginRecord, name);
    const std::size_t length = ::strnlen(name, sizeof begin.name);
    if (length == 0 || length == sizeof begin.name) {
      return Status::invalid("{}: a function name has 1 to {} characters", place(i),
                             sizeof begin.name - 1);
    }
    const Function function{.name = {name, length},
                            .begin = i,
                            .end = records,
                            .return_lo = begin.return_lo,
                            .return_hi = begin.return_hi};
    ONRT_TRY(check_begin(begin, function, table, place));
    (table.list.empty() ? table.main_records : table.list.back().end) = i;
    table.list.push_back(function);
  }
  for (const Function& function : table.list) ONRT_TRY(check_end(stream, function, place));
  return table;
}

}  // namespace opennrt::tdrv::image
