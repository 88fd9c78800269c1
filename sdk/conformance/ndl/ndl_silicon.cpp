// SPDX-License-Identifier: Apache-2.0
#include "ndl/ndl_silicon.h"

namespace opennrt::conform {

void NdlSiliconCase::SetUp() {
  NdlDeviceCase::SetUp();
  if (HasFatalFailure() || IsSkipped()) return;
  const nrtp_host* host = TestHost::instance().table();
  arch_ = host->arch(host->self, info().arch);
  ASSERT_NE(arch_, nullptr) << "no arch plugin of type " << info().arch;
  char name[128] = {};
  ndl().probe->product_name(ctx(), name, sizeof name);
  const auto* row = reinterpret_cast<const char*>(arch_->products);
  for (std::uint32_t i = 0; i < arch_->n_products; ++i, row += arch_->product_stride) {
    const auto* product = reinterpret_cast<const nrtp_product*>(row);
    if (product->name != nullptr && std::string(name) == product->name) product_ = product;
  }
  ASSERT_NE(product_, nullptr) << "no product is called '" << name << "'";
}

std::uint32_t NdlSiliconCase::kind_of(std::uint64_t device) const {
  nrtp_addr_class c{};
  c.size = sizeof c;
  return arch_->address->classify(product_, device, &c) == NRTP_OK ? c.kind : UINT32_MAX;
}

nrtp_dma_slot NdlSiliconCase::model_queue() const {
  nrtp_dma_slot slots[64] = {};
  std::uint32_t n = 64;
  EXPECT_EQ(arch_->dma->alloc_class(product_, 0, 0, slots, &n), NRTP_OK);
  EXPECT_GT(n, 0u);
  return slots[0];
}

}  // namespace opennrt::conform
