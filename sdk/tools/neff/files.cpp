// SPDX-License-Identifier: Apache-2.0
#include "neff/files.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "opennrt/whole_file.hpp"

namespace opennrt::tools {
namespace {

Status failed(const std::string& path, const char* what, int error) {
  return Status::failure("{}: cannot {}: {}", path, what, std::strerror(error));
}

}  // namespace

Result<std::vector<std::byte>> read_whole(const std::string& path) {
  const auto close = [](std::FILE* f) { std::fclose(f); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "rbe"), close);
  if (!file) return failed(path, "open", errno);
  std::vector<std::byte> bytes;
  struct stat info;
  if (fstat(fileno(file.get()), &info) == 0 && S_ISREG(info.st_mode))
    bytes.reserve(static_cast<std::size_t>(info.st_size) + 1);
  std::byte chunk[1 << 16];
  for (std::size_t n; (n = std::fread(chunk, 1, sizeof chunk, file.get())) > 0;)
    bytes.insert(bytes.end(), chunk, chunk + n);
  if (std::ferror(file.get()) != 0) return failed(path, "read", errno);
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
