// SPDX-License-Identifier: Apache-2.0
//
// Device-side stand-ins for the host tensors of one execution: all inputs lie
// in one piece of device memory, all outputs behind them, mirrored by one
// mapped piece of host memory, so that each direction is one copy request.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "tdrv/logical_core.h"
#include "tdrv/tdrv.h"
#include "tdrv/tensor.h"

namespace opennrt::tdrv {

class IoStagingImpl final : public IoStaging {
 public:
  // batch_refused: shared by all stagings; set once the driver has refused
  // batched copies.
  static Result<std::unique_ptr<IoStaging>> create(
      const neff::Program& program, LogicalCore& logical,
      std::shared_ptr<std::atomic<bool>> batch_refused);

  std::span<Tensor* const> inputs() override { return inputs_; }
  std::span<Tensor* const> outputs() override { return outputs_; }
  Status copy_in(std::span<Tensor* const> host) override;
  Status copy_out(std::span<Tensor* const> host) override;

 private:
  struct Area {
    std::uint64_t offset = 0, bytes = 0;  // in device and host memory alike
  };
  struct Range {
    std::uint64_t begin = UINT64_MAX, end = 0;
  };
  Status check(std::span<Tensor* const> host, const std::vector<Area>& areas, const char* role,
               Range& range);
  // 0, or -errno; -EINVAL is remembered: the driver has no batched copies.
  int batch(std::span<Tensor* const> host, const std::vector<Area>& areas, std::uint32_t direction);

  Status map_host();  // the mirror, on first use

  std::shared_ptr<Allocator> allocator_;
  std::vector<std::unique_ptr<Tensor>> tensors_;
  std::vector<Tensor*> inputs_, outputs_;
  std::vector<Area> input_areas_, output_areas_;
  std::vector<nrtp_copy_op> ops_;  // reused
  DmemPtr device_, host_;
  std::byte* host_va_ = nullptr;
  std::shared_ptr<std::atomic<bool>> batch_refused_;
};

}  // namespace opennrt::tdrv
