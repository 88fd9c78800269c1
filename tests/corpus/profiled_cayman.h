// SPDX-License-Identifier: Apache-2.0
//
// As much of the cayman family as profiles of trn2.3xlarge, cores 4 and 5,
// show: enough to assemble their images of runtimes 2.27 and 2.30 and compare
// them. Test data, not a plugin: no geometry beyond it, no validation.
#pragma once

#include "opennrt/arch.h"

namespace opennrt::test {

const nrtp_arch_plugin& profiled_cayman();

}  // namespace opennrt::test
