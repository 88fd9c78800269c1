// SPDX-License-Identifier: Apache-2.0
//
// Watches the engines of one device for the breakpoints of emulator.inspect and
// writes what they ask for. Null in a device that is not inspected.
//
// Threading: any thread; one lock inside.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "device/address_map.h"
#include "inspect/request.h"

namespace opennrt::emu {

struct InspectOptions {
  std::vector<InspectItem> items;
  std::string directory = ".";
};

// What is known of the elements of a variable. Without a type: nothing.
struct ArrayForm {
  const DumpType* type = nullptr;
  std::vector<std::uint64_t> shape;
};

class Inspector {
 public:
  using Log = std::function<void(const std::string& text)>;
  Inspector(const InspectOptions& options, const AddressMap& map, Log log);

  // --- what the runtime says when it has staged a program
  // The image of one engine of a subgraph. runs: where the records of its stream
  // went, "SLOT:RECORD:COUNT" for COUNT records of one slot each from RECORD
  // (from 1) on, "SLOT:RECORD:xSLOTS" for a record of SLOTS slots (0: nothing is
  // left of it), separated by spaces. False: not understood.
  bool image(std::uint32_t core, std::uint32_t engine, std::uint32_t subgraph, std::uint64_t pa,
             std::uint64_t bytes, std::string_view runs);
  void variable(std::uint32_t core, std::uint64_t pa, std::uint64_t bytes, std::string name,
                ArrayForm form = {});
  // "TYPE DIMxDIM...", "TYPE -" without dimensions. False: not understood. A type
  // that dumps do not have is no form.
  static bool parse_form(std::string_view type, std::string_view dimensions, ArrayForm* out);
  // Nothing that starts in the range means anything any more.
  void forget(std::uint64_t pa, std::uint64_t bytes);

  // --- engines
  // NOTIFY START at `pc`: another execution of the image there.
  void started(std::uint32_t core, std::uint32_t engine, std::uint64_t pc);
  // The record at `pc` has retired.
  void retired(std::uint32_t core, std::uint32_t engine, std::uint64_t pc);

  // Whether a breakpoint that was not reached yet is at `pc`.
  bool looks_after(std::uint64_t pc) const;

  // Per item "done FILE", "failed FILE REASON" or "unreached FILE REASON".
  std::vector<std::string> outcomes() const;

 private:
  struct Image {
    std::uint32_t core, engine, subgraph;
    std::uint64_t bytes;
    std::uint32_t executions = 0;
  };
  struct Watch {
    std::size_t item;
    std::uint64_t image;  // address
    std::uint32_t pass = 0;
    std::uint32_t execution = 0;  // that `pass` counts in
  };
  struct Place {
    std::uint64_t pa, bytes;
    ArrayForm form;
  };
  struct State {
    bool done = false;
    bool placed = false;  // its record is in some image
    std::string failure;
  };

  void drop_images(std::uint64_t pa, std::uint64_t bytes);
  void write(std::size_t item, std::uint32_t core);
  bool collect(const Dump& dump, std::uint32_t core, std::vector<std::uint8_t>* data,
               ArrayForm* form, std::string* error) const;

  const InspectOptions options_;
  const AddressMap& map_;
  const Log log_;
  mutable std::mutex mutex_;
  std::vector<State> states_;                              // by item
  std::map<std::uint64_t, Image> images_;                  // by address
  std::unordered_multimap<std::uint64_t, Watch> watches_;  // by address of the slot
  std::map<std::pair<std::uint32_t, std::string>, Place> variables_;
};

}  // namespace opennrt::emu
