// SPDX-License-Identifier: Apache-2.0
//
// A file that appears under its name only when it is complete.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace opennrt::trace {

class OutputFile {
 public:
  OutputFile() = default;
  ~OutputFile();  // without commit() nothing is left behind
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) = delete;

  // NRT_FAILURE: the file cannot be made there.
  static Result<OutputFile> create(std::string path);
  Status write(std::string_view text);
  // Takes the place of an older file of that name.
  Status commit();

 private:
  std::string path_, temporary_;
  int fd_ = -1;
};

Status write_file(const std::string& path, std::string_view text);
// With all directories above. NRT_FAILURE.
Status make_directories(const std::string& path);

}  // namespace opennrt::trace
