// SPDX-License-Identifier: Apache-2.0
//
// What the argument of each request holds, as data: for recording, replaying
// and showing requests. One row per row of kRequests; places come from the
// structs of request_*.h, names are the driver's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "ndl-common/requests.h"

namespace opennrt::ndl {

// A member of a struct. element_bytes differs from bytes for arrays.
struct Spot {
  uint16_t offset = 0, bytes = 0, element_bytes = 0;
  bool is_signed = false;
};

enum class FieldDir : uint8_t {
  kUnread,    // the driver does not look
  kIn,        // the caller sets it
  kOut,       // the driver fills it
  kInOut,     // both
  kSwitched,  // a member of the argument decides: 0 kOut, else kIn
};

enum class FieldKind : uint8_t {
  kNumber,   // one, or an array of them
  kBytes,    // inside the argument, shown as they are
  kRecords,  // structs inside or behind the argument
  kAddress,  // of the caller: only whether there is one means anything
  kBuffer,   // pointer to bytes
  kNumbers,  // pointer to numbers of element_bytes each
  kStructs,  // pointer to structs
};

// Bytes that a field leads to: base + unit * value of `count`, a member of the
// same struct. A count without bytes counts nothing.
struct Extent {
  Spot count;
  uint32_t unit = 0, base = 0;
};

struct Field {
  const char* name;
  Spot spot;
  FieldDir dir;
  FieldKind kind;
  bool compared = true;          // false: may differ from run to run
  uint16_t element_bytes = 0;    // kNumbers, kRecords, kStructs
  Extent extent;                 // of what it leads to; kRecords: of those in use
  Spot direction;                // kSwitched: member of the whole argument
  std::span<const Field> inner;  // of the structs
};

constexpr bool leads_elsewhere(FieldKind kind) {
  return kind == FieldKind::kBuffer || kind == FieldKind::kNumbers || kind == FieldKind::kStructs;
}

// How the driver tells the request from others of its number.
enum class Match : uint8_t { kExact, kNumberAndSize };

struct RequestShape {
  uint32_t code;
  Match match;
  std::span<const Field> fields;

  const char* name() const { return find_request(code)->name; }
  uint32_t arg_bytes() const { return find_request(code)->arg_bytes; }
};

// Every request, in the order of kRequests.
std::span<const RequestShape> request_shapes();
// nullptr: no request of this interface.
const RequestShape* find_shape(uint32_t code);
const RequestShape* find_shape(const char* name);

}  // namespace opennrt::ndl
