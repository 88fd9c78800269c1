// SPDX-License-Identifier: Apache-2.0
#include "neff/container.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "log/log.h"
#include "neff/digest.h"
#include "neff/gunzip.h"
#include "neff/memory_limit.h"
#include "neff/text.h"

namespace opennrt::neff {
namespace {

// Header offsets.
constexpr std::size_t kOffPkgVersion = 0x000, kOffHeaderSize = 0x008, kOffDataSize = 0x010;
constexpr std::size_t kOffMajor = 0x018, kOffMinor = 0x020, kOffHash = 0x0AC, kOffUuid = 0x0CC;
constexpr std::size_t kOffName = 0x0DC, kNameBytes = 256;
constexpr std::size_t kOffFeatureBits = 0x220, kOffLncSize = 0x228;

constexpr std::uint64_t kMaxMajor = 2;
constexpr std::uint64_t kSupportedFeatures = 0x7FFFFFF;
// Bit 63 is not tested by the vendor runtime either.
constexpr std::uint64_t kRefusedFeatures = 0x7FFFFFFFF8000000;

constexpr std::size_t kMaxMembers = 65536;
constexpr std::uint64_t kMaxRatio = 1100;  // deflate cannot exceed 1032
constexpr std::uint64_t kRatioSlack = std::uint64_t{1} << 20;
constexpr std::string_view kSkippedSuffix = "wavegraph-bin.json";

template <typename T>
T load_le(std::span<const std::byte> bytes, std::size_t offset) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    value |= static_cast<T>(std::to_integer<T>(bytes[offset + i]) << (8 * i));
  return value;
}

Status check_sizes(std::span<const std::byte> bytes, std::uint64_t file_bytes) {
  if (bytes.data() == nullptr) return Status::invalid("NEFF: no buffer given");
  if (bytes.empty()) return Status::invalid("NEFF: the file is empty (0 bytes); copy it again");
  if (bytes.size() < kHeaderBytes)
    return Status::invalid("NEFF: {} bytes are less than the header of {}; the file is truncated",
                           bytes.size(), kHeaderBytes);
  const auto header_size = load_le<std::uint64_t>(bytes, kOffHeaderSize);
  if (header_size != kHeaderBytes)
    return Status::invalid(
        "NEFF header: header_size (offset 8) is {}, must be {}; this is not a NEFF file",
        header_size, kHeaderBytes);
  const auto data_size = load_le<std::uint64_t>(bytes, kOffDataSize);
  if (data_size == 0)
    return Status::invalid("NEFF header: data_size (offset 16) is 0; the file has no payload");
  if (data_size > file_bytes - kHeaderBytes)
    return Status::invalid(
        "NEFF header: data_size (offset 16) is {}, but only {} bytes follow the header; the file "
        "is truncated, copy it again",
        data_size, file_bytes - kHeaderBytes);
  return Status::ok();
}

Status check_versions(const Header& header) {
  if (header.pkg_version != 1 && header.pkg_version != 2)
    return Status::make(NRT_UNSUPPORTED_NEFF_VERSION,
                        "NEFF header: pkg_version (offset 0) is {}; supported are 1 and 2",
                        header.pkg_version);
  if (header.version_major > kMaxMajor)
    return Status::make(NRT_UNSUPPORTED_NEFF_VERSION,
                        "NEFF version {}.{} is newer than this runtime supports ({}.x); use an "
                        "older compiler or a newer runtime",
                        header.version_major, header.version_minor, kMaxMajor);
  const std::uint64_t refused = header.feature_bits & kRefusedFeatures;
  if (header.version_major == 2 && refused != 0) {
    std::string bits;
    for (unsigned bit = 0; bit < 64; ++bit)
      if ((refused >> bit) & 1) bits += (bits.empty() ? "" : ", ") + std::to_string(bit);
    return Status::make(NRT_UNSUPPORTED_NEFF_VERSION,
                        "NEFF version {}.{}: feature_bits 0x{:x} has unknown feature bits {} "
                        "(supported mask 0x{:x}); use an older compiler or a newer runtime",
                        header.version_major, header.version_minor, header.feature_bits, bits,
                        kSupportedFeatures);
  }
  return Status::ok();
}

// Feeds the archive reader from the payload, inflating on the way.
class Source {
 public:
  Source(const Header& header, std::span<const std::byte> payload, std::uint64_t max_bytes)
      : payload_(payload) {
    if (header.pkg_version == 2) gunzip_.emplace(payload, max_bytes);
  }

