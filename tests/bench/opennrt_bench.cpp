// SPDX-License-Identifier: Apache-2.0
//
// Speed of the main paths through the C ABI, each beside a limit measured in
// the same run: executions of an empty and of a vector-add program, tensor
// transfers against memcpy, start-up and load time.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "nrt/nrt.h"
#include "nrt/nrt_experimental.h"

namespace {

std::vector<char> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void require(NRT_STATUS status, const char* what) {
  if (status == NRT_SUCCESS) return;
  std::fprintf(stderr, "%s failed with status %d\n", what, static_cast<int>(status));
  std::exit(1);
}
#define REQUIRE(call) require((call), #call)

// A loaded model with device tensors for everything it names.
class Model {
 public:
  explicit Model(const char* path) {
    REQUIRE(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
    const std::vector<char> neff = read_file(path);
    REQUIRE(nrt_load(neff.data(), neff.size(), 0, -1, &model_));
    REQUIRE(nrt_get_model_tensor_info(model_, &info_));
    REQUIRE(nrt_allocate_tensor_set(&in_));
    REQUIRE(nrt_allocate_tensor_set(&out_));
    for (uint64_t i = 0; i < info_->tensor_count; ++i) {
      const nrt_tensor_info_t& t = info_->tensor_array[i];
      nrt_tensor_t* tensor = nullptr;
      REQUIRE(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, t.size, t.name, &tensor));
      REQUIRE(nrt_add_tensor_to_tensor_set(t.usage == NRT_TENSOR_USAGE_INPUT ? in_ : out_, t.name,
                                           tensor));
      REQUIRE(nrt_tensor_memset(tensor, 0, 0, t.size));
      tensors_.push_back(tensor);
      bytes_ += t.size;
    }
  }
  ~Model() {
    for (nrt_tensor_t*& t : tensors_) nrt_tensor_free(&t);
    nrt_destroy_tensor_set(&in_);
    nrt_destroy_tensor_set(&out_);
    nrt_free_model_tensor_info(info_);
    nrt_unload(model_);
    nrt_close();
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  void execute() { REQUIRE(nrt_execute(model_, in_, out_)); }
  uint64_t bytes() const { return bytes_; }

 private:
  nrt_model_t* model_ = nullptr;
  nrt_tensor_info_array_t* info_ = nullptr;
  nrt_tensor_set_t* in_ = nullptr;
  nrt_tensor_set_t* out_ = nullptr;
  std::vector<nrt_tensor_t*> tensors_;
  uint64_t bytes_ = 0;
};

void ExecuteEmpty(benchmark::State& state) {
  Model model(OPENNRT_EMPTY_NEFF);
  for (auto _ : state) model.execute();
}
BENCHMARK(ExecuteEmpty)->Unit(benchmark::kMicrosecond);

void ExecuteVecAdd(benchmark::State& state) {
  Model model(OPENNRT_VECADD_NEFF);
  for (auto _ : state) model.execute();
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * model.bytes()));
}
BENCHMARK(ExecuteVecAdd)->Unit(benchmark::kMicrosecond);

// The limit of ExecuteVecAdd: the same additions on plain arrays.
void PlainVecAdd(benchmark::State& state) {
  const std::size_t count = 256000;
  std::vector<float> a(count, 1.0f), b(count, 2.0f), c(count);
  for (auto _ : state) {
    for (std::size_t i = 0; i < count; ++i) c[i] = a[i] + b[i];
    benchmark::DoNotOptimize(c.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * count * 12));
}
BENCHMARK(PlainVecAdd)->Unit(benchmark::kMicrosecond);

class Transfer {
 public:
  explicit Transfer(std::size_t bytes) : host_(bytes, 1) {
    REQUIRE(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
    REQUIRE(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, bytes, "t", &tensor_));
    write();
  }
  ~Transfer() {
    nrt_tensor_free(&tensor_);
    nrt_close();
  }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  void write() { REQUIRE(nrt_tensor_write(tensor_, host_.data(), 0, host_.size())); }
  void read() { REQUIRE(nrt_tensor_read(tensor_, host_.data(), 0, host_.size())); }

 private:
  std::vector<char> host_;
  nrt_tensor_t* tensor_ = nullptr;
};

void TensorWrite(benchmark::State& state) {
  Transfer transfer(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) transfer.write();
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(TensorWrite)->Arg(4 << 10)->Arg(1 << 20)->Arg(64 << 20)->Unit(benchmark::kMicrosecond);

void TensorRead(benchmark::State& state) {
  Transfer transfer(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) transfer.read();
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(TensorRead)->Arg(4 << 10)->Arg(1 << 20)->Arg(64 << 20)->Unit(benchmark::kMicrosecond);

void Memcpy(benchmark::State& state) {
  std::vector<char> from(static_cast<std::size_t>(state.range(0)), 1), to(from.size(), 2);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(Memcpy)->Arg(4 << 10)->Arg(1 << 20)->Arg(64 << 20)->Unit(benchmark::kMicrosecond);

void InitClose(benchmark::State& state) {
  for (auto _ : state) {
    REQUIRE(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
    nrt_close();
  }
}
BENCHMARK(InitClose)->Unit(benchmark::kMillisecond);

void LoadUnload(benchmark::State& state) {
  REQUIRE(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  const std::vector<char> neff = read_file(OPENNRT_VECADD_NEFF);
  for (auto _ : state) {
    nrt_model_t* model = nullptr;
    REQUIRE(nrt_load(neff.data(), neff.size(), 0, -1, &model));
    REQUIRE(nrt_unload(model));
  }
  nrt_close();
}
BENCHMARK(LoadUnload)->Unit(benchmark::kMillisecond);

// Load of the largest real model, when the corpus is at hand.
void LoadLargest(benchmark::State& state) {
  const char* folder = std::getenv("OPENNRT_CORPUS");
  const std::string path =
      std::string(folder != nullptr ? folder : OPENNRT_DEFAULT_CORPUS) + "/conv_f32_n2_sunda.neff";
  const std::vector<char> neff = read_file(path);
  if (neff.empty()) {
    state.SkipWithError("no corpus: set OPENNRT_CORPUS");
    return;
  }
  REQUIRE(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  for (auto _ : state) {
    nrt_model_t* model = nullptr;
    REQUIRE(nrt_load(neff.data(), neff.size(), 0, -1, &model));
    REQUIRE(nrt_unload(model));
  }
  nrt_close();
}
BENCHMARK(LoadLargest)->Unit(benchmark::kMillisecond)->MeasureProcessCPUTime();

}  // namespace

int main(int argc, char** argv) {
  setenv("OPENNRT_DEVICE", "emulator", 0);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
