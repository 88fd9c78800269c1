// SPDX-License-Identifier: Apache-2.0
#include "remote/remote_memory.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "device/memory.h"
#include "remote/session.h"

namespace opennrt::emu::remote {

namespace {

constexpr std::size_t kPiece = 32 << 10;  // of a transfer through messages

}  // namespace

void RemoteMemory::begin(std::uint64_t address, std::span<const std::uint8_t> eager) {
  eager_address_ = address;
  eager_bytes_ = std::min(eager.size(), sizeof eager_);
  if (eager_bytes_) std::memcpy(eager_, eager.data(), eager_bytes_);
  pending_.clear();
  count_ = 0;
  descriptor_ = -1;
  descriptor_write_ = 0;
}

int RemoteMemory::read(std::uint64_t address, void* out, std::size_t bytes) {
  if (bytes == 0) return 0;
  if (!plausible(address, bytes)) return -EFAULT;
  if (address >= eager_address_ && address - eager_address_ <= eager_bytes_ &&
      bytes <= eager_bytes_ - (address - eager_address_)) {
    std::memcpy(out, eager_ + (address - eager_address_), bytes);
    return 0;
  }
  auto* to = static_cast<std::uint8_t*>(out);
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t n = std::min(kPiece, bytes - done);
    Head question{.kind = Kind::kUserRead};
    question.arg[0] = address + done;
    question.arg[1] = n;
    question.arg[2] = count_;
    Message answer;
    if (session_.ask(question, pending_, -1, &answer) != 0) return -EFAULT;
    pending_.clear();
    count_ = 0;
    if (answer.head.result != 0 || answer.head.bytes != n) return -EFAULT;
    std::memcpy(to + done, answer.payload, n);
    done += n;
  }
  return 0;
}

int RemoteMemory::flush() {
  if (count_ == 0) return 0;
  Head question{.kind = Kind::kUserWrite};
  question.arg[2] = count_;
  Message answer;
  const int r = session_.ask(question, pending_, -1, &answer);
  pending_.clear();
  count_ = 0;
  return r != 0 || answer.head.result != 0 ? -EFAULT : 0;
}

void RemoteMemory::add(std::uint64_t address, const void* in, std::size_t bytes) {
  const Write write{address, static_cast<std::uint32_t>(bytes), 0};
  const std::size_t at = pending_.size();
  pending_.resize(at + sizeof write + padded(bytes));
  std::memcpy(pending_.data() + at, &write, sizeof write);
  std::memcpy(pending_.data() + at + sizeof write, in, bytes);
  ++count_;
  // The request may look at its argument again.
  const std::uint64_t first = std::max(address, eager_address_);
  const std::uint64_t end = std::min(address + bytes, eager_address_ + eager_bytes_);
  if (first < end)
    std::memcpy(eager_ + (first - eager_address_),
                static_cast<const std::uint8_t*>(in) + (first - address), end - first);
}

int RemoteMemory::write(std::uint64_t address, const void* in, std::size_t bytes) {
  if (bytes == 0) return 0;
  if (!plausible(address, bytes)) return -EFAULT;
  const auto* from = static_cast<const std::uint8_t*>(in);
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t n = std::min(kPiece, bytes - done);
    if (pending_.size() + sizeof(Write) + padded(n) > kMaxPayload)
      if (const int r = flush()) return r;
    add(address + done, from + done, n);
    done += n;
  }
  return 0;
}

int RemoteMemory::write_now(std::uint64_t address, const void* in, std::size_t bytes) {
  const int r = write(address, in, bytes);
  return r ? r : flush();
}

int RemoteMemory::move(Region& region, std::uint64_t offset, std::uint64_t address,
                       std::size_t bytes, bool to_device) {
  if (!plausible(address, bytes)) return -EFAULT;
  if (const int r = flush()) return r;
  std::uint64_t id = 0;
  int descriptor = -1;
  if (!session_.show(region, &id, &descriptor)) return kCannotMap;
  Head question{.kind = Kind::kUserMove};
  question.arg[0] = address;
  question.arg[1] = bytes;
  question.arg[2] = offset;
  question.arg[3] = id;
  question.result = to_device ? 1 : 0;
  const std::uint64_t size = region.bytes();
  Message answer;
  const int r = session_.ask(question, {reinterpret_cast<const std::uint8_t*>(&size), sizeof size},
                             descriptor, &answer);
  if (r != 0) return -EFAULT;
  return answer.head.result == kCannotMap ? kCannotMap : answer.head.result ? -EFAULT : 0;
}

int RemoteMemory::copy_in(Region& region, std::uint64_t offset, std::uint64_t address,
                          std::size_t bytes) {
  const int r = move(region, offset, address, bytes, true);
  return r == kCannotMap ? read(address, region.data() + offset, bytes) : r;
}

int RemoteMemory::copy_out(Region& region, std::uint64_t offset, std::uint64_t address,
                           std::size_t bytes) {
  const int r = move(region, offset, address, bytes, false);
  return r == kCannotMap ? write(address, region.data() + offset, bytes) : r;
}

int RemoteMemory::give_descriptor(const Region& region, std::uint64_t address) {
  if (descriptor_ >= 0) return -EINVAL;  // one per request
  const std::int32_t number = -1;        // the client puts its own in
  if (const int r = write(address, &number, sizeof number)) return r;
  descriptor_ = region.fd();
  descriptor_write_ = count_;
  return 0;
}

}  // namespace opennrt::emu::remote
