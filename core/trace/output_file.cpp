// SPDX-License-Identifier: Apache-2.0
#include "trace/output_file.h"

#include <string.h>

#include <filesystem>
#include <utility>

namespace opennrt::trace {

namespace {

Status status_of(const std::string& path, int error) {
  if (error == 0) return {};
  if (error == EOPNOTSUPP)
    return Status::failure("cannot write {}: it is neither a file nor a device", path);
  return Status::failure("cannot write {}: {}", path, strerror(error));
}

}  // namespace

Result<OutputFile> OutputFile::create(std::string path) {
  OutputFile out;
  out.path_ = std::move(path);
  ONRT_TRY(status_of(out.path_, out.file_.create(out.path_)));
  return out;
}

Status OutputFile::write(std::string_view text) {
  return status_of(path_, file_.write(text.data(), text.size()));
}

Status OutputFile::commit() { return status_of(path_, file_.commit()); }

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
