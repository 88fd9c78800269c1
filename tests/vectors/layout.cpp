// SPDX-License-Identifier: Apache-2.0
#include "layout.h"

#include <yaml-cpp/yaml.h>

namespace opennrt::replay {

const Field* Layout::find(const std::string& name) const {
  for (const Field& field : fields)
    if (field.name == name) return &field;
  return nullptr;
}

namespace {

Field read_field(const YAML::Node& node) {
  Field field;
  field.name = node["name"].as<std::string>();
  field.offset = node["offset"].as<std::size_t>();
  field.bytes = node["size"].as<std::size_t>();
  field.type = node["type"].as<std::string>();
  field.pointer = field.type == "ptr";
  field.output = node["dir"] && node["dir"].as<std::string>().find("out") != std::string::npos;
  const std::size_t bracket = field.type.find('[');
  if (bracket != std::string::npos && field.type[bracket + 1] != ']')
    field.elements = std::stoul(field.type.substr(bracket + 1));
  return field;
}

Request read_request(const YAML::Node& node) {
  Request request;
  request.name = node["name"].as<std::string>();
  request.code = node["code"].as<std::uint32_t>();
  request.arg_bytes = node["arg_size"].as<std::size_t>();
  const std::string form = node["form"].as<std::string>();
  request.none = form == "none";
  if (form != "none" && form != "scalar") request.layout = node["struct"].as<std::string>();
  return request;
}

}  // namespace

bool Interface::load(const std::string& path, std::string* error) {
  try {
    const YAML::Node root = YAML::LoadFile(path);
    for (const auto& item : root["structs"]) {
      Layout& layout = layouts[item.first.as<std::string>()];
      layout.bytes = item.second["size"].as<std::size_t>();
      for (const auto& field : item.second["fields"]) layout.fields.push_back(read_field(field));
    }
    for (const auto& node : root["ioctls"]) {
      const Request request = read_request(node);
      requests[request.name] = request;
    }
    return true;
  } catch (const std::exception& e) {
    *error = path + ": " + e.what();
    return false;
  }
}

}  // namespace opennrt::replay
