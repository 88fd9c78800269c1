// SPDX-License-Identifier: Apache-2.0
//
// Operands and figures against numbers worked out by hand.
#include "neff/operands.h"
#include "neff/stats.h"
#include "small_model.h"

namespace opennrt::tools {
namespace {

std::vector<Operand> operands(std::string_view text, isa::Generation generation) {
  std::string error;
  const auto record = isa::assemble(text, generation, &error);
  EXPECT_TRUE(record.has_value()) << error;
  if (!record) return {};
  OperandReader reader(generation);
  return reader.read(*isa::find_instruction((*record)[0]), *record);
}

TEST(Operands, StridesTypesAndSpaces) {
  // 0x80123 = partition 2, byte 0x123; 4 elements of 2 bytes, 3 apart, going
  // back 10 in the second dimension.
  const auto found = operands(
      "TENSOR_TENSOR_ARITH_OP in0_in1_dtype=BFLOAT16/FP32 out_dtype=INT8 op=ADD "
      "num_active_channels=32 src0.addr=0x80123 src0.step=3,-10,0 src0.num=4,2,1 "
      "src1.addr=0x2008010 src1.step=1,0,0 src1.num=8,1,1 "
      "dst.addr=0x80000001 dst.step=1,1,1 dst.num=8,1,1",
      isa::Generation::kCayman);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].name, "src0");
  EXPECT_TRUE(found[0].resolved);
  EXPECT_EQ(found[0].space, Space::kSbuf);
  EXPECT_EQ(found[0].partition, 2U);
  EXPECT_EQ(found[0].begin, 0x123 - 20);
  EXPECT_EQ(found[0].end, 0x123 + 3 * 3 * 2 + 2);
  EXPECT_EQ(found[0].elements, 8U);
  EXPECT_EQ(found[0].bytes, 16U);
  EXPECT_EQ(found[1].space, Space::kPsum);
  EXPECT_EQ(found[1].partition, 1U);
  EXPECT_EQ(found[1].begin, 0x10);
  EXPECT_EQ(found[1].end, 0x10 + 32);
  EXPECT_FALSE(found[2].resolved) << "the address comes from a register";
}

TEST(Operands, PsumOfTheMatrixEngine) {
  const std::string common =
      " num_active_rows=128 num_active_cols=64 src.num=512,1,1 src.step=1,0,0 "
      "dst.addr=0x2000000 dst.num=512,1,1 dst.step=1,0,0 in_dtype=BFLOAT16";
  EXPECT_EQ(operands("MATMUL" + common, isa::Generation::kSunda)[1].end, 2048);
  EXPECT_EQ(operands("MATMUL transpose_mode=1" + common, isa::Generation::kCayman)[1].end, 1024);
  EXPECT_EQ(operands("MATMUL out_dtype=BFLOAT16" + common, isa::Generation::kMariana)[1].end, 1024);
  EXPECT_EQ(operands("MATMUL" + common, isa::Generation::kSunda)[0].bytes, 1024U);
}

TEST(Operands, CountsOfZeroAndPseudoInstructions) {
  EXPECT_TRUE(operands("COPY src.num=1,1,1,0 dst.num=1,1,1,1", isa::Generation::kSunda)[0].empty);
  EXPECT_TRUE(operands("PSEUDO_EMBEDDING_UPDATE", isa::Generation::kSunda).empty());
}

TEST(Figures, OfASmallModel) {
  const Model model = loaded(small_neff());
  const Figures figures = count(model);
  ASSERT_EQ(figures.graphs.size(), 1U);
  const GraphFigures& g = figures.graphs[0];
  EXPECT_EQ(figures.input_bytes, 512U);
  EXPECT_EQ(figures.output_bytes, 512U);
  EXPECT_EQ(g.memory.constants, 16U);          // 1.5, -2, 1.5, -2
  EXPECT_EQ(g.memory.scratchpad, 64U + 4096);  // offset and size
  EXPECT_EQ(g.memory.sbuf_partition, 100U);    // the add writes bytes 96..99
  EXPECT_EQ(g.memory.psum_partition, 0U);
  EXPECT_EQ(g.memory.descriptors, 2 * (128 + 128) * 16U);
  ASSERT_EQ(g.queues.size(), 2U);
  EXPECT_EQ(g.queues[0].queue->name, "qLoad");
  EXPECT_EQ(g.queues[0].descriptors, 1U);
  EXPECT_EQ(g.queues[0].bytes_read, 512U);
  EXPECT_EQ(g.queues[1].bytes_written, 512U);
  const EngineFigures& dve = g.engines[static_cast<std::size_t>(neff::Engine::kDve)];
  EXPECT_EQ(dve.records, 2U);
  EXPECT_EQ(dve.opcodes[0x41], 1U);
  EXPECT_EQ(dve.opcodes[0xB1], 1U);
  EXPECT_EQ(g.engine_bytes, 3 * 128 * 4U);
  EXPECT_EQ(g.multiply_accumulates, 0U);
  EXPECT_EQ(figures.largest_device_memory(), g.memory.device() + 1024);
}

TEST(Figures, MultiplyAccumulates) {
  const Model model = loaded(small_neff([](neffkit::Program& p) {
    const auto record = isa::assemble(
        "MATMUL num_active_rows=96 num_active_cols=32 src.num=10,5,1 dst.addr=0x2000000 "
        "dst.num=50,1,1",
        isa::Generation::kSunda, nullptr);
    p.subgraphs[0].streams[0].push_back({*record, 0});
    p.subgraphs[0].streams[0].push_back({*record, 0});
  }));
  EXPECT_EQ(count(model).graphs[0].multiply_accumulates, 2 * 96 * 32 * 50U);
}

TEST(Model, FeatureNamesAndTargets) {
  EXPECT_TRUE(feature_names(0).empty());
  EXPECT_EQ(feature_names(0x40C00),
            (std::vector<std::string>{"neff_feature_vnc", "dve_perf_mode", "bit 18"}));
  EXPECT_EQ(generation_of_target("v3"), isa::Generation::kCayman);
  EXPECT_EQ(generation_of_target("*"), isa::Generation::kMariana);
  EXPECT_FALSE(generation_of_target("inf1").has_value());
  EXPECT_EQ(find_engine("Pool"), 2U);
  EXPECT_FALSE(find_engine("PO").has_value());
  EXPECT_FALSE(find_engine("").has_value());
  EXPECT_EQ(json_text("\xC3\xA4"), "\xC3\xA4");
  EXPECT_EQ(json_text("\xC3"), "\\xc3");
}

}  // namespace
}  // namespace opennrt::tools
