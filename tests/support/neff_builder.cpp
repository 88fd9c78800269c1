// SPDX-License-Identifier: Apache-2.0
#include "support/neff_builder.h"

#include <Poco/MD5Engine.h>
#include <Poco/SHA2Engine.h>
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace opennrt::testing {
namespace {

constexpr std::size_t kBlock = 512;

void put_octal(std::string& header, std::size_t at, std::size_t digits, std::uint64_t value) {
  const std::string text = fmt::format("{:0{}o}", value, digits);
  header.replace(at, digits, text);
}

void append_entry(std::string& out, const std::string& name, const std::string& prefix,
                  const std::string& content, char type, const std::string& link) {
  std::string header(kBlock, '\0');
  header.replace(0, name.size(), name);
  put_octal(header, 100, 7, 0644);
  put_octal(header, 108, 7, 0);
  put_octal(header, 116, 7, 0);
  put_octal(header, 124, 11, content.size());
  put_octal(header, 136, 11, 0);
  header[156] = type;
  header.replace(157, link.size(), link);
  header.replace(257, 8, std::string("ustar\00000", 8));
  header.replace(345, prefix.size(), prefix);
  header.replace(148, 8, 8, ' ');
  std::uint64_t sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put_octal(header, 148, 6, sum);
  header[154] = '\0';
  out += header + content;
  out.resize((out.size() + kBlock - 1) / kBlock * kBlock, '\0');
}

// "<length> path=<name>\n", the length counting itself.
std::string pax_record(const std::string& name) {
  std::size_t length = name.size() + 7;
  while (fmt::format("{} path={}\n", length, name).size() != length) ++length;
  return fmt::format("{} path={}\n", length, name);
}

void append(std::string& out, const TarEntry& entry, LongNames names) {
  const std::string short_name = entry.name.substr(0, 100);
  switch (names) {
    case LongNames::kPax:
      append_entry(out, "PaxHeaders/x", "", pax_record(entry.name), 'x', "");
      append_entry(out, short_name, "", entry.content, entry.type, entry.link);
      return;
    case LongNames::kGnu:
      append_entry(out, "././@LongLink", "", entry.name + '\0', 'L', "");
      append_entry(out, short_name, "", entry.content, entry.type, entry.link);
      return;
    case LongNames::kUstarPrefix:
      if (entry.name.size() <= 100) {
        append_entry(out, entry.name, "", entry.content, entry.type, entry.link);
        return;
      }
      const std::size_t slash = entry.name.find('/', entry.name.size() - 101);
      if (slash == std::string::npos) throw std::logic_error("name does not fit into ustar");
      append_entry(out, entry.name.substr(slash + 1), entry.name.substr(0, slash), entry.content,
                   entry.type, entry.link);
  }
}

void put_le(std::string& header, std::size_t at, std::size_t bytes, std::uint64_t value) {
  for (std::size_t i = 0; i < bytes; ++i) header[at + i] = static_cast<char>(value >> (8 * i));
}

std::string digest(Poco::DigestEngine& engine, const std::string& data) {
  engine.update(data);
  const auto& bytes = engine.digest();
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace

std::string make_tar(const std::vector<TarEntry>& entries, LongNames names, std::size_t record) {
  std::string out;
  for (const TarEntry& entry : entries) append(out, entry, names);
  out.append(2 * kBlock, '\0');
  out.resize((out.size() + record - 1) / record * record, '\0');
  return out;
}

std::string gzip(std::string_view data) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::bad_alloc();
  std::string out(deflateBound(&stream, data.size()), '\0');
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string make_npy(std::string_view descr, std::string_view shape, std::string_view data,
                     unsigned version, bool fortran) {
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", descr,
                                 fortran ? "True" : "False", shape);
  const std::size_t fixed = version == 1 ? 10 : 12;
  text.resize((fixed + text.size() + 1 + 63) / 64 * 64 - fixed - 1, ' ');
  text += '\n';
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  std::string length(fixed - 8, '\0');
  put_le(length, 0, length.size(), text.size());
  return out.append(length).append(text).append(data);
}

NeffBuilder& NeffBuilder::replace(const std::string& member, std::string_view from,
                                  std::string_view to) {
  std::string& text = members.at(member);
  std::size_t at = text.find(from);
  if (at == std::string::npos)
    throw std::logic_error(fmt::format("{} does not contain {}", member, from));
  for (; at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return *this;
}

std::string NeffBuilder::payload() const {
  std::vector<TarEntry> entries;
  for (const auto& [member, content] : members) entries.push_back({prefix + member, content});
  entries.insert(entries.end(), extra.begin(), extra.end());
  const std::string tar = make_tar(entries, long_names, 10240);
  return pkg_version == 1 ? tar : gzip(tar);
}

std::string NeffBuilder::build() const {
  std::string data = payload();
  data.resize((data.size() + padding - 1) / padding * padding, '\0');
  return wrap(data);
}

std::string NeffBuilder::wrap(const std::string& payload) const {
  std::string header(1024, '\0');
  put_le(header, 0x000, 8, pkg_version);
  put_le(header, 0x008, 8, header_size);
  put_le(header, 0x010, 8, payload.size());
  put_le(header, 0x018, 8, version_major);
  put_le(header, 0x020, 8, version_minor);
  put_le(header, 0x0A8, 4, 1);
  if (hash != HashForm::kZero) {
    Poco::MD5Engine md5;
    Poco::SHA2Engine sha256(Poco::SHA2Engine::SHA_256);
    std::string bytes = pkg_version == 1 ? digest(sha256, payload) : digest(md5, payload);
    if (hash == HashForm::kWordsReversed)
      for (std::size_t word = 0; word < bytes.size(); word += 4)
        std::reverse(&bytes[word], &bytes[word] + 4);
    header.replace(0x0AC, bytes.size(), bytes);
  }
  for (std::size_t i = 0; i < 16; ++i) header[0x0CC + i] = static_cast<char>(0xA0 + i);
  header.replace(0x0DC, name.size(), name);
  put_le(header, 0x1DC, 4, 1);
  header[0x1E0] = 1;
  put_le(header, 0x220, 8, feature_bits);
  put_le(header, 0x228, 4, lnc_size);
  return header + payload;
}

std::string plain_record(std::uint8_t opcode) {
  std::string record(64, '\0');
  record[0] = static_cast<char>(opcode);
  record[1] = 0x10;
  return record;
}

std::string trigger_record(std::string_view queue, std::uint32_t block) {
  std::string record = plain_record(0xC1);
  record.replace(12, queue.size(), queue);
  put_le(record, 48, 4, block);
  return record;
}

}  // namespace opennrt::testing
