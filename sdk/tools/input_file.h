// SPDX-License-Identifier: Apache-2.0
//
// Files that the user of a tool names, to be read. Nothing here waits for another
// process, and nobody reads more than was asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace opennrt::tools {

class InputFile {
 public:
  InputFile() = default;
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  // Regular files, and /dev/null as an empty one. All of these return false with
  // *error, "PATH: reason".
  bool open(const std::string& path, std::string* error);
  // As the file system tells it; files of /proc have 0 and hold something.
  std::uint64_t size() const { return size_; }
  // Appends what comes next, up to `bytes`: fewer at the end of the file only.
  bool read(std::uint64_t bytes, std::vector<std::byte>* out, std::string* error);
  // Appends all that is left; refuses a file of more than `most` bytes.
  bool read_rest(std::uint64_t most, std::vector<std::byte>* out, std::string* error);

 private:
  std::string path_;
  int fd_ = -1;
  std::uint64_t size_ = 0, at_ = 0;
};

// The whole file, of at most `most` bytes.
bool read_input(const std::string& path, std::uint64_t most, std::vector<std::byte>* out,
                std::string* error);

}  // namespace opennrt::tools
