// SPDX-License-Identifier: Apache-2.0
#include "device/faults.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <utility>

namespace opennrt::emu {

namespace {

using Entry = std::vector<std::pair<std::string, std::string>>;

constexpr const char* kEngineNames[] = {"PE", "ACT", "POOL", "DVE", "SP"};

struct PointRow {
  const char* name;
  Fault::Point point;
  const char* keys;      // besides n, device and core
  const char* required;  // nullptr: none
};

constexpr PointRow kPoints[] = {
    {"error_record", Fault::Point::kErrorRecord, "engine type detail", "type"},
    {"custom_record", Fault::Point::kCustomRecord, "engine sub_id hint", "sub_id"},
    {"queue_overflow", Fault::Point::kQueueOverflow, "engine", nullptr},
    {"hang", Fault::Point::kHang, "engine", nullptr},
    {"dma_abort", Fault::Point::kDmaAbort, "ring", nullptr},
    {"sram_uncorrected", Fault::Point::kSramUncorrected, "count", nullptr},
    {"hbm_uncorrected", Fault::Point::kHbmUncorrected, "count", nullptr},
    {"hbm_repairable", Fault::Point::kHbmRepairable, "count", nullptr},
};

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (list.substr(0, end) == word) return true;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return false;
}

// Reader of a flow list of flat maps, all that this setting needs of YAML.
class FlowReader {
 public:
  explicit FlowReader(std::string_view text) : text_(text) {}

  // False: error() says where and what.
  bool read(std::vector<Entry>* out) {
    if (at_end()) return true;
    if (!take('[')) return expected("'['");
    while (!take(']')) {
      Entry entry;
      if (!map(&entry)) return false;
      out->push_back(std::move(entry));
      if (!take(',') && !next_is(']')) return expected("',' or ']'");
    }
    return at_end() || expected("the end");
  }
  const std::string& error() const { return error_; }

 private:
  bool map(Entry* out) {
    if (!take('{')) return expected("'{'");
    while (!take('}')) {
      std::string key, value;
      if (!word(&key)) return expected("a key");
      if (!take(':')) return expected("':' after " + key);
      if (!word(&value)) return expected("a value of " + key);
      for (const auto& [name, unused] : *out)
        if (name == key) {
          error_ = "key " + key + " comes twice";
          return false;
        }
      out->emplace_back(std::move(key), std::move(value));
      if (!take(',') && !next_is('}')) return expected("',' or '}'");
    }
    return true;
  }
  bool word(std::string* out) {
    skip_space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote == '"' || quote == '\'') {
      const std::size_t end = text_.find(quote, at_ + 1);
      if (end == std::string_view::npos) return false;
      *out = text_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
      return true;
    }
    const std::size_t end = std::min(text_.find_first_of(" \t\r\n,:{}[]\"'", at_), text_.size());
    *out = text_.substr(at_, end - at_);
    at_ = end;
    return !out->empty();
  }
  void skip_space() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }
  bool at_end() {
    skip_space();
    return at_ == text_.size();
  }
  bool next_is(char c) {
    skip_space();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool take(char c) {
    if (!next_is(c)) return false;
    ++at_;
    return true;
  }
  bool expected(const std::string& what) {
    skip_space();
    error_ = "expected " + what + " at character " + std::to_string(at_ + 1);
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::string error_;
};

std::optional<std::uint64_t> number(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x")) {
    base = 16;
    text.remove_prefix(2);
  }
  std::uint64_t value = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || ec != std::errc() || end != text.data() + text.size()) return {};
  return value;
}

// Sets *out from the text. False: *error.
template <typename T>
bool set(const std::string& key, const std::string& text, std::uint64_t limit, T* out,
         std::string* error) {
  const auto value = number(text);
  if (!value || *value >= limit) {
    *error = key + " is \"" + text + "\", allowed are 0 to " + std::to_string(limit - 1);
    return false;
  }
  *out = static_cast<T>(*value);
  return true;
}

bool set_engine(const std::string& text, std::uint32_t* out, std::string* error) {
  const auto found = std::find(std::begin(kEngineNames), std::end(kEngineNames), text);
  if (found == std::end(kEngineNames)) {
    *error = "engine is \"" + text + "\", allowed are PE, ACT, POOL, DVE, SP";
    return false;
  }
  *out = static_cast<std::uint32_t>(found - std::begin(kEngineNames));
  return true;
}

bool set_key(const PointRow& row, const std::string& key, const std::string& text,
             const FaultLimits& limits, Fault* out, std::string* error) {
  constexpr std::uint64_t kByte = 1u << 8, kHalf = 1u << 16, kNibble = 1u << 4, kAny = 1ull << 32;
  if (key == "point") return true;
  if (key == "n") return set(key, text, kAny, &out->n, error);
  if (key == "device") return set(key, text, limits.devices, &out->device, error);
  if (key == "core") return set(key, text, limits.cores, &out->core, error);
  if (!has_word(row.keys, key)) {
    *error = "key " + key + " is not known; " + row.name + " has point n device core " + row.keys;
    return false;
  }
  if (key == "engine") return set_engine(text, &out->engine, error);
  if (key == "type") return set(key, text, kByte, &out->type, error);
  if (key == "detail") return set(key, text, kHalf, &out->detail, error);
  if (key == "sub_id") return set(key, text, kHalf, &out->sub_id, error);
  if (key == "hint") return set(key, text, kNibble, &out->hint, error);
  if (key == "ring") return set(key, text, limits.rings, &out->ring, error);
  if (!set(key, text, kAny, &out->count, error)) return false;
  if (out->count != 0) return true;
  *error = "count is 0, which changes nothing; allowed are 1 to " + std::to_string(kAny - 1);
  return false;
}

const std::string* find(const Entry& entry, std::string_view key) {
  for (const auto& [name, value] : entry)
    if (name == key) return &value;
  return nullptr;
}

bool make_fault(const Entry& entry, const FaultLimits& limits, Fault* out, std::string* error) {
  const std::string* const point = find(entry, "point");
  const auto row = std::find_if(std::begin(kPoints), std::end(kPoints),
                                [&](const PointRow& r) { return point && *point == r.name; });
  if (row == std::end(kPoints)) {
    *error =
        point ? "point is \"" + *point + "\", allowed are" : "key point is missing, it is one of";
    for (const PointRow& r : kPoints) *error += std::string(" ") + r.name;
    return false;
  }
  out->point = row->point;
  for (const auto& [key, value] : entry)
    if (!set_key(*row, key, value, limits, out, error)) return false;
  if (row->required && !find(entry, row->required)) {
    *error = std::string(row->name) + " needs the key " + row->required;
    return false;
  }
  return true;
}

}  // namespace

bool parse_faults(std::string_view text, const FaultLimits& limits, std::vector<Fault>* out,
                  std::string* error) {
  std::vector<Entry> entries;
  FlowReader reader(text);
  if (!reader.read(&entries)) {
    *error = "emulator.faults: " + reader.error() + "; write [{point: hang, n: 1}]";
    return false;
  }
  std::vector<Fault> faults;
  for (const Entry& entry : entries) {
    std::string what;
    Fault fault;
    if (!make_fault(entry, limits, &fault, &what)) {
      *error = "emulator.faults, entry " + std::to_string(faults.size() + 1) + ": " + what;
      return false;
    }
    faults.push_back(fault);
  }
  *out = std::move(faults);
  return true;
}

}  // namespace opennrt::emu
