// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>

#include "data_types.h"
#include "opennrt/neffkit/neffkit.h"
#include "source_reader.h"

namespace opennrt::neffkit {
namespace {

constexpr std::size_t kLongestName = 64;
constexpr std::size_t kLongestQueueName = 31;  // 32 bytes in a trigger record
constexpr std::uint64_t kAny = UINT64_MAX;
constexpr std::uint64_t kLargestTensor = std::uint64_t{1} << 40;

class Parser {
 public:
  Parser(const SourceReader& reader, Program* program) : in_(reader), program_(program) {}

  bool program(const YAML::Node& root) {
    if (!in_.check_map(
            root, "the program",
            {"name", "target", "silicon", "feature_bits", "inputs", "outputs", "subgraphs"})) {
      return false;
    }
    std::string target;
    if (!in_.text(root, "name", true, &program_->name) ||
        !in_.name(root["name"], program_->name, kLongestName) ||
        !in_.text(root, "target", true, &target) ||
        !in_.number(root, "feature_bits", false, kAny, &program_->feature_bits)) {
      return false;
    }
    if (!families(root, target)) return false;
    if (!tensors(root, "inputs", &program_->inputs) ||
        !tensors(root, "outputs", &program_->outputs)) {
      return false;
    }
    YAML::Node list;
    if (!in_.sequence(root, "subgraphs", &list)) return false;
    for (const auto& node : list) {
      if (!subgraph(node)) return false;
    }
    return true;
  }

 private:
  // The target is a built-in family, or silicon that the source describes.
  bool families(const YAML::Node& root, const std::string& target) {
    const auto generation = isa::find_generation(target);
    const YAML::Node node = root["silicon"];
    if (generation.has_value() == node.IsDefined()) {
      return in_.fail(root["target"],
                      generation ? "target '" + target + "' is built in: 'silicon' is for others"
                                 : "unknown target '" + target +
                                       "'; known: sunda cayman mariana, others need 'silicon'");
    }
    if (generation) {
      program_->target = *generation;
      return true;
    }
    program_->silicon.emplace().target = target;
    return in_.name(root["target"], target, kLongestName) && silicon(node, &*program_->silicon);
  }

  bool silicon(const YAML::Node& node, Silicon* out) {
    std::string layouts;
    std::uint64_t partitions = out->sbuf_partitions, semaphores = out->semaphores;
    if (!in_.check_map(node, "silicon",
                       {"layouts", "sbuf_partitions", "sbuf_partition_stride",
                        "sbuf_partition_bytes", "semaphores", "instructions"}) ||
        !in_.text(node, "layouts", true, &layouts) ||
        !in_.number(node, "sbuf_partitions", false, 128, &partitions) ||
        !in_.number(node, "sbuf_partition_stride", true, std::uint64_t{1} << 28,
                    &out->sbuf_partition_stride) ||
        !in_.number(node, "sbuf_partition_bytes", true, out->sbuf_partition_stride,
                    &out->sbuf_partition_bytes) ||
        !in_.number(node, "semaphores", false, 256, &semaphores)) {
      return false;
    }
    const auto generation = isa::find_generation(layouts);
    if (!generation) {
      return in_.fail(node["layouts"],
                      "unknown layouts '" + layouts + "'; known: sunda cayman mariana");
    }
    if (partitions == 0 || out->sbuf_partition_bytes == 0 || semaphores == 0) {
      return in_.fail(node, "silicon without partitions, partition bytes or semaphores");
    }
    program_->target = *generation;
    out->sbuf_partitions = static_cast<std::uint32_t>(partitions);
    out->semaphores = static_cast<std::uint32_t>(semaphores);
    YAML::Node list;
    if (!in_.sequence(node, "instructions", &list)) return false;
    for (const auto& item : list) {
      if (!own_instruction(item, out)) return false;
    }
    return true;
  }

