// SPDX-License-Identifier: Apache-2.0
#include "inspect/request.h"

#include <gtest/gtest.h>

namespace opennrt::emu {
namespace {

Breakpoint a_break(const char* text) {
  Breakpoint b;
  std::string error;
  EXPECT_TRUE(parse_break(text, &b, &error)) << error;
  return b;
}
Dump a_dump(const char* text) {
  Dump d;
  std::string error;
  EXPECT_TRUE(parse_dump(text, &d, &error)) << error;
  return d;
}

TEST(InspectRequest, BreaksNameSubgraphEngineRecordExecutionAndPass) {
  const Breakpoint b = a_break("sg01/DVE:123@4.5");
  EXPECT_EQ(b.subgraph, 1u);
  EXPECT_EQ(b.engine, 3u);
  EXPECT_EQ(b.record, 123u);
  EXPECT_EQ(b.execution, 4u);
  EXPECT_EQ(b.pass, 5u);
  const Breakpoint plain = a_break("PE:1");
  EXPECT_EQ(plain.subgraph, 0u);
  EXPECT_EQ(plain.engine, 0u);
  EXPECT_EQ(plain.execution, 1u);
  EXPECT_EQ(plain.pass, 1u);
}

TEST(InspectRequest, BadBreaksAreRefusedNamingTheForm) {
  for (const char* text :
       {"", "PE", "PE:", "PE:0", "PE:x", "PE:1@", "PE:1@0", "PE:1@1.", "PE:1@1.0", "XX:1", "pe:1",
        "sg/PE:1", "sg999/PE:1", "core0/PE:1", "PE:1 ", "PE:99999999999", "sg00/sg01/PE:1"}) {
    Breakpoint b;
    std::string error;
    EXPECT_FALSE(parse_break(text, &b, &error)) << text;
    EXPECT_NE(error.find("break \"" + std::string(text) + "\""), std::string::npos) << error;
  }
}

TEST(InspectRequest, RangesAreOneFirstToLastOrFirstAndCount) {
  const Dump one = a_dump("sbuf:5:64+16:float32");
  EXPECT_EQ(one.first_partition, 5u);
  EXPECT_EQ(one.partitions, 1u);
  EXPECT_EQ(one.first_byte, 64u);
  EXPECT_EQ(one.bytes, 16u);
  const Dump two = a_dump("psum:0-127:0-2047:bfloat16");
  EXPECT_EQ(two.space, Dump::Space::kPsum);
  EXPECT_EQ(two.partitions, 128u);
  EXPECT_EQ(two.bytes, 2048u);
  EXPECT_STREQ(two.type->numpy, "<V2");
  EXPECT_EQ(a_dump("sbuf:0x10+4:0:uint8").first_partition, 16u);
}

TEST(InspectRequest, VariablesMayHoldColons) {
  EXPECT_EQ(a_dump("var:out").variable, "out");
  const Dump typed = a_dump("var:input:0:float32");
  EXPECT_EQ(typed.variable, "input:0");
  EXPECT_STREQ(typed.type->name, "float32");
  EXPECT_EQ(a_dump("var:input:0").variable, "input:0");
  EXPECT_EQ(a_dump("var:float32").variable, "float32");
}

TEST(InspectRequest, BadDumpsAreRefused) {
  for (const char* text : {"",
                           "sbuf",
                           "sbuf:0:0",
                           "sbuf:128:0:uint8",
                           "sbuf:0-128:0:uint8",
                           "sbuf:5-4:0:uint8",
                           "sbuf:0+0:0:uint8",
                           "sbuf:120+9:0:uint8",
                           "sbuf:0::uint8",
                           "sbuf:0:4-1:uint8",
                           "sbuf:0:0-3:float",
                           "sbuf:0:0-2:float32",
                           "sbuf:0:0:uint8:more",
                           "hbm:0x10",
                           "hbm:x:4",
                           "hbm:0:0",
                           "hbm:0:6:float32",
                           "hbm:0:4:float32:1",
                           "var",
                           "var:",
                           "dram:0:0:uint8",
                           "sbuf:0:99999999999999999999:uint8"}) {
    Dump d;
    std::string error;
    EXPECT_FALSE(parse_dump(text, &d, &error)) << text;
    EXPECT_NE(error.find("dump \"" + std::string(text) + "\""), std::string::npos) << error;
  }
}

TEST(InspectRequest, ItemsComeBackFromTheirText) {
  const std::string text = inspect_item("sg00/PE:3", "var:a b,c%d:0:float32", "x.npy") + ", ," +
                           inspect_item("SP:1@2", "hbm:0x10:4", "y.bin");
  std::vector<InspectItem> items;
  std::string error;
  ASSERT_TRUE(parse_inspect(text, &items, &error)) << error;
  ASSERT_EQ(items.size(), 2u);
  EXPECT_EQ(items[0].what.variable, "a b,c%d:0");
  EXPECT_EQ(items[0].file, "x.npy");
  EXPECT_EQ(items[1].at.execution, 2u);
  EXPECT_EQ(items[1].what.first_byte, 16u);
}

TEST(InspectRequest, BadItemsAreRefusedNamingTheSetting) {
  for (const char* text :
       {"PE:1", "PE:1 var:x", "PE:1 var:x a b", "PE:1 var:x ../a.npy", "PE:1 var:x .hidden",
        "PE:1 var:%2 a", "PE:1 var:%zz a", "XX:1 var:x a", "PE:1 x a"}) {
    std::vector<InspectItem> items;
    std::string error;
    EXPECT_FALSE(parse_inspect(text, &items, &error)) << text;
    EXPECT_EQ(error.rfind("emulator.inspect: ", 0), 0u) << error;
  }
}

TEST(InspectRequest, HeaderIsNumPysVersionOne) {
  const std::string header = npy_header(*find_dump_type("float32"), {2, 3});
  EXPECT_EQ(header.size() % 64, 0u);
  EXPECT_EQ(header.substr(0, 8), std::string("\x93NUMPY\x01\0", 8));
  EXPECT_EQ(static_cast<unsigned char>(header[8]) + 256u * static_cast<unsigned char>(header[9]),
            header.size() - 10);
  EXPECT_NE(header.find("'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)"),
            std::string::npos);
  EXPECT_NE(npy_header(*find_dump_type("uint8"), {7}).find("'shape': (7, )"), std::string::npos);
  EXPECT_EQ(header.back(), '\n');
}

}  // namespace
}  // namespace opennrt::emu
