// SPDX-License-Identifier: Apache-2.0
//
// opennrt neff unpack and pack. The header travels as neff-header.bin, its
// first bytes as in the file; pack computes data_size and hash anew.
#include "neff/pack.h"

#include <algorithm>
#include <cstring>

#include "model_file.h"
#include "neff/commands.h"
#include "neff/digest.h"
#include "neff/directory.h"
#include "neff/files.h"
#include "neff/text.h"
#include "opennrt/neffkit/neffkit.h"

namespace opennrt::tools {
namespace {

constexpr std::string_view kHeaderFile = "neff-header.bin";
// Fields of the header that pack writes.
constexpr std::size_t kPkgVersion = 0x000, kHash = 0x0AC, kHashBytes = 32;
constexpr std::size_t kUuid = 0x0CC, kName = 0x0DC, kNameBytes = 256;

using Digest = std::array<std::byte, 16>;

Digest words_reversed(Digest digest) {
  for (std::size_t word = 0; word < digest.size(); word += 4)
    std::reverse(digest.begin() + static_cast<std::ptrdiff_t>(word),
                 digest.begin() + static_cast<std::ptrdiff_t>(word + 4));
  return digest;
}

// How compilers store the MD5: 2.16 and older as it is, later ones with each
// word reversed. The hash field of neff-header.bin remembers it: it holds the
// digest of nothing in that form.
bool stores_words_reversed(std::span<const std::byte> header) {
  const Digest reversed = words_reversed(neff::md5({}));
  return std::equal(reversed.begin(), reversed.end(), header.begin() + kHash);
}

void remember_form(const Model& model, std::span<const std::byte> payload,
                   std::vector<std::byte>& header) {
  const Digest digest = words_reversed(neff::md5(payload));
  const bool reversed = std::equal(digest.begin(), digest.end(), model.header.hash.begin());
  const Digest mark = reversed ? words_reversed(neff::md5({})) : neff::md5({});
  std::fill_n(header.begin() + kHash, kHashBytes, std::byte{0});
  std::copy(mark.begin(), mark.end(), header.begin() + kHash);
}

void put_number(std::vector<std::byte>& out, std::size_t at, std::uint64_t value) {
  for (std::size_t i = 0; i < 8; ++i, value >>= 8) out[at + i] = static_cast<std::byte>(value);
}

// Compilers write the manifest last.
bool before(const std::string& a, const std::string& b) {
  const bool a_last = a == "neff.json", b_last = b == "neff.json";
  return a_last != b_last ? b_last : a < b;
}

void set_identity(std::vector<std::byte>& neff, const Digest& digest) {
  auto uuid = digest;
  std::reverse(uuid.begin(), uuid.end());
  uuid[6] = (uuid[6] & std::byte{0x0F}) | std::byte{0x40};
  uuid[8] = (uuid[8] & std::byte{0x3F}) | std::byte{0x80};
  std::copy(uuid.begin(), uuid.end(), neff.begin() + kUuid);
}

}  // namespace

Status unpack_model(const Model& model, std::span<const std::byte> payload,
                    const std::string& directory) {
  if (model.members->contains(kHeaderFile))
    return Status::invalid("{}: has a member {}, the name unpack needs for the header", model.path,
                           kHeaderFile);
  ONRT_ASSIGN(NewDirectory out, NewDirectory::create(directory));
  std::vector<std::byte> header = model.header_bytes;
  remember_form(model, payload, header);
  ONRT_TRY(out.write(kHeaderFile, header));
  Status status;
  model.members->for_each([&](std::string_view name, const neff::Member& member, bool) {
    if (status.is_ok()) status = out.write(name, member.bytes());
  });
  ONRT_TRY(std::move(status));
  return out.finish();
}

Result<std::vector<std::byte>> pack_directory(const std::string& directory,
                                              const PackOptions& options) {
  ONRT_ASSIGN(std::vector<std::string> names, files_below(directory));
  std::sort(names.begin(), names.end(), before);
  if (std::erase(names, kHeaderFile) == 0)
    return Status::invalid("{}: {} is missing; unpack writes it, and a new model is made by build",
                           directory, kHeaderFile);
  if (names.empty()) return Status::invalid("{}: no members beside {}", directory, kHeaderFile);
  ONRT_ASSIGN(std::vector<std::byte> header,
              read_whole(directory + "/" + std::string(kHeaderFile)));
  if (header.size() != neff::kHeaderBytes)
    return Status::invalid("{}/{}: {} bytes; a header has {}", directory, kHeaderFile,
                           header.size(), neff::kHeaderBytes);
  std::vector<neffkit::Member> members;
  for (const std::string& name : names) {
    ONRT_ASSIGN(const std::vector<std::byte> bytes, read_whole(directory + "/" + name));
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    members.push_back({name, {data, data + bytes.size()}});
  }
  const auto version = std::to_integer<unsigned>(header[kPkgVersion]);
  if (version != 1 && version != 2)
    return Status::invalid("{}/{}: package version {}; known are 1 and 2", directory, kHeaderFile,
                           version);
  std::vector<std::uint8_t> payload;
  std::string error;
  if (!neffkit::make_payload(members, version == 2, &payload, &error))
    return Status::invalid("{}", error);
  const auto payload_bytes = std::as_bytes(std::span(payload));
  const Digest digest = neff::md5(payload_bytes);
  const bool reversed = stores_words_reversed(header);
  std::vector<std::byte> out = std::move(header);
  put_number(out, 0x010, payload.size());
  std::fill_n(out.begin() + kHash, kHashBytes, std::byte{0});
  if (version == 1) {
    const auto sha = neff::sha256(payload_bytes);
    std::copy(sha.begin(), sha.end(), out.begin() + kHash);
  } else {
    const Digest stored = reversed ? words_reversed(digest) : digest;
    std::copy(stored.begin(), stored.end(), out.begin() + kHash);
  }
  if (options.new_uuid) set_identity(out, digest);
  if (options.name) {
    if (options.name->size() >= kNameBytes)
      return Status::invalid("--name: {} bytes; at most {} fit", options.name->size(),
                             kNameBytes - 1);
    std::fill_n(out.begin() + kName, kNameBytes, std::byte{0});
    std::memcpy(out.data() + kName, options.name->data(), options.name->size());
  }
  out.insert(out.end(), payload_bytes.begin(), payload_bytes.end());
  if (auto check = neff::read_header(out); !check)
    return std::move(check).status().with_context(directory);
  return out;
}

int neff_unpack(const Words& words) {
  const CommandLine line(
      {.command = "opennrt neff unpack",
       .usage = "[options] MODEL.neff DIRECTORY",
       .header = "Writes all members into a new directory. The header goes to "
                 "DIRECTORY/neff-header.bin. Nothing is written outside DIRECTORY."},
      {});
  return line.run(words, [](const Arguments& arguments) {
    arguments.want_words(2, 2);
    const std::string& path = arguments.words[0];
    const std::vector<std::byte> bytes = need(read_model_file(path));
    const Model model = need(open_model(path, bytes));
    const auto payload = std::span(bytes).subspan(neff::kHeaderBytes, model.header.data_size);
    need(unpack_model(model, payload, arguments.words[1]));
    return kDone;
  });
}

int neff_pack(const Words& words) {
  const CommandLine line(
      {.command = "opennrt neff pack",
       .usage = "[options] DIRECTORY OUTPUT.neff",
       .header =
           "The inverse of unpack, with the hash made right. The same directory gives the same "
           "bytes."},
      {Option("name", "n", "the name of the model").argument("NAME"),
       Option("new-uuid", "u",
              "derive the identity from the content: runtimes may take two models of one identity "
              "for the same")});
  return line.run(words, [](const Arguments& arguments) {
    arguments.want_words(2, 2);
    const PackOptions options{arguments.value("name"), arguments.has("new-uuid")};
    const std::vector<std::byte> model = need(pack_directory(arguments.words[0], options));
    need(write_whole(arguments.words[1], model));
    return kDone;
  });
}

int neff_build(const Words& words) {
  const CommandLine line({.command = "opennrt neff build",
                          .usage = "[options] SOURCE.yaml OUTPUT.neff",
                          .header = "Builds a model from a readable source."},
                         {});
  return line.run(words, [](const Arguments& arguments) {
    arguments.want_words(2, 2);
    const std::string& path = arguments.words[0];
    const std::vector<std::byte> source = need(read_whole(path));
    std::vector<std::uint8_t> neff;
    std::string error;
    if (!neffkit::build_neff({reinterpret_cast<const char*>(source.data()), source.size()}, path,
                             &neff, &error))
      throw std::runtime_error(error);
    need(write_whole(arguments.words[1], std::as_bytes(std::span(neff))));
    return kDone;
  });
}

}  // namespace opennrt::tools
