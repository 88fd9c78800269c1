// SPDX-License-Identifier: Apache-2.0
//
// Base of the suites for driver layers: the layer under test on the software device,
// with an open device.
#pragma once

#include <gtest/gtest.h>

#include "host.h"
#include "subject.h"

namespace opennrt::conform {

// The layer attached and probed; no device is open.
class NdlCase : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;
  const nrtp_ndl_ops& ndl() const { return *ndl_; }  // absent members answer -EINVAL
  void* ctx() const { return ctx_; }

 private:
  const nrtp_ndl_ops* ndl_ = nullptr;
  void* ctx_ = nullptr;
};

// With device 0 open.
class NdlDeviceCase : public NdlCase {
 protected:
  void SetUp() override;
  void TearDown() override;
  std::uint64_t dev() const { return dev_; }
  const nrtp_ndl_device_info& info() const { return info_; }
  // Device memory of core 0, freed with the case; 0 and a failure otherwise.
  std::uint64_t allocate(std::uint64_t bytes, bool host_memory = false);

 private:
  std::uint64_t dev_ = 0;
  bool open_ = false;
  nrtp_ndl_device_info info_{};
  std::vector<std::uint64_t> memory_;
};

}  // namespace opennrt::conform