  // For archive_read_open: -1 stops the archive reader, status() says why.
  // No exception may cross the archive reader, which is C.
  la_ssize_t read(archive* reader, const void** block) noexcept {
    std::span<const std::byte> chunk;
    try {
      chunk = next();
    } catch (...) {
      archive_set_error(reader, ENOMEM, "payload");
      return -1;
    }
    if (!status_.is_ok()) {
      archive_set_error(reader, EIO, "payload");
      return -1;
    }
    *block = chunk.data();
    return static_cast<la_ssize_t>(chunk.size());
  }
  // Reads what the archive reader left, so that the trailer is checked.
  void drain() {
    while (status_.is_ok() && !next().empty()) {
    }
  }
  const Status& status() const { return status_; }
  Status take_status() { return std::move(status_); }
  bool over_limit() const { return gunzip_ && gunzip_->over_limit(); }

 private:
  std::span<const std::byte> next() {
    std::span<const std::byte> chunk;
    if (gunzip_)
      status_ = gunzip_->next(chunk);
    else
      chunk = std::exchange(payload_, {});
    return chunk;
  }

  std::span<const std::byte> payload_;
  std::optional<Gunzip> gunzip_;
  Status status_;
};

la_ssize_t read_source(archive* reader, void* client, const void** block) {
  return static_cast<Source*>(client)->read(reader, block);
}

struct FreeArchive {
  void operator()(archive* reader) const { archive_read_free(reader); }
};

class Unpacker {
 public:
  Unpacker(const Header& header, std::span<const std::byte> payload, std::uint64_t cap)
      : ratio_limit_(ratio_limit(header)),
        cap_(cap),
        source_(header, payload, std::min(ratio_limit_, cap)) {}

  Result<MemberTable> run() {
    Status status = read_all();
    if (source_.over_limit()) return too_large();
    // The reader's error is only a consequence of the source's.
    if (!source_.status().is_ok()) return source_.take_status();
    if (!status.is_ok()) return status;
    source_.drain();
    if (source_.over_limit()) return too_large();
    if (!source_.status().is_ok()) return source_.take_status();
    return std::move(table_);
  }

 private:
  static std::uint64_t ratio_limit(const Header& header) {
    if (header.pkg_version == 1) return header.data_size;
    if (header.data_size > std::numeric_limits<std::uint64_t>::max() / (2 * kMaxRatio))
      return std::numeric_limits<std::uint64_t>::max();
    return header.data_size * kMaxRatio + kRatioSlack;
  }

  Status too_large() const {
    if (ratio_limit_ <= cap_)
      return Status::invalid(
          "NEFF payload: decompresses to more than {} bytes, {} times its stored size; refused as "
          "a decompression bomb",
          ratio_limit_, kMaxRatio);
    return Status::resource(
        "NEFF payload: decompresses to more than {} bytes, the limit for one model (half of the "
        "memory limit by default); give the process more memory",
        cap_);
  }

  Status library_error() {
    const std::string place =
        last_.empty() ? "at the first member" : "at or behind member " + quote(last_);
    if (archive_errno(reader_.get()) == ENOMEM)
      return Status::resource("NEFF archive: no memory to read it {}", place);
    const char* text = archive_error_string(reader_.get());
    return Status::invalid("NEFF archive: damaged {}: {}", place, text ? text : "unknown error");
  }

  Status read_all() {
    reader_.reset(archive_read_new());
    if (!reader_) return Status::resource("NEFF archive: no memory for the archive reader");
    if (archive_read_support_format_tar(reader_.get()) != ARCHIVE_OK ||
        archive_read_open(reader_.get(), &source_, nullptr, read_source, nullptr) != ARCHIVE_OK)
      return library_error();
    while (true) {
      archive_entry* entry = nullptr;
      const int result = archive_read_next_header(reader_.get(), &entry);
      if (result == ARCHIVE_EOF) return Status::ok();
      // A warning means a name that the locale cannot show; its bytes are
      // still right.
      if (result != ARCHIVE_OK && result != ARCHIVE_WARN) return library_error();
      ONRT_TRY(read_entry(entry));
    }
  }

  Status read_entry(archive_entry* entry) {
    const char* raw = archive_entry_pathname(entry);
    std::string_view name = raw ? raw : "";
    const bool link = archive_entry_hardlink(entry) != nullptr;
    if (!link && archive_entry_filetype(entry) == AE_IFDIR) return Status::ok();
    if (name.starts_with("./")) name.remove_prefix(2);
    ONRT_TRY(check_member_name(name));
    if (link || archive_entry_filetype(entry) != AE_IFREG)
      return Status::invalid(
          "NEFF archive: member {} is a link, device or fifo; only regular files may appear",
          quote(name));
    if (archive_entry_sparse_count(entry) != 0)
      return Status::invalid("NEFF archive: member {} is a sparse file; not supported",
                             quote(name));
    if (++members_ > kMaxMembers)
      return Status::invalid("NEFF archive: member {} is one more than the limit of {} members",
                             quote(name), kMaxMembers);
    last_ = name;
    if (name.ends_with(kSkippedSuffix)) return Status::ok();
    if (table_.contains(name))
      return Status::invalid("NEFF archive: member {} appears twice", quote(name));
    const la_int64_t size = archive_entry_size(entry);
    if (size < 0) return Status::invalid("NEFF archive: member {} has size {}", quote(name), size);
    stored_ += static_cast<std::uint64_t>(size);
    if (stored_ > std::min(ratio_limit_, cap_))
      return too_large().with_context("member " + quote(name));
    Member member(static_cast<std::size_t>(size));
    ONRT_TRY(read_data(member.bytes(), name));
    table_.add(std::string(name), std::move(member));
    return Status::ok();
  }

