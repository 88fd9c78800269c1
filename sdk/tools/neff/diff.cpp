// SPDX-License-Identifier: Apache-2.0
//
// opennrt neff diff: two models by meaning.
#include "neff/diff.h"

#include <algorithm>
#include <map>

#include "json_writer.h"
#include "neff/commands.h"
#include "neff/listing.h"
#include "neff/model.h"
#include "neff/stats.h"
#include "neff/text.h"
#include "output.h"

namespace opennrt::tools {
namespace {

// Exit codes of this command.
constexpr int kSame = 0, kDifferent = 1, kTrouble = 2;
// Differing records looked for in one stream.
constexpr std::size_t kMostEdits = 2000;

struct Options {
  std::uint64_t context = 2;
  std::uint64_t limit = 40;
  bool json = false;
};

// What differs.
struct Subject {
  std::string what;           // "uuid", "variable"
  std::string subgraph = "";  // empty: of the model
  std::string name = "";      // of one of several
  std::string detail = "";    // of it
  bool quoted = false;        // the values are

  std::string text() const {
    std::string out;
    if (!subgraph.empty()) out = neff::printable(subgraph) + ": ";
    out += what;
    if (!name.empty()) out += " " + neff::quote(name);
    return out + detail;
  }
};

using Texts = std::map<std::string, std::string>;

class Comparison {
 public:
  Comparison(const Model& a, const Model& b, const Options& options)
      : a_(a), b_(b), options_(options) {}

  // Prints the differences; false: there are none.
  bool run() {
    if (!options_.json) {
      models();
      return different_;
    }
    json_.begin_object();
    json_.member("first", json_text(a_.path));
    json_.member("second", json_text(b_.path));
    json_.key("differences");
    json_.begin_array();
    models();
    json_.end_array();
    json_.end_object();
    print(json_.str() + "\n");
    return different_;
  }

 private:
  void models() {
    const auto& p = a_.program;
    const auto& q = b_.program;
    value({.what = "name", .quoted = true}, a_.header.name, b_.header.name);
    value({"uuid"}, uuid_text(a_.header.uuid), uuid_text(b_.header.uuid));
    value({"target"}, p.target, q.target);
    value({"compiler"}, p.compiler_version, q.compiler_version);
    value({"version"}, fmt::format("{}.{}", a_.header.version_major, a_.header.version_minor),
          fmt::format("{}.{}", b_.header.version_major, b_.header.version_minor));
    value({"features"}, fmt::format("{}", fmt::join(feature_names(p.feature_bits), ", ")),
          fmt::format("{}", fmt::join(feature_names(q.feature_bits), ", ")));
    value({"lnc"}, std::to_string(p.lnc_size), std::to_string(q.lnc_size));
    value({"subgraphs"}, std::to_string(p.subgraphs.size()), std::to_string(q.subgraphs.size()));
    tensors("input", p.inputs, q.inputs);
    tensors("output", p.outputs, q.outputs);
    for (std::size_t g = 0; g < std::min(p.subgraphs.size(), q.subgraphs.size()); ++g)
      graphs(p.subgraphs[g], q.subgraphs[g]);
  }

  // Begins the object of a difference.
  void begin(const Subject& subject) {
    different_ = true;
    json_.begin_object();
    json_.member("what", subject.what);
    if (!subject.subgraph.empty()) json_.member("subgraph", json_text(subject.subgraph));
    if (!subject.name.empty()) json_.member("name", json_text(subject.name));
    if (const auto at = subject.detail.find_first_not_of(": "); at != std::string::npos)
      json_.member("detail", subject.detail.substr(at));
  }

  void line(const std::string& text) {
    different_ = true;
    print(text + "\n");
  }

  void side(std::string_view key, const std::string* text) {
    if (text != nullptr) {
      json_.member(key, json_text(*text));
    } else {
      json_.key(key);
      json_.null();
    }
  }

