// SPDX-License-Identifier: Apache-2.0
#include "plugin/manifest.h"

#include <yaml-cpp/yaml.h>

#include <charconv>
#include <filesystem>
#include <fstream>

#include "base/file.h"

namespace opennrt::plugin {

namespace {

constexpr std::size_t kMaxBytes = 64 << 10;

std::string word(const YAML::Node& root, const char* key) {
  const YAML::Node node = root[key];
  return node && node.IsScalar() ? node.Scalar() : std::string();
}

bool to_number(const std::string& text, std::int64_t* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return !text.empty() && error == std::errc{} && end == text.data() + text.size();
}

Result<Manifest> parse(const std::string& path, const std::string& text) {
  const YAML::Node root = YAML::Load(text);
  if (!root.IsMap()) return Status::invalid("{}: not a map of keys", path);
  Manifest out;
  out.path = path;
  const std::string kind = word(root, "kind");
  if (kind == "arch")
    out.kind = Kind::kArch;
  else if (kind == "ndl")
    out.kind = Kind::kNdl;
  else if (kind == "port")
    out.kind = Kind::kPort;
  else
    return Status::invalid("{}: kind is '{}', must be arch, ndl or port", path, kind);
  out.name = word(root, "name");
  if (out.name.empty()) return Status::invalid("{}: key name is missing", path);
  out.library = word(root, "library");
  if (out.library.empty()) return Status::invalid("{}: key library is missing", path);
  std::int64_t arch_type = 0;
  if (out.kind == Kind::kArch &&
      (!to_number(word(root, "arch_type"), &arch_type) || arch_type < 2 || arch_type > 0xFFFFFFFF))
    return Status::invalid("{}: arch_type is '{}', must be a number from 2", path,
                           word(root, "arch_type"));
  out.arch_type = static_cast<std::uint32_t>(arch_type);
  const std::string priority = word(root, "priority");
  if (!priority.empty() && !to_number(priority, &out.priority))
    return Status::invalid("{}: priority is '{}', must be a number", path, priority);
  out.abi = word(root, "abi");
  out.version = word(root, "version");
  if (out.version.empty()) out.version = word(root, "package_version");
  namespace fs = std::filesystem;
  out.library = (fs::path(path).parent_path() / out.library).lexically_normal().string();
  return out;
}

}  // namespace

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::kArch:
      return "arch";
    case Kind::kNdl:
      return "ndl";
    case Kind::kPort:
      return "port";
  }
  return "?";
}

Result<Manifest> read_manifest(const std::string& path) {
  if (!is_plain_file(path)) return Status::invalid("{}: not a regular file", path);
  try {
    std::ifstream in(path, std::ios::binary);
    if (!in) return Status::invalid("{}: cannot be opened", path);
    std::string text(kMaxBytes + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    if (text.size() > kMaxBytes)
      return Status::invalid("{}: larger than {} bytes", path, kMaxBytes);
    return parse(path, text);
  } catch (const YAML::Exception& e) {
    return Status::invalid("{}:{}: {}", path, e.mark.line + 1, e.msg);
  } catch (const std::exception& e) {
    return Status::invalid("{}: {}", path, e.what());
  }
}

int compare_versions(std::string_view a, std::string_view b) {
  auto next = [](std::string_view& text) {
    const auto dot = text.find('.');
    std::uint64_t number = 0;
    const std::string_view part = text.substr(0, dot);
    if (std::from_chars(part.data(), part.data() + part.size(), number).ec ==
        std::errc::result_out_of_range)
      number = UINT64_MAX;
    text = dot == std::string_view::npos ? std::string_view() : text.substr(dot + 1);
    return number;
  };
  while (!a.empty() || !b.empty()) {
    const auto x = next(a), y = next(b);
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

}  // namespace opennrt::plugin
