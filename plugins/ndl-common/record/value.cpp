// SPDX-License-Identifier: Apache-2.0
#include "ndl-common/record/value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <cstring>

namespace opennrt::trace {
namespace {

constexpr uint64_t kHexFrom = 65536;     // larger numbers are shown in hex
constexpr uint64_t kHeadBytes = 16;      // shown of a digest
constexpr unsigned kDeepest = 8;         // lists and records in each other
constexpr size_t kMostValues = 1 << 16;  // of one line
constexpr char kHex[] = "0123456789abcdef";
constexpr char kBase64[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<uint32_t, 256> crc_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int bit = 0; bit < 8; ++bit) c = c & 1 ? c >> 1 ^ 0xEDB88320u : c >> 1;
    table[i] = c;
  }
  return table;
}
constexpr std::array<uint32_t, 256> kCrcTable = crc_table();

uint8_t byte_at(std::string_view text, size_t i) { return static_cast<uint8_t>(text[i]); }

void append_number(std::string* out, uint64_t number, int base = 10) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, number, base).ptr;
  out->append(digits, end);
}

void append_hex(std::string* out, std::string_view data) {
  for (size_t i = 0; i < data.size(); ++i) {
    out->push_back(kHex[byte_at(data, i) >> 4]);
    out->push_back(kHex[byte_at(data, i) & 15]);
  }
}

void append_base64(std::string* out, std::string_view data) {
  out->reserve(out->size() + (data.size() + 2) / 3 * 4);
  for (size_t i = 0; i < data.size(); i += 3) {
    const size_t n = std::min<size_t>(3, data.size() - i);
    uint32_t word = uint32_t{byte_at(data, i)} << 16;
    if (n > 1) word |= uint32_t{byte_at(data, i + 1)} << 8;
    if (n > 2) word |= byte_at(data, i + 2);
    out->push_back(kBase64[word >> 18]);
    out->push_back(kBase64[word >> 12 & 63]);
    out->push_back(n > 1 ? kBase64[word >> 6 & 63] : '=');
    out->push_back(n > 2 ? kBase64[word & 63] : '=');
  }
}

constexpr std::array<int8_t, 256> base64_table() {
  std::array<int8_t, 256> table{};
  for (int8_t& t : table) t = -1;
  for (int8_t i = 0; i < 64; ++i) table[static_cast<uint8_t>(kBase64[i])] = i;
  return table;
}
constexpr std::array<int8_t, 256> kBase64Value = base64_table();

bool decode_base64(std::string_view text, std::string* out) {
  if (text.size() % 4) return false;
  out->reserve(text.size() / 4 * 3);
  for (size_t i = 0; i < text.size(); i += 4) {
    const bool last = i + 4 == text.size();
    const int padding =
        last ? (text[i + 3] == '=') + (text[i + 3] == '=' && text[i + 2] == '=') : 0;
    uint32_t word = 0;
    for (size_t j = 0; j < 4; ++j) {
      const bool pad = static_cast<int>(j) >= 4 - padding;
      const int value = pad ? 0 : kBase64Value[byte_at(text, i + j)];
      if (value < 0) return false;
      word = word << 6 | static_cast<uint32_t>(value);
    }
    out->push_back(static_cast<char>(word >> 16));
    if (padding < 2) out->push_back(static_cast<char>(word >> 8));
    if (padding < 1) out->push_back(static_cast<char>(word));
  }
  return true;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool decode_hex(std::string_view text, std::string* out) {
  if (text.size() % 2) return false;
  for (size_t i = 0; i < text.size(); i += 2) {
    const int high = hex_digit(text[i]), low = hex_digit(text[i + 1]);
    if (high < 0 || low < 0) return false;
    out->push_back(static_cast<char>(high << 4 | low));
  }
  return true;
}

void append_text(std::string* out, std::string_view text) {
  out->push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out->push_back('\\');
      out->push_back(c);
    } else if (c == '\n') {
      out->append("\\n");
    } else if (c < 0x20 || c > 0x7E) {
      out->append("\\x");
      append_hex(out, {&c, 1});
    } else {
      out->push_back(c);
    }
  }
  out->push_back('"');
}

