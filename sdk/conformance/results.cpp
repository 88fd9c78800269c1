// SPDX-License-Identifier: Apache-2.0
#include "results.h"

#include <unistd.h>

#include <cerrno>

namespace opennrt::conform {

namespace {
int results = -1;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\\') {
      out += "\\\\";
    } else {
      out += c;
    }
  }
  return out;
}

std::string unescaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    out += c == 'n' ? '\n' : c == 't' ? '\t' : c;
  }
  return out;
}

void set_results(int fd) { results = fd; }

void tell(std::string_view key, std::string_view text) {
  if (results < 0) return;
  std::string line(key);
  line += '\t';
  line += escaped(text);
  line += '\n';
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t n = ::write(results, line.data() + done, line.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // nobody listens any more
    done += static_cast<std::size_t>(n);
  }
}

}  // namespace opennrt::conform
