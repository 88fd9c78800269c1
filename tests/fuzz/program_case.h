// SPDX-License-Identifier: Apache-2.0
//
// A fuzzed program: a valid base program and a list of edits of it. Any bytes
// are a case, so that crossing, cutting and mutating inputs keeps them valid;
// what an edit names (member, record, field) is taken modulo what there is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "opennrt/isa/table.h"
#include "support/neff_builder.h"

namespace opennrt::fuzz {

enum class EditKind : std::uint8_t {
  kField,         // one field of a record, by the instruction table
  kBytes,         // bytes of a record, whatever they mean
  kDuplicate,     // a record before another one
  kDelete,        // a record
  kSwap,          // two records
  kInsert,        // an instruction that the base does not have there
  kOpcode,        // another opcode over the same operands
  kNumber,        // a number of a manifest
  kText,          // a string of a manifest becomes another one of it
  kObjectCopy,    // an object of a manifest twice
  kObjectDelete,  // an object of a manifest
  kBlob,          // bytes of a table or constant
  kContainer,     // a field of the header
  kResize,        // length of a stream or table
  kCount
};

struct Edit {
  std::uint8_t kind = 0;    // modulo kCount
  std::uint8_t member = 0;  // which stream, manifest or table
  std::uint8_t field = 0;
  std::uint8_t form = 0;  // how `value` is meant
  std::uint16_t index = 0, other = 0;
  std::uint64_t value = 0;
};
inline constexpr std::size_t kEditBytes = 16;
inline constexpr std::size_t kMaxEdits = 24;

struct Case {
  std::uint8_t base = 0;
  std::uint8_t options = 0;  // bits: kOption*
  std::vector<Edit> edits;
};
inline constexpr std::uint8_t kOptionTwice = 1;        // execute a second time
inline constexpr std::uint8_t kOptionHostTensors = 2;  // tensors in host memory

Case decode_case(std::span<const std::uint8_t> bytes);
std::string encode_case(const Case& c);

// Where a program runs.
struct Platform {
  const char* target;   // name in the NEFF
  const char* product;  // of the software device
  unsigned cores;       // physical cores per logical core
  isa::Generation generation;
};

std::span<const Platform> platforms();

struct Base {
  std::string name;
  const Platform* platform = nullptr;
  testing::NeffBuilder neff;
  // Member names by what they hold.
  std::vector<std::string> streams, manifests, blobs;
  std::vector<std::uint8_t> stream_engines;  // nrtp_engine of each stream
  bool from_corpus = false;
};

// Generated programs, then models of OPENNRT_CORPUS when it is set.
const std::vector<Base>& bases();
void add_corpus(std::vector<Base>& bases);

// Program of a case. Compiled models run long: they get few of the numbers.
inline constexpr std::uint8_t kFirstCorpusBase = 240;
const Base& base_of(const Case& c);
bool is_corpus(const Base& base);

// Valid instructions of a family to insert: (engine, record).
struct Example {
  std::uint8_t engine;
  std::array<char, 64> record;
};
const std::vector<Example>& examples(isa::Generation generation);

// Fills streams, manifests and blobs.
void sort_members(Base& base);

// The base with the edits applied, as a NEFF.
std::string build_case(const Base& base, const Case& c);

// A random change of a case, by the same tables.
Case mutate_case(Case c, std::uint32_t seed);

}  // namespace opennrt::fuzz
