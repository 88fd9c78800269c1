// SPDX-License-Identifier: Apache-2.0
#include "neff/definition.h"

#include <algorithm>
#include <iterator>

#include "log/log.h"

namespace opennrt::neff {
namespace {

constexpr std::string_view kEngineKeys[kEngines] = {"pe", "act", "pool", "dve", "sp"};
constexpr std::size_t kMaxMemberName = 4096;
constexpr std::size_t kMaxFeatureName = 255;

// The low semaphores and events belong to the runtime.
Status read_runtime_counts(const Json& root, const LoadLimits& limits, Subgraph& graph) {
  graph.runtime_semaphore_count = limits.min_runtime_semaphores;
  graph.runtime_event_count = limits.min_runtime_events;
  ONRT_TRY(root.get("runtime_semaphore_count", limits.min_runtime_semaphores, limits.semaphores,
                    graph.runtime_semaphore_count));
  return root.get("runtime_event_count", limits.min_runtime_events, limits.events,
                  graph.runtime_event_count);
}

Status read_fp8(const Json& root, Subgraph& graph) {
  const auto section = root.find("fp8_conversion_config");
  if (!section) return Status::ok();
  ONRT_TRY(section->expect_object());
  Fp8Config config;
  ONRT_TRY(section->get("fp8_range_extension", config.range_extension));
  ONRT_TRY(section->get("emax_fp8_e4m3", 0, kMaxU32, config.emax_e4m3));
  ONRT_TRY(section->get("emax_fp8_e5m2", 0, kMaxU32, config.emax_e5m2));
  ONRT_TRY(section->get("ocp_sat", config.ocp_sat));
  ONRT_TRY(section->get("fp8_sis", config.sis));
  ONRT_TRY(section->get("fp8_sns", config.sns));
  graph.fp8 = config;
  return Status::ok();
}

Status check_reservation(const Json& item, const LoadLimits& limits) {
  ONRT_TRY(item.expect_object());
  ONRT_ASSIGN(const Json type, item.require("type"));
  ONRT_ASSIGN(const std::string_view text, type.text());
  if (text != "evtaccel") return type.invalid("{}: must be \"evtaccel\"", quote(text));
  std::uint64_t offset = 0, size = 0, base = 0, partitions = 0;
  const std::uint64_t stride = limits.sbuf_partition_stride;
  ONRT_TRY(item.get("offset", 0, stride, offset));
  ONRT_TRY(item.get("size", 0, stride, size));
  ONRT_TRY(item.get("base_partition", 0, limits.sbuf_partitions, base));
  ONRT_TRY(item.get("partitions", 0, limits.sbuf_partitions, partitions));
  if (offset + size > stride)
    return item.invalid("offset {} + size {} leave the partition of {} bytes", offset, size,
                        stride);
  if (base + partitions > limits.sbuf_partitions)
    return item.invalid("base_partition {} + partitions {} exceed the {} partitions", base,
                        partitions, limits.sbuf_partitions);
  return Status::ok();
}

// Bytes of the state buffer that the runtime needs for itself.
Status read_reservation(const Json& root, const LoadLimits& limits) {
  constexpr std::string_view kKey = "runtime_statebuffer_reservation";
  const auto section = root.find(kKey);
  std::size_t count = 0;
  if (section)
    ONRT_TRY(section->for_each_element([&](const Json& item) {
      ++count;
      return check_reservation(item, limits);
    }));
  if (count != 0 || !limits.sbuf_reservation_required || limits.allow_legacy) return Status::ok();
  return root.invalid(
      "key \"{}\" is missing: the model was built by a compiler too old for this arch; compile it "
      "again, or set NEURON_RT_ALLOW_LEGACY_NEFF=1 for a test",
      kKey);
}

// Collectives are judged when a collective instruction is lowered.
Status check_leniently(const Json& root) {
  const auto streams = root.find("cc_streams");
  if (streams) {
    std::uint32_t count = 1;
    ONRT_TRY(streams->expect_object());
    ONRT_TRY(streams->get("num_streams", 0, kMaxU32, count));
  }
  for (const std::string_view key : {"replica_groups", "src_target_pairs"}) {
    const auto list = root.find(key);
    if (list && !list->is_array()) return list->wrong("an array");
  }
  if (root.find("ucode_lib"))
    ONRT_LOG(kNeff, kWarn,
             "{}: key \"ucode_lib\": custom operators are not supported; the model "
             "fails when it executes one",
             printable(root.member()));
  return Status::ok();
}

// Names of the header's feature bits.
constexpr std::string_view kFeatures[] = {
    "collective_has_offset",
    "neff_feature_custom_ops",
    "neff_coalesced_ccops",
    "neff_queue_set_instances",
    "neff_has_functions",
    "neff_feature_dynamic_pwp",
    "neff_feature_indirect_memcpy_32b_sem_wait",
    "neff_feature_indirect_memcpy_bound_check",
    "neff_feature_DMA_desc_higher_dim",
    "neff_feature_vnc",
    "neff_feature_DGE",
    "neff_feature_POOL_RSQRT",
    "neff_feature_remote_sem",
    "neff_feature_DGE_cast",
    "neff_feature_vector_DGE",
    "neff_feature_embedding_stride32",
    "neff_feature_SQI_no_rearm",
    "neff_feature_hardware_DGE",
    "neff_feature_partial_sb2sb_ccop",
    "neff_feature_large_tensor_support",
};

// What the subgraph says it uses. Informational: what cannot run is refused
// where it stands, and the header's bits gate the file.
Status read_features(const Json& root, Subgraph& graph) {
  const auto list = root.find("neff_features");
  if (!list) return Status::ok();
  return list->for_each_element([&](const Json& element) {
    ONRT_ASSIGN(const std::string_view name, element.name(kMaxFeatureName));
    if (std::find(std::begin(kFeatures), std::end(kFeatures), name) == std::end(kFeatures))
      ONRT_LOG(kNeff, kWarn, "{}: {}: {}: a feature this release does not know",
               printable(element.member()), element.path(), quote(name));
    graph.features.emplace_back(name);
    return Status::ok();
  });
}

Status read_engine_names(const Json& root, SubgraphReader& reader) {
  for (std::size_t engine = 0; engine < kEngines; ++engine) {
    const auto file = root.find(kEngineKeys[engine]);
    if (!file) {
      ONRT_LOG(kNeff, kWarn, "{}: key \"{}\" is missing: this engine does nothing",
               printable(root.member()), kEngineKeys[engine]);
      continue;
    }
    ONRT_ASSIGN(const std::string_view name, file->name(kMaxMemberName));
    reader.engine_members[engine] = sibling(reader.definition, name);
  }
  return Status::ok();
}

}  // namespace

std::string_view engine_key(Engine engine) { return kEngineKeys[static_cast<std::size_t>(engine)]; }

std::optional<Engine> engine_of_key(std::string_view key) {
  for (std::size_t engine = 0; engine < kEngines; ++engine)
    if (kEngineKeys[engine] == key) return static_cast<Engine>(engine);
  return std::nullopt;
}

Status read_definition(const MemberTable& members, const LoadLimits& limits,
                       SubgraphReader& reader) {
  const Member* member = members.find(reader.definition);
  if (!member)
    return Status::invalid("NEFF archive: member {} is missing", quote(reader.definition));
  ONRT_ASSIGN(reader.document, JsonDocument::parse(reader.definition, *member));
  const Json& root = reader.document->root();
  ONRT_TRY(root.expect_object());
  ONRT_TRY(read_runtime_counts(root, limits, reader.graph));
  ONRT_TRY(read_fp8(root, reader.graph));
  ONRT_TRY(read_features(root, reader.graph));
  ONRT_TRY(read_reservation(root, limits));
  ONRT_TRY(check_leniently(root));
  return read_engine_names(root, reader);
}

}  // namespace opennrt::neff
