// SPDX-License-Identifier: Apache-2.0
#include "unit/emulator_act/lab.h"

namespace opennrt::emu::test {
namespace {

class IndirectCopy : public Lab {
 protected:
  IndirectCopy() { on(NRTP_ENGINE_POOL); }

  static Record copy(int indices, std::uint8_t run, std::uint8_t channels, std::uint16_t bound,
                     std::uint32_t dtype) {
    namespace ic = layout::S4D4_IC;
    Record r = record(isa::op::INDIRECT_COPY);
    const std::uint32_t index = 0x20000000 | 0x1000, data = 0x2000;
    const std::uint16_t n = static_cast<std::uint16_t>(indices);
    std::memcpy(ic::src(r.data()), &index, 4);
    std::memcpy(ic::src(r.data()) + 4, &data, 4);
    std::memcpy(ic::src(r.data()) + 8, &n, 2);
    pattern(ic::dst(r.data()), 0x8000, 4, {indices * run}, {1});
    ic::in_dtype.set(r.data(), static_cast<std::uint8_t>(dtype));
    ic::out_dtype.set(r.data(), static_cast<std::uint8_t>(dtype));
    ic::num_active_channels.set(r.data(), channels);
    ic::src_num_elem_per_idx.set(r.data(), run);
    ic::src_buffer_size.set(r.data(), bound);
    return r;
  }
};

TEST_F(IndirectCopy, RunsByGroupOfSixteenPartitions) {
  const int indices = 50;
  for (const std::uint8_t run : {1, 4, 32}) {
    for (std::uint32_t p = 0; p < 64; ++p) {
      for (std::uint32_t i = 0; i < 600; ++i) at<std::uint32_t>(0x2000, p)[i] = p << 16 | i;
      for (std::uint32_t c = 0; c < 4; ++c)  // ceil(50 / 16) columns
        at<std::uint16_t>(0x1000, p)[c] = static_cast<std::uint16_t>((p * 37 + c * 101) % 568);
    }
    ok(copy(indices, run, 64, 600, isa::kDtInt32));
    for (std::uint32_t p = 0; p < 64; ++p)
      for (std::uint32_t k = 0; k < 50u * run; ++k) {
        const std::uint32_t i = k / run, holder = p / 16 * 16 + i % 16;
        const std::uint32_t place = (holder * 37 + i / 16 * 101) % 568 + k % run;
        ASSERT_EQ(at<std::uint32_t>(0x8000, p)[k], p << 16 | place) << p << " " << k;
      }
  }
}

TEST_F(IndirectCopy, IndicesBeyondTheBufferAreRefused) {
  at<std::uint16_t>(0x1000, 17)[0] = 597;
  *at<std::uint32_t>(0x8000) = 42;
  refused(copy(16, 4, 32, 600, isa::kDtInt32), {"index 597", "channels 16 to 31", "600"});
  EXPECT_EQ(*at<std::uint32_t>(0x8000), 42u);
  at<std::uint16_t>(0x1000, 17)[0] = 596;
  ok(copy(16, 4, 32, 600, isa::kDtInt32));
}

TEST_F(IndirectCopy, WrongFieldsAreRefused) {
  refused(copy(16, 3, 32, 600, isa::kDtInt32), {"elements per index is 3"});
  refused(copy(16, 1, 24, 600, isa::kDtInt32), {"channels is 24"});
  refused(copy(16, 1, 32, 1, isa::kDtInt32), {"source buffer size is 1"});
  refused(copy(4097, 1, 32, 600, isa::kDtInt8), {"4097", "4096"});
  Record r = copy(16, 1, 32, 600, isa::kDtInt32);
  layout::S4D4_IC::out_dtype.set(r.data(), isa::kDtFloat32);
  refused(r, {"output data type"});
  r = copy(16, 1, 32, 600, isa::kDtInt32);
  r[12 + 3] = 0;
  refused(r, {"address form"});
  r = copy(16, 1, 32, 600, isa::kDtInt32);
  r[12 + 8] = 17;
  refused(r, {"source elements is 17"});
  r = copy(16, 1, 32, 600, isa::kDtInt32);
  layout::S4D4_IC::dst_buffer_size.set(r.data(), 5);
  refused(r, {"destination buffer size"});
}

}  // namespace
}  // namespace opennrt::emu::test
