// SPDX-License-Identifier: Apache-2.0
//
// Checked access to a YAML node: every complaint carries file and line.
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace opennrt::neffkit {

class SourceReader {
 public:
  SourceReader(std::string_view source, std::string* error) : source_(source), error_(error) {}

  static int line_of(const YAML::Node& node) { return node.Mark().line + 1; }

  // Sets the error and returns false.
  bool fail(int line, const std::string& message) const;
  bool fail(const YAML::Node& node, const std::string& message) const {
    return fail(line_of(node), message);
  }

  // The node is a map without other keys than these; `what` names it.
  bool check_map(const YAML::Node& node, std::string_view what,
                 std::initializer_list<std::string_view> allowed) const;

  // Readers of one key of a map. A missing key fails when `required`, else it
  // leaves *out alone.
  bool text(const YAML::Node& map, const char* key, bool required, std::string* out) const;
  bool number(const YAML::Node& map, const char* key, bool required, std::uint64_t limit,
              std::uint64_t* out) const;
  bool numbers(const YAML::Node& map, const char* key, bool required, std::uint64_t limit,
               std::vector<std::uint64_t>* out) const;
  bool signed_numbers(const YAML::Node& map, const char* key, bool required,
                      std::vector<std::int64_t>* out) const;
  bool reals(const YAML::Node& map, const char* key, std::vector<double>* out) const;
  // A sequence, or absent.
  bool sequence(const YAML::Node& map, const char* key, YAML::Node* out) const;

  // Letters, digits, '_', '-' and '.': safe as member and manifest name.
  bool name(const YAML::Node& at, const std::string& text, std::size_t longest) const;

 private:
  bool missing(const YAML::Node& map, const char* key) const;
  std::string source_;
  std::string* error_;
};

}  // namespace opennrt::neffkit
