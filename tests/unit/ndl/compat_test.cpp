// SPDX-License-Identifier: Apache-2.0
//
// ndl-compat on a scripted driver: which form of a request is sent, what the
// caller gets, what makes an operation go the old way for good.
#include <gmock/gmock.h>

#include <numeric>
#include <thread>

#include "fake_port.h"
#include "opennrt/arch.h"

namespace opennrt::ndl_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr uint64_t k4G = uint64_t{1} << 32;
constexpr uint64_t kAll = 0x1FF;
constexpr uint64_t without(uint32_t bit) { return kAll & ~(uint64_t{1} << bit); }

// Request codes and argument sizes of the older forms.
constexpr uint32_t kAllocV2 = 0x80084E66, kAllocV2mt = 0x80304E66;
constexpr uint32_t kCopyOld = 0x80084E17, kCopy64 = 0x80284E17;
constexpr uint32_t kBufOld = 0xC0084E18, kBuf64 = 0xC0284E18;
constexpr uint32_t kSetOld = 0x80084E1C, kSet64 = 0x80204E1C;
constexpr uint32_t kProgramOld = 0xC0084E69, kProgram64 = 0xC0284E69;
constexpr uint32_t kDescOld = 0x80084E26, kDesc64 = 0x80284E26;
constexpr uint32_t kAsyncOld = 0xC0304E6C, kAsync64 = 0xC0384E6C, kAsyncWait = 0x40184E6D;
constexpr uint32_t kQueueInit = 0x80084E21, kQueueBatch = 0xB0084E85;
constexpr uint32_t kChunkV1 = 0xC0184E6F, kChunkV2 = 0xC0204E6F;
constexpr uint32_t kPrintkCode = 0x40104E71;
constexpr uint32_t kBoard = 0x40084E64;
constexpr uint32_t kMarkOld = 0x40084E55, kMarkExt = 0xC0504E55;
constexpr uint32_t kUnmarkOld = 0x40084E56, kUnmarkExt = 0x40504E56;
constexpr uint32_t kPodInfoCode = 0xC1044E79, kPodStatusV1 = 0xC10C4E7A, kPodStatusV2 = 0xC1144E7A;
constexpr uint32_t kPodCtrlV1 = 0xC0104E7B, kPodCtrlV2 = 0xC0144E7B;
constexpr uint32_t kNqV2 = 0x80084E35, kNqRealloc = 0x80084E36;
constexpr uint32_t kScrub = 0xC0104E76, kScrubWait = 0xC0084E77;
constexpr uint32_t kZerocopy = 0xC0304E7C, kBatches = 0xC0204E81;
constexpr uint32_t kDmabufCode = 0x80084E6B;
constexpr uint32_t kCoreMapCode = 0xC0104E78;
constexpr uint32_t kH2tAllocCode = 0xC0144E7D, kH2tFreeCode = 0xC0084E7E;
constexpr uint32_t kPlacementCode = 0x40104E83;

struct CompatTest : NdlTest {
  void SetUp() override {
    NdlTest::SetUp();
    if (HasFatalFailure()) return;
    callbacks.clear();
    ops->probe->register_soft_incompat(ctx, [](const char* text) { callbacks.emplace_back(text); });
    port.on(kAllocV2mt, 48, [this](void* arg) {
      *get<uint64_t*>(arg, 40) = ++port.last_driver_handle;
      return int64_t{0};
    });
    port.on(kAllocV2, 40, [this](void* arg) {
      *get<uint64_t*>(arg, 32) = ++port.last_driver_handle;
      return int64_t{0};
    });
    for (const auto& [code, bytes] : std::map<uint32_t, size_t>{{kCopyOld, 32},
                                                                {kBufOld, 32},
                                                                {kSetOld, 24},
                                                                {kProgramOld, 32},
                                                                {kDescOld, 32},
                                                                {kQueueInit, 48},
                                                                {kMarkOld, 24},
                                                                {kUnmarkOld, 24},
                                                                {kNqV2, 48},
                                                                {kNqRealloc, 56},
                                                                {kBoard, 8}})
      port.on(code, bytes, [](void*) { return int64_t{0}; });
    host.table.arch = [](void*, uint32_t) { return arch(); };
  }
  void features(uint64_t word) { port.driver(3, 10, 11, word); }
  // Memory whose end is not checked by us, so that large offsets reach the forms.
  uint64_t open_ended(uint64_t dev) {
    uint64_t mem = 0;
    EXPECT_EQ(ops->mem->alloc_contig(ctx, dev, 8192, 0, 0, &mem), 0);
    return mem;
  }
  size_t sent(uint32_t code) { return port.calls_of(code).size(); }
  std::vector<uint8_t> last(uint32_t code) {
    const auto calls = port.calls_of(code);
    return calls.empty() ? std::vector<uint8_t>{} : calls.back().arg;
  }
  std::vector<std::string> warnings() {
    const std::lock_guard guard(host.lock);
    std::vector<std::string> found;
    for (const FakeHost::Line& line : host.lines)
      if (line.level == NRTP_LOG_WARN) found.push_back(line.text);
    return found;
  }
  // A silicon of four cores whose default copy queue is core mod 2.
  static const nrtp_arch_plugin* arch() {
    static nrtp_arch_geometry geometry = [] {
      nrtp_arch_geometry g{};
      g.tpbs = 4;
      return g;
    }();
    static nrtp_arch_dma dma = [] {
      nrtp_arch_dma d{};
      d.host_queue = [](const nrtp_product*, uint32_t core) { return core % 2; };
      return d;
    }();
    static nrtp_product product{};
    static nrtp_arch_plugin plugin = [] {
      nrtp_arch_plugin p{};
      p.geometry = &geometry;
      p.dma = &dma;
      p.products = &product;
      p.n_products = 1;
      return p;
    }();
    return &plugin;
  }

  static inline std::vector<std::string> callbacks;
  char buffer[4096] = {};
};

// --- probe

TEST_F(CompatTest, ACurrentDriverNeedsNoWord) {
  EXPECT_EQ(ops->probe->probe(ctx), 0);
  EXPECT_EQ(ops->caps(ctx), kAll);
  EXPECT_THAT(warnings(), IsEmpty());
  EXPECT_THAT(callbacks, IsEmpty());
}

