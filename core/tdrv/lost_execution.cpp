// SPDX-License-Identifier: Apache-2.0
//
// An execution that does not end: what is missing, why, and the status of it.
// Everything here is asked for only then.
#include <algorithm>
#include <optional>

#include "log/log.h"
#include "opennrt/isa/records.h"
#include "tdrv/engine_label.h"
#include "tdrv/execution.h"
#include "tdrv/execution_errors.h"
#include "tdrv/open_wait.h"

namespace opennrt::tdrv {

HangEvidence ExecutionImpl::hang_evidence(std::string& found) const {
  HangEvidence evidence;
  const auto note = [&found](const std::string& text) {
    found += (found.empty() ? "" : ", ") + text;
  };
  for (CoreNode* core : logical_->cores) {
    evidence.overflow = evidence.overflow || core->overflowed();
    const std::string aborted = core->aborted_queues();
    if (aborted.empty()) continue;
    evidence.dma_abort = true;
    note(fmt::format("[ND {}][NC {}] aborted: {}", core->device().index(), core->core(), aborted));
  }
  // The cores of a logical core are on one device.
  const auto before = model_ ? model_->errors_at_load() : logical_->errors_at_start;
  const auto now = logical_->cores.front()->device().memory_errors();
  if (!before || !now) return evidence;
  const auto rose = [&](const char* name, std::uint64_t nrtp_ndl_memory_errors::* counter) {
    if ((*now).*counter <= (*before).*counter) return false;
    note(fmt::format("{} {} -> {}", name, (*before).*counter, (*now).*counter));
    return true;
  };
  evidence.hbm_uncorrected =
      rose("uncorrectable HBM errors", &nrtp_ndl_memory_errors::hbm_uncorrected);
  evidence.hbm_repairable = rose("repairable HBM errors", &nrtp_ndl_memory_errors::hbm_repairable);
  evidence.sram_uncorrected =
      rose("uncorrectable SRAM errors", &nrtp_ndl_memory_errors::sram_uncorrected);
  return evidence;
}

StepResult ExecutionImpl::lose(NRT_STATUS code, std::string_view what) {
  std::string found;
  HangEvidence evidence = hang_evidence(found);
  // Records out of order are explained by lost ones only.
  if (order_broken_) {
    evidence = {.overflow = evidence.overflow};
    found.clear();
  }
  HangClass hang = classify_hang(evidence);
  if (hang.status != NRT_TIMEOUT)
    code = hang.status;
  else if (code != NRT_TIMEOUT)
    hang.name = "the execution is lost";
  std::string text =
      fmt::format("(FATAL-RT-UNDEFINED-STATE) {}model '{}' on logical core {}: {}: {}; missing: {}",
                  cores_missing(), program_name(), logical_->index, hang.name, what, missing());
  // The device's own error explains more than the hang that followed from it.
  for (const std::string_view more : {std::string_view(found), status_.message()})
    if (!more.empty()) fmt::format_to(std::back_inserter(text), "; {}", more);
  if (!outranks(code, status_.code())) code = status_.code();
  status_ = Status(code, std::move(text))
                .because(code == NRT_TIMEOUT ? Cause::kExecutionTimeout : Cause::kNone);
  trace_run(false);
  tell_store();
  logical_->dead.store(true, std::memory_order_relaxed);
  state_ = State::kFailed;
  return StepResult::kFailed;
}

std::string ExecutionImpl::cores_missing() const {
  std::string out;
  for (std::size_t c = 0; c < used_; ++c) {
    const auto& engines = cores_[c].engines;
    if (std::all_of(engines.begin(), engines.end(),
                    [](EngineState e) { return e == EngineState::kComplete; }))
      continue;
    const CoreNode& core = *logical_->cores[c];
    fmt::format_to(std::back_inserter(out), "[ND {}][NC {}] ", core.device().index(), core.core());
  }
  return out;
}

void ExecutionImpl::append_open_wait(const CoreNode& core, std::size_t subgraph,
                                     std::uint32_t engine, std::string& out) const {
  const Bindings& b = core.bindings();
  const auto& subgraphs = model_->program().subgraphs;
  if (b.ndl->sync->sem_read == nullptr || subgraph >= subgraphs.size()) return;
  const std::string wait = first_open_wait(
      subgraphs[subgraph].streams[engine], [&](std::uint32_t i) -> std::optional<std::int32_t> {
        std::uint32_t value = 0;
        if (b.ndl->sync->sem_read(b.ndl_ctx, core.device().handle(), core.core(), i, &value) != 0)
          return std::nullopt;
        return static_cast<std::int32_t>(value);
      });
  if (!wait.empty()) out += fmt::format(" ({})", wait);
}

std::string ExecutionImpl::missing() const {
  std::string out;
  for (std::size_t c = 0; c < used_; ++c) {
    for (std::uint32_t e = 0; e < neff::kEngines; ++e) {
      const EngineState state = cores_[c].engines[e];
      if (state == EngineState::kComplete) continue;
      fmt::format_to(std::back_inserter(out), "{}[ND {}][NC {}] {} {}", out.empty() ? "" : ", ",
                     logical_->cores[c]->device().index(), logical_->cores[c]->core(),
                     engine_label(e), state == EngineState::kStartPending ? "START" : "END");
      // A software device tells where the engine really stands.
      if (state == EngineState::kEndPending && model_ && !logical_->software.present())
        append_open_wait(*logical_->cores[c], c, e, out);
    }
  }
  return out;
}

std::string ExecutionImpl::deadlock() const {
  std::string out;
  for (std::size_t c = 0; c < used_; ++c) {
    const CoreNode& core = *logical_->cores[c];
    const std::uint32_t device = core.device().index();
    bool any = false;
    for (std::uint32_t e = 0; e < neff::kEngines; ++e) {
      const auto standing = logical_->software.standing(device, core.core(), e);
      if (!standing) continue;
      any = true;
      fmt::format_to(std::back_inserter(out), "{}[ND {}][NC {}] {} at {} {}",
                     out.empty() ? "" : "; ", device, core.core(), engine_label(e),
                     place_of(c, e, standing->program_counter), standing->state);
    }
    if (!any) {
      fmt::format_to(std::back_inserter(out), "{}[ND {}] {}", out.empty() ? "" : "; ", device,
                     logical_->software.describe(device, core.core()));
    }
  }
  return out;
}

std::string ExecutionImpl::place_of(std::size_t c, std::uint32_t engine,
                                    std::uint64_t address) const {
  const auto slot_in = [&](const PlacedImages& images) -> std::optional<std::uint32_t> {
    const std::uint64_t offset = address - images.address[engine];
    if (address < images.address[engine] || offset >= images.layout[engine].bytes)
      return std::nullopt;
    return static_cast<std::uint32_t>(offset / isa::kRecordBytes);
  };
  if (model_) {
    const PlacedImages& images = model_->cores()[c]->images;
    if (const auto slot = slot_in(images)) {
      const ImageLayout& layout = images.layout[engine];
      if (const auto record = record_at(layout, *slot)) {
        const neff::Subgraph& subgraph = model_->program().subgraphs[c];
        const std::string& member = subgraph.stream_members[engine];
        return fmt::format("image slot {}, {} instruction {}", *slot,
                           member.empty() ? subgraph.name : member, *record + 1);
      }
      return fmt::format("image slot {} ({})", *slot, region_name(layout, *slot));
    }
  }
  if (const auto slot = slot_in(logical_->cores[c]->ready()))
    return fmt::format("slot {} of the ready program", *slot);
  return fmt::format("{:#x}", address);
}

}  // namespace opennrt::tdrv
