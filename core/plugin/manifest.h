// SPDX-License-Identifier: Apache-2.0
//
// A plugin manifest, `<name>.plugin.yaml`: what a library offers, readable
// without opening it.
//
//   kind: arch            # arch, ndl or port
//   name: sunda
//   arch_type: 2          # arch plugins only
//   library: opennrt-sunda.so   # relative to the manifest
//   abi: 1.0              # plugin ABI it was built for
//   version: 0.1.0        # of the package
//   priority: 0           # the highest one of an arch wins
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "opennrt/plugin.h"

namespace opennrt::plugin {

enum class Kind : std::uint32_t {
  kArch = NRTP_KIND_ARCH,
  kNdl = NRTP_KIND_NDL,
  kPort = NRTP_KIND_PORT,
};
std::string_view kind_name(Kind kind);

struct Manifest {
  Kind kind = Kind::kArch;
  std::string name;
  std::uint32_t arch_type = 0;
  std::string library;  // absolute, or as given when the manifest's path is relative
  std::string abi;      // "" = not stated
  std::string version;
  std::int64_t priority = 0;
  std::string path;  // of the manifest
};

// NRT_INVALID names the file, the key and what is wrong.
Result<Manifest> read_manifest(const std::string& path);

// Dotted numbers, missing ones count as 0: negative, 0 or positive.
int compare_versions(std::string_view a, std::string_view b);

}  // namespace opennrt::plugin