  // nullptr: not there.
  void values(const Subject& subject, const std::string* a, const std::string* b) {
    if (options_.json) {
      begin(subject);
      side("first", a);
      side("second", b);
      json_.end_object();
    } else if (a == nullptr || b == nullptr) {
      line(fmt::format("{}: only in the {}: {}", subject.text(), a ? "first" : "second",
                       a ? *a : *b));
    } else {
      const auto shown = [&](const std::string& text) {
        return subject.quoted ? neff::quote(text) : neff::printable(text, 600);
      };
      line(fmt::format("{}: {} -> {}", subject.text(), shown(*a), shown(*b)));
    }
  }

  void value(const Subject& subject, const std::string& a, const std::string& b) {
    if (a != b) values(subject, &a, &b);
  }

  // Items of two maps of name -> description.
  void maps(const std::string& what, const std::string& subgraph, const Texts& a, const Texts& b) {
    for (const auto& [name, text] : a) {
      const auto it = b.find(name);
      if (it == b.end())
        values({what, subgraph, name}, &text, nullptr);
      else
        value({what, subgraph, name}, text, it->second);
    }
    for (const auto& [name, text] : b)
      if (!a.contains(name)) values({what, subgraph, name}, nullptr, &text);
  }

  void tensors(const std::string& what, const std::vector<neff::TensorInfo>& a,
               const std::vector<neff::TensorInfo>& b) {
    const auto texts = [](const std::vector<neff::TensorInfo>& list) {
      Texts out;
      for (const neff::TensorInfo& t : list)
        out[t.name] =
            fmt::format("{}[{}] {} bytes", dtype_name(t.dtype), fmt::join(t.shape, ", "), t.size);
      return out;
    };
    maps(what, "", texts(a), texts(b));
  }

  void graphs(const neff::Subgraph& a, const neff::Subgraph& b) {
    value({"name", a.name}, a.name, b.name);
    variables(a, b);
    queues(a, b);
    for (std::size_t e = 0; e < neff::kEngines; ++e) stream(a.name, e, a.streams[e], b.streams[e]);
  }

  void variables(const neff::Subgraph& a, const neff::Subgraph& b) {
    const auto texts = [](const neff::Subgraph& g) {
      Texts out;
      for (const neff::Variable& v : g.variables) {
        const bool told =
            v.type == neff::VariableType::kInput || v.type == neff::VariableType::kOutput;
        if (told) continue;
        out[v.name] = fmt::format("{} of {} bytes at {}", variable_type_name(v.type), v.size,
                                  v.backing_offset);
      }
      return out;
    };
    maps("variable", a.name, texts(a), texts(b));
    for (const neff::Variable& v : a.variables) {
      const neff::Variable* other = b.find_variable(v.name);
      if (other != nullptr && v.content.size() == other->content.size() &&
          !std::equal(v.content.begin(), v.content.end(), other->content.begin()))
        remark({"variable", a.name, v.name, ": other content"});
    }
  }

  // Without values of the two sides.
  void remark(const Subject& subject) {
    if (!options_.json) return line(subject.text());
    begin(subject);
    json_.end_object();
  }

