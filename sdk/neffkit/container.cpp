// SPDX-License-Identifier: Apache-2.0
//
// The 1024-byte header and the compressed archive behind it.
#include <Poco/MD5Engine.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>

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

// --- tar (ustar), fields of the 512-byte entry header ---
constexpr std::size_t kTarBlock = 512;
constexpr std::size_t kTarNameBytes = 100;
constexpr std::uint64_t kTarLargestSize = 077777777777;  // eleven octal digits

void put_octal(std::uint8_t* field, std::size_t digits, std::uint64_t value) {
  for (std::size_t i = digits; i-- > 0; value >>= 3) {
    field[i] = static_cast<std::uint8_t>('0' + (value & 7));
  }
}

constexpr std::size_t kTarPrefixBytes = 155;

// Where a long name is cut into the header's prefix and name fields; npos: it
// fits neither whole nor cut.
std::size_t split_of(const std::string& name) {
  if (name.size() <= kTarNameBytes) return 0;
  const std::size_t slash = name.rfind('/', kTarPrefixBytes);
  if (slash == std::string::npos || slash == 0) return std::string::npos;
  return name.size() - slash - 1 <= kTarNameBytes ? slash : std::string::npos;
}

void append_file(const std::string& name, std::size_t split, char type, const std::uint8_t* data,
                 std::size_t size, Bytes* tar) {
  std::array<std::uint8_t, kTarBlock> header{};
  const std::string tail = split == 0 ? name : name.substr(split + 1);
  std::copy(tail.begin(), tail.end(), header.begin());
  std::copy_n(name.begin(), split, header.begin() + 345);
  put_octal(&header[100], 7, 0644);   // mode
  put_octal(&header[108], 7, 0);      // owner
  put_octal(&header[116], 7, 0);      // group
  put_octal(&header[124], 11, size);  // size
  put_octal(&header[136], 11, 0);     // time: the same source, the same bytes
  header[156] = static_cast<std::uint8_t>(type);
  std::memcpy(&header[257], "ustar\00000", 8);
  // The checksum counts its own field as spaces.
  std::fill_n(header.begin() + 148, 8, std::uint8_t{' '});
  const auto sum = std::accumulate(header.begin(), header.end(), std::uint64_t{0});
  put_octal(&header[148], 6, sum);
  header[154] = 0;
  tar->insert(tar->end(), header.begin(), header.end());
  tar->insert(tar->end(), data, data + size);
  tar->resize((tar->size() + kTarBlock - 1) / kTarBlock * kTarBlock);
}

// "LENGTH path=NAME\n", where LENGTH counts the whole line.
std::string pax_path(const std::string& name) {
  const std::string rest = " path=" + name + "\n";
  std::size_t length = rest.size();
  while (std::to_string(length).size() + rest.size() != length)
    length = std::to_string(length).size() + rest.size();
  return std::to_string(length) + rest;
}

bool append_entry(const Member& member, Bytes* tar, std::string* error) {
  if (member.bytes.size() > kTarLargestSize) {
    *error = "member " + member.name + ": content over 8 GiB";
    return false;
  }
  const std::size_t split = split_of(member.name);
  if (split != std::string::npos) {
    append_file(member.name, split, '0', member.bytes.data(), member.bytes.size(), tar);
    return true;
  }
  const std::string path = pax_path(member.name);
  append_file("pax", 0, 'x', reinterpret_cast<const std::uint8_t*>(path.data()), path.size(), tar);
  append_file(member.name.substr(0, kTarNameBytes), 0, '0', member.bytes.data(),
              member.bytes.size(), tar);
  return true;
}

bool gzip(const Bytes& in, Bytes* out, std::string* error) {
  constexpr int kGzipWrapper = 16;
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzipWrapper,
                   8 /* memory level */, Z_DEFAULT_STRATEGY) != Z_OK) {
    *error = "zlib: cannot start compression";
    return false;
  }
  out->resize(deflateBound(&stream, in.size()));
  std::size_t read = 0;
  std::size_t written = 0;
  int status = Z_OK;
  // zlib counts in 32 bits; feed large archives in pieces.
  constexpr std::size_t kPiece = std::size_t{1} << 30;
  while (status == Z_OK) {
    const std::size_t piece = std::min(kPiece, in.size() - read);
    const std::size_t room = std::min(kPiece, out->size() - written);
    stream.next_in = const_cast<Bytef*>(in.data() + read);
    stream.avail_in = static_cast<uInt>(piece);
    stream.next_out = out->data() + written;
    stream.avail_out = static_cast<uInt>(room);
    status = deflate(&stream, read + piece == in.size() ? Z_FINISH : Z_NO_FLUSH);
    read += piece - stream.avail_in;
    written += room - stream.avail_out;
  }
  deflateEnd(&stream);
  if (status != Z_STREAM_END) {
    *error = "zlib: compression failed with status " + std::to_string(status);
    return false;
  }
  out->resize(written);
  return true;
}

Poco::DigestEngine::Digest md5(const Bytes& bytes) {
  Poco::MD5Engine engine;
  engine.update(bytes.data(), bytes.size());
  return engine.digest();
}

}  // namespace

bool make_payload(const std::vector<Member>& members, bool gzipped, Bytes* out,
                  std::string* error) {
  Bytes tar;
  for (const Member& m : members) {
    if (!append_entry(m, &tar, error)) return false;
  }
  tar.resize(tar.size() + 2 * kTarBlock);  // end of archive
  if (!gzipped) *out = std::move(tar);
  if (gzipped && !gzip(tar, out, error)) return false;
  out->resize((out->size() + kPayloadUnit - 1) / kPayloadUnit * kPayloadUnit);
  return true;
}

bool pack_neff(const Program& program, const std::vector<Member>& members, Bytes* out,
               std::string* error) {
  Bytes payload;
  if (!make_payload(members, true, &payload, error)) return false;
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
