// SPDX-License-Identifier: Apache-2.0
//
// What a call costs on its way to the device and back, beside limits measured in
// the same run: an execution of an empty program, the return of an asynchronous
// request, tensor transfers, the start of the runtime.
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "bench/limit_table.h"
#include "bench/measure.h"
#include "bench/opencl_peer.h"
#include "nrt/nrt.h"
#include "nrt/nrt_async.h"
#include "nrt/nrt_experimental.h"

namespace opennrt::bench {
namespace {

void require(NRT_STATUS status, const char* what) {
  if (status == NRT_SUCCESS) return;
  std::fprintf(stderr, "%s failed with status %d\n", what, static_cast<int>(status));
  std::exit(2);
}
#define REQUIRE(call) require((call), #call)

class Runtime {
 public:
  Runtime() { REQUIRE(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "")); }
  ~Runtime() { nrt_close(); }
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
};

// The program without instructions of its own. What the runtime adds is all there:
// gate, barriers, resets of semaphores, notifications.
class EmptyProgram {
 public:
  EmptyProgram() {
    std::ifstream file(OPENNRT_EMPTY_NEFF, std::ios::binary);
    const std::vector<char> neff{std::istreambuf_iterator<char>(file), {}};
    REQUIRE(nrt_load(neff.data(), neff.size(), 0, -1, &model_));
    REQUIRE(nrt_allocate_tensor_set(&in_));
    REQUIRE(nrt_allocate_tensor_set(&out_));
    nrt_tensor_info_array_t* info = nullptr;
    REQUIRE(nrt_get_model_tensor_info(model_, &info));
    for (std::uint64_t i = 0; i < info->tensor_count; ++i) {
      const nrt_tensor_info_t& t = info->tensor_array[i];
      nrt_tensor_t* tensor = nullptr;
      REQUIRE(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, t.size, t.name, &tensor));
      REQUIRE(nrt_add_tensor_to_tensor_set(t.usage == NRT_TENSOR_USAGE_INPUT ? in_ : out_, t.name,
                                           tensor));
      tensors_.push_back(tensor);
    }
    nrt_free_model_tensor_info(info);
  }
  ~EmptyProgram() {
    for (nrt_tensor_t*& t : tensors_) nrt_tensor_free(&t);
    nrt_destroy_tensor_set(&in_);
    nrt_destroy_tensor_set(&out_);
    nrt_unload(model_);
  }
  EmptyProgram(const EmptyProgram&) = delete;
  EmptyProgram& operator=(const EmptyProgram&) = delete;

  void execute() { REQUIRE(nrt_execute(model_, in_, out_)); }
  NRT_STATUS schedule(NRT_STATUS* result, nrta_seq_t* sequence) {
    return nrta_execute_schedule(model_, in_, out_, 0, result, sequence);
  }

 private:
  nrt_model_t* model_ = nullptr;
  nrt_tensor_set_t *in_ = nullptr, *out_ = nullptr;
  std::vector<nrt_tensor_t*> tensors_;
};

constexpr int kCalls = 2000;

// Median of single calls, in seconds. Calls come in a row: what others do on the
// machine in between is in few of them.
template <typename Call>
double median_call(Call&& call, int calls = kCalls) {
  std::vector<double> seconds;
  for (int i = 0; i < calls; ++i) seconds.push_back(timed(wall_seconds, call));
  return median(std::move(seconds));
}

// In turns with the other side, which thus meets the same machine.
template <typename A, typename B>
Pair median_calls(A&& ours, B&& peer, int calls = kCalls) {
  constexpr int kTurns = 9;
  std::vector<double> a, b, ratios;
  for (int i = 0; i < kTurns; ++i) {
    a.push_back(median_call(ours, calls));
    b.push_back(median_call(peer, calls));
    ratios.push_back(a.back() / b.back());
  }
  return {median(ratios), *std::min_element(a.begin(), a.end()),
          *std::min_element(b.begin(), b.end())};
}

void execute(LimitTable& limits) {
  if (!limits.wanted("execute")) return;
  const Runtime runtime;
  EmptyProgram program;
  std::string why;
  const std::unique_ptr<OpenClPeer> peer = OpenClPeer::open(&why);
  if (!peer) {
    std::fprintf(stderr, "  no peer to launch with: %s\n", why.c_str());
    const double seconds = median_call([&] { program.execute(); });
    limits.add("execute/8us", seconds * 1e6 / 8, 1);
    return;
  }
  const Pair p = median_calls([&] { program.execute(); }, [&] { peer->launch(); });
  std::fprintf(stderr, "  empty program %.2f us, launch on %s %.2f us\n", p.ours * 1e6,
               peer->name().c_str(), p.peer * 1e6);
  limits.add("execute/8us", p.ours * 1e6 / 8, 1);
  limits.add("execute/opencl", p.ratio, 1);
}

