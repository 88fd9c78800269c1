// SPDX-License-Identifier: Apache-2.0
#include "tdrv/model.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "log/log.h"
#include "opennrt/isa/support.h"
#include "opennrt/isa/table.h"
#include "tdrv/engine_label.h"
#include "tdrv/logical_core.h"
#include "tdrv/tables.h"

namespace opennrt::tdrv {
namespace {

constexpr std::uint64_t kUnplaced = UINT64_MAX;
constexpr std::uint64_t kPointerBytes = 8;
// One request's share of the exec ring; 14 queue sets with both sides need 897.
constexpr std::uint64_t kMaxIoTransfers = 1000;

const char* type_name(neff::VariableType type) {
  constexpr const char* kNames[] = {"state-buffer", "input",   "output", "file",      "tmp-buf",
                                    "virtual",      "pointer", "list",   "dge-table", "remote"};
  const auto i = static_cast<std::size_t>(type);
  return i < std::size(kNames) ? kNames[i] : "?";
}

// Pseudo-instructions whose meaning is partly our reading: one warning per model
// and opcode, or a refusal, as the device does for those that it executes.
Status accept_readings(const ImageSet& images, const neff::Subgraph& subgraph,
                       const nrtp_host& host) {
  std::set<std::uint8_t> opcodes;
  for (const Image& image : images) opcodes.insert(image.readings.begin(), image.readings.end());
  if (opcodes.empty()) return Status::ok();
  char setting[16] = "";
  const bool refuse = host.config_get != nullptr &&
                      host.config_get(host.self, "emulator.unconfirmed_instructions", setting,
                                      sizeof setting) == NRTP_OK &&
                      std::string_view(setting) == "refuse";
  for (const std::uint8_t opcode : opcodes) {
    const char* name = isa::find_instruction(opcode)->name;
    const char* reading = isa::device_reading(opcode);
    if (refuse) {
      return Status::invalid(
          "{}: {} is refused because part of its meaning is a reading ({}); "
          "emulator.unconfirmed_instructions: run executes it",
          subgraph.name, name, reading);
    }
    ONRT_LOG(kTdrv, kWarn,
             "{}: {} ({:#04x}) is loaded by a reading that nothing confirms: {}; "
             "emulator.unconfirmed_instructions: refuse refuses it",
             subgraph.name, name, opcode, reading);
  }
  return Status::ok();
}

}  // namespace

ModelImpl::ModelImpl(std::shared_ptr<const neff::Program> program, LogicalCore& logical,
                     std::uint32_t model_id)
    : program_(std::move(program)), logical_(&logical), model_id_(model_id) {}

ModelImpl::~ModelImpl() { release(); }

std::uint32_t ModelImpl::logical_core() const { return logical_->index; }

void ModelImpl::release() {
  if (released_) return;
  released_ = true;
  leave_store();
  cache_.clear();
  for (auto it = cores_.rbegin(); it != cores_.rend(); ++it) {
    for (const DmemPtr& memory : (*it)->memory)
      logical_->software.forget((*it)->core->device().index(), memory->address(), memory->size());
    for (const DmemPtr& memory : (*it)->images.memory)
      if (memory)
        logical_->software.forget((*it)->core->device().index(), memory->address(), memory->size());
    if ((*it)->allocator) (*it)->allocator->release_all();
    // The regions belong to the core: others may still be placed on them.
    (*it)->scratchpad.reset();
    (*it)->shared_scratchpad.reset();
    (*it)->weights.reset();
  }
}

Status ModelImpl::stage(std::uint32_t form) {
  const std::size_t graphs = program_->subgraphs.size();
  if (graphs != 1 && graphs != logical_->cores.size()) {
    return Status::invalid(
        "model '{}': insufficient number of pncs: {} subgraphs, logical core {} consists of {} "
        "physical core(s); set NEURON_LOGICAL_NC_CONFIG={}",
        program_->name, graphs, logical_->index, logical_->cores.size(), graphs);
  }
  // A program of one subgraph runs on the first core and leaves the others idle.
  for (std::size_t rank = 0; rank < graphs; ++rank) {
    CoreNode* const core = logical_->cores[rank];
    auto share = std::make_unique<CoreModel>();
    share->core = core;
    share->allocator = Allocator::make(
        core->device().pool(), core->core(), core->channel(),
        fmt::format("model {} on [ND {}][NC {}]", model_id_, core->device().index(), core->core()));
    if (logical_->share_weights && program_->uuid != decltype(program_->uuid){}) {
      const WeightRegistry::Key key{.uuid = program_->uuid,
                                    .subgraph = static_cast<std::uint32_t>(rank),
                                    .channel = core->channel()};
      share->weights = core->device().weights().get(key, [&] {
        return std::make_shared<SharedWeights>(
            Allocator::make(core->device().pool(), core->core(), core->channel(),
                            fmt::format("weights of model {}", program_->name)),
            logical_->software);
      });
    }
    cores_.push_back(std::move(share));
  }
  const auto staged = [&]() -> Status {
    for (std::size_t rank = 0; rank < cores_.size(); ++rank) {
      ONRT_TRY(place_variables(*cores_[rank], program_->subgraphs[rank]));
    }
    for (std::size_t rank = 0; rank < cores_.size(); ++rank) {
      for (const neff::Variable& v : program_->subgraphs[rank].variables) {
        if (!v.remote) continue;
        if (v.remote->subgraph >= cores_.size() ||
            v.remote->var_id >= cores_[v.remote->subgraph]->variable_address.size()) {
          return Status::invalid("variable '{}' refers to subgraph {} variable {}", v.name,
                                 v.remote->subgraph, v.remote->var_id);
        }
        cores_[rank]->variable_address[v.var_id] =
            cores_[v.remote->subgraph]->variable_address[v.remote->var_id];
      }
    }
    for (std::size_t rank = 0; rank < cores_.size(); ++rank) {
      ONRT_TRY(place_queues(*cores_[rank], program_->subgraphs[rank]));
      ONRT_TRY(place_images(*cores_[rank], program_->subgraphs[rank],
                            static_cast<std::uint32_t>(rank), form));
    }
    return Status::ok();
  };
  for (const neff::Subgraph& graph : program_->subgraphs) {
    // Where the registers of silicon take it is not published.
    if (!logical_->software.present() || !graph.fp8 || !graph.fp8->range_extension) continue;
    ONRT_LOG(kTdrv, kInfo,
             "model '{}': fp8_conversion_config of {} has no effect here: FP8 numbers with four "
             "exponent bits reach 240, not {}",
             program_->name, graph.name, graph.fp8->emax_e4m3 == 8 ? "448" : "further");
  }
  Status status = staged();
  if (!status.is_ok()) {
    release();
    return std::move(status).with_context(fmt::format("model '{}'", program_->name));
  }
  errors_at_load_ = logical_->cores.front()->device().memory_errors();
  enter_store();
  if (logical_->software.checks_anything()) name_ranges();
  if (logical_->software.inspects()) announce_for_inspection();
  return Status::ok();
}

void ModelImpl::name_ranges() const {
  for (std::size_t rank = 0; rank < cores_.size(); ++rank) {
    const CoreModel& core = *cores_[rank];
    const std::uint32_t device = core.core->device().index();
    for (const neff::Variable& v : program_->subgraphs[rank].variables) {
      const std::uint64_t address = core.variable_address[v.var_id];
      if (v.type == neff::VariableType::kStateBuffer || address == kUnplaced) continue;
      logical_->software.name(device, address, v.size, v.name);
    }
    for (std::size_t e = 0; e < neff::kEngines; ++e)
      if (core.images.memory[e])
        logical_->software.name(
            device, core.images.address[e], core.images.memory[e]->size(),
            fmt::format("{} image of {}", engine_label(static_cast<std::uint32_t>(e)),
                        program_->name));
  }
}

void ModelImpl::announce_for_inspection() const {
  for (std::size_t rank = 0; rank < cores_.size(); ++rank) {
    const CoreModel& core = *cores_[rank];
    const std::uint32_t device = core.core->device().index(), index = core.core->core();
    for (const neff::Variable& v : program_->subgraphs[rank].variables) {
      const std::uint64_t address = core.variable_address[v.var_id];
      if (v.type == neff::VariableType::kStateBuffer || address == kUnplaced) continue;
      logical_->software.variable(device, index, address, v.size, v.name);
    }
    for (std::uint32_t e = 0; e < neff::kEngines; ++e) {
      if (!core.images.memory[e]) continue;
      const ImageLayout& layout = core.images.layout[e];
      logical_->software.image(device, index, e, rank, core.images.address[e], layout.bytes,
                               runs_text(layout));
    }
  }
}

// --- variables ------------------------------------------------------------------

Status ModelImpl::place_variables(CoreModel& core, const neff::Subgraph& subgraph) {
  core.variable_address.assign(subgraph.variables.size(), kUnplaced);
  ONRT_TRY(place_scratchpad(core, subgraph));
  for (const neff::Variable& v : subgraph.variables) {
    ONRT_TRY(place_variable(core, v, core.variable_address[v.var_id]));
  }
  return Status::ok();
}

// Slices of one backing overlap freely; those of different backings do not.
Status ModelImpl::place_scratchpad(CoreModel& core, const neff::Subgraph& subgraph) {
  constexpr std::uint64_t kBoundary = 64ull << 10;
  std::uint64_t main = 0, local = 0, shared = 0;
  for (const neff::Variable& v : subgraph.variables) {
    if (v.type != neff::VariableType::kVirtual) continue;
    if (v.backing == neff::BackingBuffer::kSharded) {
      return Status::invalid(
          "variable '{}': backing_buf \"sharded\" is not supported by this release; main, local "
          "and shared are",
          v.name);
    }
    std::uint64_t& bytes = v.backing == neff::BackingBuffer::kShared  ? shared
                           : v.backing == neff::BackingBuffer::kLocal ? local
                                                                      : main;
    bytes = std::max(bytes, v.backing_offset + v.size);
  }
  core.local_scratchpad_offset = local == 0 ? 0 : (main + kBoundary - 1) / kBoundary * kBoundary;
  const std::uint64_t own = local == 0 ? main : core.local_scratchpad_offset + local;
  if (own != 0) {
    ONRT_ASSIGN(core.scratchpad, core.core->scratchpad().acquire(own));
  }
  if (shared != 0) {
    ONRT_ASSIGN(core.shared_scratchpad, logical_->shared_scratchpad.acquire(shared));
  }
  return Status::ok();
}

Status ModelImpl::place_variable(CoreModel& core, const neff::Variable& v, std::uint64_t& address) {
  const Bindings& bindings = core.core->bindings();
  switch (v.type) {
    case neff::VariableType::kStateBuffer:
      address = bindings.arch->address->local_to_device(bindings.product, core.core->core(), 0);
      return Status::ok();
    case neff::VariableType::kInput:
    case neff::VariableType::kOutput:
    case neff::VariableType::kRemote:
      return Status::ok();  // bound per execution, or resolved afterwards
    case neff::VariableType::kVirtual: {
      const bool shared = v.backing == neff::BackingBuffer::kShared;
      const DmemPtr& region = shared ? core.shared_scratchpad : core.scratchpad;
      address = region->address() + v.backing_offset;
      if (v.backing == neff::BackingBuffer::kLocal) address += core.local_scratchpad_offset;
      return Status::ok();
    }
    case neff::VariableType::kFile:
    case neff::VariableType::kTmpBuf: {
      const bool weight = v.type == neff::VariableType::kFile;
      if (weight && core.weights) {
        ONRT_ASSIGN(address, core.weights->place(v));
        if (address != kUnplaced) return Status::ok();
      }
      ONRT_ASSIGN(DmemPtr memory,
                  core.allocator->allocate({.bytes = std::max<std::uint64_t>(v.size, 1),
                                            .alignment = v.alignment,
                                            .usage = weight ? Usage::kWeight : Usage::kSpill,
                                            .hint = v.name}));
      if (weight) ONRT_TRY(memory->copy_in(0, v.content.data(), v.content.size()));
      address = memory->address();
      core.memory.push_back(std::move(memory));
      return Status::ok();
    }
    case neff::VariableType::kPointer: {
      // Filled when all variables have their place, or per execution.
      ONRT_ASSIGN(DmemPtr cell,
                  core.allocator->allocate(
                      {.bytes = kPointerBytes, .usage = Usage::kGeneric, .hint = v.name}));
      address = cell->address();
      core.memory.push_back(std::move(cell));
      return Status::ok();
    }
    case neff::VariableType::kList:
    case neff::VariableType::kDgeTable:
      return Status::ok();  // lists of variables; the argument table is built per execution
  }
  return Status::failure("variable '{}' has an unknown type", v.name);
}

// Pointers hold the address of their variable. Those to caller tensors are
// written by the IO switch of each execution.
Status ModelImpl::place_pointers(CoreModel& core, const neff::Subgraph& subgraph,
                                 std::span<const std::uint32_t> binding_of) {
  for (const neff::Variable& v : subgraph.variables) {
    if (v.type != neff::VariableType::kPointer) continue;
    const std::uint32_t target = v.referenced_var_id;
    if (target >= core.variable_address.size()) {
      return Status::invalid("pointer '{}' refers to variable {}, which does not exist", v.name,
                             target);
    }
    const std::uint64_t cell = core.variable_address[v.var_id];
    if (binding_of[target] != UINT32_MAX) {
      core.io.add_pointer(cell, binding_of[target]);
      continue;
    }
    const std::uint64_t address = core.variable_address[target];
    if (address == kUnplaced) {
      return Status::invalid("pointer '{}' refers to '{}', a variable without an address", v.name,
                             subgraph.variables[target].name);
    }
    const auto memory = std::find_if(core.memory.begin(), core.memory.end(),
                                     [&](const DmemPtr& m) { return m->address() == cell; });
    ONRT_TRY((*memory)->copy_in(0, &address, sizeof address));
  }
  return Status::ok();
}

// The dge-table names variables; generated DMA finds their addresses in a table
// whose own address the image loads from a cell.
Status ModelImpl::place_argument_table(CoreModel& core, const neff::Subgraph& subgraph,
                                       std::span<const std::uint32_t> binding_of) {
  const neff::Variable* table = nullptr;
  for (const neff::Variable& v : subgraph.variables) {
    if (v.type != neff::VariableType::kDgeTable) continue;
    if (table != nullptr) {
      return Status::invalid("variables '{}' and '{}' of {} are dge-tables; one is supported",
                             table->name, v.name, subgraph.name);
    }
    table = &v;
  }
  if (table == nullptr) return Status::ok();
  std::vector<IoTemplate::TableEntry> entries;
  for (const std::uint32_t id : table->list) {
    if (id >= core.variable_address.size()) {
      return Status::invalid("dge-table '{}' lists variable {}, which does not exist", table->name,
                             id);
    }
    if (binding_of[id] == UINT32_MAX && core.variable_address[id] == kUnplaced) {
      return Status::invalid("dge-table '{}' lists '{}', a variable without an address",
                             table->name, subgraph.variables[id].name);
    }
    entries.push_back({binding_of[id], core.variable_address[id]});
  }
  ONRT_ASSIGN(core.argument_table,
              core.allocator->allocate({.bytes = 64, .hint = "argument table pointer"}));
  core.io.set_argument_table(core.argument_table->address(), std::move(entries));
  return Status::ok();
}

Result<std::vector<std::uint32_t>> ModelImpl::bind_variables(const neff::Subgraph& subgraph) const {
  const auto index_of = [](const std::vector<neff::TensorInfo>& list, const std::string& name) {
    const auto found =
        std::find_if(list.begin(), list.end(), [&](const auto& t) { return t.name == name; });
    return found == list.end() ? UINT32_MAX : static_cast<std::uint32_t>(found - list.begin());
  };
  std::vector<std::uint32_t> binding(subgraph.variables.size(), UINT32_MAX);
  for (const neff::Variable& own : subgraph.variables) {
    const neff::Variable& v =
        own.remote ? program_->subgraphs[own.remote->subgraph].variables[own.remote->var_id] : own;
    std::uint32_t index = UINT32_MAX;
    if (v.type == neff::VariableType::kInput) {
      index = index_of(program_->inputs, v.name);
    } else if (v.type == neff::VariableType::kOutput) {
      index = index_of(program_->outputs, v.name);
      if (index != UINT32_MAX) index += static_cast<std::uint32_t>(program_->inputs.size());
    } else {
      continue;
    }
    if (index == UINT32_MAX) {
      return Status::invalid(
          "variable '{}' of subgraph {} is an {}, but the model has none of that "
          "name",
          v.name, subgraph.name, type_name(v.type));
    }
    binding[own.var_id] = index;
  }
  return binding;
}

// The other core of a program on two; its own on one.
const CoreNode& ModelImpl::peer_of(const CoreModel& core) const {
  return *(cores_.front().get() == &core ? cores_.back() : cores_.front())->core;
}

// --- queues ---------------------------------------------------------------------

Status ModelImpl::place_queues(CoreModel& core, const neff::Subgraph& subgraph) {
  const Bindings& bindings = core.core->bindings();
  ONRT_ASSIGN(
      const std::vector<std::uint32_t> numbers,
      assign_hardware_queues(subgraph, *bindings.arch, *bindings.product, core.core->core()));
  ONRT_ASSIGN(const std::vector<std::uint32_t> binding_of, bind_variables(subgraph));
  ONRT_ASSIGN(DmemPtr filler, core.allocator->allocate({.bytes = 64, .hint = "ring filler word"}));
  RingInputs inputs;
  inputs.arch = bindings.arch;
  inputs.product = bindings.product;
  inputs.core = core.core->core();
  inputs.platform = bindings.platform;
  inputs.subgraph = &subgraph;
  inputs.variable_address = core.variable_address;
  inputs.filler_pa = filler->address();
  // Rings of equal length are filled up with writes to it, in any order.
  logical_->software.ignore(core.core->device().index(), filler->address(), filler->size());
  if (cores_.size() > 1) inputs.peer_core = peer_of(core).core();
  core.memory.push_back(std::move(filler));

  // Hardware queue order: images set queues up and the IO switch serves them in it.
  std::vector<std::size_t> order(subgraph.queues.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return numbers[a] < numbers[b]; });
  for (const std::size_t i : order) {
    const neff::QueueSet& set = subgraph.queues[i];
    const auto placed = [&]() -> Status {
      ONRT_TRY(core.core->ensure_model_queue(numbers[i]));
      ONRT_ASSIGN(const std::vector<QueueRings> instances, build_instance_rings(set, inputs));
      QueuePlacement placement;
      placement.set = &set;
      placement.hardware_queue = numbers[i];
      placement.caller_sources = instances.front().caller_sources;
      placement.caller_destinations = instances.front().caller_destinations;
      placement.more.resize(instances.size() - 1);
      for (std::size_t n = 0; n < instances.size(); ++n) {
        ONRT_TRY(place_static_rings(core, instances[n], placement,
                                    n == 0 ? placement : placement.more[n - 1]));
      }
      if (placement.is_io()) {
        ONRT_TRY(core.io.add_queue(*core.core, numbers[i], instances.front(), binding_of));
      }
      core.queues.push_back(std::move(placement));
      return Status::ok();
    };
    Status status = placed();
    if (!status.is_ok()) return std::move(status).with_context(fmt::format("queue '{}'", set.name));
  }
  ONRT_TRY(place_pointers(core, subgraph, binding_of));
  ONRT_TRY(place_argument_table(core, subgraph, binding_of));
  // The images release a fixed count of packets: it must be what is staged.
  const std::uint64_t staged = core.io.transfers() + 1;
  const std::uint32_t released =
      io_switch_packets(core.queues, queue_rings(*core.core->bindings().arch),
                        core.argument_table != nullptr, core.io.bound_pointers());
  if (released != staged) {
    return Status::failure("subgraph {}: {} IO switch packets are staged, the images release {}",
                           subgraph.name, staged, released);
  }
  if (staged > kMaxIoTransfers) {
    return Status::resource(
        "subgraph {}: an execution needs {} IO switch packets, the limit is {}: fewer pointers to "
        "inputs and outputs",
        subgraph.name, staged, kMaxIoTransfers);
  }
  core.io_words.configure(core.allocator, core.io.words());
  return Status::ok();
}

