// SPDX-License-Identifier: Apache-2.0
//
// A directory that appears under its name when all its files are in it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace opennrt::tools {

class NewDirectory {
 public:
  // Refuses a path that exists, unless it is an empty directory.
  static Result<NewDirectory> create(const std::string& path);
  NewDirectory(NewDirectory&& other) noexcept;
  NewDirectory& operator=(NewDirectory&&) = delete;
  // Removes everything unless finish() succeeded.
  ~NewDirectory();

  // name: relative, checked by neff::check_member_name here as well; folders
  // in it are made. Never follows a link, never replaces a file.
  Status write(std::string_view name, std::span<const std::byte> bytes);
  Status finish();

 private:
  NewDirectory(std::string path, std::string temporary)
      : path_(std::move(path)), temporary_(std::move(temporary)) {}
  std::string path_, temporary_;  // temporary_ is empty when nothing is to be removed
};

// All regular files below a directory, by name relative to it, sorted. Refuses
// links, devices and names that a NEFF may not hold.
Result<std::vector<std::string>> files_below(const std::string& directory);

}  // namespace opennrt::tools
