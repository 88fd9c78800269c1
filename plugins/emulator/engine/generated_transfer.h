// SPDX-License-Identifier: Apache-2.0
//
// A copy by the descriptor generator of an engine, its addresses resolved.
#pragma once

#include <cstdint>
#include <vector>

namespace opennrt::emu {

struct GeneratedTransfer {
  // count[1] x count[0] runs of `run` bytes from `base`; steps in bytes.
  struct Side {
    std::uint64_t base = 0;
    std::int64_t step[2] = {};
    std::uint64_t count[2] = {1, 1};
    std::uint64_t run = 0;
    std::uint32_t dtype = 0;
    // Of an indirect transfer: the address of each run, instead of the pattern.
    std::vector<std::uint64_t> places;

    std::uint64_t bytes() const { return run * count[0] * count[1]; }
  };
  // What an indirect transfer does with the destination: overwrites it, or combines
  // it with the source in FP32, run by run.
  enum class Effect : std::uint8_t { kCopy, kAdd, kMax, kMin };
  bool indirect = false;
  Effect effect = Effect::kCopy;
  Side from, to;           // nothing is copied when from.run is 0
  std::uint64_t slot = 0;  // address of the record
  std::uint32_t semaphore = 0, increment = 0;
};

class Bus;
struct Origin;

// Copies and converts; `who` is the generator.
void copy_generated(Bus& bus, const GeneratedTransfer& transfer, Origin who);
// Its part for transfers with places.
void copy_indirect(Bus& bus, const GeneratedTransfer& transfer, Origin who);

}  // namespace opennrt::emu