Status ModelImpl::place_static_rings(CoreModel& core, const QueueRings& rings,
                                     const QueuePlacement& placement, RingPlacement& out) {
  out.blocks = rings.blocks;
  for (const BlockCounts& b : rings.blocks) out.total_s2m += b.s2m;
  RingImage image;
  std::array<std::uint64_t, kMaxRings> m2s{}, s2m{};
  for (std::uint32_t i = 0; i < kMaxRings; ++i) {
    if (!placement.caller_sources) m2s[i] = image.add(rings.rings[i].tx);
    if (!placement.caller_destinations) s2m[i] = image.add(rings.rings[i].rx);
  }
  if (image.empty()) return Status::ok();
  ONRT_ASSIGN(DmemPtr memory,
              core.allocator->allocate(
                  {.bytes = image.bytes().size(),
                   .alignment = RingImage::kBoundary,
                   .usage = placement.is_io() ? Usage::kDmaRingIo : Usage::kDmaRingSpill,
                   .hint = placement.set->name}));
  ONRT_TRY(memory->copy_in(0, image.bytes().data(), image.bytes().size()));
  for (std::uint32_t i = 0; i < kMaxRings; ++i) {
    if (!placement.caller_sources) out.m2s_base[i] = memory->address() + m2s[i];
    if (!placement.caller_destinations) out.s2m_base[i] = memory->address() + s2m[i];
  }
  core.memory.push_back(std::move(memory));
  return Status::ok();
}

