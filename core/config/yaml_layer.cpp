// SPDX-License-Identifier: Apache-2.0
#include "config/yaml_layer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <yaml-cpp/anchor.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "base/text.h"
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
  explicit Flattener(const std::string& file) : file_(file) {}
  std::vector<FileEntry> entries;

  Status walk(const std::string& path, const YAML::Mark& name, const YAML::Node& node, int depth) {
    if (++nodes_ > kMaxNodes)
      return refusal(name, fmt::format("too many nested values at key {}; at most {} are read",
                                       printable(path), kMaxNodes));
    if (depth > kMaxDepth)
      return refusal(name, fmt::format("maps are nested more than {} deep at key {}", kMaxDepth,
                                       printable(path)));
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
      if (++nodes_ > kMaxNodes) return refusal(at, printable(path) + " is too long");
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

  Status refusal(const YAML::Mark& at, const std::string& why) const {
    return Status::invalid("{}:{}:{}: {}", file_, at.line + 1, at.column + 1, why);
  }

  const std::string& file_;
  int nodes_ = 0;
};

// What a document begins with.
class Beginning : public YAML::EventHandler {
 public:
  YAML::Mark start, content;
  bool empty = true;

  void OnDocumentStart(const YAML::Mark& mark) override { start = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { see(mark); }
  void OnScalar(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                const std::string&) override {
    see(mark);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    see(mark);
  }
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    see(mark);
  }
  void OnMapEnd() override {}

 private:
  void see(const YAML::Mark& mark) {
    if (empty) content = mark;
    empty = false;
  }
};

// Behind the document that is read there is nothing that would be left out.
Status check_behind_first(const std::string& path, const std::string& text) {
  std::istringstream in(text);
  YAML::Parser parser(in);
  Beginning last;
  if (!parser.HandleNextDocument(last)) return {};
  for (Beginning next; parser.HandleNextDocument(next); last = std::exchange(next, {})) {
    if (!next.empty)
      return Status::invalid(
          "{}:{}:{}: a second document begins here, which nothing would read; remove the line --- "
          "before it",
          path, next.content.line + 1, next.content.column + 1);
    // The parser does not come past it, and says nothing.
    if (next.start.pos == last.start.pos)
      return Status::invalid("{}:{}:{}: nothing that belongs to the settings begins here", path,
                             next.start.line + 1, next.start.column + 1);
  }
  return {};
}

// False for what reading may wait on for ever, or never end. True when nothing is
// there: opening tells why.
bool is_file(const struct stat& info) {
  return S_ISREG(info.st_mode) ||
         (S_ISCHR(info.st_mode) && info.st_rdev == makedev(1, 3));  // /dev/null
}
bool is_file(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) != 0 || is_file(info);
}

// The first bytes of a file. Returns an errno value.
int read_without_waiting(const std::string& path, std::size_t most, std::string* out) {
  const int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return errno;
  struct stat info{};
  int error = fstat(fd, &info) != 0 ? errno : is_file(info) ? 0 : EINVAL;
  char block[16384];
  while (error == 0 && out->size() < most) {
    const ssize_t n = read(fd, block, std::min(sizeof block, most - out->size()));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) error = errno;
    if (n <= 0) break;
    out->append(block, static_cast<std::size_t>(n));
  }
  close(fd);
  return error;
}

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
    ONRT_TRY(check_behind_first(path, text));
    if (root.IsNull()) return std::vector<FileEntry>{};
    if (!root.IsMap()) return Status::invalid("{}: must be a map of settings", path);
    Flattener flattener(path);
    ONRT_TRY(flattener.walk("", root.Mark(), root, 0));
    return std::move(flattener.entries);
  } catch (const YAML::DeepRecursion& e) {
    return Status::invalid("{}:{}:{}: values are nested more than {} deep", path, e.mark.line + 1,
                           e.mark.column + 1, kMaxDepth);
  } catch (const YAML::Exception& e) {
    return Status::invalid("{}:{}:{}: {}", path, e.mark.line + 1, e.mark.column + 1, e.msg);
  } catch (const std::exception& e) {
    return Status::invalid("{}: {}", path, e.what());
  }
}

Result<std::vector<FileEntry>> read_file(const std::string& path) {
  if (!is_file(path)) return Status::invalid("{}: not a regular file", path);
  std::string text;
  if (const int error = read_without_waiting(path, kMaxFileBytes + 1, &text))
    return error == EAGAIN ? Status::invalid("{}: has to be waited for; not a regular file", path)
                           : Status::invalid("{}: {}", path, strerror(error));
  if (text.size() > kMaxFileBytes)
    return Status::invalid("{}: larger than {} bytes", path, kMaxFileBytes);
  return parse_yaml(path, text);
}

}  // namespace opennrt::config
