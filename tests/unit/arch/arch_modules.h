// SPDX-License-Identifier: Apache-2.0
//
// The arch modules under test and one (module, product) pair per test run.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "opennrt/arch.h"

namespace opennrt::arch_test {

struct Module {
  std::string path;
  nrtp_arch_query_fn query = nullptr;
  const nrtp_arch_plugin* plugin = nullptr;  // of the current major
};

// Opened once from OPENNRT_ARCH_MODULES (colon-separated paths) and kept.
const std::vector<Module>& modules();

const nrtp_product* product_at(const nrtp_arch_plugin* plugin, std::uint32_t index);

struct Subject {
  const nrtp_arch_plugin* plugin;
  const nrtp_product* product;
};
std::vector<Subject> subjects();
std::string subject_name(const testing::TestParamInfo<Subject>& info);

// Base of the suites: short names for what every check uses.
class ArchTest : public testing::TestWithParam<Subject> {
 protected:
  const nrtp_arch_plugin& arch() const { return *GetParam().plugin; }
  const nrtp_product* product() const { return GetParam().product; }
  const nrtp_arch_geometry& geometry() const { return *arch().geometry; }
  const nrtp_arch_address& address() const { return *arch().address; }
  const nrtp_arch_dma& dma() const { return *arch().dma; }
  // Decodes or fails the test; a failed decode has kind UINT32_MAX.
  nrtp_addr_class decode(std::uint64_t device) const;
  // True when [bar0, bar0 + bytes) lies in one region.
  bool in_region(std::uint64_t bar0, std::uint64_t bytes) const;
};

#define ONRT_ARCH_SUITE(suite)                                                              \
  INSTANTIATE_TEST_SUITE_P(All, suite, testing::ValuesIn(::opennrt::arch_test::subjects()), \
                           ::opennrt::arch_test::subject_name)

}  // namespace opennrt::arch_test
