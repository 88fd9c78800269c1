// SPDX-License-Identifier: Apache-2.0
#include "arch/arch_case.h"

namespace opennrt::conform {

std::string missing_functions(const nrtp_arch_plugin& arch) {
  std::string out;
  const auto look = [&out](const char* name, bool there) {
    if (!there) out += (out.empty() ? "" : ", ") + std::string(name);
  };
#define LOOK(group, member) look(#group "." #member, arch.group->member != nullptr)
  LOOK(address, local_to_device);
  LOOK(address, local_to_bar0);
  LOOK(address, topsp_device);
  LOOK(address, topsp_bar0);
  LOOK(address, event_addr);
  LOOK(address, sem_addr);
  LOOK(address, hbm_to_bar4);
  LOOK(address, default_hbm);
  LOOK(address, cores_of_hbm);
  LOOK(address, classify);
  LOOK(address, bar0_to_device);
  LOOK(address, csr_regions);
  LOOK(address, coretype);
  LOOK(address, nx_device);
  LOOK(address, nx_bar0);
  LOOK(address, tpb_csr_device);
  LOOK(address, misc_ram_device);
  LOOK(address, notific_bar0);
  LOOK(dma, udma_bar0);
  LOOK(dma, udma_device);
  LOOK(dma, sdma_misc_bar0);
  LOOK(dma, notific_bar0);
  LOOK(dma, queue_reg);
  LOOK(dma, bcast_device);
  LOOK(dma, core_engine);
  LOOK(dma, host_engine);
  LOOK(dma, host_queue);
  LOOK(dma, is_host_engine);
  LOOK(dma, runtime_ring);
  LOOK(dma, alloc_class);
  LOOK(ib, step);
#undef LOOK
  return out;
}

void ArchCase::SetUp() {
  const Subject& s = subject();
  if (s.problem().empty() && s.kind() != NRTP_KIND_ARCH) GTEST_SKIP() << "no arch plugin";
  ASSERT_EQ(s.problem(), "");
  arch_ = s.arch();
  ASSERT_NE(arch_, nullptr) << s.path() << ": the table is shorter than that of 1.0";
  for (const void* group :
       {static_cast<const void*>(arch_->geometry), static_cast<const void*>(arch_->address),
        static_cast<const void*>(arch_->dma), static_cast<const void*>(arch_->sync),
        static_cast<const void*>(arch_->caps), static_cast<const void*>(arch_->ib),
        static_cast<const void*>(arch_->tables), static_cast<const void*>(arch_->products)})
    ASSERT_NE(group, nullptr) << "a mandatory group is missing (rule arch.table.groups)";
  ASSERT_EQ(missing_functions(*arch_), "") << "(rule arch.table.functions)";
  ASSERT_NE(arch_->n_products, 0u);
  ASSERT_GE(arch_->product_stride, sizeof(nrtp_product));
}

void ArchCase::TestBody() {
  for (std::uint32_t i = 0; i < arch_->n_products && !HasFatalFailure(); ++i) {
    if (i != 0) next_product();
    product_ = product_at(i);
    const char* name = product_->name != nullptr ? product_->name : "without a name";
    at(std::string("product ") + name);
    SCOPED_TRACE(std::string("product ") + name);
    each_product();
    if (IsSkipped()) return;
  }
}

const nrtp_product* ArchCase::product_at(std::uint32_t index) const {
  const auto* first = reinterpret_cast<const char*>(arch_->products);
  return reinterpret_cast<const nrtp_product*>(first + std::size_t{index} * arch_->product_stride);
}

nrtp_addr_class ArchCase::decode(std::uint64_t device) const {
  nrtp_addr_class out{};
  out.size = sizeof out;
  if (address().classify(product(), device, &out) != NRTP_OK) {
    ADD_FAILURE() << std::hex << "0x" << device << " decodes to nothing";
    out.kind = UINT32_MAX;
  }
  return out;
}

bool ArchCase::in_region(std::uint64_t bar0, std::uint64_t bytes) const {
  std::uint32_t n = 0;
  const nrtp_csr_region* regions = address().csr_regions(product(), &n);
  for (std::uint32_t i = 0; i < n; ++i) {
    const nrtp_csr_region& r = regions[i];
    if (bar0 >= r.bar0 && bar0 - r.bar0 < r.bytes && r.bytes - (bar0 - r.bar0) >= bytes)
      return true;
  }
  return false;
}

}  // namespace opennrt::conform
