// SPDX-License-Identifier: Apache-2.0
//
// Applying edits to the members of a NEFF.
#include "program_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <random>

namespace opennrt::fuzz {
namespace {

using testing::NeffBuilder;

constexpr std::size_t kRecord = 64;

// Values at which arithmetic, tables and memories end.
constexpr std::uint64_t kLimits[] = {
    0,          1,          2,          3,          4,          7,          8,          15,
    16,         31,         32,         33,         63,         64,         65,         127,
    128,        129,        255,        256,        257,        511,        512,        1000,
    2047,       2048,       4095,       4096,       0x3FFF,     0x4000,     0x7FFF,     0x8000,
    0xFFFF,     0x10000,    0x2FFFC,    0x30000,    0x3FFFF,    0x40000,    0x1FC0000,  0x1FFFFFF,
    0x2000000,  0x2000800,  0x2003FFC,  0x2004000,  0x3FFFFFF,  0x4000000,  0x7FFFFFFF, 0x80000000,
    0xFFFFFFFF, 0x7F800000, 0x7FC00000, 0xFF800000, 0x3F800000, 1ULL << 32, 1ULL << 40, 1ULL << 47,
    1ULL << 56, 1ULL << 62, 1ULL << 63, ~0ULL,      ~1ULL,      ~63ULL,     ~0xFFFFULL};

// Where device memories and registers begin on one of the families: SBUF, the
// second channel of HBM, synchronisation and sequencers of a core, DMA engines
// and their broadcast, host memory.
constexpr std::uint64_t kPlaces[] = {
    0x1000000,     0x100000000,   0x3FFFFFFC0,   0x400000000,   0x1000000000,  0x1000040000,
    0x1001000000,  0x2000000000,  0x2002000000,  0x2002700000,  0x2802400000,  0x2802600000,
    0x2802700000,  0x2802800000,  0x2802B00000,  0x3000000000,  0x3802700000,  0x8000000000,
    0x8006000000,  0x9000000000,  0xFFFC0000000, 0xFFFC2000000, 0xFFFC2400000, 0xFFFC2500000,
    0xFFFC2600000, 0xFFFC2700000, 0xFFFC2800000, 0xFFFC2B80000, 0xFFFD0000000, 0xFFFF0000000,
    0xFFFF0040000, 0xFFFF0530000, 0xFFFF0535000, 0xFFFF1000000, 1ULL << 44,    1ULL << 55};

std::uint64_t changed(std::uint64_t now, const Edit& e) {
  switch (e.form % 8) {
    case 0:
      return e.value;
    case 1:
      return kLimits[e.value % std::size(kLimits)];
    case 2:
      return now + static_cast<std::uint64_t>(static_cast<std::int64_t>(e.value << 48) >> 48);
    case 3:
      return now << (e.value % 8);
    case 4:
      return now ^ std::uint64_t{1} << (e.value % 64);
    case 5:
      return ~now + 1;
    case 6:
      return kPlaces[e.value % std::size(kPlaces)] + (e.value >> 8) % 0x2000 * 4;
    default:
      return now >> (1 + e.value % 4);
  }
}

template <typename Names>
const std::string* chosen(const Names& names, std::uint8_t member) {
  return names.empty() ? nullptr : &names[member % names.size()];
}

void set_field(std::string& stream, isa::Generation generation, const Edit& e) {
  if (stream.size() < kRecord) return;
  char* record = &stream[e.index % (stream.size() / kRecord) * kRecord];
  const isa::Instruction* instruction = isa::find_instruction(static_cast<std::uint8_t>(*record));
  // The header counts as fields of their own, less often than the operands.
  static constexpr isa::Field kHeader[] = {
      {"wait_mode", 4, 1, 1, isa::FieldKind::kUnsigned, nullptr},
      {"wait_index", 5, 1, 1, isa::FieldKind::kUnsigned, nullptr},
      {"update_mode", 6, 1, 1, isa::FieldKind::kUnsigned, nullptr},
      {"update_index", 7, 1, 1, isa::FieldKind::kUnsigned, nullptr},
      {"value", 8, 4, 1, isa::FieldKind::kUnsigned, nullptr}};
  std::span<const isa::Field> fields;
  if (instruction != nullptr) fields = instruction->layout(generation).fields();
  const std::size_t n = e.field % (fields.size() + std::size(kHeader));
  const isa::Field& field = n < fields.size() ? fields[n] : kHeader[n - fields.size()];
  char* at = record + field.offset + e.other % std::max<unsigned>(field.count, 1) * field.width;
  const std::size_t width = std::min<std::size_t>(
      field.width, 8 < record + kRecord - at ? 8 : static_cast<std::size_t>(record + kRecord - at));
  std::uint64_t value = 0;
  std::memcpy(&value, at, width);
  value = changed(value, e);
  if (field.values != nullptr && field.kind == isa::FieldKind::kEnum && e.form % 8 == 7)
    value = field.values->values[e.value % field.values->count].value;
  std::memcpy(at, &value, width);
}

void edit_stream(const Base& base, NeffBuilder& neff, const Edit& e, EditKind kind) {
  const std::string* name = chosen(base.streams, e.member);
  if (name == nullptr) return;
  std::string& stream = neff.members[*name];
  const isa::Generation generation = base.platform->generation;
  const std::size_t records = stream.size() / kRecord;
  const auto at = [&](std::uint16_t i) { return records == 0 ? 0 : i % records * kRecord; };
  switch (kind) {
    case EditKind::kField:
      return set_field(stream, generation, e);
    case EditKind::kBytes:
      for (std::size_t i = 0; records != 0 && i < 1 + e.form % 8U; ++i)
        stream[at(e.index) + (e.other + i) % kRecord] = static_cast<char>(e.value >> (8 * i));
      return;
    case EditKind::kDuplicate:
      if (records != 0) {
        const std::string copy = stream.substr(at(e.other), kRecord);
        for (unsigned i = 0; i < 1 + e.form % 4U; ++i) stream.insert(at(e.index), copy);
      }
      return;
    case EditKind::kDelete:
      if (records != 0) stream.erase(at(e.index), kRecord);
      return;
    case EditKind::kSwap:
      if (records != 0)
        std::swap_ranges(&stream[at(e.index)], &stream[at(e.index)] + kRecord,
                         at(e.index) == at(e.other) ? &stream[at(e.index)] : &stream[at(e.other)]);
      return;
    case EditKind::kInsert: {
      const std::vector<Example>& all = examples(generation);
      const std::uint8_t engine =
          base.stream_engines[static_cast<std::size_t>(name - base.streams.data())];
      // Of this engine unless asked otherwise.
      for (std::size_t i = 0; i < all.size(); ++i) {
        const Example& example = all[(e.other + i) % all.size()];
        if (example.engine != engine && e.form % 8 != 0) continue;
        stream.insert(at(e.index), example.record.data(), kRecord);
        return;
      }
      return;
    }
    case EditKind::kOpcode:
      if (records != 0) {
        const auto all = isa::instructions();
        stream[at(e.index)] =
            static_cast<char>(e.form % 4 == 0 ? e.value : all[e.value % all.size()].opcode);
      }
      return;
    default:
      stream.resize(std::min<std::size_t>(e.value % (stream.size() + kRecord + 1), 1 << 20));
  }
}

// Spans of a JSON text: numbers, strings (with their quotes) or objects.
struct Span {
  std::size_t begin = 0, end = 0;
};

std::vector<Span> find_spans(std::string_view text, EditKind kind) {
  std::vector<Span> spans;
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      const std::size_t begin = i++;
      while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
      if (kind == EditKind::kText) spans.push_back({begin, std::min(i + 1, text.size())});
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      const std::size_t begin = i;
      while (i + 1 < text.size() && std::strchr("0123456789.eE+-", text[i + 1]) != nullptr) ++i;
      if (kind == EditKind::kNumber) spans.push_back({begin, i + 1});
    } else if (c == '{') {
      open.push_back(i);
    } else if (c == '}' && !open.empty()) {
      const std::size_t begin = open.back();
      open.pop_back();
      // The whole text is no object among others.
      if (!open.empty() && (kind == EditKind::kObjectCopy || kind == EditKind::kObjectDelete))
        spans.push_back({begin, i + 1});
    }
  }
  return spans;
}

