// SPDX-License-Identifier: Apache-2.0
//
// Memory of one core, ACT table memory, and the execution of single compute
// records through their plans.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "compute/numeric.h"
#include "compute/operand.h"
#include "compute/plan.h"
#include "device/bus.h"
#include "opennrt/isa/layouts.h"
#include "opennrt/isa/records.h"

extern "C" const nrtp_arch_plugin* nrtp_arch_query(std::uint32_t host_major,
                                                   std::uint32_t host_minor);

namespace opennrt::emu::test {

namespace layout = isa::layout;

// A device of memory and table memory only.
class LabBus final : public Bus {
 public:
  static constexpr std::uint64_t kTableBytes = 0x100000;

  explicit LabBus(const AddressMap& map) : map_(map), tables(kTableBytes) {}

  const AddressMap& map() const override { return map_; }
  bool bus_read(std::uint64_t pa, void* out, std::uint64_t bytes, const Origin&) override {
    ++reads;
    const std::uint64_t base =
        map_.arch().address->local_to_device(map_.product(), 0, map_.arch().tables->act[0].local);
    if (pa < base || pa - base > kTableBytes || bytes > kTableBytes - (pa - base)) return false;
    std::memcpy(out, tables.data() + (pa - base), bytes);
    return true;
  }
  bool bus_write(std::uint64_t, const void*, std::uint64_t, const Origin&) override {
    return false;
  }
  std::uint64_t table_version() const override { return version; }
  SyncBank& sync(std::uint32_t) override { return sync_; }
  void notify(std::uint32_t, std::uint32_t, const Notification&) override {}
  void report(const Origin&, ErrorType, std::uint16_t, const std::string&) override {}

 private:
  const AddressMap& map_;
  SyncBank sync_;

 public:
  std::vector<std::uint8_t> tables;  // of ACT, from the first part on
  std::uint64_t version = 1;
  int reads = 0;
};

using Record = std::array<std::uint8_t, isa::kRecordBytes>;

class Lab : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kPsum = 0x2000000;

  Lab() {
    arch_ = nrtp_arch_query(NRTP_ARCH_ABI_MAJOR, NRTP_ARCH_ABI_MINOR);
    const nrtp_product* product = &arch_->products[0];
    const nrtp_arch_geometry& g = *arch_->geometry;
    MemoryConfig config{};
    config.hbm_channels = g.n_hbm;
    config.hbm_channel_bytes = 1 << 20;
    config.host_bytes = 1 << 20;
    config.cores = 1;
    config.sbuf_window_bytes = g.sbuf_window_bytes;
    config.psum_window_bytes = g.psum_window_bytes;
    std::string error;
    memory_ = DeviceMemory::create(config, &error);
    EXPECT_TRUE(memory_) << error;
    map_ = std::make_unique<AddressMap>(arch_, product, *memory_, 1);
    bus_ = std::make_unique<LabBus>(*map_);
    state_.bus = bus_.get();
    state_.core = 0;
    on(NRTP_ENGINE_ACT);
  }

  // Engine and silicon family of the records that follow.
  void on(std::uint32_t engine, isa::Generation generation = isa::Generation::kSunda) {
    state_.engine = engine;
    generation_ = generation;
  }

  // Executes a record; returns the refusal, empty on success.
  std::string run(const Record& record) {
    std::string error;
    const PlanContext context{*map_, 0, state_.engine, generation_};
    if (!find_plan_maker(record[0])) return "no plan maker";
    const auto plan = plan_compute(context, record.data(), &error);
    if (!plan) return error.empty() ? "refused without a reason" : error;
    if (!plan->execute(state_, &error)) return error.empty() ? "failed without a reason" : error;
    return {};
  }
  void ok(const Record& record) { EXPECT_EQ(run(record), ""); }
  // The refusal names all texts.
  void refused(const Record& record, std::initializer_list<const char*> texts) {
    const std::string error = run(record);
    EXPECT_NE(error, "");
    for (const char* text : texts)
      EXPECT_NE(error.find(text), std::string::npos) << "no \"" << text << "\" in: " << error;
  }

  static Record record(std::uint8_t opcode) {
    Record r{};
    r[0] = opcode;
    r[1] = 0x10;
    return r;
  }
  // A tensor pattern of up to four dimensions in `dims` dimensions' worth of room.
  static void pattern(std::uint8_t* at, std::uint32_t address, int dims, std::vector<int> counts,
                      std::vector<int> steps) {
    std::memcpy(at, &address, 4);
    for (int i = 0; i < dims; ++i) {
      const auto k = static_cast<std::size_t>(i);
      const std::int16_t step = static_cast<std::int16_t>(k < steps.size() ? steps[k] : 0);
      const std::uint16_t count = static_cast<std::uint16_t>(k < counts.size() ? counts[k] : 1);
      std::memcpy(at + 4 + 2 * i, &step, 2);
      std::memcpy(at + 4 + 2 * dims + 2 * i, &count, 2);
    }
  }

  // Values in SBUF (address below kPsum) or PSUM, in a partition.
  template <typename T>
  T* at(std::uint32_t address, std::uint32_t partition = 0) {
    const nrtp_arch_geometry& g = *arch_->geometry;
    if (address >= kPsum)
      return reinterpret_cast<T*>(map_->psum(0) + (address - kPsum) +
                                  partition * g.psum_partition_stride);
    return reinterpret_cast<T*>(map_->sbuf(0) + address + partition * g.sbuf_partition_stride);
  }
  template <typename T>
  void fill(std::uint32_t address, std::uint32_t partition, const std::vector<T>& values) {
    std::memcpy(at<T>(address, partition), values.data(), values.size() * sizeof(T));
  }

  const nrtp_arch_plugin* arch_ = nullptr;
  std::shared_ptr<DeviceMemory> memory_;
  std::unique_ptr<AddressMap> map_;
  std::unique_ptr<LabBus> bus_;
  EngineState state_;
  isa::Generation generation_ = isa::Generation::kSunda;
};

// Distance in units of the last place of the larger magnitude.
inline double ulps(float have, double want) {
  if (have == want) return 0;
  const double unit = std::ldexp(1.0, std::max(std::ilogb(want == 0 ? 1e-45 : want), -126) - 23);
  return std::fabs(have - want) / unit;
}

}  // namespace opennrt::emu::test
