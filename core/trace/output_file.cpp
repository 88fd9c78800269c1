// SPDX-License-Identifier: Apache-2.0
#include "trace/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <utility>

namespace opennrt::trace {

namespace {
constinit std::atomic<std::uint32_t> g_files{0};
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      temporary_(std::move(other.temporary_)),
      fd_(std::exchange(other.fd_, -1)) {}

OutputFile::~OutputFile() {
  if (fd_ < 0) return;
  ::close(fd_);
  unlink(temporary_.c_str());
}

Result<OutputFile> OutputFile::create(std::string path) {
  OutputFile out;
  out.path_ = std::move(path);
  out.temporary_ = fmt::format("{}.part-{}-{}", out.path_, getpid(), ++g_files);
  if (std::error_code ignored; std::filesystem::is_directory(out.path_, ignored))
    return Status::failure("cannot write {}: it is a directory", out.path_);
  out.fd_ = open(out.temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (out.fd_ < 0) return Status::failure("cannot write {}: {}", out.path_, strerror(errno));
  return out;
}

Status OutputFile::write(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd_, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Status::failure("cannot write {}: {}", path_, strerror(errno));
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Status OutputFile::commit() {
  const int closed = ::close(std::exchange(fd_, -1));
  if (closed != 0 || rename(temporary_.c_str(), path_.c_str()) != 0) {
    Status failed = Status::failure("cannot write {}: {}", path_, strerror(errno));
    unlink(temporary_.c_str());
    return failed;
  }
  return {};
}

Status write_file(const std::string& path, std::string_view text) {
  ONRT_ASSIGN(OutputFile file, OutputFile::create(path));
  ONRT_TRY(file.write(text));
  return file.commit();
}

Status make_directories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error) return {};
  return Status::failure("cannot make the directory {}: {}", path, error.message());
}

}  // namespace opennrt::trace
