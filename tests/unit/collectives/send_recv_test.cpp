// SPDX-License-Identifier: Apache-2.0
//
// Transfers over "tensors" that are plain memory: handle 1, 2, ... with a core.
#include "collectives/send_recv.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <map>
#include <string>
#include <thread>

namespace opennrt::collectives {
namespace {

using Role = SendRecv::Role;
constexpr char kHere[] = "127.0.0.1";
constexpr int kFirst = 4;  // logical cores 4 and 5 of the host are ours

class Transfers : public ::testing::Test {
 protected:
  struct Memory {
    std::string bytes;
    std::int32_t core = 0;
  };
  TensorAccess access() {
    return {.look = [this](std::uintptr_t t) -> Result<TensorAccess::Facts> {
              const auto found = memory_.find(t);
              if (found == memory_.end()) return Status::invalid("no tensor {}", t);
              return TensorAccess::Facts{found->second.bytes.size(), found->second.core};
            },
            .move = [this](std::uintptr_t from, std::uint64_t from_offset, std::uintptr_t to,
                           std::uint64_t to_offset, std::uint64_t n) -> Status {
              if (break_moves_) return Status::make(NRT_HW_ERROR, "broken");
              std::memcpy(memory_.at(to).bytes.data() + to_offset,
                          memory_.at(from).bytes.data() + from_offset, n);
              return {};
            }};
  }
  void SetUp() override {
    memory_[1] = {"abcdefghij", 0};
    memory_[2] = {"..........", 1};
    memory_[3] = {"..........", -1};  // host
  }
  // Both cores open, a connection from core 4 to core 5.
  void connect_both() {
    ASSERT_TRUE(engine_.open(4).is_ok());
    ASSERT_TRUE(engine_.open(5).is_ok());
    auto s = engine_.connect(Role::kSender, kHere, 5, 4);
    ASSERT_TRUE(s.is_ok());
    sender_ = *s;
    EXPECT_FALSE(*engine_.connected(sender_));
    auto r = engine_.connect(Role::kReceiver, kHere, 4, 5);
    ASSERT_TRUE(r.is_ok());
    receiver_ = *r;
    EXPECT_TRUE(*engine_.connected(sender_));
    EXPECT_TRUE(*engine_.connected(receiver_));
  }
  std::uintptr_t post(Role role, std::uint64_t offset, std::uint64_t n) {
    const bool sends = role == Role::kSender;
    auto request = engine_.post(role, sends ? sender_ : receiver_, sends ? 1 : 2, offset, n);
    EXPECT_TRUE(request.is_ok()) << request.status().message();
    return request.is_ok() ? *request : 0;
  }
  std::map<std::uintptr_t, Memory> memory_;
  std::atomic<bool> break_moves_{false};
  SendRecv engine_{{.first_core = kFirst,
                    .cores = 2,
                    .connect_timeout = std::chrono::milliseconds(20),
                    .transfer_timeout = std::chrono::milliseconds(200)},
                   access()};
  std::uintptr_t sender_ = 0, receiver_ = 0;
};

TEST_F(Transfers, MessagesArriveInOrder) {
  connect_both();
  const std::uintptr_t s1 = post(Role::kSender, 0, 3), s2 = post(Role::kSender, 7, 2);
  EXPECT_FALSE(engine_.test(s1)->done);
  const std::uintptr_t r1 = post(Role::kReceiver, 1, 5), r2 = post(Role::kReceiver, 8, 2);
  const auto second = engine_.test(r2);
  ASSERT_TRUE(second.is_ok());
  EXPECT_TRUE(second->done);
  EXPECT_EQ(second->bytes, 2u);
  const auto first = engine_.test(r1);
  EXPECT_TRUE(first->done);
  EXPECT_EQ(first->bytes, 3u);  // of the message, not of the buffer
  EXPECT_EQ(memory_[2].bytes, ".abc....hi");
  EXPECT_TRUE(engine_.test(s1)->done);
  EXPECT_TRUE(engine_.test(s2)->done);
  // A request that is done is gone.
  for (std::uintptr_t gone : {s1, s2, r1, r2})
    EXPECT_EQ(engine_.test(gone).status().code(), NRT_INVALID_HANDLE);
  EXPECT_TRUE(engine_.flush(5).is_ok());
  EXPECT_TRUE(engine_.close(4).is_ok());
  EXPECT_TRUE(engine_.close(5).is_ok());
  EXPECT_TRUE(engine_.open(4).is_ok());
}

TEST_F(Transfers, RequestThatNobodyServesIsLate) {
  connect_both();
  const std::uintptr_t s = post(Role::kSender, 0, 3);
  EXPECT_FALSE(engine_.test(s)->done);
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
  EXPECT_EQ(engine_.test(s).status().code(), NRT_TIMEOUT);
  // Late is not lost.
  const std::uintptr_t r = post(Role::kReceiver, 0, 3);
  EXPECT_TRUE(engine_.test(r)->done);
  EXPECT_TRUE(engine_.test(s)->done);
}

TEST_F(Transfers, EmptyMessage) {
  connect_both();
  const std::uintptr_t s = post(Role::kSender, 10, 0), r = post(Role::kReceiver, 0, 0);
  EXPECT_TRUE(engine_.test(s)->done);
  EXPECT_EQ(engine_.test(r)->bytes, 0u);
}

TEST_F(Transfers, WrongPosts) {
  connect_both();
  const auto code = [&](Role role, std::uintptr_t c, std::uintptr_t t, std::uint64_t o,
                        std::uint64_t n) { return engine_.post(role, c, t, o, n).status().code(); };
  EXPECT_EQ(code(Role::kReceiver, sender_, 1, 0, 1), NRT_FAILURE);
  EXPECT_EQ(code(Role::kSender, receiver_, 2, 0, 1), NRT_FAILURE);
  EXPECT_EQ(code(Role::kSender, sender_, 2, 0, 1), NRT_FAILURE);  // another core
  EXPECT_EQ(code(Role::kSender, sender_, 3, 0, 1), NRT_FAILURE);  // host memory
  EXPECT_EQ(code(Role::kSender, sender_, 9, 0, 1), NRT_FAILURE);  // no tensor
  EXPECT_EQ(code(Role::kSender, sender_, 1, 0, 11), NRT_FAILURE);
  EXPECT_EQ(code(Role::kSender, sender_, 1, ~0ull, 2), NRT_FAILURE);
  EXPECT_EQ(code(Role::kSender, 0, 1, 0, 1), NRT_INVALID_HANDLE);
  EXPECT_EQ(code(Role::kSender, sender_ + 1, 1, 0, 1), NRT_INVALID_HANDLE);
  auto lonely = engine_.connect(Role::kSender, kHere, 5, 4);
  ASSERT_TRUE(lonely.is_ok());
  EXPECT_EQ(code(Role::kSender, *lonely, 1, 0, 1), NRT_INVALID_HANDLE);  // not connected
}

TEST_F(Transfers, LimitsAreResources) {
  connect_both();
  for (int i = 0; i < SendRecv::kPending; ++i) post(Role::kSender, 0, 1);
  EXPECT_EQ(engine_.post(Role::kSender, sender_, 1, 0, 1).status().code(), NRT_RESOURCE);
  for (int i = 1; i < SendRecv::kCommunicators; ++i)
    ASSERT_TRUE(engine_.connect(Role::kSender, kHere, 5, 4).is_ok());
  EXPECT_EQ(engine_.connect(Role::kSender, kHere, 5, 4).status().code(), NRT_RESOURCE);
}

TEST_F(Transfers, LongMessageFailsBothEnds) {
  connect_both();
  const std::uintptr_t s = post(Role::kSender, 0, 5), r = post(Role::kReceiver, 0, 4);
  EXPECT_EQ(engine_.test(r).status().code(), NRT_FAILURE);
  EXPECT_EQ(engine_.test(s).status().code(), NRT_FAILURE);
  EXPECT_EQ(memory_[2].bytes, "..........");
  break_moves_ = true;
  const std::uintptr_t s2 = post(Role::kSender, 0, 5), r2 = post(Role::kReceiver, 0, 5);
  EXPECT_EQ(engine_.test(s2).status().code(), NRT_FAILURE);
  EXPECT_EQ(engine_.test(r2).status().code(), NRT_FAILURE);
}

TEST_F(Transfers, CoresAreThoseOfTheProcess) {
  for (int core : {-1, 128, 3, 6}) EXPECT_EQ(engine_.open(core).code(), NRT_FAILURE) << core;
  EXPECT_EQ(engine_.close(4).code(), NRT_FAILURE);
  EXPECT_EQ(engine_.flush(4).code(), NRT_FAILURE);
  EXPECT_EQ(engine_.connect(Role::kSender, kHere, 5, 4).status().code(), NRT_FAILURE);
  ASSERT_TRUE(engine_.open(4).is_ok());
  EXPECT_EQ(engine_.open(4).code(), NRT_FAILURE);
  EXPECT_EQ(engine_.connect(Role::kSender, "nowhere", 5, 4).status().code(), NRT_FAILURE);
  for (int peer : {-1, 128})
    EXPECT_EQ(engine_.connect(Role::kSender, kHere, peer, 4).status().code(), NRT_FAILURE);
  const auto elsewhere = engine_.connect(Role::kSender, "192.0.2.1", 5, 4);
  EXPECT_NE(elsewhere.status().message().find("transfers between processes"),
            std::string_view::npos);
  const auto other_process = engine_.connect(Role::kReceiver, kHere, 9, 4);
  EXPECT_NE(other_process.status().message().find("transfers between processes"),
            std::string_view::npos);
  EXPECT_TRUE(engine_.close(4).is_ok());
}

TEST_F(Transfers, NobodyComes) {
  ASSERT_TRUE(engine_.open(4).is_ok());
  auto lonely = engine_.connect(Role::kReceiver, kHere, 5, 4);
  ASSERT_TRUE(lonely.is_ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  EXPECT_EQ(engine_.connected(*lonely).status().code(), NRT_TIMEOUT);
  EXPECT_EQ(engine_.connected(1).status().code(), NRT_INVALID_HANDLE);
  // Closing with it is an error, and the core stays closed.
  EXPECT_EQ(engine_.close(4).code(), NRT_FAILURE);
  EXPECT_EQ(engine_.connected(*lonely).status().code(), NRT_INVALID_HANDLE);
  EXPECT_EQ(engine_.open(4).code(), NRT_FAILURE);
}

TEST_F(Transfers, CloseWithRequestsUnderWay) {
  connect_both();
  const std::uintptr_t s = post(Role::kSender, 0, 1);
  EXPECT_EQ(engine_.close(4).code(), NRT_FAILURE);
  EXPECT_EQ(engine_.test(s).status().code(), NRT_INVALID_HANDLE);
  // The other end notices.
  EXPECT_EQ(engine_.connected(receiver_).status().code(), NRT_FAILURE);
  EXPECT_EQ(engine_.post(Role::kReceiver, receiver_, 2, 0, 1).status().code(), NRT_FAILURE);
  EXPECT_TRUE(engine_.close(5).is_ok());
}

TEST_F(Transfers, CloseFailsWhatTheOtherEndWaitsFor) {
  connect_both();
  const std::uintptr_t r = post(Role::kReceiver, 0, 1);
  EXPECT_TRUE(engine_.close(4).is_ok());
  EXPECT_EQ(engine_.test(r).status().code(), NRT_FAILURE);
}

TEST_F(Transfers, CoreSendsToItself) {
  ASSERT_TRUE(engine_.open(4).is_ok());
  memory_[4] = {"..........", 0};
  auto s = engine_.connect(Role::kSender, kHere, 4, 4);
  auto r = engine_.connect(Role::kReceiver, kHere, 4, 4);
  ASSERT_TRUE(s.is_ok() && r.is_ok());
  auto out = engine_.post(Role::kSender, *s, 1, 0, 10);
  auto in = engine_.post(Role::kReceiver, *r, 4, 0, 10);
  ASSERT_TRUE(out.is_ok() && in.is_ok());
  EXPECT_TRUE(engine_.test(*in)->done);
  EXPECT_EQ(memory_[4].bytes, "abcdefghij");
}

// Every thread has a connection of its own between the two cores.
TEST_F(Transfers, ManyThreads) {
  ASSERT_TRUE(engine_.open(4).is_ok());
  ASSERT_TRUE(engine_.open(5).is_ok());
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  std::vector<std::pair<std::uintptr_t, std::uintptr_t>> links;
  for (std::uintptr_t i = 0; i < 8; ++i) {
    memory_[100 + i] = {std::string(64, static_cast<char>('a' + i)), 0};
    memory_[200 + i] = {std::string(64, '.'), 1};
    links.emplace_back(*engine_.connect(Role::kSender, kHere, 5, 4),
                       *engine_.connect(Role::kReceiver, kHere, 4, 5));
  }
  for (std::uintptr_t i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < 200; ++round) {
        auto s = engine_.post(Role::kSender, links[i].first, 100 + i, 0, 64);
        auto r = engine_.post(Role::kReceiver, links[i].second, 200 + i, 0, 64);
        if (!s.is_ok() || !r.is_ok() || !engine_.test(*r)->done || !engine_.test(*s)->done) ++wrong;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  for (std::uintptr_t i = 0; i < 8; ++i) EXPECT_EQ(memory_[200 + i].bytes, memory_[100 + i].bytes);
}

}  // namespace
}  // namespace opennrt::collectives