  bool own_instruction(const YAML::Node& node, Silicon* out) {
    auto layout = std::make_shared<Silicon::OwnedLayout>();
    std::uint64_t opcode = 0;
    YAML::Node engines, fields;
    if (!in_.check_map(node, "an instruction", {"name", "opcode", "engines", "fields"}) ||
        !in_.text(node, "name", true, &layout->name) ||
        !in_.name(node["name"], layout->name, kLongestName) ||
        !in_.number(node, "opcode", true, 255, &opcode) ||
        !in_.sequence(node, "engines", &engines) || !in_.sequence(node, "fields", &fields)) {
      return false;
    }
    isa::Instruction i{};
    i.opcode = static_cast<std::uint8_t>(opcode);
    i.kind = isa::Kind::kExecutable;
    i.generations = isa::generation_bit(program_->target);
    for (const auto& item : engines) {
      std::uint32_t e = 0;
      if (!engine(item, item.IsScalar() ? item.Scalar() : std::string(), &e)) return false;
      i.engines = static_cast<std::uint8_t>(i.engines | 1u << e);
    }
    if (i.engines == 0) return in_.fail(node, layout->name + " runs on no engine");
    for (const isa::Instruction& other : out->instructions) {
      if (other.opcode == i.opcode || other.name == layout->name) {
        return in_.fail(node, layout->name + ": its name or opcode is that of " + other.name);
      }
    }
    layout->field_names.reserve(fields.size());
    std::uint64_t used = (1u << sizeof(isa::Header)) - 1;
    for (const auto& item : fields) {
      if (!own_field(item, layout.get(), &used)) return false;
    }
    layout->layout = {layout->name.c_str(), layout->fields.data(), layout->fields.size(),
                      i.generations, isa::Confidence::kDocumented};
    i.name = layout->name.c_str();
    i.layouts[static_cast<std::size_t>(program_->target)] = &layout->layout;
    out->instructions.push_back(i);
    out->owned.push_back(std::move(layout));
    return true;
  }

  bool own_field(const YAML::Node& node, Silicon::OwnedLayout* out, std::uint64_t* used) {
    static constexpr struct {
      const char* name;
      std::uint8_t width;
      isa::FieldKind kind;
    } kTypes[] = {{"u8", 1, isa::FieldKind::kUnsigned},  {"u16", 2, isa::FieldKind::kUnsigned},
                  {"u32", 4, isa::FieldKind::kUnsigned}, {"u64", 8, isa::FieldKind::kUnsigned},
                  {"i8", 1, isa::FieldKind::kSigned},    {"i16", 2, isa::FieldKind::kSigned},
                  {"i32", 4, isa::FieldKind::kSigned},   {"f32", 4, isa::FieldKind::kFloat}};
    std::string name, type;
    std::uint64_t offset = 0, count = 1;
    if (!in_.check_map(node, "a field", {"name", "offset", "type", "count"}) ||
        !in_.text(node, "name", true, &name) || !in_.name(node["name"], name, kLongestName) ||
        !in_.text(node, "type", true, &type) ||
        !in_.number(node, "offset", true, isa::kRecordBytes - 1, &offset) ||
        !in_.number(node, "count", false, isa::kRecordBytes, &count)) {
      return false;
    }
    const auto* known = std::find_if(std::begin(kTypes), std::end(kTypes),
                                     [&](const auto& t) { return type == t.name; });
    if (known == std::end(kTypes)) {
      return in_.fail(node["type"],
                      "unknown type '" + type + "'; known: u8 u16 u32 u64 i8 i16 i32 f32");
    }
    const std::uint64_t bytes = count * known->width;
    if (count == 0 || offset + bytes > isa::kRecordBytes) {
      return in_.fail(node, "field " + name + " does not fit the 64 bytes of a record");
    }
    for (std::uint64_t at = offset; at < offset + bytes; ++at) {
      if ((*used >> at & 1) != 0) {
        return in_.fail(node, "field " + name + ": byte " + std::to_string(at) +
                                  (at < sizeof(isa::Header) ? " belongs to the head of the record"
                                                            : " belongs to another field"));
      }
      *used |= std::uint64_t{1} << at;
    }
    out->field_names.push_back(name);
    out->fields.push_back({out->field_names.back().c_str(), static_cast<std::uint8_t>(offset),
                           known->width, static_cast<std::uint8_t>(count), known->kind, nullptr});
    return true;
  }