TEST_F(CompatTest, AnOlderDriverIsDrivenWithOneLine) {
  port.texts["/sys/module/neuron/version"] = "2.19.64.0\n";
  features(0x3F);
  EXPECT_EQ(ops->probe->probe(ctx), 0);
  EXPECT_EQ(ops->caps(ctx), 0x3Fu);
  EXPECT_THAT(warnings(),
              ElementsAre(AllOf(HasSubstr("driver 2.19.64.0 lacks 64-bit sizes (bit 6), contiguous "
                                          "scratchpad (bit 7):"),
                                HasSubstr("ndl-compat"), HasSubstr("aws-neuronx-dkms"))));
  EXPECT_EQ(callbacks, warnings());
}

TEST_F(CompatTest, AMissingRequestIsNamedToo) {
  port.fail(kChunkV2, -EINVAL);
  EXPECT_EQ(ops->probe->probe(ctx), 0);
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("lacks MEM_MC_GET_INFO_V2 (request 111):")));
}

// The device is not attached to for longer than the question takes.
TEST_F(CompatTest, ProbingLeavesNoDeviceDescriptorOpen) {
  EXPECT_EQ(ops->probe->probe(ctx), 0);
  EXPECT_EQ(port.open_count(), 1u);
  for (const auto& [fd, file] : port.files) EXPECT_EQ(file.flags, NRTP_OPEN_WRITE);
}

TEST_F(CompatTest, HardRefusalsStay) {
  port.driver(3, 8, 10, kAll);
  EXPECT_EQ(ops->probe->probe(ctx), -EPROTONOSUPPORT);
  port.driver(3, 11, 12, kAll);
  EXPECT_EQ(ops->probe->probe(ctx), -EPROTONOSUPPORT);
  port.texts["/sys/module/neuron/version"] = "1.9";
  EXPECT_EQ(ops->probe->probe(ctx), -EPROTONOSUPPORT);
}

// Neither feature word nor board request: the device itself tells its silicon,
// which decides about the window.
TEST_F(CompatTest, ADriverWithoutFeatureWordAndBoardRequest) {
  port.driver(2, 5, 7, 0);
  port.fail(kDriverInfoCode, -EINVAL);
  port.fail(kBoard, -EINVAL);
  port.on(kDeviceInfoCode, 80, [](void* arg) {
    put<uint32_t>(arg, 0, 2);
    put<uint32_t>(arg, 4, 240);
    return int64_t{0};
  });
  EXPECT_EQ(ops->probe->probe(ctx), 0);
  EXPECT_EQ(ops->caps(ctx), 0u);
  uint32_t board = 0, revision = 0;
  EXPECT_EQ(ops->device->board_info(ctx, &board, &revision), 0);
  EXPECT_EQ(board, 2u);
  EXPECT_EQ(revision, 240u);
  EXPECT_EQ(sent(kBoard), 1u) << "latched";
}

// --- allocation

TEST_F(CompatTest, AllocationTakesTheWidestFormTheDriverHas) {
  const struct {
    uint64_t features;
    uint32_t code;
    size_t type_offset;  // 0: the form has no category
  } rows[] = {{kAll, kMemAllocCode, 32},
              {without(4), kMemAllocCode, 32},
              {without(6), kAllocV2mt, 32},
              {without(6) & without(4), kAllocV2, 0}};
  for (const auto& row : rows) {
    void* fresh = nullptr;
    features(row.features);
    ASSERT_EQ(ops->attach(&host.table, port.table(), &port, &fresh), 0);
    uint64_t dev = 0, mem = 0;
    ASSERT_EQ(ops->device->open(fresh, 0, &dev, nullptr), 0);
    port.calls.clear();
    EXPECT_EQ(ops->mem->alloc(fresh, dev, 8192, 65536, 0, 1, 0, 3, 10, &mem), 0);
    const auto arg = last(row.code);
    ASSERT_FALSE(arg.empty()) << std::hex << row.features;
    for (const uint32_t code : {kMemAllocCode, kAllocV2mt, kAllocV2})
      EXPECT_EQ(sent(code), code == row.code ? 1u : 0u) << std::hex << row.features;
    EXPECT_EQ(get<uint64_t>(arg.data(), 0), 8192u);
    EXPECT_EQ(get<uint64_t>(arg.data(), 8), 65536u);
    EXPECT_EQ(get<uint32_t>(arg.data(), 16), 0u);
    EXPECT_EQ(get<uint32_t>(arg.data(), 20), 1u);
    EXPECT_EQ(get<uint32_t>(arg.data(), 28), 3u);
    if (row.type_offset) {
      EXPECT_EQ(get<uint32_t>(arg.data(), row.type_offset), 10u);
    }
    ops->detach(fresh);
  }
}

TEST_F(CompatTest, FourGigabytesNeedTheWideForm) {
  features(without(6));
  const uint64_t dev = open_device();
  uint64_t mem = 0;
  EXPECT_EQ(ops->mem->alloc(ctx, dev, k4G, 0, 0, 0, 0, 0, 9, &mem), -EINVAL);
  EXPECT_EQ(sent(kAllocV2mt), 0u);
  EXPECT_EQ(ops->mem->alloc(ctx, dev, k4G - 1, 0, 0, 0, 0, 0, 9, &mem), 0);
  EXPECT_EQ(sent(kAllocV2mt), 1u);
}

TEST_F(CompatTest, ContiguousScratchpadNeedsItsFeature) {
  features(without(7));
  const uint64_t dev = open_device();
  uint64_t mem = 0;
  EXPECT_EQ(ops->mem->alloc_contig(ctx, dev, 8192, 0, 0, &mem), -EINVAL);
  EXPECT_EQ(ops->mem->alloc(ctx, dev, 8192, 0, 0, 0, 0, 0, 19, &mem), -EINVAL);
  EXPECT_EQ(sent(kMemAllocCode), 0u);
}

TEST_F(CompatTest, CopyBuffersUseTheOlderFormToo) {
  features(without(6) & without(4));
  const uint64_t dev = open_device();
  nrtp_ndl_copy_buf copy_buffer{};
  EXPECT_EQ(ops->mem->copy_buf(ctx, dev, 0, &copy_buffer), 0);
  EXPECT_EQ(sent(kAllocV2), 1u);
}

// --- 32-bit forms

