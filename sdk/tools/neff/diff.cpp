// SPDX-License-Identifier: Apache-2.0
//
// opennrt neff diff: two models by meaning.
#include "neff/diff.h"

#include <algorithm>
#include <map>

#include "neff/args.h"
#include "neff/commands.h"
#include "neff/files.h"
#include "neff/listing.h"
#include "neff/model.h"
#include "neff/stats.h"
#include "neff/text.h"

namespace opennrt::tools {
namespace {

// Exit codes of this command.
constexpr int kSame = 0, kDifferent = 1, kTrouble = 2;
// Differing records looked for in one stream.
constexpr std::size_t kMostEdits = 2000;

struct Options {
  std::uint64_t context = 2;
  std::uint64_t limit = 40;
};

class Comparison {
 public:
  Comparison(const Model& a, const Model& b, const Options& options)
      : a_(a), b_(b), options_(options) {}

  bool run() {
    const auto& p = a_.program;
    const auto& q = b_.program;
    value("name", neff::quote(a_.header.name), neff::quote(b_.header.name));
    value("uuid", uuid_text(a_.header.uuid), uuid_text(b_.header.uuid));
    value("target", p.target, q.target);
    value("compiler", p.compiler_version, q.compiler_version);
    value("version", fmt::format("{}.{}", a_.header.version_major, a_.header.version_minor),
          fmt::format("{}.{}", b_.header.version_major, b_.header.version_minor));
    value("features", fmt::format("{}", fmt::join(feature_names(p.feature_bits), ", ")),
          fmt::format("{}", fmt::join(feature_names(q.feature_bits), ", ")));
    value("lnc", std::to_string(p.lnc_size), std::to_string(q.lnc_size));
    value("subgraphs", std::to_string(p.subgraphs.size()), std::to_string(q.subgraphs.size()));
    tensors("input", p.inputs, q.inputs);
    tensors("output", p.outputs, q.outputs);
    for (std::size_t g = 0; g < std::min(p.subgraphs.size(), q.subgraphs.size()); ++g)
      graphs(p.subgraphs[g], q.subgraphs[g]);
    return different_;
  }

 private:
  void line(const std::string& text) {
    different_ = true;
    print(text + "\n");
  }

  void value(std::string_view what, const std::string& a, const std::string& b) {
    if (a != b)
      line(fmt::format("{}: {} -> {}", what, neff::printable(a, 600), neff::printable(b, 600)));
  }

  // Items of two maps of name -> description.
  void maps(std::string_view what, const std::map<std::string, std::string>& a,
            const std::map<std::string, std::string>& b) {
    for (const auto& [name, text] : a) {
      const auto it = b.find(name);
      if (it == b.end())
        line(fmt::format("{} {}: only in the first: {}", what, neff::quote(name), text));
      else
        value(fmt::format("{} {}", what, neff::quote(name)), text, it->second);
    }
    for (const auto& [name, text] : b)
      if (!a.contains(name))
        line(fmt::format("{} {}: only in the second: {}", what, neff::quote(name), text));
  }

  void tensors(std::string_view what, const std::vector<neff::TensorInfo>& a,
               const std::vector<neff::TensorInfo>& b) {
    const auto texts = [](const std::vector<neff::TensorInfo>& list) {
      std::map<std::string, std::string> out;
      for (const neff::TensorInfo& t : list)
        out[t.name] =
            fmt::format("{}[{}] {} bytes", dtype_name(t.dtype), fmt::join(t.shape, ", "), t.size);
      return out;
    };
    maps(what, texts(a), texts(b));
  }

  void graphs(const neff::Subgraph& a, const neff::Subgraph& b) {
    const std::string name = neff::printable(a.name);
    value(name + ": name", a.name, b.name);
    variables(name, a, b);
    queues(name, a, b);
    for (std::size_t e = 0; e < neff::kEngines; ++e) stream(name, e, a.streams[e], b.streams[e]);
  }

  void variables(const std::string& graph, const neff::Subgraph& a, const neff::Subgraph& b) {
    const auto texts = [](const neff::Subgraph& g) {
      std::map<std::string, std::string> out;
      for (const neff::Variable& v : g.variables) {
        const bool told =
            v.type == neff::VariableType::kInput || v.type == neff::VariableType::kOutput;
        if (told) continue;
        out[v.name] = fmt::format("{} of {} bytes at {}", variable_type_name(v.type), v.size,
                                  v.backing_offset);
      }
      return out;
    };
    maps(graph + ": variable", texts(a), texts(b));
    for (const neff::Variable& v : a.variables) {
      const neff::Variable* other = b.find_variable(v.name);
      if (other != nullptr && v.content.size() == other->content.size() &&
          !std::equal(v.content.begin(), v.content.end(), other->content.begin()))
        line(fmt::format("{}: variable {}: other content", graph, neff::quote(v.name)));
    }
  }

  void queues(const std::string& graph, const neff::Subgraph& a, const neff::Subgraph& b) {
    const auto texts = [](const neff::Subgraph& g) {
      std::map<std::string, std::string> out;
      for (const neff::QueueSet& q : g.queues)
        out[q.name] = fmt::format("{} owner {} rings {} semaphores [{}]", queue_type_name(q.type),
                                  q.owner ? kEngineNames[static_cast<std::size_t>(*q.owner)] : "-",
                                  q.num_queues, fmt::join(q.semaphores, ", "));
      return out;
    };
    maps(graph + ": queue", texts(a), texts(b));
    for (const neff::QueueSet& q : a.queues)
      if (const neff::QueueSet* other = b.find_queue(q.name)) blocks(graph, q, *other, a, b);
  }

