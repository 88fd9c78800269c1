// SPDX-License-Identifier: Apache-2.0
#include "input_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace opennrt::tools {

namespace {

constexpr std::size_t kStep = std::size_t{1} << 20;

// What it is instead of a file; nullptr: a file.
const char* other_kind(const struct stat& info) {
  if (S_ISREG(info.st_mode)) return nullptr;
  if (S_ISCHR(info.st_mode) && info.st_rdev == ::makedev(1, 3)) return nullptr;  // /dev/null
  if (S_ISDIR(info.st_mode)) return "a directory";
  if (S_ISFIFO(info.st_mode)) return "a pipe";
  if (S_ISSOCK(info.st_mode)) return "a socket";
  return "a device";
}

}  // namespace

InputFile::~InputFile() {
  if (fd_ >= 0) ::close(fd_);
}

bool InputFile::open(const std::string& path, std::string* error) {
  path_ = path;
  const auto fail = [&](const std::string& why) {
    *error = path + ": " + why;
    return false;
  };
  // Before it is opened: opening some devices does something.
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return fail(std::strerror(errno));
  const auto refuse = [&] {
    return fail(std::string("is ") + other_kind(info) + "; a regular file is read here");
  };
  if (other_kind(info) != nullptr) return refuse();
  fd_ = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (fd_ < 0 || ::fstat(fd_, &info) != 0) return fail(std::strerror(errno));
  if (other_kind(info) != nullptr) return refuse();
  size_ = S_ISREG(info.st_mode) ? static_cast<std::uint64_t>(info.st_size) : 0;
  return true;
}

bool InputFile::read(std::uint64_t bytes, std::vector<std::byte>* out, std::string* error) {
  while (bytes != 0) {
    const std::size_t before = out->size();
    const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, kStep));
    out->resize(before + step);
    ssize_t n = 0;
    do n = ::read(fd_, out->data() + before, step);
    while (n < 0 && errno == EINTR);
    const int reason = errno;
    out->resize(before + static_cast<std::size_t>(std::max<ssize_t>(n, 0)));
    if (n < 0) {
      *error = path_ + ": " +
               (reason == EAGAIN ? "has to be waited for; a regular file is read here"
                                 : std::strerror(reason));
      return false;
    }
    if (n == 0) return true;
    at_ += static_cast<std::uint64_t>(n);
    bytes -= static_cast<std::uint64_t>(n);
  }
  return true;
}

bool InputFile::read_rest(std::uint64_t most, std::vector<std::byte>* out, std::string* error) {
  const auto refuse = [&](const std::string& bytes) {
    *error = path_ + ": has " + bytes + " bytes; at most " + std::to_string(most) + " are read";
    return false;
  };
  if (size_ > most) return refuse(std::to_string(size_));
  if (size_ > at_) out->reserve(out->size() + static_cast<std::size_t>(size_ - at_) + 1);
  // One more shows what grows meanwhile.
  if (!read(most - std::min(most, at_) + 1, out, error)) return false;
  return at_ <= most || refuse("more than " + std::to_string(most));
}

bool read_input(const std::string& path, std::uint64_t most, std::vector<std::byte>* out,
                std::string* error) {
  out->clear();
  InputFile file;
  return file.open(path, error) && file.read_rest(most, out, error);
}

}  // namespace opennrt::tools
