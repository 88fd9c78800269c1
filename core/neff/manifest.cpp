// SPDX-License-Identifier: Apache-2.0
#include "neff/manifest.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "log/log.h"
#include "neff/dtype.h"
#include "neff/json.h"
#include "neff/targets.h"

namespace opennrt::neff {
namespace {

constexpr std::size_t kMaxDims = 32;
constexpr std::size_t kMaxTensorName = NRT_TENSOR_NAME_MAX - 1;
constexpr std::size_t kMaxMemberName = 4096;
constexpr std::string_view kInf1Descriptor = "kelf-a.json";

std::string join(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out.empty() ? "none" : out;
}

// --- neff.json: inputs and outputs ------------------------------------------

// The graph of neff.json; every value below was checked to exist.
class TensorGraph {
 public:
  static Result<TensorGraph> open(const Json& root) {
    TensorGraph graph;
    ONRT_ASSIGN(graph.nodes_, root.require("nodes"));
    ONRT_ASSIGN(graph.arg_nodes_, root.require("arg_nodes"));
    ONRT_ASSIGN(graph.heads_, root.require("heads"));
    ONRT_ASSIGN(graph.row_ptr_, root.require("node_row_ptr"));
    ONRT_ASSIGN(graph.attrs_, root.require("attrs"));
    return graph;
  }

  Status read(std::vector<TensorInfo>& inputs, std::vector<TensorInfo>& outputs) {
    ONRT_TRY(read_tables());
    ONRT_TRY(
        arg_nodes_->for_each_element([&](const Json& item) { return add_input(item, inputs); }));
    ONRT_TRY(heads_->for_each_element([&](const Json& item) { return add_output(item, outputs); }));
    if (outputs.empty()) return heads_->invalid("no outputs");
    const auto by_name = [](const TensorInfo& a, const TensorInfo& b) { return a.name < b.name; };
    std::sort(inputs.begin(), inputs.end(), by_name);
    std::sort(outputs.begin(), outputs.end(), by_name);
    return Status::ok();
  }

 private:
  using NameIndex = std::unordered_map<std::string_view, std::size_t>;

  // attrs.dltype = ["list_str", [...]]: the second element.
  template <typename Visit>
  Status for_each_attribute(std::string_view key, Visit&& visit) {
    ONRT_ASSIGN(const Json pair, attrs_->require(key));
    ONRT_ASSIGN(const Json list, pair.element(1));
    return list.for_each_element(visit);
  }

  Status read_tables() {
    ONRT_TRY(nodes_->for_each_element([&](const Json& node) {
      ONRT_TRY(node.expect_object());
      Node entry;
      ONRT_ASSIGN(const Json name, node.require("name"));
      ONRT_ASSIGN(entry.name, name.text());
      const auto names = node.find("output_names");
      if (names)
        ONRT_TRY(names->for_each_element([&](const Json& item) {
          ONRT_ASSIGN(std::string_view text, item.text());
          entry.outputs.push_back(text);
          return Status::ok();
        }));
      node_table_.push_back(std::move(entry));
      return Status::ok();
    }));
    ONRT_TRY(row_ptr_->for_each_element([&](const Json& item) {
      const std::uint64_t least = row_table_.empty() ? 0 : row_table_.back();
      ONRT_ASSIGN(const std::uint64_t value, item.integer(least, kMaxU32));
      row_table_.push_back(value);
      return Status::ok();
    }));
    if (row_table_.size() != node_table_.size() + 1)
      return row_ptr_->invalid("has {} elements; {} nodes need {}", row_table_.size(),
                               node_table_.size(), node_table_.size() + 1);
    ONRT_TRY(for_each_attribute("dltype", [&](const Json& item) {
      ONRT_ASSIGN(const std::string_view text, item.text());
      dtypes_.push_back(text);
      return Status::ok();
    }));
    return for_each_attribute("shape", [&](const Json& item) {
      std::vector<std::uint32_t> shape;
      ONRT_TRY(item.for_each_element([&](const Json& dim) {
        if (shape.size() == kMaxDims) return item.invalid("more than {} dimensions", kMaxDims);
        ONRT_ASSIGN(const std::uint64_t value, dim.integer(1, kMaxU32));
        shape.push_back(static_cast<std::uint32_t>(value));
        return Status::ok();
      }));
      shapes_.push_back(std::move(shape));
      return Status::ok();
    });
  }

