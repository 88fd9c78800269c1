// SPDX-License-Identifier: Apache-2.0
//
// The exec queue of one physical core: a descriptor ring pair in mapped host
// memory from which the engines fetch each request. The device releases
// descriptors by counts in its program (2 at the gate, then the IO switch); the
// host only appends. Nothing here makes a system call after create().
//
// Threading: stage() by one thread at a time, retire() by one thread at a time;
// the two may overlap.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

#include "base/status.h"
#include "tdrv/descriptors.h"
#include "tdrv/dmem.h"

namespace opennrt::tdrv {

// What the gate reads: 13 words, 52 bytes.
using RequestWords = std::array<std::uint32_t, 13>;
inline constexpr std::uint32_t kRequestBytes = 52;

struct RequestFields {
  bool model_switch = false;
  std::array<std::uint64_t, neff::kEngines> engine_address{};  // slot 0 of the image
  bool reload_sequencer = false;
  bool load_tables = false;
};
// Layout of the form: flat from 2.30, interleaved lo/hi pairs before.
RequestWords encode_request(std::uint32_t form, const RequestFields& fields);

// One packet released by the run prologue.
struct Transfer {
  std::uint64_t src = 0, dst = 0;
  std::uint32_t bytes = 0;
};

class ExecQueue {
 public:
  struct Config {
    std::shared_ptr<Allocator> allocator;
    const nrtp_arch_plugin* arch = nullptr;
    const nrtp_product* product = nullptr;
    std::uint32_t core = 0;         // on the device
    std::uint32_t depth = 8;        // requests in flight
    std::uint32_t descriptors = 0;  // ring size, multiple of 16; 0 = from the depth
  };

  // Allocates and maps rings, staging slots and the request buffer, and hands
  // the ring to the driver.
  Status create(const Config& config);
  void release();

  // Device address the engines load request words from.
  std::uint64_t request_pa() const { return request_->address(); }
  // Host-window address of a word that holds the ring length of model queues.
  std::uint64_t length_word_pa() const { return staging_->address(); }

  // Appends one request. NRT_QUEUE_FULL: `depth` requests or the ring are full.
  // *out_descriptors is what retire() takes back.
  Status stage(const RequestWords& request, std::span<const Transfer> io,
               std::uint32_t& out_descriptors);
  // The oldest staged request has completed.
  void retire(std::uint32_t descriptors);

  std::uint32_t capacity() const { return capacity_; }
  std::uint32_t next() const { return next_; }
  std::uint32_t ring_id() const { return ring_id_; }

 private:
  void append(std::uint64_t src, std::uint64_t dst, std::uint32_t bytes, bool barrier);

  const nrtp_arch_dma* dma_ = nullptr;
  DmemPtr tx_memory_, rx_memory_, staging_, request_;
  DmaDescriptor* tx_ = nullptr;
  DmaDescriptor* rx_ = nullptr;
  std::byte* slots_ = nullptr;
  std::uint64_t request_loaded_ = 0, io_switched_ = 0, constant_one_ = 0;  // device addresses
  std::uint32_t capacity_ = 0, slot_count_ = 0;
  // Producer shadow; both sides always advance together.
  std::uint32_t next_ = 0, ring_id_ = 1;
  std::uint64_t staged_requests_ = 0, staged_descriptors_ = 0;
  std::atomic<std::uint64_t> retired_requests_{0}, retired_descriptors_{0};
};

}  // namespace opennrt::tdrv
