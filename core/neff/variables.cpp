// SPDX-License-Identifier: Apache-2.0
#include "neff/variables.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <utility>

#include "log/log.h"
#include "neff/constants.h"

namespace opennrt::neff {
namespace {

constexpr std::size_t kMaxVariableName = NRT_TENSOR_NAME_MAX - 1;
constexpr std::size_t kMaxMemberName = 4096;
constexpr std::uint64_t kMaxAlignment = std::uint64_t{1} << 30;
constexpr std::uint64_t kPointerBytes = 8;

struct TypeName {
  std::string_view name;
  VariableType type;
};
constexpr TypeName kTypes[] = {
    {"state-buffer", VariableType::kStateBuffer},
    {"input", VariableType::kInput},
    {"output", VariableType::kOutput},
    {"file", VariableType::kFile},
    {"tmp-buf", VariableType::kTmpBuf},
    {"virtual", VariableType::kVirtual},
    {"pointer", VariableType::kPointer},
    {"list", VariableType::kList},
    {"dge-table", VariableType::kDgeTable},
    {"remote", VariableType::kRemote},
};

constexpr std::pair<std::string_view, BackingBuffer> kBackings[] = {
    {"local", BackingBuffer::kLocal},
    {"shared", BackingBuffer::kShared},
    {"sharded", BackingBuffer::kSharded},
    {"main", BackingBuffer::kMain},
};

class VariableReader {
 public:
  VariableReader(MemberTable& members, const LoadLimits& limits, const Manifest& manifest,
                 SubgraphReader& reader)
      : members_(members), limits_(limits), manifest_(manifest), reader_(reader) {}

  Status run() {
    const Json& root = reader_.document->root();
    ONRT_ASSIGN(const Json section, root.require("var"));
    std::vector<Variable> found;
    ONRT_TRY(section.for_each_member([&](std::string_view name, const Json& item) {
      Variable variable;
      ONRT_TRY(read(name, item, variable));
      found.push_back(std::move(variable));
      return Status::ok();
    }));
    ONRT_TRY(order_by_id(section, std::move(found)));
    ONRT_TRY(check_references(section));
    const auto& variables = reader_.graph.variables;
    if (std::none_of(variables.begin(), variables.end(),
                     [](const Variable& v) { return v.type == VariableType::kOutput; }))
      return section.invalid("no outputs: the subgraph has no variable of type \"output\"");
    return Status::ok();
  }

 private:
  Status read(std::string_view name, const Json& item, Variable& variable) {
    ONRT_TRY(item.expect_object());
    if (name.empty() || name.size() > kMaxVariableName || name.find('\0') != std::string_view::npos)
      return item.invalid("variable name {}: must have 1 to {} bytes", quote(name),
                          kMaxVariableName);
    variable.name = name;
    ONRT_TRY(read_type(item, variable));
    ONRT_ASSIGN(const Json id, item.require("var_id"));
    ONRT_ASSIGN(const std::uint64_t number, id.integer(0, kMaxU32));
    variable.var_id = static_cast<std::uint32_t>(number);
    ONRT_TRY(read_alignment(item, variable));
    ONRT_TRY(note_operations(name, item));
    switch (variable.type) {
      case VariableType::kStateBuffer:
        variable.size = limits_.sbuf_partition_stride * limits_.sbuf_partitions;
        return Status::ok();
      case VariableType::kInput:
        ONRT_TRY(read_size(item, variable));
        return check_tensor(item, variable, manifest_.inputs, "input");
      case VariableType::kOutput:
        ONRT_TRY(read_size(item, variable));
        return check_tensor(item, variable, manifest_.outputs, "output");
      case VariableType::kFile:
        ONRT_TRY(read_size(item, variable));
        return read_content(item, variable);
      case VariableType::kTmpBuf:
        return read_size(item, variable);
      case VariableType::kVirtual:
        return read_virtual(item, variable);
      case VariableType::kPointer:
        return read_pointer(item, variable);
      case VariableType::kList:
      case VariableType::kDgeTable:
        return read_list(item, variable);
      case VariableType::kRemote:
        return read_remote(name, item, variable);
    }
    return Status::ok();
  }

  static Status read_type(const Json& item, Variable& variable) {
    ONRT_ASSIGN(const Json type, item.require("type"));
    ONRT_ASSIGN(const std::string_view text, type.text());
    for (const TypeName& known : kTypes) {
      if (known.name != text) continue;
      variable.type = known.type;
      return Status::ok();
    }
    return type.invalid("{}: unknown type of variable", quote(text));
  }

