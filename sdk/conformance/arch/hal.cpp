// SPDX-License-Identifier: Apache-2.0
//
// Bring-up functions of a plugin that has its own, over registers that only remember
// what was written. What they write is the plugin's affair; where, and what follows
// from a failed write, is not.
#include <string>
#include <utility>
#include <vector>

#include "arch/arch_case.h"
#include "host.h"

namespace opennrt::conform {
namespace {

class ArchHal : public ArchCase {
 protected:
  void SetUp() override {
    ArchCase::SetUp();
    if (HasFatalFailure() || IsSkipped()) return;
    if (arch().hal == nullptr) GTEST_SKIP() << "not offered";
    dev_.size = sizeof dev_;
    dev_.platform = NRTP_PLATFORM_EMULATOR;
    dev_.dev = this;
    dev_.reg_read32 = [](void*, std::uint64_t, std::uint32_t* out, std::uint32_t n) {
      for (std::uint32_t i = 0; i < n; ++i) out[i] = 0;
      return int{NRTP_OK};
    };
    dev_.reg_write32 = [](void* self, std::uint64_t bar0, const std::uint32_t*, std::uint32_t n) {
      auto* test = static_cast<ArchHal*>(self);
      for (std::uint32_t i = 0; i < n; ++i) test->writes_.push_back(bar0 + 4 * i);
      ++test->calls_;
      return test->calls_ == test->fail_at_ ? int{NRTP_HW_ERROR} : int{NRTP_OK};
    };
    dev_.dmem_alloc = [](void*, std::uint32_t, std::uint64_t, std::uint64_t, std::uint32_t,
                         std::uint32_t, std::uint64_t*) { return int{NRTP_RESOURCE}; };
    dev_.dmem_free = [](void*, std::uint64_t) { return int{NRTP_INVALID}; };
    dev_.dmem_pa = [](void*, std::uint64_t, std::uint64_t*) { return int{NRTP_INVALID}; };
    dev_.dmem_copyin = [](void*, std::uint64_t, std::uint64_t, const void*, std::uint64_t) {
      return int{NRTP_INVALID};
    };
  }
  // fetch_start on a fresh context, and what it has written.
  int start(std::uint32_t core, std::uint32_t engine, std::uint64_t pa, std::size_t fail_at = 0) {
    writes_.clear();
    calls_ = 0;
    fail_at_ = fail_at;
    dev_.product = product();
    void* ctx = nullptr;
    EXPECT_EQ(arch().attach(TestHost::instance().table(), &dev_, &ctx), NRTP_OK);
    const int status = arch().hal->fetch_start(ctx, core, engine, pa);
    arch().detach(ctx);
    return status;
  }
  bool has_start() const {
    return NRTP_HAS(nrtp_arch_hal, arch().hal, fetch_start) && arch().hal->fetch_start != nullptr;
  }
  nrtp_host_dev dev_{};
  std::vector<std::uint64_t> writes_;
  std::size_t calls_ = 0, fail_at_ = 0;
};

constexpr std::uint64_t kProgram = 0x3c0070000;

ARCH_CASE(ArchHal, StartWritesItsEngineAndKicksItLast) {
  if (!has_start()) GTEST_SKIP() << "not offered";
  for (const std::uint32_t core : {0u, product()->cores - 1}) {
    for (std::uint32_t engine = 0; engine < geometry().engines; ++engine) {
      ASSERT_EQ(start(core, engine, kProgram), NRTP_OK) << core << " " << engine;
      ASSERT_FALSE(writes_.empty());
      for (const std::uint64_t at : writes_) EXPECT_TRUE(in_region(at, 4)) << std::hex << at;
      EXPECT_EQ(writes_.back(),
                address().nx_bar0(product(), core, engine) + arch().ib->nx_start_ctrl);
    }
  }
}

// A plugin that cannot start programs on silicon says so before it touches anything.
ARCH_CASE(ArchHal, RefusedStartOnSiliconTouchesNothing) {
  if (!has_start()) GTEST_SKIP() << "not offered";
  dev_.platform = NRTP_PLATFORM_SILICON;
  TestHost::instance().take_log();
  const int status = start(0, 0, kProgram);
  dev_.platform = NRTP_PLATFORM_EMULATOR;
  if (status == NRTP_OK) return;
  EXPECT_EQ(status, NRTP_INVALID);
  EXPECT_TRUE(writes_.empty());
  EXPECT_FALSE(TestHost::instance().take_log().empty()) << "the reason is not logged";
}

ARCH_CASE(ArchHal, StartRefusesWrongArguments) {
  if (!has_start()) GTEST_SKIP() << "not offered";
  struct Wrong {
    std::uint32_t core, engine;
    std::uint64_t pa;
  };
  for (const Wrong& w : {Wrong{product()->cores, 0, kProgram}, Wrong{UINT32_MAX, 0, kProgram},
                         Wrong{0, geometry().engines, kProgram}, Wrong{0, UINT32_MAX, kProgram},
                         Wrong{0, 0, kProgram + 0x20}}) {
    EXPECT_EQ(start(w.core, w.engine, w.pa), NRTP_INVALID) << w.core << " " << w.engine;
    EXPECT_TRUE(writes_.empty());
  }
  EXPECT_EQ(arch().hal->fetch_start(nullptr, 0, 0, kProgram), NRTP_INVALID);
}

ARCH_CASE(ArchHal, StartStopsAtTheFirstFailedWrite) {
  if (!has_start()) GTEST_SKIP() << "not offered";
  ASSERT_EQ(start(0, 0, kProgram), NRTP_OK);
  const std::size_t all = calls_;
  for (std::size_t n = 1; n <= all; ++n) {
    EXPECT_EQ(start(0, 0, kProgram, n), NRTP_HW_ERROR) << n;
    EXPECT_EQ(calls_, n);
  }
}

}  // namespace
}  // namespace opennrt::conform
