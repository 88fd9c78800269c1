// SPDX-License-Identifier: Apache-2.0
#include "neff/json.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "neff/json_locate.h"

namespace opennrt::neff {
namespace {

constexpr std::size_t kMaxDocumentBytes = std::size_t{1} << 30;
static_assert(kMemberPadding >= simdjson::SIMDJSON_PADDING);

// The value as it may stand in a message.
std::string shown(simdjson::dom::element value) {
  using simdjson::dom::element_type;
  switch (value.type()) {
    case element_type::ARRAY:
      return "an array";
    case element_type::OBJECT:
      return "an object";
    case element_type::STRING:
      return quote(std::string_view(value.get_string()));
    case element_type::INT64:
      return std::to_string(std::int64_t(value.get_int64()));
    case element_type::UINT64:
      return std::to_string(std::uint64_t(value.get_uint64()));
    case element_type::DOUBLE:
      return fmt::format("{}", double(value.get_double()));
    case element_type::BOOL:
      return bool(value.get_bool()) ? "true" : "false";
    case element_type::NULL_VALUE:
      return "null";
  }
  return "?";
}

// Duplicate keys and depth. The parser does not count an empty innermost level.
Status check_structure(const Json& value, std::size_t depth) {
  if (!value.is_array() && !value.is_object()) return Status::ok();
  if (depth == kMaxJsonDepth) return value.invalid("nested deeper than {} levels", kMaxJsonDepth);
  if (value.is_array())
    return value.for_each_element(
        [&](const Json& child) { return check_structure(child, depth + 1); });
  std::vector<std::string_view> keys;
  ONRT_TRY(value.for_each_member([&](std::string_view key, const Json& child) {
    keys.push_back(key);
    return check_structure(child, depth + 1);
  }));
  std::sort(keys.begin(), keys.end());
  const auto twice = std::adjacent_find(keys.begin(), keys.end());
  if (twice == keys.end()) return Status::ok();
  return value.invalid("key {} appears twice", quote(*twice));
}

}  // namespace

std::string Json::path() const {
  std::vector<const Json*> chain;
  for (const Json* at = this; at->parent_ != nullptr; at = at->parent_) chain.push_back(at);
  std::string out;
  for (auto it = chain.rbegin(); it != chain.rend(); ++it) {
    if ((*it)->index_ == kNoIndex)
      append_key(out, (*it)->key_);
    else
      append_index(out, (*it)->index_);
  }
  return out;
}

std::string Json::place(std::string_view text) const {
  std::string out = printable(member_);
  const std::string keys = path();
  if (!keys.empty()) out += ": " + keys;
  return out.append(": ").append(text);
}

Status Json::wrong(std::string_view expected) const {
  return invalid("{}: must be {}", shown(value_), expected);
}

Result<std::uint64_t> Json::integer(std::uint64_t min, std::uint64_t max) const {
  std::uint64_t value = 0;
  // A negative number, a fraction and a text all fail here.
  if (value_.get(value) == simdjson::SUCCESS && value >= min && value <= max) return value;
  return wrong(fmt::format("an integer from {} to {}", min, max));
}

Result<std::int64_t> Json::signed_integer(std::int64_t min, std::int64_t max) const {
  std::int64_t value = 0;
  if (value_.get(value) == simdjson::SUCCESS && value >= min && value <= max) return value;
  return wrong(fmt::format("an integer from {} to {}", min, max));
}

Result<float> Json::real() const {
  double value = 0;
  if (value_.get(value) == simdjson::SUCCESS &&
      std::fabs(value) <= double{std::numeric_limits<float>::max()})
    return static_cast<float>(value);
  return wrong("a number in the range of float32");
}

Result<std::string_view> Json::text() const {
  std::string_view value;
  if (value_.get(value) == simdjson::SUCCESS) return value;
  return wrong("a string");
}

Result<std::string_view> Json::name(std::size_t max_bytes) const {
  ONRT_ASSIGN(const std::string_view value, text());
  if (value.empty() || value.size() > max_bytes || value.find('\0') != std::string_view::npos)
    return wrong(fmt::format("a name of 1 to {} bytes", max_bytes));
  return value;
}

Status Json::expect_object() const { return is_object() ? Status::ok() : wrong("an object"); }

Status Json::expect_array() const { return is_array() ? Status::ok() : wrong("an array"); }

Result<std::size_t> Json::array_size() const {
  ONRT_TRY(expect_array());
  // size() of the parser saturates at 2^24 - 1.
  std::size_t count = 0;
  for ([[maybe_unused]] const auto element : simdjson::dom::array(value_.get_array())) ++count;
  return count;
}

std::optional<Json> Json::find(std::string_view key) const& {
  simdjson::dom::object object;
  if (value_.get(object) != simdjson::SUCCESS) return std::nullopt;
  for (const simdjson::dom::key_value_pair field : object)
    if (field.key == key) return Json(*this, field.key, kNoIndex, field.value);
  return std::nullopt;
}

Result<Json> Json::require(std::string_view key) const& {
  ONRT_TRY(expect_object());
  const auto child = find(key);
  if (child) return *child;
  return invalid("key {} is missing", quote(key));
}

Result<Json> Json::element(std::size_t index) const& {
  ONRT_TRY(expect_array());
  std::size_t at = 0;
  for (const simdjson::dom::element value : simdjson::dom::array(value_.get_array()))
    if (at++ == index) return Json(*this, {}, index, value);
  return invalid("element {} is missing", index);
}

Status Json::get(std::string_view key, bool& out) const {
  const auto child = find(key);
  if (!child) return Status::ok();
  if (child->value_.get(out) == simdjson::SUCCESS) return Status::ok();
  return child->wrong("true or false");
}

Status Json::get(std::string_view key, std::string_view& out) const {
  const auto child = find(key);
  if (!child) return Status::ok();
  ONRT_ASSIGN(out, child->text());
  return Status::ok();
}

Result<JsonDocument> JsonDocument::parse(std::string_view name, const Member& member) {
  const std::span<const std::byte> bytes = member.bytes();
  if (bytes.size() > kMaxDocumentBytes)
    return Status::invalid("{}: {} bytes are more than the limit of {} for a JSON member",
                           printable(name), bytes.size(), kMaxDocumentBytes);
  JsonDocument document;
  document.name_ = std::make_unique<std::string>(name);
  document.parser_ = std::make_unique<simdjson::dom::parser>();
  // The parser refuses when the depth reaches its limit.
  simdjson::error_code error =
      document.parser_->allocate(std::max<std::size_t>(bytes.size(), 64), kMaxJsonDepth + 1);
  simdjson::dom::element root;
  if (error == simdjson::SUCCESS)
    error =
        document.parser_->parse(reinterpret_cast<const char*>(bytes.data()), bytes.size(), false)
            .get(root);
  if (error == simdjson::MEMALLOC)
    return Status::resource("{}: no memory to parse {} bytes", printable(name), bytes.size());
  if (error != simdjson::SUCCESS)
    return Status::invalid("{}: {}", printable(name),
                           locate_error(bytes, simdjson::error_message(error)));
  document.root_ = std::make_unique<Json>(*document.name_, root);
  ONRT_TRY(check_structure(*document.root_, 0));
  return document;
}

}  // namespace opennrt::neff