void edit_manifest(const Base& base, NeffBuilder& neff, const Edit& e, EditKind kind) {
  const std::string* name = chosen(base.manifests, e.member);
  if (name == nullptr) return;
  std::string& text = neff.members[*name];
  const std::vector<Span> spans = find_spans(text, kind);
  if (spans.empty()) return;
  const Span& span = spans[e.index % spans.size()];
  const std::string old = text.substr(span.begin, span.end - span.begin);
  switch (kind) {
    case EditKind::kNumber: {
      const std::uint64_t value = changed(std::strtoull(old.c_str(), nullptr, 10), e);
      const std::string word =
          e.field % 4 == 3    ? fmt::format("{}", static_cast<std::int64_t>(value))
          : e.field % 16 == 4 ? fmt::format("{}.5", value % 1000)
                              : fmt::format("{}", e.field % 4 == 1   ? value & 0xFFFFFFFF
                                                  : e.field % 4 == 2 ? value & 0xFFFF
                                                                     : value);
      text.replace(span.begin, old.size(), word);
      return;
    }
    case EditKind::kText: {
      const Span& source = spans[e.other % spans.size()];
      text.replace(span.begin, old.size(), text.substr(source.begin, source.end - source.begin));
      return;
    }
    case EditKind::kObjectCopy: {
      const bool keyed = span.begin > 1 &&
                         text.find_last_not_of(" \n", span.begin - 1) != std::string::npos &&
                         text[text.find_last_not_of(" \n", span.begin - 1)] == ':';
      const std::string key = keyed ? fmt::format("\"x{}\": ", e.other) : "";
      text.insert(span.end, ", " + key + old);
      return;
    }
    default: {
      std::size_t end = text.find_first_not_of(" \n", span.end);
      end = end != std::string::npos && text[end] == ',' ? end + 1 : span.end;
      text.erase(span.begin, end - span.begin);
    }
  }
}

