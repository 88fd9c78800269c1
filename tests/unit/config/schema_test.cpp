// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <set>

#include "config/settings.h"

namespace opennrt::config {
namespace {

TEST(Schema, ListsExactlyTheKeysOfTheTable) {
  const YAML::Node schema = YAML::LoadFile(OPENNRT_SCHEMA_FILE);
  std::set<std::string> documented;
  for (const YAML::Node& row : schema["keys"]) {
    const auto key = row["key"].as<std::string>();
    documented.insert(key);
    const Setting* s = find_setting(key);
    ASSERT_NE(s, nullptr) << key << " is documented but not read";
    if (row["default"]) {
      EXPECT_EQ(row["default"].as<std::string>(), s->fallback) << key;
    }
    if (row["max"]) {
      EXPECT_EQ(row["max"].as<std::uint64_t>(), s->max) << key;
    }
    std::set<std::string> documented_variables, variables;
    for (const YAML::Node& v : row["environment"]) documented_variables.insert(v.as<std::string>());
    for (std::string_view v : s->variables)
      if (!v.empty()) variables.emplace(v);
    EXPECT_EQ(documented_variables, variables) << key;
  }
  for (const Setting& s : settings())
    EXPECT_EQ(documented.count(std::string(s.key)), 1u) << s.key << " is read but not documented";
}

}  // namespace
}  // namespace opennrt::config
