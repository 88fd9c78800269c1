// SPDX-License-Identifier: Apache-2.0
//
// The PE array's share of a large convolution (3x3, 256 to 256 channels, 222 x
// 222 results: 29 G multiply-adds) beside one FP32 product of the same size, M
// 256, K 2304, N 49284, by the fastest library that is installed, and beside the
// multiply-adds that a core can do. All times are CPU time of the thread, so
// that other work on the machine disturbs less; counters are ratios of times
// taken alternately.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "bench/measure.h"
#include "bench/peers.h"
#include "compute/pe_kernels.h"
#include "compute/plan.h"
#include "device/bus.h"
#include "opennrt/arch.h"
#include "opennrt/isa/layouts.h"
#include "opennrt/isa/records.h"

extern "C" const nrtp_arch_plugin* nrtp_arch_query(std::uint32_t host_major,
                                                   std::uint32_t host_minor);

namespace opennrt::emu {
namespace {

// --- the array

class MapBus final : public Bus {
 public:
  explicit MapBus(const AddressMap& map) : map_(map) {}
  const AddressMap& map() const override { return map_; }
  bool bus_read(std::uint64_t, void*, std::uint64_t, const Origin&) override { return false; }
  bool bus_write(std::uint64_t, const void*, std::uint64_t, const Origin&) override {
    return false;
  }
  SyncBank& sync(std::uint32_t) override { return sync_; }
  void notify(std::uint32_t, std::uint32_t, const Notification&) override {}
  void report(const Origin&, ErrorType, std::uint16_t, const std::string&) override {}

 private:
  const AddressMap& map_;
  SyncBank sync_;
};

using Record = std::array<std::uint8_t, 64>;

struct View {
  std::uint32_t address;
  std::array<std::int16_t, 3> step;
  std::array<std::uint16_t, 3> count;
};

class Convolution {
 public:
  explicit Convolution(bool half) : half_(half) {
    const nrtp_arch_plugin* arch = nrtp_arch_query(NRTP_ARCH_ABI_MAJOR, NRTP_ARCH_ABI_MINOR);
    MemoryConfig config{};
    config.hbm_channels = arch->geometry->n_hbm;
    config.hbm_channel_bytes = 64 << 20;
    config.host_bytes = 1 << 20;
    config.cores = 1;
    config.sbuf_window_bytes = arch->geometry->sbuf_window_bytes;
    config.psum_window_bytes = arch->geometry->psum_window_bytes;
    std::string error;
    memory_ = DeviceMemory::create(config, &error);
    map_ = std::make_unique<AddressMap>(arch, arch->products, *memory_, 1);
    bus_ = std::make_unique<MapBus>(*map_);
    state_.bus = bus_.get();
    fill();
    emit();
  }

  void run() {
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      state_.pc = kProgram + 64 * i;
      std::string error;
      if (!plans_[i]->execute(state_, &error)) fail(error);
    }
  }
  std::uint64_t multiply_adds() const { return multiply_adds_; }

 private:
  static constexpr std::uint64_t kProgram = 0x1100000;
  static constexpr std::uint32_t kWeights = 0, kImage = 0x18000, kBands = 8;

  [[noreturn]] static void fail(const std::string& error) {
    std::fprintf(stderr, "%s\n", error.c_str());
    std::exit(1);
  }

  std::uint32_t bytes() const { return half_ ? 2 : 4; }

  void fill() {
    std::uint8_t* sbuf = memory_->sbuf(0).data();
    for (std::uint32_t p = 0; p < 128; ++p)
      for (std::uint32_t i = 0; i < 0x30000 / bytes(); ++i) {
        const float v = static_cast<float>((p * 7 + i * 13) % 64) / 64;
        std::uint32_t bits;
        std::memcpy(&bits, &v, 4);
        // 6 significant bits: exact in half precision.
        const std::uint16_t h = static_cast<std::uint16_t>(
            v == 0 ? 0 : ((bits >> 23) - 112) << 10 | (bits >> 13 & 0x3FF));
        if (half_)
          std::memcpy(sbuf + p * 0x40000 + 2 * i, &h, 2);
        else
          std::memcpy(sbuf + p * 0x40000 + 4 * i, &v, 4);
      }
    std::memset(memory_->psum(0).data(), 0, memory_->psum(0).bytes());
  }

  // Two output rows (f16) or one (f32) at a time: for each half of the output
  // channels the 9 taps of both halves of the input channels add up in a bank.
  void emit() {
    const std::uint32_t rows = half_ ? 2 : 1;
    const std::uint32_t band = (rows + 2) * 224 * bytes();  // of one half of the inputs
    for (std::uint32_t y = 0; y < 222; y += rows)
      for (std::uint32_t out = 0; out < 2; ++out)
        for (std::uint32_t in = 0; in < 2; ++in)
          for (std::uint32_t tap = 0; tap < 9; ++tap) {
            const std::uint32_t image =
                kImage + (y / rows % kBands * 2 + in) * band + (tap / 3 * 224 + tap % 3) * bytes();
            const std::uint32_t weights = kWeights + ((out * 2 + in) * 9 + tap) * 128 * bytes();
            const std::uint32_t bank = 0x2000000 + (y * 2 + out) % 8 * 0x800;
            const View w{weights + 127 * bytes(), {-1, 0, 0}, {128, 1, 1}};
            const View x{image, {1, 224, 0}, {222, static_cast<std::uint16_t>(rows), 1}};
            const View d{bank, {1, 0, 0}, {static_cast<std::uint16_t>(222 * rows), 1, 1}};
            const bool first = in == 0 && tap == 0;
            for (std::uint32_t pass = half_ ? 1 : 0; pass < 2; ++pass) {
              add(isa::op::LDWEIGHTS, w, nullptr, half_ ? 0 : 1 + pass, 0);
              add(isa::op::MATMUL, x, &d, half_ ? 0 : 3, first && (half_ || pass == 0) ? 1 : 0);
            }
            multiply_adds_ += 128ull * 128 * 222 * rows;
          }
  }

