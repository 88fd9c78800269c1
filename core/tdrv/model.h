// SPDX-License-Identifier: Apache-2.0
//
// A program staged on one logical core: per physical core its variables, rings
// and images; shared by all its executions the cache of bound IO rings.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "tdrv/core_node.h"
#include "tdrv/io_rings.h"
#include "tdrv/tdrv.h"

namespace opennrt::tdrv {

struct LogicalCore;

// One physical core's share of a model.
struct CoreModel {
  CoreNode* core = nullptr;
  int store_slot = -1;  // of its record in the data store, -1: none
  // First declared, last freed: everything below lives in it.
  std::shared_ptr<Allocator> allocator;
  std::vector<DmemPtr> memory;             // variables, static rings, tables
  std::shared_ptr<SharedWeights> weights;  // NULL: the constants are in `memory`
  // Regions that `virtual` variables are slices of; NULL = none.
  DmemPtr scratchpad, shared_scratchpad;
  DmemPtr argument_table;                     // cell with the address of the bound argument table
  std::uint64_t local_scratchpad_offset = 0;  // of the `local` slices in `scratchpad`
  std::vector<std::uint64_t> variable_address;
  std::vector<QueuePlacement> queues;
  TableRing dve, act;
  PlacedImages images;
  IoTemplate io;
  HostWords io_words;
};

class ModelImpl final : public Model, public std::enable_shared_from_this<ModelImpl> {
 public:
  ModelImpl(std::shared_ptr<const neff::Program> program, LogicalCore& logical,
            std::uint32_t model_id);
  ~ModelImpl() override;

  const neff::Program& program() const override { return *program_; }
  std::uint32_t logical_core() const override;
  std::uint32_t model_id() const override { return model_id_; }

  // Places everything on the device. On failure the object is dropped and with
  // it all it had placed.
  Status stage(std::uint32_t form);
  void release();
  bool released() const { return released_; }

  LogicalCore& logical() const { return *logical_; }
  std::vector<std::unique_ptr<CoreModel>>& cores() { return cores_; }
  // Rings for these device addresses (inputs, then outputs). A cache hit
  // allocates nothing and makes no driver call.
  Result<std::shared_ptr<IoBinding>> io_binding(std::span<const std::uint64_t> key);
  IoBindingCache& cache() { return cache_; }
  // Counters of the device before the first run; nullopt: not known.
  const std::optional<nrtp_ndl_memory_errors>& errors_at_load() const { return errors_at_load_; }

  std::atomic<std::uint32_t> executions{0};  // bound and not finished

 private:
  // For the findings of a software device that checks programs.
  void name_ranges() const;
  // Records for monitoring programs.
  void enter_store();
  void leave_store();
  void announce_for_inspection() const;
  Status place_variables(CoreModel& core, const neff::Subgraph& subgraph);
  Status place_scratchpad(CoreModel& core, const neff::Subgraph& subgraph);
  Status place_pointers(CoreModel& core, const neff::Subgraph& subgraph,
                        std::span<const std::uint32_t> binding_of);
  Status place_argument_table(CoreModel& core, const neff::Subgraph& subgraph,
                              std::span<const std::uint32_t> binding_of);
  Status place_variable(CoreModel& core, const neff::Variable& variable, std::uint64_t& address);
  Status place_queues(CoreModel& core, const neff::Subgraph& subgraph);
  // Of one instance of `placement`.
  Status place_static_rings(CoreModel& core, const QueueRings& rings,
                            const QueuePlacement& placement, RingPlacement& out);
  Status place_images(CoreModel& core, const neff::Subgraph& subgraph, std::uint32_t rank,
                      std::uint32_t form);
  const CoreNode& peer_of(const CoreModel& core) const;
  Result<std::vector<std::uint32_t>> bind_variables(const neff::Subgraph& subgraph) const;

  std::shared_ptr<const neff::Program> program_;
  LogicalCore* logical_;
  std::uint32_t model_id_;
  bool released_ = false;
  std::optional<nrtp_ndl_memory_errors> errors_at_load_;
  std::vector<std::unique_ptr<CoreModel>> cores_;
  IoBindingCache cache_;  // after cores_: its rings go first
};

}  // namespace opennrt::tdrv
