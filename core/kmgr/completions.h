// SPDX-License-Identifier: Apache-2.0
//
// Waiting until a tensor has been written by executions. One place for all
// tensors: those who wait are few, and the executions pay one look for them.
#pragma once

#include <cstdint>
#include <functional>

#include "base/status.h"
#include "tdrv/tdrv.h"

namespace opennrt::kmgr {

// An execution has finished writing the tensor.
void note_completion(tdrv::Tensor& tensor) noexcept;

// Waits until `count` gives `expected` or more; a failure of it ends the wait.
// It is asked at every completion and from time to time. timeout_us: negative
// for ever. NRT_TIMEOUT: too late.
Status wait_for_completions(const std::function<Result<std::uint64_t>()>& count,
                            std::int64_t timeout_us, std::uint64_t expected);

}  // namespace opennrt::kmgr
