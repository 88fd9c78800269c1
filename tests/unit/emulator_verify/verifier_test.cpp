// SPDX-License-Identifier: Apache-2.0
//
// Programs with one fault each on a device that verifies.
#include "verify/verifier.h"

#include "bench.h"

namespace opennrt::emu::test {
namespace {

class Verified : public Bench {
 protected:
  void make(const VerifyOptions& options) {
    std::string error;
    device_ = Device::create(
        {.host = &host_, .arch = arch_, .product = product_, .index = 0, .verify = options},
        memory_, &error);
    ASSERT_TRUE(device_) << error;
    dev().memory_allocated(kHbm, 32 << 20);
  }
  static VerifyOptions all() {
    return {.order_seed = std::nullopt,
            .poison = true,
            .races = true,
            .coverage = true,
            .bounds = true};
  }
  std::uint64_t findings() { return dev().verifier()->findings(); }

  // FP32 rows of `n` elements at byte `at` of 128 SBUF partitions.
  static void operand(isa::Tensor3d* t, std::uint32_t at, std::uint16_t n) {
    *t = {.address = at, .step = {1, 0, 0}, .count = {n, 1, 1}};
  }
  static isa::TensorTensorRecord add(std::uint32_t a, std::uint32_t b, std::uint32_t out,
                                     std::uint16_t n = 8) {
    auto r = isa::zero_record<isa::TensorTensorRecord>(isa::kOpTensorTensor);
    r.src_dtypes = isa::kDtFloat32 | isa::kDtFloat32 << 4;
    r.dst_dtype = isa::kDtFloat32;
    r.op = 4;
    r.partitions = 128;
    operand(&r.src0, a, n);
    operand(&r.src1, b, n);
    operand(&r.dst, out, n);
    return r;
  }
  void host_fills(std::uint32_t at, std::uint32_t bytes) {
    std::vector<std::uint8_t> zeros(bytes);
    for (std::uint32_t p = 0; p < 128; ++p)
      ASSERT_EQ(dev().write(sbuf(p, at), zeros.data(), bytes), 0);
  }
};

TEST_F(Verified, AGoodProgramIsNotReported) {
  make(all());
  host_fills(0, 64);
  Program p;
  p.add(add(0, 32, 64)).add(add(64, 64, 96)).add(halt());
  execute(p, NRTP_ENGINE_DVE);
  EXPECT_EQ(findings(), 0u) << log_.size();
}

TEST_F(Verified, ReadOfMemoryNeverWritten) {
  make(all());
  host_fills(0, 32);
  Program p;
  p.add(add(0, 32, 64)).add(halt());
  execute(p, NRTP_ENGINE_DVE);
  EXPECT_EQ(findings(), 1u);
  expect_logged({"verify:", "source 1", "SBUF partition 0 byte 32", "never written"});
}

TEST_F(Verified, PoisonIsNotANumber) {
  make(all());
  const auto word = get<std::uint32_t>(sbuf(5, 128));
  EXPECT_EQ(word, 0xFFFFFFFFu);
}

// POOL and DVE share a row without a semaphore.
TEST_F(Verified, WriteNotOrderedAfterWrite) {
  make(all());
  host_fills(0, 64);
  Program first, second;
  first.add(add(0, 32, 64)).add(halt());
  second.add(add(0, 32, 64)).add(halt());
  load(first);
  load(second, kProgram + 0x1000);
  start(NRTP_ENGINE_DVE);
  start(NRTP_ENGINE_POOL, kProgram + 0x1000);
  run();
  EXPECT_EQ(findings(), 1u);
  expect_logged({"verify:", "destination", "not ordered after the write of core 0"});
}

// POOL counts to 1 itself, DVE to 2: "greater than 1" is ordered after DVE, as
// "at least 2" is.
TEST_F(Verified, EveryComparisonThatNeedsTheIncrementOrdersAfterIt) {
  struct Case {
    std::uint8_t mode;
    std::uint32_t value;
  };
  for (const Case c :
       {Case{isa::kWaitSemGe, 2}, Case{isa::kWaitSemGt, 1}, Case{isa::kWaitSemEq, 2}}) {
    make(all());
    host_fills(0, 64);
    const auto counted = [](isa::TensorTensorRecord r) {
      r.h.update_mode = isa::kUpdateSemInc;
      r.h.update_index = 20;
      return r;
    };
    auto consumer = add(96, 96, 128);
    consumer.h.wait_mode = c.mode;
    consumer.h.wait_index = 20;
    consumer.h.value = c.value;
    load(Program{}.add(counted(add(0, 32, 64))).add(consumer).add(mark(21)).add(halt()));
    load(Program{}.add(counted(add(0, 32, 96))).add(halt()), kProgram + 0x1000);
    start(NRTP_ENGINE_POOL);
    run();
    start(NRTP_ENGINE_DVE, kProgram + 0x1000);
    run();
    EXPECT_EQ(dev().semaphore_read(0, 21), 1u) << int{c.mode};
    EXPECT_EQ(findings(), 0u) << int{c.mode};
  }
}

TEST_F(Verified, ReadNotOrderedAfterWriteAndTheSemaphoreThatOrdersIt) {
  for (const bool waits : {false, true}) {
    make(all());
    log_.clear();
    host_fills(0, 64);
    auto producer = add(0, 32, 64);
    producer.h.update_mode = isa::kUpdateSemInc;
    producer.h.update_index = 20;
    auto consumer = add(64, 64, 96);
    if (waits) {
      consumer.h.wait_mode = isa::kWaitSemGe;
      consumer.h.wait_index = 20;
      consumer.h.value = 1;
    }
    Program first, second;
    first.add(producer).add(halt());
    second.add(consumer).add(halt());
    load(first);
    load(second, kProgram + 0x1000);
    // The producer runs first, so that only the order is at stake.
    start(NRTP_ENGINE_POOL);
    run();
    start(NRTP_ENGINE_DVE, kProgram + 0x1000);
    run();
    if (waits) {
      EXPECT_EQ(findings(), 0u);
    } else {
      EXPECT_EQ(findings(), 2u);  // both sources
      expect_logged({"source 0", "reads", "not ordered after the write of core 0 POOL"});
    }
  }
}

TEST_F(Verified, WriteNotOrderedAfterRead) {
  make(all());
  host_fills(0, 64);
  Program reader, writer;
  reader.add(add(0, 32, 64)).add(halt());
  writer.add(add(32, 32, 0)).add(halt());
  load(reader);
  load(writer, kProgram + 0x1000);
  start(NRTP_ENGINE_POOL);
  run();
  start(NRTP_ENGINE_DVE, kProgram + 0x1000);
  run();
  EXPECT_EQ(findings(), 1u);
  expect_logged({"destination", "writes", "not ordered after the read of core 0 POOL"});
}

// Two engines read a row that nobody wrote: no race, and it stays unwritten.
TEST_F(Verified, ReadsOfMemoryNeverWrittenDoNotCountAsWrites) {
  for (const bool poison : {false, true}) {
    SCOPED_TRACE(poison);
    VerifyOptions options = all();
    options.poison = poison;
    make(options);
    log_.clear();
    load(Program{}.add(add(0, 0, 64)).add(halt()));
    load(Program{}.add(add(0, 0, 96)).add(halt()), kProgram + 0x1000);
    load(Program{}.add(add(64, 64, 0)).add(halt()), kProgram + 0x2000);
    start(NRTP_ENGINE_POOL);
    run();
    start(NRTP_ENGINE_DVE, kProgram + 0x1000);
    run();
    EXPECT_EQ(findings(), poison ? 1u : 0u);  // once
    for (const std::string& line : log_)
      EXPECT_EQ(line.find("not ordered"), std::string::npos) << line;
    EXPECT_EQ(dev().verifier()->first_unwritten(dev().memory_at(sbuf(3, 0), 32), 32), 0u);
    // Who writes it must come after both.
    start(NRTP_ENGINE_POOL, kProgram + 0x2000);
    run();
    EXPECT_EQ(findings(), poison ? 2u : 1u);
    expect_logged({"destination", "writes", "not ordered after the read of core 0 DVE"});
  }
}

// An update posted when the operands are read says nothing of the result.
TEST_F(Verified, AnUpdateWhenReadOrdersTheReadsAndNotTheWrite) {
  constexpr std::uint8_t kIncrementWhenRead = isa::kUpdateSemInc & 0xF;
  for (const bool overwrites_source : {true, false}) {
    SCOPED_TRACE(overwrites_source);
    make(all());
    log_.clear();
    host_fills(0, 64);
    auto producer = add(0, 32, 64);
    producer.h.update_mode = kIncrementWhenRead;
    producer.h.update_index = 20;
    auto consumer = overwrites_source ? add(32, 32, 0) : add(64, 64, 96);
    consumer.h.wait_mode = isa::kWaitSemGe;
    consumer.h.wait_index = 20;
    consumer.h.value = 1;
    load(Program{}.add(producer).add(mark(21)).add(halt()));
    load(Program{}.add(consumer).add(halt()), kProgram + 0x1000);
    // The record behind it is over when the result is there.
    auto later = add(64, 64, 128);
    later.h.wait_mode = isa::kWaitSemGe;
    later.h.wait_index = 21;
    later.h.value = 1;
    load(Program{}.add(later).add(halt()), kProgram + 0x2000);
    start(NRTP_ENGINE_POOL);
    run();
    start(NRTP_ENGINE_DVE, kProgram + 0x1000);
    run();
    EXPECT_EQ(findings(), overwrites_source ? 0u : 2u);  // both sources
    if (!overwrites_source)
      expect_logged({"source 0", "reads", "not ordered after the write of core 0 POOL"});
    start(NRTP_ENGINE_DVE, kProgram + 0x2000);
    run();
    EXPECT_EQ(findings(), overwrites_source ? 0u : 2u);
  }
}

// An engine rings a queue that fills a row; reading it at once is a race, after
// the queue's semaphore it is not.
TEST_F(Verified, DmaIsOrderedByItsSemaphoreOnly) {
  for (const bool waits : {false, true}) {
    make(all());
    host_fills(0, 64);
    std::vector<std::uint8_t> bytes(512, 1);
    ASSERT_EQ(dev().write(kData, bytes.data(), bytes.size()), 0);
    put<std::uint32_t>(kData + 0x1000, 1);
    attach(3, 4, 64);
    fill(3, 4, 0, {tx(kData, 32), tx(kData + 0x1000, 4)});
    fill(3, 4, 1, {rx(sbuf(0, 0), 32), rx(sem(0, 30, NRTP_SEM_INC), 4)});
    auto reader = add(0, 0, 96, 8);
    if (waits) {
      reader.h.wait_mode = isa::kWaitSemGe;
      reader.h.wait_index = 30;
      reader.h.value = 1;
    }
    Program p;
    p.add(write(queue_reg(3, 4, 1, NRTP_QREG_TAIL_INC), 2, queue_reg(3, 4, 0, NRTP_QREG_TAIL_INC),
                2));
    p.add(reader).add(halt());
    execute(p, NRTP_ENGINE_DVE);
    EXPECT_EQ(findings(), waits ? 0u : 2u);
    if (!waits) expect_logged({"source 0", "not ordered after the write of DMA engine 3 queue 4"});
  }
}

TEST_F(Verified, DmaOutsideEveryAllocation) {
  make(all());
  dev().memory_freed(kHbm, 32 << 20);
  dev().memory_allocated(kHbm, kData - kHbm + 16);
  std::vector<std::uint8_t> bytes(64, 1);
  ASSERT_EQ(dev().write(kData, bytes.data(), bytes.size()), 0);
  attach(3, 4, 64);
  fill(3, 4, 0, {tx(kData, 32)});
  fill(3, 4, 1, {rx(sbuf(0, 0), 32)});
  ASSERT_EQ(dev().queue_start(3, 4, 1, 1), 0);
  EXPECT_EQ(findings(), 1u);
  expect_logged({"DMA engine 3 queue 4", "reads 32 bytes", "not all inside allocated memory"});
}

TEST_F(Verified, IgnoredRangesAreNotChecked) {
  make(all());
  dev().memory_freed(kHbm, 32 << 20);
  dev().memory_allocated(kHbm, kData - kHbm + 16);
  std::vector<std::uint8_t> bytes(64, 1);
  ASSERT_EQ(dev().write(kData, bytes.data(), bytes.size()), 0);
  attach(3, 4, 64);
  fill(3, 4, 0, {tx(kData, 32), tx(kData, 32), tx(kData, 32)});
  fill(3, 4, 1, {rx(sbuf(0, 0), 32), rx(sbuf(0, 0), 32), rx(sbuf(0, 0), 32)});
  dev().verifier()->ignore_range(kData, 32);
  ASSERT_EQ(dev().queue_start(3, 4, 1, 1), 0);
  EXPECT_EQ(findings(), 0u);
  // A range that ends too early does not cover the access.
  dev().verifier()->ignore_range(kData, 31);
  ASSERT_EQ(dev().queue_start(3, 4, 1, 1), 0);
  EXPECT_EQ(findings(), 1u);
  dev().verifier()->ignore_range(kData, 32);
  dev().verifier()->forget_names(kData, 1);
  ASSERT_EQ(dev().queue_start(3, 4, 1, 1), 0);
  EXPECT_EQ(findings(), 2u);
}

TEST_F(Verified, NamesOfRangesAppear) {
  make(all());
  dev().verifier()->name_range(kData, 64, "weights");
  attach(3, 4, 64);
  fill(3, 4, 0, {tx(kData + 8, 32)});
  fill(3, 4, 1, {rx(sbuf(0, 0), 32)});
  ASSERT_EQ(dev().queue_start(3, 4, 1, 1), 0);
  EXPECT_EQ(findings(), 1u);
  expect_logged({"'weights' + 8", "never written"});
  dev().verifier()->forget_names(kData, 64);
}

TEST_F(Verified, UnwrittenOutputBytesAreFound) {
  make(all());
  Verifier& v = *dev().verifier();
  std::uint8_t* memory = dev().memory_at(kData, 256);
  ASSERT_NE(memory, nullptr);
  v.host_wrote(memory, 256);
  EXPECT_EQ(v.first_unwritten(memory, 256), 256u);
  v.never_written(memory, 256);
  EXPECT_EQ(v.first_unwritten(memory, 256), 0u);
  v.host_wrote(memory, 100);
  v.host_wrote(memory + 101, 155);
  EXPECT_EQ(v.first_unwritten(memory, 256), 100u);
}

TEST_F(Verified, NothingIsTrackedWhenNothingIsAsked) {
  EXPECT_EQ(dev().verifier(), nullptr);
  make({.order_seed = 5, .poison = false, .races = false, .coverage = false, .bounds = false});
  Program p;
  p.add(add(0, 32, 64)).add(halt());
  execute(p, NRTP_ENGINE_DVE);
  EXPECT_EQ(findings(), 0u);
}

// A chain over three engines and a DMA queue gives the same bytes for every
// seed, and its order is one that the waits allow.
TEST_F(Verified, RandomOrderKeepsWhatTheWaitsAsk) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    VerifyOptions options = all();
    options.order_seed = seed;
    make(options);
    host_fills(0, 64);
    for (std::uint32_t p = 0; p < 128; ++p) put<float>(sbuf(p, 0), static_cast<float>(p));
    put<std::uint32_t>(kData + 0x1000, 1);
    attach(3, 4, 64);
    fill(3, 4, 0, {tx(sbuf(7, 64), 4), tx(kData + 0x1000, 4)});
    fill(3, 4, 1, {rx(kData, 4), rx(sem(0, 31, NRTP_SEM_INC), 4)});
    auto first = add(0, 0, 64);  // 2 p
    first.h.update_mode = isa::kUpdateSemInc;
    first.h.update_index = 20;
    auto ring =
        write(queue_reg(3, 4, 1, NRTP_QREG_TAIL_INC), 2, queue_reg(3, 4, 0, NRTP_QREG_TAIL_INC), 2);
    ring.h.wait_mode = isa::kWaitSemGe;
    ring.h.wait_index = 20;
    ring.h.value = 1;
    auto last = add(64, 64, 64);  // 4 p, over what the queue has copied
    last.h.wait_mode = isa::kWaitSemGe;
    last.h.wait_index = 31;
    last.h.value = 1;
    Program a, b, c;
    a.add(first).add(halt());
    b.add(ring).add(halt());
    c.add(last).add(halt());
    load(a);
    load(b, kProgram + 0x1000);
    load(c, kProgram + 0x2000);
    start(NRTP_ENGINE_POOL, kProgram + 0x2000);
    start(NRTP_ENGINE_SP, kProgram + 0x1000);
    start(NRTP_ENGINE_DVE);
    while (run()) {
    }
    ASSERT_EQ(findings(), 0u) << "seed " << seed;
    EXPECT_EQ(get<float>(kData), 14.0f) << "seed " << seed;
    EXPECT_EQ(get<float>(sbuf(7, 64)), 28.0f) << "seed " << seed;
  }
}

}  // namespace
}  // namespace opennrt::emu::test
