// SPDX-License-Identifier: Apache-2.0
//
// Blocks that this release or a ring cannot hold are refused by name.
#include <gtest/gtest.h>

#include "test_program.h"

namespace opennrt::tdrv::test {
namespace {

using neff::VariableType;

class RingsRefusal : public ::testing::Test {
 protected:
  RingsRefusal() {
    sb_ = p_.add_variable("SB", VariableType::kStateBuffer, 0, 0);
    a_ = p_.add_variable("a", VariableType::kFile, 4096, 0x1'0000'0000);
    b_ = p_.add_variable("b", VariableType::kTmpBuf, 4096, 0x2'0000'0000);
    set_ = &p_.add_set("qX", neff::QueueType::kData, neff::Engine::kSp);
  }
  neff::Descriptor plain() {
    return copy(pattern(a_, 0, {4096}, {1}), pattern(b_, 0, {4096}, {1}));
  }
  void use(neff::Descriptor d) { set_->blocks = {block(5, {plain(), std::move(d)})}; }

  // The message; the code must be `code`.
  std::string refused(NRT_STATUS code = NRT_INVALID) {
    const auto rings = p_.rings(*set_);
    EXPECT_FALSE(rings.is_ok());
    EXPECT_EQ(rings.status().code(), code);
    return std::string(rings.status().message());
  }
  static bool has(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
  }

  TestProgram p_;
  std::uint32_t sb_ = 0, a_ = 0, b_ = 0;
  neff::QueueSet* set_ = nullptr;
};

TEST_F(RingsRefusal, PlainCopyIsAccepted) {
  use(plain());
  EXPECT_TRUE(p_.rings(*set_).is_ok());
}

TEST_F(RingsRefusal, ComputationOnSiliconWithoutAnEncoding) {
  const std::pair<neff::DmaOp, const char*> cases[] = {
      {neff::DmaOp::kCast, "cast"}, {neff::DmaOp::kAdd, "add"},
      {neff::DmaOp::kMin, "min"},   {neff::DmaOp::kMax, "max"},
      {neff::DmaOp::kFma, "fma"},   {neff::DmaOp::kTranspose, "transpose"}};
  for (const auto& [op, name] : cases) {
    auto d = plain();
    d.op = op;
    use(d);
    const auto rings = p_.rings(*set_, sunda(), NRTP_PLATFORM_SILICON);
    ASSERT_FALSE(rings.is_ok());
    EXPECT_EQ(rings.status().code(), NRT_INVALID);
    const std::string text(rings.status().message());
    EXPECT_TRUE(has(text, std::string("DMA ") + name + " has no published encoding for silicon"))
        << text;
    EXPECT_TRUE(has(text, "block 5 of queue set 'qX'")) << text;
    EXPECT_TRUE(has(text, "descriptor 1")) << text;
  }
}

TEST_F(RingsRefusal, CopyWithoutOrWithTwoSources) {
  auto d = plain();
  d.from.clear();
  use(d);
  EXPECT_TRUE(has(refused(), "has 0"));
  d.from = {pattern(a_, 0, {4096}, {1}), pattern(a_, 0, {4096}, {1})};
  use(d);
  EXPECT_TRUE(has(refused(), "has 2"));
}

TEST_F(RingsRefusal, SizesThatDiffer) {
  use(copy(pattern(a_, 0, {4096}, {1}), pattern(b_, 0, {2048}, {1})));
  const std::string text = refused();
  EXPECT_TRUE(has(text, "4096") && has(text, "2048")) << text;
}

TEST_F(RingsRefusal, PatternsOutsideTheirVariable) {
  use(copy(pattern(a_, 1, {4096}, {1}), pattern(b_, 0, {4096}, {1})));
  EXPECT_TRUE(has(refused(), "'a', which has 4096"));
  use(copy(pattern(a_, 0, {16, 2}, {1, 16}), pattern(b_, 0, {16, 2}, {1, -16})));
  EXPECT_TRUE(has(refused(), "'b'"));
  use(copy(pattern(a_, 0, {16, 129}, {1, 0}), pattern(sb_, 0, {16, 129}, {1, kPartition})));
  EXPECT_TRUE(has(refused(), "'SB'"));
}

TEST_F(RingsRefusal, EmptyAndAbsurdPatterns) {
  use(copy(pattern(a_, 0, {0}, {1}), pattern(b_, 0, {4096}, {1})));
  EXPECT_TRUE(has(refused(), "empty"));
  use(copy(pattern(a_, 0, {1ull << 39, 1ull << 39}, {1, 0}), pattern(b_, 0, {4096}, {1})));
  EXPECT_TRUE(has(refused(), "'a'"));
  auto zero_dims = pattern(a_, 0, {4096}, {1});
  zero_dims.dims = 0;
  use(copy(zero_dims, pattern(b_, 0, {4096}, {1})));
  refused();
  zero_dims.dims = 5;
  use(copy(zero_dims, pattern(b_, 0, {4096}, {1})));
  refused();
}

TEST_F(RingsRefusal, RepeatedReadThatNeedsTooManyDescriptors) {
  // Step 0 stays inside the variable, so only the count can be refused.
  const auto huge = pattern(a_, 0, {1, 1ull << 30}, {1, 0});
  use(copy(huge, huge));
  EXPECT_TRUE(has(refused(), "65535"));
}

TEST_F(RingsRefusal, UnknownVariableAndVariableWithoutAddress) {
  use(copy(pattern(77, 0, {4096}, {1}), pattern(b_, 0, {4096}, {1})));
  EXPECT_TRUE(has(refused(), "77"));
  p_.addresses[b_] = kCaller;  // a temporary must be placed
  use(plain());
  EXPECT_TRUE(has(refused(), "'b' has no device address"));
}

TEST_F(RingsRefusal, CallerTensorBeyondATemplate) {
  const auto x = p_.add_variable("x", VariableType::kInput, 1ull << 36, kCaller);
  use(copy(pattern(x, 0, {4096}, {1}), pattern(b_, 0, {4096}, {1})));
  EXPECT_TRUE(has(refused(), "'x'"));
}

TEST_F(RingsRefusal, CompletionByEventRemoteOrUnknownSemaphore) {
  use(plain());
  set_->blocks[0].event = 3;
  EXPECT_TRUE(has(refused(), "event"));
  set_->blocks[0].event.reset();
  set_->blocks[0].remote_semaphores = {4};
  EXPECT_TRUE(has(refused(), "remote"));
  set_->blocks[0].remote_semaphores.clear();
  set_->blocks[0].semaphore = 256;
  EXPECT_TRUE(has(refused(), "256"));
}

TEST_F(RingsRefusal, QueueCountAndType) {
  use(plain());
  set_->num_queues = 0;
  EXPECT_TRUE(has(refused(), "0 queues"));
  set_->num_queues = 17;
  EXPECT_TRUE(has(refused(), "17 queues"));
  set_->num_queues = 16;
  set_->type = neff::QueueType::kDynamic;
  EXPECT_TRUE(has(refused(), "'qX' in sg00 is dynamic"));
  set_->type = neff::QueueType::kEmbeddingUpdate;
  EXPECT_TRUE(has(refused(), "embedding_update"));
}

}  // namespace
}  // namespace opennrt::tdrv::test
