// SPDX-License-Identifier: Apache-2.0
//
// A plugin in front of another one: hands out a copy of its table in which slots
// are hidden, or calls fail, end the process or never return. Settings are
// read once, from the environment:
//
//   OPENNRT_DOUBLE_TARGET  library of the plugin behind
//   OPENNRT_DOUBLE_TABLE   what is wrong with the table: newer-major, truncated,
//                          wrong-magic, wrong-kind, other-sanitizer,
//                          needs-newer-host, needs-feature; or with the query: throws,
//                          returns-null; nothing: newer-minor, previous-minor
//   OPENNRT_DOUBLE_HIDE    slots that are null: "sync.sem_inc,mem.dump"; a group alone
//                          ("pod"): its pointer is null
//   OPENNRT_DOUBLE_CALLS   what calls do instead of being passed on:
//                            slot=ACTION     all of them
//                            slot:N=ACTION   the N-th one, from 1
//                            slot:N+=ACTION  the N-th and all later ones
//                          ACTION: a number to return, throw, abort, hang; entries are
//                          separated by commas
//
// A setting that names nothing makes the query return NULL and say why on stderr.
// Threading: slots may be called from any thread; calls are counted over all.
#pragma once

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "opennrt/plugin.h"

namespace opennrt::doubles {

inline std::string_view setting(const char* name) {
  const char* text = std::getenv(name);
  return text != nullptr ? text : "";
}

// The parts between commas.
inline std::vector<std::string_view> parts(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const auto end = text.find(',');
    if (end != 0) out.push_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return out;
}

enum class Act { kReturn, kThrow, kAbort, kHang };

// What the calls of one slot do.
struct Order {
  Act act = Act::kReturn;
  long long value = 0;
  unsigned first = 1, last = ~0u;  // calls that it is about
  std::atomic<unsigned> calls{0};

  bool due() {
    const unsigned call = calls.fetch_add(1, std::memory_order_relaxed) + 1;
    return call >= first && call <= last;
  }
  // "3+" and "throw"
  bool read(std::string_view when, std::string_view what) {
    if (!when.empty()) {
      const bool onward = when.back() == '+';
      if (onward) when.remove_suffix(1);
      const auto [end, error] = std::from_chars(when.data(), when.data() + when.size(), first);
      if (error != std::errc{} || end != when.data() + when.size() || first == 0) return false;
      last = onward ? ~0u : first;
    }
    if (what == "throw") act = Act::kThrow;
    if (what == "abort") act = Act::kAbort;
    if (what == "hang") act = Act::kHang;
    if (act != Act::kReturn) return true;
    const auto [end, error] = std::from_chars(what.data(), what.data() + what.size(), value);
    return error == std::errc{} && end == what.data() + what.size();
  }
  template <typename R>
  R result() const {
    if (act == Act::kThrow) throw std::runtime_error("double: a slot throws");
    if (act == Act::kAbort) std::abort();
    while (act == Act::kHang) pause();
    if constexpr (std::is_pointer_v<R>)
      return nullptr;
    else if constexpr (!std::is_void_v<R>)
      return static_cast<R>(value);
  }
};

// The table of type T that calls are passed on to.
template <typename T>
inline const T* behind = nullptr;

template <auto kMember>
struct Slot;
template <typename T, typename R, typename... A, R (*T::*kMember)(A...)>
struct Slot<kMember> {
  static inline Order order;
  static R call(A... arguments) {
    if (order.due()) return order.template result<R>();
    return (behind<T>->*kMember)(arguments...);
  }
};

// A table or group of type T, with room for members of a later version.
template <typename T>
struct Copy {
  static constexpr std::size_t kRoom = 64;
  union {
    T table;
    unsigned char bytes[sizeof(T) + kRoom];
  };
  Copy() { std::memset(bytes, 0xA5, sizeof bytes); }
  void take(const T* from) {
    behind<T> = from;
    std::memset(bytes, 0, sizeof(T));
    const std::uint32_t size = nrtp_table_size(from);
    std::memcpy(bytes, from, size < sizeof(T) ? size : sizeof(T));
  }
};

// The settings as they are used up.
class Settings {
 public:
  Settings()
      : table(setting("OPENNRT_DOUBLE_TABLE")),
        hidden_(parts(setting("OPENNRT_DOUBLE_HIDE"))),
        calls_(parts(setting("OPENNRT_DOUBLE_CALLS"))) {}

