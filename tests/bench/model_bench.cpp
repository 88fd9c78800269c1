// SPDX-License-Identifier: Apache-2.0
//
// Executions of real models through the C ABI. Without arguments figures only;
// with --limits[=PART] ratios to limits that are measured in the same run.
#include <benchmark/benchmark.h>

#include <cstring>
#include <string>

#include "bench/limits.h"
#include "bench/loaded_model.h"
#include "bench/measure.h"

namespace opennrt::bench {
namespace {

void execute(benchmark::State& state, const char* id) {
  const test::ModelCase& model = model_case(id);
  const Session session(model, static_cast<int>(state.range(0)));
  LoadedModel loaded(model);
  loaded.execute();
  for (auto _ : state) loaded.execute();
}

void add_benchmarks() {
  for (const char* id :
       {"vecadd_2tiles_cayman", "transpose1024_cayman_a", "attention_f32_s512_cayman_base",
        "attention_bf16_s1024_cayman_fused", "conv_f16_n1_sunda_a", "conv_f32_n1_sunda"}) {
    auto* b =
        benchmark::RegisterBenchmark(id, [id](benchmark::State& state) { execute(state, id); });
    b->ArgName("threads")->Arg(1)->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);
    if (available_cpus() > 1) b->Arg(2);
  }
}

}  // namespace
}  // namespace opennrt::bench

int main(int argc, char** argv) {
  using namespace opennrt::bench;
  available_cpus();
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--limits") == 0) return measure_limits("");
    if (std::strncmp(argv[i], "--limits=", 9) == 0) return measure_limits(argv[i] + 9);
    if (std::strncmp(argv[i], "--memory=", 9) == 0) return print_peak_memory(argv[i] + 9);
  }
  add_benchmarks();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
