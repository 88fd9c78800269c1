// SPDX-License-Identifier: Apache-2.0
//
// Many executions, loads and unloads from several threads. Memory and file
// descriptors of the process must stay what they were after the first rounds, and
// every sum must be exact.
//
// soak [--executions N] [--loads N] [--tolerance PERCENT]
#include <dirent.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "nrt/nrt.h"
#include "nrt/nrt_async.h"
#include "nrt/nrt_experimental.h"

namespace {

constexpr int kRounds = 20, kWarmUp = 8;
constexpr int kExecutors = 4, kLoaders = 2, kCores = 2;
constexpr int kSumEvery = 500;  // executions of the empty program for one that adds

[[noreturn]] void fail(const std::string& text) {
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
  std::_Exit(1);
}

void require(NRT_STATUS status, const char* what) {
  if (status != NRT_SUCCESS)
    fail(std::string(what) + " failed with status " + std::to_string(static_cast<int>(status)));
}
#define REQUIRE(call) require((call), #call)

std::vector<char> read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Of one thread, made before the first round: what is measured is the runtime.
struct Numbers {
  std::vector<float> a, b, sum;
};

// A loaded model with device tensors for all it names.
class Model {
 public:
  Model(const std::vector<char>& neff, int core) {
    REQUIRE(nrt_load(neff.data(), neff.size(), core, -1, &model_));
    REQUIRE(nrt_allocate_tensor_set(&in_));
    REQUIRE(nrt_allocate_tensor_set(&out_));
    nrt_tensor_info_array_t* info = nullptr;
    REQUIRE(nrt_get_model_tensor_info(model_, &info));
    for (std::uint64_t i = 0; i < info->tensor_count; ++i) {
      const nrt_tensor_info_t& t = info->tensor_array[i];
      nrt_tensor_t* tensor = nullptr;
      REQUIRE(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, core, t.size, t.name, &tensor));
      const bool input = t.usage == NRT_TENSOR_USAGE_INPUT;
      REQUIRE(nrt_add_tensor_to_tensor_set(input ? in_ : out_, t.name, tensor));
      (input ? inputs_ : outputs_).push_back(tensor);
      bytes_ = t.size;
    }
    nrt_free_model_tensor_info(info);
  }
  ~Model() {
    for (auto* list : {&inputs_, &outputs_})
      for (nrt_tensor_t*& t : *list) nrt_tensor_free(&t);
    nrt_destroy_tensor_set(&in_);
    nrt_destroy_tensor_set(&out_);
    REQUIRE(nrt_unload(model_));
  }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  void execute() { REQUIRE(nrt_execute(model_, in_, out_)); }

  void execute_later() {
    NRT_STATUS result = NRT_FAILURE;
    nrta_seq_t sequence = 0;
    NRT_STATUS queued = NRT_QUEUE_FULL;
    while (queued == NRT_QUEUE_FULL)
      queued = nrta_execute_schedule(model_, in_, out_, 0, &result, &sequence);
    require(queued, "nrta_execute_schedule");
    for (bool done = false; !done;) REQUIRE(nrta_is_completed(sequence, &done));
    require(result, "a scheduled execution");
  }

  // out = in0 + in1 with numbers that have exact sums.
  void add(unsigned seed, Numbers& numbers) {
    auto& [a, b, sum] = numbers;
    for (auto* v : {&a, &b, &sum}) v->resize(bytes_ / sizeof(float));
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = static_cast<float>((seed * 2654435761u + i) % 100003);
      b[i] = -0.5f * static_cast<float>(i % 4099);
    }
    REQUIRE(nrt_tensor_write(inputs_[0], a.data(), 0, bytes_));
    REQUIRE(nrt_tensor_write(inputs_[1], b.data(), 0, bytes_));
    if (seed % 2 == 0)
      execute();
    else
      execute_later();
    REQUIRE(nrt_tensor_read(outputs_[0], sum.data(), 0, bytes_));
    for (std::size_t i = 0; i < a.size(); ++i)
      if (sum[i] != a[i] + b[i]) fail("element " + std::to_string(i) + " of a sum is wrong");
  }

 private:
  nrt_model_t* model_ = nullptr;
  nrt_tensor_set_t *in_ = nullptr, *out_ = nullptr;
  std::vector<nrt_tensor_t*> inputs_, outputs_;
  std::size_t bytes_ = 0;
};