  static std::string element_type(std::uint8_t code) {
    const char* name = isa::find_enumeration("dtype")->find(code);
    return name != nullptr ? name : fmt::format("0x{:02X}", code);
  }

  static std::string block_text(const neff::Block& block, const neff::Subgraph& graph) {
    const auto side = [&](const neff::AccessPattern& p) {
      return fmt::format("{}+{} [{}] step [{}] {}", neff::printable(graph.variables[p.var_id].name),
                         p.offset, fmt::join(p.sizes.begin(), p.sizes.begin() + p.dims, ", "),
                         fmt::join(p.steps.begin(), p.steps.begin() + p.dims, ", "),
                         element_type(p.dtype));
    };
    std::string text =
        fmt::format("semaphore {}", block.semaphore ? std::to_string(*block.semaphore) : "-");
    for (const std::uint32_t s : block.remote_semaphores) text += fmt::format(" remote {}", s);
    for (const neff::Descriptor& d : block.descriptors) {
      text += fmt::format("; {}", neff::dma_op_name(d.op));
      for (const neff::AccessPattern& from : d.from) text += " " + side(from);
      text += " -> " + side(d.to);
    }
    return text;
  }

  void blocks(const std::string& graph, const neff::QueueSet& a, const neff::QueueSet& b,
              const neff::Subgraph& ga, const neff::Subgraph& gb) {
    const std::string place = fmt::format("{}: queue {}", graph, neff::quote(a.name));
    value(place + ": blocks", std::to_string(a.blocks.size()), std::to_string(b.blocks.size()));
    std::uint64_t shown = 0;
    for (const neff::Block& block : a.blocks) {
      const neff::Block* other = b.find_block(block.id);
      if (other == nullptr) continue;
      const std::string was = block_text(block, ga), is = block_text(*other, gb);
      if (was == is) continue;
      if (shown++ < options_.limit) value(fmt::format("{} block {}", place, block.id), was, is);
    }
    if (shown > options_.limit)
      line(fmt::format("{}: {} more blocks differ", place, shown - options_.limit));
  }

  void records(char mark, std::span<const std::byte> stream, isa::Generation generation,
               std::size_t first, std::size_t count) {
    std::string text;
    append_records(stream, generation, first + 1, first + count, &text);
    std::string marked;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = text.find('\n', begin) + 1;
      marked += mark + text.substr(begin, end - begin);
      begin = end;
    }
    print(marked);
  }

  void stream(const std::string& graph, std::size_t engine, std::span<const std::byte> a,
              std::span<const std::byte> b) {
    const std::vector<Change> changes = compare_streams(a, b, kMostEdits);
    if (changes.empty()) return;
    std::uint64_t removed = 0, added = 0;
    for (const Change& c : changes) {
      removed += c.a_count;
      added += c.b_count;
    }
    line(fmt::format("{}: {}: {} -> {} records, {} removed, {} added", graph, kEngineNames[engine],
                     a.size() / isa::kRecordBytes, b.size() / isa::kRecordBytes, removed, added));
    std::uint64_t shown = 0;
    for (const Change& c : changes) {
      const std::size_t context = std::min<std::size_t>(c.a_first, options_.context);
      print(fmt::format("@@ record {} -> {}\n", c.a_first + 1, c.b_first + 1));
      records(' ', a, a_.generation, c.a_first - context, context);
      const std::size_t left = options_.limit - std::min(shown, options_.limit);
      records('-', a, a_.generation, c.a_first, std::min(c.a_count, left));
      records('+', b, b_.generation, c.b_first, std::min(c.b_count, left));
      const std::size_t after = c.a_first + c.a_count;
      records(' ', a, a_.generation, after,
              std::min<std::size_t>(options_.context, a.size() / isa::kRecordBytes - after));
      shown += c.a_count + c.b_count;
      if (shown >= options_.limit && (&c != &changes.back() || c.a_count + c.b_count > left)) {
        print("... (--limit)\n");
        return;
      }
    }
  }

  const Model& a_;
  const Model& b_;
  Options options_;
  bool different_ = false;
};

int trouble(const Status& status) {
  fail("diff", status);
  return kTrouble;
}

}  // namespace

int neff_diff(const Words& words) {
  const auto args = Args::parse(words, {{"context", true}, {"limit", true}}, 2, 2);
  if (!args) return bad_usage("diff", args.status());
  const auto context = args->number("context", 2);
  const auto limit = args->number("limit", 40);
  if (!context) return bad_usage("diff", context.status());
  if (!limit) return bad_usage("diff", limit.status());
  const auto a = open_and_load(args->positional()[0]);
  if (!a) return trouble(a.status());
  const auto b = open_and_load(args->positional()[1]);
  if (!b) return trouble(b.status());
  const bool different = Comparison(*a, *b, {*context, *limit}).run();
  const Status status = finish_output();
  if (!status.is_ok()) return trouble(status);
  return different ? kDifferent : kSame;
}

}  // namespace opennrt::tools
