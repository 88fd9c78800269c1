// SPDX-License-Identifier: Apache-2.0
//
// Configurations of files and variables that a test writes.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "config/config.h"

namespace opennrt::config {

class ConfigTest : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/opennrt-config-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    dir_ = name;
  }
  void TearDown() override {
    for (const auto& f : files_) ::unlink(f.c_str());
    ::rmdir(dir_.c_str());
  }
  std::string file(const std::string& name, const std::string& text) {
    const std::string path = dir_ + "/" + name;
    std::ofstream(path) << text;
    files_.push_back(path);
    return path;
  }
  Loaded load_with(Environment environment, const std::string& system_file = "") {
    return load({.system_file = system_file, .environment = std::move(environment)});
  }
  static std::string issue_text(const Loaded& loaded) {
    std::string all;
    for (const Issue& i : loaded.issues) all += i.text + "\n";
    return all;
  }
  std::string dir_;
  std::vector<std::string> files_;
};

}  // namespace opennrt::config
