// SPDX-License-Identifier: Apache-2.0
#include "trace/show.h"

#include <strings.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>

#include "ndl-common/log.h"

namespace opennrt::tools {

namespace {

using trace::Fields;
using trace::Line;
using trace::Value;

constexpr std::size_t kHead = 16;  // bytes shown of a buffer that was kept

bool number(const std::string& text, std::optional<std::uint64_t>* out) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  *out = value;
  return true;
}

bool chosen(const Line& line, const TraceOptions& options) {
  if (options.thread && line.thread != *options.thread) return false;
  if (options.from && line.sequence < *options.from) return false;
  if (options.to && line.sequence > *options.to) return false;
  if (options.errors && (!line.answered || line.result >= 0)) return false;
  return options.requests.empty() ||
         std::any_of(options.requests.begin(), options.requests.end(), [&](const auto& name) {
           return strcasecmp(name.c_str(), line.call.c_str()) == 0;
         });
}

// Kept bytes as length, CRC and the first of them.
Value shortened(Value value) {
  if (value.kind == Value::Kind::kBytes && value.length > trace::kShortBytes &&
      value.keep != Value::Keep::kUnreadable) {
    value.keep = Value::Keep::kDigest;
    if (value.text.size() > kHead) value.text.resize(kHead);
  }
  for (Value& item : value.items) item = shortened(std::move(item));
  for (auto& [name, inner] : value.fields) inner = shortened(std::move(inner));
  return value;
}

void append_fields(std::string* out, const Fields& fields) {
  for (const auto& [name, value] : fields) {
    *out += ' ' + name + '=';
    trace::append(out, shortened(value));
  }
}

std::string result_of(const Line& line) {
  if (!line.answered) return "";
  if (line.result >= 0 || line.result <= -4096) return std::to_string(line.result);
  return ndl::ErrnoName(static_cast<int>(line.result)).text;
}

void append_line(std::string* out, const Line& line) {
  char columns[128];
  std::snprintf(columns, sizeof columns, "%7llu  t%-3u %11llu %9llu  %-12s ",
                static_cast<unsigned long long>(line.sequence), line.thread,
                static_cast<unsigned long long>(line.at_us),
                static_cast<unsigned long long>(line.took_us), result_of(line).c_str());
  *out += columns + line.call;
  append_fields(out, line.args);
  if (!line.outs.empty()) {
    *out += "  ->";
    append_fields(out, line.outs);
  }
  *out += '\n';
}

struct Row {
  std::uint64_t count = 0, errors = 0, total_us = 0, max_us = 0;

  void add(const Row& other) {
    count += other.count;
    errors += other.errors;
    total_us += other.total_us;
    max_us = std::max(max_us, other.max_us);
  }
};

void append_row(std::string* out, const std::string& name, const Row& row) {
  char text[192];
  std::snprintf(text, sizeof text, "%-36s %9llu %9llu %12llu %12.1f %12llu\n", name.c_str(),
                static_cast<unsigned long long>(row.count),
                static_cast<unsigned long long>(row.errors),
                static_cast<unsigned long long>(row.total_us),
                row.count ? static_cast<double>(row.total_us) / static_cast<double>(row.count) : 0,
                static_cast<unsigned long long>(row.max_us));
  *out += text;
}

std::string table(const trace::Trace& recording, const TraceOptions& options) {
  std::map<std::string, Row> rows;
  Row all;
  for (const trace::Session& session : recording.sessions)
    for (const Line& line : session.lines) {
      if (line.is_memory() || !chosen(line, options)) continue;
      const Row one{1, line.result < 0, line.took_us, line.took_us};
      rows[line.call].add(one);
      all.add(one);
    }
  std::vector<std::pair<std::string, Row>> order(rows.begin(), rows.end());
  std::sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
    return a.second.total_us != b.second.total_us ? a.second.total_us > b.second.total_us
                                                  : a.first < b.first;
  });
  char title[192];
  std::snprintf(title, sizeof title, "%-36s %9s %9s %12s %12s %12s\n", "call", "count", "errors",
                "total us", "mean us", "max us");
  std::string out = title;
  for (const auto& [name, row] : order) append_row(&out, name, row);
  append_row(&out, "all", all);
  return out;
}