// What the members of one operation send without bit 6, and that a value of
// 2^32 in either field sends nothing.
TEST_F(CompatTest, BufferCopies) {
  features(without(6));
  const uint64_t mem = open_ended(open_device());
  EXPECT_EQ(ops->copy->in(ctx, mem, 0xFFFFFFF0, buffer, 16), 0);
  auto arg = last(kBufOld);
  EXPECT_EQ(get<void*>(arg.data(), 8), buffer);
  EXPECT_EQ(get<uint32_t>(arg.data(), 16), 16u);
  EXPECT_EQ(get<uint32_t>(arg.data(), 20), 0xFFFFFFF0u);
  EXPECT_EQ(get<uint32_t>(arg.data(), 24), 1u);
  EXPECT_EQ(ops->copy->out(ctx, mem, 1, buffer, 0xFFFFFFFF), 0);
  arg = last(kBufOld);
  EXPECT_EQ(get<uint32_t>(arg.data(), 16), 0xFFFFFFFFu);
  EXPECT_EQ(get<uint32_t>(arg.data(), 24), 0u);
  for (const auto& [offset, bytes] : {std::pair{k4G, uint64_t{16}}, std::pair{uint64_t{0}, k4G}}) {
    EXPECT_EQ(ops->copy->in(ctx, mem, offset, buffer, bytes), -EINVAL);
    EXPECT_EQ(ops->copy->out(ctx, mem, offset, buffer, bytes), -EINVAL);
  }
  EXPECT_EQ(ops->copy->in(ctx, mem, 0, buffer, 0), 0) << "nothing to do";
  EXPECT_EQ(sent(kBufOld), 2u);
  EXPECT_EQ(sent(kBuf64), 0u);
}

TEST_F(CompatTest, MemoryCopies) {
  features(without(6));
  const uint64_t dev = open_device();
  const uint64_t src = open_ended(dev), dst = open_ended(dev);
  EXPECT_EQ(ops->copy->copy(ctx, src, dst, 0x10, 0x20, 0x1000), 0);
  const auto arg = last(kCopyOld);
  EXPECT_EQ(get<uint32_t>(arg.data(), 16), 0x1000u);
  EXPECT_EQ(get<uint32_t>(arg.data(), 20), 0x10u);
  EXPECT_EQ(get<uint32_t>(arg.data(), 24), 0x20u);
  EXPECT_EQ(ops->copy->copy(ctx, src, dst, k4G, 0, 1), -EINVAL);
  EXPECT_EQ(ops->copy->copy(ctx, src, dst, 0, k4G, 1), -EINVAL);
  EXPECT_EQ(ops->copy->copy(ctx, src, dst, 0, 0, k4G), -EINVAL);
  EXPECT_EQ(sent(kCopyOld), 1u);
  EXPECT_EQ(sent(kCopy64), 0u);
}

TEST_F(CompatTest, Fills) {
  features(without(6));
  const uint64_t mem = open_ended(open_device());
  EXPECT_EQ(ops->copy->set(ctx, mem, k4G, 0xAB, 0x100), 0) << "the offset is 64 bits wide";
  const auto arg = last(kSetOld);
  EXPECT_EQ(get<uint64_t>(arg.data(), 8), k4G);
  EXPECT_EQ(get<uint32_t>(arg.data(), 16), 0xABu);
  EXPECT_EQ(get<uint32_t>(arg.data(), 20), 0x100u);
  EXPECT_EQ(ops->copy->set(ctx, mem, 0, 0xAB, k4G), -EINVAL);
  EXPECT_EQ(sent(kSetOld), 1u);
  EXPECT_EQ(sent(kSet64), 0u);
}

TEST_F(CompatTest, EnginePrograms) {
  features(without(6));
  const uint64_t dev = open_device();
  EXPECT_EQ(ops->copy->program_engine(ctx, dev, 2, 0x2000000000, buffer, 0x40, 0x80), 0);
  const auto arg = last(kProgramOld);
  EXPECT_EQ(get<uint32_t>(arg.data(), 0), 2u);
  EXPECT_EQ(get<uint64_t>(arg.data(), 8), 0x2000000000u);
  EXPECT_EQ(get<uint32_t>(arg.data(), 24), 0x80u);
  EXPECT_EQ(get<uint32_t>(arg.data(), 28), 0x40u);
  EXPECT_EQ(ops->copy->program_engine(ctx, dev, 2, 0, buffer, k4G, 1), -EINVAL);
  EXPECT_EQ(ops->copy->program_engine(ctx, dev, 2, 0, buffer, 0, k4G), -EINVAL);
  EXPECT_EQ(sent(kProgramOld), 1u);
  EXPECT_EQ(sent(kProgram64), 0u);
}

TEST_F(CompatTest, Descriptors) {
  features(without(6));
  const uint64_t mem = open_ended(open_device());
  EXPECT_EQ(ops->dma->desc_write(ctx, mem, buffer, 0x100, 3, 1), 0);
  const auto arg = last(kDescOld);
  EXPECT_EQ(get<uint32_t>(arg.data(), 16), 3u);
  EXPECT_EQ(get<uint32_t>(arg.data(), 20), 0x100u);
  EXPECT_EQ(get<uint32_t>(arg.data(), 24), 1u);
  EXPECT_EQ(ops->dma->desc_write(ctx, mem, buffer, k4G, 3, 1), -EINVAL);
  EXPECT_EQ(sent(kDescOld), 1u);
  EXPECT_EQ(sent(kDesc64), 0u);
}

TEST_F(CompatTest, AsynchronousCopiesInTheOldForm) {
  features(without(6));
  const uint64_t dev = open_device();
  const uint64_t src = open_ended(dev), dst = open_ended(dev);
  port.on(kAsyncOld, 48, [](void* arg) {
    put<int32_t>(arg, 44, get<int32_t>(arg, 40) == 1 ? 2 : 1);
    return int64_t{0};
  });
  int32_t wait = -1;
  constexpr uint64_t kSlot = 133169152;
  EXPECT_EQ(ops->copy->copy_async(ctx, src, dst, 8, 16, kSlot + 100, 0x5000, &wait), 0);
  EXPECT_EQ(wait, 2);
  const auto calls = port.calls_of(kAsyncOld);
  ASSERT_THAT(calls, SizeIs(2));
  EXPECT_EQ(get<uint32_t>(calls[1].arg.data(), 16), 100u);
  EXPECT_EQ(get<uint32_t>(calls[1].arg.data(), 20), 8 + kSlot);
  EXPECT_EQ(get<uint32_t>(calls[1].arg.data(), 24), 16 + kSlot);
  EXPECT_EQ(get<uint64_t>(calls[1].arg.data(), 32), 0x5000 + kSlot);
  EXPECT_EQ(get<int32_t>(calls[1].arg.data(), 40), 1);
  EXPECT_EQ(ops->copy->copy_wait(ctx, dst, wait), 0);
  EXPECT_EQ(sent(kAsyncWait), 1u);
  wait = -1;
  EXPECT_EQ(ops->copy->copy_async(ctx, src, dst, 0, 0, k4G, 0, &wait), -EINVAL);
  EXPECT_EQ(ops->copy->copy_async(ctx, src, dst, k4G, 0, 1, 0, &wait), -EINVAL);
  EXPECT_EQ(ops->copy->copy_async(ctx, src, dst, 0, k4G, 1, 0, &wait), -EINVAL);
  // Fits at the start, but not where the second piece begins.
  EXPECT_EQ(ops->copy->copy_async(ctx, src, dst, k4G - kSlot, 0, 2 * kSlot, 0, &wait), -EINVAL);
  EXPECT_EQ(wait, -1);
  EXPECT_EQ(sent(kAsyncOld), 2u);
  EXPECT_EQ(sent(kAsync64), 0u);
}

