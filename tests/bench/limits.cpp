// SPDX-License-Identifier: Apache-2.0
//
// One thread is measured by the CPU time of the process, more by the wall clock.
#include "bench/limits.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "bench/limit_table.h"
#include "bench/loaded_model.h"
#include "bench/measure.h"
#include "bench/peers.h"

namespace opennrt::bench {

namespace {

constexpr int kRepeats = 7;
// A peer's product below this part of the peak is no measure.
constexpr double kPeerOfPeak = 0.80;

// --- convolutions

constexpr const char* kConvolutions[] = {"conv_f16_n1_sunda_a", "conv_f32_n1_sunda"};

void convolution(LimitTable& limits, LargeProduct& product, int threads, double of_peak) {
  for (const char* id : kConvolutions) {
    const std::string name = std::string(id) + "/" + std::to_string(threads);
    if (!limits.wanted(name)) continue;
    const test::ModelCase& model = model_case(id);
    const Session session(model, threads);
    LoadedModel loaded(model);
    const auto ours = [&] { loaded.execute(); };
    const auto peer = [&] { product.run(); };
    const Pair p = threads == 1 ? compare(process_seconds, kRepeats, ours, peer)
                                : compare_best(2 * kRepeats, ours, peer);
    std::fprintf(stderr, "  %s: %.0f ms, %s %.0f ms\n", name.c_str(), p.ours * 1e3,
                 product.name().c_str(), p.peer * 1e3);
    char text[80] = "";
    if (of_peak < kPeerOfPeak)
      std::snprintf(text, sizeof text, "the peer reaches %.0f %% of the peak", of_peak * 100);
    limits.add(name, p.ratio, 1.5, false, text);
  }
}

void convolutions(LimitTable& limits) {
  const auto wanted = [&](int threads) {
    for (const char* id : kConvolutions)
      if (limits.wanted(std::string(id) + "/" + std::to_string(threads))) return true;
    return false;
  };
  if (!wanted(1) && !wanted(2)) return;
  LargeProduct product;
  for (const int threads : {1, 2}) {
    if (!wanted(threads)) continue;
    if (threads > available_cpus()) {
      std::fprintf(stderr, "one CPU only: nothing is measured with two threads\n");
      break;
    }
    pin(threads);
    product.choose(threads);
    double best = 0, peak = 0;
    for (int i = 0; i < kRepeats; ++i) {
      peak = std::max(peak, peak_flops(threads));
      const double seconds =
          timed(threads == 1 ? process_seconds : wall_seconds, [&] { product.run(); });
      best = std::max(best, LargeProduct::kFlops / seconds);
    }
    const double of_peak = peak > 0 ? best / peak : 1;
    std::fprintf(stderr,
                 "%d thread%s: the CPU multiplies and adds %.0f GFlop/s; fastest product: %s, "
                 "%.0f GFlop/s, %.0f %% of that\n",
                 threads, threads == 1 ? "" : "s", peak * 1e-9, product.name().c_str(), best * 1e-9,
                 of_peak * 100);
    convolution(limits, product, threads, of_peak);
  }
  Peers::get().set_threads(1);
}

// --- attention

void attention(LimitTable& limits, const char* id, int sequence) {
  if (!limits.wanted(id)) return;
  constexpr int kDepth = 128;
  pin(1);
  const test::ModelCase& model = model_case(id);
  const Session session(model, 1);
  LoadedModel loaded(model);
  AttentionPeer peer(sequence, kDepth);
  const Pair p =
      compare(process_seconds, 5 * kRepeats, [&] { loaded.execute(); }, [&] { peer.run(); });
  std::fprintf(stderr, "  %s: %.2f ms, OpenBLAS attention %.2f ms\n", id, p.ours * 1e3,
               p.peer * 1e3);
  // The second physical core of these programs computes nothing.
  limits.add(id, p.ratio, 3);
}

// --- programs that only move data

// What the program's DMA moves, by memcpy: the same pieces from device memory to
// the partitions of the scratch memory, 256 KiB apart, and back, both in pages of
// the size that the software device has.
class Moves {
 public:
  static constexpr std::size_t kPartitions = 128, kStride = 256 << 10;

