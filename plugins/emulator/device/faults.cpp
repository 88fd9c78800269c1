// SPDX-License-Identifier: Apache-2.0
#include "device/faults.h"

#include <algorithm>
#include <cerrno>
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
  const char* keys;      // besides point and device
  const char* required;  // nullptr: none
};

constexpr PointRow kPoints[] = {
    {"error_record", Fault::Point::kErrorRecord, "n core engine type detail", "type"},
    {"custom_record", Fault::Point::kCustomRecord, "n core engine sub_id hint", "sub_id"},
    {"queue_overflow", Fault::Point::kQueueOverflow, "n core engine", nullptr},
    {"hang", Fault::Point::kHang, "n core engine", nullptr},
    {"dma_abort", Fault::Point::kDmaAbort, "n core ring", nullptr},
    {"sram_uncorrected", Fault::Point::kSramUncorrected, "n core count", nullptr},
    {"hbm_uncorrected", Fault::Point::kHbmUncorrected, "n core count", nullptr},
    {"hbm_repairable", Fault::Point::kHbmRepairable, "n core count", nullptr},
    {"kill_process", Fault::Point::kKillProcess, "n ioctl", "ioctl"},
    {"memory_exhausted", Fault::Point::kMemoryExhausted, "channel host after_bytes", "after_bytes"},
    {"reset_failed", Fault::Point::kResetFailed, "n count reset_delay_ms", nullptr},
    {"reset_delayed", Fault::Point::kResetDelayed, "n count reset_delay_ms", "reset_delay_ms"},
};
// An entry without a point.
constexpr PointRow kRequestRow = {"ioctl", Fault::Point::kRequest,
                                  "n count ioctl errno latency_us residue", "ioctl"};

struct ErrorName {
  const char* name;
  int value;
};
// What the kernel interface can answer with. 524 has no name in libc.
constexpr ErrorName kErrors[] = {
    {"EPERM", EPERM},   {"ENOENT", ENOENT},         {"EINTR", EINTR},
    {"EIO", EIO},       {"ENXIO", ENXIO},           {"E2BIG", E2BIG},
    {"EBADF", EBADF},   {"EAGAIN", EAGAIN},         {"ENOMEM", ENOMEM},
    {"EACCES", EACCES}, {"EFAULT", EFAULT},         {"EBUSY", EBUSY},
    {"EEXIST", EEXIST}, {"ENODEV", ENODEV},         {"EINVAL", EINVAL},
    {"EMFILE", EMFILE}, {"ENOTTY", ENOTTY},         {"EFBIG", EFBIG},
    {"ENOSPC", ENOSPC}, {"EPROTO", EPROTO},         {"EBADMSG", EBADMSG},
    {"ENOSYS", ENOSYS}, {"EALREADY", EALREADY},     {"ETIMEDOUT", ETIMEDOUT},
    {"ENOTSUPP", 524},  {"EOPNOTSUPP", EOPNOTSUPP}, {"EPROTONOSUPPORT", EPROTONOSUPPORT},
};
constexpr std::uint64_t kMostErrors = 4096;           // of the kernel
constexpr std::uint64_t kMostLatencyUs = 60'000'001;  // a minute
constexpr std::uint64_t kMostResetDelayMs = 600'001;  // ten minutes

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

bool set_errno(const std::string& text, int* out, std::string* error) {
  for (const ErrorName& e : kErrors)
    if (text == e.name) {
      *out = e.value;
      return true;
    }
  const auto value = number(text);
  if (value && *value > 0 && *value < kMostErrors) {
    *out = static_cast<int>(*value);
    return true;
  }
  *error = "errno is \"" + text + "\", allowed are names such as ENOMEM and 1 to " +
           std::to_string(kMostErrors - 1);
  return false;
}

bool set_request(const std::string& text, const FaultLimits& limits, std::uint32_t* out,
                 std::string* error) {
  const auto found = std::find(limits.requests.begin(), limits.requests.end(), text);
  if (found != limits.requests.end()) {
    *out = static_cast<std::uint32_t>(found - limits.requests.begin());
    return true;
  }
  *error = "ioctl is \"" + text + "\", which is no driver request";
  // The names that have the text in them: one of the forms is meant, mostly.
  std::string like;
  for (const std::string_view name : limits.requests)
    if (!text.empty() && name.find(text) != std::string_view::npos)
      like += (like.empty() ? "" : ", ") + std::string(name);
  *error += like.empty() ? "; the names are those of the interface, such as MEM_ALLOC_V2MT64"
                         : "; there are " + like;
  return false;
}

