// SPDX-License-Identifier: Apache-2.0
#include "neff/digest.h"

#include <sys/types.h>

#include <md5.h>
#include <sha2.h>

namespace opennrt::neff {

namespace {

const std::uint8_t* bytes_of(std::span<const std::byte> data) {
  return reinterpret_cast<const std::uint8_t*>(data.data());
}

}  // namespace

std::array<std::byte, 16> md5(std::span<const std::byte> data) {
  MD5_CTX context;
  MD5Init(&context);
  MD5Update(&context, bytes_of(data), data.size());
  std::array<std::byte, 16> out;
  MD5Final(reinterpret_cast<std::uint8_t*>(out.data()), &context);
  return out;
}

std::array<std::byte, 32> sha256(std::span<const std::byte> data) {
  SHA2_CTX context;
  SHA256Init(&context);
  SHA256Update(&context, bytes_of(data), data.size());
  std::array<std::byte, 32> out;
  SHA256Final(reinterpret_cast<std::uint8_t*>(out.data()), &context);
  return out;
}

}  // namespace opennrt::neff
