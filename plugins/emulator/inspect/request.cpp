// SPDX-License-Identifier: Apache-2.0
#include "inspect/request.h"

#include <charconv>
#include <iterator>
#include <optional>

namespace opennrt::emu {

namespace {

constexpr DumpType kTypes[] = {
    {"float32", "<f4", 4},  {"float16", "<f2", 2},  {"bfloat16", "<V2", 2}, {"int8", "|i1", 1},
    {"uint8", "|u1", 1},    {"int16", "<i2", 2},    {"uint16", "<u2", 2},   {"int32", "<i4", 4},
    {"uint32", "<u4", 4},   {"int64", "<i8", 8},    {"uint64", "<u8", 8},   {"float8e3", "|V1", 1},
    {"float8e4", "|V1", 1}, {"float8e5", "|V1", 1},
};

constexpr const char* kEngineNames[] = {"PE", "ACT", "POOL", "DVE", "SP"};

constexpr std::uint32_t kMaxPartitions = 128;
// More than any partition or HBM has; keeps products below 2^64.
constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 40;

bool fail(std::string* error, std::string text) {
  *error = std::move(text);
  return false;
}

std::optional<std::uint64_t> number(std::string_view text) {
  int base = 10;
  if (text.substr(0, 2) == "0x") {
    base = 16;
    text.remove_prefix(2);
  }
  std::uint64_t value = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || ec != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

// "N", "FIRST-LAST" or "FIRST+COUNT"; within [0, limit).
bool parse_range(std::string_view text, std::uint64_t limit, std::uint64_t* first,
                 std::uint64_t* count) {
  const std::size_t mark = text.find_first_of("-+");
  const auto a = number(text.substr(0, mark));
  if (!a || *a >= limit) return false;
  *first = *a;
  *count = 1;
  if (mark == std::string_view::npos) return true;
  const auto b = number(text.substr(mark + 1));
  if (!b) return false;
  if (text[mark] == '+') {
    *count = *b;
  } else {
    if (*b < *a || *b >= limit) return false;
    *count = *b - *a + 1;
  }
  return *count != 0 && *count <= limit - *first;
}

std::string type_names() {
  std::string text;
  for (const DumpType& t : kTypes) text += (text.empty() ? "" : ", ") + std::string(t.name);
  return text;
}

bool take_type(std::string_view name, const std::string& where, Dump* out, std::string* error) {
  out->type = find_dump_type(name);
  out->type_given = true;
  if (out->type) return true;
  return fail(error,
              where + ": \"" + std::string(name) + "\" is no data type; known are " + type_names());
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool parse_core_memory(const std::vector<std::string_view>& parts, const std::string& where,
                       Dump* out, std::string* error) {
  const std::string name(parts[0]);
  if (parts.size() != 4)
    return fail(error, where + ": expected " + name + ":PARTITIONS:BYTES:DTYPE");
  std::uint64_t first = 0, count = 0;
  if (!parse_range(parts[1], kMaxPartitions, &first, &count))
    return fail(error, where + ": partitions \"" + std::string(parts[1]) +
                           "\"; expected N, FIRST-LAST or FIRST+COUNT within 0 to 127");
  out->first_partition = static_cast<std::uint32_t>(first);
  out->partitions = static_cast<std::uint32_t>(count);
  if (!parse_range(parts[2], kMaxBytes, &out->first_byte, &out->bytes))
    return fail(error, where + ": bytes \"" + std::string(parts[2]) +
                           "\"; expected N, FIRST-LAST or FIRST+COUNT");
  return take_type(parts[3], where, out, error);
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool decode(std::string_view word, std::string* out) {
  out->clear();
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (word[i] != '%') {
      out->push_back(word[i]);
      continue;
    }
    const int high = i + 2 < word.size() ? hex_digit(word[i + 1]) : -1;
    const int low = i + 2 < word.size() ? hex_digit(word[i + 2]) : -1;
    if (high < 0 || low < 0) return false;
    out->push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  return true;
}

std::string encode(const std::string& word) {
  std::string out;
  for (const char c : word) {
    if (c == ' ')
      out += "%20";
    else if (c == ',')
      out += "%2c";
    else if (c == '%')
      out += "%25";
    else
      out.push_back(c);
  }
  return out;
}

}  // namespace

const DumpType* find_dump_type(std::string_view name) {
  for (const DumpType& t : kTypes)
    if (name == t.name) return &t;
  return nullptr;
}

bool parse_break(std::string_view text, Breakpoint* out, std::string* error) {
  const std::string whole = "break \"" + std::string(text) + "\"";
  constexpr const char* kForm =
      ": expected [sgNN/]ENGINE:RECORD[@EXECUTION[.PASS]], for example sg00/PE:123@1";
  Breakpoint b;
  if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
    const std::string_view graph = text.substr(0, slash);
    const auto n = graph.substr(0, 2) == "sg" && graph.find('x') == std::string_view::npos
                       ? number(graph.substr(2))
                       : std::nullopt;
    if (!n || *n > 255) return fail(error, whole + kForm);
    b.subgraph = static_cast<std::uint32_t>(*n);
    text.remove_prefix(slash + 1);
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return fail(error, whole + kForm);
  const std::string_view engine = text.substr(0, colon);
  std::size_t e = 0;
  while (e < std::size(kEngineNames) && engine != kEngineNames[e]) ++e;
  if (e == std::size(kEngineNames))
    return fail(error, whole + ": no engine \"" + std::string(engine) +
                           "\"; the engines are PE, ACT, POOL, DVE and SP");
  b.engine = static_cast<std::uint32_t>(e);
  std::string_view rest = text.substr(colon + 1);
  const std::size_t at = rest.find('@');
  const auto counter = [](std::string_view t, std::uint32_t* value) {
    const auto n = number(t);
    if (!n || *n == 0 || *n > UINT32_MAX) return false;
    *value = static_cast<std::uint32_t>(*n);
    return true;
  };
  if (!counter(rest.substr(0, at), &b.record))
    return fail(error, whole + ": the record is a number from 1, as `opennrt neff disasm` counts");
  if (at != std::string_view::npos) {
    rest.remove_prefix(at + 1);
    const std::size_t dot = rest.find('.');
    if (!counter(rest.substr(0, dot), &b.execution) ||
        (dot != std::string_view::npos && !counter(rest.substr(dot + 1), &b.pass)))
      return fail(error, whole + ": execution and pass are numbers from 1");
  }
  *out = b;
  return true;
}

bool parse_dump(std::string_view text, Dump* out, std::string* error) {
  const std::string where = "dump \"" + std::string(text) + "\"";
  const std::vector<std::string_view> parts = split(text, ':');
  Dump d;
  d.type = find_dump_type("uint8");
  if (parts[0] == "sbuf" || parts[0] == "psum") {
    d.space = parts[0] == "sbuf" ? Dump::Space::kSbuf : Dump::Space::kPsum;
    if (!parse_core_memory(parts, where, &d, error)) return false;
  } else if (parts[0] == "var") {
    d.space = Dump::Space::kVariable;
    // A name may hold colons; a last part that is a type is the type.
    std::string_view name = text.substr(std::min<std::size_t>(4, text.size()));
    if (parts.size() > 2 && find_dump_type(parts.back())) {
      d.type = find_dump_type(parts.back());
      d.type_given = true;
      name.remove_suffix(parts.back().size() + 1);
    }
    if (name.empty()) return fail(error, where + ": expected var:NAME[:DTYPE]");
    d.variable = name;
  } else if (parts[0] == "hbm") {
    d.space = Dump::Space::kHbm;
    const auto address = parts.size() > 2 ? number(parts[1]) : std::nullopt;
    const auto bytes = parts.size() > 2 ? number(parts[2]) : std::nullopt;
    if (parts.size() > 4 || !address || !bytes || *bytes == 0 || *bytes > kMaxBytes)
      return fail(error, where + ": expected hbm:ADDRESS:BYTES[:DTYPE]");
    d.first_byte = *address;
    d.bytes = *bytes;
    if (parts.size() == 4 && !take_type(parts[3], where, &d, error)) return false;
  } else {
    return fail(error, where +
                           ": expected sbuf:PARTITIONS:BYTES:DTYPE, psum:PARTITIONS:BYTES:DTYPE, "
                           "var:NAME[:DTYPE] or hbm:ADDRESS:BYTES[:DTYPE]");
  }
  if (d.bytes % d.type->bytes != 0)
    return fail(error, where + ": " + std::to_string(d.bytes) + " bytes are no whole number of " +
                           d.type->name + " elements");
  *out = d;
  return true;
}

bool parse_item(std::string_view text, InspectItem* out, std::string* error) {
  const std::vector<std::string_view> words = split(text, ' ');
  InspectItem item;
  if (words.size() != 3 || !decode(words[0], &item.at_text) || !decode(words[1], &item.what_text) ||
      !decode(words[2], &item.file))
    return fail(error, "emulator.inspect: \"" + std::string(text) +
                           "\"; expected BREAK DUMP FILE with %20, %2c and %25 inside words");
  if (item.file.empty() || item.file.find('/') != std::string::npos || item.file[0] == '.')
    return fail(error, "emulator.inspect: file \"" + item.file +
                           "\"; expected a name inside emulator.inspect_dir");
  if (!parse_break(item.at_text, &item.at, error) || !parse_dump(item.what_text, &item.what, error))
    return fail(error, "emulator.inspect: " + std::string(*error));
  *out = item;
  return true;
}

bool parse_inspect(std::string_view text, std::vector<InspectItem>* out, std::string* error) {
  std::vector<InspectItem> items;
  for (std::string_view part : split(text, ',')) {
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    if (part.empty()) continue;
    InspectItem item;
    if (!parse_item(part, &item, error)) return false;
    items.push_back(std::move(item));
  }
  *out = std::move(items);
  return true;
}

std::string inspect_item(const std::string& at, const std::string& what, const std::string& file) {
  return encode(at) + " " + encode(what) + " " + encode(file);
}

std::string npy_header(const DumpType& type, const std::vector<std::uint64_t>& shape) {
  std::string dictionary =
      std::string("{'descr': '") + type.numpy + "', 'fortran_order': False, 'shape': (";
  for (const std::uint64_t n : shape) dictionary += std::to_string(n) + ", ";
  if (shape.size() > 1) dictionary.resize(dictionary.size() - 2);
  dictionary += "), }";
  // Magic, version and length take 10 bytes; data starts at a multiple of 64.
  constexpr std::size_t kPrefix = 10, kBoundary = 64;
  const std::size_t total =
      (kPrefix + dictionary.size() + 1 + kBoundary - 1) / kBoundary * kBoundary;
  dictionary.resize(total - kPrefix - 1, ' ');
  dictionary += '\n';
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(dictionary.size() & 0xFF);
  header += static_cast<char>(dictionary.size() >> 8);
  return header + dictionary;
}

}  // namespace opennrt::emu
