// SPDX-License-Identifier: Apache-2.0
#include "profile_images.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

namespace opennrt::arch_test {
namespace {

struct Field {
  std::uint32_t number = 0;
  std::uint64_t value = 0;    // varint
  std::string_view contents;  // length-delimited
};

// Protobuf wire format, the two types that occur on the path to the images.
class Reader {
 public:
  explicit Reader(std::string_view message) : rest_(message) {}

  std::optional<Field> next() {
    if (rest_.empty()) return std::nullopt;
    const auto tag = varint();
    if (!tag) return std::nullopt;
    Field field;
    field.number = static_cast<std::uint32_t>(*tag >> 3);
    const auto type = *tag & 7;
    if (type == 0) {
      const auto value = varint();
      if (!value) return std::nullopt;
      field.value = *value;
    } else {
      std::optional<std::uint64_t> bytes;
      if (type == 2) bytes = varint();
      if (type == 1) bytes = 8;
      if (type == 5) bytes = 4;
      if (!bytes || *bytes > rest_.size()) return std::nullopt;
      field.contents = rest_.substr(0, *bytes);
      rest_.remove_prefix(*bytes);
    }
    return field;
  }

 private:
  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }
  std::string_view rest_;
};

std::vector<std::string_view> children(std::string_view message, std::uint32_t number) {
  std::vector<std::string_view> result;
  Reader reader(message);
  while (const auto field = reader.next()) {
    if (field->number == number) result.push_back(field->contents);
  }
  return result;
}

}  // namespace

std::map<std::uint32_t, ProfileImage> read_profile_images(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string data((std::istreambuf_iterator<char>(in)), {});
  std::map<std::uint32_t, ProfileImage> result;
  if (data.size() < 128) return result;
  std::uint64_t head = 0;
  std::memcpy(&head, data.data(), sizeof head);
  const std::string_view info = std::string_view(data).substr(128, head >> 8);
  for (std::string_view node : children(info, 4)) {
    for (std::string_view device : children(node, 4)) {
      for (std::string_view subgraph : children(device, 1)) {
        for (std::string_view engine : children(subgraph, 4)) {
          std::uint32_t index = 0;
          ProfileImage image;
          Reader reader(engine);
          while (const auto field = reader.next()) {
            if (field->number == 1) index = static_cast<std::uint32_t>(field->value);
            if (field->number == 2) image.address = field->value;
            if (field->number == 3) {
              image.bytes.assign(field->contents.begin(), field->contents.end());
            }
          }
          result[index] = std::move(image);
        }
      }
    }
  }
  return result;
}

std::filesystem::path corpus_folder() {
  const char* configured = std::getenv("OPENNRT_CORPUS");
  const std::filesystem::path folder =
      configured != nullptr ? configured : OPENNRT_SOURCE_DIR "/../shared/corpus";
  return std::filesystem::is_directory(folder) ? folder : std::filesystem::path();
}

}  // namespace opennrt::arch_test
