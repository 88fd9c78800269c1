// SPDX-License-Identifier: Apache-2.0
#include "output.h"

#include <stdio_ext.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace opennrt::tools {

namespace {

int first_error = 0;

bool note_error() {
  if (first_error == 0) first_error = errno != 0 ? errno : EIO;
  return false;
}

}  // namespace

bool print(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size()) return first_error == 0;
  return note_error();
}

Written print_now(std::string_view text) {
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return Written::kYes;
  if (errno != EPIPE) {
    note_error();
    return Written::kFailed;
  }
  __fpurge(stdout);
  std::clearerr(stdout);
  return Written::kReaderGone;
}

std::string printable(std::string_view text) {
  std::string out;
  bool marked = false;  // the character has its '?'
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool more = byte >= 0x80 && byte < 0xC0;
    if (more && marked) continue;
    marked = byte >= 0x80;
    out += byte >= 0x20 && byte < 0x7F ? c : '?';
  }
  return out;
}

int finish_output(std::string_view command, int code, int trouble) {
  errno = 0;
  if (std::fflush(stdout) != 0) note_error();
  // Of lines that went out by themselves the reason is not known.
  if (first_error == 0 && std::ferror(stdout) == 0) return code;
  std::fprintf(stderr, "%.*s: standard output: cannot write%s%s\n",
               static_cast<int>(command.size()), command.data(), first_error == 0 ? "" : ": ",
               first_error == 0 ? "" : std::strerror(first_error));
  return std::max(code, trouble);
}

}  // namespace opennrt::tools
