// SPDX-License-Identifier: Apache-2.0
//
// Base of the suites that count cores, semaphores or queues: the silicon that the software
// device shows, as its arch plugin describes it.
#pragma once

#include <string>

#include "ndl/ndl_case.h"

namespace opennrt::conform {

class NdlSiliconCase : public NdlDeviceCase {
 protected:
  void SetUp() override;
  const nrtp_arch_plugin& arch() const { return *arch_; }
  const nrtp_arch_geometry& geometry() const { return *arch_->geometry; }
  const nrtp_product* product() const { return product_; }
  std::uint32_t cores() const { return product_->cores; }
  // Kind of a device address, UINT32_MAX: nothing is there.
  std::uint32_t kind_of(std::uint64_t device) const;
  // A queue of programs on core 0.
  nrtp_dma_slot model_queue() const;

 private:
  const nrtp_arch_plugin* arch_ = nullptr;
  const nrtp_product* product_ = nullptr;
};

}  // namespace opennrt::conform