  Status read_data(std::span<std::byte> to, std::string_view name) {
    std::size_t filled = 0;
    while (true) {
      const void* block = nullptr;
      std::size_t bytes = 0;
      la_int64_t offset = 0;
      const int result = archive_read_data_block(reader_.get(), &block, &bytes, &offset);
      if (result == ARCHIVE_EOF) break;
      if (result != ARCHIVE_OK && result != ARCHIVE_WARN) return library_error();
      if (bytes == 0) continue;
      if (static_cast<std::uint64_t>(offset) != filled || bytes > to.size() - filled)
        return Status::invalid("NEFF archive: member {} has a hole at byte {}", quote(name),
                               filled);
      std::memcpy(to.data() + filled, block, bytes);
      filled += bytes;
    }
    if (filled == to.size()) return Status::ok();
    return Status::invalid("NEFF archive: member {} has {} of its {} bytes; the file is truncated",
                           quote(name), filled, to.size());
  }

  std::uint64_t ratio_limit_, cap_, stored_ = 0;
  std::size_t members_ = 0;
  std::string last_;  // member read last, for messages
  MemberTable table_;
  Source source_;
  std::unique_ptr<archive, FreeArchive> reader_;
};

}  // namespace

Result<Header> read_header(std::span<const std::byte> bytes) {
  return read_header(bytes, bytes.size());
}

Result<Header> read_header(std::span<const std::byte> bytes, std::uint64_t file_bytes) {
  ONRT_TRY(check_sizes(bytes, file_bytes));
  Header header;
  header.pkg_version = load_le<std::uint64_t>(bytes, kOffPkgVersion);
  header.data_size = load_le<std::uint64_t>(bytes, kOffDataSize);
  header.version_major = load_le<std::uint64_t>(bytes, kOffMajor);
  header.version_minor = load_le<std::uint64_t>(bytes, kOffMinor);
  header.feature_bits = load_le<std::uint64_t>(bytes, kOffFeatureBits);
  header.lnc_size = load_le<std::uint32_t>(bytes, kOffLncSize);
  std::memcpy(header.hash.data(), &bytes[kOffHash], header.hash.size());
  std::memcpy(header.uuid.data(), &bytes[kOffUuid], header.uuid.size());
  const char* name = reinterpret_cast<const char*>(&bytes[kOffName]);
  header.name.assign(name, strnlen(name, kNameBytes));
  ONRT_TRY(check_versions(header));
  return header;
}

Status check_hash(const Header& header, std::span<const std::byte> payload) {
  const std::span<const std::byte> stored(header.hash);
  if (header.pkg_version == 1) {
    const auto computed = sha256(payload);
    if (std::ranges::equal(stored, computed)) return Status::ok();
    return Status::invalid("NEFF header: SHA-256 of the payload is {}, the header says {}",
                           hex(computed), hex(stored));
  }
  const auto computed = md5(payload);
  // Compilers up to 2.16 store the digest as is, later ones store each of its
  // four words reversed.
  auto reversed = computed;
  for (std::size_t word = 0; word + 4 <= reversed.size(); word += 4)
    std::reverse(reversed.begin() + static_cast<std::ptrdiff_t>(word),
                 reversed.begin() + static_cast<std::ptrdiff_t>(word + 4));
  const auto md5 = stored.first(computed.size());
  if (std::ranges::equal(md5, computed) || std::ranges::equal(md5, reversed)) return Status::ok();
  return Status::invalid(
      "NEFF header: MD5 of the payload is {} (words reversed {}), the header "
      "says {}; the file is damaged, copy it again",
      hex(computed), hex(reversed), hex(md5));
}

Result<MemberTable> unpack(const Header& header, std::span<const std::byte> payload,
                           std::uint64_t max_bytes) {
  if (max_bytes == 0) max_bytes = memory_limit_bytes() / 2;
  return Unpacker(header, payload, max_bytes).run();
}

}  // namespace opennrt::neff
