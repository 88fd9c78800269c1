// SPDX-License-Identifier: Apache-2.0
//
// Values of a port trace and their text:
//
//   12  -1  0x10000                  numbers
//   [1,2,0*62]                       lists; N*M: M times N
//   {a=1 b=[2,3]}                    records
//   "text\n"                         text
//   null  addr                       no pointer; a pointer, whose value means nothing
//   x:00ff                           up to 64 bytes
//   b:LENGTH:CRC:BASE64              longer ones, kept
//   d:LENGTH:CRC:HEAD                longer ones, not kept; the first 16 bytes
//   cut:LENGTH:CRC:BASE64            only the beginning kept
//   unreadable:LENGTH                memory that could not be read
//
// CRC is CRC-32 (reflected 0xEDB88320) in hex, over the whole length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace opennrt::trace {

struct Value;
using Fields = std::vector<std::pair<std::string, Value>>;

struct Value {
  enum class Kind : uint8_t { kNull, kAddress, kNumber, kList, kRecord, kBytes, kText };
  enum class Keep : uint8_t { kWhole, kDigest, kCut, kUnreadable };

  Kind kind = Kind::kNull;
  Keep keep = Keep::kWhole;  // kBytes
  bool is_signed = false;    // kNumber: how it is shown
  uint32_t crc = 0;          // kBytes
  uint64_t number = 0;       // kNumber, sign-extended
  uint64_t length = 0;       // kBytes, of the whole
  std::string text;          // kText; kBytes: what is kept
  std::vector<Value> items;  // kList
  Fields fields;             // kRecord

  // Where the pairs of fields are complete.
  Value();
  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();

  static Value of(uint64_t number);
  static Value of_signed(int64_t number);
  static Value of_text(std::string_view text);
  static Value address(bool present);
  // Whole, cut to `limit` bytes, or only a digest (limit 0, more than a line's worth).
  static Value of_bytes(const void* data, uint64_t bytes, uint64_t limit);
  static Value unreadable(uint64_t bytes);
  static Value list(std::vector<Value> items);
  static Value record(Fields fields);

  // Equal for a replay: bytes by length and CRC.
  bool same(const Value& other) const;
};

inline constexpr uint64_t kShortBytes = 64;

// nullptr: no such field.
const Value* find(const Fields& fields, std::string_view name);
// The number of a field, else `otherwise`.
uint64_t number_of(const Fields& fields, std::string_view name, uint64_t otherwise = 0);

void append(std::string* out, const Value& value);
void append(std::string* out, const Fields& fields);  // "a=1 b=2"
std::string to_text(const Value& value);

// Of more bytes behind those that gave `crc`.
uint32_t crc32(const void* data, size_t bytes, uint32_t crc = 0);

// Reads the text form. Every limit is checked before memory is taken.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool at_end() const { return at_ == text_.size(); }
  size_t column() const { return at_ + 1; }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool take(std::string_view word);  // if it comes next
  // Up to the next space, '=' or end.
  std::string_view word();
  bool number(uint64_t* out, bool* negative = nullptr);
  bool value(Value* out);
  // "a=1 b=2" until something else comes.
  bool fields(Fields* out);
  const std::string& error() const { return error_; }
  bool fail(std::string_view what);

 private:
  bool bytes(Value* out);
  bool text(Value* out);
  bool list(Value* out);
  bool counted(std::string_view what, uint64_t* length, uint32_t* crc);

  std::string_view text_;
  size_t at_ = 0;
  unsigned depth_ = 0;
  size_t values_ = 0;
  std::string error_;
};

}  // namespace opennrt::trace
