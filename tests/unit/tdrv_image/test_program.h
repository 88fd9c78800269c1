// SPDX-License-Identifier: Apache-2.0
//
// Small programs built by hand, and the sunda arch with variations.
#pragma once

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "neff/program.h"
#include "opennrt/arch.h"
#include "opennrt/isa/records.h"
#include "tdrv/image.h"
#include "tdrv/vring.h"

extern "C" const nrtp_arch_plugin* nrtp_arch_query(std::uint32_t, std::uint32_t);

namespace opennrt::tdrv::test {

inline constexpr std::uint64_t kCaller = UINT64_MAX;  // bound per execution

inline const nrtp_arch_plugin& sunda() {
  return *nrtp_arch_query(NRTP_ARCH_ABI_MAJOR, NRTP_ARCH_ABI_MINOR);
}

// sunda with replaced groups; steps of form 2.30 are those of 2.27 plus the
// POOL library records, so that the core's own 2.30 records can be seen.
struct ArchCopy {
  ArchCopy() : plugin(sunda()), ib(*plugin.ib), dma(*plugin.dma) {
    ib.form_mask |= NRTP_FORM_BIT_2_30;
    ib.step = step;
    plugin.ib = &ib;
    plugin.dma = &dma;
  }
  ArchCopy(const ArchCopy&) = delete;
  ArchCopy& operator=(const ArchCopy&) = delete;

  static int step(std::uint32_t which, const nrtp_ib_env* env, nrtp_ibuf* out) {
    if (env->form != NRTP_FORM_2_30) return sunda().ib->step(which, env, out);
    const bool load = which == NRTP_STEP_LIBRARY_LOAD, clear = which == NRTP_STEP_LIBRARY_CLEAR;
    if (load || clear) {
      if (env->engine != NRTP_ENGINE_POOL) return NRTP_OK;
      auto r = isa::zero_record<isa::ControlRecord>(isa::kOpPoolConfig);
      r.setter_signature = load ? 1 : 2;
      std::memcpy(out->p + out->len, &r, sizeof r);
      out->len += sizeof r;
      return NRTP_OK;
    }
    nrtp_ib_env older = *env;
    older.form = NRTP_FORM_2_27;
    return sunda().ib->step(which, &older, out);
  }

  nrtp_arch_plugin plugin;
  nrtp_arch_ib ib;
  nrtp_arch_dma dma;
};

// Owns the bytes its subgraph refers to.
class TestProgram {
 public:
  TestProgram() {
    sg.name = "sg00";
    for (std::size_t e = 0; e < neff::kEngines; ++e) {
      sg.stream_members[e] = "sg00/engine" + std::to_string(e) + ".bin";
      add(static_cast<neff::Engine>(e),
          isa::zero_record<isa::OrderingRecord>(isa::kOpSetOrderingMode));
    }
    sg.queues.reserve(32);  // placements keep pointers
  }
  TestProgram(const TestProgram&) = delete;
  TestProgram& operator=(const TestProgram&) = delete;

  template <typename Record>
  void add(neff::Engine engine, const Record& record) {
    auto& s = streams_[static_cast<std::size_t>(engine)];
    const auto* p = reinterpret_cast<const std::byte*>(&record);
    s.insert(s.end(), p, p + sizeof record);
    sg.streams[static_cast<std::size_t>(engine)] = s;
  }
  void clear_stream(neff::Engine engine) {
    streams_[static_cast<std::size_t>(engine)].clear();
    sg.streams[static_cast<std::size_t>(engine)] = {};
  }
  void add_trigger(neff::Engine engine, const std::string& queue, std::uint32_t block) {
    auto r = isa::zero_record<isa::DmaTriggerRecord>(isa::kOpPseudoDmaTrigger);
    std::memcpy(r.queue, queue.data(), std::min(queue.size(), sizeof r.queue));
    r.block_id = block;
    add(engine, r);
  }

  std::uint32_t add_variable(const std::string& name, neff::VariableType type, std::uint64_t size,
                             std::uint64_t address) {
    neff::Variable v;
    v.name = name;
    v.type = type;
    v.size = size;
    v.var_id = static_cast<std::uint32_t>(sg.variables.size());
    sg.variables.push_back(v);
    addresses.push_back(address);
    return v.var_id;
  }
  neff::QueueSet& add_set(const std::string& name, neff::QueueType type, neff::Engine owner) {
    neff::QueueSet set;
    set.name = name;
    set.type = type;
    set.owner = owner;
    set.num_queues = 16;
    sg.queues.push_back(set);
    return sg.queues.back();
  }

  Result<QueueRings> rings(const neff::QueueSet& set, const nrtp_arch_plugin& arch = sunda(),
                           std::uint32_t platform = NRTP_PLATFORM_EMULATOR,
                           std::optional<std::uint32_t> peer_core = std::nullopt) const {
    return build_queue_rings(set, {.arch = &arch,
                                   .product = arch.products,
                                   .core = 0,
                                   .platform = platform,
                                   .subgraph = &sg,
                                   .variable_address = addresses,
                                   .filler_pa = kFiller,
                                   .peer_core = peer_core});
  }

