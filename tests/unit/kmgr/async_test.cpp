// SPDX-License-Identifier: Apache-2.0
//
// Explicit asynchronous requests over a core without a device.
#include "kmgr/async.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "fake_tdrv.h"
#include "kmgr/manager.h"

namespace opennrt::kmgr {
namespace {

using ::testing::HasSubstr;

constexpr NRT_STATUS kUntouched = static_cast<NRT_STATUS>(0x5A5A);

class EventFd {
 public:
  EventFd() : fd_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}
  ~EventFd() { close(fd_); }
  int fd() const { return fd_; }
  std::uint64_t wait_for_one() const {  // 0 after 10 s
    pollfd p{.fd = fd_, .events = POLLIN, .revents = 0};
    return poll(&p, 1, 10'000) == 1 ? take() : 0;
  }
  std::uint64_t take() const {
    std::uint64_t n = 0;
    return read(fd_, &n, sizeof n) == sizeof n ? n : 0;
  }

 private:
  int fd_;
};

class AsyncTest : public ::testing::Test {
 protected:
  AsyncTest() {
    auto tdrv = std::make_unique<FakeTdrv>();
    tdrv_ = tdrv.get();
    manager_ = *Manager::over(std::move(tdrv), 3, 4, {0, 0, 1});
    async_ = &manager_->async();
  }
  ~AsyncTest() override {
    hold_ = false;
    manager_.reset();
    Tensors::instance().clear();
  }

