// SPDX-License-Identifier: Apache-2.0
//
// The array that tells a caller the tensors of a model. Plain malloc memory.
#pragma once

#include "base/status.h"
#include "kmgr/models.h"
#include "nrt/nrt_experimental.h"

namespace opennrt::api {

Result<nrt_tensor_info_array_t*> make_tensor_info(const neff::Program& program);
void free_tensor_info(nrt_tensor_info_array_t* array);  // NULL is accepted

}  // namespace opennrt::api
