// SPDX-License-Identifier: Apache-2.0
//
// opennrt neff info.
#include <algorithm>

#include "json_writer.h"
#include "neff/commands.h"
#include "neff/model.h"
#include "neff/operands.h"
#include "neff/products.h"
#include "neff/stats.h"
#include "neff/text.h"
#include "output.h"

namespace opennrt::tools {
namespace {

struct Info {
  const Model& model;
  Figures figures;
  ProductSurvey survey;
};

struct Line {
  const char* text;
  const char* key;
  std::uint64_t MemoryFigures::* value;
};
constexpr Line kMemoryLines[] = {
    {"constants", "constants", &MemoryFigures::constants},
    {"scratchpad (shared)", "scratchpad", &MemoryFigures::scratchpad},
    {"private buffers", "buffers", &MemoryFigures::buffers},
    {"activation, DVE tables", "tables", &MemoryFigures::tables},
    {"instructions", "instructions", &MemoryFigures::instructions},
    {"DMA descriptors", "descriptors", &MemoryFigures::descriptors},
    {"SBUF of a partition", "sbuf_partition", &MemoryFigures::sbuf_partition},
    {"PSUM of a partition", "psum_partition", &MemoryFigures::psum_partition},
};

// Opcodes of one engine, the most frequent first, equal counts by opcode.
std::vector<std::pair<std::uint64_t, std::uint8_t>> mix_of(const EngineFigures& engine) {
  std::vector<std::pair<std::uint64_t, std::uint8_t>> mix;
  for (std::size_t op = 0; op < engine.opcodes.size(); ++op)
    if (engine.opcodes[op] != 0)
      mix.emplace_back(engine.opcodes[op], static_cast<std::uint8_t>(op));
  std::sort(mix.begin(), mix.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  return mix;
}

std::string opcode_text(std::uint8_t opcode) {
  const isa::Instruction* known = isa::find_instruction(opcode);
  return known != nullptr ? known->name : fmt::format("0x{:02X}", opcode);
}

std::string owner_text(const neff::QueueSet& queue) {
  return queue.owner ? kEngineNames[static_cast<std::size_t>(*queue.owner)] : "-";
}

// --- text -------------------------------------------------------------------

void print_tensors(const char* title, const std::vector<neff::TensorInfo>& tensors) {
  for (const neff::TensorInfo& t : tensors)
    print(fmt::format("{:<10} {}  {}[{}]  {} bytes\n", title, neff::quote(t.name),
                      dtype_name(t.dtype), fmt::join(t.shape, ", "), t.size));
}

void print_head(const Info& info) {
  const Model& m = info.model;
  const auto features = feature_names(m.header.feature_bits);
  print(fmt::format("file       {}  {} bytes, NEFF {}.{}, {}\n", m.path, m.file_bytes,
                    m.header.version_major, m.header.version_minor,
                    m.header.pkg_version == 1 ? "tar" : "gzipped tar"));
  print(fmt::format("name       {}\n", neff::quote(m.header.name)));
  print(fmt::format("uuid       {}\n", uuid_text(m.header.uuid)));
  print(fmt::format("hash       {}\n", m.hash.is_ok() ? "matches" : "does NOT match the payload"));
  print(fmt::format("target     {}, compiler {}\n", m.program.target,
                    m.program.compiler_version.empty()
                        ? "unknown"
                        : neff::printable(m.program.compiler_version)));
  print(fmt::format("cores      {} physical per logical core (lnc), {} subgraph{}\n",
                    m.program.lnc_size, m.program.subgraphs.size(),
                    m.program.subgraphs.size() == 1 ? "" : "s"));
  print(fmt::format("features   0x{:x}{}{}\n", m.header.feature_bits, features.empty() ? "" : "  ",
                    fmt::join(features, ", ")));
  print_tensors("input", m.program.inputs);
  print_tensors("output", m.program.outputs);
}

void print_memory(const Info& info) {
  const auto row = [&](std::string_view text, auto value) {
    std::string line = fmt::format("  {:<24}", text);
    for (const GraphFigures& g : info.figures.graphs) line += fmt::format(" {:>14}", value(g));
    print(line + "\n");
  };
  std::string head = fmt::format("{:<26}", "memory, bytes");
  for (const neff::Subgraph& g : info.model.program.subgraphs)
    head += fmt::format(" {:>14}", neff::printable(g.name, 14));
  print(head + "\n");
  for (const Line& line : kMemoryLines)
    row(line.text, [&](const GraphFigures& g) { return g.memory.*line.value; });
  print(fmt::format("  inputs {}, outputs {}, largest core {} with them\n",
                    info.figures.input_bytes, info.figures.output_bytes,
                    info.figures.largest_device_memory()));
  print(fmt::format("  a partition has {} bytes of SBUF on {}, {} of PSUM\n",
                    info.model.on_chip.sbuf_partition_bytes,
                    info.model.arch != nullptr ? info.model.arch->name
                                               : isa::generation_name(info.model.generation),
                    info.model.on_chip.psum_partition_bytes));
}

void print_instructions(const Info& info) {
  print("instructions\n");
  for (std::size_t g = 0; g < info.figures.graphs.size(); ++g) {
    for (std::size_t e = 0; e < neff::kEngines; ++e) {
      const EngineFigures& engine = info.figures.graphs[g].engines[e];
      std::string line = fmt::format("  {} {:<4} {:>9} ",
                                     neff::printable(info.model.program.subgraphs[g].name, 14),
                                     kEngineNames[e], engine.records);
      for (const auto& [count, opcode] : mix_of(engine))
        line += fmt::format(" {} {}", opcode_text(opcode), count);
      print(line + "\n");
    }
  }
}

void print_dma(const Info& info) {
  print("DMA queues\n");
  for (std::size_t g = 0; g < info.figures.graphs.size(); ++g) {
    const std::string name = neff::printable(info.model.program.subgraphs[g].name, 14);
    for (const QueueFigures& q : info.figures.graphs[g].queues)
      print(fmt::format(
          "  {} {:<18} {:<8} {:<4} {:>2} rings {:>7} blocks {:>8} descriptors "
          "{:>12} bytes\n",
          name, neff::printable(q.queue->name), queue_type_name(q.queue->type),
          owner_text(*q.queue), q.queue->num_queues, q.blocks, q.descriptors, q.bytes_written));
    const GraphFigures& figures = info.figures.graphs[g];
    if (figures.dynamic_copies != 0)
      print(fmt::format("  {} made at run time: {} copies, {} bytes\n", name,
                        figures.dynamic_copies, figures.dynamic_bytes));
  }
}

void print_work(const Info& info) {
  print("work\n");
  for (std::size_t g = 0; g < info.figures.graphs.size(); ++g) {
    const GraphFigures& figures = info.figures.graphs[g];
    std::uint64_t moved = figures.dynamic_bytes;
    for (const QueueFigures& q : figures.queues) moved += q.bytes_written;
    print(fmt::format(
        "  {} {} multiply-accumulates of PE, {} bytes moved by DMA, {} bytes read "
        "and written by engines{}\n",
        neff::printable(info.model.program.subgraphs[g].name, 14), figures.multiply_accumulates,
        moved, figures.engine_bytes,
        figures.unresolved_operands == 0
            ? ""
            : fmt::format(" and {} operands not known before a run", figures.unresolved_operands)));
  }
  if (info.model.program.mac_count != 0)
    print(fmt::format("  the compiler counted {} multiply-accumulates\n",
                      info.model.program.mac_count));
}

void print_products(const Info& info) {
  print("products\n");
  for (const ProductVerdict& p : info.survey.products)
    print(fmt::format("  {:<16} {:<12} {}\n", p.product, p.silicon,
                      p.reason.empty() ? "fits" : "no: " + p.reason));
  for (const std::string& note : info.survey.notes) print(fmt::format("  note: {}\n", note));
}

// --- JSON -------------------------------------------------------------------

void write_tensors(neffkit::JsonWriter& json, const char* key,
                   const std::vector<neff::TensorInfo>& tensors) {
  json.key(key);
  json.begin_array();
  for (const neff::TensorInfo& t : tensors) {
    json.begin_object();
    json.member("name", json_text(t.name));
    json.member("dtype", dtype_name(t.dtype));
    json.key("shape");
    json.numbers(t.shape);
    json.member("bytes", t.size);
    json.end_object();
  }
  json.end_array();
}

void write_queues(neffkit::JsonWriter& json, const GraphFigures& graph) {
  json.key("queues");
  json.begin_array();
  for (const QueueFigures& q : graph.queues) {
    json.begin_object();
    json.member("name", json_text(q.queue->name));
    json.member("type", queue_type_name(q.queue->type));
    json.member("owner", owner_text(*q.queue));
    json.member("rings", std::uint64_t{q.queue->num_queues});
    json.member("blocks", q.blocks);
    json.member("descriptors", q.descriptors);
    json.member("bytes_read", q.bytes_read);
    json.member("bytes_written", q.bytes_written);
    json.end_object();
  }
  json.end_array();
}

void write_graph(neffkit::JsonWriter& json, const std::string& name, const GraphFigures& graph) {
  json.begin_object();
  json.member("name", json_text(name));
  json.key("memory");
  json.begin_object();
  for (const Line& line : kMemoryLines) json.member(line.key, graph.memory.*line.value);
  json.end_object();
  json.key("engines");
  json.begin_object();
  for (std::size_t e = 0; e < neff::kEngines; ++e) {
    json.key(kEngineNames[e]);
    json.begin_object();
    json.member("records", graph.engines[e].records);
    json.key("instructions");
    json.begin_object();
    for (const auto& [count, opcode] : mix_of(graph.engines[e]))
      json.member(opcode_text(opcode), count);
    json.end_object();
    json.end_object();
  }
  json.end_object();
  write_queues(json, graph);
  json.member("dynamic_copies", graph.dynamic_copies);
  json.member("dynamic_bytes", graph.dynamic_bytes);
  json.member("multiply_accumulates", graph.multiply_accumulates);
  json.member("engine_bytes", graph.engine_bytes);
  json.member("unresolved_operands", graph.unresolved_operands);
  json.end_object();
}

void print_json(const Info& info) {
  const Model& m = info.model;
  neffkit::JsonWriter json;
  json.begin_object();
  json.member("file", json_text(m.path));
  json.member("file_bytes", m.file_bytes);
  json.member("name", json_text(m.header.name));
  json.member("uuid", uuid_text(m.header.uuid));
  json.member("package", m.header.pkg_version);
  json.member("version", fmt::format("{}.{}", m.header.version_major, m.header.version_minor));
  json.key("hash_matches");
  json.boolean(m.hash.is_ok());
  json.member("target", json_text(m.program.target));
  json.member("compiler", json_text(m.program.compiler_version));
  json.member("lnc", std::uint64_t{m.program.lnc_size});
  json.member("feature_bits", m.header.feature_bits);
  json.key("features");
  json.begin_array();
  for (const std::string& name : feature_names(m.header.feature_bits)) json.text(name);
  json.end_array();
  write_tensors(json, "inputs", m.program.inputs);
  write_tensors(json, "outputs", m.program.outputs);
  json.member("compiler_multiply_accumulates", m.program.mac_count);
  json.key("subgraphs");
  json.begin_array();
  for (std::size_t g = 0; g < info.figures.graphs.size(); ++g)
    write_graph(json, m.program.subgraphs[g].name, info.figures.graphs[g]);
  json.end_array();
  json.key("products");
  json.begin_array();
  for (const ProductVerdict& p : info.survey.products) {
    json.begin_object();
    json.member("product", p.product);
    json.member("silicon", p.silicon);
    json.member("arch", p.arch);
    json.key("fits");
    json.boolean(p.reason.empty());
    if (!p.reason.empty()) json.member("reason", json_text(p.reason));
    json.end_object();
  }
  json.end_array();
  json.key("notes");
  json.begin_array();
  for (const std::string& note : info.survey.notes) json.text(json_text(note));
  json.end_array();
  json.end_object();
  print(json.str() + "\n");
}

}  // namespace

int neff_info(const Words& words) {
  const CommandLine line(
      {.command = "opennrt neff info",
       .usage = "[options] MODEL.neff",
       .header =
           "What a model is and what it needs: target, compiler, features, inputs and outputs, "
           "memory, instructions, DMA queues, and the products it fits, of the arch plugins that "
           "are installed."},
      {Option(
          "json", "j",
          "for programs: {file, file_bytes, name, uuid, package, version, hash_matches, target, "
          "compiler, lnc, feature_bits, features, inputs, outputs, "
          "compiler_multiply_accumulates, subgraphs, products, notes}")});
  return line.run(words, [](const Arguments& arguments) {
    const Model model = need(open_and_load(arguments.only_word("MODEL.neff")));
    Info info{model, count(model), {}};
    info.survey = survey_products(model, info.figures);
    if (arguments.has("json")) {
      print_json(info);
    } else {
      print_head(info);
      print_memory(info);
      print_instructions(info);
      print_dma(info);
      print_work(info);
      print_products(info);
    }
    return kDone;
  });
}

}  // namespace opennrt::tools
