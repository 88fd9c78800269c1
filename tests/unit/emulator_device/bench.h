// SPDX-License-Identifier: Apache-2.0
//
// A two-core software device with small memories, and short-hands to build
// programs and rings in it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "device/device.h"
#include "opennrt/arch.h"
#include "opennrt/isa/records.h"

extern "C" const nrtp_arch_plugin* nrtp_arch_query(std::uint32_t host_major,
                                                   std::uint32_t host_minor);

namespace opennrt::emu::test {

class Bench : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kHbm = 0x1000000;  // first byte after the carve-out
  static constexpr std::uint64_t kProgram = kHbm + 0x100000;
  static constexpr std::uint64_t kRings = kHbm + 0x400000;
  static constexpr std::uint64_t kData = kHbm + 0x800000;

  Bench() : Bench(nrtp_arch_query(NRTP_ARCH_ABI_MAJOR, NRTP_ARCH_ABI_MINOR)) {}
  explicit Bench(const nrtp_arch_plugin* arch) : arch_(arch) {
    for (std::uint32_t i = 0; i < arch_->n_products; ++i)
      if (std::string(arch_->products[i].name) == "trn1.2xlarge") product_ = &arch_->products[i];
    const nrtp_arch_geometry& g = *arch_->geometry;
    std::string error;
    MemoryConfig config{};
    config.hbm_channels = g.n_hbm;
    config.hbm_channel_bytes = 64 << 20;
    config.host_bytes = 16 << 20;
    config.cores = product_->cores;
    config.sbuf_window_bytes = g.sbuf_window_bytes;
    config.psum_window_bytes = g.psum_window_bytes;
    memory_ = DeviceMemory::create(config, &error);
    EXPECT_TRUE(memory_) << error;
    host_.size = sizeof host_;
    host_.self = this;
    host_.log = [](void* self, std::uint32_t, const char*, const char* text) {
      auto* bench = static_cast<Bench*>(self);
      std::lock_guard lock(bench->log_mutex_);
      bench->log_.emplace_back(text);
    };
    device_ = Device::create(
        {.host = &host_, .arch = arch_, .product = product_, .index = 0, .verify = {}}, memory_,
        &error);
    EXPECT_TRUE(device_) << error;
  }

  Device& dev() { return *device_; }
  const nrtp_arch_address& address() const { return *arch_->address; }
  const nrtp_arch_dma& dma() const { return *arch_->dma; }

  // --- memory

  template <typename T>
  T get(std::uint64_t pa) {
    T value{};
    EXPECT_EQ(dev().read(pa, &value, sizeof value), 0);
    return value;
  }
  template <typename T>
  void put(std::uint64_t pa, T value) {
    EXPECT_EQ(dev().write(pa, &value, sizeof value), 0);
  }

  // --- addresses

  std::uint64_t sem(std::uint32_t core, std::uint32_t index, std::uint32_t op) {
    return address().sem_addr(product_, core, index, op);
  }
  std::uint64_t event(std::uint32_t core, std::uint32_t index) {
    return address().event_addr(product_, core, index);
  }
  std::uint64_t nx(std::uint32_t engine, std::uint64_t reg, std::uint32_t core = 0) {
    return address().nx_device(product_, core, engine) + reg;
  }
  std::uint64_t queue_reg(std::uint32_t engine, std::uint32_t queue, std::uint32_t dir,
                          std::uint32_t reg) {
    return dma().udma_device(product_, engine) + dma().queue_reg(queue, dir, reg);
  }
  std::uint64_t bcast_reg(std::uint32_t queue, std::uint32_t dir, std::uint32_t reg) {
    return dma().bcast_device(product_, 0) + dma().queue_reg(queue, dir, reg);
  }
  std::uint64_t sbuf(std::uint32_t partition, std::uint64_t offset, std::uint32_t core = 0) {
    return address().local_to_device(product_, core, 0) +
           partition * arch_->geometry->sbuf_partition_stride + offset;
  }
  std::uint64_t psum(std::uint32_t partition, std::uint64_t offset, std::uint32_t core = 0) {
    return address().local_to_device(product_, core, arch_->geometry->psum_local_base) +
           partition * arch_->geometry->psum_partition_stride + offset;
  }

  // --- programs

  struct Program {
    std::vector<std::uint8_t> bytes;
    template <typename Record>
    Program& add(const Record& r) {
      static_assert(sizeof r == isa::kRecordBytes);
      const std::size_t at = bytes.size();
      bytes.resize(at + sizeof r);
      std::memcpy(bytes.data() + at, &r, sizeof r);
      return *this;
    }
  };

  void load(const Program& program, std::uint64_t at = kProgram) {
    ASSERT_EQ(dev().write(at, program.bytes.data(), program.bytes.size()), 0);
  }
  void start(std::uint32_t engine, std::uint64_t at = kProgram, std::uint32_t core = 0) {
    const nrtp_arch_ib& ib = *arch_->ib;
    put<std::uint32_t>(nx(engine, ib.nx_start_addr_lo, core), static_cast<std::uint32_t>(at));
    put<std::uint32_t>(nx(engine, ib.nx_start_addr_hi, core), static_cast<std::uint32_t>(at >> 32));
    put<std::uint32_t>(nx(engine, ib.nx_start_ctrl, core), 1);
  }
  bool run() { return dev().run(100000); }
  // Loads, starts and runs one engine's program.
  void execute(const Program& program, std::uint32_t engine = NRTP_ENGINE_SP) {
    load(program);
    start(engine);
    run();
  }

  // --- records

