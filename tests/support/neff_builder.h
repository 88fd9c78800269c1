// SPDX-License-Identifier: Apache-2.0
//
// NEFF files for tests, written without the libraries that the loader reads
// them with: own tar writer, zlib for gzip.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace opennrt::testing {

// How names longer than 100 bytes are written.
enum class LongNames { kUstarPrefix, kPax, kGnu };

struct TarEntry {
  std::string name;
  std::string content;
  char type = '0';
  std::string link = {};
};

// One tar, closed by two zero blocks and padded to `record` bytes.
std::string make_tar(const std::vector<TarEntry>& entries, LongNames names, std::size_t record);
std::string gzip(std::string_view data);
// NumPy file of format `version`; data starts at a multiple of 64.
std::string make_npy(std::string_view descr, std::string_view shape, std::string_view data,
                     unsigned version = 1, bool fortran = false);

enum class HashForm { kZero, kPlain, kWordsReversed };

class NeffBuilder {
 public:
  std::map<std::string, std::string> members;
  std::vector<TarEntry> extra;  // behind the members, as they are

  // Header fields.
  std::uint64_t pkg_version = 2, header_size = 1024, version_major = 1, version_minor = 0;
  std::uint64_t feature_bits = 0;
  std::uint32_t lnc_size = 1;
  std::string name = "sample.neff";
  HashForm hash = HashForm::kPlain;

  // Container.
  LongNames long_names = LongNames::kUstarPrefix;
  std::string prefix;           // before every name, e.g. "./"
  std::size_t padding = 10240;  // zeros behind the payload up to a multiple; 1 = none

  // Replaces every occurrence; throws std::logic_error when there is none, so
  // that a test which no longer corrupts anything fails.
  NeffBuilder& replace(const std::string& member, std::string_view from, std::string_view to);

  std::string payload() const;
  std::string build() const;
  // header + payload as given; hash and data_size are computed.
  std::string wrap(const std::string& payload) const;
};

inline std::span<const std::byte> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

// 64-byte instruction records.
std::string plain_record(std::uint8_t opcode);
std::string trigger_record(std::string_view queue, std::uint32_t block);

// A small valid program: out = a + b over 128 partitions, with one variable of
// almost every type, an activation set and DVE tables. One subgraph per core.
NeffBuilder sample_neff(std::string_view target = "sunda", unsigned cores = 1);

}  // namespace opennrt::testing
