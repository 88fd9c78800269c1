// SPDX-License-Identifier: Apache-2.0
//
// What is told for support: the information block in the log, and what a core
// dump needs to know about the process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "book/machine.h"
#include "book/reservation.h"
#include "config/config.h"
#include "dump/core_dump.h"
#include "log/log.h"

namespace opennrt::api {

// nrt_init knows the configuration, then the machine and its own cores. From
// the second call on failures leave core dumps, if the configuration asks.
void know_config(std::shared_ptr<const config::Config> config);
void know_machine(const book::Driver& driver, const book::Machine& machine,
                  const book::Reservation& reservation);
void forget_diagnostics();

// The block, line by line; failure: nullptr for none.
std::vector<std::string> infodump(const dump::Failure* failure);
// Puts it into the log, once per level and process.
void log_infodump(log::Level level, const dump::Failure* failure) noexcept;

// A call failed and its line is written. Those that fail because of the
// runtime or the hardware, and not of what they were given, leave more.
void after_failure(const char* api, NRT_STATUS code) noexcept;

}  // namespace opennrt::api
