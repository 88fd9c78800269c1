// SPDX-License-Identifier: Apache-2.0
//
// The 1024-byte header and the compressed archive behind it.
#include <Poco/MD5Engine.h>
#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "opennrt/neffkit/neffkit.h"

namespace opennrt::neffkit {
namespace {

// Offsets and values of the header.
constexpr std::size_t kHeaderBytes = 1024;
constexpr std::size_t kPackageVersion = 0x000;
constexpr std::size_t kHeaderSize = 0x008;
constexpr std::size_t kDataSize = 0x010;
constexpr std::size_t kVersionMajor = 0x018;
constexpr std::size_t kNumTpb = 0x0A8;
constexpr std::size_t kHash = 0x0AC;
constexpr std::size_t kUuid = 0x0CC;
constexpr std::size_t kName = 0x0DC;
constexpr std::size_t kNameBytes = 256;
constexpr std::size_t kRequestedTpb = 0x1DC;
constexpr std::size_t kTpbPerNode = 0x1E0;
constexpr std::size_t kFeatureBits = 0x220;
constexpr std::size_t kLncSize = 0x228;
constexpr std::uint64_t kGzipTarMd5 = 2;
constexpr std::size_t kPayloadUnit = 10240;
constexpr std::uint64_t kFeatureVnc = 0x400;  // more than one core per logical core

using Bytes = std::vector<std::uint8_t>;

void put(Bytes* out, std::size_t offset, std::uint64_t value, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i, value >>= 8) {
    (*out)[offset + i] = static_cast<std::uint8_t>(value);
  }
}

la_ssize_t append(archive*, void* out, const void* data, std::size_t bytes) {
  const auto* first = static_cast<const std::uint8_t*>(data);
  auto* target = static_cast<Bytes*>(out);
  target->insert(target->end(), first, first + bytes);
  return static_cast<la_ssize_t>(bytes);
}

bool archive_error(archive* a, const char* what, std::string* error) {
  const char* text = archive_error_string(a);
  *error = std::string("archive: ") + what + ": " + (text != nullptr ? text : "unknown error");
  return false;
}

bool compress(const std::vector<Member>& members, Bytes* out, std::string* error) {
  const std::unique_ptr<archive, int (*)(archive*)> writer(archive_write_new(), archive_write_free);
  archive* a = writer.get();
  if (a == nullptr) {
    *error = "archive: out of memory";
    return false;
  }
  // No time stamp: the same source gives the same bytes.
  if (archive_write_add_filter_gzip(a) != ARCHIVE_OK ||
      archive_write_set_filter_option(a, "gzip", "timestamp", nullptr) != ARCHIVE_OK ||
      archive_write_set_format_ustar(a) != ARCHIVE_OK ||
      archive_write_open2(a, out, nullptr, append, nullptr, nullptr) != ARCHIVE_OK) {
    return archive_error(a, "cannot open", error);
  }
  for (const Member& m : members) {
    const std::unique_ptr<archive_entry, void (*)(archive_entry*)> entry(archive_entry_new(),
                                                                         archive_entry_free);
    archive_entry_set_pathname(entry.get(), m.name.c_str());
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(m.bytes.size()));
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    archive_entry_set_mtime(entry.get(), 0, 0);
    if (archive_write_header(a, entry.get()) != ARCHIVE_OK) {
      return archive_error(a, m.name.c_str(), error);
    }
    if (archive_write_data(a, m.bytes.data(), m.bytes.size()) !=
        static_cast<la_ssize_t>(m.bytes.size())) {
      return archive_error(a, m.name.c_str(), error);
    }
  }
  if (archive_write_close(a) != ARCHIVE_OK) return archive_error(a, "cannot finish", error);
  out->resize((out->size() + kPayloadUnit - 1) / kPayloadUnit * kPayloadUnit);
  return true;
}

Poco::DigestEngine::Digest md5(const Bytes& bytes) {
  Poco::MD5Engine engine;
  engine.update(bytes.data(), bytes.size());
  return engine.digest();
}

}  // namespace

bool pack_neff(const Program& program, const std::vector<Member>& members, Bytes* out,
               std::string* error) {
  Bytes payload;
  if (!compress(members, &payload, error)) return false;
  out->assign(kHeaderBytes, 0);
  std::uint64_t features = program.feature_bits;
  if (program.subgraphs.size() > 1) features |= kFeatureVnc;
  put(out, kPackageVersion, kGzipTarMd5, 8);
  put(out, kHeaderSize, kHeaderBytes, 8);
  put(out, kDataSize, payload.size(), 8);
  put(out, kVersionMajor, features == 0 ? 1 : 2, 8);
  put(out, kNumTpb, 1, 4);
  const auto digest = md5(payload);
  std::copy(digest.begin(), digest.end(), out->begin() + kHash);
  // The identity follows from the content, in the form of a random UUID; no
  // zero byte, since profile files store it as text.
  auto uuid = digest;
  std::reverse(uuid.begin(), uuid.end());
  uuid[6] = static_cast<std::uint8_t>((uuid[6] & 0x0F) | 0x40);
  uuid[8] = static_cast<std::uint8_t>((uuid[8] & 0x3F) | 0x80);
  std::replace(uuid.begin(), uuid.end(), std::uint8_t{0}, std::uint8_t{1});
  std::copy(uuid.begin(), uuid.end(), out->begin() + kUuid);
  const std::string name = program.name + ".neff";
  std::memcpy(out->data() + kName, name.data(), std::min(name.size(), kNameBytes - 1));
  put(out, kRequestedTpb, 1, 4);
  put(out, kTpbPerNode, 1, 1);
  put(out, kFeatureBits, features, 8);
  put(out, kLncSize, program.subgraphs.size(), 4);
  out->insert(out->end(), payload.begin(), payload.end());
  return true;
}

bool build_neff(std::string_view text, std::string_view source, Bytes* out, std::string* error) {
  Program program;
  return parse_program(text, source, &program, error) && check_program(program, error) &&
         pack_neff(program, make_members(program), out, error);
}

}  // namespace opennrt::neffkit