void append_bytes(std::string* out, const Value& value) {
  if (value.keep == Value::Keep::kWhole && value.length <= kShortBytes) {
    out->append("x:");
    return append_hex(out, value.text);
  }
  constexpr const char* kPrefix[] = {"b:", "d:", "cut:", "unreadable:"};
  out->append(kPrefix[static_cast<size_t>(value.keep)]);
  append_number(out, value.length);
  if (value.keep == Value::Keep::kUnreadable) return;
  char crc[16];
  std::snprintf(crc, sizeof crc, ":%08x:", value.crc);
  out->append(crc);
  if (value.keep == Value::Keep::kDigest) return append_hex(out, value.text);
  append_base64(out, value.text);
}

void append_list(std::string* out, const std::vector<Value>& items) {
  out->push_back('[');
  for (size_t i = 0; i < items.size();) {
    size_t run = 1;
    if (items[i].kind == Value::Kind::kNumber)
      while (i + run < items.size() && items[i + run].kind == Value::Kind::kNumber &&
             items[i + run].number == items[i].number)
        ++run;
    if (i != 0) out->push_back(',');
    append(out, items[i]);
    if (run > 2) {
      out->push_back('*');
      append_number(out, run);
    } else {
      run = 1;
    }
    i += run;
  }
  out->push_back(']');
}

}  // namespace

uint32_t crc32(const void* data, size_t bytes, uint32_t crc) {
  const auto* at = static_cast<const uint8_t*>(data);
  crc = ~crc;
  for (size_t i = 0; i < bytes; ++i) crc = kCrcTable[(crc ^ at[i]) & 0xFF] ^ crc >> 8;
  return ~crc;
}

Value::Value() = default;
Value::Value(const Value&) = default;
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(const Value&) = default;
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;

Value Value::of(uint64_t number) {
  Value v;
  v.kind = Kind::kNumber;
  v.number = number;
  return v;
}
Value Value::of_signed(int64_t number) {
  Value v = of(static_cast<uint64_t>(number));
  v.is_signed = true;
  return v;
}
Value Value::of_text(std::string_view text) {
  Value v;
  v.kind = Kind::kText;
  v.text = text;
  return v;
}
Value Value::address(bool present) {
  Value v;
  v.kind = present ? Kind::kAddress : Kind::kNull;
  return v;
}
Value Value::of_bytes(const void* data, uint64_t bytes, uint64_t limit) {
  Value v;
  v.kind = Kind::kBytes;
  v.length = bytes;
  v.crc = crc32(data, bytes);
  uint64_t kept = bytes;
  if (bytes > kShortBytes && limit == 0) {
    v.keep = Keep::kDigest;
    kept = kHeadBytes;
  } else if (bytes > kShortBytes && bytes > limit) {
    v.keep = Keep::kCut;
    kept = limit;
  }
  v.text.assign(static_cast<const char*>(data), kept);
  return v;
}
Value Value::unreadable(uint64_t bytes) {
  Value v;
  v.kind = Kind::kBytes;
  v.keep = Keep::kUnreadable;
  v.length = bytes;
  return v;
}
Value Value::list(std::vector<Value> items) {
  Value v;
  v.kind = Kind::kList;
  v.items = std::move(items);
  return v;
}
Value Value::record(Fields fields) {
  Value v;
  v.kind = Kind::kRecord;
  v.fields = std::move(fields);
  return v;
}

bool Value::same(const Value& other) const {
  if (kind != other.kind) return false;
  switch (kind) {
    case Kind::kNull:
    case Kind::kAddress:
      return true;
    case Kind::kNumber:
      return number == other.number;
    case Kind::kText:
      return text == other.text;
    case Kind::kBytes:
      return length == other.length && crc == other.crc;
    case Kind::kList:
      return items.size() == other.items.size() &&
             std::equal(items.begin(), items.end(), other.items.begin(),
                        [](const Value& a, const Value& b) { return a.same(b); });
    case Kind::kRecord:
      return fields.size() == other.fields.size() &&
             std::equal(fields.begin(), fields.end(), other.fields.begin(),
                        [](const auto& a, const auto& b) {
                          return a.first == b.first && a.second.same(b.second);
                        });
  }
  return false;
}