  static isa::ControlRecord halt() { return isa::zero_record<isa::ControlRecord>(isa::kOpHalt); }
  static isa::ControlRecord nop() { return isa::zero_record<isa::ControlRecord>(isa::kOpNop); }
  // A NOP that leaves a mark: semaphore += 1.
  static isa::ControlRecord mark(std::uint8_t semaphore) {
    auto r = nop();
    r.h.update_mode = isa::kUpdateSemInc;
    r.h.update_index = semaphore;
    return r;
  }
  static isa::WriteRecord write(std::uint64_t address0, std::uint32_t data0,
                                std::uint64_t address1 = 0, std::uint32_t data1 = 0) {
    auto r = isa::zero_record<isa::WriteRecord>(isa::kOpWrite);
    r.size0 = 4;
    r.address0 = address0;
    r.data0 = data0;
    if (address1 != 0) {
      r.size1 = 4;
      r.address1 = address1;
      r.data1 = data1;
    }
    return r;
  }
  static isa::MemRecord load_regs(std::uint64_t address, std::vector<std::uint8_t> regs) {
    auto r = isa::zero_record<isa::MemRecord>(isa::kOpTensorLoad);
    r.dtype = isa::kDtUint32;
    r.count_inner = static_cast<std::uint8_t>(regs.size());
    r.count_outer = 1;
    r.step_inner = 1;
    r.address = address;
    std::copy(regs.begin(), regs.end(), r.reg);
    return r;
  }
  static isa::CompareBranchRecord branch(std::uint8_t op, std::uint8_t lhs, std::uint32_t immediate,
                                         std::int32_t slots) {
    auto r = isa::zero_record<isa::CompareBranchRecord>(isa::kOpCompareBranch);
    r.op = op;
    r.dtype = op == 0 ? 0 : isa::kDtUint32;
    r.target_mode = isa::kTargetRelative;
    r.lhs = lhs;
    r.immediate = immediate;
    r.offset = slots * static_cast<std::int32_t>(isa::kRecordBytes);
    return r;
  }

  // --- rings

  static constexpr std::uint32_t kFirst = 1u << 26, kLast = 1u << 27;
  struct Desc {
    std::uint32_t len_ctrl, meta_ctrl;
    std::uint64_t address;
  };
  static Desc tx(std::uint64_t from, std::uint32_t bytes, std::uint32_t flags = kFirst | kLast,
                 std::uint32_t ring_id = 1) {
    return {(bytes & 0xFFFF) | ring_id << 24 | flags, 0x01080003, from};
  }
  static Desc rx(std::uint64_t to, std::uint32_t bytes, std::uint32_t ring_id = 1) {
    return {(bytes & 0xFFFF) | ring_id << 24 | kFirst | kLast, 0, to};
  }
  static std::uint64_t ring_base(std::uint32_t engine, std::uint32_t queue, std::uint32_t dir) {
    return kRings + engine * 0x20000 + queue * 0x2000 + dir * 0x1000;
  }
  void fill(std::uint32_t engine, std::uint32_t queue, std::uint32_t dir,
            const std::vector<Desc>& descs, std::uint32_t at = 0) {
    ASSERT_EQ(dev().write(ring_base(engine, queue, dir) + 16 * at, descs.data(), 16 * descs.size()),
              0);
  }
  void attach(std::uint32_t engine, std::uint32_t queue, std::uint32_t length) {
    dev().queue_init(engine, queue, {ring_base(engine, queue, 0), length},
                     {ring_base(engine, queue, 1), length});
  }

  // --- errors

  // Index of the first log line that contains all texts; fails when none does.
  void expect_logged(const std::vector<std::string>& texts) {
    std::lock_guard lock(log_mutex_);
    for (const std::string& line : log_) {
      if (std::all_of(texts.begin(), texts.end(),
                      [&](const auto& t) { return line.find(t) != std::string::npos; }))
        return;
    }
    std::string all;
    for (const auto& line : log_) all += "\n  " + line;
    ADD_FAILURE() << "no log line with \"" << texts.front() << "\" and the others in:" << all;
  }
  std::size_t log_lines() {
    std::lock_guard lock(log_mutex_);
    return log_.size();
  }

  // --- notification queues

  std::uint64_t nq_bar0(std::uint32_t queue, std::uint32_t reg, std::uint32_t core = 0) {
    return address().notific_bar0(product_, core) + 0x100 + queue * 0x28 + reg;
  }
  void bar0_put(std::uint64_t offset, std::uint32_t value) {
    ASSERT_EQ(dev().bar0_write32(offset, value), 0);
  }
  std::uint32_t bar0_get(std::uint64_t offset) {
    std::uint32_t value = 0xDEAD;
    EXPECT_EQ(dev().bar0_read32(offset, &value), 0);
    return value;
  }
  // Ring in host memory; offset is the host address.
  void nq_init(std::uint32_t queue, std::uint64_t host_address, std::uint32_t bytes,
               std::uint32_t core = 0) {
    const std::uint64_t base = arch_->geometry->host_window_base | host_address;
    bar0_put(nq_bar0(queue, 4, core), static_cast<std::uint32_t>(base >> 32));
    bar0_put(nq_bar0(queue, 0, core), static_cast<std::uint32_t>(base));
    bar0_put(nq_bar0(queue, 8, core), bytes);
  }

  const nrtp_arch_plugin* arch_;
  const nrtp_product* product_ = nullptr;
  nrtp_host host_{};
  std::shared_ptr<DeviceMemory> memory_;
  std::unique_ptr<Device> device_;
  std::mutex log_mutex_;
  std::vector<std::string> log_;
};

}  // namespace opennrt::emu::test