  bool hides(std::string_view name) {
    const auto before = hidden_.size();
    std::erase(hidden_, name);
    return hidden_.size() != before;
  }
  // True when there is an order for the slot.
  bool orders(std::string_view name, Order* out) {
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      const std::string_view entry = calls_[i];
      const std::string_view left = entry.substr(0, entry.find('='));
      const auto colon = left.find(':');
      if (left.substr(0, colon) != name || left.size() == entry.size()) continue;
      const std::string_view when =
          colon == std::string_view::npos ? std::string_view() : left.substr(colon + 1);
      if (!out->read(when, entry.substr(left.size() + 1))) return false;
      calls_.erase(calls_.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
    return false;
  }
  // What names no slot of this kind, empty: nothing.
  std::string left_over() const {
    std::string out;
    for (const auto& list : {hidden_, calls_})
      for (const std::string_view entry : list)
        out += (out.empty() ? "" : ",") + std::string(entry);
    return out;
  }
  const std::string_view table;

 private:
  std::vector<std::string_view> hidden_, calls_;
};

template <auto kMember, typename T>
void put_slot(Settings& settings, T& copy, const char* name) {
  if (settings.hides(name)) copy.*kMember = nullptr;
  if (copy.*kMember != nullptr && settings.orders(name, &Slot<kMember>::order))
    copy.*kMember = Slot<kMember>::call;
}

// Bytes of a group in the minor version before this one.
template <typename G>
inline constexpr std::size_t previous_size = sizeof(G);

// Makes a copied table or group end after `size` bytes; what follows is no pointer.
template <typename T>
void cut(Copy<T>& copy, std::size_t size) {
  const auto stated = static_cast<std::uint32_t>(size);
  std::memcpy(copy.bytes, &stated, sizeof stated);
  std::memset(copy.bytes + size, 0xA5, sizeof copy.bytes - size);
}

// A copy of a group; put: its slots. The group's name is its member's in the table.
template <typename G, typename Put>
void put_group(Settings& settings, const G*& member, Copy<G>& copy, const char* name, Put put) {
  if (settings.hides(name)) member = nullptr;
  if (member == nullptr) return;
  copy.take(member);
  put(copy.table);
  if (settings.table == "newer-minor") {
    const std::uint32_t size = sizeof(G) + Copy<G>::kRoom;
    std::memcpy(copy.bytes, &size, sizeof size);
  }
  if (settings.table == "previous-minor") cut(copy, previous_size<G>);
  member = &copy.table;
}

// Damages the head as the settings say. truncated: size of a table that ends too
// early. False: unknown damage.
inline bool damage(std::string_view how, nrtp_head& head, std::uint32_t bytes,
                   std::uint32_t truncated) {
  if (how == "newer-minor") {
    head.abi_minor += 6;
    head.size = bytes;
  } else if (how == "newer-major") {
    head.abi_major += 1;
  } else if (how == "truncated") {
    head.size = truncated;
  } else if (how == "wrong-magic") {
    head.magic = 0x12345678;
  } else if (how == "wrong-kind") {
    head.kind = head.kind % 3 + 1;
  } else if (how == "other-sanitizer") {
    head.build = "san=memory;version=1.0";
  } else if (how == "needs-newer-host") {
    head.host_minor_min = 99;
  } else if (how == "needs-feature") {
    head.host_features_required = 1ull << 63;
  } else {
    return how.empty();
  }
  return true;
}

inline const void* refuse(const std::string& why) {
  std::fprintf(stderr, "plugin double: %s\n", why.c_str());
  return nullptr;
}

// The table of the plugin behind, or nullptr with a line on stderr.
template <typename T>
const T* open_target(const char* symbol, std::uint32_t major, std::uint32_t minor) {
  const std::string path(setting("OPENNRT_DOUBLE_TARGET"));
  void* library = path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    refuse(path.empty() ? "OPENNRT_DOUBLE_TARGET names no plugin" : dlerror());
    return nullptr;
  }
  using Query = const T* (*)(std::uint32_t, std::uint32_t);
  const auto query = reinterpret_cast<Query>(dlsym(library, symbol));
  const T* const table = query != nullptr ? query(major, minor) : nullptr;
  if (table == nullptr) refuse(path + " gives no table of this kind");
  return table;
}

}  // namespace opennrt::doubles
