// SPDX-License-Identifier: Apache-2.0
//
// ACTIVATE_QUANTIZE: saturated 8-bit output.
#include "unit/emulator_act/act_lab.h"

namespace opennrt::emu::test {
namespace {

using Quantize = ActLab;
namespace aq = layout::S3D3_AQ;

Record quantize(std::uint8_t function, int n) {
  Record r{};
  r[0] = isa::op::ACTIVATE_QUANTIZE;
  r[1] = 0x10;
  for (const auto& [at, address] : {std::pair{16, 0x100u}, {48, 0x8000u}}) {
    std::memcpy(&r[static_cast<std::size_t>(at)], &address, 4);
    const std::int16_t step[3] = {1, 0, 0};
    const std::uint16_t count[3] = {static_cast<std::uint16_t>(n), 1, 1};
    std::memcpy(&r[static_cast<std::size_t>(at + 4)], step, 6);
    std::memcpy(&r[static_cast<std::size_t>(at + 10)], count, 6);
  }
  aq::in_bias_dtype.set(r.data(), isa::kDtInt32 | isa::kDtFloat32 << 4);
  aq::out_dtype.set(r.data(), isa::kDtUint8);
  aq::num_active_channels.set(r.data(), 1);
  aq::activation_func.set(r.data(), function);
  aq::dequant_scale.set(r.data(), 0.01f);
  aq::bias_addr.set(r.data(), 0x40);
  aq::quant_scale.set(r.data(), 20);
  aq::quant_zero.set(r.data(), 3);
  return r;
}

TEST_F(Quantize, ReluOfIntegersSaturates) {
  std::vector<std::int32_t> x;
  for (int i = -500; i < 2000; i += 37) x.push_back(i);
  fill(0x100, 0, x);
  *at<float>(0x40) = 0.5f;
  const int n = static_cast<int>(x.size());
  ok(quantize(2, n));
  for (int i = 0; i < n; ++i) {
    const double y = std::max(x[static_cast<std::size_t>(i)] * 0.01 + 0.5, 0.0) * 20 + 3;
    const double want = std::min(std::max(y, 0.0), 255.0);
    EXPECT_NEAR(at<std::uint8_t>(0x8000)[i], want, 0.5 + 1e-4) << i;
  }
  EXPECT_EQ(at<std::uint8_t>(0x8000)[n - 1], 255);
  EXPECT_EQ(at<std::uint8_t>(0x8000)[0], 3);
}

TEST_F(Quantize, WrongFieldsAreRefused) {
  Record r = quantize(2, 8);
  aq::quant_scale.set(r.data(), 0);
  refused(r, {"output scale"});
  r = quantize(2, 8);
  aq::dequant_scale.set(r.data(), 0);
  refused(r, {"input scale"});
  r = quantize(2, 8);
  aq::out_dtype.set(r.data(), isa::kDtInt8);
  refused(r, {"UINT8"});
  refused(quantize(4, 8), {"parametric_relu"});
  r = quantize(2, 8);
  r[58] = 9;
  refused(r, {"8 elements", "9"});
}

}  // namespace
}  // namespace opennrt::emu::test
