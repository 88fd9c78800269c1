// SPDX-License-Identifier: Apache-2.0
//
// What is profiled: models armed under a file name, sessions of logical cores,
// continuous profiling. Only the bookkeeping and the recorded events; files are
// the business of device_profile.h.
//
// Threading: every function may be called from any thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"

namespace opennrt::trace::profile {

// NRT_INVALID: the file or the model is armed already, continuous profiling is on.
Status arm(std::uint32_t model, const std::string& file);
// Writes the profile and forgets it. NRT_INVALID: nothing is armed under it.
Status disarm(const std::string& file);
// nrt_unload: the profile of the model can no longer be written.
void forget_model(std::uint32_t model);

// NRT_INVALID: one is active on the core.
Status start_session(std::uint32_t core);
// Number of the harvest, kept until serialize() or drop(). NRT_INVALID: no session.
Result<std::uint64_t> stop_session(std::uint32_t core);
// A harvest that cannot be written is kept. NRT_INVALID: unknown number.
Status serialize(std::uint64_t session, const std::string& file);
Status drop(std::uint64_t session);
void drop_all(std::uint32_t core);

// NRT_INVALID: already on, or models are armed.
Status start_continuous();
// NRT_FAILURE: not started.
Status save_continuous(std::uint32_t core, const std::string& directory);
void stop_continuous();

// End of the runtime: everything is forgotten.
void close();
// After fork, in the child.
void enter_forked_child() noexcept;

}  // namespace opennrt::trace::profile
