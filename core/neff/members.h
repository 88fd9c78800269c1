// SPDX-License-Identifier: Apache-2.0
//
// The members of a NEFF, each in one buffer of its own. Names are keys, never
// file-system paths.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/status.h"

namespace opennrt::neff {

// Zero bytes readable behind every member; the JSON parser reads past the end.
inline constexpr std::size_t kMemberPadding = 64;

class Member {
 public:
  // Uninitialised content, 64-byte aligned; throws std::bad_alloc.
  explicit Member(std::size_t size);

  std::span<std::byte> bytes() { return {data_.get(), size_}; }
  std::span<const std::byte> bytes() const { return {data_.get(), size_}; }

 private:
  friend class MemberTable;
  struct Free {
    void operator()(std::byte* data) const { std::free(data); }
  };
  std::unique_ptr<std::byte[], Free> data_;
  std::size_t size_;
  bool kept_ = false;
  mutable bool read_ = false;
};

class MemberTable {
 public:
  // False when the name is taken.
  bool add(std::string name, Member member);
  bool contains(std::string_view name) const { return members_.contains(name); }
  std::size_t size() const { return members_.size(); }

  // visit(std::string_view name, const Member&, bool read) for every member, in
  // no order; read: find() or keep() gave it out.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (const auto& [name, member] : members_) visit(std::string_view(name), member, member.read_);
  }

  // nullptr when there is no such member.
  const Member* find(std::string_view name) const;
  // The same, and the member stays when drop_unkept() is called.
  const Member* keep(std::string_view name);
  // Frees what the program does not refer to: manifests and debug members.
  void drop_unkept();

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  std::unordered_map<std::string, Member, Hash, std::equal_to<>> members_;
};

// NRT_INVALID for a name that could leave a directory or confuse a reader.
Status check_member_name(std::string_view name);

// "sg00/def.json" + "PE.json" -> "sg00/PE.json".
std::string sibling(std::string_view member, std::string_view file);

}  // namespace opennrt::neff
