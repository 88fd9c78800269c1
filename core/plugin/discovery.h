// SPDX-License-Identifier: Apache-2.0
//
// Which plugins exist: manifests of the plugin directories, in a fixed order.
// No library is opened here.
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "plugin/manifest.h"

namespace opennrt::plugin {

enum class Verdict {
  kUsable,     // manifest accepted, library not looked at
  kSelected,   // opened, accepted and first choice of its kind and arch
  kOutranked,  // opened and accepted, another one is preferred
  kHidden,     // an earlier directory has the same kind and name
  kDisabled,   // plugins.disable
  kRefused,    // broken manifest or library
};
std::string_view verdict_name(Verdict verdict);

struct Candidate {
  Manifest manifest;          // only `path` is meaningful when it could not be read
  std::size_t directory = 0;  // rank in the search order
  Verdict verdict = Verdict::kUsable;
  std::string reason;  // of every verdict but kUsable and kSelected
};

struct Search {
  std::vector<std::string> directories;
  std::size_t configured = 0;        // how many of them a setting names
  std::vector<std::string> disable;  // name globs
};

// Configured directories, then `plugins/` beside the file that holds `code`
// (NULL: this code, which is libnrt.so.1), then the install directory.
Search search_of(const config::Config& config, const void* code = nullptr);

// Directories that cannot be read, and those a setting names in vain: "plugin
// directory X: Permission denied".
std::vector<std::string> troubles(const Search& search);

// All candidates in search order, by file name inside a directory.
std::vector<Candidate> discover(const Search& search);

// Indexes of the usable candidates that `accept` admits, best first: priority,
// version, directory. NRT_INVALID: two of one directory tie for the first place.
template <typename Accept>
Result<std::vector<std::size_t>> rank(const std::vector<Candidate>& all, Accept accept);
Status order(const std::vector<Candidate>& all, std::vector<std::size_t>& indexes);

template <typename Accept>
Result<std::vector<std::size_t>> rank(const std::vector<Candidate>& all, Accept accept) {
  std::vector<std::size_t> indexes;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].verdict == Verdict::kUsable && accept(all[i].manifest)) indexes.push_back(i);
  ONRT_TRY(order(all, indexes));
  return indexes;
}

}  // namespace opennrt::plugin
