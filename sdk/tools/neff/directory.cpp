// SPDX-License-Identifier: Apache-2.0
#include "neff/directory.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "neff/members.h"
#include "neff/text.h"

namespace opennrt::tools {
namespace {

namespace fs = std::filesystem;

Status failed(const std::string& path, const char* what, int error) {
  return Status::failure("{}: cannot {}: {}", neff::printable(path, 400), what,
                         std::strerror(error));
}

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

Result<NewDirectory> NewDirectory::create(const std::string& given) {
  if (given.empty()) return Status::invalid("the name of the directory is empty");
  const std::string path = without_slashes(given);
  struct stat info;
  if (lstat(path.c_str(), &info) == 0) {
    std::error_code error;
    if (!S_ISDIR(info.st_mode) || !fs::is_empty(path, error) || error)
      return Status::invalid("{}: exists already; name a new or an empty directory", path);
  }
  std::string temporary = path + ".partial-XXXXXX";
  if (mkdtemp(temporary.data()) == nullptr) return failed(path, "create", errno);
  // mkdtemp gives 0700; a directory of ours is like any other one.
  const mode_t mask = umask(0);
  umask(mask);
  if (chmod(temporary.c_str(), 0777 & ~mask) != 0) {
    const int error = errno;
    rmdir(temporary.c_str());
    return failed(path, "create", error);
  }
  return NewDirectory(path, std::move(temporary));
}

NewDirectory::NewDirectory(NewDirectory&& other) noexcept
    : path_(std::move(other.path_)), temporary_(std::exchange(other.temporary_, {})) {}

NewDirectory::~NewDirectory() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
}

Status NewDirectory::write(std::string_view name, std::span<const std::byte> bytes) {
  ONRT_TRY(neff::check_member_name(name));
  for (std::size_t slash = name.find('/'); slash != std::string_view::npos;
       slash = name.find('/', slash + 1)) {
    const std::string folder = temporary_ + "/" + std::string(name.substr(0, slash));
    if (mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST) return failed(folder, "create", errno);
  }
  const std::string file = temporary_ + "/" + std::string(name);
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (fd < 0) return failed(file, "create", errno);
  int error = 0;
  while (!bytes.empty() && error == 0) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n >= 0)
      bytes = bytes.subspan(static_cast<std::size_t>(n));
    else if (errno != EINTR)
      error = errno;
  }
  if (::close(fd) != 0 && error == 0) error = errno;
  return error == 0 ? Status::ok() : failed(file, "write", error);
}

Status NewDirectory::finish() {
  // An empty directory of that name is replaced, anything else is not.
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) return failed(path_, "create", errno);
  temporary_.clear();
  return Status::ok();
}

Result<std::vector<std::string>> files_below(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  // Links are not followed.
  fs::recursive_directory_iterator it(directory, error);
  for (const fs::recursive_directory_iterator end; !error && it != end; it.increment(error)) {
    const fs::file_status status = it->symlink_status(error);
    if (error || fs::is_directory(status)) continue;
    const std::string name = it->path().lexically_relative(directory).string();
    if (!fs::is_regular_file(status))
      return Status::invalid("{}: {} is a link, device or fifo; only regular files may appear",
                             directory, neff::quote(name));
    ONRT_TRY(neff::check_member_name(name));
    names.push_back(name);
  }
  if (error) return failed(directory, "read", error.value());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace opennrt::tools
