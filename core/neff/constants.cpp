// SPDX-License-Identifier: Apache-2.0
#include "neff/constants.h"

#include <cstring>
#include <string_view>

namespace opennrt::neff {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

// Value text of a key in the header, a Python dictionary such as
// {'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }
std::string_view header_value(std::string_view header, std::string_view key) {
  std::size_t at = header.find(key);
  if (at == std::string_view::npos) return {};
  at = header.find_first_not_of(" \t:", at + key.size());
  return at == std::string_view::npos ? std::string_view() : header.substr(at);
}

}  // namespace

Result<std::span<const std::byte>> constant_data(const Json& file, std::string_view member_name,
                                                 std::span<const std::byte> member,
                                                 std::uint64_t size) {
  std::span<const std::byte> data = member;
  if (member_name.ends_with(".npy")) {
    const std::string_view text(reinterpret_cast<const char*>(member.data()), member.size());
    const std::string name = quote(member_name);
    if (!text.starts_with(kMagic) || text.size() < 10)
      return file.invalid("member {} is not a NumPy file", name);
    const auto byte = [&](std::size_t at) { return std::to_integer<std::size_t>(member[at]); };
    const std::size_t version = byte(6);
    if (version != 1 && version != 2)
      return file.invalid("member {}: NumPy format {}.{}; supported are 1.0 and 2.0", name, version,
                          byte(7));
    const std::size_t begin = version == 1 ? 10 : 12;
    if (text.size() < begin) return file.invalid("member {}: NumPy header is truncated", name);
    std::size_t length = byte(8) | byte(9) << 8;
    if (version == 2) length |= byte(10) << 16 | byte(11) << 24;
    if (length > text.size() - begin)
      return file.invalid("member {}: NumPy header of {} bytes leaves the member of {} bytes", name,
                          length, text.size());
    const std::string_view header = text.substr(begin, length);
    if (!header_value(header, "'fortran_order'").starts_with("False"))
      return file.invalid("member {}: NumPy header {} is not in C order (fortran_order: False)",
                          name, quote(header, 80));
    data = member.subspan(begin + length);
  }
  if (data.size() == size) return data;
  return file.invalid("member {} holds {} bytes of data, the variable has {}", quote(member_name),
                      data.size(), size);
}

}  // namespace opennrt::neff
