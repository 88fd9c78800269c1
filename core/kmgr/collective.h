// SPDX-License-Identifier: Apache-2.0
//
// A prepared collective operation of one rank: with nobody else there, gathering,
// reducing and scattering all put the input where the output is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "kmgr/tensors.h"

namespace opennrt::kmgr {

struct Collective {
  std::uint32_t logical_core = 0;
  std::uint32_t context_rank = 0, context_ranks = 0;  // global, for traces
  std::uint32_t stream = 0;                           // queue that it was scheduled on
  nrt_dtype_t dtype = NRT_DTYPE_UINT8;
  std::vector<TensorHandle> inputs, outputs;
  std::vector<Tensors::Pin> pins;  // inputs, then outputs, while it is queued

  // Takes the tensors. NRT_INVALID: the data type is none, a tensor is gone or no device tensor, or
  // a pair differs in size or is no whole number of elements.
  Status pin();
  Status run();
};

}  // namespace opennrt::kmgr
