// SPDX-License-Identifier: Apache-2.0
#include "trace/show.h"

#include <strings.h>

#include <algorithm>
#include <cstdio>
#include <map>

#include "json_list.h"
#include "ndl-common/log.h"

namespace opennrt::tools {

namespace {

using trace::Fields;
using trace::Line;
using trace::Value;

constexpr std::size_t kHead = 16;  // bytes shown of a buffer that was kept

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
  double mean_us() const {
    return count ? static_cast<double>(total_us) / static_cast<double>(count) : 0;
  }
};

void append_row(std::string* out, const std::string& name, const Row& row) {
  char text[192];
  std::snprintf(text, sizeof text, "%-36s %9llu %9llu %12llu %12.1f %12llu\n", name.c_str(),
                static_cast<unsigned long long>(row.count),
                static_cast<unsigned long long>(row.errors),
                static_cast<unsigned long long>(row.total_us), row.mean_us(),
                static_cast<unsigned long long>(row.max_us));
  *out += text;
}

struct Table {
  std::vector<std::pair<std::string, Row>> rows;  // what took longest first
  Row all;
};

Table count(const trace::Trace& recording, const TraceOptions& options) {
  std::map<std::string, Row> rows;
  Table out;
  for (const trace::Session& session : recording.sessions)
    for (const Line& line : session.lines) {
      if (line.is_memory() || !chosen(line, options)) continue;
      const Row one{1, line.result < 0, line.took_us, line.took_us};
      rows[line.call].add(one);
      out.all.add(one);
    }
  out.rows.assign(rows.begin(), rows.end());
  std::sort(out.rows.begin(), out.rows.end(), [](const auto& a, const auto& b) {
    return a.second.total_us != b.second.total_us ? a.second.total_us > b.second.total_us
                                                  : a.first < b.first;
  });
  return out;
}

std::string table_of(const Table& table) {
  char title[192];
  std::snprintf(title, sizeof title, "%-36s %9s %9s %12s %12s %12s\n", "call", "count", "errors",
                "total us", "mean us", "max us");
  std::string out = title;
  for (const auto& [name, row] : table.rows) append_row(&out, name, row);
  append_row(&out, "all", table.all);
  return out;
}

// --- JSON -------------------------------------------------------------------

JsonList& add_row(JsonList& object, const Row& row) {
  return object.add("count", json_value(row.count))
      .add("errors", json_value(row.errors))
      .add("total_us", json_value(row.total_us))
      .add("mean_us", json_value(row.mean_us()))
      .add("max_us", json_value(row.max_us));
}

std::string json_of(const Table& table) {
  JsonList calls('['), all('{');
  for (const auto& [name, row] : table.rows) {
    JsonList object('{');
    object.add("call", json_string(name));
    calls.add(add_row(object, row).close());
  }
  add_row(all, table.all);
  return JsonList('{').add("calls", calls.close()).add("all", all.close()).close() + "\n";
}

std::string json_of(const Fields& fields);

std::string json_bytes(const Value& value) {
  JsonList out('{');
  out.add("length", json_value(value.length));
  if (value.keep == Value::Keep::kUnreadable) return out.add("unreadable", "true").close();
  std::string kept;
  char text[16];
  for (const char c : value.text) {
    std::snprintf(text, sizeof text, "%02x", static_cast<unsigned char>(c));
    kept += text;
  }
  out.add("bytes", json_string(kept));
  if (value.text.size() == value.length) return out.close();
  std::snprintf(text, sizeof text, "%08x", value.crc);
  return out.add("crc32", json_string(text)).close();
}

std::string json_of(const Value& value) {
  switch (value.kind) {
    case Value::Kind::kNull:
      return "null";
    case Value::Kind::kAddress:
      return json_string("addr");
    case Value::Kind::kNumber:
      return value.is_signed ? std::to_string(static_cast<std::int64_t>(value.number))
                             : std::to_string(value.number);
    case Value::Kind::kText:
      return json_string(value.text);
    case Value::Kind::kBytes:
      return json_bytes(value);
    case Value::Kind::kRecord:
      return json_of(value.fields);
    case Value::Kind::kList:
      break;
  }
  JsonList list('[');
  for (const Value& item : value.items) list.add(json_of(item));
  return list.close();
}

std::string json_of(const Fields& fields) {
  JsonList object('{');
  for (const auto& [name, value] : fields) object.add(name, json_of(shortened(value)));
  return object.close();
}

std::string json_of(const Line& line, std::size_t attach) {
  const bool named = line.answered && line.result < 0 && line.result > -4096;
  return JsonList('{')
             .add("attach", json_value(std::uint64_t{attach}))
             .add("sequence", json_value(line.sequence))
             .add("thread", json_value(std::uint64_t{line.thread}))
             .add("at_us", json_value(line.at_us))
             .add("took_us", json_value(line.took_us))
             .add("call", json_string(line.call))
             .add("result", line.answered ? std::to_string(line.result) : "null")
             .add("error", named ? json_string(result_of(line)) : "null")
             .add("given", json_of(line.args))
             .add("answer", json_of(line.outs))
             .close() +
         "\n";
}

std::string text_of(const Fields& fields, const char* name) {
  const Value* value = find(fields, name);
  return value && value->kind == Value::Kind::kText ? value->text : "?";
}

}  // namespace

