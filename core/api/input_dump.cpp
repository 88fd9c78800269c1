// SPDX-License-Identifier: Apache-2.0
#include "api/input_dump.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <vector>

#include "dump/path_template.h"
#include "trace/output_file.h"

namespace opennrt::api {

namespace {

constexpr std::uint64_t kPiece = 1 << 20;

Status write_tensor(const std::string& path, kmgr::TensorHandle tensor) {
  kmgr::Tensors& tensors = kmgr::Tensors::instance();
  ONRT_ASSIGN(trace::OutputFile file, trace::OutputFile::create(path));
  const std::uint64_t bytes = tensors.size(tensor);
  std::vector<char> piece(std::min(bytes, kPiece));
  for (std::uint64_t at = 0; at < bytes; at += piece.size()) {
    const std::uint64_t n = std::min<std::uint64_t>(piece.size(), bytes - at);
    ONRT_TRY(tensors.read(tensor, piece.data(), at, n));
    ONRT_TRY(file.write({piece.data(), n}));
  }
  return file.commit();
}

Status write_all(const std::string& directory, std::string_view model_name,
                 kmgr::TensorSetHandle inputs) {
  const auto set = kmgr::Tensors::instance().pin_set(inputs);
  if (!set) return Status::failure("the set of inputs is gone");
  ONRT_TRY(trace::write_file(directory + "/model_name.txt", std::string(model_name) + "\n"));
  // Names that differ in what no file name can hold get a number.
  std::size_t number = 0;
  for (const kmgr::TensorSet::Entry& entry : set->entries()) {
    std::string name = dump::component(entry.name, "input");
    if (name != entry.name) name += fmt::format("_{}", number);
    ++number;
    ONRT_TRY(write_tensor(directory + "/" + name + ".bin", entry.tensor));
  }
  return {};
}

}  // namespace

Result<std::string> dump_inputs(const std::string& directory, std::uint32_t model,
                                std::string_view model_name, kmgr::TensorSetHandle inputs) {
  std::uint32_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random)
    return Status::failure("no random number: {}", strerror(errno));
  const std::string path = fmt::format("{}/input_dump_{:08x}_h_nn_{}", directory, random, model);
  const std::string temporary = path + ".part";
  ONRT_TRY(trace::make_directories(temporary));
  Status written = write_all(temporary, model_name, inputs);
  if (written && rename(temporary.c_str(), path.c_str()) != 0)
    written = Status::failure("cannot write {}: {}", path, strerror(errno));
  if (written) return path;
  std::error_code ignored;
  std::filesystem::remove_all(temporary, ignored);
  return written;
}

}  // namespace opennrt::api