  bool tensors(const YAML::Node& root, const char* key, std::vector<Tensor>* out) {
    YAML::Node list;
    if (!in_.sequence(root, key, &list)) return false;
    for (const auto& node : list) {
      Tensor t;
      t.line = SourceReader::line_of(node);
      if (!in_.check_map(node, "a tensor", {"name", "dtype", "shape"}) ||
          !in_.text(node, "name", true, &t.name) || !in_.name(node["name"], t.name, kLongestName) ||
          !in_.text(node, "dtype", true, &t.dtype) ||
          !in_.numbers(node, "shape", true, UINT32_MAX, &t.shape)) {
        return false;
      }
      t.bytes = data_type_bytes(t.dtype);
      if (t.bytes == 0) return in_.fail(node["dtype"], "unknown data type '" + t.dtype + "'");
      for (std::uint64_t size : t.shape) {
        if (size == 0) return in_.fail(node["shape"], "a dimension of size 0");
        if (size > kLargestTensor / t.bytes) {
          return in_.fail(node["shape"], "tensor '" + t.name + "' is larger than 1 TiB");
        }
        t.bytes *= size;
      }
      out->push_back(std::move(t));
    }
    return true;
  }

  bool subgraph(const YAML::Node& node) {
    Subgraph sg;
    std::uint64_t events = sg.runtime_events;
    std::uint64_t semaphores = sg.runtime_semaphores;
    if (!in_.check_map(node, "a subgraph",
                       {"name", "runtime_events", "runtime_semaphores", "variables", "queues",
                        "blocks", "engines"}) ||
        !in_.text(node, "name", true, &sg.name) || !in_.name(node["name"], sg.name, kLongestName) ||
        !in_.number(node, "runtime_events", false, 255, &events) ||
        !in_.number(node, "runtime_semaphores", false, 255, &semaphores)) {
      return false;
    }
    sg.runtime_events = static_cast<std::uint32_t>(events);
    sg.runtime_semaphores = static_cast<std::uint32_t>(semaphores);
    YAML::Node list;
    if (!in_.sequence(node, "variables", &list)) return false;
    for (const auto& item : list) {
      if (!variable(item, &sg)) return false;
    }
    if (!in_.sequence(node, "queues", &list)) return false;
    for (const auto& item : list) {
      if (!queue(item, &sg)) return false;
    }
    if (!in_.sequence(node, "blocks", &list)) return false;
    for (const auto& item : list) {
      if (!block(item, &sg)) return false;
    }
    if (!engines(node, &sg)) return false;
    program_->subgraphs.push_back(std::move(sg));
    return true;
  }

  bool variable(const YAML::Node& node, Subgraph* sg) {
    Variable v;
    v.line = SourceReader::line_of(node);
    if (!in_.check_map(
            node, "a variable",
            {"name", "type", "size", "alignment", "backing_offset", "dtype", "values", "repeat"}) ||
        !in_.text(node, "name", true, &v.name) || !in_.name(node["name"], v.name, kLongestName) ||
        !in_.text(node, "type", true, &v.type) ||
        !in_.number(node, "size", false, kLargestTensor, &v.size) ||
        !in_.number(node, "alignment", false, kLargestTensor, &v.alignment) ||
        !in_.number(node, "backing_offset", false, kLargestTensor, &v.backing_offset)) {
      return false;
    }
    if (v.type != "file" && v.type != "tmp-buf" && v.type != "virtual") {
      return in_.fail(node["type"],
                      "unknown variable type '" + v.type + "'; known: file tmp-buf virtual");
    }
    if (v.type == "file") {
      if (!content(node, &v)) return false;
    } else if (v.size == 0) {
      return in_.fail(node, "variable '" + v.name + "' needs a size");
    }
    sg->variables.push_back(std::move(v));
    return true;
  }

