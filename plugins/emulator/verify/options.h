// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace opennrt::emu {

// emulator.verify of the configuration.
struct VerifyOptions {
  std::optional<std::uint64_t> order_seed;  // random interleaving of engines and DMA queues
  bool poison = false;                      // reads of memory that was never written
  bool races = false;                       // unordered accesses to the same bytes
  bool coverage = false;                    // output bytes that nothing wrote
  bool bounds = false;                      // DMA outside every allocation

  bool tracks_memory() const { return poison || races || coverage || bounds; }
};

// "all", or a list like "poison,races,order=7"; names are the keys of
// emulator.verify, order is order_seed. False: *error names what is wrong.
bool parse_verify(const std::string& text, VerifyOptions* out, std::string* error);

}  // namespace opennrt::emu