TEST_F(CompatTest, WithoutSlotsCopiesAreSynchronous) {
  for (const uint64_t word : {without(1), without(1) & without(6)}) {
    void* fresh = nullptr;
    features(word);
    ASSERT_EQ(ops->attach(&host.table, port.table(), &port, &fresh), 0);
    uint64_t dev = 0, mem = 0;
    ASSERT_EQ(ops->device->open(fresh, 0, &dev, nullptr), 0);
    ASSERT_EQ(ops->mem->alloc(fresh, dev, 8192, 0, 0, 0, 0, 0, 9, &mem), 0);
    port.calls.clear();
    int32_t wait = -1;
    EXPECT_EQ(ops->copy->copy_async(fresh, mem, mem, 0, 4096, 64, 0, &wait), 0);
    EXPECT_EQ(wait, 0);
    EXPECT_EQ(ops->copy->copy_wait(fresh, mem, 0), 0);
    EXPECT_EQ(ops->copy->copy_wait(fresh, mem, 1), -EINVAL) << "never handed out";
    EXPECT_EQ(sent(word & 64 ? kCopy64 : kCopyOld), 1u);
    EXPECT_EQ(sent(kAsync64) + sent(kAsyncOld) + sent(kAsyncWait), 0u);
    wait = 3;
    EXPECT_EQ(ops->copy->copy_async(fresh, mem, mem, 0, 0, 64, 0, &wait), -EINVAL);
    ops->detach(fresh);
  }
}

TEST_F(CompatTest, QueuesOneByOneUntilTheFirstError) {
  features(without(2));
  const uint64_t dev = open_device();
  const nrtp_ndl_queue queues[] = {
      {1, 0, 64, 64, 0, 0}, {2, 0, 64, 64, 0, 0}, {3, 0, 64, 64, 0, 0}};
  EXPECT_EQ(ops->dma->queue_init_batch(ctx, dev, queues, 3), 0);
  EXPECT_EQ(sent(kQueueInit), 3u);
  port.on(kQueueInit, 48,
          [](void* arg) { return int64_t{get<uint32_t>(arg, 0) == 2 ? -EALREADY : 0}; });
  EXPECT_EQ(ops->dma->queue_init_batch(ctx, dev, queues, 3), -EALREADY);
  EXPECT_EQ(sent(kQueueInit), 5u);
  EXPECT_EQ(ops->dma->queue_init_batch(ctx, dev, nullptr, 1), -EINVAL);
  EXPECT_EQ(sent(kQueueBatch), 0u);
}

// --- operations found out by calling

TEST_F(CompatTest, ChunksAreFoundWithTheFirstForm) {
  const uint64_t dev = open_device();
  port.fail(kChunkV2, -EINVAL);
  port.on(kChunkV1, 24, [](void* arg) {
    put<uint64_t>(arg, 8, 0x111000);
    put<uint64_t>(arg, 16, 0x3000);
    return int64_t{0};
  });
  for (int i = 0; i < 3; ++i) {
    uint64_t cookie = 0, bytes = 0, handle = 9;
    EXPECT_EQ(ops->mem->mc_info(ctx, dev, 0x111234, &cookie, &bytes, &handle), 0);
    EXPECT_EQ(cookie, 0x111000u);
    EXPECT_EQ(bytes, 0x3000u);
    EXPECT_EQ(handle, 0u);
  }
  EXPECT_EQ(sent(kChunkV2), 1u);
  EXPECT_EQ(sent(kChunkV1), 3u);
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("MEM_MC_GET_INFO_V2")));
  EXPECT_EQ(callbacks, warnings());
}

// Refused both ways: it is the call that is wrong, not the driver.
TEST_F(CompatTest, AWrongCallLatchesNothing) {
  const uint64_t dev = open_device();
  const uint64_t mem = alloc(dev);
  for (const uint32_t code : {kChunkV2, kChunkV1, kZerocopy, kBuf64, kNqRealloc, kNqV2, kPodCtrlV2,
                              kPodCtrlV1, kPlacementCode})
    port.fail(code, -EINVAL);
  nrtp_ndl_nq_config config{};
  config.size = sizeof config;
  config.bytes = 4096;
  uint64_t nq = 0;
  int32_t device = 0, hbm = 0;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(ops->mem->mc_info(ctx, dev, 0, nullptr, nullptr, nullptr), -EINVAL);
    EXPECT_EQ(ops->copy->zc_in(ctx, mem, 0, buffer, 64, -1, 0), -EINVAL);
    EXPECT_EQ(ops->nq->init(ctx, dev, &config, &nq), -EINVAL);
    EXPECT_EQ(ops->pod->ctrl(ctx, 77, 0, 1, nullptr), -EINVAL);
    EXPECT_EQ(ops->mem->va_placement(ctx, buffer, &device, &hbm), -ENXIO);
  }
  EXPECT_THAT(warnings(), IsEmpty());
  // The newest form is asked again each time.
  for (const uint32_t code : {kChunkV2, kZerocopy, kNqRealloc, kPodCtrlV2, kPlacementCode})
    EXPECT_EQ(sent(code), 2u) << std::hex << code;
}

TEST_F(CompatTest, OtherErrorsAreTheDriversAnswer) {
  const uint64_t dev = open_device();
  port.fail(kChunkV2, -ENOMEM);
  EXPECT_EQ(ops->mem->mc_info(ctx, dev, 0, nullptr, nullptr, nullptr), -ENOMEM);
  EXPECT_EQ(sent(kChunkV1), 0u);
  port.fail(kChunkV2, -EINVAL);
  port.fail(kChunkV1, -ENOMEM);
  EXPECT_EQ(ops->mem->mc_info(ctx, dev, 0, nullptr, nullptr, nullptr), -ENOMEM);
  EXPECT_THAT(warnings(), IsEmpty()) << "the old form found nothing";
}

