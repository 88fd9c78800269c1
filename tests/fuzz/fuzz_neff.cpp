// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <cstring>
#include <map>

#include "entries.h"
#include "log/log.h"
#include "neff/loader.h"
#include "support/neff_builder.h"

namespace opennrt::fuzz {
namespace {

neff::LoadLimits limits() {
  static const bool silent = [] {
    log::set_level(log::Level::kDisabled);
    return true;
  }();
  neff::LoadLimits limits;
  limits.targets = {"sunda", "cayman"};
  limits.known_targets = {"sunda", "cayman", "mariana"};
  limits.lnc_size = 2;
  limits.validate_hash = false;
  limits.max_decompressed_bytes = silent ? std::uint64_t{16} << 20 : 0;
  return limits;
}

// A broken promise of the model is as bad as a crash.
void check(bool holds) {
  if (!holds) std::abort();
}

void touch(std::span<const std::byte> bytes) {
  unsigned sum = 0;
  for (const std::byte b : bytes) sum += std::to_integer<unsigned>(b);
  [[maybe_unused]] volatile unsigned sink = sum;
}

void check_pattern(const neff::Subgraph& graph, const neff::AccessPattern& p) {
  check(p.var_id < graph.variables.size() && p.dims >= 1 && p.dims <= 4 && p.steps[0] == 1);
  std::int64_t first = static_cast<std::int64_t>(p.offset), last = first;
  for (std::uint32_t d = 0; d < p.dims; ++d) {
    check(p.sizes[d] >= 1);
    const std::int64_t extent = static_cast<std::int64_t>(p.sizes[d] - 1) * p.steps[d];
    (extent < 0 ? first : last) += extent;
  }
  check(first >= 0 && static_cast<std::uint64_t>(last) < graph.variables[p.var_id].size);
}

void check_subgraph(const neff::Program& program, const neff::Subgraph& graph) {
  bool output = false;
  for (std::uint32_t id = 0; id < graph.variables.size(); ++id) {
    const neff::Variable& v = graph.variables[id];
    check(v.var_id == id && !v.name.empty());
    if (v.type == neff::VariableType::kFile) check(v.content.size() == v.size);
    if (v.remote) check(v.remote->subgraph < program.subgraphs.size());
    output = output || v.type == neff::VariableType::kOutput;
    touch(v.content);
  }
  check(output);
  for (const neff::QueueSet& queue : graph.queues) {
    check(queue.num_queues >= 1 && queue.num_queues <= 16 && queue.name.size() < 32);
    for (const neff::Block& block : queue.blocks) {
      check(!block.descriptors.empty() && queue.find_block(block.id)->id == block.id);
      for (const neff::Descriptor& d : block.descriptors) {
        check(!d.from.empty() && d.from.size() <= 16);
        check_pattern(graph, d.to);
        for (const neff::AccessPattern& p : d.from) check_pattern(graph, p);
      }
    }
  }
  for (const auto stream : graph.streams) {
    check(stream.size() % 64 == 0);
    touch(stream);
  }
  for (const neff::ActTableSet& set : graph.act_sets) touch(set.buckets), touch(set.control);
  for (const neff::NamedBlob& table : graph.dve_tables) touch(table.data);
}

void check_result(const Result<neff::Program>& program) {
  if (!program.is_ok()) {
    check(program.status().code() == NRT_INVALID || program.status().code() == NRT_RESOURCE ||
          program.status().code() == NRT_UNSUPPORTED_NEFF_VERSION);
    check(!program.status().message().empty());
    return;
  }
  check(!program->outputs.empty() && !program->subgraphs.empty());
  for (const neff::Subgraph& graph : program->subgraphs) check_subgraph(*program, graph);
}

const std::map<std::string, std::string>& sample() {
  static const auto* const members =
      new std::map<std::string, std::string>(testing::sample_neff("cayman", 2).members);
  return *members;
}

neff::Header sample_header() {
  neff::Header header;
  header.version_major = 2;
  header.feature_bits = 0xC00;
  header.lnc_size = 2;
  return header;
}

}  // namespace

void fuzz_neff_container(const std::uint8_t* data, std::size_t size) {
  check_result(neff::load_program(std::as_bytes(std::span(data, size)), limits()));
}

std::vector<std::string> seeds_neff_container() {
  std::vector<std::string> seeds;
  for (const unsigned version : {1U, 2U}) {
    testing::NeffBuilder neff = testing::sample_neff();
    neff.pkg_version = version;
    neff.padding = 512;
    seeds.push_back(neff.build());
    neff.long_names = testing::LongNames::kPax;
    seeds.push_back(neff.build());
    neff.long_names = testing::LongNames::kGnu;
    neff.extra = {{"d/", "", '5'}, {"l", "", '1', "neff.json"}};
    seeds.push_back(neff.build());
  }
  return seeds;
}

void fuzz_neff_manifest(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return;
  const std::size_t chosen = data[0] % sample().size();
  neff::MemberTable members;
  std::size_t index = 0;
  for (const auto& [name, content] : sample()) {
    const std::string_view text =
        index++ == chosen ? std::string_view(reinterpret_cast<const char*>(data) + 1, size - 1)
                          : std::string_view(content);
    neff::Member member(text.size());
    std::memcpy(member.bytes().data(), text.data(), text.size());
    members.add(name, std::move(member));
  }
  check_result(neff::load_members(sample_header(), std::move(members), limits()));
}

std::vector<std::string> seeds_neff_manifest() {
  std::vector<std::string> seeds;
  for (const auto& [name, content] : sample())
    seeds.push_back(std::string(1, static_cast<char>(seeds.size())) + content);
  // Keys that few programs have.
  const auto with = [&](const char* member, std::string_view from, std::string_view to) {
    std::size_t index = 0;
    for (const auto& [name, content] : sample()) {
      const std::size_t at = content.find(from);
      if (name == member && at != std::string::npos) {
        std::string text = content;
        text.replace(at, from.size(), to);
        seeds.push_back(std::string(1, static_cast<char>(index)) + text);
      }
      ++index;
    }
  };
  const char* const def = "sg00/def.json";
  with(def, R"("neff_features": [])",
       R"("neff_features": ["neff_feature_vnc", "neff_has_functions", "x"])");
  with(def, R"(["qPoolIO0_a"])", R"(["qPoolIO0_a", "qPoolIO0_b"])");
  with(def, R"("backing_buf": "local")", R"("backing_buf": "shared")");
  with(def, R"("type": "list")", R"("type": "dge-table")");
  with(def, R"("type": "in")", R"("type": "in", "embedding_update_sync_semaphore": 9)");
  const char* const sp = "sg00/SP.json";
  with(sp, R"("id": 1, )", R"("id": 1, "priority_class": 3, "section_start_desc": false, )");
  with(sp, R"("op": "max")", R"("op": "min")");
  with(sp, "WZXY", "XYZW");
  with(sp, "[0.5, 2]", "-0.25");
  return seeds;
}

}  // namespace opennrt::fuzz
