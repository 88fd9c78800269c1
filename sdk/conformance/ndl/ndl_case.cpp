// SPDX-License-Identifier: Apache-2.0
#include "ndl/ndl_case.h"

#include "plugin/validate.h"

namespace opennrt::conform {

void NdlCase::SetUp() {
  const Subject& s = subject();
  if (s.problem().empty() && s.kind() != NRTP_KIND_NDL) GTEST_SKIP() << "no driver layer";
  ASSERT_EQ(s.problem(), "");
  ASSERT_NE(s.ndl(), nullptr) << s.path() << ": the table is shorter than that of 1.0";
  auto complete = plugin::complete_ndl(*s.ndl(), s.path());
  ASSERT_TRUE(complete.is_ok()) << complete.status().message();
  const SoftwareDevice& device = software_device();
  if (device.port == nullptr) GTEST_SKIP() << device.problem;
  at("attach");
  void* ctx = nullptr;
  ASSERT_EQ((*complete)->attach(TestHost::instance().table(), device.port, device.ctx, &ctx), 0);
  ndl_ = *complete;
  ctx_ = ctx;
  at("probe.probe");
  const int probed = ndl_->probe->probe(ctx_);
  std::string log;
  for (const std::string& line : TestHost::instance().take_log()) log += "; " + line;
  // A layer for other drivers than the software device shows.
  if (probed == -EOPNOTSUPP || probed == -EPROTONOSUPPORT)
    GTEST_SKIP() << "the layer does not drive this software device: " << probed << log;
  ASSERT_EQ(probed, 0) << log;
  at("");
}

void NdlCase::TearDown() {
  if (ndl_ != nullptr) ndl_->detach(ctx_);
}

void NdlDeviceCase::SetUp() {
  NdlCase::SetUp();
  if (HasFatalFailure() || IsSkipped()) return;
  at("device.open");
  ASSERT_EQ(ndl().device->open(ctx(), 0, &dev_, &info_), 0);
  open_ = true;
  at("");
}

void NdlDeviceCase::TearDown() {
  for (const std::uint64_t mem : memory_) EXPECT_EQ(ndl().mem->free(ctx(), mem), 0);
  if (open_) {
    EXPECT_EQ(ndl().device->close(ctx(), dev_), 0);
  }
  NdlCase::TearDown();
}

std::uint64_t NdlDeviceCase::allocate(std::uint64_t bytes, bool host_memory) {
  std::uint64_t mem = 0;
  const std::uint32_t type = host_memory ? NRTP_MEM_MISC_HOST : NRTP_MEM_TENSORS_DEVICE;
  const int status = ndl().mem->alloc(ctx(), dev_, bytes, 0, host_memory, 0, 0, 0, type, &mem);
  EXPECT_EQ(status, 0) << bytes << " bytes";
  if (status != 0) return 0;
  memory_.push_back(mem);
  return mem;
}

}  // namespace opennrt::conform
