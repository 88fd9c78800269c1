// SPDX-License-Identifier: Apache-2.0
//
// Results of driver requests as 0 or -errno. A positive result is the number
// of bytes a faulting user copy left over, with two exceptions.
// Source: aws-neuron-driver 2.24.7.0 to 2.26.5.0.
#pragma once

#include <cerrno>
#include <cstdint>

#include "ndl-common/requests.h"

namespace opennrt::ndl {

constexpr int normalise(uint32_t code, int64_t result) {
  constexpr int64_t kMaxErrno = 4095;
  if (result == 0) return 0;
  if (result < 0) return result >= -kMaxErrno ? static_cast<int>(result) : -EIO;
  // A reset request of this process is already pending.
  if (code == kCoreReset && result == 1) return -EBUSY;
  if (code == kMemGetExtendedInfo && result == EINVAL) return -EINVAL;
  return -EFAULT;
}

}  // namespace opennrt::ndl
