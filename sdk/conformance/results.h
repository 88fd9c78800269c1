// SPDX-License-Identifier: Apache-2.0
//
// What a case tells the program that started it: lines of NONCE TAB PID TAB KEY TAB TEXT
// on a pipe of their own, since what the plugin prints is no part of them. The nonce and
// the process id keep out what else a plugin writes there, and what a copy of the process
// does. Without an "end" the process ended before the case did.
//
//   at       what the case is at; the last one counts
//   failure  one failed expectation, with its place
//   skipped  why
//   end      "passed", "failed" or "skipped"
//
// For --describe: kind, name, abi, build, arch_type, has (a capability), problem, end.
#pragma once

#include <string>
#include <string_view>

namespace opennrt::conform {

constexpr int kResultsFd = 3;

// To be told on kResultsFd from now on; without one nothing is told.
void set_nonce(std::string nonce);
void tell(std::string_view key, std::string_view text);

// One line: newline, tab and backslash are written with a backslash.
std::string escaped(std::string_view text);
std::string unescaped(std::string_view text);

}  // namespace opennrt::conform
