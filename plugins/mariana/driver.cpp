// SPDX-License-Identifier: Apache-2.0
//
// No driver of this family is published: that of the family before it, without
// a board of which the connections are known.
#include "arch-common/split_driver.h"
#include "facts.h"

namespace opennrt::mariana {

constinit const nrtp_arch_driver kDriver = split::make_driver();

}  // namespace opennrt::mariana
