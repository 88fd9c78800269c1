// SPDX-License-Identifier: Apache-2.0
//
// Appends the runtime's own parts of one engine's image: what each step of the
// form tables means.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "tdrv/image.h"
#include "tdrv/image/image_form.h"
#include "tdrv/image/queue_records.h"
#include "tdrv/image/records_builder.h"

namespace opennrt::tdrv::image {

const char* engine_text(std::uint32_t engine);  // "PE", "ACT", ...

// Facts of one core that all five engines share.
struct CorePlan {
  const ImageInputs* inputs = nullptr;
  const FormTraits* form = nullptr;
  nrtp_dma_slot exec{};        // ring of the execution requests
  std::uint32_t io_count = 0;  // descriptors of the exec ring behind the IO switch
  bool has_argument_table = false;
  nrtp_ib_env env{};  // engine and semaphore share are set per engine
};

// One engine's part of a barrier of all five. drain_count: field of the first DRAIN.
void append_engine_barrier(RecordBuilder& out, const nrtp_arch_plugin& arch, std::uint32_t engine,
                           std::uint8_t drain_count);

// Assembles one engine's preamble or postamble.
class RegionWriter {
 public:
  RegionWriter(const CorePlan& plan, std::uint32_t engine, std::vector<std::uint8_t>& bytes);

  Status append_preamble(std::vector<Patch>& patches);
  Status append_postamble(std::vector<Patch>& patches);
  std::uint32_t gate_offset() const {
    return gate_slot_ * static_cast<std::uint32_t>(isa::kRecordBytes);
  }
  const nrtp_ib_env& env() const { return env_; }

 private:
  Status append_rows(std::span<const Row> rows, Section section, std::vector<Patch>& patches);
  Status append(Step step);
  void append_barrier(std::uint8_t drain_count);
  Status append_queue_sets(bool setup);
  Status append_table_ring();
  void append_gate_wait();
  Status append_arch_step(std::uint32_t step);
  const TableRing& table_ring() const;
  std::uint8_t sync_id(std::uint32_t entry) const;
  std::uint64_t request(std::uint32_t offset) const;

  const CorePlan& plan_;
  const ImageInputs& in_;
  const nrtp_arch_plugin& arch_;
  std::uint32_t engine_;
  RecordBuilder out_;
  QueueAddresses at_;
  nrtp_ib_env env_;
  // Slots that later steps need.
  std::uint32_t gate_slot_ = 0;
  std::vector<std::uint32_t> to_start_;  // branches to NOTIFY START
  std::vector<std::uint32_t> pending_;   // branches to the next label
};

}  // namespace opennrt::tdrv::image
