// SPDX-License-Identifier: Apache-2.0
//
// A core that several threads run: the bits of one thread, resets in between, and
// threads that are there only while they are needed.
#include <signal.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "bench.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu::test {
namespace {

namespace fs = std::filesystem;

constexpr std::uint32_t kProducts = 16, kColumns = 512, kBank = 4 * kColumns;
constexpr std::uint32_t kWeights = 0x100, kImage = 0x4000, kResults = 0x10000;
constexpr std::uint8_t kDone = 40, kFree = 41;  // semaphores

struct Raw {
  std::uint8_t bytes[isa::kRecordBytes];
};

// Lines of /proc/self/task/*/`file` of the threads that run cores.
std::vector<std::string> of_threads(const char* file, const std::string& start) {
  std::vector<std::string> found;
  for (const auto& task : fs::directory_iterator("/proc/self/task")) {
    std::string name, line;
    std::ifstream(task.path() / "comm") >> name;
    if (name != "opennrt-core") continue;
    std::ifstream text(task.path() / file);
    while (std::getline(text, line))
      if (line.rfind(start, 0) == 0) found.push_back(line.substr(start.size()));
  }
  return found;
}
std::size_t threads() { return of_threads("comm", "").size(); }

class TeamOfACore : public Bench {
 protected:
  void make(std::uint32_t n) {
    std::string error;
    device_.reset();
    device_ = Device::create({.host = &host_,
                              .arch = arch_,
                              .product = product_,
                              .index = 0,
                              .threads = n,
                              .verify = {},
                              .inspect = {}},
                             memory_, &error);
    ASSERT_TRUE(device_) << error;
    for (std::uint32_t p = 0; p < 128; ++p)
      for (std::uint32_t i = 0; i < 0x8000 / 2; ++i) {
        // 1.0 to 2.0 in half precision, of either sign.
        const auto h = static_cast<std::uint16_t>(0x3C00 | ((p * 31 + i * 17) & 0x3FF) |
                                                  ((p * 7 + i * 3) & 1) << 15);
        std::memcpy(memory_->sbuf(0).data() + p * arch_->geometry->sbuf_partition_stride + 2 * i,
                    &h, 2);
      }
  }

  static Raw product(std::uint8_t opcode, std::uint32_t source, std::uint32_t n,
                     const std::uint32_t* bank) {
    namespace mm = isa::layout::S3D3_MM::sunda;
    struct View {
      std::uint32_t address;
      std::int16_t step[3];
      std::uint16_t count[3];
    };
    Raw r{};
    r.bytes[0] = opcode;
    r.bytes[1] = 0x10;
    const auto count = static_cast<std::uint16_t>(n);
    const View from{source, {1, 0, 0}, {count, 1, 1}};
    std::memcpy(mm::src(r.bytes), &from, sizeof from);
    if (bank) {
      const View to{0x2000000 + *bank * kBank, {1, 0, 0}, {count, 1, 1}};
      std::memcpy(mm::dst(r.bytes), &to, sizeof to);
      mm::psum_accumulate_flags.set(r.bytes, 1);
    }
    mm::in_dtype.set(r.bytes, isa::kDtFloat16);
    mm::num_active_rows.set(r.bytes, 128);
    mm::num_active_cols.set(r.bytes, 128);
    mm::row_grp.set(r.bytes, 15);
    mm::col_grp.set(r.bytes, 15);
    return r;
  }

  static Raw copy(std::uint32_t bank, std::uint32_t to) {
    namespace tr = isa::layout::S4D4_TR;
    struct View {
      std::uint32_t address;
      std::int16_t step[4];
      std::uint16_t count[4];
    };
    Raw r{};
    r.bytes[0] = isa::op::COPY;
    r.bytes[1] = 0x10;
    const View source{0x2000000 + bank * kBank, {1, 0, 0, 0}, {kColumns, 1, 1, 1}};
    const View target{to, {1, 0, 0, 0}, {kColumns, 1, 1, 1}};
    std::memcpy(tr::src(r.bytes), &source, sizeof source);
    std::memcpy(tr::dst(r.bytes), &target, sizeof target);
    tr::in_dtype.set(r.bytes, isa::kDtFloat32);
    tr::out_dtype.set(r.bytes, isa::kDtFloat32);
    tr::num_active_channels.set(r.bytes, 128);
    return r;
  }

