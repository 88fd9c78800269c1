// SPDX-License-Identifier: Apache-2.0
#include "strings/interned.h"

#include <array>
#include <mutex>
#include <unordered_map>

#include "strings/siphash.h"

namespace opennrt::strings {

namespace {

// Any fixed key does: whoever reads numbers gets the map with them.
constexpr SipKey kKey{0x6f70656e6e727420, 0x737472696e677320};

struct Table {
  std::mutex mutex;  // guards the members
  std::unordered_map<StringId, std::string> texts;
  std::size_t bytes = 0;
};

// The first one is for no core and for cores beyond the last one.
constexpr std::size_t kTables = 129;

Table& table(std::size_t i) {
  static auto* const tables = new std::array<Table, kTables>;
  return (*tables)[i];
}

std::size_t index_of(std::int32_t core) {
  const auto wanted = static_cast<std::size_t>(core) + 1;
  return core < 0 || wanted >= kTables ? 0 : wanted;
}

}  // namespace

StringId id_of(std::string_view text) {
  // The end of the text is hashed as well, as a byte that no UTF-8 text has.
  return (siphash13(kKey, text, "\xFF") & ((StringId{1} << kIdBits) - 1)) + 1;
}

StringId intern(std::int32_t core, std::string_view text) {
  const StringId id = id_of(text);
  Table& t = table(index_of(core));
  const std::lock_guard lock(t.mutex);
  if (t.bytes + text.size() > kMostBytes) return id;
  if (t.texts.try_emplace(id, text).second) t.bytes += text.size();
  return id;
}

std::string text_of(StringId id) {
  for (std::size_t i = 0; i < kTables; ++i) {
    Table& t = table(i);
    const std::lock_guard lock(t.mutex);
    if (const auto found = t.texts.find(id); found != t.texts.end()) return found->second;
  }
  return {};
}

std::map<StringId, std::string> all() {
  std::map<StringId, std::string> out;
  for (std::size_t i = 0; i < kTables; ++i) {
    Table& t = table(i);
    const std::lock_guard lock(t.mutex);
    out.insert(t.texts.begin(), t.texts.end());
  }
  return out;
}

}  // namespace opennrt::strings
