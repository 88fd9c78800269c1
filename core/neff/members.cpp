// SPDX-License-Identifier: Apache-2.0
#include "neff/members.h"

#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include "neff/text.h"

namespace opennrt::neff {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kMaxNameBytes = 4096;

}  // namespace

Member::Member(std::size_t size) : size_(size) {
  if (size > std::numeric_limits<std::size_t>::max() / 2) throw std::bad_alloc();
  const std::size_t room = (size + kMemberPadding + kAlignment - 1) / kAlignment * kAlignment;
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(kAlignment, room)));
  if (!data_) throw std::bad_alloc();
  std::memset(data_.get() + size, 0, room - size);
}

bool MemberTable::add(std::string name, Member member) {
  return members_.try_emplace(std::move(name), std::move(member)).second;
}

const Member* MemberTable::find(std::string_view name) const {
  const auto it = members_.find(name);
  if (it == members_.end()) return nullptr;
  it->second.read_ = true;
  return &it->second;
}

const Member* MemberTable::keep(std::string_view name) {
  const auto it = members_.find(name);
  if (it == members_.end()) return nullptr;
  it->second.kept_ = it->second.read_ = true;
  return &it->second;
}

void MemberTable::drop_unkept() {
  std::erase_if(members_, [](const auto& entry) { return !entry.second.kept_; });
}

Status check_member_name(std::string_view name) {
  if (name.empty()) return Status::invalid("NEFF archive: a member has an empty name");
  if (name.size() > kMaxNameBytes)
    return Status::invalid("NEFF archive: member {} has a name of {} bytes; limit {}",
                           quote(name, 60), name.size(), kMaxNameBytes);
  if (name.front() == '/')
    return Status::invalid("NEFF archive: member {} has an absolute name", quote(name));
  if (name.find('\\') != std::string_view::npos)
    return Status::invalid("NEFF archive: member {} has a backslash in its name", quote(name));
  for (std::string_view rest = name;;) {
    const std::size_t slash = rest.find('/');
    if (rest.substr(0, slash) == "..")
      return Status::invalid("NEFF archive: member {} has a \"..\" component in its name",
                             quote(name));
    if (slash == std::string_view::npos) return Status::ok();
    rest.remove_prefix(slash + 1);
  }
}

std::string sibling(std::string_view member, std::string_view file) {
  const std::size_t slash = member.rfind('/');
  std::string name(slash == std::string_view::npos ? std::string_view()
                                                   : member.substr(0, slash + 1));
  return name.append(file);
}

}  // namespace opennrt::neff
