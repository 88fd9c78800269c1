// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <limits>
#include <vector>

#include "bytes.h"
#include "opennrt/isa/codec.h"

namespace opennrt::isa {
namespace {

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

// Decimal or 0x..., with an optional sign; the whole text.
std::optional<std::uint64_t> parse_magnitude(std::string_view text) {
  int base = 10;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    base = 16;
    text.remove_prefix(2);
  }
  std::uint64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<float> parse_float(std::string_view text) {
  float value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

struct Pair {
  std::string_view key, value;
};

// Splits a line into words; spaces inside "..." belong to the word, '#' outside
// ends the line.
bool split_words(std::string_view line, std::vector<std::string_view>* words, std::string* error) {
  std::size_t i = 0;
  while (i < line.size()) {
    if (std::isspace(static_cast<unsigned char>(line[i])) != 0) {
      ++i;
      continue;
    }
    if (line[i] == '#') break;
    const std::size_t begin = i;
    bool in_text = false;
    while (
        i < line.size() &&
        (in_text || (line[i] != '#' && std::isspace(static_cast<unsigned char>(line[i])) == 0))) {
      if (line[i] == '"') in_text = !in_text;
      ++i;
    }
    if (in_text) {
      *error = "text is not closed by \": " + quoted(line.substr(begin));
      return false;
    }
    words->push_back(line.substr(begin, i - begin));
  }
  return true;
}

class Encoder {
 public:
  Encoder(const Instruction& instruction, Generation generation, std::string* error)
      : instruction_(instruction), layout_(instruction.layout(generation)), error_(error) {
    record_[0] = instruction.opcode;
    record_[1] = default_length(instruction.opcode);
  }

  bool set(const Pair& pair) {
    if (std::find(seen_.begin(), seen_.end(), pair.key) != seen_.end()) {
      return fail(std::string(pair.key) + " is given twice");
    }
    seen_.push_back(pair.key);
    if (pair.key == "wait") return condition(pair, "wait_mode", 4);
    if (pair.key == "update") return condition(pair, "update_mode", 6);
    if (pair.key == "value") return header_number(pair, 8, 4);
    if (pair.key == "word_len") return header_number(pair, 1, 1);
    if (pair.key == "debug_cmd") return header_number(pair, 2, 1);
    if (pair.key == "debug_hint") return header_number(pair, 3, 1);
    if (pair.key.starts_with('@')) return raw(pair);
    const Field* field = layout_.find(pair.key);
    if (field == nullptr) return unknown_key(pair.key);
    return field_value(*field, pair.value);
  }

  const RecordBytes& record() const { return record_; }

 private:
  bool fail(std::string message) {
    *error_ = std::string(instruction_.name) + ": " + std::move(message);
    return false;
  }

  bool unknown_key(std::string_view key) {
    std::string known;
    for (const Field& f : layout_.fields()) known += std::string(" ") + f.name;
    return fail("no field " + quoted(key) + "; fields:" + (known.empty() ? " none" : known));
  }

  bool range_error(std::string_view key, std::string_view value, const std::string& low,
                   const std::string& high) {
    return fail(std::string(key) + ": " + quoted(value) + " is not a number in " + low + ".." +
                high);
  }

  bool put_unsigned(std::string_view key, std::string_view text, std::size_t offset,
                    std::size_t width) {
    const std::uint64_t limit = width == 8 ? UINT64_MAX : (std::uint64_t{1} << 8 * width) - 1;
    const auto value = parse_magnitude(text);
    if (!value || *value > limit) return range_error(key, text, "0", std::to_string(limit));
    store_le(record_.data() + offset, width, *value);
    return true;
  }

  bool put_signed(std::string_view key, std::string_view text, std::size_t offset,
                  std::size_t width) {
    const std::uint64_t limit = std::uint64_t{1} << (8 * width - 1);
    const bool negative = text.starts_with('-');
    const auto value = parse_magnitude(negative ? text.substr(1) : text);
    if (!value || *value > (negative ? limit : limit - 1)) {
      return range_error(key, text, "-" + std::to_string(limit), std::to_string(limit - 1));
    }
    store_le(record_.data() + offset, width, negative ? 0 - *value : *value);
    return true;
  }

  bool header_number(const Pair& pair, std::size_t offset, std::size_t width) {
    return put_unsigned(pair.key, pair.value, offset, width);
  }

  // Name or number of an enumeration.
  bool lookup(std::string_view key, std::string_view text, const EnumTable& table,
              std::uint32_t limit, std::uint32_t* out) {
    const auto named = table.find(text);
    const auto value = named ? std::optional<std::uint64_t>(*named) : parse_magnitude(text);
    if (!value || *value > limit) {
      std::string names;
      for (std::size_t i = 0; i < table.count && i < 12; ++i) {
        names += std::string(" ") + table.values[i].name;
      }
      if (table.count > 12) names += " ...";
      return fail(std::string(key) + ": " + quoted(text) + " is not a " + table.name + ";" + names);
    }
    *out = static_cast<std::uint32_t>(*value);
    return true;
  }

  // MODE(index)
  bool condition(const Pair& pair, const char* table, std::size_t offset) {
    const std::size_t open = pair.value.find('(');
    if (open == std::string_view::npos || !pair.value.ends_with(')')) {
      return fail(std::string(pair.key) + ": " + quoted(pair.value) +
                  " is not of the form MODE(index)");
    }
    std::uint32_t mode = 0;
    if (!lookup(pair.key, pair.value.substr(0, open), *find_enumeration(table), 0xFF, &mode)) {
      return false;
    }
    record_[offset] = static_cast<std::uint8_t>(mode);
    const auto index = pair.value.substr(open + 1, pair.value.size() - open - 2);
    return put_unsigned(pair.key, index, offset + 1, 1);
  }

  bool put_hex(std::string_view key, std::string_view text, std::size_t offset, std::size_t limit) {
    if (!text.starts_with("hex:")) {
      return fail(std::string(key) + ": " + quoted(text) + " is not of the form hex:0a0b");
    }
    text.remove_prefix(4);
    if (text.size() % 2 != 0 || text.size() / 2 > limit) {
      return fail(std::string(key) + ": hex digits must be pairs, at most " +
                  std::to_string(limit) + " bytes");
    }
    for (std::size_t i = 0; i < text.size(); i += 2) {
      const int high = hex_digit(text[i]);
      const int low = hex_digit(text[i + 1]);
      if (high < 0 || low < 0) return fail(std::string(key) + ": not a hex digit in the bytes");
      record_[offset + i / 2] = static_cast<std::uint8_t>(high << 4 | low);
    }
    return true;
  }

  bool raw(const Pair& pair) {
    const auto offset = parse_magnitude(pair.key.substr(1));
    if (!offset || *offset < kHeaderBytes || *offset >= kRecordBytes) {
      return fail(quoted(pair.key) + ": the offset must be 12..63");
    }
    return put_hex(pair.key, pair.value, *offset, kRecordBytes - *offset);
  }

  bool field_value(const Field& field, std::string_view text) {
    if (field.kind == FieldKind::kText) return put_text(field, text);
    if (field.kind == FieldKind::kBytes) {
      return put_hex(field.name, text, field.offset, field.count);
    }
    std::size_t index = 0;
    for (std::size_t begin = 0; begin <= text.size(); ++index) {
      const std::size_t comma = std::min(text.find(',', begin), text.size());
      if (index == field.count) {
        return fail(std::string(field.name) + ": more than " + std::to_string(field.count) +
                    " values");
      }
      const std::size_t offset = field.offset + index * std::size_t{field.width};
      if (!element(field, text.substr(begin, comma - begin), offset)) return false;
      begin = comma + 1;
    }
    return true;
  }

  bool put_text(const Field& field, std::string_view text) {
    if (text.starts_with("hex:")) return put_hex(field.name, text, field.offset, field.count);
    if (text.size() < 2 || text.front() != '"' || text.back() != '"') {
      return fail(std::string(field.name) + ": text must be in quotation marks");
    }
    text = text.substr(1, text.size() - 2);
    if (text.size() >= field.count) {
      return fail(std::string(field.name) + ": " + quoted(text) + " is longer than " +
                  std::to_string(field.count - 1) + " characters");
    }
    std::copy(text.begin(), text.end(), record_.begin() + field.offset);
    return true;
  }

  bool element(const Field& field, std::string_view text, std::size_t offset) {
    switch (field.kind) {
      case FieldKind::kSigned:
        return put_signed(field.name, text, offset, field.width);
      case FieldKind::kFloat:
        return put_float(field, text, offset, false);
      case FieldKind::kImmediate:
        return put_float(field, text, offset, true);
      case FieldKind::kRegister:
        if (!text.starts_with('r')) {
          return fail(std::string(field.name) + ": " + quoted(text) + " is not a register (r0..)");
        }
        return put_unsigned(field.name, text.substr(1), offset, field.width);
      case FieldKind::kEnum: {
        std::uint32_t value = 0;
        if (!lookup(field.name, text, *field.values, 0xFF, &value)) return false;
        record_[offset] = static_cast<std::uint8_t>(value);
        return true;
      }
      case FieldKind::kTypePair:
        return put_pair(field, text, offset);
      case FieldKind::kUnsigned:
      case FieldKind::kHex:
      case FieldKind::kBytes:
      case FieldKind::kText:
        break;
    }
    return put_unsigned(field.name, text, offset, field.width);
  }

  bool put_pair(const Field& field, std::string_view text, std::size_t offset) {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) {
      return fail(std::string(field.name) + ": " + quoted(text) + " is not of the form TYPE/TYPE");
    }
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    if (!lookup(field.name, text.substr(0, slash), *field.values, 15, &low) ||
        !lookup(field.name, text.substr(slash + 1), *field.values, 15, &high)) {
      return false;
    }
    record_[offset] = static_cast<std::uint8_t>(high << 4 | low);
    return true;
  }

  // 0x... are the bits. A float field takes any decimal number, an immediate
  // takes whole numbers as they are and floats with the suffix f.
  bool put_float(const Field& field, std::string_view text, std::size_t offset, bool immediate) {
    if (text.starts_with("0x") || (immediate && !text.ends_with('f'))) {
      if (immediate && text.starts_with('-')) {
        return put_signed(field.name, text, offset, field.width);
      }
      return put_unsigned(field.name, text, offset, field.width);
    }
    if (immediate) text.remove_suffix(1);
    const auto value = parse_float(text);
    if (!value) return fail(std::string(field.name) + ": " + quoted(text) + " is not a number");
    store_le(record_.data() + offset, 4, std::bit_cast<std::uint32_t>(*value));
    return true;
  }

  const Instruction& instruction_;
  const RecordLayout& layout_;
  std::string* error_;
  RecordBytes record_{};
  std::vector<std::string_view> seen_;
};

std::optional<RecordBytes> raw_record(std::string_view text, std::string* error) {
  RecordBytes record{};
  bool good = text.starts_with("hex:") && text.size() == 4 + 2 * kRecordBytes;
  for (std::size_t i = 0; good && i < kRecordBytes; ++i) {
    const int high = hex_digit(text[4 + 2 * i]);
    const int low = hex_digit(text[5 + 2 * i]);
    good = high >= 0 && low >= 0;
    if (good) record[i] = static_cast<std::uint8_t>(high << 4 | low);
  }
  if (good) return record;
  *error = ".record takes hex: and 128 hex digits";
  return std::nullopt;
}

}  // namespace

std::optional<RecordBytes> assemble(std::string_view line, Generation generation,
                                    std::string* error, std::span<const Instruction> own) {
  std::string ignored;
  if (error == nullptr) error = &ignored;
  std::vector<std::string_view> words;
  if (!split_words(line, &words, error)) return std::nullopt;
  if (words.empty()) {
    *error = "no instruction";
    return std::nullopt;
  }
  if (words[0] == ".record") {
    return raw_record(words.size() == 2 ? words[1] : std::string_view(), error);
  }
  const auto mine = std::find_if(own.begin(), own.end(),
                                 [&](const Instruction& i) { return words[0] == i.name; });
  const Instruction* instruction = mine != own.end() ? &*mine : find_instruction(words[0]);
  if (instruction == nullptr) {
    *error = "unknown instruction " + quoted(words[0]);
    return std::nullopt;
  }
  if (!instruction->exists_on(generation)) {
    *error = std::string(instruction->name) + " does not exist on " + generation_name(generation);
    return std::nullopt;
  }
  Encoder encoder(*instruction, generation, error);
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equal = words[i].find('=');
    if (equal == std::string_view::npos || equal == 0) {
      *error = std::string(instruction->name) + ": " + quoted(words[i]) + " is not key=value";
      return std::nullopt;
    }
    if (!encoder.set({words[i].substr(0, equal), words[i].substr(equal + 1)})) return std::nullopt;
  }
  return encoder.record();
}

}  // namespace opennrt::isa