  Status add_input(const Json& item, std::vector<TensorInfo>& inputs) {
    ONRT_ASSIGN(const std::uint64_t node, node_index(item));
    return add(item, node, 0, node_table_[node].name, inputs, input_names_);
  }

  Status add_output(const Json& item, std::vector<TensorInfo>& outputs) {
    ONRT_ASSIGN(const Json first, item.element(0));
    ONRT_ASSIGN(const Json second, item.element(1));
    ONRT_ASSIGN(const std::uint64_t node, node_index(first));
    ONRT_ASSIGN(const std::uint64_t out, second.integer(0, kMaxU32));
    const Node& entry = node_table_[node];
    if (out >= entry.outputs.size())
      return second.invalid("{}: node {} names {} outputs", out, quote(entry.name),
                            entry.outputs.size());
    return add(item, node, out, entry.outputs[out], outputs, output_names_);
  }

  Result<std::uint64_t> node_index(const Json& item) {
    ONRT_ASSIGN(const std::uint64_t node, item.integer(0, kMaxU32));
    if (node < node_table_.size()) return node;
    return item.invalid("{}: there are {} nodes", node, node_table_.size());
  }

  Status add(const Json& item, std::uint64_t node, std::uint64_t out, std::string_view name,
             std::vector<TensorInfo>& list, NameIndex& names) {
    if (name.empty() || name.size() > kMaxTensorName || name.find('\0') != std::string_view::npos)
      return item.invalid("tensor name {}: must have 1 to {} bytes", quote(name), kMaxTensorName);
    const std::uint64_t entry = row_table_[node] + out;
    if (entry >= row_table_[node + 1] || entry >= dtypes_.size() || entry >= shapes_.size())
      return item.invalid(
          "tensor {}: entry {} is out of range (node_row_ptr gives {}, {} dtypes, {} shapes)",
          quote(name), entry, row_table_[node + 1], dtypes_.size(), shapes_.size());
    const TensorDtype dtype = tensor_dtype(dtypes_[entry]);
    if (dtype.dtype == NRT_DTYPE_UNKNOWN)
      ONRT_LOG(kNeff, kWarn, "{}: tensor {}: unknown dtype {} counts as bytes",
               printable(item.member()), quote(name), quote(dtypes_[entry]));
    TensorInfo info{std::string(name), dtype.dtype, shapes_[entry], dtype.bytes};
    for (const std::uint32_t dim : info.shape)
      if (__builtin_mul_overflow(info.size, dim, &info.size) || info.size > kMaxBytes)
        return item.invalid("tensor {}: larger than {} bytes", quote(name), kMaxBytes);
    // Programs for several cores name every output once per core.
    const auto [known, added] = names.try_emplace(name, list.size());
    if (added) {
      list.push_back(std::move(info));
      return Status::ok();
    }
    const TensorInfo& first = list[known->second];
    if (first.dtype != info.dtype || first.shape != info.shape)
      return item.invalid("tensor {} appears twice with different dtype or shape", quote(name));
    return Status::ok();
  }