  // Files have the key with an empty list. What stands in others is not published.
  static Status note_operations(std::string_view name, const Json& item) {
    const auto list = item.find("ops");
    if (!list) return Status::ok();
    std::size_t count = 0;
    ONRT_TRY(list->for_each_element([&](const Json&) {
      ++count;
      return Status::ok();
    }));
    if (count != 0)
      ONRT_LOG(kNeff, kWarn,
               "{}: variable {}: its {} operation(s) (key \"ops\") are not applied, its bytes are "
               "used as they are",
               printable(item.member()), quote(name), count);
    return Status::ok();
  }

  static Status read_size(const Json& item, Variable& variable) {
    ONRT_ASSIGN(const Json size, item.require("size"));
    ONRT_ASSIGN(variable.size, size.integer(1, kMaxBytes));
    return Status::ok();
  }

  static Status read_alignment(const Json& item, Variable& variable) {
    const auto alignment = item.find("alignment");
    if (!alignment) return Status::ok();
    ONRT_ASSIGN(variable.alignment, alignment->integer(0, kMaxAlignment));
    if (variable.alignment != 0 && !std::has_single_bit(variable.alignment))
      return alignment->wrong("a power of two");
    return Status::ok();
  }

  // The manifest lists the tensor with the same size and direction.
  Status check_tensor(const Json& item, const Variable& variable,
                      const std::vector<TensorInfo>& tensors, const char* direction) const {
    const auto it = std::lower_bound(
        tensors.begin(), tensors.end(), variable.name,
        [](const TensorInfo& info, const std::string& name) { return info.name < name; });
    if (it == tensors.end() || it->name != variable.name)
      return item.invalid("{} {} is not an {} in {}", direction, quote(variable.name), direction,
                          manifest_.io_member);
    if (it->size != variable.size)
      return item.invalid("size {}: {} gives {} bytes to {} {}", variable.size, manifest_.io_member,
                          it->size, direction, quote(variable.name));
    return Status::ok();
  }

  Status read_content(const Json& item, Variable& variable) {
    ONRT_ASSIGN(const Json file, item.require("file_name"));
    ONRT_ASSIGN(const std::string_view name, file.name(kMaxMemberName));
    const std::string member_name = sibling(reader_.definition, name);
    const Member* member = members_.keep(member_name);
    if (!member) return file.invalid("member {} is not in the NEFF", quote(member_name));
    ONRT_ASSIGN(variable.content, constant_data(file, member_name, member->bytes(), variable.size));
    return Status::ok();
  }

  Status read_virtual(const Json& item, Variable& variable) {
    ONRT_TRY(read_size(item, variable));
    ONRT_ASSIGN(const Json offset, item.require("backing_variable_off"));
    ONRT_ASSIGN(variable.backing_offset, offset.integer(0, kMaxBytes));
    const auto backing = item.find("backing_buf");
    if (backing) {
      ONRT_ASSIGN(const std::string_view text, backing->text());
      const auto known = std::find_if(std::begin(kBackings), std::end(kBackings),
                                      [&](const auto& row) { return row.first == text; });
      if (known == std::end(kBackings))
        return backing->invalid("{}: must be local, shared, sharded or main", quote(text));
      variable.backing = known->second;
      if (variable.backing == BackingBuffer::kSharded)
        return backing->invalid("{}: not supported by this release", quote(text));
    }
    reader_.graph.scratchpad_bytes =
        std::max(reader_.graph.scratchpad_bytes, variable.backing_offset + variable.size);
    return Status::ok();
  }

  static Status read_pointer(const Json& item, Variable& variable) {
    ONRT_TRY(read_size(item, variable));
    if (variable.size != kPointerBytes)
      return item.invalid("size {}: a pointer has {} bytes", variable.size, kPointerBytes);
    ONRT_ASSIGN(const Json target, item.require("referenced_var_id"));
    ONRT_ASSIGN(const std::uint64_t id, target.integer(0, kMaxU32));
    variable.referenced_var_id = static_cast<std::uint32_t>(id);
    return Status::ok();
  }

  static Status read_list(const Json& item, Variable& variable) {
    ONRT_ASSIGN(const Json list, item.require("list"));
    ONRT_TRY(list.for_each_element([&](const Json& element) {
      ONRT_ASSIGN(const std::uint64_t id, element.integer(0, kMaxU32));
      variable.list.push_back(static_cast<std::uint32_t>(id));
      return Status::ok();
    }));
    variable.size = variable.list.size() * kPointerBytes;
    return Status::ok();
  }