  void queues(const neff::Subgraph& a, const neff::Subgraph& b) {
    const auto texts = [](const neff::Subgraph& g) {
      Texts out;
      for (const neff::QueueSet& q : g.queues)
        out[q.name] = fmt::format("{} owner {} rings {} semaphores [{}]", queue_type_name(q.type),
                                  q.owner ? kEngineNames[static_cast<std::size_t>(*q.owner)] : "-",
                                  q.num_queues, fmt::join(q.semaphores, ", "));
      return out;
    };
    maps("queue", a.name, texts(a), texts(b));
    for (const neff::QueueSet& q : a.queues)
      if (const neff::QueueSet* other = b.find_queue(q.name)) blocks(q, *other, a, b);
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

  void blocks(const neff::QueueSet& a, const neff::QueueSet& b, const neff::Subgraph& ga,
              const neff::Subgraph& gb) {
    const auto about = [&](std::string detail) {
      return Subject{"queue", ga.name, a.name, std::move(detail)};
    };
    value(about(": blocks"), std::to_string(a.blocks.size()), std::to_string(b.blocks.size()));
    std::uint64_t shown = 0;
    for (const neff::Block& block : a.blocks) {
      const neff::Block* other = b.find_block(block.id);
      if (other == nullptr) continue;
      const std::string was = block_text(block, ga), is = block_text(*other, gb);
      if (was == is) continue;
      if (shown++ < options_.limit) value(about(fmt::format(" block {}", block.id)), was, is);
    }
    if (shown > options_.limit)
      remark(about(fmt::format(": {} more blocks differ", shown - options_.limit)));
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
    const std::uint64_t was = a.size() / isa::kRecordBytes, is = b.size() / isa::kRecordBytes;
    if (!options_.json) {
      line(fmt::format("{}: {}: {} -> {} records, {} removed, {} added", neff::printable(graph),
                       kEngineNames[engine], was, is, removed, added));
      print_changes(a, b, changes);
      return;
    }
    begin({"stream", graph});
    json_.member("engine", kEngineNames[engine]);
    json_.member("first_records", was);
    json_.member("second_records", is);
    json_.member("removed", removed);
    json_.member("added", added);
    write_changes(a, b, changes);
    json_.end_object();
  }

  void print_changes(std::span<const std::byte> a, std::span<const std::byte> b,
                     const std::vector<Change>& changes) {
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

  // As many as the text shows; counts are of all.
  void write_changes(std::span<const std::byte> a, std::span<const std::byte> b,
                     const std::vector<Change>& changes) {
    std::uint64_t shown = 0;
    json_.key("changes");
    json_.begin_array();
    for (const Change& c : changes) {
      if (shown >= options_.limit) break;
      const std::size_t left = options_.limit - shown;
      json_.begin_object();
      json_.member("first_record", std::uint64_t{c.a_first + 1});
      json_.member("second_record", std::uint64_t{c.b_first + 1});
      write_records("removed", a, a_.generation, c.a_first, std::min(c.a_count, left));
      write_records("added", b, b_.generation, c.b_first, std::min(c.b_count, left));
      json_.end_object();
      shown += c.a_count + c.b_count;
    }
    json_.end_array();
  }

  void write_records(std::string_view key, std::span<const std::byte> stream,
                     isa::Generation generation, std::size_t first, std::size_t count) {
    json_.key(key);
    json_.begin_array();
    for (std::size_t i = first; i < first + count; ++i)
      json_.text(json_text(isa::disassemble(record_at(stream, i), generation)));
    json_.end_array();
  }

  const Model& a_;
  const Model& b_;
  Options options_;
  neffkit::JsonWriter json_;
  bool different_ = false;
};

}  // namespace

int neff_diff(const Words& words) {
  const CommandLine line(
      {.command = "opennrt neff diff",
       .usage = "[options] A.neff B.neff",
       .header = "Compares two models by meaning.",
       .footer = "Exit code: 0 no difference, 1 differences, 2 trouble.",
       .trouble = kTrouble},
      {Option("context", "c", "records shown around a change (default 2)").argument("N"),
       Option("limit", "l", "changed records and blocks shown per stream and queue (default 40)")
           .argument("N"),
       Option("json", "j",
              "for programs: {first, second, differences: a list of {what, subgraph, name, detail, "
              "first, second}}; first and second are null where it is not there. A stream has "
              "{what, subgraph, engine, first_records, second_records, removed, added, changes: a "
              "list of {first_record, second_record, removed, added}}")});
  return line.run(words, [](const Arguments& arguments) {
    const Options options{static_cast<std::uint64_t>(arguments.number("context", 2)),
                          static_cast<std::uint64_t>(arguments.number("limit", 40)),
                          arguments.has("json")};
    arguments.want_words(2, 2);
    const Model a = need(open_and_load(arguments.words[0]));
    const Model b = need(open_and_load(arguments.words[1]));
    return Comparison(a, b, options).run() ? kDifferent : kSame;
  });
}

}  // namespace opennrt::tools