  static Raw waiting(Raw r, std::uint8_t semaphore, std::uint32_t value, std::uint8_t increments) {
    isa::Header h;
    std::memcpy(&h, r.bytes, sizeof h);
    h.wait_mode = isa::kWaitSemGe;
    h.wait_index = semaphore;
    h.value = static_cast<decltype(h.value)>(value);
    h.update_mode = isa::kUpdateSemInc;
    h.update_index = increments;
    std::memcpy(r.bytes, &h, sizeof h);
    return r;
  }

  // PE fills the eight banks in turn, DVE empties them.
  void load_programs(bool endless) {
    Program pe, dve;
    for (std::uint32_t i = 0; i < kProducts; ++i) {
      const std::uint32_t bank = i % 8;
      pe.add(product(isa::op::LDWEIGHTS, kWeights + i % 4 * 256, 128, nullptr));
      const Raw multiply = product(isa::op::MATMUL, kImage + i * 128, kColumns, &bank);
      pe.add(endless ? multiply : waiting(multiply, kFree, i < 8 ? 0 : i - 7, kDone));
      dve.add(waiting(copy(bank, kResults + i * kBank), kDone, i + 1, kFree));
    }
    if (endless) pe.add(branch(0, 0, 0, -2 * static_cast<std::int32_t>(kProducts)));
    pe.add(halt());
    dve.add(halt());
    load(pe);
    load(dve, kProgram + 0x8000);
  }

  void run_both() {
    dev().reset_cores(1);
    start(NRTP_ENGINE_PE);
    start(NRTP_ENGINE_DVE, kProgram + 0x8000);
    while (dev().runnable()) dev().run(4096);
    ASSERT_EQ(dev().semaphore_read(0, kDone), kProducts) << dev().describe(0);
    ASSERT_EQ(dev().semaphore_read(0, kFree), kProducts) << dev().describe(0);
  }

  std::vector<std::uint8_t> results() {
    std::vector<std::uint8_t> all;
    for (std::uint32_t p = 0; p < 128; ++p) {
      const std::uint8_t* from =
          memory_->sbuf(0).data() + p * arch_->geometry->sbuf_partition_stride + kResults;
      all.insert(all.end(), from, from + kProducts * kBank);
    }
    return all;
  }
  void clear_results() {
    for (std::uint32_t p = 0; p < 128; ++p)
      std::memset(memory_->sbuf(0).data() + p * arch_->geometry->sbuf_partition_stride + kResults,
                  0xFF, kProducts * kBank);
  }
};

TEST_F(TeamOfACore, GivesTheBitsOfOneThread) {
  make(1);
  load_programs(false);
  run_both();
  run_both();
  EXPECT_EQ(threads(), 0u);
  const std::vector<std::uint8_t> want = results();
  // Not all alike, and all written.
  ASSERT_NE(std::memcmp(want.data(), want.data() + kBank, kBank), 0);
  for (const std::uint32_t n : {2u, 4u}) {
    make(n);
    load_programs(false);
    run_both();  // shows that there is much to do
    for (int i = 0; i < 3; ++i) {
      clear_results();
      run_both();
      ASSERT_EQ(threads(), n - 1);
      ASSERT_EQ(results(), want) << n << " threads";
    }
  }
}

TEST_F(TeamOfACore, IsThereOnlyWhileItIsNeeded) {
  make(3);
  execute(Program{}.add(mark(50)).add(halt()));
  EXPECT_EQ(threads(), 0u);
  load_programs(false);
  run_both();
  run_both();
  EXPECT_EQ(threads(), 2u);
  // Signals go to the threads of the application.
  for (const std::string& blocked : of_threads("status", "SigBlk:")) {
    const std::uint64_t mask = std::stoull(blocked, nullptr, 16);
    for (const int signal : {SIGTERM, SIGINT, SIGUSR1, SIGPROF})
      EXPECT_TRUE(mask >> (signal - 1) & 1) << signal;
  }
  device_.reset();
  EXPECT_EQ(threads(), 0u);
}

TEST_F(TeamOfACore, StopsForAReset) {
  make(3);
  load_programs(true);
  dev().reset_cores(1);
  start(NRTP_ENGINE_PE);
  std::atomic<bool> done{false};
  std::thread runner([&] {
    while (!done.load()) dev().run(1000);
  });
  while (threads() == 0) std::this_thread::yield();
  for (int i = 0; i < 3; ++i) {
    dev().reset_cores(1);
    EXPECT_EQ(dev().describe(0), "core 0: all engines stopped");
    start(NRTP_ENGINE_PE);
    const std::uint64_t before = dev().progress(1);
    while (dev().progress(1) == before) std::this_thread::yield();
  }
  dev().reset_cores(1);
  done = true;
  runner.join();
}

}  // namespace
}  // namespace opennrt::emu::test