  // "SB{1}": variable SB of subgraph 1.
  Status read_remote(std::string_view name, const Json& item, Variable& variable) {
    const std::size_t open = name.rfind('{');
    std::uint32_t subgraph = 0;
    if (open != std::string_view::npos && open != 0 && name.ends_with('}')) {
      const char* last = name.data() + name.size() - 1;
      const auto parsed = std::from_chars(name.data() + open + 1, last, subgraph);
      if (parsed.ec == std::errc() && parsed.ptr == last) {
        if (subgraph >= manifest_.graphs.size())
          return item.invalid("{}: names subgraph {}, the model has {}", quote(name), subgraph,
                              manifest_.graphs.size());
        variable.remote = RemoteReference{subgraph, 0};
        return Status::ok();
      }
    }
    return item.invalid("{}: a remote variable is named <variable>{{<subgraph>}}", quote(name));
  }

  // The value of a variable that was read; slow, for messages.
  static std::optional<Json> at(const Json& section, const Variable& variable) {
    return section.find(variable.name);
  }

  // Ids are dense: 0 to n-1, each once.
  Status order_by_id(const Json& section, std::vector<Variable> found) {
    auto& variables = reader_.graph.variables;
    variables.resize(found.size());
    std::vector<const std::string*> owner(found.size());
    for (Variable& variable : found) {
      if (variable.var_id >= found.size())
        return at(section, variable)
            ->invalid("var_id {}: {} variables need the ids 0 to {}", variable.var_id, found.size(),
                      found.size() - 1);
      if (owner[variable.var_id])
        return at(section, variable)
            ->invalid("var_id {} is also that of {}", variable.var_id,
                      quote(*owner[variable.var_id]));
      const std::uint32_t id = variable.var_id;
      variables[id] = std::move(variable);
      owner[id] = &variables[id].name;
    }
    for (const Variable& variable : variables)
      reader_.variable_ids.emplace(variable.name, variable.var_id);
    return Status::ok();
  }

  Status check_references(const Json& section) const {
    const auto& variables = reader_.graph.variables;
    const Variable* table = nullptr;
    for (const Variable& variable : variables) {
      if (variable.type == VariableType::kDgeTable && std::exchange(table, &variable))
        return at(section, variable)->invalid("a second dge-table; one is supported");
      const auto bad = [&](std::uint32_t id) {
        return id >= variables.size() || id == variable.var_id ||
               variables[id].type == VariableType::kList ||
               variables[id].type == VariableType::kDgeTable;
      };
      const auto refuse = [&](std::uint32_t id, const char* key) {
        return at(section, variable)
            ->invalid("{} {}: must be the id of another variable that has an address, 0 to {}", key,
                      id, variables.size() - 1);
      };
      if (variable.type == VariableType::kPointer && bad(variable.referenced_var_id))
        return refuse(variable.referenced_var_id, "referenced_var_id");
      for (const std::uint32_t id : variable.list)
        if (bad(id)) return refuse(id, "list");
    }
    return Status::ok();
  }

  MemberTable& members_;
  const LoadLimits& limits_;
  const Manifest& manifest_;
  SubgraphReader& reader_;
};

}  // namespace

Status read_variables(MemberTable& members, const LoadLimits& limits, const Manifest& manifest,
                      SubgraphReader& reader) {
  return VariableReader(members, limits, manifest, reader).run();
}

Status resolve_remote_variables(std::vector<SubgraphReader>& readers) {
  for (SubgraphReader& reader : readers) {
    for (Variable& variable : reader.graph.variables) {
      if (variable.type != VariableType::kRemote) continue;
      const SubgraphReader& other = readers[variable.remote->subgraph];
      const std::string_view name =
          std::string_view(variable.name).substr(0, variable.name.rfind('{'));
      const auto id = other.variable_ids.find(name);
      const Variable* target =
          id == other.variable_ids.end() ? nullptr : &other.graph.variables[id->second];
      if (!target || target->type == VariableType::kRemote || target->type == VariableType::kList)
        return Status::invalid("{}: var[{}]: {} has no variable {} with an address",
                               printable(reader.definition), quote(variable.name),
                               printable(other.definition), quote(name));
      variable.remote->var_id = target->var_id;
      variable.size = target->size;
    }
  }
  return Status::ok();
}

}  // namespace opennrt::neff