  // Inputs of assemble_images with every queue set placed.
  ImageInputs inputs(const nrtp_arch_plugin& arch = sunda(),
                     std::uint32_t form = NRTP_FORM_2_25) const {
    ImageInputs in;
    in.arch = &arch;
    in.product = arch.products;
    in.form = form;
    in.request_pa = kRequest;
    in.subgraph = &sg;
    in.variable_address = addresses;
    in.dve = {.present = true, .m2s_base = 0x70000000, .s2m_base = 0x70001000};
    in.queues.resize(sg.queues.size());
    const auto numbers = assign_hardware_queues(sg, arch, *arch.products, 0);
    for (std::size_t i = 0; numbers.is_ok() && i < sg.queues.size(); ++i) {
      const std::uint32_t q = (*numbers)[i];
      const auto built = build_instance_rings(sg.queues[i], {.arch = &arch,
                                                             .product = arch.products,
                                                             .core = 0,
                                                             .platform = NRTP_PLATFORM_EMULATOR,
                                                             .subgraph = &sg,
                                                             .variable_address = addresses,
                                                             .filler_pa = kFiller,
                                                             .peer_core = std::nullopt});
      if (!built.is_ok()) continue;
      QueuePlacement& p = in.queues[q];
      p.set = &sg.queues[i];
      p.hardware_queue = q;
      p.caller_sources = built->front().caller_sources;
      p.caller_destinations = built->front().caller_destinations;
      p.more.resize(built->size() - 1);
      for (std::size_t n = 0; n < built->size(); ++n) {
        RingPlacement& placed = n == 0 ? p : p.more[n - 1];
        placed.blocks = (*built)[n].blocks;
        placed.total_s2m = static_cast<std::uint32_t>((*built)[n].rings[0].rx.size());
        for (std::uint32_t r = 0; r < kMaxRings; ++r) {
          placed.m2s_base[r] = 0x80000000 + 0x100000ull * q + 0x1000ull * r + 0x10000000ull * 2 * n;
          placed.s2m_base[r] = placed.m2s_base[r] + 0x10000000;
        }
      }
    }
    return in;
  }

  static constexpr std::uint64_t kRequest = 0x60000000;
  static constexpr std::uint64_t kFiller = 0x61000000;

  neff::Subgraph sg;
  std::vector<std::uint64_t> addresses;

 private:
  std::array<std::vector<std::byte>, neff::kEngines> streams_;
};

// Pattern over `sizes` with `steps` (innermost first).
inline neff::AccessPattern pattern(std::uint32_t var, std::uint64_t offset,
                                   std::vector<std::uint64_t> sizes,
                                   std::vector<std::int64_t> steps) {
  neff::AccessPattern p;
  p.var_id = var;
  p.offset = offset;
  p.dims = static_cast<std::uint32_t>(sizes.size());
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    p.sizes[d] = sizes[d];
    p.steps[d] = steps[d];
  }
  return p;
}

inline neff::Descriptor copy(const neff::AccessPattern& from, const neff::AccessPattern& to) {
  neff::Descriptor d;
  d.from = {from};
  d.to = to;
  return d;
}

inline neff::Block block(std::uint32_t id, std::vector<neff::Descriptor> descriptors,
                         std::uint32_t semaphore = 8) {
  neff::Block b;
  b.id = id;
  b.semaphore = semaphore;
  b.descriptors = std::move(descriptors);
  return b;
}

inline constexpr std::int64_t kPartition = 0x40000;  // distance of SBUF partitions

// A model that reads one input into SBUF and writes one output from it:
// 128 rows of `row_bytes`.
inline void add_input_and_output(TestProgram& p, std::uint64_t row_bytes = 64) {
  using neff::VariableType;
  const std::uint64_t bytes = 128 * row_bytes;
  const auto step = static_cast<std::int64_t>(row_bytes);
  const std::uint32_t sb = p.add_variable("SB", VariableType::kStateBuffer, 0, 0);
  const std::uint32_t in = p.add_variable("x", VariableType::kInput, bytes, kCaller);
  const std::uint32_t out = p.add_variable("y", VariableType::kOutput, bytes, kCaller);
  auto& load = p.add_set("qSPIO0", neff::QueueType::kIn, neff::Engine::kSp);
  load.blocks.push_back(block(0, {copy(pattern(in, 0, {row_bytes, 128}, {1, step}),
                                       pattern(sb, 0, {row_bytes, 128}, {1, kPartition}))}));
  auto& store = p.add_set("qPoolIO0", neff::QueueType::kIn, neff::Engine::kPool);
  store.blocks.push_back(block(0,
                               {copy(pattern(sb, 0, {row_bytes, 128}, {1, kPartition}),
                                     pattern(out, 0, {row_bytes, 128}, {1, step}))},
                               24));
  p.add_trigger(neff::Engine::kSp, "qSPIO0", 0);
  p.add_trigger(neff::Engine::kPool, "qPoolIO0", 0);
}

}  // namespace opennrt::tdrv::test
