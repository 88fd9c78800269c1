// SPDX-License-Identifier: Apache-2.0
//
// load_program() behind the container; for tests that build the members
// themselves and for tools that look at the members as well.
#pragma once

#include <memory>

#include "base/status.h"
#include "neff/container.h"
#include "neff/members.h"
#include "neff/program.h"

namespace opennrt::neff {

Result<Program> load_members(const Header& header, MemberTable members, const LoadLimits& limits);
// The same; the table stays whole. The program shares it.
Result<Program> load_shared_members(const Header& header,
                                    const std::shared_ptr<MemberTable>& members,
                                    const LoadLimits& limits);

}  // namespace opennrt::neff
