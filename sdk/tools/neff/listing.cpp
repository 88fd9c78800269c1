// SPDX-License-Identifier: Apache-2.0
#include "neff/listing.h"

#include <algorithm>

#include "neff/members.h"
#include "neff/text.h"

namespace opennrt::tools {
namespace {

constexpr std::string_view kSpace = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

std::optional<std::uint8_t> digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::uint8_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<std::uint8_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<std::uint8_t>(c - 'A' + 10);
  return std::nullopt;
}

// The lines of one text.
class Reader {
 public:
  explicit Reader(std::optional<isa::Generation> target) : target_(target) {}

  Status line(std::string_view text) {
    text = trimmed(text);
    if (text.empty() || text[0] == '#') return Status::ok();
    const std::size_t space = std::min(text.find_first_of(kSpace), text.size());
    const std::string_view word = text.substr(0, space);
    if (word == ".target") return target(operand(text.substr(space)));
    if (word == ".stream") return stream(trimmed(text.substr(space)));
    if (word == ".bytes") return bytes(operand(text.substr(space)));
    return record(text);
  }
  std::vector<Stream> take() { return std::move(streams_); }

 private:
  // Without a comment; no directive but .stream takes a '#'.
  static std::string_view operand(std::string_view text) {
    return trimmed(text.substr(0, text.find('#')));
  }

  Status target(std::string_view name) {
    const auto found = isa::find_generation(name);
    if (!found)
      return Status::invalid(".target {}: expected sunda, cayman or mariana", neff::quote(name));
    target_ = found;
    return Status::ok();
  }

  Status stream(std::string_view name) {
    ONRT_TRY(neff::check_member_name(name).with_context(".stream"));
    for (const Stream& s : streams_)
      if (s.name == name) return Status::invalid(".stream {}: appears twice", neff::quote(name));
    if (!streams_.empty() && streams_.front().name.empty())
      return Status::invalid(".stream {}: records stand before the first .stream line",
                             neff::quote(name));
    streams_.push_back({std::string(name), {}});
    return Status::ok();
  }

  Status bytes(std::string_view text) {
    if (!text.starts_with("hex:") || text.size() % 2 != 0 || text.size() == 4 ||
        text.size() >= 4 + 2 * isa::kRecordBytes)
      return Status::invalid(".bytes takes hex: and 1 to {} pairs of digits",
                             isa::kRecordBytes - 1);
    for (std::size_t i = 4; i < text.size(); i += 2) {
      const auto high = digit(text[i]), low = digit(text[i + 1]);
      if (!high || !low) return Status::invalid(".bytes: {} is no hex digit", text.substr(i, 2));
      current().bytes.push_back(static_cast<std::byte>(*high << 4 | *low));
    }
    return Status::ok();
  }

  Status record(std::string_view text) {
    if (!target_)
      return Status::invalid("no target: begin with a .target line or give --target=NAME");
    if (current().bytes.size() % isa::kRecordBytes != 0)
      return Status::invalid("a record behind .bytes, which ends a stream");
    std::string error;
    const auto record = isa::assemble(text, *target_, &error);
    if (!record) return Status::invalid("{}", neff::printable(error, 400));
    const auto raw = std::as_bytes(std::span(*record));
    current().bytes.insert(current().bytes.end(), raw.begin(), raw.end());
    return Status::ok();
  }

  Stream& current() {
    if (streams_.empty()) streams_.emplace_back();
    return streams_.back();
  }

  std::optional<isa::Generation> target_;
  std::vector<Stream> streams_;
};

}  // namespace

void append_records(std::span<const std::byte> stream, isa::Generation generation,
                    std::uint64_t first, std::uint64_t last, std::string* out) {
  last = std::min<std::uint64_t>(last, stream.size() / isa::kRecordBytes);
  for (std::uint64_t number = first; number <= last; ++number) {
    *out += isa::disassemble(record_at(stream, number - 1), generation);
    *out += "  # ";
    *out += std::to_string(number);
    *out += '\n';
  }
}

void append_rest(std::span<const std::byte> stream, std::string* out) {
  const auto rest = stream.subspan(stream.size() / isa::kRecordBytes * isa::kRecordBytes);
  if (!rest.empty()) *out += ".bytes hex:" + neff::hex(rest) + "\n";
}

Result<std::vector<Stream>> assemble_listing(std::string_view text, std::string_view source,
                                             std::optional<isa::Generation> target) {
  Reader reader(target);
  std::size_t number = 1;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (Status status = reader.line(text.substr(begin, end - begin)); !status.is_ok())
      return std::move(status).with_context(fmt::format("{}:{}", source, number));
    begin = end + 1;
  }
  return reader.take();
}

}  // namespace opennrt::tools
