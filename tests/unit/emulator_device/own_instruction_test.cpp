// SPDX-License-Identifier: Apache-2.0
//
// Instructions that an arch plugin executes itself, and tables that differ in
// counts from those of the built-in families.
#include <atomic>

#include "bench.h"
#include "raw_record.h"

namespace opennrt::emu::test {
namespace {

constexpr std::uint8_t kOwn = 0xF3;
constexpr std::uint32_t kSbufBytes = 0x30000;  // of a partition on the silicon copied here

// What the record asks for, in byte 12.
enum Request : std::uint8_t { kDouble, kFail, kFailSilently, kRegisters, kDevice, kBounds };

int execute_own(std::uint32_t engine, const std::uint8_t in[64], const nrtp_engine_view* view) {
  if (view->size != sizeof *view || view->engine != engine || view->product == nullptr)
    return NRTP_FAILURE;
  std::uint32_t address = 0, value = 0;
  std::memcpy(&address, in + 16, sizeof address);
  switch (in[12]) {
    case kDouble:
      if (int status = view->read_local(view->self, address, &value, 4); status != NRTP_OK)
        return status;
      value *= 2;
      return view->write_local(view->self, address + 8, &value, 4);
    case kFail:
      view->explain(view->self, "the record is not to its taste");
      return NRTP_INVALID;
    case kFailSilently:
      return NRTP_HW_ERROR;
    case kRegisters:
      if (view->read_register(view->self, 64, &value) != NRTP_INVALID ||
          view->write_register(view->self, 64, 1) != NRTP_INVALID ||
          view->write_register(view->self, 63, 77) != NRTP_OK ||
          view->read_register(view->self, 63, &value) != NRTP_OK || value != 77)
        return NRTP_FAILURE;
      return NRTP_OK;
    case kDevice: {
      std::uint64_t from = 0;
      std::memcpy(&from, in + 24, sizeof from);
      if (int status = view->read_device(view->self, from, &value, 4); status != NRTP_OK)
        return status;
      ++value;
      return view->write_device(view->self, from + 4, &value, 4);
    }
    case kBounds: {
      // The last bytes of a partition, of the memory, and one beyond each.
      std::uint8_t byte = 0;
      const auto read = [&](std::uint64_t local, std::uint64_t bytes) {
        return view->read_local(view->self, local, &byte, bytes);
      };
      const bool good = read(kSbufBytes - 1, 1) == NRTP_OK && read(kSbufBytes, 1) == NRTP_INVALID &&
                        read(127 * 0x40000 + kSbufBytes - 1, 1) == NRTP_OK &&
                        read(127 * 0x40000 + kSbufBytes, 1) == NRTP_INVALID &&
                        read(0x2000000 + 0x3FFF, 1) == NRTP_OK &&
                        read(0x2000000 + 0x4000, 1) == NRTP_INVALID &&
                        read(0x2000000 + 128 * 0x8000, 1) == NRTP_INVALID &&
                        read(UINT64_MAX, 1) == NRTP_INVALID &&
                        view->read_local(view->self, 0, &byte, UINT64_MAX) == NRTP_INVALID &&
                        view->write_local(view->self, kSbufBytes - 4, &byte, 5) == NRTP_INVALID;
      return good ? NRTP_OK : NRTP_FAILURE;
    }
    default:
      return NRTP_FAILURE;
  }
}

struct OwnArch {
  nrtp_arch_plugin arch = *nrtp_arch_query(NRTP_ARCH_ABI_MAJOR, NRTP_ARCH_ABI_MINOR);
  nrtp_arch_geometry geometry = *arch.geometry;
  nrtp_arch_semantics semantics{
      .size = sizeof semantics,
      .reserved = 0,
      .claims = [](std::uint32_t engine, std::uint8_t opcode) -> std::uint32_t {
        return (engine == NRTP_ENGINE_DVE && opcode == kOwn) || opcode == isa::op::COPY;
      },
      .execute = execute_own};

