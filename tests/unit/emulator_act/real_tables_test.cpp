// SPDX-License-Identifier: Apache-2.0
//
// Tables of compiled models, staged as a load stages them, against the
// functions they approximate.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include "neff/program.h"
#include "tdrv/tables.h"
#include "unit/emulator_act/act_lab.h"

namespace opennrt::emu::test {
namespace {

namespace fs = std::filesystem;

fs::path corpus() {
  const char* folder = std::getenv("OPENNRT_CORPUS");
  return folder && *folder ? fs::path(folder) : fs::path(OPENNRT_DEFAULT_CORPUS);
}

struct Promise {
  double (*f)(double);
  double low, high;           // range of the promise
  double relative, absolute;  // error, whichever is larger
};

double silu(double x) { return x / (1 + std::exp(-x)); }

const std::map<std::uint32_t, Promise> kPromises = {
    {7, {[](double x) { return std::exp(x); }, -80, 80, 5e-5, 0}},
    {10, {[](double x) { return std::log(x); }, 1e-6, 1e6, 5e-5, 5e-5}},
    {29, {[](double x) { return 1 / std::sqrt(x); }, 1e-6, 1e6, 5e-5, 0}},
    {36, {silu, -20, 20, 5e-5, 4e-5}},
    {6, {[](double x) { return std::tanh(x); }, -30, 30, 1e-6, 0}},
    {19, {[](double x) { return std::sin(x); }, -3.14159, 3.14159, 1e-6, 2e-7}},
    {1, {[](double x) { return x; }, -1e6, 1e6, 0, 0}},
    {128, {[](double x) { return x; }, -1e6, 1e6, 0, 0}},
    {2, {[](double x) { return std::max(x, 0.0); }, -1e6, 1e6, 0, 0}},
    {3, {[](double x) { return x > 0 ? x : x * double{0.01f}; }, -1e6, 1e6, 1e-7, 0}},
    {33, {[](double x) { return std::fabs(x); }, -1e6, 1e6, 0, 0}},
    {30, {[](double x) { return x * x; }, -1e6, 1e6, 1e-7, 0}},
    {31, {[](double x) { return x > 0 ? 1.0 : -1.0; }, -1e6, 1e6, 0, 0}},
    {11, {[](double) { return 1.0; }, -1e6, 1e6, 0, 0}},
    {12, {[](double x) { return x > 0 ? 1.0 : 0.0; }, -1e6, 1e6, 0, 0}},
    {35, {[](double) { return 1.0; }, -1e6, 1e6, 0, 0}},
    {130, {[](double) { return 0.0; }, -1e6, 1e6, 0, 0}},
};

class RealTables : public ActLab {};

TEST_F(RealTables, KeepThePromiseOfTheirFunction) {
  if (!fs::exists(corpus())) GTEST_SKIP() << "no models at " << corpus();
  std::map<std::uint32_t, int> tested;
  for (const auto& [file, target] : {std::pair{"conv_f16_n1_sunda_a.neff", "sunda"},
                                     {"attention_f32_s512_cayman_base.neff", "cayman"},
                                     {"moe_bf16_mariana.neff", "mariana"}}) {
    SCOPED_TRACE(file);
    std::ifstream in(corpus() / file, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (bytes.empty()) GTEST_SKIP() << "no model " << file;
    neff::LoadLimits limits;
    limits.targets = {target};
    limits.running_on = target;
    limits.lnc_size = std::string(target) == "sunda" ? 1 : 2;
    const auto program = neff::load_program(
        {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()}, limits);
    ASSERT_TRUE(program.is_ok()) << program.status().message();
    const neff::Subgraph& graph = program->subgraphs[0];
    const auto parts = tdrv::act_tables(*arch_, graph);
    ASSERT_TRUE(parts.is_ok()) << parts.status().message();
    for (const auto& part : *parts)
      std::memcpy(bus_->tables.data() + (part.local - arch_->tables->act[0].local),
                  part.content.data(), part.content.size());
    ++bus_->version;
    for (std::uint32_t set = 0; set < graph.act_sets.size(); ++set) {
      state_.activation_set = set;
      for (const auto& [code, promise] : kPromises) {
        const std::string& json = graph.act_sets[set].profile_json;
        if (json.find("\"func_id\": " + std::to_string(code) + ",") == std::string::npos &&
            json.find("\"func_id\":" + std::to_string(code) + ",") == std::string::npos)
          continue;
        ++tested[code];
        // Equal steps in value and equal ratios, both signs.
        std::vector<float> x;
        for (int i = 0; i < 2000; ++i)
          x.push_back(
              static_cast<float>(promise.low + (promise.high - promise.low) * (i + 0.37) / 2000));
        for (double v = 1e-6; v < promise.high; v *= 1.013) {
          x.push_back(static_cast<float>(v));
          if (-v > promise.low) x.push_back(static_cast<float>(-v));
        }
        const int n = static_cast<int>(x.size());
        fill<float>(0x100, 0, x);
        ok(activate({.function = static_cast<std::uint8_t>(code),
                     .out = 0x18000,
                     .in_counts = {n},
                     .out_counts = {n},
                     .partitions = 1}));
        for (int i = 0; i < n; ++i) {
          const double want = promise.f(double{x[static_cast<std::size_t>(i)]});
          ASSERT_NEAR(at<float>(0x18000)[i], want,
                      std::max(std::fabs(want) * promise.relative, promise.absolute))
              << graph.act_sets[set].name << " function " << code << " at "
              << x[static_cast<std::size_t>(i)];
        }
      }
    }
  }
  for (const auto& [code, promise] : kPromises)
    EXPECT_GT(tested[code], 0) << "function " << code << " is in no set";
}

}  // namespace
}  // namespace opennrt::emu::test
