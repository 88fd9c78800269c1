// SPDX-License-Identifier: Apache-2.0
#include "ndl-common/record/trace.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "ndl-common/log.h"

namespace opennrt::trace {
namespace {

constexpr uint64_t kMostThreads = 4096;

bool plain(std::string_view name) {
  for (const char c : name)
    if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') && c != '_')
      return false;
  return !name.empty();
}

bool parse_header(std::string_view text, Fields* out, std::string* error) {
  Reader reader(text);
  reader.take(kMagic);
  uint64_t version = 0;
  if (!reader.number(&version)) {
    *error = "the version of the trace is missing";
    return false;
  }
  if (version != kVersion) {
    *error = "a trace of version " + std::to_string(version) + "; this program reads version " +
             std::to_string(kVersion);
    return false;
  }
  if (reader.at_end()) return true;
  if (reader.take(" ") && reader.fields(out) && reader.at_end()) return true;
  *error = reader.error().empty() ? "the header is NAME=VALUE words" : reader.error();
  return false;
}

}  // namespace

std::string to_text(const Line& line) {
  std::string out = std::to_string(line.sequence) + " t" + std::to_string(line.thread) + " @" +
                    std::to_string(line.at_us) + " +" + std::to_string(line.took_us) + " " +
                    line.call;
  if (!line.args.empty()) out.push_back(' ');
  append(&out, line.args);
  if (!line.answered) return out;
  out += " -> " + std::to_string(line.result);
  if (line.result < 0 && line.result > -4096)
    out += std::string(" ") + ndl::ErrnoName(static_cast<int>(line.result)).text;
  if (!line.outs.empty()) out.push_back(' ');
  append(&out, line.outs);
  return out;
}

bool parse_line(std::string_view text, Line* out, std::string* error) {
  Reader reader(text);
  uint64_t thread = 0;
  const auto begins = [&] {
    return reader.number(&out->sequence) && (reader.take(" t") || reader.fail("no thread t<N>")) &&
           reader.number(&thread) &&
           (thread < kMostThreads || reader.fail("more threads than a trace may have")) &&
           (reader.take(" @") || reader.fail("no time @<us>")) && reader.number(&out->at_us) &&
           (reader.take(" +") || reader.fail("no duration +<us>")) &&
           reader.number(&out->took_us) && (reader.take(" ") || reader.fail("no call"));
  };
  const auto rest = [&] {
    out->call = reader.word();
    if (!plain(out->call)) return reader.fail("the name of a call is missing");
    if (!reader.at_end() && reader.peek() == ' ' && !reader.take(" -> ")) {
      reader.take(" ");
      if (!reader.fields(&out->args)) return false;
      if (reader.at_end()) return true;
      if (!reader.take(" -> ")) return reader.fail("-> and a result are missing");
    } else if (reader.at_end()) {
      return true;
    }
    uint64_t result = 0;
    bool negative = false;
    if (!reader.number(&result, &negative)) return false;
    out->result = static_cast<int64_t>(result);
    out->answered = true;
    if (reader.at_end()) return true;
    if (!reader.take(" ")) return reader.fail("no space behind the result");
    if (reader.take("errno ")) {  // an error without a name
      uint64_t ignored = 0;
      if (!reader.number(&ignored)) return false;
    } else if (out->result < 0) {
      reader.word();
    }
    if (reader.at_end()) return true;
    reader.take(" ");
    return reader.fields(&out->outs) && (reader.at_end() || reader.fail("text behind the fields"));
  };
  if (begins() && rest()) {
    out->thread = static_cast<uint32_t>(thread);
    if (out->is_memory() || out->answered) return true;
    *error = "the result is missing";
    return false;
  }
  *error = reader.error();
  return false;
}

int parse_trace(std::string_view text, const std::string& name, Trace* out, std::string* error) {
  uint32_t number = 0;
  const auto bad = [&](const std::string& what) {
    *error = name + ":" + std::to_string(number) + ": " + what;
    return -EINVAL;
  };
  uint64_t last = 0;
  while (!text.empty()) {
    ++number;
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (number == 1 && !line.starts_with(kMagic))
      return bad("is no port trace: the first line does not begin with \"# opennrt port trace\"");
    if (end == text.npos) {  // the writer died in it
      out->cut = true;
      break;
    }
    text.remove_prefix(end + 1);
    std::string why;
    if (line.starts_with(kMagic)) {
      out->sessions.emplace_back();
      if (!parse_header(line, &out->sessions.back().header, &why)) return bad(why);
      last = 0;
      continue;
    }
    Session& session = out->sessions.back();
    if (line.starts_with(kEnd)) {
      session.ended = true;
      continue;
    }
    if (line.empty() || line[0] == '#') continue;
    if (session.ended) return bad("a call behind the end of its attach");
    Line parsed;
    parsed.number = number;
    if (!parse_line(line, &parsed, &why)) return bad(why);
    const bool together = parsed.is_memory() && !session.lines.empty() &&
                          session.lines.back().is_memory() && parsed.sequence == last;
    if (parsed.sequence <= last && !together)
      return bad("sequence " + std::to_string(parsed.sequence) + " behind " + std::to_string(last) +
                 ": lines are missing or out of order");
    last = parsed.sequence;
    session.lines.push_back(std::move(parsed));
  }
  if (number != 0) return 0;
  number = 1;
  return bad("is empty, no port trace");
}

int read_trace(const std::string& path, Trace* out, std::string* error) {
  const auto failed = [&](int number) {
    *error = path + ": " + std::strerror(number);
    return -number;
  };
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return failed(errno);
  struct stat info{};
  int bad = fstat(fd, &info) != 0 ? errno : 0;
  if (!bad && S_ISDIR(info.st_mode)) bad = EISDIR;
  if (!bad && !S_ISREG(info.st_mode)) bad = EOPNOTSUPP;
  std::string text;
  char chunk[65536];
  const auto is_other = [&] {
    return text.size() >= sizeof kMagic && !std::string_view(text).starts_with(kMagic);
  };
  // What is none is not read to its end.
  while (!bad && !is_other()) {
    const ssize_t n = read(fd, chunk, sizeof chunk);
    if (n == 0) break;
    if (n > 0)
      text.append(chunk, static_cast<size_t>(n));
    else if (errno != EINTR)
      bad = errno;
  }
  close(fd);
  return bad ? failed(bad) : parse_trace(text, path, out, error);
}

}  // namespace opennrt::trace
