// SPDX-License-Identifier: Apache-2.0
#include "neff/digest.h"

#include <gtest/gtest.h>

#include <string>

namespace opennrt::neff {
namespace {

template <std::size_t N>
std::string hex(const std::array<std::byte, N>& digest) {
  std::string out;
  for (std::byte b : digest) {
    out += "0123456789abcdef"[std::to_integer<int>(b) >> 4];
    out += "0123456789abcdef"[std::to_integer<int>(b) & 15];
  }
  return out;
}
std::span<const std::byte> bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

// Appendix A.5 of RFC 1321.
TEST(Md5, PublishedVectors) {
  EXPECT_EQ(hex(md5({})), "d41d8cd98f00b204e9800998ecf8427e");
  EXPECT_EQ(hex(md5(bytes("abc"))), "900150983cd24fb0d6963f7d28e17f72");
  EXPECT_EQ(hex(md5(bytes("message digest"))), "f96b697d7cb7938d525a2f31aaf161d0");
  EXPECT_EQ(hex(md5(bytes("1234567890123456789012345678901234567890123456789012345678901234567890"
                          "1234567890"))),
            "57edf4a22be3c955ac49da2e2107b67a");
}

// Examples of FIPS 180-4.
TEST(Sha256, PublishedVectors) {
  EXPECT_EQ(hex(sha256({})), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hex(sha256(bytes("abc"))),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(sha256(bytes("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"))),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hex(sha256(bytes(std::string(1'000'000, 'a')))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

}  // namespace
}  // namespace opennrt::neff