  // Bytes of a file variable: a list of values, given `repeat` times.
  bool content(const YAML::Node& node, Variable* v) {
    std::string dtype;
    std::vector<double> values;
    std::uint64_t repeat = 1;
    if (!in_.text(node, "dtype", true, &dtype) || !in_.reals(node, "values", &values) ||
        !in_.number(node, "repeat", false, kLargestTensor, &repeat)) {
      return false;
    }
    if (values.empty() || repeat == 0) {
      return in_.fail(node, "file variable '" + v->name + "' needs values");
    }
    const std::uint32_t width = data_type_bytes(dtype);
    if (dtype != "float32" && dtype != "int32" && dtype != "uint8") {
      return in_.fail(node["dtype"], "values of type '" + dtype +
                                         "' are not supported; use float32, int32 or uint8");
    }
    constexpr std::uint64_t kLargestContent = std::uint64_t{1} << 28;
    if (repeat > kLargestContent / (width * values.size())) {
      return in_.fail(node, "file variable '" + v->name + "' is larger than 256 MiB");
    }
    std::vector<std::uint8_t> once;
    for (double value : values) {
      if (dtype != "float32" && !integer_fits(value, dtype)) {
        return in_.fail(node["values"], std::to_string(value) + " is not a value of " + dtype);
      }
      std::uint8_t bytes[4] = {};
      if (dtype == "float32") {
        const auto f = static_cast<float>(value);
        std::memcpy(bytes, &f, sizeof f);
      } else {
        const auto i = static_cast<std::int32_t>(value);
        std::memcpy(bytes, &i, sizeof i);
      }
      once.insert(once.end(), bytes, bytes + width);
    }
    v->content.reserve(once.size() * repeat);
    for (std::uint64_t i = 0; i < repeat; ++i) {
      v->content.insert(v->content.end(), once.begin(), once.end());
    }
    if (v->size != 0 && v->size != v->content.size()) {
      return in_.fail(node["size"], "size is " + std::to_string(v->size) + ", the values take " +
                                        std::to_string(v->content.size()) + " bytes");
    }
    v->size = v->content.size();
    return true;
  }

  static bool integer_fits(double value, const std::string& dtype) {
    if (value != std::floor(value)) return false;
    return dtype == "uint8" ? value >= 0 && value <= 255 : value >= INT32_MIN && value <= INT32_MAX;
  }

  bool queue(const YAML::Node& node, Subgraph* sg) {
    QueueSet q;
    q.line = SourceReader::line_of(node);
    std::string owner;
    std::uint64_t rings = q.num_queues;
    std::vector<std::uint64_t> semaphores;
    if (!in_.check_map(node, "a queue", {"name", "type", "owner", "num_queues", "semaphores"}) ||
        !in_.text(node, "name", true, &q.name) ||
        !in_.name(node["name"], q.name, kLongestQueueName) ||
        !in_.text(node, "type", true, &q.type) || !in_.text(node, "owner", true, &owner) ||
        !in_.number(node, "num_queues", false, 16, &rings) ||
        !in_.numbers(node, "semaphores", true, 255, &semaphores)) {
      return false;
    }
    if (q.type != "in" && q.type != "out" && q.type != "data" && q.type != "dynamic") {
      return in_.fail(node["type"],
                      "unknown queue type '" + q.type + "'; known: in out data dynamic");
    }
    if (rings == 0) return in_.fail(node["num_queues"], "num_queues must be 1..16");
    if (!engine(node["owner"], owner, &q.owner)) return false;
    q.num_queues = static_cast<std::uint32_t>(rings);
    for (std::uint64_t s : semaphores) q.semaphores.push_back(static_cast<std::uint32_t>(s));
    sg->queues.push_back(std::move(q));
    return true;
  }

  bool engine(const YAML::Node& at, const std::string& text, std::uint32_t* out) {
    const auto* found = std::find(kEngineNames.begin(), kEngineNames.end(), text);
    if (found == kEngineNames.end()) {
      return in_.fail(at, "unknown engine '" + text + "'; known: pe act pool dve sp");
    }
    *out = static_cast<std::uint32_t>(found - kEngineNames.begin());
    return true;
  }

  bool block(const YAML::Node& node, Subgraph* sg) {
    Block b;
    b.line = SourceReader::line_of(node);
    std::uint64_t id = 0;
    std::uint64_t semaphore = 0;
    if (!in_.check_map(node, "a block", {"queue", "id", "semaphore", "descriptors"}) ||
        !in_.text(node, "queue", true, &b.queue) ||
        !in_.number(node, "id", true, UINT32_MAX, &id) ||
        !in_.number(node, "semaphore", true, 255, &semaphore)) {
      return false;
    }
    b.id = static_cast<std::uint32_t>(id);
    b.semaphore = static_cast<std::uint32_t>(semaphore);
    YAML::Node list;
    if (!in_.sequence(node, "descriptors", &list)) return false;
    for (const auto& item : list) {
      Descriptor d;
      if (!descriptor(item, &d)) return false;
      b.descriptors.push_back(std::move(d));
    }
    sg->blocks.push_back(std::move(b));
    return true;
  }