  struct Node {
    std::string_view name;
    std::vector<std::string_view> outputs;
  };
  std::optional<Json> nodes_, arg_nodes_, heads_, row_ptr_, attrs_;
  std::vector<Node> node_table_;
  NameIndex input_names_, output_names_;  // position in the list
  std::vector<std::uint64_t> row_table_;
  std::vector<std::string_view> dtypes_;
  std::vector<std::vector<std::uint32_t>> shapes_;
};

// The kelf descriptor named by the first node that has one.
Result<std::string> find_descriptor(const Json& root) {
  ONRT_ASSIGN(const Json nodes, root.require("nodes"));
  std::optional<std::string> descriptor;
  std::size_t found = 0;
  ONRT_TRY(nodes.for_each_element([&](const Json& node) {
    ONRT_TRY(node.expect_object());
    const auto attrs = node.find("attrs");
    if (!attrs) return Status::ok();
    ONRT_TRY(attrs->expect_object());
    std::string_view function;
    ONRT_TRY(attrs->get("func_name", function));
    if (function != "__kelf" || found++ != 0) return Status::ok();
    ONRT_ASSIGN(const Json kelf, attrs->require("kelf"));
    ONRT_ASSIGN(const std::string_view name, kelf.name(kMaxMemberName));
    descriptor = name;
    return Status::ok();
  }));
  if (found == 0) return nodes.invalid("no node with attrs.func_name \"__kelf\"");
  if (found > 1)
    ONRT_LOG(kNeff, kWarn, "{}: {} kelf nodes; the first one is used", printable(root.member()),
             found);
  return *std::move(descriptor);
}

// --- kelf descriptor ----------------------------------------------------------

Status inferentia1(std::string_view member) {
  return Status::make(NRT_UNSUPPORTED_NEFF_VERSION,
                      "{}: compiled for Inferentia1 (neuron-cc 1.x); not supported; compile the "
                      "model again with neuronx-cc",
                      printable(member));
}

// kelp_version of info.json; empty when unknown.
Status read_info(const MemberTable& members, Manifest& manifest, std::string& kelp_version) {
  const Member* member = members.find("info.json");
  if (!member) return Status::ok();
  ONRT_ASSIGN(const JsonDocument document, JsonDocument::parse("info.json", *member));
  ONRT_TRY(document.root().expect_object());
  std::string_view tool, kelp;
  ONRT_TRY(document.root().get("tool_version", tool));
  ONRT_TRY(document.root().get("kelp_version", kelp));
  manifest.compiler_version = tool;
  kelp_version = kelp;
  return Status::ok();
}

// Targets that published compilers write: a model for one of them is sound, it
// is for other silicon, whether or not that silicon's plugin is installed.
constexpr struct {
  std::string_view target;
  std::uint32_t arch;
} kPublishedTargets[] = {{"sunda", 2}, {"v2", 2},      {"cayman", 3},
                         {"v3", 3},    {"mariana", 4}, {"v4", 4}};

Status check_target(const Json& target, std::string_view name, const LoadLimits& limits) {
  const auto has = [&](const std::vector<std::string>& list) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  if (name == "*" || has(limits.targets)) return Status::ok();
  const std::string running = limits.running_on.empty() ? join(limits.targets) : limits.running_on;
  if (published_arch(name) != 0 || has(limits.known_targets))
    return target
        .invalid("{}: the model was built for {}, this process is running on {}", quote(name),
                 printable(name), running)
        .because(Cause::kForeignNeff,
                 limits.remedy ? "compile the model for this target or " + limits.remedy(name)
                               : std::string());
  return Status::make(
      NRT_UNSUPPORTED_NEFF_VERSION, "{}",
      target.place(fmt::format("{}: no installed arch plugin knows this target (known: {}; running "
                               "on {}); install the plugin for it",
                               quote(name), join(limits.known_targets), running)));
}

Status check_core_count(const Json& graphs, std::size_t count, const Header& header,
                        const LoadLimits& limits) {
  if (count > limits.visible_cores)
    return Status::make(
        NRT_LOAD_NOT_ENOUGH_NC, "{}",
        graphs.place(fmt::format("{} subgraphs need {} physical cores, {} are visible to this "
                                 "process; see NEURON_RT_VISIBLE_CORES and NEURON_RT_NUM_CORES",
                                 count, count, limits.visible_cores)));
  // The field binds only with its feature bit, and bits count from major 2.
  if (header.version_major == 2 && (header.feature_bits & kFeatureVnc) != 0 &&
      header.lnc_size != limits.lnc_size)
    return Status::invalid(
        "NEFF header: the model was compiled for {} physical cores per logical core (lnc_size), "
        "this process uses {}; set NEURON_LOGICAL_NC_CONFIG={}",
        header.lnc_size, limits.lnc_size, header.lnc_size);
  if (count != 1 && count != limits.lnc_size)
    return graphs.invalid(
        "{} subgraphs need {} physical cores per logical core, this process uses {}; set "
        "NEURON_LOGICAL_NC_CONFIG={}",
        count, count, limits.lnc_size, count);
  return Status::ok();
}

Status read_graphs(const Json& graphs, const MemberTable& members, Manifest& manifest) {
  return graphs.for_each_element([&](const Json& graph) {
    ONRT_TRY(graph.expect_object());
    ONRT_ASSIGN(const Json name, graph.require("name"));
    ONRT_ASSIGN(const std::string_view text, name.name(kMaxMemberName));
    ONRT_ASSIGN(const Json definition, graph.require("definition"));
    ONRT_ASSIGN(const std::string_view file, definition.name(kMaxMemberName));
    for (const GraphReference& known : manifest.graphs)
      if (known.name == text) return name.invalid("{} appears twice", quote(text));
    if (!members.contains(file))
      return definition.invalid("member {} is not in the NEFF", quote(file));
    manifest.graphs.push_back({std::string(text), std::string(file)});
    return Status::ok();
  });
}

Status read_descriptor(const std::string& name, std::string_view io_member,
                       const MemberTable& members, const Header& header, const LoadLimits& limits,
                       Manifest& manifest) {
  std::string kelp_version;
  ONRT_TRY(read_info(members, manifest, kelp_version));
  const Member* member = members.find(name);
  if (!member)
    return Status::invalid("{}: kelf descriptor {} is not in the NEFF", printable(io_member),
                           quote(name));
  ONRT_ASSIGN(const JsonDocument document, JsonDocument::parse(name, *member));
  const Json& root = document.root();
  ONRT_TRY(root.expect_object());
  const auto target = root.find("target");
  if (!target || (name == kInf1Descriptor && kelp_version == "1.0")) return inferentia1(name);
  ONRT_ASSIGN(const std::string_view text, target->text());
  ONRT_TRY(check_target(*target, text, limits));
  manifest.target = text;
  ONRT_ASSIGN(const Json graphs, root.require("graphs"));
  ONRT_ASSIGN(const std::size_t count, graphs.array_size());
  if (count == 0) return graphs.invalid("no subgraphs");
  ONRT_TRY(check_core_count(graphs, count, header, limits));
  return read_graphs(graphs, members, manifest);
}

Status read_statistics(const MemberTable& members, Manifest& manifest) {
  const Member* member = members.find("hlo_stats.json");
  if (!member) {
    ONRT_LOG(kNeff, kDebug, "no hlo_stats.json: the MAC count of the model is unknown");
    return Status::ok();
  }
  ONRT_ASSIGN(const JsonDocument document, JsonDocument::parse("hlo_stats.json", *member));
  ONRT_TRY(document.root().expect_object());
  const auto count = document.root().find("HloMacCount");
  if (!count) return Status::ok();
  // Unknown figures of this member are -1.
  ONRT_ASSIGN(const std::int64_t value,
              count->signed_integer(-1, std::numeric_limits<std::int64_t>::max()));
  manifest.mac_count = value < 0 ? 0 : static_cast<std::uint64_t>(value);
  return Status::ok();
}

}  // namespace

Result<std::string> read_target(const MemberTable& members) {
  const std::string_view graph = members.contains("neff.json") ? "neff.json" : "kelp.json";
  const Member* member = members.find(graph);
  if (!member) return Status::invalid("NEFF archive: member \"neff.json\" is missing");
  ONRT_ASSIGN(const JsonDocument document, JsonDocument::parse(graph, *member));
  ONRT_TRY(document.root().expect_object());
  ONRT_ASSIGN(const std::string name, find_descriptor(document.root()));
  member = members.find(name);
  if (!member) return Status::invalid("kelf descriptor {} is not in the NEFF", quote(name));
  ONRT_ASSIGN(const JsonDocument descriptor, JsonDocument::parse(name, *member));
  ONRT_TRY(descriptor.root().expect_object());
  ONRT_ASSIGN(const Json target, descriptor.root().require("target"));
  ONRT_ASSIGN(const std::string_view text, target.text());
  return std::string(text);
}

Result<Manifest> read_manifest(const MemberTable& members, const Header& header,
                               const LoadLimits& limits) {
  Manifest manifest;
  manifest.io_member = members.contains("neff.json") ? "neff.json" : "kelp.json";
  const Member* member = members.find(manifest.io_member);
  if (!member) return Status::invalid("NEFF archive: member \"neff.json\" is missing");
  ONRT_ASSIGN(const JsonDocument document, JsonDocument::parse(manifest.io_member, *member));
  ONRT_TRY(document.root().expect_object());
  ONRT_ASSIGN(const std::string descriptor, find_descriptor(document.root()));
  ONRT_TRY(read_descriptor(descriptor, manifest.io_member, members, header, limits, manifest));
  ONRT_ASSIGN(TensorGraph graph, TensorGraph::open(document.root()));
  ONRT_TRY(graph.read(manifest.inputs, manifest.outputs));
  ONRT_TRY(read_statistics(members, manifest));
  return manifest;
}

std::uint32_t published_arch(std::string_view target) {
  for (const auto& known : kPublishedTargets)
    if (known.target == target) return known.arch;
  return 0;
}

}  // namespace opennrt::neff
