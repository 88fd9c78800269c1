// SPDX-License-Identifier: Apache-2.0
#include "neff/files.h"

#include <cstring>

#include "input_file.h"
#include "neff/memory_limit.h"
#include "opennrt/whole_file.hpp"

namespace opennrt::tools {
namespace {

Status failed(const std::string& path, const char* what, int error) {
  return Status::failure("{}: cannot {}: {}", path, what, std::strerror(error));
}

}  // namespace

Result<std::vector<std::byte>> read_whole(const std::string& path) {
  std::vector<std::byte> bytes;
  std::string error;
  if (!read_input(path, neff::memory_limit_bytes() / 2, &bytes, &error))
    return Status::failure("{}", error);
  return bytes;
}

Status write_whole(const std::string& path, std::span<const std::byte> bytes) {
  WholeFile file;
  if (const int error = file.create(path, WholeFile::Pipes::kAllow))
    return failed(path, "create", error);
  int error = file.write(bytes.data(), bytes.size());
  if (error == 0) error = file.commit();
  return error == 0 ? Status::ok() : failed(path, "write", error);
}

Status write_whole(const std::string& path, std::string_view text) {
  return write_whole(path, std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace opennrt::tools