TEST_F(CompatTest, KernelLogLinesAreDropped) {
  port.fail(kPrintkCode, -EINVAL);
  EXPECT_EQ(ops->misc->printk(ctx, "one", 4, 0), 0);
  EXPECT_EQ(ops->misc->printk(ctx, "two", 4, 0), 0);
  EXPECT_EQ(sent(kPrintkCode), 1u);
  EXPECT_EQ(ops->misc->printk(ctx, nullptr, 4, 0), -EINVAL);
  EXPECT_EQ(ops->misc->printk(ctx, "bad", 3, 0), -EBADMSG);
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("PRINTK")));
}

TEST_F(CompatTest, NoLineForAWrongLine) {
  port.fail(kPrintkCode, -EINVAL);
  EXPECT_EQ(ops->misc->printk(ctx, "bad", 3, 0), -EBADMSG);
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST_F(CompatTest, ReservationOfTheFirst64Cores) {
  features(without(3));
  port.on(kMarkOld, 24, [](void* arg) {
    put<uint32_t>(arg, 12, 7);
    put<uint64_t>(arg, 16, 0xF0);
    return int64_t{0};
  });
  uint64_t bitmap[8] = {9, 9, 9, 9, 9, 9, 9, 9};
  uint32_t longest = 0;
  EXPECT_EQ(ops->share->range_mark(ctx, 4, 4, 63, &longest, bitmap), 0);
  EXPECT_THAT(bitmap, ElementsAre(0xF0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_EQ(longest, 7u);
  const auto arg = last(kMarkOld);
  EXPECT_EQ(get<uint32_t>(arg.data(), 0), 4u);
  EXPECT_EQ(get<uint32_t>(arg.data(), 4), 4u);
  EXPECT_EQ(get<uint32_t>(arg.data(), 8), 63u);
  EXPECT_EQ(ops->share->range_unmark(ctx, bitmap), 0);
  EXPECT_EQ(get<uint64_t>(last(kUnmarkOld).data(), 16), 0xF0u);
  EXPECT_EQ(ops->share->range_mark(ctx, 4, 60, 64, &longest, bitmap), -EINVAL);
  bitmap[3] = 1;
  EXPECT_EQ(ops->share->range_unmark(ctx, bitmap), -EINVAL);
  EXPECT_EQ(sent(kMarkOld), 1u);
  EXPECT_EQ(sent(kUnmarkOld), 1u);
  EXPECT_EQ(sent(kMarkExt) + sent(kUnmarkExt), 0u);
  port.fail(kMarkOld, -EBUSY);
  EXPECT_EQ(ops->share->range_mark(ctx, 4, 0, 63, &longest, bitmap), -EBUSY);
}

TEST_F(CompatTest, PodStatusInTheFirstForm) {
  port.fail(kPodStatusV2, -EINVAL);
  port.on(kPodStatusV1, 268, [](void* arg) {
    EXPECT_EQ(get<uint16_t>(arg, 0), 268u);
    put<uint32_t>(arg, 260, 2);
    put<uint8_t>(arg, 264, 1);
    put<uint8_t>(arg, 265, 4);
    put<int8_t>(arg, 266, 3);
    return int64_t{0};
  });
  for (int i = 0; i < 2; ++i) {
    uint32_t state = 0, type = 0, size = 0, mode = 9, modes = 9;
    int32_t node = 0;
    EXPECT_EQ(ops->pod->status(ctx, nullptr, &state, &type, &size, &node, &mode, &modes), 0);
    EXPECT_EQ(state, 2u);
    EXPECT_EQ(type, 1u);
    EXPECT_EQ(size, 4u);
    EXPECT_EQ(node, 3);
    EXPECT_EQ(mode, 0u);
    EXPECT_EQ(modes, 0u);
  }
  uint32_t state = 0;
  int32_t node = 0;
  EXPECT_EQ(ops->pod->election_state(ctx, &state), 0);
  EXPECT_EQ(ops->pod->mapping_info(ctx, &node), 0);
  EXPECT_EQ(node, 3);
  EXPECT_EQ(sent(kPodStatusV2), 1u);
  EXPECT_EQ(sent(kPodStatusV1), 4u);
}

TEST_F(CompatTest, PodControlInTheFirstFormHasNoMode) {
  port.fail(kPodCtrlV2, -EINVAL);
  port.on(kPodCtrlV1, 16, [](void* arg) {
    EXPECT_EQ(get<uint16_t>(arg, 0), 16u);
    EXPECT_EQ(get<uint32_t>(arg, 4), 1u);
    EXPECT_EQ(get<uint32_t>(arg, 8), 30u);
    put<uint32_t>(arg, 12, 3);
    return int64_t{0};
  });
  uint32_t state = 0;
  EXPECT_EQ(ops->pod->ctrl(ctx, 1, 2, 30, &state), -EINVAL);
  EXPECT_EQ(sent(kPodCtrlV1), 0u);
  EXPECT_EQ(ops->pod->ctrl(ctx, 1, 0, 30, &state), 0);
  EXPECT_EQ(state, 3u);
  EXPECT_EQ(ops->pod->ctrl(ctx, 1, 0, 30, &state), 0);
  EXPECT_EQ(sent(kPodCtrlV2), 2u) << "once refused for its mode, once latched";
}

TEST_F(CompatTest, WithoutPodRequestsTheMachineStandsAlone) {
  for (const uint32_t code : {kPodInfoCode, kPodStatusV2, kPodStatusV1, kPodCtrlV2, kPodCtrlV1})
    port.fail(code, -EINVAL);
  for (int i = 0; i < 2; ++i) {
    uint32_t state = 0, type = 9, size = 9, mode = 9, modes = 9, new_state = 0;
    int32_t node = 9;
    EXPECT_EQ(ops->pod->info(ctx, &type, &size), 0);
    EXPECT_EQ(type, 0u);
    EXPECT_EQ(size, 0u);
    EXPECT_EQ(ops->pod->ctrl(ctx, 0, 0, 10, &new_state), 0);
    EXPECT_EQ(new_state, 4u);
    EXPECT_EQ(ops->pod->status(ctx, nullptr, &state, &type, &size, &node, &mode, &modes), 0);
    EXPECT_EQ(state, 4u);
    EXPECT_EQ(node, -1);
    EXPECT_EQ(mode, 0u);
    EXPECT_EQ(modes, 0u);
  }
  EXPECT_EQ(sent(kPodInfoCode), 1u);
  EXPECT_EQ(sent(kPodStatusV2) + sent(kPodStatusV1), 2u);
  EXPECT_EQ(sent(kPodCtrlV2) + sent(kPodCtrlV1), 2u);
  EXPECT_THAT(warnings(), SizeIs(2));
}

TEST_F(CompatTest, NotificationQueuesInTheEarlierForm) {
  const uint64_t dev = open_device();
  port.fail(kNqRealloc, -EINVAL);
  port.on(kNqV2, 48, [](void* arg) {
    put<uint64_t>(arg, 32, 0x700000);
    put<uint64_t>(arg, 40, 55);
    return int64_t{0};
  });
  nrtp_ndl_nq_config config{};
  config.size = sizeof config;
  config.device_type = 1;
  config.device_id = 6;
  config.nq_type = 2;
  config.engine_index = 4;
  config.bytes = 4096;
  config.host_memory = 1;
  uint64_t nq = 0;
  config.force_alloc = 1;
  EXPECT_EQ(ops->nq->init(ctx, dev, &config, &nq), -EINVAL) << "would keep the memory";
  EXPECT_EQ(sent(kNqV2), 0u);
  config.force_alloc = 0;
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(ops->nq->init(ctx, dev, &config, &nq), 0);
    void* va = nullptr;
    EXPECT_EQ(ops->nq->map(ctx, nq, &va), 0);
    EXPECT_EQ(port.maps[va].offset, 0x700000u);
    EXPECT_EQ(ops->nq->destroy(ctx, nq), 0);
  }
  const auto arg = last(kNqV2);
  EXPECT_EQ(get<uint32_t>(arg.data(), 0), 6u);
  EXPECT_EQ(get<uint32_t>(arg.data(), 4), 1u);
  EXPECT_EQ(get<uint32_t>(arg.data(), 8), 2u);
  EXPECT_EQ(get<uint32_t>(arg.data(), 12), 4u);
  EXPECT_EQ(get<uint32_t>(arg.data(), 16), 4096u);
  EXPECT_EQ(sent(kNqRealloc), 2u);
  EXPECT_EQ(sent(kNqV2), 2u);
}

TEST_F(CompatTest, ScrubIsSkippedAndSaidOnce) {
  features(without(5));
  const uint64_t dev = open_device();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(ops->life->scrub_start(ctx, dev, 0, 1, 0, 0), 0);
    EXPECT_EQ(ops->life->scrub_wait(ctx, dev, 0, 1), 0);
  }
  EXPECT_EQ(sent(kScrub) + sent(kScrubWait), 0u);
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("not scrubbed")));
}

