// SPDX-License-Identifier: Apache-2.0
//
// What libFuzzer calls to change and to cross inputs of fuzz_program.
#include <cstring>

#include "program_case.h"

namespace {

using opennrt::fuzz::Case;

std::size_t put(const Case& c, std::uint8_t* data, std::size_t limit) {
  const std::string bytes = opennrt::fuzz::encode_case(c);
  if (bytes.size() > limit) return 0;
  std::memcpy(data, bytes.data(), bytes.size());
  return bytes.size();
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) std::size_t LLVMFuzzerMutate(std::uint8_t* data,
                                                                    std::size_t size,
                                                                    std::size_t max_size);

__attribute__((visibility("default"))) std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data,
                                                                           std::size_t size,
                                                                           std::size_t max_size,
                                                                           unsigned seed) {
  if (seed % 16 != 0) {
    Case c = opennrt::fuzz::decode_case(std::span(data, size));
    // What was found in a model is mostly tried on small programs.
    if (c.base >= opennrt::fuzz::kFirstCorpusBase && seed / 16 % 16 != 0)
      c.base = static_cast<std::uint8_t>(seed / 256 % opennrt::fuzz::kFirstCorpusBase);
    if (const std::size_t n = put(opennrt::fuzz::mutate_case(c, seed), data, max_size)) return n;
  }
  // Bytes; compared values that libFuzzer has seen get in this way.
  return LLVMFuzzerMutate(data, size, max_size);
}

__attribute__((visibility("default"))) std::size_t LLVMFuzzerCustomCrossOver(
    const std::uint8_t* a, std::size_t a_size, const std::uint8_t* b, std::size_t b_size,
    std::uint8_t* out, std::size_t out_limit, unsigned seed) {
  Case c = opennrt::fuzz::decode_case(std::span(a, a_size));
  const Case other = opennrt::fuzz::decode_case(std::span(b, b_size));
  for (std::size_t i = 0; i < other.edits.size(); ++i)
    if ((seed >> i % 32 & 1) != 0 && c.edits.size() < opennrt::fuzz::kMaxEdits)
      c.edits.push_back(other.edits[i]);
  return put(c, out, out_limit);
}

}  // extern "C"
