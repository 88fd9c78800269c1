// SPDX-License-Identifier: Apache-2.0
//
// A sound model has no finding; each thing broken in it has exactly its own.
#include "neff/verify.h"

#include <algorithm>

#include "small_model.h"
#include "support/neff_builder.h"

namespace opennrt::tools {
namespace {

constexpr std::size_t kPool = 2, kDve = 3, kSp = 4;

std::string text(const Finding& f) {
  return std::string(f.severity == Severity::kError ? "error " : "warning ") + f.member +
         (f.record ? " record " + std::to_string(*f.record) : "") + ": " + f.text;
}

std::vector<std::string> findings(std::span<const std::byte> bytes) {
  Model model = opened(bytes);
  Findings all(0);
  verify_model(model, all);
  std::vector<std::string> out;
  for (const Finding& f : all.kept()) out.push_back(text(f));
  return out;
}

// `part` is in one finding, and there is no other.
void expect_only(const Change& change, std::string_view part) {
  const auto found = findings(small_neff(change));
  ASSERT_EQ(found.size(), 1U) << part
                              << (found.size() > 1 ? "\n" + found[0] + "\n" + found[1] : "");
  EXPECT_NE(found[0].find(part), std::string::npos) << found[0];
}

Change byte(std::size_t engine, std::size_t record, std::size_t at, std::uint8_t value) {
  return
      [=](neffkit::Program& p) { p.subgraphs[0].streams[engine].at(record).bytes.at(at) = value; };
}

TEST(Verify, ASoundModelHasNoFinding) {
  const auto found = findings(small_neff());
  EXPECT_TRUE(found.empty()) << found[0];
}

TEST(Verify, Records) {
  expect_only(byte(kDve, 0, 0, 0xFE), "record 1: opcode 0xFE is no instruction");
  expect_only(byte(kDve, 0, 0, 0xE0), "SPARSITY_COMPRESS: does not exist on sunda");
  expect_only(byte(kDve, 1, 1, 15), "record 2: TENSOR_TENSOR_ARITH_OP: word_len is 15, must be 16");
  expect_only(byte(kDve, 1, 13, 0x10), "out_dtype=FP4_EXP2 does not exist on sunda");
  expect_only(byte(kDve, 1, 13, 0x77), "out_dtype=0x77 is no dtype");
  expect_only(byte(kDve, 1, 14, 0xC7), "op=DIVIDE_INT does not exist on sunda");
  expect_only(byte(kDve, 1, 15, 129), "num_active_channels=129, must be 1..128");
  expect_only(byte(kDve, 1, 15, 0), "num_active_channels=0, must be 1..128");
  expect_only(byte(kPool, 2, 20, 7), "NOP: byte 20 is 0x07; it is reserved and must be 0");
  expect_only(byte(kPool, 2, 4, 0x33), "wait mode 0x33 is unknown");
  expect_only(byte(kDve, 0, 6, 0x33), "update mode 0x33 is unknown");
  // src0.num[1] = 0; src0.addr in the fourth quadrant of nothing.
  expect_only(byte(kDve, 1, 28, 0), "src0.num holds a count of 0");
  expect_only(byte(kDve, 1, 19, 0x04), "src0.addr=0x4000000 is neither SBUF nor PSUM");
  // 0x30000 bytes are in a partition: byte 0x2FFFD with 4 bytes is out.
  expect_only(
      [](neffkit::Program& p) {
        auto& bytes = p.subgraphs[0].streams[kDve].at(1).bytes;
        bytes[16] = 0xFD;
        bytes[17] = 0xFF;
        bytes[18] = 0x02;
      },
      "src0 covers bytes 196605..196608 of a SBUF partition, which has 196608");
  // Partition 32 of 128 lanes: 0x800000.
  expect_only(byte(kDve, 1, 18, 0x80),
              "src0 begins at partition 32; 128 partitions begin at a multiple of 128");
  // An engine that a MATMUL does not run on; its other fields are sound.
  expect_only(
      [](neffkit::Program& p) {
        const auto record = isa::assemble(
            "MATMUL num_active_rows=1 num_active_cols=1 in_dtype=FP32 src.num=1,1,1 "
            "dst.addr=0x2000000 dst.num=1,1,1",
            isa::Generation::kSunda, nullptr);
        p.subgraphs[0].streams[kDve].push_back({*record, 0});
      },
      "MATMUL: does not run on DVE");
}

TEST(Verify, WaitsThatNothingCanMeet) {
  expect_only(byte(kPool, 2, 8, 17),
              "Pool.bin record 3: NOP: waits for semaphore 10 >= 17, which never exceeds 16");
  expect_only(byte(kPool, 1, 8, 2), "waits for semaphore 6 >= 2, which never exceeds 1");
  expect_only(byte(kPool, 2, 4, 4), "waits for semaphore 10 > 16, which never exceeds 16");
  // Raised by an amount that only a run tells: no finding. 0x16 adds a register.
  const auto found = findings(small_neff([](neffkit::Program& p) {
    byte(kPool, 2, 8, 17)(p);
    byte(kSp, 0, 6, 0x16)(p);
    byte(kSp, 0, 7, 10)(p);
  }));
  EXPECT_TRUE(found.empty()) << found[0];
}

TEST(Verify, SemaphoresOfTheRuntime) {
  expect_only(
      [](neffkit::Program& p) {
        byte(kSp, 0, 6, 0x13)(p);
        byte(kSp, 0, 7, 2)(p);
      },
      "SET_ORDERING_MODE: updates semaphore 2, which belongs to the runtime (0..2)");
}

TEST(Verify, BlocksOfQueues) {
  expect_only(
      [](neffkit::Program& p) {
        p.subgraphs[0].blocks[1].semaphore = 11;
        byte(kPool, 2, 5, 11)(p);
      },
      "queue qStore: block 0 raises semaphore 11; its turn in the set is 10");
  expect_only(
      [](neffkit::Program& p) {
        neffkit::Block extra = p.subgraphs[0].blocks[0];
        extra.id = 1;
        extra.semaphore = 9;
        p.subgraphs[0].blocks.push_back(extra);
      },
      "queue qLoad: block 1 is never triggered");
  expect_only(
      [](neffkit::Program& p) {
        p.subgraphs[0].streams[kSp].push_back(p.subgraphs[0].streams[kSp][1]);
      },
      "queue qLoad: block 0 is triggered by 2 records");
  const auto found = findings(small_neff([](neffkit::Program& p) {
    p.subgraphs[0].blocks[0].id = 2;
    byte(kSp, 1, 48, 2)(p);
  }));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].find("block ids must be 0..0; 0 is missing"), std::string::npos);
}

