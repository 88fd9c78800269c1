// SPDX-License-Identifier: Apache-2.0
//
// Runs a program with an environment and gives back how it ended and what it said.
#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace opennrt::emu::test {

struct Ended {
  int code = -1;  // exit code, 128 + signal
  std::string out, error;
};

class Directory {
 public:
  Directory() {
    std::string name = std::filesystem::temp_directory_path() / "opennrt-test-XXXXXX";
    path_ = ::mkdtemp(name.data());
  }
  ~Directory() {
    std::error_code code;
    for (const auto& e : std::filesystem::recursive_directory_iterator(path_, code))
      if (e.is_directory())
        std::filesystem::permissions(e.path(), std::filesystem::perms::owner_all, code);
    std::filesystem::remove_all(path_, code);
  }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

inline std::string contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline Ended run_program(const std::vector<std::string>& words,
                         const std::vector<std::pair<std::string, std::string>>& environment = {}) {
  const Directory directory;
  const std::string out = directory / "out", error = directory / "error";
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::open("/dev/null", O_RDONLY), 0);
    ::dup2(::open(out.c_str(), O_WRONLY | O_CREAT, 0600), 1);
    ::dup2(::open(error.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600), 2);
    for (int fd = 3; fd < 64; ++fd) ::close(fd);
    for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  Ended ended;
  ended.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  ended.out = contents(out);
  ended.error = contents(error);
  return ended;
}

}  // namespace opennrt::emu::test