  ModelId load(std::int32_t core = 0) {
    return *manager_->place(fake_program("m", {{"a", 4}}, {{"x", 4}}), {.logical_core = core});
  }
  TensorHandle tensor(std::uint64_t bytes, std::int32_t core = 0,
                      nrt_tensor_placement_t placement = NRT_TENSOR_PLACEMENT_DEVICE) {
    return *manager_->allocate_tensor(placement, core, bytes, "t");
  }
  TensorSetHandle set(const std::string& name, TensorHandle t) {
    const TensorSetHandle s = *tensors_.allocate_set();
    EXPECT_TRUE(tensors_.add_to_set(s, name, t).is_ok());
    return s;
  }
  // Executions end only after hold_ is false.
  void hold_executions() {
    hold_ = true;
    tdrv_->outcome = [this](std::uint64_t) {
      while (hold_) std::this_thread::sleep_for(std::chrono::microseconds(100));
      return Status();
    };
  }
  void wait_for(std::uint64_t sequence) {
    bool done = false;
    for (int i = 0; i < 100'000 && !done; ++i) {
      ASSERT_TRUE(async_->is_completed(sequence, &done).is_ok());
      if (!done) std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    ASSERT_TRUE(done);
  }

  FakeTdrv* tdrv_;
  std::unique_ptr<Manager> manager_;
  AsyncEngine* async_;
  Tensors& tensors_ = Tensors::instance();
  std::atomic<bool> hold_{false};
};

TEST_F(AsyncTest, ExecutesAndCountsFromOne) {
  const ModelId m = load(1);
  const TensorHandle a = tensor(4, 1), x = tensor(4, 1);
  const auto in = set("a", a), out = set("x", x);
  ASSERT_TRUE(tensors_.set(a, 4, 0, 4).is_ok());
  std::uint64_t last = 0;
  ASSERT_TRUE(async_->last_completed(1, 1, 0, &last).is_ok());
  EXPECT_EQ(last, 0x0101'0000'0000'0000u);
  for (std::uint64_t n = 1; n <= 20; ++n) {
    NRT_STATUS status = kUntouched;
    std::uint64_t sequence = 0;
    ASSERT_TRUE(async_->execute(m, in, out, 0, &status, &sequence).is_ok());
    EXPECT_EQ(sequence, 0x0101'0000'0000'0000u | n);
    wait_for(sequence);
    EXPECT_EQ(status, NRT_SUCCESS);
    std::uint8_t got = 0;
    ASSERT_TRUE(tensors_.read(x, &got, 0, 1).is_ok());
    EXPECT_EQ(got, 5);
  }
  ASSERT_TRUE(async_->last_completed(1, 1, 0, &last).is_ok());
  EXPECT_EQ(last, 0x0101'0000'0000'0014u);
}

TEST_F(AsyncTest, FullQueueTakesNothingAndRecovers) {
  const ModelId m = load();
  const auto in = set("a", tensor(4)), out = set("x", tensor(4));
  hold_executions();
  NRT_STATUS status[5] = {kUntouched, kUntouched, kUntouched, kUntouched, kUntouched};
  std::uint64_t sequence[5] = {};
  for (int i = 0; i < 4; ++i)
    ASSERT_TRUE(async_->execute(m, in, out, 0, &status[i], &sequence[i]).is_ok());
  EXPECT_EQ(async_->execute(m, in, out, 0, &status[4], &sequence[4]).code(), NRT_QUEUE_FULL);
  EXPECT_EQ(sequence[4], 0u);
  hold_ = false;
  wait_for(sequence[3]);
  ASSERT_TRUE(async_->execute(m, in, out, 0, &status[4], &sequence[4]).is_ok());
  wait_for(sequence[4]);
  EXPECT_EQ(sequence[4] - sequence[0], 4u);
  for (const NRT_STATUS s : status) EXPECT_EQ(s, NRT_SUCCESS);
}

TEST_F(AsyncTest, OneFailureDoesNotStopTheOthers) {
  const ModelId m = load();
  const auto in = set("a", tensor(4)), out = set("x", tensor(4));
  tdrv_->outcome = [](std::uint64_t n) {
    return n == 2 ? Status::make(NRT_EXEC_OOB, "x") : Status();
  };
  NRT_STATUS status[3];
  std::uint64_t sequence[3];
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(async_->execute(m, in, out, 0, &status[i], &sequence[i]).is_ok());
  wait_for(sequence[2]);
  EXPECT_EQ(status[0], NRT_SUCCESS);
  EXPECT_EQ(status[1], NRT_EXEC_OOB);
  EXPECT_EQ(status[2], NRT_SUCCESS);
}

TEST_F(AsyncTest, DeadUnitRefuses) {
  const ModelId m = load();
  const auto in = set("a", tensor(4)), out = set("x", tensor(4));
  tdrv_->outcome = [](std::uint64_t) { return Status::make(NRT_TIMEOUT, "x"); };
  NRT_STATUS status = kUntouched, unused = kUntouched;
  std::uint64_t sequence = 0;
  ASSERT_TRUE(async_->execute(m, in, out, 0, &status, &sequence).is_ok());
  wait_for(sequence);
  EXPECT_EQ(status, NRT_TIMEOUT);
  const Status refused = async_->execute(m, in, out, 0, &unused, &sequence);
  EXPECT_EQ(refused.code(), NRT_EXEC_UNIT_UNRECOVERABLE);
  EXPECT_EQ(unused, kUntouched);
  // Transfers do not need the program's engines.
  std::uint8_t byte = 1;
  ASSERT_TRUE(async_->write(tensor(4), &byte, 0, 1, 0, 0, &status, &sequence).is_ok());
  wait_for(sequence);
  EXPECT_EQ(status, NRT_SUCCESS);
}

TEST_F(AsyncTest, TransfersInOrder) {
  const TensorHandle a = tensor(64), b = tensor(64);
  std::vector<std::uint8_t> in(64, 7), out(64, 0);
  NRT_STATUS status[3];
  std::uint64_t sequence[3];
  ASSERT_TRUE(async_->write(a, in.data(), 0, 64, 0, 1, &status[0], &sequence[0]).is_ok());
  ASSERT_TRUE(async_->copy(a, 8, b, 16, 32, 0, 1, &status[1], &sequence[1]).is_ok());
  ASSERT_TRUE(async_->read(b, out.data(), 0, 64, 0, 1, &status[2], &sequence[2]).is_ok());
  EXPECT_EQ(sequence[0], 0x0010'0000'0000'0001u);
  wait_for(sequence[2]);
  for (const NRT_STATUS s : status) EXPECT_EQ(s, NRT_SUCCESS);
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(out[i], i >= 16 && i < 48 ? 7 : 0) << i;
}

TEST_F(AsyncTest, WrongArguments) {
  const ModelId m = load();
  const TensorHandle a = tensor(4), x = tensor(4), far = tensor(4, 2), near = tensor(4, 1);
  const TensorHandle host = tensor(4, -1, NRT_TENSOR_PLACEMENT_VIRTUAL);
  const auto in = set("a", a), out = set("x", x);
  NRT_STATUS status = kUntouched;
  std::uint64_t s = 0;
  std::uint8_t byte = 0;
  const auto expect = [&](const Status& got, NRT_STATUS code, const char* text) {
    EXPECT_EQ(got.code(), code) << got.message();
    EXPECT_THAT(std::string(got.message()), HasSubstr(text));
  };
  expect(async_->execute(m + 1, in, out, 0, &status, &s), NRT_INVALID_HANDLE, "is not loaded");
  expect(async_->execute(m, in, out, 1, &status, &s), NRT_INVALID, "COMPUTE has 1 queue");
  expect(async_->execute(m, in, out, -1, &status, &s), NRT_INVALID, "queue -1");
  expect(async_->execute(m, a, out, 0, &status, &s), NRT_INVALID, "input_set is not a live");
  expect(async_->execute(m, in, in, 0, &status, &s), NRT_EXEC_BAD_INPUT, "output tensor x");
  expect(async_->execute(m, set("a", host), out, 0, &status, &s), NRT_INVALID, "host tensors");
  expect(async_->execute(m, set("a", near), out, 0, &status, &s), NRT_EXEC_BAD_INPUT,
         "on logical core 1, the model on 0");
  expect(async_->write(a, &byte, 0, 1, 3, 0, &status, &s), NRT_INVALID, "0 to 2");
  expect(async_->write(a, &byte, 0, 1, -1, 0, &status, &s), NRT_INVALID, "0 to 2");
  expect(async_->write(a, &byte, 0, 1, 0, 2, &status, &s), NRT_INVALID, "TENSOR_OP has 2");
  expect(async_->write(a, &byte, 4, 1, 0, 0, &status, &s), NRT_INVALID, "the tensor has 4");
  expect(async_->write(a, &byte, ~0ull, 2, 0, 0, &status, &s), NRT_INVALID, "the tensor has 4");
  expect(async_->write(host, &byte, 0, 1, 0, 0, &status, &s), NRT_INVALID, "no device tensor");
  expect(async_->read(far, &byte, 0, 1, 0, 0, &status, &s), NRT_INVALID, "do not reach");
  expect(async_->copy(a, 0, m, 0, 1, 0, 0, &status, &s), NRT_INVALID, "dst 0x");
  expect(async_->copy(m, 0, a, 0, 1, 0, 0, &status, &s), NRT_INVALID, "src 0x");
  EXPECT_EQ(status, kUntouched);
  // Another core of the same device is in reach.
  ASSERT_TRUE(async_->read(near, &byte, 0, 1, 0, 0, &status, &s).is_ok());
  wait_for(s);

  bool done = false;
  expect(async_->is_completed(s + 1, &done), NRT_INVALID, "never issued, the last one is 1");
  expect(async_->is_completed(0, &done), NRT_INVALID, "never issued");
  expect(async_->is_completed(s | std::uint64_t{7} << 48, &done), NRT_INVALID, "unit type 7");
  expect(async_->is_completed(s | std::uint64_t{9} << 56, &done), NRT_INVALID, "logical core 9");
  expect(async_->last_completed(0, 3, 0, &s), NRT_INVALID, "unit type 3");
  expect(async_->last_completed(0, 2, 3, &s), NRT_INVALID, "COLLECTIVES has 3");
  expect(async_->notify_unit(0, 1, 1, 0), NRT_INVALID, "COMPUTE has 1");
}

TEST_F(AsyncTest, CollectiveOfOneRankCopies) {
  const TensorHandle a = tensor(16), b = tensor(16), x = tensor(16), other = tensor(8);
  ASSERT_TRUE(tensors_.set(a, 3, 0, 16).is_ok());
  ASSERT_TRUE(tensors_.set(b, 4, 0, 16).is_ok());
  const auto operation = [&](std::vector<TensorHandle> in, std::vector<TensorHandle> out) {
    auto made = std::make_unique<Collective>();
    made->dtype = NRT_DTYPE_FLOAT32;
    made->inputs = std::move(in);
    made->outputs = std::move(out);
    return made;
  };
  EXPECT_EQ(async_->prepare(operation({a}, {other})).status().code(), NRT_INVALID);
  EXPECT_EQ(async_->prepare(operation({a}, {0})).status().code(), NRT_INVALID);
  EXPECT_EQ(async_->prepare(operation({a}, {tensor(16, -1, NRT_TENSOR_PLACEMENT_VIRTUAL)}))
                .status()
                .code(),
            NRT_INVALID);
  auto prepared = async_->prepare(operation({a, b}, {x, b}));
  ASSERT_TRUE(prepared.is_ok());
  std::uintptr_t handle = *prepared;
  NRT_STATUS status = kUntouched;
  std::uint64_t sequence = 0;
  EXPECT_EQ(async_->schedule(&handle, 3, &status, &sequence).code(), NRT_INVALID);
  ASSERT_NE(handle, 0u);  // still there
  ASSERT_TRUE(async_->schedule(&handle, 2, &status, &sequence).is_ok());
  EXPECT_EQ(handle, 0u);
  EXPECT_EQ(sequence, 0x0022'0000'0000'0001u);
  wait_for(sequence);
  EXPECT_EQ(status, NRT_SUCCESS);
  std::uint8_t got = 0;
  ASSERT_TRUE(tensors_.read(x, &got, 15, 1).is_ok());
  EXPECT_EQ(got, 3);
  ASSERT_TRUE(tensors_.read(b, &got, 15, 1).is_ok());  // in place
  EXPECT_EQ(got, 4);
  std::uintptr_t gone = *prepared;
  EXPECT_EQ(async_->schedule(&gone, 0, &status, &sequence).code(), NRT_INVALID);
  // A tensor that was freed in between.
  prepared = async_->prepare(operation({a}, {x}));
  ASSERT_TRUE(prepared.is_ok());
  tensors_.free(x);
  handle = *prepared;
  EXPECT_EQ(async_->schedule(&handle, 0, &status, &sequence).code(), NRT_INVALID);
}

TEST_F(AsyncTest, EventOfOneRequest) {
  const ModelId m = load();
  const auto in = set("a", tensor(4)), out = set("x", tensor(4));
  hold_executions();
  NRT_STATUS status;
  std::uint64_t first = 0, second = 0;
  ASSERT_TRUE(async_->execute(m, in, out, 0, &status, &first).is_ok());
  ASSERT_TRUE(async_->execute(m, in, out, 0, &status, &second).is_ok());
  const EventFd later, removed;
  ASSERT_TRUE(async_->notify_request(second, later.fd()).is_ok());
  ASSERT_TRUE(async_->notify_request(first, removed.fd()).is_ok());
  ASSERT_TRUE(async_->notify_request(first, -1).is_ok());
  EXPECT_EQ(later.take(), 0u);
  EXPECT_EQ(async_->notify_request(second, 1 << 20).code(), NRT_INVALID);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);  // writing would be SIGPIPE
  EXPECT_EQ(async_->notify_request(second, ends[1]).code(), NRT_INVALID);
  EXPECT_EQ(async_->notify_unit(0, 1, 0, ends[1]).code(), NRT_INVALID);
  close(ends[1]);
  hold_ = false;
  EXPECT_EQ(later.wait_for_one(), 1u);
  bool done = false;
  ASSERT_TRUE(async_->is_completed(second, &done).is_ok());
  EXPECT_TRUE(done);
  EXPECT_EQ(removed.take(), 0u);
  // Complete already: at once.
  ASSERT_TRUE(async_->notify_request(first, removed.fd()).is_ok());
  EXPECT_EQ(removed.take(), 1u);
}

// A counter that can take no more must not stop the worker.
TEST_F(AsyncTest, FullEventCounterBlocksNobody) {
  const int full = eventfd(0, EFD_CLOEXEC);
  const std::uint64_t most = ~std::uint64_t{0} - 1;
  ASSERT_EQ(::write(full, &most, sizeof most), static_cast<ssize_t>(sizeof most));
  ASSERT_TRUE(async_->notify_unit(0, 0, 0, full).is_ok());
  NRT_STATUS status = kUntouched;
  std::uint64_t s = 0;
  std::uint8_t byte = 1;
  const TensorHandle a = tensor(4);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(async_->write(a, &byte, 0, 1, 0, 0, &status, &s).is_ok());
  wait_for(s);
  EXPECT_EQ(status, NRT_SUCCESS);
  close(full);
}

TEST_F(AsyncTest, EventOfAUnit) {
  const TensorHandle a = tensor(4);
  const EventFd event;
  ASSERT_TRUE(async_->notify_unit(0, 0, 0, event.fd()).is_ok());
  NRT_STATUS status;
  std::uint64_t s = 0;
  std::uint8_t byte = 1;
  std::uint64_t seen = 0;
  for (int i = 0; i < 10; ++i)
    ASSERT_TRUE(async_->write(a, &byte, 0, 1, 0, 0, &status, &s).is_ok());
  while (seen < 10) {
    const std::uint64_t n = event.wait_for_one();
    ASSERT_NE(n, 0u);
    seen += n;
  }
  EXPECT_EQ(seen, 10u);
  ASSERT_TRUE(async_->notify_unit(0, 0, 0, -1).is_ok());
  ASSERT_TRUE(async_->write(a, &byte, 0, 1, 0, 0, &status, &s).is_ok());
  wait_for(s);
  EXPECT_EQ(event.take(), 0u);
}

TEST_F(AsyncTest, UnloadWaitsForWhatIsQueued) {
  const ModelId m = load();
  const auto in = set("a", tensor(4)), out = set("x", tensor(4));
  hold_executions();
  NRT_STATUS status[3] = {kUntouched, kUntouched, kUntouched};
  std::uint64_t sequence = 0;
  for (NRT_STATUS& s : status) ASSERT_TRUE(async_->execute(m, in, out, 0, &s, &sequence).is_ok());
  std::atomic<bool> unloaded{false};
  std::thread unloader([&] {
    EXPECT_TRUE(manager_->unload(m).is_ok());
    unloaded = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(unloaded);
  hold_ = false;
  unloader.join();
  for (const NRT_STATUS s : status) EXPECT_EQ(s, NRT_SUCCESS);
  NRT_STATUS unused = kUntouched;
  EXPECT_EQ(async_->execute(m, in, out, 0, &unused, &sequence).code(), NRT_INVALID_HANDLE);
}

TEST_F(AsyncTest, DestructionCompletesEverything) {
  const ModelId m = load();
  const auto in = set("a", tensor(4)), out = set("x", tensor(4));
  NRT_STATUS status[4] = {kUntouched, kUntouched, kUntouched, kUntouched};
  std::uint64_t sequence = 0;
  for (NRT_STATUS& s : status) ASSERT_TRUE(async_->execute(m, in, out, 0, &s, &sequence).is_ok());
  manager_.reset();
  for (const NRT_STATUS s : status) EXPECT_EQ(s, NRT_SUCCESS);
}

// Order and exactness from several producers on several queues.
TEST_F(AsyncTest, ProducersOnAllQueues) {
  constexpr int kProducers = 4, kRequests = 2000;
  const ModelId models[2] = {load(0), load(1)};
  std::atomic<int> wrong{0};
  std::vector<std::thread> producers;
  for (int p = 0; p < kProducers; ++p)
    producers.emplace_back([&, p] {
      const int core = p % 2;
      const TensorHandle a = tensor(4, core), x = tensor(4, core);
      const auto in = set("a", a), out = set("x", x);
      std::vector<NRT_STATUS> status(kRequests, kUntouched);
      std::uint64_t before = 0;
      std::uint8_t byte = static_cast<std::uint8_t>(p);
      for (int i = 0; i < kRequests; ++i) {
        std::uint64_t sequence = 0;
        NRT_STATUS code;
        const auto request = [&]() -> Status {
          if (p < 2)
            return async_->execute(models[core], in, out, 0, &status[static_cast<std::size_t>(i)],
                                   &sequence);
          return async_->write(a, &byte, 0, 1, core, 1, &status[static_cast<std::size_t>(i)],
                               &sequence);
        };
        while ((code = request().code()) == NRT_QUEUE_FULL) std::this_thread::yield();
        if (code != NRT_SUCCESS || sequence <= before) ++wrong;
        before = sequence;
      }
      bool done = false;
      while (!done && async_->is_completed(before, &done).is_ok()) std::this_thread::yield();
      for (const NRT_STATUS s : status) wrong += s != NRT_SUCCESS;
    });
  for (std::thread& t : producers) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(tdrv_->misuse, 0);
  EXPECT_EQ(tdrv_->binds, 2 * kRequests);
}

}  // namespace
}  // namespace opennrt::kmgr