void edit_blob(const Base& base, NeffBuilder& neff, const Edit& e) {
  const std::string* name = chosen(base.blobs, e.member);
  if (name == nullptr) return;
  std::string& blob = neff.members[*name];
  for (std::size_t i = 0; !blob.empty() && i < 1 + e.form % 8U; ++i)
    blob[(std::size_t{e.other} << 16 | e.index) % blob.size()] =
        static_cast<char>(e.value >> (8 * i));
}

void edit_container(NeffBuilder& neff, const Edit& e) {
  switch (e.field % 4) {
    case 0:
      neff.feature_bits = changed(neff.feature_bits, e);
      return;
    case 1:
      neff.lnc_size = static_cast<std::uint32_t>(changed(neff.lnc_size, e));
      return;
    case 2:
      neff.version_major = changed(neff.version_major, e);
      return;
    default:
      neff.version_minor = changed(neff.version_minor, e);
  }
}

void apply(const Base& base, NeffBuilder& neff, const Edit& e) {
  const auto kind = static_cast<EditKind>(e.kind % static_cast<unsigned>(EditKind::kCount));
  switch (kind) {
    case EditKind::kNumber:
    case EditKind::kText:
    case EditKind::kObjectCopy:
    case EditKind::kObjectDelete:
      return edit_manifest(base, neff, e, kind);
    case EditKind::kBlob:
      return edit_blob(base, neff, e);
    case EditKind::kContainer:
      return edit_container(neff, e);
    default:
      return edit_stream(base, neff, e, kind);
  }
}

// How often each kind is drawn: mostly what reaches the device.
EditKind draw_kind(std::mt19937& random) {
  constexpr std::array<std::uint8_t, static_cast<std::size_t>(EditKind::kCount)> kWeights = {
      48, 6, 4, 3, 4, 10, 6, 14, 4, 2, 1, 3, 1, 1};
  std::discrete_distribution<int> draw(kWeights.begin(), kWeights.end());
  return static_cast<EditKind>(draw(random));
}

Edit draw_edit(std::mt19937& random) {
  Edit e;
  e.kind = static_cast<std::uint8_t>(draw_kind(random));
  e.member = static_cast<std::uint8_t>(random());
  e.field = static_cast<std::uint8_t>(random());
  e.form = static_cast<std::uint8_t>(random());
  e.index = static_cast<std::uint16_t>(random());
  e.other = static_cast<std::uint16_t>(random());
  const unsigned bits = random() % 65;
  e.value = (std::uint64_t{random()} << 32 | random()) >> (bits == 64 ? 63 : bits);
  return e;
}

}  // namespace

