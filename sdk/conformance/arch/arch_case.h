// SPDX-License-Identifier: Apache-2.0
//
// Base of the suites for arch plugins. An ARCH_CASE body runs once for each product of
// the plugin, with product() set.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "subject.h"

namespace opennrt::conform {

// Functions of address, dma and ib that core and software device call without asking,
// and that are NULL: "address.classify, dma.queue_reg". Empty: none.
std::string missing_functions(const nrtp_arch_plugin& arch);

class ArchCase : public testing::Test {
 protected:
  void SetUp() override;
  void TestBody() override;
  virtual void each_product() = 0;
  // Before each product after the first, for what a body has collected.
  virtual void next_product() {}

  // Short names for what every check uses.
  const nrtp_arch_plugin& arch() const { return *arch_; }
  const nrtp_product* product() const { return product_; }
  const nrtp_arch_geometry& geometry() const { return *arch().geometry; }
  const nrtp_arch_address& address() const { return *arch().address; }
  const nrtp_arch_dma& dma() const { return *arch().dma; }
  const nrtp_product* product_at(std::uint32_t index) const;

  // Decodes or fails the case; a failed decode has kind UINT32_MAX.
  nrtp_addr_class decode(std::uint64_t device) const;
  // True when [bar0, bar0 + bytes) lies in one region.
  bool in_region(std::uint64_t bar0, std::uint64_t bytes) const;

 private:
  const nrtp_arch_plugin* arch_ = nullptr;
  const nrtp_product* product_ = nullptr;
};

// ARCH_CASE(Suite, Name) { body }: Suite is a class derived from ArchCase that leaves
// each_product() open.
#define ARCH_CASE(suite, name)                                                     \
  class suite##_##name final : public suite {                                      \
    void each_product() override;                                                  \
  };                                                                               \
  [[maybe_unused]] static const auto* const registered_##suite##_##name =          \
      ::testing::RegisterTest(#suite, #name, nullptr, nullptr, __FILE__, __LINE__, \
                              []() -> suite* { return new suite##_##name; });      \
  void suite##_##name::each_product()

}  // namespace opennrt::conform
