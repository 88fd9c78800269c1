// SPDX-License-Identifier: Apache-2.0
#include "neff/model.h"

#include <simdjson.h>

#include <algorithm>
#include <utility>

#include "model_file.h"
#include "neff/installed.h"
#include "neff/loader.h"
#include "neff/manifest.h"
#include "neff/text.h"
#include "opennrt/isa/arch.h"

namespace opennrt::tools {
namespace {

struct Target {
  std::string_view name, alias;
  isa::Generation generation;
};
constexpr Target kTargets[] = {{"sunda", "v2", isa::Generation::kSunda},
                               {"cayman", "v3", isa::Generation::kCayman},
                               {"mariana", "v4", isa::Generation::kMariana}};

// Names the compiler's packager uses; bits 11 and 24 have none there.
constexpr std::pair<unsigned, const char*> kFeatures[] = {
    {1, "collective_has_offset"},
    {2, "neff_feature_custom_ops"},
    {3, "neff_coalesced_ccops"},
    {4, "neff_queue_set_instances"},
    {5, "neff_has_functions"},
    {6, "neff_feature_dynamic_pwp"},
    {7, "neff_feature_indirect_memcpy_32b_sem_wait"},
    {8, "neff_feature_indirect_memcpy_bound_check"},
    {9, "neff_feature_DMA_desc_higher_dim"},
    {10, "neff_feature_vnc"},
    {11, "dve_perf_mode"},
    {12, "neff_feature_DGE"},
    {13, "neff_feature_POOL_RSQRT"},
    {14, "neff_feature_remote_sem"},
    {15, "neff_feature_DGE_cast"},
    {16, "neff_feature_vector_DGE"},
    {17, "neff_feature_embedding_stride32"},
    {20, "neff_feature_SQI_no_rearm"},
    {21, "neff_feature_hardware_DGE"},
    {22, "neff_feature_partial_sb2sb_ccop"},
    {24, "arch_level_above_39"},
    {25, "neff_feature_large_tensor_support"},
};

neff::LoadLimits limits_of(const Model& model) {
  neff::LoadLimits limits;
  for (const Target& t : kTargets) {
    limits.targets.emplace_back(t.name);
    limits.targets.emplace_back(t.alias);
  }
  limits.known_targets = limits.targets;
  limits.running_on = "any of these";
  limits.lnc_size = std::max(model.header.lnc_size, 1U);
  limits.allow_legacy = true;
  return limits;
}

}  // namespace

Result<Model> open_model(const std::string& path, std::span<const std::byte> bytes) {
  Model model;
  model.path = path;
  model.file_bytes = bytes.size();
  auto header = neff::read_header(bytes);
  if (!header) return std::move(header).status().with_context(path);
  model.header = *std::move(header);
  const auto head = bytes.first(neff::kHeaderBytes);
  model.header_bytes.assign(head.begin(), head.end());
  const auto payload = bytes.subspan(neff::kHeaderBytes, model.header.data_size);
  model.hash = neff::check_hash(model.header, payload);
  auto members = neff::unpack(model.header, payload, 0);
  if (!members) return std::move(members).status().with_context(path);
  model.members = std::make_shared<neff::MemberTable>(*std::move(members));
  return model;
}

Result<Model> open_model(const std::string& path) {
  ONRT_ASSIGN(const std::vector<std::byte> bytes, read_model_file(path));
  return open_model(path, bytes);
}

namespace {

// Plugin of the target in the manifest; nullptr for a built-in family. The targets
// of the plugin join the limits.
const nrtp_arch_plugin* foreign_arch(const Model& model, neff::LoadLimits& limits) {
  const auto manifest = neff::read_manifest(*model.members, model.header, limits);
  if (manifest || manifest.status().code() != NRT_UNSUPPORTED_NEFF_VERSION) return nullptr;
  for (const nrtp_arch_plugin* arch : installed_arches().arches) {
    neff::LoadLimits more = limits;
    for (const char* const* name = arch->neff_targets; *name != nullptr; ++name)
      more.targets.emplace_back(*name);
    if (!neff::read_manifest(*model.members, model.header, more)) continue;
    limits = std::move(more);
    limits.sbuf_partition_stride = arch->geometry->sbuf_partition_stride;
    limits.sbuf_partitions = arch->geometry->sbuf_partitions;
    limits.semaphores = arch->geometry->semaphores;
    limits.events = arch->geometry->events;
    return arch;
  }
  return nullptr;
}

}  // namespace

Status load(Model& model, bool as_runtime) {
  neff::LoadLimits limits = limits_of(model);
  model.arch = foreign_arch(model, limits);
  if (as_runtime) {
    auto manifest = neff::read_manifest(*model.members, model.header, limits);
    if (!manifest) return std::move(manifest).status();
    limits.sbuf_reservation_required =
        model.arch != nullptr ? model.arch->caps->flag[NRTP_CAP_SBUF_RESERVATION_REQUIRED] != 0
                              : generation_of_target(manifest->target) != isa::Generation::kSunda;
    limits.allow_legacy = false;
  }
  auto program = neff::load_shared_members(model.header, model.members, limits);
  if (!program) return std::move(program).status();
  model.program = *std::move(program);
  model.generation =
      model.arch != nullptr
          ? isa::generation_of(*model.arch)
          : generation_of_target(model.program.target).value_or(isa::Generation::kMariana);
  model.on_chip =
      model.arch != nullptr ? on_chip_of(*model.arch->geometry) : on_chip_of(model.generation);
  return Status::ok();
}

Result<Model> open_and_load(const std::string& path) {
  ONRT_ASSIGN(Model model, open_model(path));
  if (Status status = load(model, false); !status.is_ok())
    return std::move(status).with_context(path);
  return model;
}

std::optional<isa::Generation> generation_of_target(std::string_view target) {
  for (const Target& t : kTargets)
    if (target == t.name || target == t.alias) return t.generation;
  if (target == "*") return isa::Generation::kMariana;
  return std::nullopt;
}

std::vector<std::string> feature_names(std::uint64_t bits) {
  std::vector<std::string> names;
  for (unsigned bit = 0; bit < 64; ++bit) {
    if ((bits >> bit & 1) == 0) continue;
    const auto known = std::find_if(std::begin(kFeatures), std::end(kFeatures),
                                    [&](const auto& f) { return f.first == bit; });
    names.push_back(known != std::end(kFeatures) ? known->second : fmt::format("bit {}", bit));
  }
  return names;
}

std::string uuid_text(const std::array<std::uint8_t, 16>& uuid) {
  std::string text;
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", uuid[i]);
  }
  return text;
}