TEST_F(CompatTest, ZeroCopyWithoutTheBit) {
  features(without(8));
  const uint64_t mem = alloc(open_device());
  EXPECT_EQ(ops->copy->zc_in(ctx, mem, 16, buffer, 64, -1, 0), 0);
  EXPECT_EQ(ops->copy->zc_out(ctx, mem, 16, buffer, 64, -1), 0);
  EXPECT_EQ(sent(kBuf64), 2u);
  EXPECT_EQ(sent(kZerocopy), 0u);
  EXPECT_THAT(warnings(), IsEmpty());
}

// The silicon has none although the driver reports it.
TEST_F(CompatTest, ZeroCopyRefusedAtRunTime) {
  const uint64_t mem = alloc(open_device());
  port.fail(kZerocopy, -EINVAL);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(ops->copy->zc_in(ctx, mem, 16, buffer, 64, -1, 0), 0);
    EXPECT_EQ(ops->copy->zc_out(ctx, mem, 16, buffer, 64, -1), 0);
  }
  EXPECT_EQ(sent(kZerocopy), 1u);
  EXPECT_EQ(sent(kBuf64), 4u);
  EXPECT_THAT(warnings(), ElementsAre(HasSubstr("MEM_BUF_ZEROCOPY64:")));
  port.fail(kZerocopy, -ENOENT);
}

TEST_F(CompatTest, ZeroCopyErrorsOtherThanAbsence) {
  const uint64_t mem = alloc(open_device());
  port.fail(kZerocopy, -ENOENT);
  EXPECT_EQ(ops->copy->zc_in(ctx, mem, 16, buffer, 64, 9, 0), -ENOENT);
  EXPECT_EQ(sent(kBuf64), 0u);
}

TEST_F(CompatTest, BatchesOneByOne) {
  for (const bool bit : {false, true}) {
    void* fresh = nullptr;
    features(bit ? kAll : without(8));
    port.fail(kBatches, -EINVAL);
    ASSERT_EQ(ops->attach(&host.table, port.table(), &port, &fresh), 0);
    uint64_t dev = 0, mem = 0;
    ASSERT_EQ(ops->device->open(fresh, 0, &dev, nullptr), 0);
    ASSERT_EQ(ops->mem->alloc(fresh, dev, 8192, 0, 0, 0, 0, 0, 9, &mem), 0);
    port.calls.clear();
    const nrtp_copy_op list[] = {{0, 64, buffer}, {128, 32, buffer + 64}};
    const nrtp_copy_batch batches[] = {{mem, 256, list, 2, 0}, {mem, 1024, list, 1, 0}};
    for (int i = 0; i < 2; ++i) EXPECT_EQ(ops->copy->batch(fresh, dev, batches, 2, 0, -1), 0);
    EXPECT_EQ(sent(kBatches), bit ? 1u : 0u);
    const auto calls = port.calls_of(kBuf64);
    ASSERT_THAT(calls, SizeIs(6));
    EXPECT_EQ(get<uint64_t>(calls[1].arg.data(), 16), 32u);
    EXPECT_EQ(get<uint64_t>(calls[1].arg.data(), 24), 256u + 128u);
    EXPECT_EQ(get<uint64_t>(calls[2].arg.data(), 24), 1024u);
    // One wrong operation, and nothing is copied.
    const nrtp_copy_op bad[] = {{0, 64, buffer}, {8192, 64, buffer}};
    const nrtp_copy_batch wrong = {mem, 0, bad, 2, 0};
    EXPECT_EQ(ops->copy->batch(fresh, dev, &wrong, 1, 1, -1), -EINVAL);
    EXPECT_EQ(ops->copy->batch(fresh, dev, batches, 2, 2, -1), -EINVAL);
    EXPECT_EQ(ops->copy->batch(fresh, dev, batches, 0, 0, -1), -EINVAL);
    EXPECT_EQ(sent(kBuf64), 6u);
    ops->detach(fresh);
  }
}

