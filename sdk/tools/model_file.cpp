// SPDX-License-Identifier: Apache-2.0
#include "model_file.h"

#include <algorithm>
#include <cstdint>

#include "input_file.h"
#include "neff/container.h"
#include "neff/memory_limit.h"

namespace opennrt::tools {

namespace {

constexpr std::uint64_t kSmall = std::uint64_t{64} << 20;
constexpr std::uint64_t kMostBehind = std::uint64_t{1} << 20;  // what the header says

Status failed(const std::string& error) { return Status::invalid("{}", error); }

// Of a large file.
Status check_header(std::span<const std::byte> head, std::uint64_t file_bytes) {
  ONRT_ASSIGN(const neff::Header header, neff::read_header(head, file_bytes));
  const std::uint64_t stated = neff::kHeaderBytes + header.data_size;
  if (file_bytes - stated > kMostBehind)
    return Status::invalid("has {} bytes, but its header states {}; copy it again", file_bytes,
                           stated);
  const std::uint64_t limit = neff::memory_limit_bytes();
  if (file_bytes > limit)
    return Status::resource("has {} bytes; this process may use {} bytes of memory", file_bytes,
                            limit);
  return Status::ok();
}

}  // namespace

Result<std::vector<std::byte>> read_model_file(const std::string& path) {
  InputFile file;
  std::vector<std::byte> bytes;
  std::string error;
  if (!file.open(path, &error) || !file.read(neff::kHeaderBytes, &bytes, &error))
    return failed(error);
  if (file.size() > kSmall)
    if (Status status = check_header(bytes, file.size()); !status.is_ok())
      return std::move(status).with_context(path);
  if (!file.read_rest(std::max(file.size(), kSmall), &bytes, &error)) return failed(error);
  return bytes;
}

}  // namespace opennrt::tools
