// SPDX-License-Identifier: Apache-2.0
//
// Rules between the parts of a program.
#include "test_source.h"

namespace opennrt::neffkit {
namespace {

TEST(Check, TheUnbrokenSourceIsGood) {
  std::vector<std::uint8_t> neff;
  std::string error;
  EXPECT_TRUE(build_neff(kSource, "s.yaml", &neff, &error)) << error;
}

TEST(Check, WholeProgram) {
  expect_refused("outputs:\n  - {name: y, dtype: float32, shape: [128]}\n", "", 0, "no outputs");
  EXPECT_NE(refusal("name: a\ntarget: sunda\noutputs:\n  - {name: y, dtype: uint8, shape: [1]}\n")
                .find("one subgraph"),
            std::string::npos);
}

TEST(Check, Variables) {
  expect_refused("{name: w,", "{name: x,", 10, "variable x is declared twice");
  expect_refused("{name: w,", "{name: SB,", 10, "variable SB is declared twice");
  expect_refused("repeat: 2}", "repeat: 2, alignment: 3}", 10, "power of two");
  expect_refused("from: {variable: x", "from: {variable: z", 20, "unknown variable 'z'");
}

TEST(Check, Queues) {
  expect_refused("name: qStore", "name: qLoad", 14, "declared twice");
  expect_refused("semaphores: [8, 9]", "semaphores: []", 13, "1..32 semaphores");
  expect_refused("semaphores: [8, 9]", "semaphores: [2, 9]", 13, "semaphore 2 is not in 3..255");
  expect_refused("- queue: qLoad", "- queue: qLaod", 16, "unknown queue");
  expect_refused("type: in,", "type: dynamic,", 16, "dynamic queue has no blocks");
}

TEST(Check, Blocks) {
  expect_refused("semaphore: 8\n", "semaphore: 9\n", 16, "of the queue's set, 8");
  expect_refused("- queue: qStore\n        id: 0\n        semaphore: 10",
                 "- queue: qLoad\n        id: 0\n        semaphore: 8", 22, "exists twice");
}

TEST(Check, Descriptors) {
  expect_refused("sizes: [4, 128], steps: [1, 4]", "sizes: [4, 127], steps: [1, 4]", 20,
                 "source has 508 bytes, destination 512");
  expect_refused("sizes: [4, 128], steps: [1, 4]", "sizes: [4, 129], steps: [1, 4]", 20,
                 "covers bytes 0..515 of x, which has 512");
  expect_refused("sizes: [4, 128], steps: [1, 4]", "sizes: [4, 128], steps: [1, -4]", 20,
                 "covers bytes -508..3");
  expect_refused("sizes: [4, 128], steps: [1, 4]", "sizes: [4, 128], steps: [1]", 20,
                 "same length");
  expect_refused("sizes: [4, 128], steps: [1, 4]", "sizes: [4, 128], steps: [2, 4]", 20,
                 "steps[0] must be 1");
  expect_refused("sizes: [4, 128], steps: [1, 4]", "sizes: [0, 128], steps: [1, 4]", 20, "is 0");
  expect_refused("sizes: [4, 128], steps: [1, 4]",
                 "sizes: [1099511627776, 1099511627776], steps: [1, 4]", 20, "too large");
  expect_refused("steps: [1, 4], dtype: float32", "steps: [1, 4], dtype: float", 20,
                 "unknown data type 'float'");
  expect_refused("steps: [1, 4], dtype: float32", "steps: [1, 4], dtype: float16", 20, "use cast");
  expect_refused("to: {variable: SB, sizes", "to: {variable: SB, offset: 196605, sizes", 21,
                 "ends at byte 196609 of an SBUF partition, which has 196608");
}

TEST(Check, OperationsTakeTheirOperands) {
  expect_refused("- from: {variable: x", "- op: fma\n            from: {variable: x", 20,
                 "fma takes one per source");
  expect_refused("- from: {variable: x", "- constant: 1\n            from: {variable: x", 20,
                 "constant belongs to min and max");
  expect_refused("- from: {variable: x, sizes: [4, 128], steps: [1, 4], dtype: float32}",
                 "- from: []", 20, "takes one source");
}

TEST(Check, Streams) {
  expect_refused("- SET_ORDERING_MODE\n        - PSEUDO_DMATRIGGER queue",
                 "- NOP\n        - PSEUDO_DMATRIGGER queue", 30, "must be SET_ORDERING_MODE");
  expect_refused("- NOP wait=SEM_GE_IMM(10) value=16", "- MATMUL", 35, "does not run on pool");
  expect_refused("- NOP wait=SEM_GE_IMM(10) value=16", "- INVALID", 35, "not an instruction");
  expect_refused("- NOP wait=SEM_GE_IMM(10) value=16", "- NOP update=SEM_INC_COMPLETE(2)", 35,
                 "semaphore 2 belongs to the runtime");
}

TEST(Check, Triggers) {
  expect_refused("queue_name=\"qLoad\" block_id=0", "queue_name=\"qLaod\" block_id=0", 31,
                 "unknown queue 'qLaod'");
  expect_refused("queue_name=\"qLoad\" block_id=0", "queue_name=\"qLoad\" block_id=1", 31,
                 "no block 1");
  expect_refused("queue_name=\"qLoad\" block_id=0", "queue_name=\"qStore\" block_id=0", 31,
                 "owned by pool, not sp");
  expect_refused("- NOP wait=SEM_GE_IMM(10) value=16",
                 "- PSEUDO_DMATRIGGER queue_name=\"qStore\" block_id=0", 35, "no further trigger");
}

TEST(Check, TriggersFollowTheOrderOfTheRings) {
  const std::string two = broken(
      "      - queue: qStore",
      "      - {queue: qLoad, id: 1, semaphore: 9, descriptors: [{from: {variable: x, sizes: [4], "
      "steps: [1]}, to: {variable: SB, sizes: [4], steps: [1]}}]}\n      - queue: qStore");
  std::string swapped = two;
  swapped.replace(swapped.find("\"qLoad\" block_id=0"), 18, "\"qLoad\" block_id=1");
  EXPECT_NE(refusal(swapped).find("in order of their ids; expected 0"), std::string::npos);
  // A block that is never triggered is no error.
  std::vector<std::uint8_t> neff;
  std::string error;
  EXPECT_TRUE(build_neff(two, "s.yaml", &neff, &error)) << error;
}

TEST(Check, WaitsThatNobodySatisfies) {
  expect_refused("wait=SEM_GE_IMM(8) value=16", "wait=SEM_GE_IMM(8) value=17", 34,
                 "waits for 17 on semaphore 8, which reaches 16");
  expect_refused("wait=SEM_GE_IMM(8) value=16", "wait=SEM_GE_IMM(20) value=1", 34, "reaches 0");
  expect_refused("owner: sp,", "owner: sp, num_queues: 4,", 34, "reaches 4");
}

}  // namespace
}  // namespace opennrt::neffkit
