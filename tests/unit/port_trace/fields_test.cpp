// SPDX-License-Identifier: Apache-2.0
#include "ndl-common/request_fields.h"

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

namespace opennrt::ndl {
namespace {

TEST(RequestFields, FindsByCodeAndName) {
  for (const RequestInfo& info : kRequests) {
    SCOPED_TRACE(info.name);
    const RequestShape* shape = find_shape(info.code);
    ASSERT_NE(shape, nullptr);
    EXPECT_EQ(shape->code, info.code);
    EXPECT_EQ(find_shape(info.name), shape);
  }
  EXPECT_EQ(find_shape("NO_SUCH_REQUEST"), nullptr);
  EXPECT_EQ(find_shape(0u), nullptr);
}

TEST(RequestFields, ByNumberAndSizeWhereTheDriverMatchesSo) {
  // MEM_COPY64 is 0x80284E17; another direction is the same request to the driver.
  ASSERT_NE(find_shape(0xC0284E17u), nullptr);
  EXPECT_STREQ(find_shape(0xC0284E17u)->name(), "MEM_COPY64");
  EXPECT_EQ(find_shape(0x80294E17u), nullptr);  // another size
  EXPECT_EQ(find_shape(0x80284F17u), nullptr);  // another magic
  EXPECT_EQ(find_shape(0xC0084E19u), nullptr);  // MEM_GET_PA is matched exactly
}

TEST(RequestFields, BuffersOfCopiesGoByTheirSwitch) {
  const RequestShape* shape = find_shape("MEM_BUF_COPY64");
  ASSERT_NE(shape, nullptr);
  const Field& buffer = shape->fields[1];
  EXPECT_STREQ(buffer.name, "buffer");
  EXPECT_EQ(buffer.dir, FieldDir::kSwitched);
  EXPECT_EQ(buffer.direction.offset, 32);
  EXPECT_EQ(buffer.extent.count.offset, 16);
  EXPECT_EQ(buffer.extent.unit, 1u);
}

// --- against the description of the interface

void flatten(const YAML::Node& spec, const std::string& name, std::size_t at,
             const std::string& prefix, std::map<std::size_t, YAML::Node>* out) {
  for (const YAML::Node& field : spec["structs"][name]["fields"]) {
    YAML::Node copy = YAML::Clone(field);
    const auto type = field["type"].as<std::string>();
    copy["name"] = prefix + field["name"].as<std::string>();
    const std::size_t offset = at + field["offset"].as<std::size_t>();
    if (field["name"].as<std::string>() == "v1")
      flatten(spec, type.substr(7), offset, "v1.", out);
    else
      out->emplace(offset, copy);
  }
}

TEST(RequestFields, MatchTheInterface) {
  const char* folder = std::getenv("OPENNRT_SPEC");
  const auto path =
      std::filesystem::path(folder ? folder : OPENNRT_SPEC_DEFAULT) / "kernel-abi.yaml";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is absent; set OPENNRT_SPEC";
  const YAML::Node spec = YAML::LoadFile(path.string());
  std::size_t compared = 0;
  for (const YAML::Node& request : spec["ioctls"]) {
    const auto name = request["name"].as<std::string>();
    SCOPED_TRACE(name);
    const RequestShape* shape = find_shape(name.c_str());
    if (!shape) continue;  // the layout test says which may be missing
    EXPECT_EQ(shape->match == Match::kNumberAndSize, request["match"].as<std::string>() == "nr");
    EXPECT_EQ(shape->arg_bytes(), request["arg_size"].as<std::uint32_t>());
    if (!request["struct"] || !spec["structs"][request["struct"].as<std::string>("")]) continue;
    std::map<std::size_t, YAML::Node> theirs;
    flatten(spec, request["struct"].as<std::string>(), 0, "", &theirs);
    EXPECT_EQ(shape->fields.size(), theirs.size());
    for (const Field& field : shape->fields) {
      SCOPED_TRACE(field.name);
      const auto found = theirs.find(field.spot.offset);
      ASSERT_NE(found, theirs.end());
      const YAML::Node& row = found->second;
      EXPECT_EQ(field.name, row["name"].as<std::string>());
      EXPECT_EQ(field.spot.bytes, row["size"].as<std::size_t>());
      const auto type = row["type"].as<std::string>();
      const auto dir = row["dir"].as<std::string>("");
      EXPECT_EQ(type == "ptr", leads_elsewhere(field.kind));
      if (field.spot.is_signed && field.kind == FieldKind::kNumber) {
        EXPECT_TRUE(type.starts_with("s") || field.spot.bytes == 4) << type;
      }
      if (dir == "out" || dir == "out*") {
        EXPECT_EQ(field.dir, FieldDir::kOut);
      } else if (dir == "in") {
        EXPECT_EQ(field.dir, FieldDir::kIn);
      } else if (dir == "ignored") {
        EXPECT_EQ(field.dir, FieldDir::kUnread);
      }
      ++compared;
    }
  }
  EXPECT_GT(compared, 350u);
}

}  // namespace
}  // namespace opennrt::ndl
