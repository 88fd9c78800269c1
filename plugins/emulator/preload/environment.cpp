// SPDX-License-Identifier: Apache-2.0
#include "preload/environment.h"

#include <sys/mman.h>

#include <cstring>

#include "preload/session.h"

namespace opennrt::emu::preload {

namespace {

constexpr const char* kPreload = "LD_PRELOAD";

// The value when `entry` sets that variable.
const char* value_of(const char* entry, const char* name) noexcept {
  const std::size_t length = std::strlen(name);
  return std::strncmp(entry, name, length) == 0 && entry[length] == '=' ? entry + length + 1
                                                                        : nullptr;
}

// One of the names in a list separated by colons or blanks.
bool listed(const char* list, const char* name) noexcept {
  const std::size_t length = std::strlen(name);
  for (const char* at = list; (at = std::strstr(at, name)) != nullptr; at += length) {
    const bool starts = at == list || at[-1] == ':' || at[-1] == ' ';
    const char end = at[length];
    if (starts && (end == '\0' || end == ':' || end == ' ')) return true;
  }
  return false;
}

}  // namespace

Environment::Environment(char* const* from, const char* closed) noexcept {
  static char* const kEmpty[] = {nullptr};
  if (!from) from = kEmpty;
  const Session& s = session();
  const char* const names[] = {kTreeVariable, kSocketVariable, kLibraryVariable};
  const char* const values[] = {s.tree, s.socket, s.library};
  std::size_t count = 0;
  // Other values are those of a launch inside this one.
  bool present[3] = {false, false, false}, preloaded = false;
  const char* others = nullptr;
  for (; from[count]; ++count) {
    for (int i = 0; i < 3; ++i)
      present[i] = present[i] || value_of(from[count], names[i]) != nullptr;
    if (const char* value = value_of(from[count], kPreload)) {
      preloaded = listed(value, s.library);
      others = value;
    }
  }
  if (!s.active || (present[0] && present[1] && present[2] && preloaded && !closed)) {
    result_ = from;
    return;
  }
  // Not malloc: the caller may be a child of fork in a program with threads.
  bytes_ = (count + 6) * sizeof(char*) + 5 * (kPathBytes + 32) + kClosedBytes +
           (others ? std::strlen(others) : 0) + 128;
  const long made = raw_call(SYS_mmap, 0, static_cast<long>(bytes_), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (made < 0) return;
  memory_ = reinterpret_cast<void*>(made);
  auto** list = static_cast<char**>(memory_);
  char* text = reinterpret_cast<char*>(list + count + 6);
  std::size_t n = 0;
  for (std::size_t i = 0; i < count; ++i) {
    bool replaced = value_of(from[i], kPreload) || value_of(from[i], kClosedVariable);
    for (const char* name : names) replaced = replaced || value_of(from[i], name);
    if (!replaced) list[n++] = from[i];
  }
  const auto add = [&](const char* name, const char* value, const char* more) {
    list[n++] = text;
    for (const char* part : {name, "=", value, more ? ":" : "", more ? more : ""}) {
      const std::size_t length = std::strlen(part);
      std::memcpy(text, part, length);
      text += length;
    }
    *text++ = '\0';
  };
  for (int i = 0; i < 3; ++i) add(names[i], values[i], nullptr);
  if (preloaded)
    add(kPreload, others, nullptr);
  else
    add(kPreload, s.library, others && *others ? others : nullptr);
  if (closed) add(kClosedVariable, closed, nullptr);
  list[n] = nullptr;
  result_ = list;
}

Environment::~Environment() {
  if (memory_) raw_call(SYS_munmap, word(memory_), static_cast<long>(bytes_));
}

}  // namespace opennrt::emu::preload