const Value* find(const Fields& fields, std::string_view name) {
  for (const auto& [key, value] : fields)
    if (key == name) return &value;
  return nullptr;
}

uint64_t number_of(const Fields& fields, std::string_view name, uint64_t otherwise) {
  const Value* value = find(fields, name);
  return value && value->kind == Value::Kind::kNumber ? value->number : otherwise;
}

void append(std::string* out, const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNull:
      out->append("null");
      break;
    case Value::Kind::kAddress:
      out->append("addr");
      break;
    case Value::Kind::kNumber:
      if (value.is_signed && value.number >> 63) {
        out->push_back('-');
        append_number(out, 0 - value.number);
      } else if (value.number >= kHexFrom) {
        out->append("0x");
        append_number(out, value.number, 16);
      } else {
        append_number(out, value.number);
      }
      break;
    case Value::Kind::kText:
      append_text(out, value.text);
      break;
    case Value::Kind::kBytes:
      append_bytes(out, value);
      break;
    case Value::Kind::kList:
      append_list(out, value.items);
      break;
    case Value::Kind::kRecord:
      out->push_back('{');
      append(out, value.fields);
      out->push_back('}');
      break;
  }
}

void append(std::string* out, const Fields& fields) {
  bool first = true;
  for (const auto& [name, value] : fields) {
    if (!first) out->push_back(' ');
    first = false;
    out->append(name);
    out->push_back('=');
    append(out, value);
  }
}

std::string to_text(const Value& value) {
  std::string out;
  append(&out, value);
  return out;
}

// --- Reading

bool Reader::fail(std::string_view what) {
  if (error_.empty()) error_ = "column " + std::to_string(column()) + ": " + std::string(what);
  return false;
}

bool Reader::take(std::string_view word) {
  if (!text_.substr(at_).starts_with(word)) return false;
  at_ += word.size();
  return true;
}

std::string_view Reader::word() {
  const size_t end = std::min(text_.find_first_of(" =", at_), text_.size());
  const std::string_view out = text_.substr(at_, end - at_);
  at_ = end;
  return out;
}

bool Reader::number(uint64_t* out, bool* negative) {
  const bool minus = negative && take("-");
  const bool hex = take("0x");
  const char* begin = text_.data() + at_;
  const auto [end, error] =
      std::from_chars(begin, text_.data() + text_.size(), *out, hex ? 16 : 10);
  if (error == std::errc::result_out_of_range) return fail("a number above 64 bits");
  if (error != std::errc()) return fail("a number is missing");
  at_ += static_cast<size_t>(end - begin);
  if (negative) *negative = minus;
  if (minus) {
    if (*out > uint64_t{1} << 63) return fail("a number below 64 bits");
    *out = 0 - *out;
  }
  return true;
}

// LENGTH:CRC: behind the prefix `what`.
bool Reader::counted(std::string_view what, uint64_t* length, uint32_t* crc) {
  if (!number(length)) return false;
  if (!take(":")) return fail(std::string(what) + " needs :CRC:");
  const char* begin = text_.data() + at_;
  const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), *crc, 16);
  if (error != std::errc()) return fail("a CRC is 8 hex digits");
  at_ += static_cast<size_t>(end - begin);
  return take(":") || fail(std::string(what) + " needs a colon behind the CRC");
}

