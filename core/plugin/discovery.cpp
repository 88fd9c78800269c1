// SPDX-License-Identifier: Apache-2.0
#include "plugin/discovery.h"

#include <dlfcn.h>
#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "log/log.h"

namespace opennrt::plugin {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kManifestSuffix = ".plugin.yaml";

// Directory of the file that holds `code`: libnrt.so.1, or a test.
std::string directory_of(const void* code) {
  Dl_info info{};
  if (dladdr(code, &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code error;
  const fs::path file = fs::canonical(info.dli_fname, error);
  return error ? std::string() : file.parent_path().string();
}

void add_unique(std::vector<std::string>& list, const std::string& directory) {
  std::error_code error;
  fs::path path = fs::weakly_canonical(directory, error);
  const std::string name = error ? directory : path.string();
  if (!name.empty() && std::find(list.begin(), list.end(), name) == list.end())
    list.push_back(name);
}

// File names of a directory in byte order; nothing for a missing directory.
std::vector<fs::path> files_of(const std::string& directory, std::error_code& error) {
  std::vector<fs::path> files;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error))
    files.push_back(it->path());
  std::sort(files.begin(), files.end());
  return files;
}

bool matches_any(const std::vector<std::string>& globs, const std::string& name) {
  return std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) {
    return fnmatch(glob.c_str(), name.c_str(), 0) == 0;
  });
}

void judge(std::vector<Candidate>& all, const Search& search, Candidate candidate) {
  const Manifest& m = candidate.manifest;
  if (matches_any(search.disable, m.name)) {
    candidate.verdict = Verdict::kDisabled;
    candidate.reason = "disabled by plugins.disable";
  }
  for (const Candidate& earlier : all) {
    if (candidate.verdict != Verdict::kUsable || earlier.verdict != Verdict::kUsable) continue;
    if (earlier.directory < candidate.directory && earlier.manifest.kind == m.kind &&
        earlier.manifest.name == m.name) {
      candidate.verdict = Verdict::kHidden;
      candidate.reason = "hidden by " + earlier.manifest.path;
    }
  }
  all.push_back(std::move(candidate));
}

}  // namespace

std::string_view verdict_name(Verdict verdict) {
  constexpr std::string_view kNames[] = {"usable", "selected", "outranked",
                                         "hidden", "disabled", "refused"};
  return kNames[static_cast<std::size_t>(verdict)];
}

Search search_of(const config::Config& config, const void* code) {
  if (code == nullptr) code = reinterpret_cast<const void*>(&search_of);
  Search out;
  for (const std::string& d : config.list(config::Key::kPluginsPath))
    add_unique(out.directories, d);
  out.configured = out.directories.size();
  if (const std::string own = directory_of(code); !own.empty())
    add_unique(out.directories, own + "/plugins");
  add_unique(out.directories, OPENNRT_INSTALL_PLUGIN_DIR);
  out.disable = config.list(config::Key::kPluginsDisable);
  return out;
}

std::vector<std::string> troubles(const Search& search) {
  std::vector<std::string> out;
  for (std::size_t d = 0; d < search.directories.size(); ++d) {
    std::error_code error;
    files_of(search.directories[d], error);
    const bool named = d < search.configured;
    if (error && (named || error != std::errc::no_such_file_or_directory))
      out.push_back(fmt::format("plugin directory {}: {}", search.directories[d], error.message()));
  }
  return out;
}

std::vector<Candidate> discover(const Search& search) {
  std::vector<Candidate> all;
  for (std::size_t d = 0; d < search.directories.size(); ++d) {
    std::set<std::string> named;  // libraries that a manifest of this directory names
    std::error_code error;
    const auto files = files_of(search.directories[d], error);
    if (error && error != std::errc::no_such_file_or_directory)
      ONRT_LOG(kPlugin, kWarn, "plugin directory {}: {}", search.directories[d], error.message());
    for (const fs::path& file : files) {
      if (!file.filename().string().ends_with(kManifestSuffix)) continue;
      Candidate candidate;
      candidate.directory = d;
      auto manifest = read_manifest(file.string());
      if (!manifest.is_ok()) {
        candidate.manifest.path = file.string();
        candidate.verdict = Verdict::kRefused;
        candidate.reason = manifest.status().message();
        all.push_back(std::move(candidate));
        continue;
      }
      named.insert(manifest->library);
      candidate.manifest = *std::move(manifest);
      judge(all, search, std::move(candidate));
    }
    for (const fs::path& file : files) {
      const std::string name = file.filename().string();
      if (!name.starts_with("opennrt-") || !name.ends_with(".so")) continue;
      if (named.count(file.lexically_normal().string()) != 0) continue;
      Candidate candidate;
      candidate.directory = d;
      candidate.manifest.path = file.string();
      candidate.manifest.library = file.string();
      candidate.verdict = Verdict::kRefused;
      candidate.reason = fmt::format("{}: no manifest of this directory names it", file.string());
      all.push_back(std::move(candidate));
    }
  }
  return all;
}

Status order(const std::vector<Candidate>& all, std::vector<std::size_t>& indexes) {
  auto key = [&](std::size_t i) -> const Candidate& { return all[i]; };
  auto compare = [&](std::size_t a, std::size_t b) {
    if (key(a).manifest.priority != key(b).manifest.priority)
      return key(a).manifest.priority > key(b).manifest.priority ? 1 : -1;
    if (const int v = compare_versions(key(a).manifest.version, key(b).manifest.version)) return v;
    if (key(a).directory != key(b).directory) return key(a).directory < key(b).directory ? 1 : -1;
    return 0;
  };
  std::sort(indexes.begin(), indexes.end(), [&](std::size_t a, std::size_t b) {
    const int difference = compare(a, b);
    return difference != 0 ? difference > 0 : a < b;
  });
  if (indexes.size() > 1 && compare(indexes[0], indexes[1]) == 0)
    return Status::invalid(
        "plugins {} and {} have the same priority {} and version {}; remove one or change its "
        "priority",
        key(indexes[0]).manifest.path, key(indexes[1]).manifest.path,
        key(indexes[0]).manifest.priority, key(indexes[0]).manifest.version);
  return {};
}

}  // namespace opennrt::plugin
