// SPDX-License-Identifier: Apache-2.0
//
// A subgraph while it is read: sgNN/def.json and what refers to it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/status.h"
#include "neff/json.h"
#include "neff/members.h"
#include "neff/program.h"

namespace opennrt::neff {

struct SubgraphReader {
  Subgraph graph;
  std::string definition;                            // member name of def.json
  std::optional<JsonDocument> document;              // of the definition
  std::array<std::string, kEngines> engine_members;  // empty: the engine has no program
  std::unordered_map<std::string_view, std::uint32_t> variable_ids;  // keys in graph.variables
};

// Key of an engine in def.json: "pe", "act", "pool", "dve", "sp".
std::string_view engine_key(Engine engine);
std::optional<Engine> engine_of_key(std::string_view key);

// Opens the definition and reads all of it but variables, queues and blocks.
Status read_definition(const MemberTable& members, const LoadLimits& limits,
                       SubgraphReader& reader);

}  // namespace opennrt::neff