bool set_flag(const std::string& key, const std::string& text, bool* out, std::string* error) {
  *out = text == "1" || text == "true";
  if (*out || text == "0" || text == "false") return true;
  *error = key + " is \"" + text + "\", allowed are 0 and 1";
  return false;
}

bool not_zero(const std::string& key, std::uint64_t value, std::string* error) {
  if (value != 0) return true;
  *error = key + " is 0, which changes nothing; write 1 or more";
  return false;
}

bool set_key(const PointRow& row, const std::string& key, const std::string& text,
             const FaultLimits& limits, Fault* out, std::string* error) {
  constexpr std::uint64_t kByte = 1u << 8, kHalf = 1u << 16, kNibble = 1u << 4, kAny = 1ull << 32;
  if (key == "point") return true;
  if (key == "device") return set(key, text, limits.devices, &out->device, error);
  if (!has_word(row.keys, key)) {
    *error = "key " + key + " is not known; " + row.name +
             (row.point == Fault::Point::kRequest ? " has device " : " has point device ") +
             row.keys;
    return false;
  }
  if (key == "n") return set(key, text, kAny, &out->n, error);
  if (key == "core") return set(key, text, limits.cores, &out->core, error);
  if (key == "engine") return set_engine(text, &out->engine, error);
  if (key == "type") return set(key, text, kByte, &out->type, error);
  if (key == "detail") return set(key, text, kHalf, &out->detail, error);
  if (key == "sub_id") return set(key, text, kHalf, &out->sub_id, error);
  if (key == "hint") return set(key, text, kNibble, &out->hint, error);
  if (key == "ring") return set(key, text, limits.rings, &out->ring, error);
  if (key == "ioctl") return set_request(text, limits, &out->request, error);
  if (key == "errno") return set_errno(text, &out->error, error);
  if (key == "latency_us") return set(key, text, kMostLatencyUs, &out->latency_us, error);
  if (key == "residue")
    return set(key, text, kAny / 2, &out->residue, error) && not_zero(key, out->residue, error);
  if (key == "channel") return set(key, text, limits.channels, &out->channel, error);
  if (key == "host") return set_flag(key, text, &out->host, error);
  if (key == "after_bytes") return set(key, text, UINT64_MAX, &out->after_bytes, error);
  if (key == "reset_delay_ms")
    return set(key, text, kMostResetDelayMs, &out->reset_delay_ms, error);
  return set(key, text, kAny, &out->count, error) && not_zero(key, out->count, error);
}

const std::string* find(const Entry& entry, std::string_view key) {
  for (const auto& [name, value] : entry)
    if (name == key) return &value;
  return nullptr;
}

// What no single key shows.
bool check_fault(const Entry& entry, Fault* fault, std::string* error) {
  const bool has_n = find(entry, "n") != nullptr;
  switch (fault->point) {
    case Fault::Point::kRequest:
      fault->every = !has_n;
      if (!has_n && find(entry, "count")) {
        *error = "count needs the key n; without both every such request is meant";
        return false;
      }
      if (fault->error != 0 && fault->residue != 0) {
        *error = "errno and residue exclude each other: a request has one result";
        return false;
      }
      if (fault->error == 0 && fault->residue == 0 && fault->latency_us == 0) {
        *error = "ioctl needs one of the keys errno, residue, latency_us";
        return false;
      }
      break;
    case Fault::Point::kMemoryExhausted:
      if (!fault->host || fault->channel == Fault::kNone) return true;
      *error = "channel and host exclude each other; write one entry for each pool";
      return false;
    case Fault::Point::kKillProcess:
      break;
    default:
      return true;
  }
  if (fault->n != 0) return true;
  *error = "n is 0, the first request is 1";
  return false;
}

bool make_fault(const Entry& entry, const FaultLimits& limits, Fault* out, std::string* error) {
  const std::string* const point = find(entry, "point");
  const PointRow* row = std::find_if(std::begin(kPoints), std::end(kPoints),
                                     [&](const PointRow& r) { return point && *point == r.name; });
  if (!point && find(entry, "ioctl")) row = &kRequestRow;
  if (row == std::end(kPoints)) {
    *error = point ? "point is \"" + *point + "\", allowed are"
                   : "key point is missing, or ioctl for a driver request; point is one of";
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
  return check_fault(entry, out, error);
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