TEST_F(CompatTest, BatchesInTheNarrowForm) {
  features(without(8) & without(6));
  const uint64_t dev = open_device();
  const uint64_t mem = open_ended(dev);
  const nrtp_copy_op list[] = {{0, 64, buffer}, {k4G, 64, buffer}};
  const nrtp_copy_batch wrong = {mem, 0, list, 2, 0}, right = {mem, 0, list, 1, 0};
  EXPECT_EQ(ops->copy->batch(ctx, dev, &wrong, 1, 0, -1), -EINVAL);
  EXPECT_EQ(sent(kBufOld), 0u) << "nothing of a batch that does not fit";
  EXPECT_EQ(ops->copy->batch(ctx, dev, &right, 1, 0, -1), 0);
  EXPECT_EQ(sent(kBufOld), 1u);
}

TEST_F(CompatTest, DmaBufferNeedsItsFeature) {
  features(without(0));
  int fd = -1;
  EXPECT_EQ(ops->mem->dmabuf_fd(ctx, 0x1000, 4096, &fd), -EINVAL);
  EXPECT_EQ(sent(kDmabufCode), 0u);
}

TEST_F(CompatTest, CoresKeepTheirOrderWithoutAMap) {
  port.on(kBoard, 8, [](void* arg) {
    put<uint32_t>(arg, 0, 3);
    return int64_t{0};
  });
  for (const int error : {-EINVAL, -524}) {
    void* fresh = nullptr;
    ASSERT_EQ(ops->attach(&host.table, port.table(), &port, &fresh), 0);
    port.fail(kCoreMapCode, error);
    port.calls.clear();
    uint32_t count = 0, pairs[12] = {};
    for (int i = 0; i < 2; ++i) EXPECT_EQ(ops->device->nc_map(fresh, 6, &count, pairs), 0);
    EXPECT_EQ(count, 6u);
    EXPECT_THAT(pairs, ElementsAre(0, 0, 0, 1, 0, 2, 0, 3, 1, 0, 1, 1));
    EXPECT_EQ(sent(kCoreMapCode), 1u);
    ops->detach(fresh);
  }
}

TEST_F(CompatTest, HostQueuesAreTheDefaultOnes) {
  const uint64_t dev = open_device();
  port.fail(kH2tAllocCode, -EINVAL);
  uint32_t copies = 9, services = 9, queue = 9;
  EXPECT_EQ(ops->dma->h2t_alloc(ctx, dev, 7, 1, 0, &copies, &services, &queue), -E2BIG);
  EXPECT_EQ(ops->dma->h2t_alloc(ctx, dev, 1, 8, 8, &copies, &services, &queue), -E2BIG);
  EXPECT_THAT(warnings(), IsEmpty()) << "nothing worked yet";
  EXPECT_EQ(ops->dma->h2t_alloc(ctx, dev, 1, 1, 1, &copies, &services, &queue), 0);
  EXPECT_EQ(copies, 2u);
  EXPECT_EQ(services, 0u);
  EXPECT_EQ(queue, 1u);
  EXPECT_EQ(ops->dma->h2t_alloc(ctx, dev, 2, 0, 0, &copies, &services, &queue), 0);
  EXPECT_EQ(copies, 0u);
  EXPECT_EQ(queue, 0u);
  EXPECT_EQ(ops->dma->h2t_free(ctx, dev, 1, 2), 0);
  EXPECT_EQ(ops->dma->h2t_free(ctx, dev, 1, 0), 0);
  EXPECT_EQ(ops->dma->h2t_free(ctx, dev, 1, 6), -ENXIO);
  EXPECT_EQ(sent(kH2tAllocCode), 3u);
  EXPECT_EQ(sent(kH2tFreeCode), 0u);
  EXPECT_THAT(warnings(), SizeIs(1));
}

