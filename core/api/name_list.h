// SPDX-License-Identifier: Apache-2.0
//
// Arrays of names given to callers: plain C heap, so that a caller may also
// free() each name and the array.
#pragma once

#include <stdlib.h>
#include <string.h>

#include <string_view>
#include <vector>

#include "base/status.h"

namespace opennrt::api {

inline void free_names(const char** names, size_t count) {
  if (names == nullptr) return;
  for (size_t i = 0; i < count; ++i) free(const_cast<char*>(names[i]));
  free(names);
}

inline Status give_names(const std::vector<std::string_view>& names, const char*** out,
                         size_t* count) {
  const auto full = [&] { return Status::resource("no memory for {} names", names.size()); };
  auto** list = static_cast<const char**>(calloc(names.size() + 1, sizeof(char*)));
  if (list == nullptr) return full();
  for (size_t i = 0; i < names.size(); ++i) {
    list[i] = strndup(names[i].data(), names[i].size());
    if (list[i] != nullptr) continue;
    free_names(list, i);
    return full();
  }
  *out = list;
  *count = names.size();
  return {};
}

}  // namespace opennrt::api
