// SPDX-License-Identifier: Apache-2.0
//
// Short-hands of the special instruction families.
#pragma once

#include <cstring>
#include <string>

#include "compute/engine_check.h"
#include "compute/operand.h"
#include "compute/plan.h"
#include "device/bus.h"

namespace opennrt::emu {

// Pattern of `dims` dimensions at `bytes`.
inline OperandFields pattern_fields(const char* name, const std::uint8_t* bytes,
                                    std::uint32_t dtype, std::uint32_t dims) {
  OperandFields f{};
  f.name = name;
  f.dtype = dtype;
  f.dims = dims;
  std::memcpy(&f.address, bytes, 4);
  std::memcpy(f.step, bytes + 4, 2 * dims);
  std::memcpy(f.count, bytes + 4 + 2 * dims, 2 * dims);
  return f;
}

// False with a text "<name> is <value>, <expectation>".
inline bool expect(bool good, const char* name, std::uint64_t value, const char* expectation,
                   std::string* error) {
  if (!good) *error = std::string(name) + " is " + std::to_string(value) + ", " + expectation;
  return good;
}

// An operand whose elements have an FP32 value.
inline bool resolve_number(const PlanContext& context, const OperandFields& f,
                           std::uint32_t partitions, Operand* out, std::string* error) {
  if (!resolve_operand(context, f, partitions, out, error)) return false;
  if (format(out->dtype).load && format(out->dtype).store) return true;
  *error = std::string(f.name) + ": data type " + std::to_string(f.dtype) + " has no arithmetic";
  return false;
}

// Calls visit(pointer to element) for each element of a partition, in order.
template <typename Visit>
void for_each_element(const Operand& o, std::uint32_t partition, Visit visit) {
  std::uint8_t* base = o.partition(partition);
  Cursor cursor(o.pattern);
  for (std::uint64_t left = o.pattern.total; left != 0;) {
    const Cursor::Run run = cursor.next(left);
    left -= run.count;
    for (std::uint64_t i = 0; i < run.count; ++i)
      visit(base + (run.offset + static_cast<std::int64_t>(i) * run.step) *
                       static_cast<std::int64_t>(o.element_bytes));
  }
}

inline bool is_integer(std::uint32_t dtype, std::initializer_list<std::uint32_t> allowed) {
  for (const std::uint32_t a : allowed)
    if (dtype == a) return true;
  return false;
}

}  // namespace opennrt::emu
