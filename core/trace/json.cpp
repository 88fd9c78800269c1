// SPDX-License-Identifier: Apache-2.0
#include "trace/json.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <string>

#include "strings/interned.h"
#include "trace/event_types.h"
#include "trace/names.h"

namespace opennrt::trace {

namespace {

constexpr int kDataVersion = 2;

// Names seen in one text, so that each is looked up once.
using ModelNames = std::map<std::uint64_t, std::string>;

void append_value(const Field& field, std::uint64_t value, ModelNames& models, std::string& out) {
  switch (field.form) {
    case FieldForm::kFlag:
      out += value != 0 ? "true" : "false";
      return;
    case FieldForm::kHex:
      fmt::format_to(std::back_inserter(out), "\"{:#x}\"", value);
      return;
    case FieldForm::kMemoryType:
      out += value == 0 ? "\"host\"" : "\"device\"";
      return;
    case FieldForm::kUsage:
      append_quoted(memory_usage_name(value), out);
      return;
    case FieldForm::kModel: {
      fmt::format_to(std::back_inserter(out), "{}", value);
      auto found = models.find(value);
      if (found == models.end())
        found = models.emplace(value, model_name(static_cast<std::uint32_t>(value))).first;
      if (found->second.empty()) return;
      out += ",\"model_name\":";
      append_quoted(found->second, out);
      return;
    }
    case FieldForm::kNumber:
    case FieldForm::kDeviceTime:
      fmt::format_to(std::back_inserter(out), "{}", value);
      return;
  }
}

// A name from a model file may be anything; a JSON text must be UTF-8.
bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80   ? 1
                               : lead < 0xC2 ? 0
                               : lead < 0xE0 ? 2
                               : lead < 0xF0 ? 3
                               : lead < 0xF5 ? 4
                                             : 0;
    if (length == 0 || length > text.size() - i) return false;
    for (std::size_t k = 1; k < length; ++k)
      if ((static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) return false;
    if (length > 2) {  // overlong forms, surrogates, beyond the last code point
      const auto second = static_cast<unsigned char>(text[i + 1]);
      if ((lead == 0xE0 && second < 0xA0) || (lead == 0xED && second >= 0xA0) ||
          (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second >= 0x90))
        return false;
    }
    i += length;
  }
  return true;
}

void append_event(const Record& record, ModelNames& models, std::string& out) {
  const Event& e = record.event;
  fmt::format_to(std::back_inserter(out),
                 R"({{"event_type":"{}","phase":"{}","id":{},"nc_idx":{},"nc_local_id":{},)"
                 R"("tracking_id":{},"thread_id":{},"worker_gid":{},"data":{{)",
                 name_of(e.type), name_of(e.phase), record.id, e.core, record.core_id, e.tracking,
                 record.thread, core_rank(e.core));
  std::uint64_t time = record.time_ns;
  const std::span<const Field> fields = fields_of(e.type, e.phase);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    fmt::format_to(std::back_inserter(out), "{}\"{}\":", i == 0 ? "" : ",", fields[i].name);
    append_value(fields[i], e.data[i], models, out);
    if (fields[i].form == FieldForm::kDeviceTime) time = e.data[i];
  }
  fmt::format_to(std::back_inserter(out), "}},\"timestamp_ns\":{}", time);
  if (e.sequence != 0) fmt::format_to(std::back_inserter(out), ",\"nrta_seq_id\":{}", e.sequence);
  out += '}';
}

}  // namespace

TextBlock::~TextBlock() { std::free(data_); }

bool TextBlock::append(std::string_view text) noexcept {
  if (text.size() >= capacity_ - size_) {
    const std::size_t wanted = 2 * capacity_ + text.size() + 1;
    void* grown = std::realloc(data_, wanted);
    if (grown == nullptr) return false;
    data_ = static_cast<char*>(grown);
    capacity_ = wanted;
  }
  std::memcpy(data_ + size_, text.data(), text.size());
  size_ += text.size();
  data_[size_] = '\0';
  return true;
}

char* TextBlock::release() {
  char* const data = data_;
  data_ = nullptr;
  size_ = capacity_ = 0;
  return data;
}

void append_quoted(std::string_view text, std::string& out) {
  const bool plain = is_utf8(text);
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (!plain && static_cast<unsigned char>(c) >= 0x80) {
      out += '?';
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  out += '"';
}

Status append_json(std::span<const Record> records, TextBlock& out) {
  const auto full = [&] {
    return Status::resource("no memory for the text of {} trace events; fetch fewer at a time",
                            records.size());
  };
  ModelNames models;
  std::string line;
  if (!out.append("{\"events\":[")) return full();
  for (const Record& record : records) {
    line.assign(&record == records.data() ? "" : ",");
    append_event(record, models, line);
    if (!out.append(line)) return full();
  }
  if (!out.append(fmt::format("],\"data_version\":{}}}", kDataVersion))) return full();
  return {};
}

std::string interned_json() {
  std::map<strings::StringId, std::string> texts = strings::all();
  for (std::size_t i = 0; i < kEventTypes; ++i) {
    const std::string_view name = name_of(static_cast<EventType>(i));
    texts.emplace(strings::id_of(name), name);
  }
  std::string out = "{";
  for (const auto& [id, text] : texts) {
    fmt::format_to(std::back_inserter(out), "{}\"{}\":", out.size() == 1 ? "" : ",", id);
    append_quoted(text, out);
  }
  return out + "}";
}

}  // namespace opennrt::trace
