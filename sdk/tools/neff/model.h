// SPDX-License-Identifier: Apache-2.0
//
// A NEFF file as the tools see it: header, all members, and the program that
// the runtime's own loader makes of them.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "neff/container.h"
#include "neff/members.h"
#include "neff/on_chip.h"
#include "neff/program.h"
#include "opennrt/isa/table.h"

namespace opennrt::tools {

struct Model {
  std::string path;
  std::vector<std::byte> header_bytes;  // neff::kHeaderBytes
  std::uint64_t file_bytes = 0;
  neff::Header header;
  Status hash;  // of the payload
  std::shared_ptr<neff::MemberTable> members;
  neff::Program program;                                 // after load()
  isa::Generation generation = isa::Generation::kSunda;  // after load(): of the records
  OnChip on_chip = on_chip_of(isa::Generation::kSunda);  // after load()
  // Of a target that is none of the built-in families, after load().
  const nrtp_arch_plugin* arch = nullptr;
};

// Header and members; every message begins with the path.
Result<Model> open_model(const std::string& path);
// The same of a file in memory.
Result<Model> open_model(const std::string& path, std::span<const std::byte> bytes);

// The program. as_runtime: refuse all that the runtime of the target refuses;
// else old programs that lack the state buffer reservation are read too. Targets that
// are not built in need the installed plugin that names them.
Status load(Model& model, bool as_runtime);

Result<Model> open_and_load(const std::string& path);

// Family of a target name: "sunda", "v2"; "*" runs on any, the newest is taken.
std::optional<isa::Generation> generation_of_target(std::string_view target);

// Names of the header's feature bits, unknown ones as "bit 18".
std::vector<std::string> feature_names(std::uint64_t bits);

std::string uuid_text(const std::array<std::uint8_t, 16>& uuid);

inline constexpr const char* kEngineNames[neff::kEngines] = {"PE", "ACT", "POOL", "DVE", "SP"};
// Any case; nullopt for no engine.
std::optional<std::size_t> find_engine(std::string_view name);

// As model files spell them.
const char* dtype_name(nrt_dtype_t dtype);
const char* variable_type_name(neff::VariableType type);

// Valid UTF-8 as it is, else with \xNN.
std::string json_text(std::string_view text);

}  // namespace opennrt::tools