std::string text_of(const Fields& fields, const char* name) {
  const Value* value = find(fields, name);
  return value && value->kind == Value::Kind::kText ? value->text : "?";
}

}  // namespace

std::string trace_help() {
  return "usage: opennrt trace FILE [options]\n"
         "Shows a recording of the calls at the system port (ndl.record, OPENNRT_NDL_RECORD).\n"
         "  --request NAME   only that request or call (MEM_COPY64, mmap); may be repeated\n"
         "  --errors         only calls that failed\n"
         "  --thread N       only that thread, numbered by first call\n"
         "  --from N         from that sequence number\n"
         "  --to N           up to that sequence number\n"
         "  --summary        count, errors and times per call instead of lines\n"
         "  --help           this text\n"
         "Columns: sequence, thread, start and duration in us, result, call with what the caller\n"
         "gave, -> what the driver gave. Of long buffers: d:LENGTH:CRC-32:first bytes. `mem` is\n"
         "memory of a mapping that changed.\n";
}

bool parse_trace_options(const std::vector<std::string>& words, TraceOptions* out,
                         std::string* error) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string word = words[i];
    std::optional<std::string> value;
    if (const auto equals = word.find('='); word.starts_with("--") && equals != word.npos) {
      value = word.substr(equals + 1);
      word.resize(equals);
    }
    const auto needs = [&](std::string* text) {
      if (!value && i + 1 < words.size()) value = words[++i];
      if (!value || value->empty()) {
        *error = word + " needs a value";
        return false;
      }
      *text = *value;
      return true;
    };
    const auto needs_number = [&](std::optional<std::uint64_t>* target) {
      std::string text;
      if (!needs(&text)) return false;
      if (number(text, target)) return true;
      *error = word + " " + text + ": is no number";
      return false;
    };
    const bool flag = word == "--errors" || word == "--summary" || word == "--help" || word == "-h";
    if (flag && value) {
      *error = word + " takes no value";
      return false;
    }
    std::string text;
    if (word == "--help" || word == "-h") {
      out->help = true;
    } else if (word == "--errors") {
      out->errors = true;
    } else if (word == "--summary") {
      out->summary = true;
    } else if (word == "--request") {
      if (!needs(&text)) return false;
      out->requests.push_back(text);
    } else if (word == "--thread") {
      if (!needs_number(&out->thread)) return false;
    } else if (word == "--from") {
      if (!needs_number(&out->from)) return false;
    } else if (word == "--to") {
      if (!needs_number(&out->to)) return false;
    } else if (word.size() > 1 && word[0] == '-') {
      *error = "unknown option " + word;
      return false;
    } else if (!out->file.empty()) {
      *error = "one file, not also " + word;
      return false;
    } else {
      out->file = word;
    }
  }
  if (!out->file.empty() || out->help) return true;
  *error = "the file is missing";
  return false;
}

std::string show_trace(const trace::Trace& recording, const TraceOptions& options) {
  if (options.summary) return table(recording, options);
  std::string out;
  std::size_t attach = 0;
  for (const trace::Session& session : recording.sessions) {
    out += "attach " + std::to_string(++attach) + ": process " +
           std::to_string(trace::number_of(session.header, "pid")) + ", " +
           text_of(session.header, "ndl") + " over port " + text_of(session.header, "port") + "\n";
    for (const Line& line : session.lines)
      if (chosen(line, options)) append_line(&out, line);
    if (!session.ended) out += "no detach was recorded\n";
  }
  return out;
}

}  // namespace opennrt::tools