// --- images ---------------------------------------------------------------------

Status ModelImpl::place_images(CoreModel& core, const neff::Subgraph& subgraph, std::uint32_t rank,
                               std::uint32_t form) {
  const Bindings& bindings = core.core->bindings();
  const nrtp_arch_plugin& arch = *bindings.arch;
  ONRT_ASSIGN(const std::vector<TablePart> dve, dve_tables(arch, subgraph));
  if (!dve.empty()) {
    ONRT_TRY(core.core->ensure_table_queue(NRTP_RING_DVE_TABLES));
    ONRT_ASSIGN(core.dve, place_table_ring(*core.core, core.allocator, dve,
                                           arch.sync->id[NRTP_SYNC_DVE_TABLES_LOAD],
                                           arch.tables->dve_kick, Usage::kActTable, core.memory));
  }
  ONRT_ASSIGN(const std::vector<TablePart> act, act_tables(arch, subgraph));
  if (!act.empty()) {
    ONRT_TRY(core.core->ensure_table_queue(NRTP_RING_ACT_TABLES));
    ONRT_ASSIGN(core.act, place_table_ring(*core.core, core.allocator, act,
                                           arch.sync->id[NRTP_SYNC_ACT_TABLES_LOAD],
                                           arch.tables->act_kick, Usage::kActTable, core.memory));
  }
  ImageInputs inputs;
  inputs.arch = bindings.arch;
  inputs.product = bindings.product;
  inputs.form = form;
  inputs.core = core.core->core();
  inputs.lnc_rank = rank;
  // Cores that run the program together; alone, a core waits for no peer.
  inputs.lnc_size = static_cast<std::uint32_t>(cores_.size());
  inputs.peer_core = peer_of(core).core();
  inputs.request_pa = core.core->exec().request_pa();
  core.core->name_library(inputs);
  inputs.subgraph = &subgraph;
  inputs.queues = core.queues;
  inputs.dve = core.dve;
  inputs.act = core.act;
  inputs.variable_address = core.variable_address;
  if (core.argument_table) inputs.argument_table_pa = core.argument_table->address();
  inputs.bound_pointers = core.io.bound_pointers();
  ONRT_ASSIGN(const ImageSet images, assemble_images(inputs));
  ONRT_TRY(accept_readings(images, subgraph, *bindings.host));
  ONRT_ASSIGN(core.images, core.core->upload(images, core.allocator, program_->name));
  return Status::ok();
}

// --- bound rings ----------------------------------------------------------------

Result<std::shared_ptr<IoBinding>> ModelImpl::io_binding(std::span<const std::uint64_t> key) {
  if (auto present = cache_.find(key); present != nullptr) return present;
  auto fresh = std::make_shared<IoBinding>();
  fresh->key.assign(key.begin(), key.end());
  for (auto& core : cores_) {
    auto rings = std::make_unique<IoRingSet>();
    ONRT_TRY(rings->build(*core->core, core->io, core->allocator, core->io_words, key));
    fresh->per_core.push_back(std::move(rings));
  }
  return cache_.insert(std::move(fresh));
}

}  // namespace opennrt::tdrv
