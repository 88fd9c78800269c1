// SPDX-License-Identifier: Apache-2.0
#include "tdrv/core_node.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "log/log.h"

namespace opennrt::tdrv {
namespace {

constexpr std::uint32_t kQueueBytes = 16384;
constexpr std::uint32_t kLibraryBytes = 0x48E0;       // as in device images of real runs
constexpr std::uint32_t kNqNotify = 1, kNqError = 3;  // nq_type of the driver

// Notification block of a core, the same on all silicon families: queue q's
// registers start at 0x100 + 0x28 q, the head is the fourth
// (aws-neuron-driver 2.24.7.0).
constexpr std::uint64_t kNotificFirst = 0x100, kNotificStride = 0x28, kNotificHead = 0xC;
// Cause register of the software device's notification block; the bit is the
// one of the interrupt cause on silicon.
constexpr std::uint64_t kEmulatorCause = 0x1C;
constexpr std::uint32_t kOverflowBit = 1u << 29;

// Models of one core may be staged by several threads; which queues the driver
// knows is looked at and changed under this lock.
std::mutex queue_init_mutex;

}  // namespace

CoreNode::CoreNode(DeviceNode& device, std::uint32_t core) : device_(device), core_(core) {
  channel_ = bindings().arch->address->default_hbm(bindings().product, core);
}

Status CoreNode::create_allocator() {
  allocator_ = Allocator::make(device_.pool(), core_, channel_,
                               fmt::format("[ND {}][NC {}]", device_.index(), core_));
  return Status::ok();
}

Status CoreNode::initialise_hal(std::uint32_t lnc_rank, std::uint32_t lnc_size) {
  const nrtp_arch_hal* hal = bindings().arch->hal;
  ONRT_TRY(device_.call_hal("intc_init", core_, ONRT_ARCH_MEMBER(nrtp_arch_hal, hal, intc_init)));
  ONRT_TRY(
      device_.call_hal("notific_init", core_, ONRT_ARCH_MEMBER(nrtp_arch_hal, hal, notific_init)));
  if (auto* core_init = ONRT_ARCH_MEMBER(nrtp_arch_hal, hal, core_init); core_init != nullptr) {
    const nrtp_core_cfg config{.size = sizeof(nrtp_core_cfg),
                               .lnc_rank = lnc_rank,
                               .lnc_size = lnc_size,
                               .stochastic_rounding = 0,
                               .seed = 0};
    const int rc = core_init(device_.arch_context(), core_, &config);
    if (rc != NRTP_OK) {
      return Status::failure("[ND {}][NC {}] arch {}: core_init failed with status {}",
                             device_.index(), core_, bindings().arch->name, rc);
    }
  }
  hal_ready_ = true;
  return Status::ok();
}

void CoreNode::finish_hal() {
  if (!hal_ready_) return;
  hal_ready_ = false;
  const nrtp_arch_hal* hal = bindings().arch->hal;
  const Status status =
      device_.call_hal("core_fini", core_, ONRT_ARCH_MEMBER(nrtp_arch_hal, hal, core_fini));
  if (!status.is_ok()) ONRT_LOG(kTdrv, kWarn, "{}", status.message());
}

Result<NotificationQueue> CoreNode::create_queue(std::uint32_t nq_type,
                                                 std::uint32_t engine_index) {
  const nrtp_ndl_nq& nq = *bindings().ndl->nq;
  const nrtp_ndl_nq_config config{.size = sizeof(nrtp_ndl_nq_config),
                                  .device_type = 0,
                                  .device_id = core_,
                                  .nq_type = nq_type,
                                  .engine_index = engine_index,
                                  .bytes = kQueueBytes,
                                  .host_memory = 1,
                                  .channel = channel_,
                                  .region = 0,
                                  .force_alloc = 1};
  std::uint64_t handle = 0;
  int rc = nq.init(bindings().ndl_ctx, device_.handle(), &config, &handle);
  void* memory = nullptr;
  if (rc == 0) {
    nq_handles_.push_back(handle);
    rc = nq.map(bindings().ndl_ctx, handle, &memory);
  }
  if (rc != 0) {
    return Status::make(rc == -ENOMEM ? NRT_RESOURCE : NRT_FAILURE,
                        "[ND {}][NC {}] notification queue {} (type {}): {}", device_.index(),
                        core_, engine_index, nq_type, std::strerror(-rc));
  }
  return NotificationQueue(memory, kQueueBytes);
}

Status CoreNode::create_notification_queues() {
  const nrtp_arch_geometry& geometry = *bindings().arch->geometry;
  const auto create_all = [&]() -> Status {
    for (std::uint32_t e = 0; e < program_engines(*bindings().arch); ++e) {
      ONRT_ASSIGN(status_[e], create_queue(kNqNotify, geometry.status_queue_first + e));
    }
    ONRT_ASSIGN(errors_, create_queue(kNqError, geometry.error_queue));
    return Status::ok();
  };
  Status status = create_all();
  if (!status.is_ok()) destroy_notification_queues();
  return status;
}

void CoreNode::destroy_notification_queues() {
  status_ = {};
  errors_ = {};
  while (!nq_handles_.empty()) {
    bindings().ndl->nq->destroy(bindings().ndl_ctx, nq_handles_.back());
    nq_handles_.pop_back();
  }
}

Status CoreNode::create_exec_queue(std::uint32_t depth) {
  Status status = exec_.create({.allocator = allocator_,
                                .arch = bindings().arch,
                                .product = bindings().product,
                                .core = core_,
                                .depth = depth});
  if (!status.is_ok()) exec_.release();
  return status;
}

Result<PlacedImages> CoreNode::upload(const ImageSet& images,
                                      const std::shared_ptr<Allocator>& owner,
                                      std::string_view program) const {
  PlacedImages placed;
  const nrtp_arch_ib& ib = *bindings().arch->ib;
  for (std::uint32_t e = 0; e < program_engines(*bindings().arch); ++e) {
    const Image& image = images[e];
    if (image.bytes.empty()) return Status::failure("program '{}': empty image", program);
    ONRT_ASSIGN(placed.memory[e],
                owner->allocate({.bytes = image.bytes.size(),
                                 .alignment = std::max<std::uint64_t>(ib.block_align[e], 0x8000),
                                 .usage = instruction_usage(e),
                                 .hint = program}));
    if (image.relocations.empty()) {
      ONRT_TRY(placed.memory[e]->copy_in(0, image.bytes.data(), image.bytes.size()));
    } else {
      std::vector<std::uint8_t> bytes = image.bytes;
      relocate(bytes, image.relocations, placed.memory[e]->address());
      ONRT_TRY(placed.memory[e]->copy_in(0, bytes.data(), bytes.size()));
    }
    placed.address[e] = placed.memory[e]->address();
    placed.gate_offset[e] = image.gate_offset;
    placed.layout[e] = layout_of(image);
  }
  return placed;
}

// Images of form 2.30 load a library into POOL where the silicon takes one. The
// library of real runs is not published; programs that call into it are refused
// elsewhere, so zeros of its length stand in.
Status CoreNode::place_library(std::uint32_t form) {
  if (form != NRTP_FORM_2_30 || bindings().arch->caps->flag[NRTP_CAP_POOL_ULIB_CONFIG] == 0) {
    return Status::ok();
  }
  ONRT_ASSIGN(library_,
              allocator_->allocate(
                  {.bytes = kLibraryBytes, .usage = Usage::kUcodeLibrary, .hint = "POOL library"}));
  return library_->set(0, 0, kLibraryBytes);
}

void CoreNode::name_library(ImageInputs& inputs) const {
  if (!library_) return;
  inputs.ulib_pa = library_->address();
  inputs.ulib_bytes = kLibraryBytes;
}

Status CoreNode::place_ready_program(std::uint32_t form, std::uint32_t lnc_rank,
                                     std::uint32_t lnc_size, std::uint32_t peer_core) {
  ONRT_TRY(place_library(form));
  ImageInputs inputs;
  inputs.arch = bindings().arch;
  inputs.product = bindings().product;
  inputs.form = form;
  inputs.core = core_;
  inputs.lnc_rank = lnc_rank;
  inputs.lnc_size = lnc_size;
  inputs.peer_core = peer_core;
  inputs.request_pa = exec_.request_pa();
  name_library(inputs);
  ONRT_ASSIGN(const ImageSet images, assemble_images(inputs));
  ONRT_ASSIGN(ready_, upload(images, allocator_, "ready program"));
  return Status::ok();
}

Status CoreNode::fetch_start(std::uint32_t engine, std::uint64_t program_pa) {
  const nrtp_arch_plugin& arch = *bindings().arch;
  if (auto* start = ONRT_ARCH_MEMBER(nrtp_arch_hal, arch.hal, fetch_start); start != nullptr) {
    const int rc = start(device_.arch_context(), core_, engine, program_pa);
    if (rc == NRTP_OK) return Status::ok();
    return Status::make(
        static_cast<NRT_STATUS>(rc), "[ND {}][NC {}] arch {} cannot start a program on engine {}{}",
        device_.index(), core_, arch.name, engine,
        rc == NRTP_INVALID && bindings().platform == NRTP_PLATFORM_SILICON
            ? ": the start registers of this silicon are not published; `device: emulator` runs "
              "here"
            : "");
  }
  const std::uint64_t block = arch.address->nx_bar0(bindings().product, core_, engine);
  if (block == UINT64_MAX) {
    return Status::failure("arch {}: engine {} of core {} has no register block", arch.name, engine,
                           core_);
  }
  hal::Device& hal = device_.hal();
  ONRT_TRY(al_reg_write32(hal, block + arch.ib->nx_start_addr_lo,
                          static_cast<std::uint32_t>(program_pa)));
  ONRT_TRY(al_reg_write32(hal, block + arch.ib->nx_start_addr_hi,
                          static_cast<std::uint32_t>(program_pa >> 32)));
  return al_reg_write32(hal, block + arch.ib->nx_start_ctrl, 1);
}

Status CoreNode::start_ready_program() {
  for (std::uint32_t e = 0; e < program_engines(*bindings().arch); ++e) {
    ONRT_TRY(fetch_start(e, ready_.address[e] + ready_.gate_offset[e]));
  }
  return Status::ok();
}

void CoreNode::release() {
  scratchpad_.release();
  exec_.release();
  ready_ = {};
  library_.reset();
  model_queues_ = table_queues_ = 0;
  if (allocator_) allocator_->release_all();
}

Status CoreNode::init_queues(std::span<const nrtp_ndl_queue> queues) {
  const nrtp_ndl_dma& dma = *bindings().ndl->dma;
  if (queues.size() > 1 && dma.queue_init_batch(bindings().ndl_ctx, device_.handle(), queues.data(),
                                                static_cast<std::uint32_t>(queues.size())) == 0) {
    return Status::ok();
  }
  // One by one where the driver has no batch form; re-initialising is legal.
  for (const nrtp_ndl_queue& queue : queues) {
    const int rc = dma.queue_init(bindings().ndl_ctx, device_.handle(), &queue);
    if (rc != 0) {
      return Status::failure("[ND {}][NC {}] DMA engine {} queue {}: {}", device_.index(), core_,
                             queue.engine, queue.queue, std::strerror(-rc));
    }
  }
  return Status::ok();
}

Status CoreNode::ensure_model_queue(std::uint32_t hardware_queue) {
  const std::lock_guard lock(queue_init_mutex);
  if (hardware_queue >= 32 || (model_queues_ >> hardware_queue & 1) != 0) return Status::ok();
  const nrtp_arch_dma& dma = *bindings().arch->dma;
  std::array<nrtp_ndl_queue, kMaxRings> queues{};
  const std::uint32_t rings = queue_rings(*bindings().arch);
  for (std::uint32_t i = 0; i < rings; ++i) {
    // No memory yet: base and length come from the images and the IO switch.
    queues[i] = {.engine = dma.core_engine(bindings().product, core_, i),
                 .queue = hardware_queue,
                 .tx_descs = dma.ring_length_written,
                 .rx_descs = dma.ring_length_written,
                 .tx_mem = 0,
                 .rx_mem = 0};
  }
  ONRT_TRY(init_queues(std::span(queues).first(rings)));
  model_queues_ |= 1u << hardware_queue;
  return Status::ok();
}

Status CoreNode::ensure_table_queue(std::uint32_t which) {
  const std::lock_guard lock(queue_init_mutex);
  if ((table_queues_ >> which & 1) != 0) return Status::ok();
  const nrtp_arch_dma& dma = *bindings().arch->dma;
  nrtp_dma_slot slot{};
  if (dma.runtime_ring(bindings().product, core_, which, &slot) != NRTP_OK) {
    return Status::failure("arch {}: core {} has no runtime ring {}", bindings().arch->name, core_,
                           which);
  }
  const nrtp_ndl_queue queue{.engine = slot.engine,
                             .queue = slot.queue,
                             .tx_descs = dma.ring_length_written,
                             .rx_descs = dma.ring_length_written,
                             .tx_mem = 0,
                             .rx_mem = 0};
  ONRT_TRY(init_queues({&queue, 1}));
  table_queues_ |= 1u << which;
  return Status::ok();
}

Status CoreNode::publish_heads() {
  const nrtp_arch_geometry& geometry = *bindings().arch->geometry;
  const auto publish = [&](NotificationQueue& queue, std::uint32_t hardware_queue) -> Status {
    if (!queue.should_publish()) return Status::ok();
    queue.published();
    const std::uint64_t block = bindings().arch->address->notific_bar0(bindings().product, core_);
    if (block == UINT64_MAX) return Status::ok();
    return al_reg_write32(device_.hal(),
                          block + kNotificFirst + kNotificStride * hardware_queue + kNotificHead,
                          queue.head());
  };
  for (std::uint32_t e = 0; e < program_engines(*bindings().arch); ++e) {
    ONRT_TRY(publish(status_[e], geometry.status_queue_first + e));
  }
  return publish(errors_, geometry.error_queue);
}

std::string CoreNode::aborted_queues() const {
  constexpr std::uint32_t kAborted = 3;  // sw_status (aws-neuron-driver 2.24.7.0)
  constexpr std::uint32_t kMaxNamed = 4;
  std::string out;
  const Bindings& b = bindings();
  if (b.ndl->dma->queue_state == nullptr) return out;
  std::uint32_t found = 0;
  for (std::uint32_t i = 0; i < b.arch->geometry->dma_per_core; ++i) {
    const std::uint32_t engine = b.arch->dma->core_engine(b.product, core_, i);
    for (std::uint32_t q = 0; q < b.arch->geometry->dma_queues_per_engine; ++q) {
      nrtp_ndl_queue_state tx{}, rx{};
      if (b.ndl->dma->queue_state(b.ndl_ctx, device_.handle(), engine, q, &tx, &rx) != 0) break;
      if (tx.sw_status != kAborted && rx.sw_status != kAborted) continue;
      if (found++ < kMaxNamed)
        fmt::format_to(std::back_inserter(out), "{}DMA engine {} queue {}", out.empty() ? "" : ", ",
                       engine, q);
    }
  }
  if (found > kMaxNamed) fmt::format_to(std::back_inserter(out), " and {} more", found - kMaxNamed);
  return out;
}

void CoreNode::tell_kernel_log(const char* error) const {
  const Bindings& b = bindings();
  if (b.ndl->misc->printk == nullptr) return;
  const std::string line =
      fmt::format("NEURON_HW_ERR={} nd-id={} nc-id={}", error, device_.index(), core_);
  b.ndl->misc->printk(b.ndl_ctx, line.c_str(), static_cast<std::uint32_t>(line.size() + 1), 0);
}

bool CoreNode::overflowed() {
  auto* probe = ONRT_ARCH_MEMBER(nrtp_arch_hal, bindings().arch->hal, read_overflow);
  std::uint32_t overflow = 0;
  if (probe == nullptr && bindings().platform == NRTP_PLATFORM_EMULATOR) {
    const std::uint64_t block = bindings().arch->address->notific_bar0(bindings().product, core_);
    return block != UINT64_MAX &&
           al_reg_read32(device_.hal(), block + kEmulatorCause, overflow).is_ok() &&
           (overflow & kOverflowBit) != 0;
  }
  return probe != nullptr && probe(device_.arch_context(), core_, &overflow) == NRTP_OK &&
         overflow != 0;
}

}  // namespace opennrt::tdrv