TEST(Verify, BlocksThatLeaveAPartition) {
  expect_only(
      [](neffkit::Program& p) {
        p.subgraphs[0].blocks[0].descriptors[0].to.offset = 192 * 1024 - 3;
      },
      "queue qLoad: block 0 touches byte 196608 of an SBUF partition, which has 196608");
}

TEST(Verify, TriggersAreTheLoadersBusiness) {
  const auto found = findings(small_neff(byte(kSp, 1, 48, 7)));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].find("error sg00/"), std::string::npos) << found[0];
  EXPECT_NE(found[0].find("block 7 of queue"), std::string::npos) << found[0];
}

TEST(Verify, ContainerAndMembers) {
  auto bytes = small_neff();
  bytes[0xAC] ^= std::byte{1};
  auto found = findings(bytes);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].find("error NEFF header: MD5"), std::string::npos) << found[0];
  bytes = small_neff();
  bytes.push_back(std::byte{0});
  found = findings(bytes);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].find("warning header: 1 bytes follow"), std::string::npos) << found[0];

  testing::NeffBuilder builder = testing::sample_neff();
  builder.members["sg00/orphan.bin"] = "nobody reads me";
  builder.members["sg00/debug_info_x.dbg"] = "expected";
  const std::string file = builder.build();
  found = findings(testing::as_bytes(file));
  const auto about = [&](std::string_view name) {
    return std::count_if(found.begin(), found.end(),
                         [&](const auto& f) { return f.find(name) != std::string::npos; });
  };
  EXPECT_EQ(about("sg00/orphan.bin: nothing in the model refers to this member"), 1);
  EXPECT_EQ(about("debug_info_x"), 0);
}

TEST(Verify, ManifestThatTheRuntimeRefuses) {
  testing::NeffBuilder builder = testing::sample_neff("cayman", 1);
  builder.members.erase("sg00/PE.bin");
  const std::string file = builder.build();
  const auto found = findings(testing::as_bytes(file));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].find("PE.bin"), std::string::npos) << found[0];
  EXPECT_EQ(found[0].rfind("error ", 0), 0U);
}

TEST(Findings, CountsBeyondTheLimit) {
  Findings some(2);
  for (int i = 0; i < 5; ++i) some.warn("m", std::nullopt, "w");
  some.error("m", 1, "e");
  EXPECT_EQ(some.kept().size(), 2U);
  EXPECT_EQ(some.warnings(), 5U);
  EXPECT_EQ(some.errors(), 1U);
}

}  // namespace
}  // namespace opennrt::tools
