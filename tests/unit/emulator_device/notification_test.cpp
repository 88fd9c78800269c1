// SPDX-License-Identifier: Apache-2.0
#include "bench.h"

namespace opennrt::emu::test {
namespace {

class Notifications : public Bench {
 protected:
  static constexpr std::uint32_t kQueue = 4 + NRTP_ENGINE_DVE;
  static constexpr std::uint32_t kBytes = 64;  // four records

  static isa::ControlRecord notify(std::uint16_t kind, std::uint8_t hint = 0,
                                   std::uint16_t sub_id = 0) {
    auto r = isa::zero_record<isa::ControlRecord>(isa::kOpNotify);
    r.h.debug_cmd = 9;
    r.h.debug_hint = hint;
    r.notify_kind = kind;
    r.notify_count = sub_id ? 2 : 1;
    r.notify_sub_id = sub_id;
    return r;
  }
  struct Record {
    std::uint16_t line;
    std::uint8_t hint, tag;
    std::uint16_t sub_id, kind;
    std::uint64_t time;
  };
  Record record(std::uint32_t index, std::uint64_t ring = 0) {
    Record r;
    std::memcpy(&r, memory_->host().data() + ring + 16 * index, 16);
    return r;
  }
  void send(std::uint16_t kind) {
    execute(Program{}.add(notify(kind)).add(halt()), NRTP_ENGINE_DVE);
  }
};

TEST_F(Notifications, RecordOfEachEngine) {
  const std::uint8_t tags[] = {6, 10, 14, 18, 22};
  const std::uint64_t at = 0x2FFC000;  // line 0xbff00: bits 19:16 are used
  for (std::uint32_t e = 0; e < 5; ++e) {
    nq_init(4 + e, 0x1000 * e, kBytes);
    load(Program{}.add(nop()).add(notify(6, 1, 0x1234)).add(halt()), at + 0x8000 * e);
    start(e, at + 0x8000 * e);
    run();
    const Record r = record(0, 0x1000 * e);
    const std::uint64_t line = (at + 0x8000 * e + 64) / 64;
    EXPECT_EQ(r.line, line & 0xFFFF);
    EXPECT_EQ(r.hint, 0x10 | (line >> 16 & 0xF));
    EXPECT_EQ(r.tag, 0x80 | tags[e]);
    EXPECT_EQ(r.sub_id, 0x1234);
    EXPECT_EQ(r.kind, 6);
    EXPECT_EQ(bar0_get(nq_bar0(4 + e, 0x10)), 16u);
  }
}

TEST_F(Notifications, TimeGrowsInThousandthsOfNanoseconds) {
  static std::uint64_t now;
  now = 5000;
  host_.now_ns = [](void*) { return now; };
  std::string error;
  device_ =
      Device::create({.host = &host_, .arch = arch_, .product = product_, .index = 0, .verify = {}},
                     memory_, &error);
  nq_init(kQueue, 0, kBytes);
  now = 5007;
  send(isa::kNotifyStart);
  now = 6000;
  send(isa::kNotifyEnd);
  EXPECT_EQ(record(0).time, 7000u);
  EXPECT_EQ(record(1).time, 1000000u);
}

TEST_F(Notifications, PhaseFlipsPerLapAndTailWraps) {
  nq_init(kQueue, 0, kBytes);
  for (std::uint16_t n = 0; n < 11; ++n) {
    send(static_cast<std::uint16_t>(100 + n));
    const Record r = record(n % 4);
    ASSERT_EQ(r.kind, 100 + n);
    ASSERT_EQ(r.tag >> 7, n / 4 % 2 == 0 ? 1 : 0) << n;
    ASSERT_EQ(bar0_get(nq_bar0(kQueue, 0x10)), (n + 1u) % 4 * 16);
    bar0_put(nq_bar0(kQueue, 0xC), (n + 1u) % 4 * 16);  // consumed
  }
  EXPECT_FALSE(dev().notification_overflow(0));
}

TEST_F(Notifications, FullRingKeepsItsRecordsAndSetsTheOverflowCause) {
  nq_init(kQueue, 0, kBytes);
  const std::uint64_t cause = address().notific_bar0(product_, 0) + 0x1C;
  for (std::uint16_t n = 0; n < 3; ++n) send(n);
  EXPECT_FALSE(dev().notification_overflow(0));
  EXPECT_EQ(bar0_get(cause), 0u);
  send(77);
  EXPECT_TRUE(dev().notification_overflow(0));
  EXPECT_FALSE(dev().notification_overflow(1));
  EXPECT_EQ(bar0_get(cause), 1u << 29);
  for (std::uint16_t n = 0; n < 3; ++n) EXPECT_EQ(record(n).kind, n);
  EXPECT_EQ(record(3).kind, 0);
  expect_logged({"core 0", "notification queue 7", "full"});
  // Room again: the next record goes where the dropped one would have gone.
  bar0_put(nq_bar0(kQueue, 0xC), 16);
  send(78);
  EXPECT_EQ(record(3).kind, 78);
  bar0_put(cause, 1u << 29);
  EXPECT_FALSE(dev().notification_overflow(0));
}

TEST_F(Notifications, NewSetUpStartsAnEmptyRing) {
  nq_init(kQueue, 0, kBytes);
  for (int i = 0; i < 3; ++i) send(1);
  nq_init(kQueue, 0x2000, kBytes);
  EXPECT_EQ(bar0_get(nq_bar0(kQueue, 0x10)), 0u);
  send(9);
  EXPECT_EQ(record(0, 0x2000).kind, 9);
  EXPECT_EQ(record(0, 0x2000).tag & 0x80, 0x80);
}

TEST_F(Notifications, QueueInDeviceMemory) {
  bar0_put(nq_bar0(kQueue, 4), 0x10);
  bar0_put(nq_bar0(kQueue, 0), 0x1000000);
  bar0_put(nq_bar0(kQueue, 8), kBytes);
  send(3);
  EXPECT_EQ(get<std::uint16_t>(0x1001000000 + 6), 3);
}

TEST_F(Notifications, WithoutAQueueTheRecordIsLostAndTheEngineGoesOn) {
  execute(Program{}.add(notify(2)).add(mark(70)).add(halt()), NRTP_ENGINE_DVE);
  EXPECT_EQ(dev().semaphore_read(0, 70), 1u);
  // A base that is not memory is told.
  bar0_put(nq_bar0(kQueue, 4), 0xF000);
  bar0_put(nq_bar0(kQueue, 8), kBytes);
  execute(Program{}.add(notify(2)).add(mark(70)).add(halt()), NRTP_ENGINE_DVE);
  EXPECT_EQ(dev().semaphore_read(0, 70), 2u);
  expect_logged({"notification queue 7", "not a ring in memory"});
}

}  // namespace
}  // namespace opennrt::emu::test