struct Usage {
  long resident_kib = 0, descriptors = 0;
};

Usage usage() {
  Usage now;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmRSS:", 0) == 0) now.resident_kib = std::atol(line.c_str() + 6);
  if (DIR* const folder = opendir("/proc/self/fd")) {
    while (readdir(folder) != nullptr) ++now.descriptors;
    closedir(folder);
  }
  return now;
}

struct Options {
  long executions = 1000000, loads = 10000;
  double tolerance = 1;
};

bool parse(int argc, char** argv, Options* out) {
  for (int i = 1; i + 1 < argc; i += 2) {
    char* end = nullptr;
    const double value = std::strtod(argv[i + 1], &end);
    if (*end != '\0' || value <= 0) return false;
    if (std::strcmp(argv[i], "--executions") == 0)
      out->executions = static_cast<long>(value);
    else if (std::strcmp(argv[i], "--loads") == 0)
      out->loads = static_cast<long>(value);
    else if (std::strcmp(argv[i], "--tolerance") == 0)
      out->tolerance = value;
    else
      return false;
  }
  return argc % 2 == 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, &options)) {
    std::fprintf(stderr, "usage: %s [--executions N] [--loads N] [--tolerance PERCENT]\n", argv[0]);
    return 2;
  }
  setenv("OPENNRT_DEVICE", "emulator", 0);
  const std::vector<char> empty = read_file(OPENNRT_EMPTY_NEFF),
                          sum = read_file(OPENNRT_VECADD_NEFF);
  REQUIRE(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  const long per_executor = std::max(1L, options.executions / (kRounds * kExecutors));
  const long per_loader = std::max(1L, options.loads / (kRounds * kLoaders));
  std::atomic<long> executions{0}, loads{0};

  std::vector<Numbers> numbers(kExecutors + kLoaders);

  const auto executor = [&](int index, int round) {
    Model nothing(empty, index % kCores), adds(sum, index % kCores);
    loads += 2;
    for (long i = 0; i < per_executor; ++i) {
      if (i % kSumEvery == 0)
        adds.add(static_cast<unsigned>(round * 1000 + i / kSumEvery),
                 numbers[static_cast<std::size_t>(index)]);
      else
        nothing.execute();
      ++executions;
    }
  };
  const auto loader = [&](int index, int round) {
    for (long i = 0; i < per_loader; ++i) {
      Model model(i % 8 == 0 ? sum : empty, static_cast<int>(index + i) % kCores);
      if (i % 8 == 0)
        model.add(static_cast<unsigned>(round * 1000 + i),
                  numbers[static_cast<std::size_t>(kExecutors + index)]);
      else
        model.execute();
      ++executions;
      ++loads;
    }
  };

  const auto start = std::chrono::steady_clock::now();
  Usage warm;
  double largest = 0;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<std::thread> threads;
    for (int i = 0; i < kExecutors; ++i) threads.emplace_back(executor, i, round);
    for (int i = 0; i < kLoaders; ++i) threads.emplace_back(loader, i, round);
    for (std::thread& t : threads) t.join();
    const Usage now = usage();
    std::fprintf(stderr, "round %2d: %ld KiB resident, %ld descriptors\n", round + 1,
                 now.resident_kib, now.descriptors);
    if (round + 1 < kWarmUp) continue;
    if (round + 1 == kWarmUp) warm = now;
    const double change = 100.0 * static_cast<double>(now.resident_kib - warm.resident_kib) /
                          static_cast<double>(warm.resident_kib);
    largest = std::max(largest, change < 0 ? -change : change);
    if (now.descriptors != warm.descriptors)
      fail(std::to_string(now.descriptors) + " file descriptors in round " +
           std::to_string(round + 1) + ", " + std::to_string(warm.descriptors) +
           " after the first ones");
  }
  nrt_close();
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::printf(
      "%ld executions, %ld loads in %.0f s: resident memory within %.2f %%, %ld descriptors\n",
      executions.load(), loads.load(), seconds, largest, warm.descriptors);
  return largest <= options.tolerance ? 0 : 1;
}
