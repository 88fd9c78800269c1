// SPDX-License-Identifier: Apache-2.0
//
// Values of a JSON member that know their place, so that every refusal names
// member, key path and value. A document has no duplicate keys and at most 64
// levels. Numbers are read independently of the locale.
#pragma once

#include <fmt/format.h>
#include <simdjson.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"
#include "neff/members.h"
#include "neff/text.h"

namespace opennrt::neff {

// Largest size or offset accepted, bytes; sums of a few stay in 64 bits.
inline constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 44;
inline constexpr std::uint64_t kMaxU32 = std::numeric_limits<std::uint32_t>::max();

// A value; refers to its document and to its parent value, both must stay
// where they are. Get children from named values only.
class Json {
 public:
  Json(std::string_view member, simdjson::dom::element value) : member_(member), value_(value) {}

  std::string_view member() const { return member_; }
  // "var.SB.type"; empty for the root.
  std::string path() const;
  // "<member>: <path>: <text>".
  std::string place(std::string_view text) const;
  template <typename... Args>
  Status invalid(fmt::format_string<Args...> f, Args&&... args) const {
    return {NRT_INVALID, place(fmt::format(f, std::forward<Args>(args)...))};
  }
  // Refuses this value itself: "<member>: <path>: <value>: must be <expected>".
  Status wrong(std::string_view expected) const;

  bool is_array() const { return value_.is_array(); }
  bool is_number() const { return value_.is_number(); }
  bool is_object() const { return value_.is_object(); }

  // --- this value ------------------------------------------------------------
  Result<std::uint64_t> integer(std::uint64_t min, std::uint64_t max) const;
  Result<std::int64_t> signed_integer(std::int64_t min, std::int64_t max) const;
  Result<float> real() const;  // finite in float32
  Result<std::string_view> text() const;
  // text() that is not empty, at most max_bytes, without NUL.
  Result<std::string_view> name(std::size_t max_bytes) const;
  Status expect_object() const;
  Result<std::size_t> array_size() const;
  // visit(const Json& element) -> Status, in order.
  template <typename Visit>
  Status for_each_element(Visit&& visit) const {
    ONRT_TRY(expect_array());
    std::size_t index = 0;
    for (const simdjson::dom::element element : simdjson::dom::array(value_.get_array())) {
      const Json child(*this, {}, index++, element);
      ONRT_TRY(visit(child));
    }
    return Status::ok();
  }
  // visit(std::string_view key, const Json& value) -> Status, in order.
  template <typename Visit>
  Status for_each_member(Visit&& visit) const {
    ONRT_TRY(expect_object());
    for (const simdjson::dom::key_value_pair field : simdjson::dom::object(value_.get_object())) {
      const Json child(*this, field.key, kNoIndex, field.value);
      ONRT_TRY(visit(field.key, child));
    }
    return Status::ok();
  }

  // --- members of this object --------------------------------------------------
  std::optional<Json> find(std::string_view key) const&;
  std::optional<Json> find(std::string_view key) const&& = delete;
  Result<Json> require(std::string_view key) const&;
  Result<Json> require(std::string_view key) const&& = delete;
  Result<Json> element(std::size_t index) const&;
  Result<Json> element(std::size_t index) const&& = delete;

  // Optional members: `out` keeps its value when the key is absent.
  template <std::unsigned_integral T>
    requires(!std::same_as<T, bool>)
  Status get(std::string_view key, std::uint64_t min, std::uint64_t max, T& out) const {
    const auto child = find(key);
    if (!child) return Status::ok();
    ONRT_ASSIGN(const std::uint64_t value, child->integer(min, max));
    out = static_cast<T>(value);
    return Status::ok();
  }
  Status get(std::string_view key, bool& out) const;
  Status get(std::string_view key, std::string_view& out) const;

 private:
  static constexpr std::size_t kNoIndex = std::numeric_limits<std::size_t>::max();
  Json(const Json& parent, std::string_view key, std::size_t index, simdjson::dom::element value)
      : member_(parent.member_), parent_(&parent), key_(key), index_(index), value_(value) {}
  Status expect_array() const;

  std::string_view member_;
  const Json* parent_ = nullptr;
  std::string_view key_;
  std::size_t index_ = kNoIndex;
  simdjson::dom::element value_;
};

// A parsed member. Values refer to it and to the name given.
class JsonDocument {
 public:
  // member must outlive the document.
  static Result<JsonDocument> parse(std::string_view name, const Member& member);

  const Json& root() const { return *root_; }

 private:
  JsonDocument() = default;
  std::unique_ptr<std::string> name_;
  std::unique_ptr<simdjson::dom::parser> parser_;
  std::unique_ptr<Json> root_;
};

}  // namespace opennrt::neff
