// SPDX-License-Identifier: Apache-2.0
#include "trace/recordings.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <set>
#include <thread>

#include "trace/trace.h"

namespace opennrt::trace {
namespace {

class Recordings : public ::testing::Test {
 protected:
  void SetUp() override { set_cores(2); }
  void TearDown() override {
    for (const Purpose p : {Purpose::kSystemTrace, Purpose::kInspect, Purpose::kTraceCall})
      stop_recording(p);
  }
  static std::vector<Record> take(Purpose purpose = Purpose::kSystemTrace,
                                  const FetchOptions& options = {}) {
    std::vector<Record> out;
    EXPECT_TRUE(fetch(purpose, options, out).is_ok());
    return out;
  }
};

TEST_F(Recordings, NothingIsWantedWhileNobodyRecords) {
  for (std::size_t i = 0; i < kEventTypes; ++i) EXPECT_FALSE(wanted(static_cast<EventType>(i)));
  emit({.type = EventType::kGeneric});
  std::vector<Record> out;
  EXPECT_EQ(fetch(Purpose::kSystemTrace, {}, out).code(), NRT_INVALID);
  EXPECT_EQ(stop_recording(Purpose::kSystemTrace), nullptr);
}

TEST_F(Recordings, SpanIsStartAndStopOfOneNumber) {
  ASSERT_TRUE(start_recording(Purpose::kSystemTrace, {}).is_ok());
  EXPECT_EQ(start_recording(Purpose::kSystemTrace, {}).code(), NRT_INVALID);
  const std::uint64_t before = now_ns();
  {
    const Span span(EventType::kTensorWrite, 1, {42, 4096}, 5);
  }
  {
    Span span(EventType::kModelLoad, 0);
    span.stop({10001});
  }
  const std::vector<Record> out = take();
  ASSERT_EQ(out.size(), 4u);  // core 0 first
  const Record &load = out[0], &loaded = out[1], &start = out[2], &stop = out[3];
  EXPECT_EQ(load.event.type, EventType::kModelLoad);
  EXPECT_EQ(load.event.phase, Phase::kStart);
  EXPECT_EQ(loaded.event.phase, Phase::kStop);
  EXPECT_EQ(loaded.event.data[0], 10001u);
  EXPECT_EQ(load.event.tracking, loaded.event.tracking);
  EXPECT_EQ(start.event.core, 1u);
  EXPECT_EQ(start.event.phase, Phase::kStart);
  EXPECT_EQ(start.event.data, (Payload{42, 4096}));
  EXPECT_EQ(start.event.tracking, stop.event.tracking);
  EXPECT_NE(start.event.tracking, load.event.tracking);
  EXPECT_EQ(start.event.tracking >> 50, 1u);  // the core
  EXPECT_EQ(start.event.sequence, 5u);
  EXPECT_EQ(stop.event.sequence, 5u);
  EXPECT_EQ(stop.event.phase, Phase::kStop);
  EXPECT_EQ(start.thread, static_cast<std::uint64_t>(gettid()));
  EXPECT_GE(start.time_ns, before);
  EXPECT_LE(stop.time_ns, now_ns());
  EXPECT_EQ((std::set<std::uint64_t>{load.id, loaded.id, start.id, stop.id}).size(), 4u);
  EXPECT_TRUE(take().empty());  // each is given out once
}

TEST_F(Recordings, FiltersByTypeAndCore) {
  CaptureOptions options;
  options.types = bit_of(EventType::kTensorRead);
  options.cores.reset(1);
  ASSERT_TRUE(start_recording(Purpose::kSystemTrace, options).is_ok());
  EXPECT_TRUE(wanted(EventType::kTensorRead));
  EXPECT_FALSE(wanted(EventType::kTensorWrite));
  emit({.type = EventType::kTensorWrite, .core = 0});
  emit({.type = EventType::kTensorRead, .core = 0});
  emit({.type = EventType::kTensorRead, .core = 1});
  emit({.type = EventType::kTensorRead, .core = 77});    // no such core
  emit({.type = EventType::kTensorRead, .core = 9999});  // no possible core
  const std::vector<Record> out = take();
  ASSERT_EQ(out.size(), 1u);
  EXPECT_EQ(out[0].event.core, 0u);
}

TEST_F(Recordings, EachPurposeHasItsOwnEvents) {
  ASSERT_TRUE(start_recording(Purpose::kSystemTrace, {}).is_ok());
  emit({.type = EventType::kGeneric});
  ASSERT_TRUE(start_recording(Purpose::kInspect, {.types = bit_of(EventType::kGeneric)}).is_ok());
  emit({.type = EventType::kGeneric});
  emit({.type = EventType::kExecuteApi});
  EXPECT_EQ(take(Purpose::kSystemTrace).size(), 3u);
  EXPECT_EQ(take(Purpose::kInspect).size(), 1u);
  EXPECT_NE(stop_recording(Purpose::kSystemTrace), nullptr);
  EXPECT_FALSE(wanted(EventType::kExecuteApi));
  EXPECT_TRUE(wanted(EventType::kGeneric));
}

TEST_F(Recordings, FetchTakesFromOneCoreAndUpToALimit) {
  ASSERT_TRUE(start_recording(Purpose::kSystemTrace, {}).is_ok());
  for (std::uint32_t i = 0; i < 6; ++i) emit({.type = EventType::kGeneric, .core = i % 2});
  EXPECT_EQ(take(Purpose::kSystemTrace, {.core = 1}).size(), 3u);
  EXPECT_EQ(take(Purpose::kSystemTrace, {.most_per_core = 2}).size(), 2u);
  EXPECT_EQ(take().size(), 1u);
  EXPECT_TRUE(take(Purpose::kSystemTrace, {.core = 200}).empty());
}

TEST_F(Recordings, CapacityIsClamped) {
  ASSERT_TRUE(start_recording(Purpose::kSystemTrace, {.events_per_core = 1}).is_ok());
  for (int i = 0; i < 1030; ++i) emit({.type = EventType::kGeneric});
  EXPECT_EQ(take().size(), 1024u);
  const auto capture = stop_recording(Purpose::kSystemTrace);
  EXPECT_EQ(capture->lost(), 6u);
  EXPECT_EQ(Capture({.events_per_core = ~0ull}).options().events_per_core, 1048576u);
}

// Cores become known at nrt_init, a recording may be older.
TEST_F(Recordings, LaterCoresGetRings) {
  ASSERT_TRUE(start_recording(Purpose::kSystemTrace, {}).is_ok());
  emit({.type = EventType::kGeneric, .core = 5});
  set_cores(6);
  emit({.type = EventType::kGeneric, .core = 5});
  EXPECT_EQ(take().size(), 1u);
}

// Recordings come and go while 8 threads tell events: no event may touch a ring
// that is gone, and each recording gets whole ones only.
TEST_F(Recordings, StartAndStopUnderLoad) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> tellers;
  for (std::uint32_t t = 0; t < 8; ++t)
    tellers.emplace_back([&, t] {
      while (!stop) {
        const Span span(EventType::kTensorRead, t % 2, {t, t, t, t, t, t});
        emit({.type = EventType::kGeneric, .core = t % 2, .data = {}});
        std::this_thread::yield();
      }
    });
  std::size_t seen = 0;
  for (int round = 0; round < 30; ++round) {
    const Purpose purpose = round % 3 == 0 ? Purpose::kInspect : Purpose::kSystemTrace;
    ASSERT_TRUE(start_recording(purpose, {.events_per_core = 1024}).is_ok());
    std::vector<Record> out;
    do {
      std::this_thread::yield();
      ASSERT_TRUE(fetch(purpose, {}, out).is_ok());
    } while (out.empty());
    const auto capture = stop_recording(purpose);
    ASSERT_NE(capture, nullptr);
    capture->drain({}, out);
    for (const Record& r : out) {
      if (r.event.type != EventType::kTensorRead || r.event.phase != Phase::kStart) continue;
      for (const std::uint64_t word : r.event.data) ASSERT_EQ(word, r.event.data[0]);
    }
    seen += out.size();
  }
  stop = true;
  for (auto& t : tellers) t.join();
  EXPECT_GT(seen, 30u);
}

TEST_F(Recordings, ForkedChildStartsWithNone) {
  ASSERT_TRUE(start_recording(Purpose::kSystemTrace, {}).is_ok());
  emit({.type = EventType::kGeneric});
  const pid_t child = fork();
  if (child == 0) {
    bool good = !wanted(EventType::kGeneric) && !is_recording(Purpose::kSystemTrace);
    std::vector<Record> out;
    good = good && fetch(Purpose::kSystemTrace, {}, out).code() == NRT_INVALID;
    good = good && start_recording(Purpose::kSystemTrace, {}).is_ok();
    emit({.type = EventType::kGeneric});
    good = good && fetch(Purpose::kSystemTrace, {}, out).is_ok() && out.size() == 1 &&
           out[0].thread == static_cast<std::uint64_t>(getpid());
    good = good && stop_recording(Purpose::kSystemTrace) != nullptr;
    _exit(good ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(take().size(), 1u);
}

}  // namespace
}  // namespace opennrt::trace
