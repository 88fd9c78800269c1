// SPDX-License-Identifier: Apache-2.0
//
// Every operation: the request it sends, the descriptor it uses, the bytes of
// its argument and what it makes of the answer. Codes and offsets are written
// out as numbers.
#include <gmock/gmock.h>

#include <array>

#include "fake_port.h"

namespace opennrt::ndl_test {
namespace {

using ::testing::ElementsAre;

enum class Via { kHandle, kCached, kMisc };

struct Case {
  const char* name;
  uint32_t code;
  size_t arg_bytes;
  Via via;
  std::vector<uint8_t> expected;
  std::function<int(const nrtp_ndl_ops&, void*, uint64_t)> call;  // ops, ctx, dev
};

const nrtp_uuid kUuid = {{1, 2, 3, 4}};
uint32_t g_out32;
uint64_t g_out64;
int32_t g_signed;
std::array<uint64_t, 8> g_bitmap = {1, 2, 3, 4, 5, 6, 7, 8};
std::array<uint8_t, 264> g_buffer;

std::vector<Case> cases() {
  using Ops = const nrtp_ndl_ops&;
  return {
      {"board_info", 0x40084E64, 8, Via::kMisc, Bytes().zeros(8),
       [](Ops o, void* c, uint64_t) { return o.device->board_info(c, &g_out32, &g_out32); }},
      {"compat", 0x40084E5D, 8, Via::kMisc, Bytes().zeros(8),
       [](Ops o, void* c, uint64_t) {
         return o.probe->get_compatible_version(c, &g_out32, &g_out32);
       }},
      {"bdf", 0x80084E65, 8, Via::kCached, Bytes().zeros(8),
       [](Ops o, void* c, uint64_t) {
         nrtp_ndl_bdf out;
         return o.device->bdf(c, 0, &out);
       }},
      {"bdf_ext", 0x80084E6A, 16, Via::kMisc, Bytes().u32(9).zeros(12),
       [](Ops o, void* c, uint64_t) {
         nrtp_ndl_bdf out;
         return o.device->bdf_ext(c, 9, &out);
       }},
      {"host_device_id", 0x80044E72, 4, Via::kHandle, Bytes().zeros(4),
       [](Ops o, void* c, uint64_t d) { return o.device->host_device_id(c, d, &g_out32); }},
      {"eng_set_state", 0x80084E1F, 8, Via::kCached, Bytes().u32(131).u32(2),
       [](Ops o, void* c, uint64_t d) { return o.dma->eng_set_state(c, d, 131, 2); }},
      {"queue_release", 0x80084E22, 8, Via::kCached, Bytes().u32(5).u32(15),
       [](Ops o, void* c, uint64_t d) { return o.dma->queue_release(c, d, 5, 15); }},
      {"queue_start", 0x80084E23, 16, Via::kCached, Bytes().u32(5).u32(3).u32(7).u32(8),
       [](Ops o, void* c, uint64_t d) { return o.dma->queue_start(c, d, 5, 3, 7, 8); }},
      {"queue_ack", 0x80084E24, 12, Via::kCached, Bytes().u32(5).u32(3).u32(7),
       [](Ops o, void* c, uint64_t d) { return o.dma->queue_ack(c, d, 5, 3, 7); }},
      {"h2t_alloc", 0xC0144E7D, 20, Via::kHandle, Bytes().u16(20).u16(3).u16(2).u16(1).zeros(12),
       [](Ops o, void* c, uint64_t d) {
         return o.dma->h2t_alloc(c, d, 3, 2, 1, &g_out32, &g_out32, &g_out32);
       }},
      {"h2t_free", 0xC0084E7E, 8, Via::kHandle, Bytes().u16(8).u8(3).u8(0).u32(0x30),
       [](Ops o, void* c, uint64_t d) { return o.dma->h2t_free(c, d, 3, 0x30); }},
      {"compl_queues", 0xC1084E87, 264, Via::kHandle, Bytes().zeros(264),
       [](Ops o, void* c, uint64_t d) {
         g_buffer.fill(0);
         return o.dma->compl_queues(c, d, g_buffer.data(), 264);
       }},
      {"sem_inc", 0x80084E29, 12, Via::kHandle, Bytes().u32(1).u32(255).u32(3),
       [](Ops o, void* c, uint64_t d) { return o.sync->sem_inc(c, d, 1, 255, 3); }},
      {"sem_dec", 0x80084E2A, 12, Via::kHandle, Bytes().u32(1).u32(2).u32(3),
       [](Ops o, void* c, uint64_t d) { return o.sync->sem_dec(c, d, 1, 2, 3); }},
      {"sem_read", 0xC0084E2B, 12, Via::kHandle, Bytes().u32(1).u32(2).u32(0),
       [](Ops o, void* c, uint64_t d) { return o.sync->sem_read(c, d, 1, 2, &g_out32); }},
      {"sem_write", 0x80084E2C, 12, Via::kHandle, Bytes().u32(1).u32(2).u32(3),
       [](Ops o, void* c, uint64_t d) { return o.sync->sem_write(c, d, 1, 2, 3); }},
      {"event_set", 0x80084E2D, 12, Via::kHandle, Bytes().u32(7).u32(255).u32(1),
       [](Ops o, void* c, uint64_t d) { return o.sync->event_set(c, d, 7, 255, 1); }},
      {"event_get", 0xC0084E2E, 12, Via::kHandle, Bytes().u32(7).u32(2).u32(0),
       [](Ops o, void* c, uint64_t d) { return o.sync->event_get(c, d, 7, 2, &g_out32); }},
      {"reset", 0x80084E67, 8, Via::kCached, Bytes().u32(0xFFFFFFFF).u32(0),
       [](Ops o, void* c, uint64_t d) { return o.life->reset(c, d, 0xFFFFFFFF, &g_out32); }},
      {"ready", 0x80084E68, 8, Via::kCached, Bytes().u32(77).u32(0xFFFFFFFF),
       [](Ops o, void* c, uint64_t d) { return o.life->ready(c, d, 77, &g_out32); }},
      {"nc_state", 0x40084E5B, 12, Via::kHandle, Bytes().u32(2).u32(1).u32(0),
       [](Ops o, void* c, uint64_t d) { return o.life->nc_state(c, d, 2, 1, &g_out32); }},
      {"started_count", 0x40084E5C, 16, Via::kHandle, Bytes().u32(2).zeros(12),
       [](Ops o, void* c, uint64_t d) { return o.life->started_count(c, d, 2, &g_out64); }},
      {"scrub_start", 0xC0104E76, 16, Via::kHandle, Bytes().u32(2).u32(1).u32(0).u32(9),
       [](Ops o, void* c, uint64_t d) { return o.life->scrub_start(c, d, 2, 1, 0, 9); }},
      {"scrub_wait", 0xC0084E77, 8, Via::kHandle, Bytes().u32(2).u32(1),
       [](Ops o, void* c, uint64_t d) { return o.life->scrub_wait(c, d, 2, 1); }},
      {"reader_enter", 0x40084E51, 36, Via::kHandle,
       Bytes().u32(2).u8(1).u8(2).u8(3).u8(4).zeros(28),
       [](Ops o, void* c, uint64_t d) { return o.share->reader_enter(c, d, 2, &kUuid); }},
      {"reader_exit", 0x40084E52, 36, Via::kHandle,
       Bytes().u32(2).u8(1).u8(2).u8(3).u8(4).zeros(28),
       [](Ops o, void* c, uint64_t d) { return o.share->reader_exit(c, d, 2, &kUuid); }},
      {"writer_enter", 0x40084E53, 36, Via::kHandle,
       Bytes().u32(2).u8(1).u8(2).u8(3).u8(4).zeros(28),
       [](Ops o, void* c, uint64_t d) { return o.share->writer_enter(c, d, 2, &kUuid); }},
      {"writer_downgrade", 0x40084E54, 36, Via::kHandle,
       Bytes().u32(2).u8(1).u8(2).u8(3).u8(4).zeros(28),
       [](Ops o, void* c, uint64_t d) { return o.share->writer_downgrade(c, d, 2, &kUuid); }},
      {"range_mark", 0xC0504E55, 80, Via::kMisc, Bytes().u32(4).u32(8).u32(31).zeros(68),
       [](Ops o, void* c, uint64_t) {
         uint64_t bitmap[8];
         return o.share->range_mark(c, 4, 8, 31, &g_out32, bitmap);
       }},
      {"range_unmark", 0x40504E56, 80, Via::kMisc,
       Bytes().zeros(16).u64(1).u64(2).u64(3).u64(4).u64(5).u64(6).u64(7).u64(8),
       [](Ops o, void* c, uint64_t) { return o.share->range_unmark(c, g_bitmap.data()); }},
      {"pod_info", 0xC1044E79, 260, Via::kMisc, Bytes().u16(260).zeros(258),
       [](Ops o, void* c, uint64_t) { return o.pod->info(c, &g_out32, &g_out32); }},
      {"pod_status", 0xC1144E7A, 276, Via::kMisc, Bytes().u16(276).zeros(274),
       [](Ops o, void* c, uint64_t) {
         return o.pod->status(c, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
       }},
      {"pod_election", 0xC1144E7A, 276, Via::kMisc, Bytes().u16(276).zeros(274),
       [](Ops o, void* c, uint64_t) { return o.pod->election_state(c, &g_out32); }},
      {"pod_mapping", 0xC1144E7A, 276, Via::kMisc, Bytes().u16(276).zeros(274),
       [](Ops o, void* c, uint64_t) { return o.pod->mapping_info(c, &g_signed); }},
      {"pod_ctrl", 0xC0144E7B, 20, Via::kMisc, Bytes().u16(20).u16(0).u32(3).u32(60).u32(0).u32(4),
       [](Ops o, void* c, uint64_t) { return o.pod->ctrl(c, 3, 4, 60, &g_out32); }},
      {"dump_nc_pid", 0xC0104E75, 16, Via::kMisc, Bytes().u32(16).u32(5).u32(1).u32(10),
       [](Ops o, void* c, uint64_t) { return o.misc->dump_nc_pid(c, 5, 1, 10); }},
      {"profile_set", 0x40084E7F, 8, Via::kHandle, Bytes().u16(8).u16(0).u32(3),
       [](Ops o, void* c, uint64_t d) { return o.misc->profile_set(c, d, 3); }},
      {"profile_get", 0xC0084E84, 8, Via::kHandle, Bytes().u16(8).u16(1).u32(0),
       [](Ops o, void* c, uint64_t d) { return o.misc->profile_get(c, d, &g_out32); }},
      {"profile_list", 0xC0244E86, 36, Via::kHandle, Bytes().zeros(36),
       [](Ops o, void* c, uint64_t d) { return o.misc->profile_list(c, d, g_buffer.data(), 32); }},
      {"throttling", 0x40044E82, 4, Via::kHandle, Bytes().u32(1),
       [](Ops o, void* c, uint64_t d) { return o.misc->throttling(c, d, 1); }},
      {"metrics", 0x40044E80, 4, Via::kHandle, Bytes().u32(1),
       [](Ops o, void* c, uint64_t d) { return o.misc->metrics(c, d, 1); }},
      {"mc_info", 0xC0204E6F, 32, Via::kHandle, Bytes().u64(0x12345000).zeros(24),
       [](Ops o, void* c, uint64_t d) {
         return o.mem->mc_info(c, d, 0x12345000, &g_out64, &g_out64, &g_out64);
       }},
      {"va_placement", 0x40104E83, 16, Via::kMisc,
       Bytes().u64(0x5000).u32(0xFFFFFFFF).u32(0xFFFFFFFF),
       [](Ops o, void* c, uint64_t) {
         return o.mem->va_placement(c, reinterpret_cast<void*>(0x5000), &g_signed, &g_signed);
       }},
      {"rid_map", 0xC1044E73, 260, Via::kMisc, Bytes().zeros(260),
       [](Ops o, void* c, uint64_t) {
         uint32_t map[64], count = 64;
         return o.device->rid_map(c, &count, map);
       }},
  };
}

class EveryOp : public NdlTest, public ::testing::WithParamInterface<Case> {
 protected:
  void SetUp() override {
    NdlTest::SetUp();
    dev = open_device();
  }
  uint64_t dev = 0;
};

TEST_P(EveryOp, SendsItsRequest) {
  const Case& c = GetParam();
  port.on(c.code, c.arg_bytes, [](void*) { return int64_t{0}; });
  EXPECT_EQ(c.call(*ops, ctx, dev), 0);
  const auto calls = port.calls_of(c.code);
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].arg, c.expected);
  const OpenFile file = port.file(calls[0].fd);
  EXPECT_EQ(file.path, "/dev/neuron0");
  const uint32_t flags[] = {NRTP_OPEN_READ_WRITE, NRTP_OPEN_READ, NRTP_OPEN_WRITE};
  EXPECT_EQ(file.flags, flags[static_cast<int>(c.via)]);
}

TEST_P(EveryOp, PassesErrorsOn) {
  const Case& c = GetParam();
  for (const auto& [driver, ours] : std::vector<std::pair<int64_t, int>>{
           {-EINVAL, -EINVAL}, {-1, -EPERM}, {-524, -524}, {44, -EFAULT}}) {
    port.on(c.code, c.arg_bytes, [result = driver](void*) { return result; });
    EXPECT_EQ(c.call(*ops, ctx, dev), ours);
  }
}

TEST_P(EveryOp, RefusesANullContext) { EXPECT_EQ(GetParam().call(*ops, nullptr, dev), -EINVAL); }

TEST_P(EveryOp, NeedsItsDeviceOpenOrNoneAtAll) {
  const Case& c = GetParam();
  const bool without = c.via == Via::kMisc || std::string_view(c.name) == "bdf";
  port.on(c.code, c.arg_bytes, [](void*) { return int64_t{0}; });
  ASSERT_EQ(ops->device->close(ctx, dev), 0);
  EXPECT_EQ(c.call(*ops, ctx, dev), without ? 0 : -EINVAL);
  EXPECT_EQ(port.calls_of(c.code).size(), without ? 1u : 0u);
}

INSTANTIATE_TEST_SUITE_P(Ndl, EveryOp, ::testing::ValuesIn(cases()),
                         [](const auto& param) { return std::string(param.param.name); });

// --- answers

struct OpsTest : NdlTest {
  void SetUp() override {
    NdlTest::SetUp();
    dev = open_device();
  }
  uint64_t dev = 0;
};

TEST_F(OpsTest, AnswersAreHandedOut) {
  port.on(0x40084E64, 8, [](void* arg) {
    put<uint32_t>(arg, 0, 3);
    put<uint32_t>(arg, 4, 240);
    return int64_t{0};
  });
  uint32_t arch = 0, revision = 0;
  EXPECT_EQ(ops->device->board_info(ctx, &arch, &revision), 0);
  EXPECT_EQ(arch, 3u);
  EXPECT_EQ(revision, 240u);

  port.on(0x80084E6A, 16, [](void* arg) {
    put<uint32_t>(arg, 4, 1);
    put<uint32_t>(arg, 8, 0x1E);
    put<uint8_t>(arg, 12, 2);
    put<uint8_t>(arg, 13, 5);
    return int64_t{0};
  });
  nrtp_ndl_bdf bdf{};
  EXPECT_EQ(ops->device->bdf_ext(ctx, 0, &bdf), 0);
  EXPECT_EQ(bdf.domain, 1u);
  EXPECT_EQ(bdf.bus, 0x1Eu);
  EXPECT_EQ(bdf.slot, 2u);
  EXPECT_EQ(bdf.function, 5u);

  port.on(0xC0084E2B, 12, [](void* arg) {
    put<uint32_t>(arg, 8, 17);
    return int64_t{0};
  });
  uint32_t value = 0;
  EXPECT_EQ(ops->sync->sem_read(ctx, dev, 0, 0, &value), 0);
  EXPECT_EQ(value, 17u);

  port.on(0xC0204E6F, 32, [](void* arg) {
    put<uint64_t>(arg, 8, 0xA000);
    put<uint64_t>(arg, 16, 0xB000);
    put<uint64_t>(arg, 24, 6);
    return int64_t{0};
  });
  uint64_t cookie = 0, bytes = 0, handle = 0;
  EXPECT_EQ(ops->mem->mc_info(ctx, dev, 0xA123, &cookie, &bytes, &handle), 0);
  EXPECT_EQ(cookie, 0xA000u);
  EXPECT_EQ(bytes, 0xB000u);
  EXPECT_EQ(handle, 6u);

  port.on(0xC1144E7A, 276, [](void* arg) {
    put<uint8_t>(arg, 2, 0xAB);
    put<uint32_t>(arg, 260, 4);
    put<uint8_t>(arg, 264, 1);
    put<uint8_t>(arg, 265, 2);
    put<int8_t>(arg, 266, -1);
    put<uint32_t>(arg, 268, 3);
    put<uint32_t>(arg, 272, 6);
    return int64_t{0};
  });
  uint8_t pod[256] = {};
  uint32_t state = 0, type = 0, size = 0, mode = 0, modes = 0;
  int32_t node = 0;
  EXPECT_EQ(ops->pod->status(ctx, pod, &state, &type, &size, &node, &mode, &modes), 0);
  EXPECT_EQ(pod[0], 0xAB);
  EXPECT_EQ(state, 4u);
  EXPECT_EQ(type, 1u);
  EXPECT_EQ(size, 2u);
  EXPECT_EQ(node, -1);
  EXPECT_EQ(mode, 3u);
  EXPECT_EQ(modes, 6u);
}

TEST_F(OpsTest, ReadyTurnsThePolarity) {
  int32_t result = 0;
  port.on(0x80084E68, 8, [&](void* arg) {
    put<int32_t>(arg, 4, result);
    return int64_t{0};
  });
  uint32_t ready = 9;
  EXPECT_EQ(ops->life->ready(ctx, dev, 1, &ready), 0);
  EXPECT_EQ(ready, 1u);
  result = 1;
  EXPECT_EQ(ops->life->ready(ctx, dev, 1, &ready), 0);
  EXPECT_EQ(ready, 0u);
}

TEST_F(OpsTest, AnUntouchedReadyAnswerIsNotReady) {
  uint32_t ready = 9;
  EXPECT_EQ(ops->life->ready(ctx, dev, 1, &ready), 0);
  EXPECT_EQ(ready, 0u);
}

TEST_F(OpsTest, APendingResetIsBusy) {
  port.fail(0x80084E67, 1);
  uint32_t request = 9;
  EXPECT_EQ(ops->life->reset(ctx, dev, 1, &request), -EBUSY);
  EXPECT_EQ(request, 9u);
}

TEST_F(OpsTest, AFullRangeTellsTheLongestRun) {
  port.on(0xC0504E55, 80, [](void* arg) {
    put<uint32_t>(arg, 12, 5);
    put<uint64_t>(arg, 16, 0xFF);
    return int64_t{-EBUSY};
  });
  uint32_t longest = 0;
  uint64_t bitmap[8] = {};
  EXPECT_EQ(ops->share->range_mark(ctx, 8, 0, 31, &longest, bitmap), -EBUSY);
  EXPECT_EQ(longest, 5u);
  EXPECT_EQ(bitmap[0], 0u);
}

TEST_F(OpsTest, ARangeComesWithItsBitmap) {
  port.on(0xC0504E55, 80, [](void* arg) {
    put<uint64_t>(arg, 16 + 7 * 8, 0xF0);
    return int64_t{0};
  });
  uint32_t longest = 9;
  uint64_t bitmap[8] = {9};
  EXPECT_EQ(ops->share->range_mark(ctx, 4, 0, 511, &longest, bitmap), 0);
  EXPECT_THAT(bitmap, ElementsAre(0, 0, 0, 0, 0, 0, 0, 0xF0));
}

TEST_F(OpsTest, TheMiscDescriptorStaysOpenWhileCoresAreReserved) {
  uint32_t longest = 0;
  uint64_t bitmap[8] = {};
  EXPECT_EQ(ops->share->range_mark(ctx, 1, 0, 7, &longest, bitmap), 0);
  const int fd = port.calls_of(0xC0504E55).at(0).fd;
  EXPECT_EQ(ops->device->close(ctx, dev), 0);
  EXPECT_FALSE(port.closed.count(fd));
  ops->device->close_all(ctx);
  EXPECT_TRUE(port.closed.count(fd));
}

TEST_F(OpsTest, TheRoutingMapIsCutToTheCallersBuffer) {
  port.on(0xC1044E73, 260, [](void* arg) {
    put<uint32_t>(arg, 0, 16);
    for (uint32_t i = 0; i < 16; ++i) put<uint32_t>(arg, 4 + 4 * i, 100 + i);
    return int64_t{0};
  });
  uint32_t map[3] = {1, 2, 3}, count = 2;
  EXPECT_EQ(ops->device->rid_map(ctx, &count, map), 0);
  EXPECT_EQ(count, 16u);
  EXPECT_THAT(map, ElementsAre(100, 101, 3));
}

TEST_F(OpsTest, TheCoreMapComesAsPairs) {
  port.on(0xC0104E78, 16, [](void* arg) {
    EXPECT_EQ(get<uint32_t>(arg, 8), 2u);   // capacity
    EXPECT_EQ(get<uint32_t>(arg, 12), 0u);  // version
    auto* map = get<uint32_t*>(arg, 0);
    const uint32_t answer[] = {2, 0, 4, 0, 5};
    std::copy(std::begin(answer), std::end(answer), map);
    return int64_t{0};
  });
  uint32_t count = 0, pairs[4] = {};
  EXPECT_EQ(ops->device->nc_map(ctx, 2, &count, pairs), 0);
  EXPECT_EQ(count, 2u);
  EXPECT_THAT(pairs, ElementsAre(0, 4, 0, 5));
}

TEST_F(OpsTest, TheCoreMapNeverAsksForMoreThanTheDriverHas) {
  uint32_t count = 9;
  std::vector<uint32_t> pairs(2 * 1000);
  EXPECT_EQ(ops->device->nc_map(ctx, 1000, &count, pairs.data()), 0);
  EXPECT_EQ(get<uint32_t>(port.calls_of(0xC0104E78).at(0).arg.data(), 8), 128u);
}

TEST_F(OpsTest, AppsInfoFillsTheCallersBuffer) {
  port.on(0x80084E07, 16, [](void* arg) {
    EXPECT_EQ(get<uint16_t>(arg, 0), 15u);
    EXPECT_EQ(get<uint32_t>(arg, 4), 2u);
    put<uint32_t>(arg, 8, 1);
    put<int32_t>(arg, 16, 4711);
    return int64_t{0};
  });
  std::array<uint8_t, 16 + 2 * 152> out{};
  EXPECT_EQ(ops->device->apps_info(ctx, dev, out.data(), 2, 15), 0);
  EXPECT_EQ(get<uint32_t>(out.data(), 8), 1u);
  EXPECT_EQ(get<int32_t>(out.data(), 16), 4711);
  EXPECT_EQ(ops->device->apps_info(ctx, dev, nullptr, 2, 15), -EINVAL);
  EXPECT_EQ(ops->device->apps_info(ctx, dev, out.data(), 2, 0x10000), -EINVAL);
}

TEST_F(OpsTest, MemoryErrorsAreStatisticsOfTheDevice) {
  const std::string dir = "/sys/class/neuron_device/neuron0/stats/hardware/";
  nrtp_ndl_memory_errors errors{7, 7, 7};
  EXPECT_EQ(ops->misc->memory_errors(ctx, dev, &errors), -ENOENT);
  EXPECT_EQ(errors.hbm_uncorrected, 7u);
  port.texts[dir + "sram_ecc_uncorrected"] = "3\n";
  port.texts[dir + "mem_ecc_uncorrected"] = "4294967295\n";
  // Drivers without repair have no third counter.
  ASSERT_EQ(ops->misc->memory_errors(ctx, dev, &errors), 0);
  EXPECT_EQ(errors.sram_uncorrected, 3u);
  EXPECT_EQ(errors.hbm_uncorrected, 4294967295u);
  EXPECT_EQ(errors.hbm_repairable, 0u);
  port.texts[dir + "mem_ecc_repairable_uncorrected"] = "12";
  ASSERT_EQ(ops->misc->memory_errors(ctx, dev, &errors), 0);
  EXPECT_EQ(errors.hbm_repairable, 12u);
  for (const char* bad : {"", "x\n", "1x\n"}) {
    port.texts[dir + "mem_ecc_uncorrected"] = bad;
    EXPECT_EQ(ops->misc->memory_errors(ctx, dev, &errors), -EBADMSG) << bad;
  }
  port.text_errors[dir + "sram_ecc_uncorrected"] = -EIO;
  EXPECT_EQ(ops->misc->memory_errors(ctx, dev, &errors), -EIO);
  EXPECT_EQ(ops->misc->memory_errors(ctx, 0, &errors), -EINVAL);
}

TEST_F(OpsTest, PrintkSendsTextWithItsZero) {
  port.on(0x40104E71, 16, [](void* arg) {
    EXPECT_STREQ(get<const char*>(arg, 0), "hello");
    EXPECT_EQ(get<uint32_t>(arg, 8), 6u);
    EXPECT_EQ(get<uint32_t>(arg, 12), 1u);
    return int64_t{0};
  });
  EXPECT_EQ(ops->misc->printk(ctx, "hello", 6, 1), 0);
  EXPECT_EQ(ops->misc->printk(ctx, "hello", 5, 1), -EBADMSG);
  EXPECT_EQ(ops->misc->printk(ctx, "hello", 0, 1), -EBADMSG);
  EXPECT_EQ(ops->misc->printk(ctx, nullptr, 6, 1), -EINVAL);
  EXPECT_EQ(port.calls_of(0x40104E71).size(), 1u);
}

TEST_F(OpsTest, WriterEnterKeepsAlready) {
  port.fail(0x40084E53, -EALREADY);
  EXPECT_EQ(ops->share->writer_enter(ctx, dev, 0, &kUuid), -EALREADY);
}

TEST_F(OpsTest, TheClockIsThePorts) {
  EXPECT_EQ(ops->misc->now_us(ctx), 12345u);
  ops->misc->sleep_us(ctx, 40);
  EXPECT_THAT(port.sleeps, ElementsAre(40));
  EXPECT_EQ(ops->misc->now_us(nullptr), 0u);
  ops->misc->sleep_us(nullptr, 40);
  EXPECT_EQ(port.sleeps.size(), 1u);
}

TEST_F(OpsTest, NarrowFieldsAreNotCut) {
  EXPECT_EQ(ops->dma->h2t_alloc(ctx, dev, 0x10000, 1, 1, &g_out32, &g_out32, &g_out32), -E2BIG);
  EXPECT_EQ(ops->dma->h2t_alloc(ctx, dev, 0, 0x10000, 1, &g_out32, &g_out32, &g_out32), -E2BIG);
  EXPECT_EQ(ops->dma->h2t_free(ctx, dev, 256, 1), -E2BIG);
  EXPECT_EQ(ops->sync->sem_inc(ctx, dev, 0, 256, 1), -EINVAL);
  EXPECT_EQ(ops->sync->sem_inc(ctx, dev, 0, 65536, 1), -EINVAL);
  EXPECT_EQ(ops->sync->sem_read(ctx, dev, 0, 256, &g_out32), -EINVAL);
  EXPECT_EQ(ops->sync->event_set(ctx, dev, 0, 256, 1), -EINVAL);
  EXPECT_EQ(ops->sync->event_set(ctx, dev, 8, 0, 1), -E2BIG);
  EXPECT_EQ(ops->sync->event_get(ctx, dev, 256, 0, &g_out32), -E2BIG);
  EXPECT_EQ(port.calls.size(), 1u);  // DEVICE_INFO
}

TEST_F(OpsTest, NullOutPointersAreRefused) {
  EXPECT_EQ(ops->device->board_info(ctx, nullptr, nullptr), -EINVAL);
  EXPECT_EQ(ops->device->bdf(ctx, 0, nullptr), -EINVAL);
  EXPECT_EQ(ops->device->bdf_ext(ctx, 0, nullptr), -EINVAL);
  EXPECT_EQ(ops->device->host_device_id(ctx, dev, nullptr), -EINVAL);
  EXPECT_EQ(ops->device->rid_map(ctx, nullptr, nullptr), -EINVAL);
  EXPECT_EQ(ops->device->nc_map(ctx, 1, &g_out32, nullptr), -EINVAL);
  EXPECT_EQ(ops->sync->sem_read(ctx, dev, 0, 0, nullptr), -EINVAL);
  EXPECT_EQ(ops->sync->event_get(ctx, dev, 0, 0, nullptr), -EINVAL);
  EXPECT_EQ(ops->life->reset(ctx, dev, 1, nullptr), -EINVAL);
  EXPECT_EQ(ops->life->ready(ctx, dev, 1, nullptr), -EINVAL);
  EXPECT_EQ(ops->life->nc_state(ctx, dev, 0, 1, nullptr), -EINVAL);
  EXPECT_EQ(ops->life->started_count(ctx, dev, 0, nullptr), -EINVAL);
  EXPECT_EQ(ops->share->reader_enter(ctx, dev, 0, nullptr), -EINVAL);
  EXPECT_EQ(ops->share->range_mark(ctx, 1, 0, 1, nullptr, g_bitmap.data()), -EINVAL);
  EXPECT_EQ(ops->share->range_unmark(ctx, nullptr), -EINVAL);
  EXPECT_EQ(ops->pod->info(ctx, nullptr, nullptr), -EINVAL);
  EXPECT_EQ(ops->pod->election_state(ctx, nullptr), -EINVAL);
  EXPECT_EQ(ops->pod->mapping_info(ctx, nullptr), -EINVAL);
  EXPECT_EQ(ops->misc->profile_get(ctx, dev, nullptr), -EINVAL);
  EXPECT_EQ(ops->misc->profile_list(ctx, dev, nullptr, 32), -EINVAL);
  EXPECT_EQ(ops->misc->memory_errors(ctx, dev, nullptr), -EINVAL);
  EXPECT_EQ(ops->dma->compl_queues(ctx, dev, nullptr, 264), -EINVAL);
  EXPECT_EQ(ops->dma->compl_queues(ctx, dev, g_buffer.data(), 263), -EINVAL);
  EXPECT_EQ(ops->dma->h2t_alloc(ctx, dev, 0, 0, 0, nullptr, nullptr, nullptr), -EINVAL);
}

// --- the table

TEST(NdlTable, IsComplete) {
  const nrtp_ndl_ops* ops = nrtp_ndl_query(1, 0);
  ASSERT_NE(ops, nullptr);
  EXPECT_EQ(ops->head.size, sizeof(nrtp_ndl_ops));
  EXPECT_EQ(ops->head.magic, NRTP_MAGIC);
  EXPECT_EQ(ops->head.kind, uint32_t{NRTP_KIND_NDL});
  EXPECT_STREQ(ops->name, "ndl-kernel");
  EXPECT_EQ(nrtp_ndl_query(2, 0), nullptr);
  EXPECT_EQ(nrtp_ndl_query(1, 99), ops);
  // Every group carries its size and has no empty member.
  const auto full = [](const auto* group) {
    ASSERT_NE(group, nullptr);
    EXPECT_EQ(group->size, sizeof *group);
    const auto* words = reinterpret_cast<const uintptr_t*>(group);
    for (size_t i = 1; i < sizeof *group / sizeof(uintptr_t); ++i) EXPECT_NE(words[i], 0u) << i;
  };
  full(ops->probe);
  full(ops->device);
  full(ops->reg);
  full(ops->mem);
  full(ops->copy);
  full(ops->dma);
  full(ops->sync);
  full(ops->nq);
  full(ops->life);
  full(ops->share);
  full(ops->pod);
  full(ops->misc);
}

TEST(NdlTable, AttachRefusesNulls) {
  const nrtp_ndl_ops* ops = nrtp_ndl_query(1, 0);
  FakePort port;
  FakeHost host;
  void* ctx = nullptr;
  EXPECT_EQ(ops->attach(nullptr, port.table(), &port, &ctx), -EINVAL);
  EXPECT_EQ(ops->attach(&host.table, nullptr, &port, &ctx), -EINVAL);
  EXPECT_EQ(ops->attach(&host.table, port.table(), &port, nullptr), -EINVAL);
  EXPECT_EQ(ctx, nullptr);
  ops->detach(nullptr);
  EXPECT_EQ(ops->caps(nullptr), 0u);
}

}  // namespace
}  // namespace opennrt::ndl_test
