// SPDX-License-Identifier: Apache-2.0
//
// From a slot of an image back to the record of the stream, over records that
// become none, one or several slots.
#include "tdrv/image/record_places.h"

#include <gtest/gtest.h>

#include "tdrv/image/pseudo_records.h"
#include "test_program.h"

namespace opennrt::tdrv::test {
namespace {

using isa::kRecordBytes;
using neff::Engine;

auto label() { return isa::zero_record<isa::ControlRecord>(isa::kOpPseudoBranchLabel); }
isa::ControlRecord nop(std::uint8_t mark) {
  auto r = isa::zero_record<isa::ControlRecord>(isa::kOpNop);
  r.h.update_mode = isa::kUpdateSemInc;
  r.h.update_index = mark;
  return r;
}

ImageLayout layout(const TestProgram& p, Image* image, Engine engine = Engine::kSp) {
  auto images = assemble_images(p.inputs(sunda()));
  EXPECT_TRUE(images.is_ok()) << images.status().message();
  if (!images.is_ok()) return {};
  *image = (*images)[static_cast<std::size_t>(engine)];
  return layout_of(*image);
}
std::uint8_t mark_at(const Image& image, std::uint32_t slot) {
  return isa::load_record<isa::ControlRecord>(image.bytes.data() + slot * kRecordBytes)
      .h.update_index;
}

TEST(RecordPlaces, LabelsLeaveNothingAndTheOthersFollow) {
  TestProgram p;  // record 0 is SET_ORDERING_MODE
  p.add(Engine::kSp, label());
  p.add(Engine::kSp, nop(101));
  p.add(Engine::kSp, label());
  p.add(Engine::kSp, label());
  p.add(Engine::kSp, nop(102));
  p.add(Engine::kSp, label());
  Image image;
  const ImageLayout l = layout(p, &image);
  const auto places = record_places(l);
  ASSERT_EQ(places.size(), 7u);
  const std::uint32_t main = image.main_offset / kRecordBytes;
  EXPECT_EQ(places[0].slot, main);
  EXPECT_EQ(places[1].slots, 0u);
  EXPECT_EQ(places[2].slots, 1u);
  EXPECT_EQ(mark_at(image, places[2].slot), 101);
  EXPECT_EQ(places[4].slots, 0u);
  EXPECT_EQ(mark_at(image, places[5].slot), 102);
  EXPECT_EQ(places[6].slots, 0u);
  EXPECT_EQ(record_at(l, places[5].slot), 5u);
  EXPECT_EQ(record_at(l, main - 1), std::nullopt);
  EXPECT_EQ(record_at(l, main + 3), std::nullopt);
  EXPECT_STREQ(region_name(l, 0), "preamble");
  EXPECT_STREQ(region_name(l, main), "main");
  EXPECT_STREQ(region_name(l, main + 3), "postamble");
  EXPECT_STREQ(region_name(l, l.bytes / kRecordBytes), "outside");
  const auto n = [&](std::uint32_t i) { return std::to_string(main + i); };
  EXPECT_EQ(runs_text(l), n(0) + ":1:1 " + n(1) + ":2:x0 " + n(1) + ":3:1 " + n(2) + ":4:x0 " +
                              n(2) + ":5:x0 " + n(2) + ":6:1 " + n(3) + ":7:x0");
}

TEST(RecordPlaces, OnePseudoInstructionMayBecomeSeveralSlots) {
  TestProgram p;
  p.add_set("q", neff::QueueType::kData, Engine::kSp);
  p.add(Engine::kSp, nop(101));
  // Wait, queue reset and update of a rearm become a record each.
  auto rearm = isa::zero_record<image::QueueNameRecord>(image::kOpPseudoDmaRearm);
  rearm.queue[0] = 'q';
  rearm.h.wait_mode = isa::kWaitSemGe;
  rearm.h.update_mode = isa::kUpdateSemInc;
  p.add(Engine::kSp, rearm);
  p.add(Engine::kSp, nop(102));
  Image image;
  const ImageLayout l = layout(p, &image);
  const auto places = record_places(l);
  ASSERT_EQ(places.size(), 4u);
  EXPECT_EQ(places[2].slots, 3u);
  EXPECT_EQ(mark_at(image, places[3].slot), 102);
  for (std::uint32_t i = 0; i < places[2].slots; ++i)
    EXPECT_EQ(record_at(l, places[2].slot + i), 2u) << i;
  EXPECT_EQ(record_at(l, places[3].slot), 3u);
  EXPECT_NE(
      runs_text(l).find(std::to_string(places[2].slot) + ":3:x" + std::to_string(places[2].slots)),
      std::string::npos);
}

TEST(RecordPlaces, FunctionsLieBehindThePostamble) {
  TestProgram p;
  p.add(Engine::kSp, nop(101));
  auto begin = isa::zero_record<image::FunctionBeginRecord>(image::kOpPseudoFunctionBegin);
  begin.name[0] = 'f';
  begin.return_lo = 10;
  begin.return_hi = 11;
  p.add(Engine::kSp, begin);
  p.add(Engine::kSp, nop(102));
  p.add(Engine::kSp, label());
  p.add(Engine::kSp, isa::zero_record<isa::ControlRecord>(image::kOpPseudoFunctionReturn));
  Image image;
  const ImageLayout l = layout(p, &image);
  const auto places = record_places(l);
  ASSERT_EQ(places.size(), 6u);
  EXPECT_EQ(places[2].slots, 0u);
  EXPECT_EQ(places[3].slot * kRecordBytes, image.function_offset);
  EXPECT_EQ(mark_at(image, places[3].slot), 102);
  EXPECT_EQ(places[4].slots, 0u);
  EXPECT_EQ(record_at(l, places[5].slot), 5u);
  EXPECT_STREQ(region_name(l, places[3].slot), "functions");
}

}  // namespace
}  // namespace opennrt::tdrv::test
