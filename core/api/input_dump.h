// SPDX-License-Identifier: Apache-2.0
//
// Inputs of an execution that failed, as files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"
#include "kmgr/tensors.h"

namespace opennrt::api {

// input_dump_<random>_h_nn_<model>/ in the directory, complete or absent:
// model_name.txt and a file for each tensor of the set. The path of it.
// NRT_FAILURE: it cannot be written.
Result<std::string> dump_inputs(const std::string& directory, std::uint32_t model,
                                std::string_view model_name, kmgr::TensorSetHandle inputs);

}  // namespace opennrt::api
