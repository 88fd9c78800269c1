// SPDX-License-Identifier: Apache-2.0
//
// Where the daemon is reached, and how it is started.
#pragma once

#include <sys/un.h>

#include <string>

#include "remote/client.h"

namespace opennrt::emu::remote {

// Makes the directory of the socket if it is missing and checks that nobody else
// can put a socket there. False with *error: path, reason, remedy.
bool prepare_directory(const std::string& socket, std::string* error);
// False: too long for a socket address.
bool socket_address(const std::string& path, sockaddr_un* out, std::string* error);

enum class Started { kReady, kBusy, kFailed };
// Starts the daemon detached from this process and waits for its word. kBusy:
// another one is starting or ending.
Started start_daemon(const Options& options, const std::string& socket, std::string* error);

}  // namespace opennrt::emu::remote
