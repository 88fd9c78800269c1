// SPDX-License-Identifier: Apache-2.0
#include "tdrv/open_wait.h"

#include <fmt/format.h>

#include <cstring>

#include "opennrt/isa/records.h"

namespace opennrt::tdrv {

namespace {

struct Comparison {
  const char* sign;
  bool (*holds)(std::int32_t value, std::int32_t threshold);
};

// nullptr sign: no comparison with an immediate value.
Comparison comparison(std::uint8_t mode) {
  switch (mode) {
    case isa::kWaitSemEq:
      return {"==", [](std::int32_t v, std::int32_t t) { return v == t; }};
    case isa::kWaitSemLt:
      return {"<", [](std::int32_t v, std::int32_t t) { return v < t; }};
    case isa::kWaitSemLe:
      return {"<=", [](std::int32_t v, std::int32_t t) { return v <= t; }};
    case isa::kWaitSemGt:
      return {">", [](std::int32_t v, std::int32_t t) { return v > t; }};
    case isa::kWaitSemGe:
      return {">=", [](std::int32_t v, std::int32_t t) { return v >= t; }};
    default:
      return {nullptr, nullptr};
  }
}

}  // namespace

std::string first_open_wait(std::span<const std::byte> stream, const SemaphoreReader& read) {
  for (std::size_t at = 0; at + isa::kRecordBytes <= stream.size(); at += isa::kRecordBytes) {
    isa::Header h;
    std::memcpy(&h, stream.data() + at, sizeof h);
    const Comparison compare = comparison(h.wait_mode);
    if (compare.sign == nullptr) continue;
    const auto threshold = static_cast<std::int32_t>(h.value);
    const std::optional<std::int32_t> value = read(h.wait_index);
    if (!value || compare.holds(*value, threshold)) continue;
    return fmt::format("record {} waits for semaphore {} {} {} (value {})", at / isa::kRecordBytes,
                       h.wait_index, compare.sign, threshold, *value);
  }
  return {};
}

}  // namespace opennrt::tdrv
