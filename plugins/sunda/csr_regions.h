// SPDX-License-Identifier: Apache-2.0
//
// Every register window of BAR 0, sorted and disjoint.
#pragma once

#include <cstdint>

#include "opennrt/arch.h"

namespace opennrt::sunda {

// nullptr and *out_n = 0 for a missing product.
const nrtp_csr_region* csr_regions(const nrtp_product* product, std::uint32_t* out_n);

}  // namespace opennrt::sunda