  OwnArch() {
    arch.name = "private";
    arch.arch_type = 0x123;
    geometry.semaphores = 100;
    geometry.events = 50;
    arch.geometry = &geometry;
    arch.semantics = &semantics;
  }
};

class OwnInstruction : private OwnArch, public Bench {
 protected:
  OwnInstruction() : Bench(&arch) {}

  static RawRecord own(Request request, std::uint32_t address = 0) {
    RawRecord r(kOwn);
    r.byte(12, request);
    for (std::size_t i = 0; i < 4; ++i) r.byte(16 + i, static_cast<std::uint8_t>(address >> 8 * i));
    return r;
  }
  // True when the engine got past the record.
  bool passes(const RawRecord& r, std::uint32_t engine = NRTP_ENGINE_DVE) {
    const std::uint32_t before = dev().semaphore_read(0, 70);
    execute(Program{}.add(r).add(mark(70)).add(halt()), engine);
    return dev().semaphore_read(0, 70) == before + 1;
  }
};

TEST_F(OwnInstruction, ExecutesBetweenItsWaitAndItsUpdate) {
  put<std::uint32_t>(sbuf(3, 0x100), 21);
  RawRecord r = own(kDouble, 3 * 0x40000 + 0x100);
  r.h.wait_mode = isa::kWaitSemGe;
  r.h.wait_index = 71;
  r.h.value = 2;
  r.h.update_mode = isa::kUpdateSemInc;
  r.h.update_index = 72;
  EXPECT_FALSE(passes(r));
  EXPECT_EQ(get<std::uint32_t>(sbuf(3, 0x108)), 0u);
  dev().semaphore_set(0, 71, 2);
  run();
  EXPECT_EQ(get<std::uint32_t>(sbuf(3, 0x108)), 42u);
  EXPECT_EQ(dev().semaphore_read(0, 72), 1u);
  EXPECT_EQ(dev().semaphore_read(0, 70), 1u);
}

TEST_F(OwnInstruction, SeesWhatItMayAndNoMore) {
  EXPECT_TRUE(passes(own(kBounds)));
  EXPECT_TRUE(passes(own(kRegisters)));
  RawRecord r = own(kDevice);
  for (std::size_t i = 0; i < 8; ++i) r.byte(24 + i, static_cast<std::uint8_t>(kData >> 8 * i));
  put<std::uint32_t>(kData, 8);
  EXPECT_TRUE(passes(r));
  EXPECT_EQ(get<std::uint32_t>(kData + 4), 9u);
}

TEST_F(OwnInstruction, AnAccessToNothingIsReported) {
  RawRecord r = own(kDevice);
  r.byte(24 + 7, 0xF0);
  EXPECT_FALSE(passes(r));
  expect_logged({"DVE at 0x1100000", "where the device has nothing"});
}

TEST_F(OwnInstruction, AFailureStopsTheEngineAndSaysWhy) {
  EXPECT_FALSE(passes(own(kFail)));
  expect_logged({"DVE at 0x1100000: opcode 0xf3: arch private: the record is not to its taste"});
  dev().reset_cores(1);
  EXPECT_FALSE(passes(own(kFailSilently)));
  expect_logged({"arch private: status 6"});
}

TEST_F(OwnInstruction, ComesBeforeThePublishedOneOfItsCode) {
  RawRecord r(isa::op::COPY);
  r.byte(12, kRegisters);
  EXPECT_TRUE(passes(r, NRTP_ENGINE_POOL));
}

TEST_F(OwnInstruction, IsNoneWhereItIsNotClaimed) {
  EXPECT_FALSE(passes(own(kDouble), NRTP_ENGINE_SP));
  expect_logged({"SP at 0x1100000: opcode 0xf3: no instruction has this opcode"});
}

TEST_F(OwnInstruction, ItsHeadIsCheckedLikeAnyOther) {
  RawRecord r = own(kDouble);
  r.h.update_mode = 0x7F;
  EXPECT_FALSE(passes(r));
  expect_logged({"unknown update mode 0x7f"});
}

// --- counts of the table

TEST_F(OwnInstruction, SemaphoresAndEventsEndWhereTheTableSays) {
  const auto refused = [&](std::uint8_t wait_mode, std::uint8_t wait_index,
                           std::uint8_t update_mode, std::uint8_t update_index) {
    dev().reset_cores(1);
    auto r = nop();
    r.h.wait_mode = wait_mode;
    r.h.wait_index = wait_index;
    r.h.update_mode = update_mode;
    r.h.update_index = update_index;
    execute(Program{}.add(r).add(mark(70)).add(halt()), NRTP_ENGINE_SP);
    return dev().semaphore_read(0, 70) == 0;
  };
  EXPECT_FALSE(refused(isa::kWaitEvtClear, 49, isa::kUpdateSemInc, 99));
  EXPECT_TRUE(refused(isa::kWaitSemGe, 100, 0, 0));
  expect_logged({"semaphore 100, a core has 100"});
  EXPECT_TRUE(refused(isa::kWaitEvtClear, 50, 0, 0));
  expect_logged({"event 50, a core has 50"});
  EXPECT_TRUE(refused(0, 0, isa::kUpdateSemInc, 100));
  EXPECT_TRUE(refused(0, 0, isa::kUpdateEvtSet, 50));
  EXPECT_FALSE(refused(0, 0, isa::kUpdateEvtSet, 49));

  dev().semaphore_set(0, 100, 5);
  EXPECT_EQ(dev().semaphore_read(0, 100), 0u);
  dev().event_write(0, 50, 1);
  EXPECT_EQ(dev().event_read(0, 50), 0u);

  auto clear = isa::zero_record<isa::RangeClearRecord>(isa::kOpRangeClear);
  clear.mode = 1;
  clear.last = 100;
  dev().reset_cores(1);
  execute(Program{}.add(clear).add(halt()), NRTP_ENGINE_SP);
  expect_logged({"semaphore 100, a core has 100"});
}

TEST(TableLimits, ADeviceIsNotMadeOfWhatRecordsCannotName) {
  const nrtp_arch_plugin& good = *nrtp_arch_query(NRTP_ARCH_ABI_MAJOR, NRTP_ARCH_ABI_MINOR);
  MemoryConfig memory{};
  memory.hbm_channels = good.geometry->n_hbm;
  memory.hbm_channel_bytes = 64 << 20;
  memory.host_bytes = 16 << 20;
  memory.cores = good.geometry->tpbs;
  memory.sbuf_window_bytes = good.geometry->sbuf_window_bytes;
  memory.psum_window_bytes = good.geometry->psum_window_bytes;
  std::string error;
  const std::shared_ptr<DeviceMemory> shared = DeviceMemory::create(memory, &error);
  ASSERT_TRUE(shared) << error;
  const auto refusal = [&](auto change) {
    nrtp_arch_plugin arch = good;
    nrtp_arch_geometry g = *good.geometry;
    change(g);
    arch.geometry = &g;
    error.clear();
    EXPECT_FALSE(Device::create({.arch = &arch, .product = good.products}, shared, &error));
    return error;
  };
  EXPECT_NE(refusal([](auto& g) { g.semaphores = 257; }).find("257 semaphores"), std::string::npos);
  EXPECT_NE(refusal([](auto& g) { g.events = 300; }).find("300 events"), std::string::npos);
  EXPECT_NE(refusal([](auto& g) { g.engines = 17; }).find("17 engines"), std::string::npos);
  EXPECT_NE(refusal([](auto& g) { g.error_queue = 16; }).find("error queue 16"), std::string::npos);
  EXPECT_NE(refusal([](auto& g) { g.sbuf_partitions = 129; }).find("129 partitions"),
            std::string::npos);
  EXPECT_NE(refusal([](auto& g) { g.sbuf_partition_bytes = 0x40001; }).find("262145"),
            std::string::npos);
}

}  // namespace
}  // namespace opennrt::emu::test
