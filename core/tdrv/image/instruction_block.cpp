// SPDX-License-Identifier: Apache-2.0
//
// assemble_images: region order of the images of one core.
#include <algorithm>
#include <cstring>

#include "tdrv/image.h"
#include "tdrv/image/image_form.h"
#include "tdrv/image/lowering.h"
#include "tdrv/image/region_steps.h"
#include "tdrv/vring.h"

namespace opennrt::tdrv {

namespace {

using image::CorePlan;

constexpr std::uint8_t kCompilerOrdering = 0;
constexpr std::size_t kRuntimePartBytes = 32 << 10;  // usual size; more is no error

bool uses_argument_table(const neff::Subgraph* subgraph) {
  return subgraph != nullptr && std::any_of(subgraph->variables.begin(), subgraph->variables.end(),
                                            [](const neff::Variable& v) {
                                              return v.type == neff::VariableType::kDgeTable;
                                            });
}

// Descriptors of the exec ring behind the IO switch: per set and side with
// caller tensors a base and a length for each ring; the argument table's
// address; the event that ends the switch.
Status check_queues(const ImageInputs& in) {
  ONRT_ASSIGN(const std::vector<std::uint32_t> queues,
              model_queues(*in.arch, *in.product, in.core));
  if (in.queues.size() > queues.size()) {
    return Status::resource("program has {} queue sets; a core has hardware queues for {}",
                            in.queues.size(), queues.size());
  }
  for (const QueuePlacement& queue : in.queues) {
    if (queue.set == nullptr) return Status::failure("a queue placement names no queue set");
    if (queue.set->type == neff::QueueType::kDynamic) continue;
    if (!queue.set->owner) {
      return Status::invalid("queue set '{}' has no owner engine that could set it up",
                             queue.set->name);
    }
  }
  return Status::ok();
}

// Descriptor generators: masks of the queues they feed.
void fill_generator_queues(const ImageInputs& in, nrtp_ib_env& env) {
  for (const QueuePlacement& queue : in.queues) {
    const neff::QueueSet& set = *queue.set;
    if (set.type != neff::QueueType::kDynamic || !set.owner) continue;
    const std::uint32_t bit = 1u << queue.hardware_queue;
    if (*set.owner == neff::Engine::kPool) {
      env.sw_dge_queues |= bit;
      env.dge_scratch_offset = set.dge_scratch_offset;
      env.dge_scratch_bytes = set.dge_scratch_bytes;
    } else {
      env.hw_dge_queues[static_cast<std::size_t>(*set.owner)] |= bit;
    }
  }
}

Result<CorePlan> make_plan(const ImageInputs& in) {
  if (in.arch == nullptr || in.product == nullptr) {
    return Status::failure("images need an arch plugin and a product");
  }
  CorePlan plan;
  plan.inputs = &in;
  plan.form = image::find_form(in.form != 0 ? in.form : in.arch->ib->form_default);
  if (plan.form == nullptr || (in.arch->ib->form_mask & plan.form->bit) == 0) {
    return Status::invalid(
        "image form {} is not one of arch {} (mask {:#x}); choose another "
        "exec.runtime_form",
        in.form, in.arch->name, in.arch->ib->form_mask);
  }
  ONRT_TRY(check_queues(in));
  plan.has_argument_table = uses_argument_table(in.subgraph);
  if (plan.has_argument_table && !plan.form->argument_table) {
    return Status::invalid("{} has a dge-table, which image form {} cannot pass; use form {}",
                           in.subgraph->name, plan.form->form, int{NRTP_FORM_2_30});
  }
  if (plan.has_argument_table && in.argument_table_pa == 0) {
    return Status::failure("{} has a dge-table but no argument table cell was placed",
                           in.subgraph->name);
  }
  plan.io_count = io_switch_packets(in.queues, queue_rings(*in.arch), plan.has_argument_table,
                                    in.bound_pointers);
  if (in.arch->dma->runtime_ring(in.product, in.core, NRTP_RING_EXEC, &plan.exec) != NRTP_OK) {
    return Status::failure("arch {} names no exec ring for core {}", in.arch->name, in.core);
  }
  nrtp_ib_env& env = plan.env;
  env.size = sizeof env;
  env.form = plan.form->form;
  env.product = in.product;
  env.core = in.core;
  env.lnc_rank = in.lnc_rank;
  env.lnc_size = in.lnc_size;
  env.request_pa = in.request_pa;
  env.ulib_pa = in.ulib_pa;
  env.ulib_bytes = in.ulib_bytes;
  fill_generator_queues(in, env);
  return plan;
}

// Compilers write a stream for every engine. On one that the silicon lacks it must
// not do anything.
Status check_absent(const neff::Subgraph& subgraph, std::uint32_t engine,
                    const nrtp_arch_plugin& arch) {
  const std::span<const std::byte> stream = subgraph.streams[engine];
  for (std::size_t at = 0; at < stream.size(); at += isa::kRecordBytes) {
    const auto opcode = static_cast<std::uint8_t>(stream[at]);
    if (opcode == isa::kOpSetOrderingMode || opcode == isa::kOpPseudoBranchLabel) continue;
    return Status::invalid("{}: record {} (opcode {:#04x}) is for {}, which {} cores do not have",
                           subgraph.stream_members[engine], at / isa::kRecordBytes, opcode,
                           image::engine_text(engine), arch.name);
  }
  return Status::ok();
}

std::uint32_t size_of(const std::vector<std::uint8_t>& bytes) {
  return static_cast<std::uint32_t>(bytes.size());
}

Status assemble(const CorePlan& plan, std::uint32_t engine, image::TriggerLedger& ledger,
                Image& out) {
  const ImageInputs& in = *plan.inputs;
  // The stream and the runtime's own parts, so that the image is written in place.
  if (in.subgraph != nullptr) {
    out.bytes.reserve(in.subgraph->streams[engine].size() + kRuntimePartBytes);
  }
  image::RegionWriter regions(plan, engine, out.bytes);
  ONRT_TRY(regions.append_preamble(out.patches));
  out.gate_offset = regions.gate_offset();
  out.main_offset = size_of(out.bytes);
  image::StreamLoweringPtr lowering;
  if (in.subgraph == nullptr) {
    image::RecordBuilder(out.bytes).order(kCompilerOrdering);
  } else {
    lowering = image::make_lowering(plan, regions.env(), ledger, out);
    ONRT_TRY(image::append_main(*lowering));
  }
  out.main_bytes = size_of(out.bytes) - out.main_offset;
  out.postamble_offset = size_of(out.bytes);
  ONRT_TRY(regions.append_postamble(out.patches));
  out.function_offset = size_of(out.bytes);
  if (lowering) {
    ONRT_TRY(image::append_functions(
        *lowering, out.postamble_offset / static_cast<std::uint32_t>(isa::kRecordBytes)));
  }

  const nrtp_arch_ib& ib = *in.arch->ib;
  if (ib.validate_image == nullptr) return Status::ok();
  nrtp_diag diag{};
  diag.size = sizeof diag;
  if (ib.validate_image(engine, out.bytes.data(), out.bytes.size(), &diag) != NRTP_OK) {
    diag.msg[sizeof diag.msg - 1] = '\0';
    return Status::invalid("{} image: arch {} refuses slot {} (opcode {:#04x}): {}",
                           image::engine_text(engine), in.arch->name, diag.slot, diag.opcode,
                           diag.msg);
  }
  return Status::ok();
}

}  // namespace

void relocate(std::vector<std::uint8_t>& bytes, std::span<const Relocation> relocations,
              std::uint64_t image_address) {
  for (const Relocation& r : relocations) {
    const std::uint64_t address = image_address + r.target;
    const auto half = static_cast<std::uint32_t>(r.high ? address >> 32 : address);
    std::memcpy(bytes.data() + r.offset, &half, sizeof half);
  }
}

Result<ImageSet> assemble_images(const ImageInputs& inputs) {
  ONRT_ASSIGN(const CorePlan plan, make_plan(inputs));
  image::TriggerLedger ledger(inputs.queues.size());
  ImageSet images;
  const std::uint32_t engines = program_engines(*inputs.arch);
  for (std::uint32_t engine = 0; engine < engines; ++engine) {
    ONRT_TRY(assemble(plan, engine, ledger, images[engine]));
  }
  for (std::uint32_t engine = engines; engine < images.size() && inputs.subgraph != nullptr;
       ++engine) {
    ONRT_TRY(check_absent(*inputs.subgraph, engine, *inputs.arch));
  }
  Status barriers = ledger.check_barriers(engines);
  if (!barriers.is_ok()) return std::move(barriers).with_context(inputs.subgraph->name);
  return images;
}

}  // namespace opennrt::tdrv
