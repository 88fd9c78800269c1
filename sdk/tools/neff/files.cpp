// SPDX-License-Identifier: Apache-2.0
#include "neff/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace opennrt::tools {
namespace {

int first_output_error = 0;

Status failed(const std::string& path, const char* what, int error) {
  return Status::failure("{}: cannot {}: {}", path, what, std::strerror(error));
}

// 0 or an errno.
int write_all(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return 0;
}

int write_and_close(int fd, std::span<const std::byte> bytes) {
  int error = write_all(fd, bytes);
  // A file system may report a full disk or quota only here.
  if (::close(fd) != 0 && error == 0) error = errno;
  return error;
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
  struct stat info;
  if (stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return failed(path, "open", errno);
    if (const int error = write_and_close(fd, bytes)) return failed(path, "write", error);
    return Status::ok();
  }
  const std::string temporary = path + ".partial-" + std::to_string(getpid());
  const int fd =
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (fd < 0) return failed(temporary, "create", errno);
  int error = write_and_close(fd, bytes);
  if (error == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return Status::ok();
  ::unlink(temporary.c_str());
  return failed(path, "write", error);
}

Status write_whole(const std::string& path, std::string_view text) {
  return write_whole(path, std::as_bytes(std::span(text.data(), text.size())));
}

bool print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size()) return true;
  if (first_output_error == 0) first_output_error = errno;
  return false;
}

Status finish_output() {
  if (std::fflush(stdout) != 0 && first_output_error == 0) first_output_error = errno;
  if (std::ferror(stdout) != 0 && first_output_error == 0) first_output_error = EIO;
  if (first_output_error == 0) return Status::ok();
  return failed("standard output", "write", first_output_error);
}

}  // namespace opennrt::tools
