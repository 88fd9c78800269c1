// SPDX-License-Identifier: Apache-2.0
//
// Starting an engine on the built-in families: register order, and the refusal on silicon.
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "arch_modules.h"

namespace opennrt::arch_test {
namespace {

class Hal : public ArchTest {
 protected:
  void SetUp() override {
    host_.size = sizeof host_;
    host_.self = this;
    host_.log = [](void* self, std::uint32_t, const char*, const char* msg) {
      static_cast<Hal*>(self)->log_.emplace_back(msg);
    };
    host_.alloc = [](void*, std::size_t bytes, std::size_t) { return std::malloc(bytes); };
    host_.release = [](void*, void* p) { std::free(p); };
    dev_.size = sizeof dev_;
    dev_.platform = NRTP_PLATFORM_EMULATOR;
    dev_.product = product();
    dev_.dev = this;
    dev_.reg_write32 = [](void* self, std::uint64_t bar0, const std::uint32_t* v, std::uint32_t n) {
      auto* test = static_cast<Hal*>(self);
      EXPECT_EQ(n, 1u);
      test->writes_.emplace_back(bar0, *v);
      return int{NRTP_OK};
    };
  }
  int start(std::uint32_t core, std::uint32_t engine, std::uint64_t pa) {
    void* ctx = nullptr;
    EXPECT_EQ(arch().attach(&host_, &dev_, &ctx), NRTP_OK);
    const int status = arch().hal->fetch_start(ctx, core, engine, pa);
    arch().detach(ctx);
    return status;
  }
  std::uint64_t nx(std::uint32_t core, std::uint32_t engine) const {
    return address().nx_bar0(product(), core, engine);
  }
  nrtp_host host_{};
  nrtp_host_dev dev_{};
  std::vector<std::pair<std::uint64_t, std::uint32_t>> writes_;
  std::vector<std::string> log_;
};
ONRT_ARCH_SUITE(Hal);

TEST_P(Hal, WritesAddressLowThenHighThenStart) {
  ASSERT_EQ(start(0, NRTP_ENGINE_POOL, 0x3c0070000), NRTP_OK);
  using Write = std::pair<std::uint64_t, std::uint32_t>;
  const nrtp_arch_ib& ib = *arch().ib;
  const std::uint64_t at = nx(0, NRTP_ENGINE_POOL);
  EXPECT_EQ(writes_, (std::vector<Write>{{at + ib.nx_start_addr_lo, 0xc0070000},
                                         {at + ib.nx_start_addr_hi, 3},
                                         {at + ib.nx_start_ctrl, 1}}));
  EXPECT_TRUE(log_.empty());
}

TEST_P(Hal, UsesTheTileOfTheCore) {
  const std::uint32_t last = product()->cores - 1;
  ASSERT_EQ(start(last, NRTP_ENGINE_SP, 0x1000000000), NRTP_OK);
  EXPECT_EQ(writes_.back().first, nx(last, NRTP_ENGINE_SP) + arch().ib->nx_start_ctrl);
}

TEST_P(Hal, IsRefusedOnSiliconWithoutTouchingARegister) {
  dev_.platform = NRTP_PLATFORM_SILICON;
  EXPECT_EQ(start(0, 0, 0x3c0070000), NRTP_INVALID);
  EXPECT_TRUE(writes_.empty());
  ASSERT_EQ(log_.size(), 1u);
  EXPECT_NE(log_[0].find("device: emulator"), std::string::npos);
}

}  // namespace
}  // namespace opennrt::arch_test