  void add(std::uint8_t op, const View& source, const View* destination, std::uint32_t mode,
           std::uint32_t flags) {
    namespace mm = isa::layout::S3D3_MM::sunda;
    Record r{};
    r[0] = op;
    r[1] = 0x10;
    std::memcpy(mm::src(r.data()), &source, sizeof source);
    if (destination) std::memcpy(mm::dst(r.data()), destination, sizeof *destination);
    mm::in_dtype.set(r.data(), half_ ? isa::kDtFloat16 : isa::kDtFloat32);
    mm::fp32_mode.set(r.data(), static_cast<std::uint8_t>(mode));
    mm::num_active_rows.set(r.data(), 128);
    mm::num_active_cols.set(r.data(), 128);
    mm::psum_accumulate_flags.set(r.data(), static_cast<std::uint8_t>(flags));
    mm::row_grp.set(r.data(), 15);
    mm::col_grp.set(r.data(), 15);
    std::string error;
    auto plan = plan_compute({*map_, 0, NRTP_ENGINE_PE, isa::Generation::kSunda}, r.data(), &error);
    if (!plan) fail(error);
    std::memcpy(map_->memory(kProgram + 64 * plans_.size(), 64), r.data(), 64);
    plans_.push_back(std::move(plan));
  }

  bool half_;
  std::shared_ptr<DeviceMemory> memory_;
  std::unique_ptr<AddressMap> map_;
  std::unique_ptr<MapBus> bus_;
  EngineState state_;
  std::vector<std::unique_ptr<ComputePlan>> plans_;
  std::uint64_t multiply_adds_ = 0;
};

// nullptr: no library is installed.
bench::LargeProduct* peer() {
  if (!bench::Peers::get().any()) return nullptr;
  static const auto product = [] {
    auto p = std::make_unique<bench::LargeProduct>();
    p->choose(1);
    return p;
  }();
  return product.get();
}

void stream(benchmark::State& state, bool half) {
  Convolution convolution(half);
  bench::LargeProduct* const product = peer();
  double ours = 0, large = 0, peak = 0;
  for (auto _ : state) {
    peak = std::max(peak, bench::peak_flops(1));
    if (product) large += bench::timed(bench::thread_seconds, [&] { product->run(); });
    const double seconds = bench::timed(bench::thread_seconds, [&] { convolution.run(); });
    ours += seconds;
    state.SetIterationTime(seconds);
  }
  const double flops = 2.0 * static_cast<double>(convolution.multiply_adds());
  const double each = ours / static_cast<double>(state.iterations());
  state.counters["GFlops"] = flops / each * 1e-9;
  if (peak > 0) state.counters["of_peak"] = flops / each / peak;
  if (product) {
    state.SetLabel(std::string(pe_kernels().name) + " against " + product->name());
    state.counters["library_GFlops"] =
        bench::LargeProduct::kFlops / (large / static_cast<double>(state.iterations())) * 1e-9;
    state.counters["times_library"] = ours / large * (bench::LargeProduct::kFlops / flops);
  } else {
    state.SetLabel(std::string(pe_kernels().name) + "; no library to compare with");
  }
}

void ConvolutionF16(benchmark::State& state) { stream(state, true); }
BENCHMARK(ConvolutionF16)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(3);
void ConvolutionF32(benchmark::State& state) { stream(state, false); }
BENCHMARK(ConvolutionF32)->UseManualTime()->Unit(benchmark::kMillisecond)->Iterations(3);

// One product per kernel set, data in cache.
void Kernel(benchmark::State& state) {
  const PeKernels& k = *usable_pe_kernels()[static_cast<std::size_t>(state.range(0))];
  constexpr std::uint32_t kDepth = 128;
  std::unique_ptr<float, decltype(&std::free)> w(
      static_cast<float*>(std::aligned_alloc(64, kDepth * kPeBlock * 4)), std::free),
      x(static_cast<float*>(std::aligned_alloc(64, kDepth * k.width * 4)), std::free);
  std::fill_n(w.get(), kDepth * kPeBlock, 0.5f);
  std::fill_n(x.get(), kDepth * k.width, 0.25f);
  std::vector<float> c(kPeBlock * k.width);
  for (auto _ : state) {
    k.multiply(w.get(), x.get(), kDepth, c.data(), k.width, kPeBlock, k.width, true);
    benchmark::DoNotOptimize(c.data());
  }
  state.SetLabel(k.name);
  state.counters["GFlops"] = benchmark::Counter(2e-9 * kDepth * kPeBlock * k.width,
                                                benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(Kernel)->DenseRange(0, static_cast<int>(usable_pe_kernels().size()) - 1);

}  // namespace
}  // namespace opennrt::emu

BENCHMARK_MAIN();