// A call returns once its request is queued. The queue is emptied between bursts
// that it has room for.
void schedule(LimitTable& limits) {
  if (!limits.wanted("schedule")) return;
  const Runtime runtime;
  EmptyProgram program;
  constexpr int kBurst = 8, kBursts = 1000;
  NRT_STATUS results[kBurst];
  nrta_seq_t last = 0;
  std::vector<double> seconds;
  for (int burst = 0; burst < kBursts; ++burst) {
    for (NRT_STATUS& result : results)
      seconds.push_back(timed(wall_seconds, [&] { REQUIRE(program.schedule(&result, &last)); }));
    for (bool done = false; !done;) REQUIRE(nrta_is_completed(last, &done));
  }
  const double clock = median_call([] {});
  const double us = (median(seconds) - clock) * 1e6;
  std::fprintf(stderr, "  nrta_execute_schedule returns after %.2f us (a look at the clock %.3f)\n",
               us, clock * 1e6);
  limits.add("schedule/1us", us, 1);
}

class Transfer {
 public:
  explicit Transfer(std::size_t bytes) : host_(bytes, 1), other_(bytes, 2) {
    REQUIRE(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, bytes, "t", &tensor_));
    write();
    read();
  }
  ~Transfer() { nrt_tensor_free(&tensor_); }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  void write() { REQUIRE(nrt_tensor_write(tensor_, host_.data(), 0, host_.size())); }
  void read() { REQUIRE(nrt_tensor_read(tensor_, host_.data(), 0, host_.size())); }
  void plain() {
    std::memcpy(other_.data(), host_.data(), host_.size());
    asm volatile("" : : "r"(other_.data()) : "memory");
  }

 private:
  std::vector<char> host_, other_;
  nrt_tensor_t* tensor_ = nullptr;
};

void transfers(LimitTable& limits) {
  if (!limits.wanted("transfer")) return;
  const Runtime runtime;
  {
    // Where a tensor lies on silicon, the driver is asked to copy: one request.
    Transfer small(4096);
    int ends[2];
    if (pipe(ends) != 0) std::exit(2);
    constexpr int kGroup = 64;  // calls between two looks at the clock
    const auto group = [](auto&& call) {
      return [&call] {
        for (int i = 0; i < kGroup; ++i) call();
      };
    };
    const auto ours = [&] { small.write(); };
    const auto peer = [&] {
      int bytes = 0;
      small.plain();
      ioctl(ends[0], FIONREAD, &bytes);
    };
    const Pair p = median_calls(group(ours), group(peer), 100);
    close(ends[0]);
    close(ends[1]);
    std::fprintf(stderr, "  write of 4 KiB %.3f us, memcpy and an ioctl %.3f us\n",
                 p.ours * 1e6 / kGroup, p.peer * 1e6 / kGroup);
    limits.add("transfer/write4K", p.ratio, 1.5);
  }
  Transfer large(64 << 20);
  const Pair write = compare(process_seconds, 15, [&] { large.write(); }, [&] { large.plain(); });
  const Pair read = compare(process_seconds, 15, [&] { large.read(); }, [&] { large.plain(); });
  std::fprintf(stderr, "  64 MiB: write %.1f ms, read %.1f ms, memcpy %.1f ms\n", write.ours * 1e3,
               read.ours * 1e3, write.peer * 1e3);
  limits.add("transfer/write64M", 1 / write.ratio, 0.85, true);
  limits.add("transfer/read64M", 1 / read.ratio, 0.85, true);
}

void init(LimitTable& limits) {
  if (!limits.wanted("init")) return;
  std::vector<double> seconds;
  for (int i = 0; i < 15; ++i) {
    seconds.push_back(
        timed(wall_seconds, [] { REQUIRE(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "")); }));
    nrt_close();
  }
  const double ms = median(seconds) * 1e3;
  std::fprintf(stderr, "  nrt_init %.1f ms\n", ms);
  limits.add("init/30ms", ms / 30, 1);
}

int measure(const char* only) {
  setenv("OPENNRT_DEVICE", "emulator", 0);
  LimitTable limits(only);
  execute(limits);
  schedule(limits);
  transfers(limits);
  init(limits);
  return limits.finish();
}

}  // namespace
}  // namespace opennrt::bench

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--limits") == 0) return opennrt::bench::measure("");
  if (argc == 2 && std::strncmp(argv[1], "--limits=", 9) == 0)
    return opennrt::bench::measure(argv[1] + 9);
  std::fprintf(stderr, "usage: %s --limits[=PART]\n", argv[0]);
  return 2;
}
