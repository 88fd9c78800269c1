// SPDX-License-Identifier: Apache-2.0
//
// The emulated silicon of one device, as the emulated driver above it and the
// machine around it see it. What happens is decided by images, rings and
// registers in device space alone.
//
// Threading: all members may be called from any thread. Registers, semaphores
// and events are updated atomically; device work of one core runs under that
// core's run token, inside run() only.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "device/faults.h"
#include "device/memory.h"
#include "inspect/inspector.h"
#include "opennrt/arch.h"
#include "verify/options.h"

namespace opennrt::emu {

struct DeviceConfig {
  const nrtp_host* host = nullptr;
  const nrtp_arch_plugin* arch = nullptr;
  const nrtp_product* product = nullptr;
  std::uint32_t index = 0;  // device number
  // Threads that may run one core; 0: by the CPUs of the process.
  std::uint32_t threads = 1;
  VerifyOptions verify{};
  InspectOptions inspect{};
  std::vector<Fault> faults{};  // of all devices
  // Refuse instructions whose meaning is partly our reading; else they execute
  // and the log names each once.
  bool refuse_unconfirmed = false;
};

class Verifier;

struct RingConfig {
  std::uint64_t base = 0;    // device address, 0 = attached later through registers
  std::uint32_t length = 0;  // descriptors
};

struct RingState {
  std::uint64_t base = 0;
  std::uint32_t length = 0, head = 0, tail = 0;
  bool aborted = false;  // the DMA engine has given up
};

// What the driver counts of memory errors since it was loaded. The HBM counters
// do not overlap.
struct ErrorCounters {
  std::uint64_t sram_uncorrected = 0, hbm_uncorrected = 0, hbm_repairable = 0;
};

class Device {
 public:
  static std::unique_ptr<Device> create(const DeviceConfig& config,
                                        std::shared_ptr<DeviceMemory> memory, std::string* error);
  virtual ~Device() = default;

  // Host window addresses are host_window_base | offset in DeviceMemory::host().
  // Host pointer to `bytes` of memory-like device space (HBM, SBUF, PSUM, host
  // window); nullptr when any byte decodes to something else or to nothing.
  virtual std::uint8_t* memory_at(std::uint64_t device_pa, std::uint64_t bytes) = 0;

  // Device-space access with all side effects. 0, or -EFAULT when an address
  // decodes to nothing.
  virtual int read(std::uint64_t device_pa, void* out, std::uint64_t bytes) = 0;
  virtual int write(std::uint64_t device_pa, const void* in, std::uint64_t bytes) = 0;

  // BAR 0 register access by offset. 0 or -EINVAL outside every register region.
  virtual int bar0_read32(std::uint64_t offset, std::uint32_t* out) = 0;
  virtual int bar0_write32(std::uint64_t offset, std::uint32_t value) = 0;

  virtual std::uint32_t semaphore_read(std::uint32_t core, std::uint32_t index) = 0;
  virtual void semaphore_set(std::uint32_t core, std::uint32_t index, std::uint32_t value) = 0;
  virtual void semaphore_add(std::uint32_t core, std::uint32_t index, std::int32_t delta) = 0;
  virtual std::uint32_t event_read(std::uint32_t core, std::uint32_t index) = 0;
  virtual void event_write(std::uint32_t core, std::uint32_t index, std::uint32_t value) = 0;

  // Queue reset plus set-up: head = tail = 0, ring id 1.
  virtual void queue_init(std::uint32_t engine, std::uint32_t queue, const RingConfig& tx,
                          const RingConfig& rx) = 0;
  // Advances the tails (RX first) and performs the transfers that become
  // possible, on the calling thread. 0 or -EINVAL for a bad count.
  virtual int queue_start(std::uint32_t engine, std::uint32_t queue, std::uint32_t tx_count,
                          std::uint32_t rx_count) = 0;
  virtual void queue_state(std::uint32_t engine, std::uint32_t queue, RingState* tx,
                           RingState* rx) = 0;

  // Clears semaphores, events, rings and engine state of the cores in `mask`.
  // HBM keeps its content.
  virtual void reset_cores(std::uint32_t mask) = 0;

  // Runs the cores of this device that have work and whose run token is free,
  // until each makes no further progress or `max_records` records retired.
  // True when anything happened.
  virtual bool run(std::uint64_t max_records) = 0;
  // True when some core could make progress.
  virtual bool runnable() = 0;
  // True when none of these cores could, and no thread is running one.
  virtual bool idle(std::uint32_t cores) = 0;
  // Grows while programs of these cores get on; stands still in an endless loop.
  virtual std::uint64_t progress(std::uint32_t cores) = 0;

  // One line about every engine that stands inside a program or has failed:
  // engine, slot address, wait mode, index, value, threshold. For reports of
  // a run that does not end.
  virtual std::string describe(std::uint32_t core) = 0;
  // The same of one engine without its name, and its program counter; empty when
  // it is stopped or being run.
  virtual std::string describe_engine(std::uint32_t core, std::uint32_t engine,
                                      std::uint64_t* program_counter) = 0;
  // True when a notification of the core was dropped because its queue was
  // full. Also bit 29 of the register at 0x1C of the core's notification block;
  // writing that bit there clears it.
  virtual bool notification_overflow(std::uint32_t core) = 0;
  virtual ErrorCounters error_counters() = 0;

  // HBM was handed out, given back, or made visible to a process that may write it
  // unseen: for the checks of `verify`, and so that engines forget old images.
  virtual void memory_allocated(std::uint64_t pa, std::uint64_t bytes) = 0;
  virtual void memory_freed(std::uint64_t pa, std::uint64_t bytes) = 0;
  virtual void memory_mapped(std::uint64_t pa, std::uint64_t bytes) = 0;
  // Engines whose instructions lie in one of the ranges stop where they are, before
  // this returns: their owner has gone and others get the memory.
  virtual void end_programs(std::span<const MemoryRange> gone) = 0;
  // nullptr: nothing is verified.
  virtual Verifier* verifier() = 0;
  // nullptr: nothing is inspected.
  virtual Inspector* inspector() = 0;
};

}  // namespace opennrt::emu