std::optional<std::size_t> find_engine(std::string_view name) {
  for (std::size_t e = 0; e < neff::kEngines; ++e) {
    const std::string_view known = kEngineNames[e];
    if (std::equal(name.begin(), name.end(), known.begin(), known.end(),
                   [](char a, char b) { return (a >= 'a' && a <= 'z' ? a - 32 : a) == b; }))
      return e;
  }
  return std::nullopt;
}

const char* dtype_name(nrt_dtype_t dtype) {
  switch (dtype) {
    case NRT_DTYPE_FLOAT32:
      return "float32";
    case NRT_DTYPE_FLOAT16:
      return "float16";
    case NRT_DTYPE_BFLOAT16:
      return "bfloat16";
    case NRT_DTYPE_INT8:
      return "int8";
    case NRT_DTYPE_UINT8:
      return "uint8";
    case NRT_DTYPE_INT16:
      return "int16";
    case NRT_DTYPE_UINT16:
      return "uint16";
    case NRT_DTYPE_INT32:
      return "int32";
    case NRT_DTYPE_UINT32:
      return "uint32";
    case NRT_DTYPE_INT64:
      return "int64";
    case NRT_DTYPE_UINT64:
      return "uint64";
    default:
      return "unknown";
  }
}

const char* variable_type_name(neff::VariableType type) {
  switch (type) {
    case neff::VariableType::kStateBuffer:
      return "state-buffer";
    case neff::VariableType::kInput:
      return "input";
    case neff::VariableType::kOutput:
      return "output";
    case neff::VariableType::kFile:
      return "file";
    case neff::VariableType::kTmpBuf:
      return "tmp-buf";
    case neff::VariableType::kVirtual:
      return "virtual";
    case neff::VariableType::kPointer:
      return "pointer";
    case neff::VariableType::kList:
      return "list";
    case neff::VariableType::kDgeTable:
      return "dge-table";
    case neff::VariableType::kRemote:
      return "remote";
  }
  return "?";
}

std::string json_text(std::string_view text) {
  if (simdjson::validate_utf8(text.data(), text.size())) return std::string(text);
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80)
      out += c;
    else
      out += fmt::format("\\x{:02x}", byte);
  }
  return out;
}

}  // namespace opennrt::tools
