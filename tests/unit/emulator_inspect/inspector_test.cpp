// SPDX-License-Identifier: Apache-2.0
//
// Breakpoints on a device: programs whose image is announced as the runtime does.
#include "inspect/inspector.h"

#include <stdlib.h>

#include <array>
#include <bit>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "bench.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu::test {
namespace {

class Inspected : public Bench {
 protected:
  void SetUp() override {
    char name[] = "/tmp/opennrt-inspect-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  // items: {break, dump, file}...
  void make(const std::vector<std::array<std::string, 3>>& items, std::string directory = "") {
    InspectOptions options;
    options.directory = directory.empty() ? directory_ : directory;
    for (const auto& [at, what, file] : items) {
      InspectItem item;
      std::string error;
      ASSERT_TRUE(parse_item(inspect_item(at, what, file), &item, &error)) << error;
      options.items.push_back(item);
    }
    std::string error;
    device_ = Device::create({.host = &host_,
                              .arch = arch_,
                              .product = product_,
                              .index = 0,
                              .verify = {},
                              .inspect = options},
                             memory_, &error);
    ASSERT_TRUE(device_) << error;
  }
  Inspector& inspector() { return *dev().inspector(); }
  std::string contents(const std::string& file) {
    std::ifstream in(directory_ + "/" + file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // Starts an execution of the image: NOTIFY START.
  static isa::ControlRecord notify_start() {
    auto r = isa::zero_record<isa::ControlRecord>(isa::kOpNotify);
    r.notify_kind = isa::kNotifyStart;
    return r;
  }
  // Writes `value` to byte 0 of SBUF partition 3.
  isa::WriteRecord store(std::uint32_t value) { return write(sbuf(3, 0), value); }
  static std::string word(std::uint32_t value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
  }

  std::string directory_;
};

TEST_F(Inspected, DumpsWhatStandsThereAfterTheRecord) {
  make({{"SP:2", "sbuf:3:0+4:uint32", "a.bin"}, {"SP:3", "sbuf:3:0+4:uint32", "b.bin"}});
  Program p;
  p.add(notify_start()).add(store(11)).add(store(22)).add(store(33)).add(halt());
  ASSERT_TRUE(inspector().image(0, NRTP_ENGINE_SP, 0, kProgram, p.bytes.size(), "1:1:3"));
  execute(p);
  EXPECT_EQ(contents("a.bin"), word(22));
  EXPECT_EQ(contents("b.bin"), word(33));
  EXPECT_EQ(inspector().outcomes(), (std::vector<std::string>{"done a.bin", "done b.bin"}));
}

TEST_F(Inspected, NpyFilesHavePartitionsTimesElements) {
  make({{"SP:1", "psum:1-2:4+8:float32", "p.npy"}});
  const float values[2][2] = {{1.5f, -2.0f}, {3.25f, 8.0f}};
  for (std::uint32_t i = 0; i < 2; ++i) ASSERT_EQ(dev().write(psum(1 + i, 4), values[i], 8), 0);
  Program p;
  p.add(notify_start()).add(nop()).add(halt());
  ASSERT_TRUE(inspector().image(0, NRTP_ENGINE_SP, 0, kProgram, p.bytes.size(), "1:1:1"));
  execute(p);
  const std::string text = contents("p.npy");
  ASSERT_EQ(text.size() % 64, 16u);
  EXPECT_NE(text.find("'<f4'"), std::string::npos);
  EXPECT_NE(text.find("'shape': (2, 2)"), std::string::npos);
  EXPECT_EQ(std::memcmp(text.data() + text.size() - 16, values, 16), 0);
  EXPECT_FALSE(std::filesystem::exists(directory_ + "/p.npy.partial"));
}

TEST_F(Inspected, ARecordOfSeveralSlotsEndsWithItsLast) {
  make({{"SP:1", "sbuf:3:0+4:uint32", "a.bin"}});
  Program p;
  p.add(notify_start()).add(store(1)).add(store(2)).add(store(3)).add(halt());
  ASSERT_TRUE(inspector().image(0, NRTP_ENGINE_SP, 0, kProgram, p.bytes.size(), "1:1:x2 3:2:1"));
  execute(p);
  EXPECT_EQ(contents("a.bin"), word(2));
}

// The LOW and HIGH products of an FP32 pair are made at once, unless a breakpoint
// looks in between.
TEST_F(Inspected, TheLowProductOfAPairIsThere) {
  namespace lw = isa::layout::S3_LW::sunda;
  namespace mm = isa::layout::S3D3_MM::sunda;
  namespace mode = isa::code::fp32_mode;
  namespace flag = isa::code::psum_accumulate;
  struct Bytes {
    std::array<std::uint8_t, isa::kRecordBytes> raw{};
  };
  const auto one_value = [](std::uint8_t* to, std::uint32_t address) {
    const isa::Tensor3d t = {.address = address, .step = {1, 1, 1}, .count = {1, 1, 1}};
    std::memcpy(to, &t, sizeof t);
  };
  const auto weights = [&](std::uint8_t part) {
    Bytes r;
    r.raw[0] = isa::op::LDWEIGHTS;
    r.raw[1] = 0x10;
    one_value(lw::src(r.raw.data()), 0);
    lw::in_dtype.set(r.raw.data(), isa::kDtFloat32);
    lw::fp32_mode.set(r.raw.data(), part);
    lw::num_active_rows.set(r.raw.data(), 1);
    lw::num_active_cols.set(r.raw.data(), 1);
    lw::row_grp.set(r.raw.data(), 1);
    lw::col_grp.set(r.raw.data(), 1);
    return r;
  };
  const auto product = [&](std::uint8_t flags) {
    Bytes r;
    r.raw[0] = isa::op::MATMUL;
    r.raw[1] = 0x10;
    one_value(mm::src(r.raw.data()), 4);
    one_value(mm::dst(r.raw.data()), static_cast<std::uint32_t>(arch_->geometry->psum_local_base));
    mm::in_dtype.set(r.raw.data(), isa::kDtFloat32);
    mm::fp32_mode.set(r.raw.data(), mode::LOW_HIGH);
    mm::num_active_rows.set(r.raw.data(), 1);
    mm::num_active_cols.set(r.raw.data(), 1);
    mm::psum_accumulate_flags.set(r.raw.data(), flags);
    mm::row_grp.set(r.raw.data(), 1);
    mm::col_grp.set(r.raw.data(), 1);
    return r;
  };
  const float low = 0x1p-20f, weight = 1 + low, moving = 2, sum = weight * moving;
  const float low_sum = low * moving;
  for (const char* at : {"PE:2", "PE:3", "PE:4"}) {
    SCOPED_TRACE(at);
    make({{at, "psum:0:0+4:float32", "sum.bin"}});
    put(sbuf(0, 0), weight);
    put(sbuf(0, 4), moving);
    put(psum(0, 0), 5.0f);
    Program p;
    p.add(notify_start()).add(weights(mode::LOW)).add(product(flag::START));
    p.add(weights(mode::HIGH)).add(product(flag::END)).add(halt());
    ASSERT_TRUE(inspector().image(0, NRTP_ENGINE_PE, 0, kProgram, p.bytes.size(), "1:1:4"));
    execute(p, NRTP_ENGINE_PE);
    const float found = std::string(at) == "PE:4" ? sum : low_sum;
    EXPECT_EQ(contents("sum.bin"), word(std::bit_cast<std::uint32_t>(found)));
    EXPECT_EQ(get<float>(psum(0, 0)), sum);
  }
}

TEST_F(Inspected, ExecutionsAndPassesAreCounted) {
  make({{"SP:1@2", "sbuf:3:0+4:uint32", "second.bin"},
        {"SP:1@1.2", "sbuf:3:0+4:uint32", "again.bin"},
        {"SP:1@2.2", "sbuf:3:0+4:uint32", "never.bin"}});
  // Record 1 stands in two slots' places once per run: no loop, so no second pass.
  Program p;
  p.add(notify_start()).add(nop()).add(halt());
  ASSERT_TRUE(inspector().image(0, NRTP_ENGINE_SP, 0, kProgram, p.bytes.size(), "1:1:1"));
  put<std::uint32_t>(sbuf(3, 0), 7);
  execute(p);
  put<std::uint32_t>(sbuf(3, 0), 8);
  start(NRTP_ENGINE_SP);
  run();
  EXPECT_EQ(contents("second.bin"), word(8));
  const auto outcomes = inspector().outcomes();
  EXPECT_EQ(outcomes[0], "done second.bin");
  EXPECT_EQ(outcomes[1], "unreached again.bin the program never got there");
  EXPECT_EQ(outcomes[2], "unreached never.bin the program never got there");
}

TEST_F(Inspected, TheSecondPassOfALoop) {
  make({{"SP:2@1.2", "sbuf:3:0+4:uint32", "loop.bin"}});
  Program p;
  p.add(notify_start()).add(store(1)).add(nop()).add(store(9));
  // Back to record 2, for ever: the budget ends the run.
  auto back = isa::zero_record<isa::CompareBranchRecord>(isa::kOpCompareBranch);
  back.target_mode = isa::kTargetRelative;
  back.op = isa::kBranchAlways;
  back.offset = -2 * static_cast<std::int32_t>(isa::kRecordBytes);
  p.add(back);
  ASSERT_TRUE(inspector().image(0, NRTP_ENGINE_SP, 0, kProgram, p.bytes.size(), "1:1:4"));
  load(p);
  start(NRTP_ENGINE_SP);
  dev().run(20);
  EXPECT_EQ(contents("loop.bin"), word(9));
}

TEST_F(Inspected, OtherSubgraphsEnginesAndCoresAreNotMeant) {
  make({{"sg01/SP:1", "sbuf:3:0+4:uint32", "a.bin"}, {"PE:1", "sbuf:3:0+4:uint32", "b.bin"}});
  Program p;
  p.add(notify_start()).add(nop()).add(halt());
  ASSERT_TRUE(inspector().image(0, NRTP_ENGINE_SP, 0, kProgram, p.bytes.size(), "1:1:1"));
  execute(p);
  for (const std::string& line : inspector().outcomes())
    EXPECT_NE(line.find("no loaded program has this record"), std::string::npos) << line;
  // Now as subgraph 1 of core 1.
  ASSERT_TRUE(inspector().image(1, NRTP_ENGINE_SP, 1, kProgram, p.bytes.size(), "1:1:1"));
  put<std::uint32_t>(sbuf(3, 0, 1), 77);
  start(NRTP_ENGINE_SP, kProgram, 1);
  run();
  EXPECT_EQ(contents("a.bin"), word(77));
}

TEST_F(Inspected, VariablesAndAddresses) {
  make({{"SP:1", "var:x:0:float32", "x.npy"},
        {"SP:1", "hbm:" + std::to_string(kData + 4) + ":8", "h.bin"},
        {"SP:1", "var:unknown", "u.bin"},
        {"SP:1", "hbm:0x7fffffffffff0:8", "bad.bin"},
        {"SP:1", "var:odd:float32", "odd.bin"},
        {"SP:1", "sbuf:0:0x1000000+4:uint8", "far.bin"}});
  const std::uint32_t values[] = {1, 2, 3};
  ASSERT_EQ(dev().write(kData, values, sizeof values), 0);
  inspector().variable(0, kData, sizeof values, "x:0");
  inspector().variable(0, kData, 7, "odd");
  Program p;
  p.add(notify_start()).add(nop()).add(halt());
  ASSERT_TRUE(inspector().image(0, NRTP_ENGINE_SP, 0, kProgram, p.bytes.size(), "1:1:1"));
  execute(p);
  const std::string x = contents("x.npy");
  ASSERT_GE(x.size(), 12u);
  EXPECT_EQ(x.substr(x.size() - 12),
            std::string(reinterpret_cast<const char*>(values), sizeof values));
  EXPECT_EQ(contents("h.bin"), word(2) + word(3));
  const auto outcomes = inspector().outcomes();
  EXPECT_EQ(outcomes[2].rfind("failed u.bin no variable 'unknown'", 0), 0u) << outcomes[2];
  EXPECT_NE(outcomes[3].find("not all memory"), std::string::npos) << outcomes[3];
  EXPECT_NE(outcomes[4].find("no whole number of float32"), std::string::npos) << outcomes[4];
  EXPECT_NE(outcomes[5].find("SBUF has 128 partitions of"), std::string::npos) << outcomes[5];
  EXPECT_EQ(log_.size(), 4u);
}

// The form of an input or output is that of its dump, unless another type is named.
TEST_F(Inspected, TensorsKeepTheirForm) {
  make({{"SP:1", "var:x", "x.npy"},
        {"SP:1", "var:x:uint32", "u.npy"},
        {"SP:1", "var:x:uint8", "b.npy"},
        {"SP:1", "var:plain", "p.npy"}});
  const std::uint32_t values[] = {1, 2, 3, 4, 5, 6};
  ASSERT_EQ(dev().write(kData, values, sizeof values), 0);
  ArrayForm form;
  ASSERT_TRUE(Inspector::parse_form("float32", "2x3", &form));
  inspector().variable(0, kData, sizeof values, "x", form);
  inspector().variable(0, kData, sizeof values, "plain");
  Program p;
  p.add(notify_start()).add(nop()).add(halt());
  ASSERT_TRUE(inspector().image(0, NRTP_ENGINE_SP, 0, kProgram, p.bytes.size(), "1:1:1"));
  execute(p);
  const auto has = [&](const char* file, const char* descr, const char* shape) {
    const std::string text = contents(file);
    return text.find(descr) != std::string::npos && text.find(shape) != std::string::npos;
  };
  EXPECT_TRUE(has("x.npy", "'<f4'", "(2, 3)"));
  EXPECT_TRUE(has("u.npy", "'<u4'", "(2, 3)"));
  EXPECT_TRUE(has("b.npy", "'|u1'", "(24, )")) << contents("b.npy");
  EXPECT_TRUE(has("p.npy", "'|u1'", "(24, )"));
}

TEST(Inspector, FormsAreTypesAndDimensions) {
  ArrayForm form;
  EXPECT_TRUE(Inspector::parse_form("int8", "-", &form));
  EXPECT_STREQ(form.type->name, "int8");
  EXPECT_TRUE(form.shape.empty());
  EXPECT_TRUE(Inspector::parse_form("unknown", "3", &form));
  EXPECT_EQ(form.type, nullptr);
  for (const char* dimensions : {"", "x", "2x", "x2", "2xx3", "a", "2,3", "99999999999999999999"})
    EXPECT_FALSE(Inspector::parse_form("int8", dimensions, &form)) << dimensions;
}

TEST_F(Inspected, ForgottenRangesMeanNothing) {
  make({{"SP:1", "var:x", "x.bin"}, {"SP:1", "sbuf:3:0+4:uint32", "a.bin"}});
  Program p;
  p.add(notify_start()).add(nop()).add(halt());
  inspector().variable(0, kData, 4, "x");
  ASSERT_TRUE(inspector().image(0, NRTP_ENGINE_SP, 0, kProgram, p.bytes.size(), "1:1:1"));
  inspector().forget(kProgram, 64);
  execute(p);
  EXPECT_EQ(inspector().outcomes()[1].rfind("unreached", 0), 0u);
  ASSERT_TRUE(inspector().image(0, NRTP_ENGINE_SP, 0, kProgram, p.bytes.size(), "1:1:1"));
  inspector().forget(kData, 1);
  start(NRTP_ENGINE_SP);
  run();
  EXPECT_EQ(inspector().outcomes()[0].rfind("failed x.bin", 0), 0u);
  EXPECT_EQ(inspector().outcomes()[1], "done a.bin");
}

TEST_F(Inspected, RecordsOfWhichNothingIsLeftAndUnwritableFiles) {
  make({{"SP:1", "sbuf:3:0+4:uint32", "a.bin"}, {"SP:2", "sbuf:3:0+4:uint32", "b.bin"}},
       "/no/such/directory");
  Program p;
  p.add(notify_start()).add(nop()).add(halt());
  ASSERT_TRUE(inspector().image(0, NRTP_ENGINE_SP, 0, kProgram, p.bytes.size(), "1:1:x0 1:2:1"));
  execute(p);
  EXPECT_NE(inspector().outcomes()[0].find("leaves nothing of this record"), std::string::npos);
  EXPECT_EQ(inspector().outcomes()[1],
            "failed b.bin /no/such/directory/b.bin: No such file or directory");
}

TEST_F(Inspected, BadPlacesAreRefused) {
  make({{"SP:1", "sbuf:3:0+4:uint32", "a.bin"}});
  for (const char* runs : {"x", "1", "1:1", "1:1:", "1:1:x", "1:1:1,2:2:1", "1:1:1 2", "1-1-1"})
    EXPECT_FALSE(inspector().image(0, NRTP_ENGINE_SP, 0, kProgram, 64, runs)) << runs;
}

TEST_F(Inspected, ADeviceThatIsNotAskedHasNone) { EXPECT_EQ(dev().inspector(), nullptr); }

}  // namespace
}  // namespace opennrt::emu::test