  // `rows` x `columns` elements of 4 bytes, in tiles of 128 rows of `tile` columns.
  Moves(std::size_t rows, std::size_t columns, std::size_t tile, std::size_t inputs)
      : rows_(rows), pitch_(4 * columns), piece_(4 * tile), inputs_(inputs) {
    memory_ = pages(bytes());
    scratch_ = pages(kPartitions * kStride);
    std::memset(memory_, 1, bytes());
  }
  ~Moves() {
    munmap(memory_, bytes());
    munmap(scratch_, kPartitions * kStride);
  }
  Moves(const Moves&) = delete;

  void run() {
    for (std::size_t i = 0; i <= inputs_; ++i) pass(i, i == inputs_);
  }

 private:
  static std::uint8_t* pages(std::size_t bytes) {
    void* p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) std::exit(2);
    return static_cast<std::uint8_t*>(p);
  }
  // Of all tensors, the output last.
  std::size_t bytes() const { return rows_ * pitch_ * (inputs_ + 1); }
  void pass(std::size_t tensor, bool out) {
    std::uint8_t* const memory = memory_ + tensor * rows_ * pitch_;
    std::size_t at = tensor * rows_ / kPartitions * pitch_;  // in a partition
    for (std::size_t r = 0; r < rows_; r += kPartitions)
      for (std::size_t c = 0; c < pitch_; c += piece_, at += piece_)
        for (std::size_t p = 0; p < kPartitions; ++p) {
          std::uint8_t* outside = memory + (r + p) * pitch_ + c;
          std::uint8_t* inside = scratch_ + p * kStride + at;
          std::memcpy(out ? outside : inside, out ? inside : outside, piece_);
        }
  }

  std::size_t rows_, pitch_, piece_, inputs_;
  std::uint8_t *memory_, *scratch_;
};

void moves(LimitTable& limits, const char* id, Moves& peer) {
  if (!limits.wanted(id)) return;
  pin(1);
  const test::ModelCase& model = model_case(id);
  const Session session(model, 1);
  LoadedModel loaded(model);
  const Pair p =
      compare(process_seconds, 10 * kRepeats, [&] { loaded.execute(); }, [&] { peer.run(); });
  std::fprintf(stderr, "  %s: %.3f ms, memcpy %.3f ms\n", id, p.ours * 1e3, p.peer * 1e3);
  limits.add(id, p.ratio, 2);
}

// --- two cores

void two_cores(LimitTable& limits) {
  if (!limits.wanted("two_cores") || available_cpus() < 2) return;
  pin(2);
  const test::ModelCase& model = model_case("conv_f16_n1_sunda_a");
  const Session session(model, 1);
  LoadedModel first(model, 0), second(model, 1);
  const auto both = [&] {
    std::thread other([&] { second.execute(); });
    first.execute();
    other.join();
  };
  first.execute();
  both();
  // What disturbs takes from both CPUs at once only when two run: the best of
  // each side counts.
  double one = 1e30, two = 1e30;
  for (int i = 0; i < 2 * kRepeats; ++i) {
    one = std::min(one, timed(wall_seconds, [&] { first.execute(); }));
    two = std::min(two, timed(wall_seconds, both));
  }
  std::fprintf(stderr, "  one core %.0f ms, two at once %.0f ms\n", one * 1e3, two * 1e3);
  limits.add("two_cores", 2 * one / two, 1.9, true);
}

// --- load and memory

void load(LimitTable& limits) {
  if (!limits.wanted("load")) return;
  pin(1);
  const test::ModelCase& model = model_case("conv_f32_n2_sunda");  // the largest file
  const Session session(model, 1);
  const std::vector<char> neff = read_neff(model);
  std::vector<double> seconds;
  for (int i = 0; i < kRepeats; ++i) {
    nrt_model_t* loaded = nullptr;
    seconds.push_back(timed(process_seconds, [&] {
      if (nrt_load(neff.data(), neff.size(), 0, -1, &loaded) != NRT_SUCCESS) std::exit(2);
    }));
    nrt_unload(loaded);
  }
  const double ms = median(seconds) * 1e3;
  std::fprintf(stderr, "  load of %s: %.0f ms of CPU\n", model.id.c_str(), ms);
  limits.add("load/150ms", ms / 150, 1);
}

double peak_resident_bytes() {
  std::ifstream status("/proc/self/status");
  std::string key;
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) return std::strtod(line.c_str() + 6, nullptr) * 1024;
  return 0;
}