TEST_F(CompatTest, ProfilesAndMetricsStayRefused) {
  const uint64_t dev = open_device();
  for (const uint32_t code : {0x40084E7Fu, 0x40044E80u, 0x40044E82u, 0xC0084E84u, 0xC0244E86u})
    port.fail(code, -EINVAL);
  uint32_t value = 0;
  uint8_t bitmap[32];
  EXPECT_EQ(ops->misc->profile_set(ctx, dev, 1), -EINVAL);
  EXPECT_EQ(ops->misc->profile_get(ctx, dev, &value), -EINVAL);
  EXPECT_EQ(ops->misc->profile_list(ctx, dev, bitmap, sizeof bitmap), -EINVAL);
  EXPECT_EQ(ops->misc->throttling(ctx, dev, 1), -EINVAL);
  EXPECT_EQ(ops->misc->metrics(ctx, dev, 0), -EINVAL);
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST_F(CompatTest, AddressesAreFoundAmongOurMappings) {
  const uint64_t dev = open_device();
  uint64_t on_hbm2 = 0, on_host = 0;
  ASSERT_EQ(ops->mem->alloc(ctx, dev, 8192, 0, 0, 2, 0, 0, 9, &on_hbm2), 0);
  ASSERT_EQ(ops->mem->alloc(ctx, dev, 8192, 0, 1, 0, 0, 0, 4, &on_host), 0);
  void *device_va = nullptr, *host_va = nullptr;
  ASSERT_EQ(ops->mem->map(ctx, on_hbm2, &device_va), 0);
  ASSERT_EQ(ops->mem->map(ctx, on_host, &host_va), 0);
  port.fail(kPlacementCode, -EINVAL);
  int32_t device = 9, hbm = 9;
  const auto* bytes = static_cast<const char*>(device_va);
  EXPECT_EQ(ops->mem->va_placement(ctx, host_va, &device, &hbm), -ENXIO);
  EXPECT_EQ(device, -1);
  EXPECT_EQ(hbm, -1);
  EXPECT_EQ(ops->mem->va_placement(ctx, bytes + 8191, &device, &hbm), 0);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(hbm, 2);
  EXPECT_EQ(ops->mem->va_placement(ctx, bytes + 8192, &device, &hbm), -ENXIO);
  EXPECT_EQ(ops->mem->va_placement(ctx, bytes - 1, &device, &hbm), -ENXIO);
  EXPECT_EQ(sent(kPlacementCode), 2u) << "latched by the one that was found";
  EXPECT_EQ(ops->mem->unmap(ctx, on_hbm2), 0);
  EXPECT_EQ(ops->mem->va_placement(ctx, bytes, &device, &hbm), -ENXIO);
  // A window of a whole HBM.
  port.on(0xC0204E70, 32, [](void* arg) {
    put<uint64_t>(arg, 16, 0);
    put<uint64_t>(arg, 24, 1 << 20);
    return int64_t{0};
  });
  void* window = nullptr;
  uint64_t window_bytes = 0;
  ASSERT_EQ(ops->reg->hbm_va(ctx, dev, 3, &window, &window_bytes), 0);
  EXPECT_EQ(ops->mem->va_placement(ctx, static_cast<char*>(window) + 77, &device, &hbm), 0);
  EXPECT_EQ(hbm, 3);
}

// --- everywhere

// On a current driver the newest form is sent and nothing is said.
TEST_F(CompatTest, TheNewestFormWhereTheDriverHasIt) {
  const uint64_t dev = open_device();
  const uint64_t mem = alloc(dev);
  port.calls.clear();
  int32_t wait = -1, node = 0, placed = 0;
  uint32_t value = 0;
  uint64_t bitmap[8] = {};
  const nrtp_ndl_queue queue = {1, 0, 64, 64, 0, 0};
  const nrtp_copy_op op = {0, 64, buffer};
  const nrtp_copy_batch one = {mem, 0, &op, 1, 0};
  EXPECT_EQ(ops->copy->in(ctx, mem, 0, buffer, 64), 0);
  EXPECT_EQ(ops->copy->out(ctx, mem, 0, buffer, 64), 0);
  EXPECT_EQ(ops->copy->copy(ctx, mem, mem, 0, 4096, 64), 0);
  EXPECT_EQ(ops->copy->copy_async(ctx, mem, mem, 0, 4096, 64, 0, &wait), 0);
  EXPECT_EQ(ops->copy->set(ctx, mem, 0, 1, 64), 0);
  EXPECT_EQ(ops->copy->program_engine(ctx, dev, 0, 0, buffer, 0, 64), 0);
  EXPECT_EQ(ops->copy->zc_in(ctx, mem, 0, buffer, 64, -1, 0), 0);
  EXPECT_EQ(ops->copy->batch(ctx, dev, &one, 1, 0, -1), 0);
  EXPECT_EQ(ops->dma->queue_init_batch(ctx, dev, &queue, 1), 0);
  EXPECT_EQ(ops->dma->desc_write(ctx, mem, buffer, 0, 1, 0), 0);
  EXPECT_EQ(ops->mem->mc_info(ctx, dev, 0, nullptr, nullptr, nullptr), 0);
  EXPECT_EQ(ops->mem->va_placement(ctx, buffer, &node, &placed), 0);
  EXPECT_EQ(ops->share->range_mark(ctx, 1, 0, 100, &value, bitmap), 0);
  EXPECT_EQ(ops->share->range_unmark(ctx, bitmap), 0);
  EXPECT_EQ(ops->life->scrub_start(ctx, dev, 0, 0, 0, 0), 0);
  EXPECT_EQ(ops->life->scrub_wait(ctx, dev, 0, 0), 0);
  EXPECT_EQ(ops->pod->mapping_info(ctx, &node), 0);
  EXPECT_EQ(ops->pod->ctrl(ctx, 0, 1, 1, &value), 0);
  EXPECT_EQ(ops->misc->printk(ctx, "x", 2, 0), 0);
  for (const uint32_t code : {kBuf64, kCopy64, kAsync64, kSet64, kProgram64, kZerocopy, kBatches,
                              kQueueBatch, kDesc64, kChunkV2, kPlacementCode, kMarkExt, kUnmarkExt,
                              kScrub, kScrubWait, kPodStatusV2, kPodCtrlV2, kPrintkCode})
    EXPECT_GE(sent(code), 1u) << std::hex << code;
  for (const uint32_t code : {kBufOld, kCopyOld, kAsyncOld, kSetOld, kProgramOld, kQueueInit,
                              kDescOld, kChunkV1, kMarkOld, kUnmarkOld, kPodStatusV1, kPodCtrlV1})
    EXPECT_EQ(sent(code), 0u) << std::hex << code;
  EXPECT_THAT(warnings(), IsEmpty());
}

// The feature word is read once, whichever thread comes first, and an operation
// that goes the old way is said once.
TEST_F(CompatTest, ThreadsAtFirstUse) {
  features(without(6));
  port.fail(kChunkV2, -EINVAL);
  port.on(kChunkV1, 24, [](void*) { return int64_t{0}; });
  port.fail(kZerocopy, -EINVAL);
  const uint64_t dev = open_device();
  std::atomic<int> waiting{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      char mine[64] = {};
      ++waiting;
      while (waiting < 4) std::this_thread::yield();
      uint64_t mem = 0;
      EXPECT_EQ(ops->mem->alloc(ctx, dev, 8192, 0, 0, 0, 0, 0, 9, &mem), 0);
      for (int i = 0; i < 20; ++i) {
        EXPECT_EQ(ops->mem->mc_info(ctx, dev, 0x1000, nullptr, nullptr, nullptr), 0);
        EXPECT_EQ(ops->copy->zc_in(ctx, mem, 0, mine, 64, -1, 0), 0);
        EXPECT_EQ(ops->copy->in(ctx, mem, 0, mine, 64), 0);
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sent(kMemAllocCode), 0u);
  EXPECT_EQ(sent(kAllocV2mt), 4u);
  EXPECT_EQ(sent(kChunkV1), 80u);
  EXPECT_LE(sent(kChunkV2), 4u);
  EXPECT_THAT(warnings(), SizeIs(2));
}

TEST_F(CompatTest, TheTableIsComplete) {
  EXPECT_STREQ(ops->name, "ndl-compat");
  // size and reserved, then pointers only.
  const auto full = [](const void* group, size_t bytes) {
    EXPECT_EQ(get<uint32_t>(group, 0), bytes);
    for (size_t at = 8; at < bytes; at += 8) EXPECT_NE(get<void*>(group, at), nullptr) << at;
  };
  full(ops->probe, sizeof *ops->probe);
  full(ops->device, sizeof *ops->device);
  full(ops->reg, sizeof *ops->reg);
  full(ops->mem, sizeof *ops->mem);
  full(ops->copy, sizeof *ops->copy);
  full(ops->dma, sizeof *ops->dma);
  full(ops->sync, sizeof *ops->sync);
  full(ops->nq, sizeof *ops->nq);
  full(ops->life, sizeof *ops->life);
  full(ops->share, sizeof *ops->share);
  full(ops->pod, sizeof *ops->pod);
  full(ops->misc, sizeof *ops->misc);
  EXPECT_EQ(nrtp_ndl_query(2, 0), nullptr);
}

}  // namespace
}  // namespace opennrt::ndl_test
