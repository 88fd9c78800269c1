// SPDX-License-Identifier: Apache-2.0
//
// The JSON members of a NEFF and the files they name.
#include <array>

#include "json_writer.h"
#include "opennrt/neffkit/neffkit.h"

namespace opennrt::neffkit {
namespace {

// Stems of the engine members as compilers name them.
constexpr std::array<const char*, kEngines> kStems = {"PE", "Activation", "Pool", "DVE", "SP"};
constexpr std::size_t kDve = 3;
constexpr std::size_t kAct = 1;

struct DveTable {
  const char* key;
  const char* file;
  std::size_t bytes;
};
// A NEFF must carry these microcode tables. Ours are zero: the software device
// does not read them, and hardware does not run such a program.
// Other silicon has defaults in its plugin.
std::vector<DveTable> dve_tables(const Program& program) {
  if (program.silicon) return {};
  if (program.target == isa::Generation::kSunda) {
    return {{"opcode_table", "zero_opcode_table.bin", 2048},
            {"control_table", "zero_control_table.bin", 2048},
            {"datapath_table", "zero_datapath_table.bin", 8192}};
  }
  return {{"opcode_table", "zero_opcode_table.bin", 1024},
          {"control_fast_table", "zero_control_fast_table.bin", 4096},
          {"control_slow_table", "zero_control_slow_table.bin", 4096},
          {"datapath_table", "zero_datapath_table.bin", 16384}};
}

Member text_member(std::string name, const JsonWriter& json) {
  return {std::move(name), {json.str().begin(), json.str().end()}};
}

void tensor_names(JsonWriter* j, const std::vector<Tensor>& tensors) {
  j->begin_array();
  for (const Tensor& t : tensors) j->text(t.name);
  j->end_array();
}

// The graph of the program: one node per input, one for the whole program.
Member graph(const Program& p) {
  JsonWriter j;
  const std::uint64_t node = p.inputs.size();
  const auto reference = [&j](std::uint64_t n, std::uint64_t output) {
    j.numbers(std::array<std::uint64_t, 3>{n, output, 0});
  };
  j.begin_object();
  j.key("nodes");
  j.begin_array();
  for (const Tensor& t : p.inputs) {
    j.begin_object();
    j.member("op", "null");
    j.member("name", t.name);
    j.key("inputs");
    j.begin_array();
    j.end_array();
    j.key("output_names");
    j.begin_array();
    j.text(t.name);
    j.end_array();
    j.member("is_param", "0");
    j.end_object();
  }
  j.begin_object();
  j.member("op", "tvm_op");
  j.member("name", "sg_coreV10");
  j.key("attrs");
  j.begin_object();
  j.member("func_name", "__kelf");
  j.member("flatten_data", "0");
  j.member("num_inputs", std::to_string(p.inputs.size()));
  j.member("kelf", "kelf-0.json");
  j.member("num_outputs", std::to_string(p.outputs.size()));
  j.end_object();
  j.key("inputs");
  j.begin_array();
  for (std::uint64_t i = 0; i < p.inputs.size(); ++i) reference(i, 0);
  j.end_array();
  j.key("output_names");
  tensor_names(&j, p.outputs);
  j.end_object();
  j.end_array();
  j.key("arg_nodes");
  j.begin_array();
  for (std::uint64_t i = 0; i < p.inputs.size(); ++i) j.number(i);
  j.end_array();
  j.key("heads");
  j.begin_array();
  for (std::uint64_t i = 0; i < p.outputs.size(); ++i) reference(node, i);
  j.end_array();
  j.key("node_row_ptr");
  j.begin_array();
  for (std::uint64_t i = 0; i <= p.inputs.size(); ++i) j.number(i);
  j.number(p.inputs.size() + p.outputs.size());
  j.end_array();
  j.key("attrs");
  j.begin_object();
  j.key("dltype");
  j.begin_array();
  j.text("list_str");
  j.begin_array();
  for (const auto* list : {&p.inputs, &p.outputs}) {
    for (const Tensor& t : *list) j.text(t.dtype);
  }
  j.end_array();
  j.end_array();
  j.key("shape");
  j.begin_array();
  j.text("list_shape");
  j.begin_array();
  for (const auto* list : {&p.inputs, &p.outputs}) {
    for (const Tensor& t : *list) j.numbers(t.shape);
  }
  j.end_array();
  j.end_array();
  j.key("storage_id");
  j.begin_array();
  j.text("list_int");
  j.begin_array();
  for (std::uint64_t i = 0; i < p.inputs.size() + p.outputs.size(); ++i) j.number(i);
  j.end_array();
  j.end_array();
  j.end_object();
  j.end_object();
  return text_member("neff.json", j);
}

Member descriptor_of_graphs(const Program& p) {
  JsonWriter j;
  j.begin_object();
  j.member("version", "0.5");
  j.member("target", p.silicon ? p.silicon->target : isa::generation_name(p.target));
  j.key("graphs");
  j.begin_array();
  for (const Subgraph& sg : p.subgraphs) {
    j.begin_object();
    j.member("name", sg.name);
    j.member("definition", sg.name + "/def.json");
    j.end_object();
  }
  j.end_array();
  j.end_object();
  return text_member("kelf-0.json", j);
}

Member information(const Program& p) {
  JsonWriter j;
  j.begin_object();
  j.member("tool_version", std::string("opennrt-neffkit ") + OPENNRT_VERSION);
  j.member("kelp_version", "Dynamic");
  j.member("name", p.name + ".neff");
  j.member("num_tpb", 1);
  j.member("num_tpb_requested", 1);
  j.end_object();
  return text_member("info.json", j);
}

void variables(JsonWriter* j, const Program& p, const Subgraph& sg) {
  std::uint64_t id = 0;
  const auto begin = [&](const std::string& name, const std::string& type) {
    j->key(name);
    j->begin_object();
    j->member("type", type);
    j->member("var_id", id++);
  };
  j->key("var");
  j->begin_object();
  begin("SB", "state-buffer");
  j->end_object();
  for (const auto& [list, type] :
       {std::pair(&p.inputs, "input"), std::pair(&p.outputs, "output")}) {
    for (const Tensor& t : *list) {
      begin(t.name, type);
      j->member("size", t.bytes);
      j->end_object();
    }
  }
  for (const Variable& v : sg.variables) {
    begin(v.name, v.type);
    j->member("size", v.size);
    if (v.alignment != 0) j->member("alignment", v.alignment);
    if (v.type == "virtual") j->member("backing_variable_off", v.backing_offset);
    if (v.type == "file") j->member("file_name", v.name + ".bin");
    j->end_object();
  }
  j->end_object();
}

void queues(JsonWriter* j, const Subgraph& sg) {
  j->key("dma_queue");
  j->begin_object();
  for (const QueueSet& q : sg.queues) {
    j->key(q.name);
    j->begin_object();
    j->member("type", q.type);
    j->member("owner", kEngineNames[q.owner]);
    j->member("num_queues", q.num_queues);
    j->key("semaphore_set");
    j->numbers(q.semaphores);
    j->end_object();
  }
  j->end_object();
}

Member definition(const Program& p, const Subgraph& sg) {
  JsonWriter j;
  j.begin_object();
  j.member("name", "definition");
  j.member("version", "0.6");
  j.member("runtime_event_count", sg.runtime_events);
  j.member("runtime_semaphore_count", sg.runtime_semaphores);
  for (std::size_t e = 0; e < kEngines; ++e) {
    j.member(kEngineNames[e], std::string(kStems[e]) + ".json");
    j.member(std::string(kEngineNames[e]) + "_instr", std::string(kStems[e]) + ".bin");
  }
  // Newer families keep the last bytes of every partition for the runtime.
  if (!p.silicon && p.target != isa::Generation::kSunda) {
    const bool cayman = p.target == isa::Generation::kCayman;
    j.key("runtime_statebuffer_reservation");
    j.begin_array();
    j.begin_object();
    j.member("type", "evtaccel");
    j.member("offset", cayman ? 229368 : 262136);
    j.member("size", 8);
    j.member("base_partition", std::uint64_t{0});
    j.member("partitions", 128);
    j.end_object();
    j.end_array();
  }
  variables(&j, p, sg);
  queues(&j, sg);
  j.end_object();
  return text_member(sg.name + "/def.json", j);
}

void pattern(JsonWriter* j, const Pattern& p, const std::string& side) {
  j->member(side, p.variable);
  j->member(side + "_off", p.offset);
  j->key(side + "_sizes");
  j->numbers(p.sizes);
  j->key(side + "_steps");
  j->numbers(p.steps);
  j->member(side + "_dtype", p.dtype);
}

void descriptor(JsonWriter* j, const Descriptor& d) {
  j->begin_object();
  j->member("op", d.op);
  if (d.op == "copy" || d.op == "cast") {
    pattern(j, d.from[0], "from");
  } else {
    j->key("from_arr");
    j->begin_array();
    for (const Pattern& p : d.from) {
      j->begin_object();
      pattern(j, p, "from");
      j->end_object();
    }
    j->end_array();
  }
  pattern(j, d.to, "to");
  if (!d.scale.empty()) {
    j->key("scale");
    j->begin_array();
    for (double s : d.scale) j->real(s);
    j->end_array();
    j->member("scale_dtype", "float32");
  }
  if (d.constant) {
    j->key("constant");
    j->real(*d.constant);
    j->member("constant_dtype", "float32");
  }
  j->member("num_tiling_dimensions", d.to.sizes.size() > 3 ? 2 : 1);
  j->end_object();
}

Member engine(const Program& p, const Subgraph& sg, std::size_t e) {
  JsonWriter j;
  const std::string stem = kStems[e];
  j.begin_object();
  j.member("name", stem + ".json");
  j.member("instr", stem + ".bin");
  if (e == kAct) {
    j.key("activation_function_sets");
    j.begin_array();
    j.end_array();
  }
  if (e == kDve && !p.silicon) {
    j.key("dve_tables");
    j.begin_array();
    j.begin_object();
    for (const DveTable& table : dve_tables(p)) j.member(table.key, table.file);
    j.end_object();
    j.end_array();
  }
  j.key("dma");
  j.begin_array();
  for (const QueueSet& q : sg.queues) {
    if (q.owner != e) continue;
    for (const Block& b : sg.blocks) {
      if (b.queue != q.name) continue;
      j.begin_object();
      j.member("queue", b.queue);
      j.member("id", b.id);
      if (b.semaphore) j.member("semaphore", *b.semaphore);
      j.key("desc");
      j.begin_array();
      for (const Descriptor& d : b.descriptors) descriptor(&j, d);
      j.end_array();
      j.end_object();
    }
  }
  j.end_array();
  j.end_object();
  return text_member(sg.name + "/" + stem + ".json", j);
}

Member stream(const Subgraph& sg, std::size_t e) {
  Member m{sg.name + "/" + kStems[e] + ".bin", {}};
  for (const Record& r : sg.streams[e])
    m.bytes.insert(m.bytes.end(), r.bytes.begin(), r.bytes.end());
  return m;
}

}  // namespace

std::vector<Member> make_members(const Program& program) {
  std::vector<Member> members = {information(program), descriptor_of_graphs(program)};
  for (const Subgraph& sg : program.subgraphs) {
    members.push_back(definition(program, sg));
    for (std::size_t e = 0; e < kEngines; ++e) {
      members.push_back(engine(program, sg, e));
      members.push_back(stream(sg, e));
    }
    for (const DveTable& table : dve_tables(program)) {
      members.push_back({sg.name + "/" + table.file, std::vector<std::uint8_t>(table.bytes)});
    }
    for (const Variable& v : sg.variables) {
      if (v.type == "file") members.push_back({sg.name + "/" + v.name + ".bin", v.content});
    }
  }
  members.push_back(graph(program));
  return members;
}

}  // namespace opennrt::neffkit
