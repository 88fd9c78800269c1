// SPDX-License-Identifier: Apache-2.0
//
// The interface rules, from rules.yaml: what a plugin must do, what happens where it
// does not, and the cases that try it. Constant data.
#pragma once

#include <span>
#include <string_view>

namespace opennrt::conform {

struct Rule {
  const char* id;                      // "arch.address.inverse"
  const char* kind;                    // "any", "arch", "ndl", "port"
  const char* needs;                   // capability; "": every plugin of the kind
  const char* must;                    // one sentence
  const char* consequence;             // where it does not
  const char* enforced_by;             // "loader", "core", "nobody"
  bool quick;                          // also in the quick list
  std::span<const char* const> cases;  // "Suite.Name"; each belongs to one rule
};

std::span<const Rule> rules();

// The rule of a case; nullptr: no such case.
const Rule* rule_of(std::string_view name);

}  // namespace opennrt::conform
