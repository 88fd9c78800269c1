// SPDX-License-Identifier: Apache-2.0
#include "support/ntff.h"

#include <cstring>
#include <functional>

namespace opennrt::test {

namespace {

constexpr std::size_t kHeaderBytes = 128;
using Bytes = std::span<const std::byte>;

// One field of a protobuf message.
struct Field {
  std::uint32_t number = 0;
  std::uint64_t value = 0;  // of scalar fields
  Bytes bytes;              // of length-delimited fields

  std::string text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
};

class WireReader {
 public:
  explicit WireReader(Bytes bytes) : rest_(bytes) {}

  // false at the end or when the message is damaged.
  bool next(Field& out) {
    if (rest_.empty()) return false;
    std::uint64_t key = 0;
    if (!varint(key)) return fail();
    out = {};
    out.number = static_cast<std::uint32_t>(key >> 3);
    switch (key & 7) {
      case 0:
        return varint(out.value) || fail();
      case 1:
        return fixed(8, out.value);
      case 2: {
        std::uint64_t length = 0;
        if (!varint(length) || length > rest_.size()) return fail();
        out.bytes = rest_.first(length);
        rest_ = rest_.subspan(length);
        return true;
      }
      case 5:
        return fixed(4, out.value);
      default:
        return fail();
    }
  }
  bool damaged() const { return damaged_; }

 private:
  bool fail() {
    damaged_ = true;
    return false;
  }
  bool fixed(std::size_t n, std::uint64_t& out) {
    if (rest_.size() < n) return fail();
    std::memcpy(&out, rest_.data(), n);
    rest_ = rest_.subspan(n);
    return true;
  }
  bool varint(std::uint64_t& out) {
    out = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return false;
      const auto b = std::to_integer<std::uint64_t>(rest_[0]);
      rest_ = rest_.subspan(1);
      out |= (b & 0x7F) << shift;
      if (b < 0x80) return true;
    }
    return false;
  }

  Bytes rest_;
  bool damaged_ = false;
};

using Visitor = std::function<bool(const Field&)>;

// Calls `visit` for each field; false when it or the wire format failed.
bool for_each(Bytes message, const Visitor& visit) {
  WireReader reader(message);
  Field field;
  while (reader.next(field)) {
    if (!visit(field)) return false;
  }
  return !reader.damaged();
}

bool read_patches(Bytes message, NtffSubgraph& sg) {
  std::uint64_t engine = 0;
  std::vector<NtffPatch> patches;
  const bool ok = for_each(message, [&](const Field& f) {
    if (f.number == 1) engine = f.value;
    if (f.number != 2) return true;
    NtffPatch& patch = patches.emplace_back();
    return for_each(f.bytes, [&](const Field& p) {
      if (p.number == 1) patch.offset = p.value;
      if (p.number == 2) patch.slots = p.value;
      if (p.number == 3) patch.type = p.value;
      return true;
    });
  });
  sg.engines[engine].patches = std::move(patches);
  return ok;
}

bool read_image(Bytes message, Bytes raw, NtffSubgraph& sg) {
  std::uint64_t engine = 0, address = 0, offset = 0, size = 0;
  Bytes inline_bytes;
  if (!for_each(message, [&](const Field& f) {
        if (f.number == 1) engine = f.value;
        if (f.number == 2) address = f.value;
        if (f.number == 3) inline_bytes = f.bytes;
        if (f.number == 7) offset = f.value;
        if (f.number == 8) size = f.value;
        return true;
      })) {
    return false;
  }
  if (inline_bytes.empty()) {  // version 6
    if (offset > raw.size() || size > raw.size() - offset) return false;
    inline_bytes = raw.subspan(offset, size);
  }
  NtffEngine& out = sg.engines[engine];
  out.address = address;
  out.image.resize(inline_bytes.size());
  if (!inline_bytes.empty()) {
    std::memcpy(out.image.data(), inline_bytes.data(), inline_bytes.size());
  }
  return true;
}

bool read_queue(Bytes message, NtffSubgraph& sg) {
  NtffQueue& queue = sg.queues.emplace_back();
  return for_each(message, [&](const Field& f) {
    if (f.number == 1) queue.engine = f.value;
    if (f.number == 2) queue.queue = f.value;
    if (f.number == 3) queue.usage = f.value;
    if (f.number == 4) queue.name = f.text();
    if (f.number != 8) return true;
    NtffBlock& block = queue.blocks.emplace_back();
    return for_each(f.bytes, [&](const Field& b) {
      if (b.number == 1) block.id = b.value;
      if (b.number == 2) block.packets = b.value;
      if (b.number == 3) block.m2s = b.value;
      if (b.number == 4) block.s2m = b.value;
      return true;
    });
  });
}

bool read_subgraph(Bytes message, Bytes raw, Ntff& out) {
  NtffSubgraph& sg = out.subgraphs.emplace_back();
  return for_each(message, [&](const Field& f) {
    switch (f.number) {
      case 1:
        sg.name = f.text();
        return true;
      case 3:
        sg.core = f.value;
        return true;
      case 4:
        return read_image(f.bytes, raw, sg);
      case 5:
        return read_patches(f.bytes, sg);
      case 7:
        return read_queue(f.bytes, sg);
      default:
        return true;
    }
  });
}

// neff_node_info 4 = nd_node, whose field 1 is the list of subgraphs.
bool read_node(Bytes message, Bytes raw, Ntff& out) {
  return for_each(message, [&](const Field& node) {
    return node.number != 4 || for_each(node.bytes, [&](const Field& f) {
             return f.number != 1 || read_subgraph(f.bytes, raw, out);
           });
  });
}

}  // namespace

bool read_ntff(Bytes file, Ntff& out, std::string& error) {
  if (file.size() < kHeaderBytes) {
    error = "shorter than the header";
    return false;
  }
  std::uint64_t word = 0;
  std::memcpy(&word, file.data(), sizeof word);
  out.version = static_cast<std::uint32_t>(word & 0xFF);
  const std::uint64_t length = word >> 8;
  if (out.version < 4 || out.version > 6) {
    error = "unknown container version " + std::to_string(out.version);
    return false;
  }
  if (length > file.size() - kHeaderBytes) {
    error = "the message of " + std::to_string(length) + " bytes exceeds the file";
    return false;
  }
  const Bytes info = file.subspan(kHeaderBytes, length);
  const Bytes raw = file.subspan(kHeaderBytes + length);
  const bool ok = for_each(info, [&](const Field& f) {
    switch (f.number) {
      case 2:
        out.uuid.assign(f.bytes.begin(), f.bytes.end());
        return true;
      case 4:
        return read_node(f.bytes, raw, out);
      case 8:
        return for_each(f.bytes, [&](const Field& v) {
          if (v.number >= 1 && v.number <= 3) out.runtime_version[v.number - 1] = v.value;
          return true;
        });
      case 9:
        out.instance_type = f.text();
        return true;
      default:
        return true;
    }
  });
  if (!ok) error = "damaged message";
  return ok;
}

}  // namespace opennrt::test