bool Reader::bytes(Value* out) {
  out->kind = Value::Kind::kBytes;
  const bool whole = take("x:"), kept = !whole && take("b:"),
             digest = !whole && !kept && take("d:");
  if (take("unreadable:")) {
    out->keep = Value::Keep::kUnreadable;
    return number(&out->length);
  }
  const bool cut = !whole && !kept && !digest && take("cut:");
  if (!whole && !counted(kept ? "b:" : digest ? "d:" : "cut:", &out->length, &out->crc))
    return false;
  const size_t end = std::min(text_.find_first_of(" ,}]", at_), text_.size());
  const std::string_view body = text_.substr(at_, end - at_);
  if (whole || digest ? !decode_hex(body, &out->text) : !decode_base64(body, &out->text))
    return fail(whole || digest ? "these bytes are no hex digits" : "these bytes are no base64");
  if (whole) {
    out->length = out->text.size();
    out->crc = crc32(out->text.data(), out->text.size());
  } else if (kept) {
    if (out->length != out->text.size()) return fail("there are more or fewer bytes than said");
    if (out->crc != crc32(out->text.data(), out->text.size()))
      return fail("the bytes do not have this CRC");
  } else {
    out->keep = digest ? Value::Keep::kDigest : Value::Keep::kCut;
    if (cut && out->text.size() >= out->length) return fail("cut bytes are as long as the whole");
  }
  at_ = end;
  return true;
}

bool Reader::text(Value* out) {
  out->kind = Value::Kind::kText;
  while (at_ < text_.size()) {
    const char c = text_[at_++];
    if (c == '"') return true;
    if (c != '\\') {
      out->text.push_back(c);
      continue;
    }
    if (take("n")) {
      out->text.push_back('\n');
    } else if (take("x")) {
      if (at_ + 2 > text_.size() || !decode_hex(text_.substr(at_, 2), &out->text))
        return fail("\\x needs two hex digits");
      at_ += 2;
    } else if (peek() == '"' || peek() == '\\') {
      out->text.push_back(text_[at_++]);
    } else {
      return fail("an unknown escape");
    }
  }
  return fail("a text without its closing quote");
}

bool Reader::list(Value* out) {
  out->kind = Value::Kind::kList;
  if (take("]")) return true;
  for (;;) {
    Value item;
    if (!value(&item)) return false;
    uint64_t times = 1;
    if (take("*") && !number(&times)) return false;
    if (times == 0 || times > kMostValues - values_) return fail("too many values in one line");
    values_ += times;
    if (times > 1 && item.kind != Value::Kind::kNumber) return fail("only numbers repeat");
    out->items.insert(out->items.end(), times, item);
    if (take("]")) return true;
    if (!take(",")) return fail("a list goes on with , or ends with ]");
  }
}

bool Reader::value(Value* out) {
  if (++values_ > kMostValues) return fail("too many values in one line");
  if (depth_ >= kDeepest) return fail("values nested too deeply");
  ++depth_;
  bool ok = true;
  const std::string_view rest = text_.substr(at_);
  if (take("\"")) {
    ok = text(out);
  } else if (take("[")) {
    ok = list(out);
  } else if (take("{")) {
    out->kind = Value::Kind::kRecord;
    ok = peek() == '}' || fields(&out->fields);
    ok = ok && (take("}") || fail("a record without its closing brace"));
  } else if (take("null")) {
    out->kind = Value::Kind::kNull;
  } else if (take("addr")) {
    out->kind = Value::Kind::kAddress;
  } else if (rest.starts_with("x:") || rest.starts_with("b:") || rest.starts_with("d:") ||
             rest.starts_with("cut:") || rest.starts_with("unreadable:")) {
    ok = bytes(out);
  } else {
    out->kind = Value::Kind::kNumber;
    ok = number(&out->number, &out->is_signed);
  }
  --depth_;
  return ok;
}

bool Reader::fields(Fields* out) {
  for (;;) {
    const std::string_view name = word();
    if (name.empty()) return fail("a field is NAME=VALUE");
    if (!take("=")) return fail("no = behind the name of a field");
    auto& [key, content] = out->emplace_back();
    key = name;
    if (!value(&content)) return false;
    if (peek() != ' ' || text_.substr(at_).starts_with(" -> ")) return true;
    ++at_;
  }
}

}  // namespace opennrt::trace