CommandLine trace_command_line() {
  return {
      {.command = "opennrt trace",
       .usage = "[options] FILE",
       .header =
           "Shows a recording of the calls at the system port (ndl.record, OPENNRT_NDL_RECORD).",
       .footer =
           "Columns: sequence, thread, start and duration in us, result, call with what the caller "
           "gave, -> what the driver gave. Of long buffers: d:LENGTH:CRC-32:first bytes. `mem` is "
           "memory of a mapping that changed."},
      {Option("request", "r", "only that request or call (MEM_COPY64, mmap); may be repeated")
           .argument("NAME")
           .repeatable(true),
       Option("errors", "e", "only calls that failed"),
       Option("thread", "t", "only that thread, numbered by first call").argument("N"),
       Option("from", "", "from that sequence number").argument("N"),
       Option("to", "", "up to that sequence number").argument("N"),
       Option("summary", "s", "count, errors and times per call instead of lines"),
       Option(
           "json", "j",
           "for programs: a line {attach, pid, ndl, port, ended} for each attach, then its calls, "
           "a line {attach, sequence, thread, at_us, took_us, call, result, error, given, answer} "
           "each; bytes are {length, bytes, crc32} in hex. With --summary one {calls: a list of "
           "{call, count, errors, total_us, mean_us, max_us}, all}")}};
}

TraceOptions trace_options(const Arguments& arguments) {
  TraceOptions out;
  for (const auto& [name, value] : arguments.all) {
    if (name == "request") out.requests.push_back(value);
    if (name == "thread") out.thread = number_of(name, value);
    if (name == "from") out.from = number_of(name, value);
    if (name == "to") out.to = number_of(name, value);
    out.errors |= name == "errors";
    out.summary |= name == "summary";
    out.json |= name == "json";
  }
  out.file = arguments.only_word("FILE");
  return out;
}

std::string show_trace(const trace::Trace& recording, const TraceOptions& options) {
  if (options.summary) {
    const Table table = count(recording, options);
    return options.json ? json_of(table) : table_of(table);
  }
  std::string out;
  std::size_t attach = 0;
  for (const trace::Session& session : recording.sessions) {
    ++attach;
    const std::uint64_t pid = trace::number_of(session.header, "pid");
    const std::string ndl = text_of(session.header, "ndl"), port = text_of(session.header, "port");
    if (options.json)
      out += JsonList('{')
                 .add("attach", json_value(std::uint64_t{attach}))
                 .add("pid", json_value(pid))
                 .add("ndl", json_string(ndl))
                 .add("port", json_string(port))
                 .add("ended", session.ended ? "true" : "false")
                 .close() +
             "\n";
    else
      out += "attach " + std::to_string(attach) + ": process " + std::to_string(pid) + ", " + ndl +
             " over port " + port + "\n";
    for (const Line& line : session.lines) {
      if (!chosen(line, options)) continue;
      if (options.json)
        out += json_of(line, attach);
      else
        append_line(&out, line);
    }
    if (!session.ended && !options.json) out += "no detach was recorded\n";
  }
  return out;
}

}  // namespace opennrt::tools