  bool descriptor(const YAML::Node& node, Descriptor* d) {
    d->line = SourceReader::line_of(node);
    if (!in_.check_map(node, "a descriptor", {"op", "from", "to", "scale", "constant"}) ||
        !in_.text(node, "op", false, &d->op) || !in_.reals(node, "scale", &d->scale)) {
      return false;
    }
    static constexpr std::array<std::string_view, 6> kOps = {"copy", "cast", "add",
                                                             "min",  "max",  "fma"};
    if (std::find(kOps.begin(), kOps.end(), d->op) == kOps.end()) {
      return in_.fail(node["op"],
                      "unknown operation '" + d->op + "'; known: copy cast add min max fma");
    }
    if (node["constant"].IsDefined()) {
      YAML::Node list(YAML::NodeType::Map);
      list["constant"].push_back(node["constant"]);
      std::vector<double> values;
      if (!in_.reals(list, "constant", &values)) return false;
      d->constant = values.front();
    }
    const YAML::Node from = node["from"];
    const YAML::Node to = node["to"];
    if (!from.IsDefined() || !to.IsDefined()) {
      return in_.fail(node, "a descriptor needs 'from' and 'to'");
    }
    if (from.IsSequence()) {
      for (const auto& item : from) {
        if (!pattern(item, &d->from.emplace_back())) return false;
      }
    } else if (!pattern(from, &d->from.emplace_back())) {
      return false;
    }
    return pattern(to, &d->to);
  }

  bool pattern(const YAML::Node& node, Pattern* p) {
    p->line = SourceReader::line_of(node);
    return in_.check_map(node, "an access pattern",
                         {"variable", "offset", "sizes", "steps", "dtype"}) &&
           in_.text(node, "variable", true, &p->variable) &&
           in_.number(node, "offset", false, kLargestTensor, &p->offset) &&
           in_.numbers(node, "sizes", true, kLargestTensor, &p->sizes) &&
           in_.signed_numbers(node, "steps", true, &p->steps) &&
           in_.text(node, "dtype", false, &p->dtype);
  }

  bool engines(const YAML::Node& node, Subgraph* sg) {
    const YAML::Node map = node["engines"];
    if (map.IsDefined() && !in_.check_map(map, "engines", {"pe", "act", "pool", "dve", "sp"})) {
      return false;
    }
    for (std::size_t e = 0; e < kEngines; ++e) {
      YAML::Node lines;
      if (!map.IsDefined()) {
        lines.reset(YAML::Node(YAML::NodeType::Sequence));
      } else if (!in_.sequence(map, kEngineNames[e], &lines)) {
        return false;
      }
      if (!stream(lines, kEngineNames[e], &sg->streams[e])) return false;
    }
    return true;
  }

  // An engine without a program gets the records every stream begins with.
  bool stream(const YAML::Node& lines, const char* engine_name, std::vector<Record>* out) {
    if (lines.size() == 0) {
      out->push_back({*isa::assemble("SET_ORDERING_MODE", program_->target, nullptr), 0});
      if (program_->target != isa::Generation::kSunda) {
        out->push_back({*isa::assemble("PSEUDO_BRANCH_LABEL", program_->target, nullptr), 0});
      }
      return true;
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const YAML::Node line = lines[i];
      const std::string where = std::string(engine_name) + "[" + std::to_string(i) + "]: ";
      if (!line.IsScalar()) return in_.fail(line, where + "an instruction must be one text");
      std::string problem;
      const auto record = isa::assemble(
          line.Scalar(), program_->target, &problem,
          program_->silicon ? std::span<const isa::Instruction>(program_->silicon->instructions)
                            : std::span<const isa::Instruction>());
      if (!record) return in_.fail(line, where + problem);
      out->push_back({*record, SourceReader::line_of(line)});
    }
    return true;
  }

  const SourceReader& in_;
  Program* program_;
};

}  // namespace

bool parse_program(std::string_view text, std::string_view source, Program* out,
                   std::string* error) {
  const SourceReader reader(source, error);
  *out = Program{};
  out->source = std::string(source);
  // The library reports syntax errors by exception only.
  try {
    return Parser(reader, out).program(YAML::Load(std::string(text)));
  } catch (const YAML::Exception& e) {
    return reader.fail(e.mark.line + 1, e.msg);
  }
}

}  // namespace opennrt::neffkit
