// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace opennrt::dump {

class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    char name[] = "/tmp/opennrt-dump-XXXXXX";
    if (mkdtemp(name) != nullptr) path_ = name;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

  std::string script(const std::string& name, const std::string& body) const {
    const std::string path = path_ + "/" + name;
    std::ofstream(path) << "#!/bin/sh\n" << body;
    chmod(path.c_str(), 0755);
    return path;
  }

 private:
  std::string path_;
};

inline std::string text_of_file(const std::string& path) {
  std::stringstream out;
  out << std::ifstream(path).rdbuf();
  return out.str();
}

inline std::set<std::string> files_in(const std::string& directory) {
  std::set<std::string> out;
  std::error_code none;
  for (const auto& e : std::filesystem::directory_iterator(directory, none))
    out.insert(e.path().filename());
  return out;
}

}  // namespace opennrt::dump
