// SPDX-License-Identifier: Apache-2.0
//
// From a readable source to a complete NEFF. Each step returns false and puts
// one line into *error: "file:line: what is wrong, and what is allowed".
// Output is deterministic: the same source gives the same bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "opennrt/neffkit/program.h"

namespace opennrt::neffkit {

// YAML source (sdk/neffkit/README.md). `source` names it in messages.
bool parse_program(std::string_view text, std::string_view source, Program* out,
                   std::string* error);

// What can be seen without a device: names, ids, owners, bounds, byte counts,
// triggers without a block, waits that no one can satisfy.
bool check_program(const Program& program, std::string* error);

// One file of the archive.
struct Member {
  std::string name;
  std::vector<std::uint8_t> bytes;
};
// Manifests, instruction streams, constants and tables of a checked program.
std::vector<Member> make_members(const Program& program);

// The archive of the members in their order: a tar, gzipped if asked for,
// padded with zeros. The same members give the same bytes.
bool make_payload(const std::vector<Member>& members, bool gzipped, std::vector<std::uint8_t>* out,
                  std::string* error);

// Header, hash and compressed archive.
bool pack_neff(const Program& program, const std::vector<Member>& members,
               std::vector<std::uint8_t>* out, std::string* error);

// All of it.
bool build_neff(std::string_view text, std::string_view source, std::vector<std::uint8_t>* out,
                std::string* error);

}  // namespace opennrt::neffkit
