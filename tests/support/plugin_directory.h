// SPDX-License-Identifier: Apache-2.0
//
// A temporary plugin directory with manifests for the plugin doubles.
#pragma once

#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace opennrt::test {

class PluginDirectory {
 public:
  PluginDirectory() {
    char name[] = "/tmp/opennrt-plugins-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~PluginDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  PluginDirectory(const PluginDirectory&) = delete;
  PluginDirectory& operator=(const PluginDirectory&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(file(name)) << text;
    return file(name);
  }
  // Path of a double as built.
  static std::string library(const std::string& name) {
    return std::string(OPENNRT_DOUBLES_DIR) + "/double-" + name + ".so";
  }
  // Manifest `file` for a library; extra: further lines.
  std::string manifest(const std::string& file_name, const std::string& kind,
                       const std::string& name, const std::string& library_path,
                       const std::string& extra = "") const {
    return write(
        file_name,
        fmt::format(
            "kind: {}\nname: {}\nlibrary: {}\nabi: \"1.0\"\n{}{}", kind, name, library_path,
            kind == "arch" && extra.find("arch_type") == extra.npos ? "arch_type: 256\n" : "",
            extra));
  }
  // A complete working set: arch, port and driver layer, all named "double".
  void add_working_set() const {
    manifest("arch.plugin.yaml", "arch", "double", library("arch"));
    manifest("port.plugin.yaml", "port", "double", library("port"));
    manifest("ndl.plugin.yaml", "ndl", "double", library("ndl"));
  }

 private:
  std::string path_;
};

}  // namespace opennrt::test
