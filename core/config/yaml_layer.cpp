// SPDX-License-Identifier: Apache-2.0
#include "config/yaml_layer.h"

#include <errno.h>
#include <string.h>
#include <yaml-cpp/yaml.h>

#include <fstream>
#include <iterator>
#include <set>

#include "base/file.h"
#include "config/settings.h"

namespace opennrt::config {

namespace {

constexpr std::size_t kMaxFileBytes = 1 << 20;
// Aliases may describe a tree far larger than the file.
constexpr int kMaxNodes = 20'000;
constexpr int kMaxDepth = 16;

bool leads_to_known_key(std::string_view path) {
  for (const Setting& row : settings())
    if (row.key.starts_with(path) && row.key.size() > path.size() && row.key[path.size()] == '.')
      return true;
  return path == "log.modules" || path == "plugins.settings" || path.starts_with("log.modules.") ||
         path.starts_with("plugins.settings.");
}

// A key below `path`.
std::string example(std::string_view path) {
  for (const Setting& row : settings())
    if (row.key.starts_with(path) && row.key.size() > path.size() && row.key[path.size()] == '.')
      return std::string(row.key);
  return std::string(path) + ".<name>";
}

class Flattener {
 public:
  std::vector<FileEntry> entries;

  Status walk(const std::string& path, const YAML::Mark& name, const YAML::Node& node, int depth) {
    if (++nodes_ > kMaxNodes || depth > kMaxDepth)
      return Status::invalid("too many nested values at key {}", path);
    const YAML::Mark value = node.Mark();
    const Setting* row = find_setting(path);
    const bool known = row != nullptr || is_free_key(path);
    if (node.IsNull()) return {};
    if (row != nullptr && row->type == Type::kOpaque) {
      add(path, flow_text(node), value, true);
      return {};
    }
    if (!known && !node.IsMap() && leads_to_known_key(path)) {
      add(path, "", name, true, "must be a map of settings, such as " + example(path));
      return {};
    }
    if (node.IsScalar()) {
      add(path, node.Scalar(), known ? value : name, known);
      return {};
    }
    if (node.IsSequence()) return sequence(path, node, known ? value : name, known);
    if (!path.empty() && !leads_to_known_key(path)) {
      add(path, "", name, known, known ? "must be one value, not a map" : "");
      return {};
    }
    std::set<std::string> names;
    for (const auto& child : node) {
      if (!child.first.IsScalar()) {
        add(path, "", child.first.Mark(), true, "a key must be a word");
        continue;
      }
      const std::string word = child.first.Scalar();
      const std::string below = path.empty() ? word : path + "." + word;
      if (!names.insert(word).second) {
        add(below, "", child.first.Mark(), true, "stands twice; keep one of them");
        continue;
      }
      ONRT_TRY(walk(below, child.first.Mark(), child.second, depth + 1));
    }
    return {};
  }

 private:
  void add(const std::string& path, std::string text, const YAML::Mark& at, bool known,
           std::string problem = "") {
    entries.push_back(
        {path, std::move(text), at.line + 1, at.column + 1, known, std::move(problem)});
  }

  Status sequence(const std::string& path, const YAML::Node& node, const YAML::Mark& at,
                  bool known) {
    FileEntry out{path, "", at.line + 1, at.column + 1, known, ""};
    for (const YAML::Node& item : node) {
      if (++nodes_ > kMaxNodes)
        return Status::invalid("line {}: {} is too long", at.line + 1, path);
      if (!item.IsScalar()) {
        out.problem = known ? "must be a list of words" : "";
        break;
      }
      out.text += (out.text.empty() ? "" : ",") + item.Scalar();
    }
    entries.push_back(std::move(out));
    return {};
  }

  static std::string flow_text(const YAML::Node& node) {
    YAML::Emitter out;
    out << YAML::Flow << node;
    return out.c_str();
  }

  int nodes_ = 0;
};

}  // namespace

bool is_free_key(std::string_view key) {
  if (key.starts_with("plugins.settings.")) return true;
  return key.starts_with("log.modules.") && (key.ends_with(".level") || key.ends_with(".location"));
}

Result<std::vector<FileEntry>> parse_yaml(const std::string& path, const std::string& text) {
  // UTF-16 would be read as an empty file.
  if (text.find('\0') != text.npos)
    return Status::invalid("{}: is no text file: byte {} is 0; write it in UTF-8", path,
                           text.find('\0'));
  try {
    const YAML::Node root = YAML::Load(text);
    if (root.IsNull()) return std::vector<FileEntry>{};
    if (!root.IsMap()) return Status::invalid("{}: must be a map of settings", path);
    Flattener flattener;
    if (Status s = flattener.walk("", root.Mark(), root, 0); !s)
      return std::move(s).with_context(path);
    return std::move(flattener.entries);
  } catch (const YAML::Exception& e) {
    return Status::invalid("{}:{}:{}: {}", path, e.mark.line + 1, e.mark.column + 1, e.msg);
  } catch (const std::exception& e) {
    return Status::invalid("{}: {}", path, e.what());
  }
}

Result<std::vector<FileEntry>> read_file(const std::string& path) {
  if (!is_plain_file(path)) return Status::invalid("{}: not a regular file", path);
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) return Status::invalid("{}: {}", path, strerror(errno != 0 ? errno : EIO));
  std::string text(kMaxFileBytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (in.bad()) return Status::invalid("{}: cannot be read", path);
  if (text.size() > kMaxFileBytes)
    return Status::invalid("{}: larger than {} bytes", path, kMaxFileBytes);
  return parse_yaml(path, text);
}

}  // namespace opennrt::config