Case decode_case(std::span<const std::uint8_t> bytes) {
  Case c;
  if (bytes.empty()) return c;
  c.base = bytes[0];
  if (bytes.size() > 1) c.options = bytes[1];
  for (std::size_t at = 2; at + kEditBytes <= bytes.size() && c.edits.size() < kMaxEdits;
       at += kEditBytes) {
    Edit& e = c.edits.emplace_back();
    e.kind = bytes[at];
    e.member = bytes[at + 1];
    e.field = bytes[at + 2];
    e.form = bytes[at + 3];
    std::memcpy(&e.index, &bytes[at + 4], 2);
    std::memcpy(&e.other, &bytes[at + 6], 2);
    std::memcpy(&e.value, &bytes[at + 8], 8);
  }
  return c;
}

std::string encode_case(const Case& c) {
  std::string out = {static_cast<char>(c.base), static_cast<char>(c.options)};
  for (const Edit& e : c.edits) {
    char bytes[kEditBytes] = {static_cast<char>(e.kind), static_cast<char>(e.member),
                              static_cast<char>(e.field), static_cast<char>(e.form)};
    std::memcpy(bytes + 4, &e.index, 2);
    std::memcpy(bytes + 6, &e.other, 2);
    std::memcpy(bytes + 8, &e.value, 8);
    out.append(bytes, sizeof bytes);
  }
  return out;
}

void sort_members(Base& base) {
  constexpr const char* kEngines[] = {"PE", "Act", "Pool", "DVE", "SP"};
  for (const auto& [name, content] : base.neff.members) {
    if (!name.ends_with(".json")) continue;
    if (content.size() < (1 << 20)) base.manifests.push_back(name);
    const std::size_t key = content.find("\"instr\"");
    if (key == std::string::npos) continue;
    const std::size_t begin = content.find('"', content.find(':', key)) + 1;
    const std::string folder = name.substr(0, name.rfind('/') + 1);
    const std::string stream = folder + content.substr(begin, content.find('"', begin) - begin);
    if (!base.neff.members.contains(stream)) continue;
    base.streams.push_back(stream);
    std::uint8_t engine = 0;
    for (std::uint8_t i = 0; i < std::size(kEngines); ++i)
      if (name.substr(folder.size()).starts_with(kEngines[i]) ||
          (i == 1 && name.substr(folder.size()).starts_with("act")))
        engine = i;
    base.stream_engines.push_back(engine);
  }
  for (const auto& [name, content] : base.neff.members)
    if (!name.ends_with(".json") && !name.ends_with(".dbg") &&
        std::ranges::find(base.streams, name) == base.streams.end())
      base.blobs.push_back(name);
}

std::string build_case(const Base& base, const Case& c) {
  NeffBuilder neff = base.neff;
  for (const Edit& e : c.edits) apply(base, neff, e);
  neff.pkg_version = 1;  // no compression: faster
  neff.hash = testing::HashForm::kZero;
  neff.padding = 512;
  return neff.build();
}

Case mutate_case(Case c, std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto any = [&] {
    return c.edits.begin() + static_cast<std::ptrdiff_t>(random() % c.edits.size());
  };
  for (unsigned i = 0, n = 1 + random() % 3; i < n; ++i) {
    const unsigned what = random() % 16;
    if (what == 0) c.base = static_cast<std::uint8_t>(random());
    if (what == 1) c.options = static_cast<std::uint8_t>(random() % 4);
    if (what == 2 && !c.edits.empty()) {
      c.edits.erase(any());
    } else if (what < 9 && !c.edits.empty()) {
      Edit& e = *any();
      const Edit fresh = draw_edit(random);
      switch (random() % 6) {
        case 0:
          e.index = static_cast<std::uint16_t>(e.index + random() % 3 - 1);
          break;
        case 1:
          e.field = static_cast<std::uint8_t>(e.field + 1);
          break;
        case 2:
          e.member = fresh.member;
          break;
        case 3:
          e.form = fresh.form;
          break;
        default:
          e.value = fresh.value;
          e.form = fresh.form;
      }
    } else if (c.edits.size() < kMaxEdits) {
      // One more change of the same record makes deeper combinations.
      Edit e = draw_edit(random);
      if (!c.edits.empty() && random() % 2 == 0) {
        e.member = c.edits.back().member;
        e.index = c.edits.back().index;
      }
      c.edits.push_back(e);
    }
  }
  return c;
}

}  // namespace opennrt::fuzz
