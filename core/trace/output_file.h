// SPDX-License-Identifier: Apache-2.0
//
// Files of the runtime: complete under their name or absent.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "opennrt/whole_file.hpp"

namespace opennrt::trace {

// NRT_FAILURE, naming the file: it cannot be made there, or not written.
class OutputFile {
 public:
  static Result<OutputFile> create(std::string path);
  Status write(std::string_view text);
  // Takes the place of an older file of that name; without it nothing is left
  // behind.
  Status commit();

 private:
  std::string path_;
  WholeFile file_;
};

Status write_file(const std::string& path, std::string_view text);
// With all directories above. NRT_FAILURE.
Status make_directories(const std::string& path);

}  // namespace opennrt::trace
