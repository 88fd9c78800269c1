// SPDX-License-Identifier: Apache-2.0
//
// load_program() behind the container; for tests that build the members
// themselves.
#pragma once

#include "base/status.h"
#include "neff/container.h"
#include "neff/members.h"
#include "neff/program.h"

namespace opennrt::neff {

Result<Program> load_members(const Header& header, MemberTable members, const LoadLimits& limits);

}  // namespace opennrt::neff