// In a process of its own: a peak cannot be taken back.
void memory(LimitTable& limits) {
  if (!limits.wanted("memory")) return;
  char self[4096];
  const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
  if (n <= 0) return;
  self[n] = '\0';
  const test::ModelCase& model = model_case("conv_f16_n1_sunda_a");
  std::FILE* child = popen((std::string("'") + self + "' --memory=" + model.id).c_str(), "r");
  double peak = 0, needed = 0;
  const int fields = child ? std::fscanf(child, "%lf %lf", &peak, &needed) : 0;
  if (child) pclose(child);
  std::fprintf(stderr, "  peak %.1f MB, tensors and image %.1f MB\n", peak * 1e-6, needed * 1e-6);
  limits.add("memory", needed > 0 ? peak / needed : 0, 1.3, false,
             fields == 2 ? "" : "the child process failed");
}

}  // namespace

int print_peak_memory(const char* id) {
  const test::ModelCase& model = model_case(id);
  const Session session(model, 1);
  const double before = peak_resident_bytes();
  LoadedModel loaded(model);
  loaded.execute();
  double tensors = 0;
  for (const auto* list : {&model.inputs, &model.outputs})
    for (const test::TensorSpec& t : *list)
      tensors +=
          static_cast<double>(t.elements()) * static_cast<double>(test::element_bytes(t.type));
  // Constants, tables, instructions and descriptors of the program (opennrt neff
  // info), and what a core holds on the chip: SBUF and PSUM of 128 partitions.
  constexpr double kImage = 32768 + 45248 + 700928 + 2383904;
  constexpr double kOnChip = 128 * (196608 + 16384);
  std::printf("%.0f %.0f\n", peak_resident_bytes() - before, tensors + kImage + kOnChip);
  return 0;
}

int measure_limits(const char* only) {
  std::fprintf(stderr, "peers: %s\n", Peers::get().found().c_str());
  if (!Peers::get().has_openblas()) {
    std::fprintf(stderr,
                 "OpenBLAS is needed to compare with, oneDNN is compared with too: install "
                 "libopenblas0-pthread and libdnnl2\n");
    return 2;
  }
  LimitTable limits(only);
  convolutions(limits);
  attention(limits, "attention_bf16_s1024_cayman_fused", 1024);
  attention(limits, "attention_f32_s512_cayman_base", 512);
  // 1024 x 1024 in tiles of 128 x 128; 2 x 128 000 numbers, 1000 per partition.
  Moves transpose(1024, 1024, 128, 1), vecadd(256, 1000, 1000, 2);
  for (const char* id :
       {"transpose1024_cayman_a", "transpose1024_cayman_b", "transpose1024_cayman_act"})
    moves(limits, id, transpose);
  for (const char* id : {"vecadd_2tiles_cayman", "vecadd_2tiles_sunda_a"})
    moves(limits, id, vecadd);
  two_cores(limits);
  load(limits);
  memory(limits);
  return limits.finish();
}

}  // namespace opennrt::bench
