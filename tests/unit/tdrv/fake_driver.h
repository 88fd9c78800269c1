// SPDX-License-Identifier: Apache-2.0
//
// A driver layer made of maps: counts and fails calls, keeps what is allocated,
// and plays the device's part of an exec request: it walks the exec ring like
// the gate does and writes START and END records.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "opennrt/arch.h"
#include "opennrt/ndl.h"
#include "tdrv/descriptors.h"
#include "tdrv/tdrv.h"

extern "C" const nrtp_arch_plugin* nrtp_arch_query(std::uint32_t, std::uint32_t);

namespace opennrt::tdrv::test {

class FakeDriver {
 public:
  static constexpr std::uint32_t kCores = 2;

  // lnc_mask 0: as the arch says.
  explicit FakeDriver(std::uint32_t lnc_mask = 0);
  FakeDriver(const FakeDriver&) = delete;
  FakeDriver& operator=(const FakeDriver&) = delete;

  Bindings bindings() const;
  const nrtp_arch_plugin& arch() const { return arch_; }
  const nrtp_product& product() const { return *arch_.products; }

  // --- switches ----------------------------------------------------------------
  std::uint64_t fail_at = 0;  // this call (1 = first) fails with fail_with; 0 = none
  int fail_with = -5;         // -EIO
  bool align_supported = true;
  bool has_copy_buf = true, has_copy = true, has_set = true, has_batch = false;
  bool answers = true;             // the device reacts to a kick
  std::uint32_t silent_cores = 0;  // mask of cores that do not
  std::uint64_t hbm_limit = UINT64_MAX;
  nrtp_ndl_memory_errors memory_errors{};
  bool tells_memory_errors = true;
  std::set<std::uint32_t> aborted_engines;  // DMA engines whose queues gave up

  // --- what happened -----------------------------------------------------------
  std::vector<std::string> kernel_log;
  std::uint64_t calls = 0;
  std::map<std::string_view, std::uint64_t> count;  // by member
  std::size_t live_memory() const;
  std::uint64_t live_bytes() const;
  std::size_t open_devices = 0, live_queues = 0;
  std::vector<nrtp_ndl_queue> queue_inits;
  std::map<std::uint64_t, std::uint32_t> registers;
  std::uint64_t clock_ns = 1'000'000'000;  // of the host services; sleep_us advances it
  std::vector<std::uint64_t> alignments;   // asked of the driver

  // One executed exec-ring packet.
  struct Packet {
    std::uint64_t src, dst;
    std::uint32_t bytes, ring_id;
  };
  std::vector<Packet> packets;  // of all requests
  std::vector<std::array<std::uint32_t, 13>> requests;
  std::string ring_error;  // what a gate would stumble over
  // A started core, and the cores that had a request in their exec ring then.
  struct Kick {
    std::uint32_t core, staged_mask;
  };
  std::vector<Kick> kicks;
  std::vector<std::uint32_t> request_cores;  // of `requests`

  // Writes a record into hardware notification queue `queue` of a core.
  void notify(std::uint32_t queue, std::uint16_t kind, std::uint16_t sub_id = 0,
              std::uint64_t time = 0, std::uint32_t core = 0);
  void notify_all(std::uint16_t kind, std::uint32_t core = 0);  // the five engines
  void run_request(std::uint32_t core = 0);  // what the gate does with one request
  std::byte* at(std::uint64_t device_pa, std::uint64_t bytes);

 private:
  struct Memory {
    std::vector<std::byte> bytes;
    std::uint64_t pa = 0;
    bool host = false;
    bool mapped = false;
  };
  struct Queue {
    std::vector<std::uint64_t> storage;
    std::uint32_t next = 0;
    bool phase = true;
  };
  int enter(const char* name);
  void fill_tables();
  static FakeDriver& self(void* ctx) { return *static_cast<FakeDriver*>(ctx); }
  int move(std::uint64_t src, std::uint64_t dst, std::uint64_t src_offset, std::uint64_t dst_offset,
           std::uint64_t bytes);
  Memory* find(std::uint64_t handle);

  nrtp_arch_plugin arch_;
  nrtp_arch_geometry geometry_;
  nrtp_host host_{};
  nrtp_ndl_ops ops_{};
  nrtp_ndl_probe probe_{};
  nrtp_ndl_device device_{};
  nrtp_ndl_reg reg_{};
  nrtp_ndl_mem mem_{};
  nrtp_ndl_copy copy_{};
  nrtp_ndl_dma dma_{};
  nrtp_ndl_sync sync_{};
  nrtp_ndl_nq nq_{};
  nrtp_ndl_life life_{};
  nrtp_ndl_misc misc_{};
  std::map<std::uint64_t, std::unique_ptr<Memory>> memory_;
  std::map<std::uint64_t, std::uint32_t> queue_of_handle_;
  std::array<std::array<Queue, 16>, kCores> queues_;
  std::vector<std::byte> bounce_ = std::vector<std::byte>(2u << 20);
  static constexpr std::uint64_t kBounceHandle = 0xB0B0;
  std::uint64_t next_handle_ = 1, next_hbm_ = 0x1000000, next_host_ = 0x10000;
  std::int32_t async_slot_ = 0;
  struct ExecRing {
    std::uint64_t tx = 0, rx = 0;
    std::uint32_t size = 0, next = 0, ring_id = 1;
  };
  bool staged(const ExecRing& ring);
  std::array<ExecRing, kCores> exec_;
};

// x (8 KiB) -> SBUF -> y, no triggers: rings and requests are what is tested.
std::shared_ptr<const neff::Program> small_program();

}  // namespace opennrt::tdrv::test
