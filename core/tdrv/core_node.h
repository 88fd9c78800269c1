// SPDX-License-Identifier: Apache-2.0
//
// One physical core of this process: its memory, notification queues, exec
// queue, scratchpad and the ready program it idles in.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "tdrv/device_node.h"
#include "tdrv/exec_queue.h"
#include "tdrv/image.h"
#include "tdrv/image/record_places.h"
#include "tdrv/notification.h"
#include "tdrv/scratchpad.h"

namespace opennrt::tdrv {

// Device images of one program on one core, uploaded.
struct PlacedImages {
  std::array<DmemPtr, neff::kEngines> memory;
  std::array<std::uint64_t, neff::kEngines> address{};  // slot 0
  std::array<std::uint32_t, neff::kEngines> gate_offset{};
  std::array<ImageLayout, neff::kEngines> layout;  // for reports
};

class CoreNode {
 public:
  CoreNode(DeviceNode& device, std::uint32_t core);

  DeviceNode& device() { return device_; }
  const DeviceNode& device() const { return device_; }
  const Bindings& bindings() const { return device_.bindings(); }
  std::uint32_t core() const { return core_; }
  std::uint32_t channel() const { return channel_; }
  const std::shared_ptr<Allocator>& allocator() const { return allocator_; }
  ExecQueue& exec() { return exec_; }
  Scratchpad& scratchpad() { return scratchpad_; }
  const PlacedImages& ready() const { return ready_; }
  // Fills in where the POOL library of this core is, if its images load one.
  void name_library(ImageInputs& inputs) const;

  // Bring-up steps in order; each undoes itself when it fails.
  Status create_allocator();
  Status initialise_hal(std::uint32_t lnc_rank, std::uint32_t lnc_size);
  void finish_hal();
  Status create_notification_queues();
  void destroy_notification_queues();
  Status create_exec_queue(std::uint32_t depth);
  Status place_ready_program(std::uint32_t form, std::uint32_t lnc_rank, std::uint32_t lnc_size,
                             std::uint32_t peer_core);
  // Gets all engines running at the ready program's gate.
  Status start_ready_program();
  void release();  // everything this core has allocated

  // Tells the driver about a model queue number of the core's DMA engines,
  // or about one table ring, when it is used for the first time.
  Status ensure_model_queue(std::uint32_t hardware_queue);
  Status ensure_table_queue(std::uint32_t which);  // nrtp_runtime_ring

  Result<PlacedImages> upload(const ImageSet& images, const std::shared_ptr<Allocator>& owner,
                              std::string_view program) const;

  // --- completion ------------------------------------------------------------
  NotificationQueue& status_queue(std::uint32_t engine) { return status_[engine]; }
  NotificationQueue& error_queue() { return errors_; }
  // Writes head registers whose ring is half read.
  Status publish_heads();
  // 1: a notification queue overflowed.
  bool overflowed();
  // DMA queues of this core that gave up, "DMA engine 3 queue 1"; empty: none,
  // or the driver does not tell.
  std::string aborted_queues() const;
  // One line for who reads the kernel's log; dropped where the driver takes none.
  void tell_kernel_log(const char* error) const;

 private:
  Status place_library(std::uint32_t form);
  Result<NotificationQueue> create_queue(std::uint32_t nq_type, std::uint32_t engine_index);
  Status init_queues(std::span<const nrtp_ndl_queue> queues);
  Status fetch_start(std::uint32_t engine, std::uint64_t program_pa);

  DeviceNode& device_;
  std::uint32_t core_, channel_ = 0;
  std::shared_ptr<Allocator> allocator_;
  std::vector<std::uint64_t> nq_handles_;
  std::array<NotificationQueue, neff::kEngines> status_;
  NotificationQueue errors_;
  ExecQueue exec_;
  Scratchpad scratchpad_;
  PlacedImages ready_;
  DmemPtr library_;
  std::uint32_t model_queues_ = 0;  // bit q: hardware queue q is known to the driver
  std::uint32_t table_queues_ = 0;
  bool hal_ready_ = false;
};

}  // namespace opennrt::tdrv
