// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "config/yaml_layer.h"
#include "entries.h"

namespace opennrt::fuzz {

void fuzz_config_yaml(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto entries = config::parse_yaml("fuzz.yaml", text);
  if (!entries.is_ok() && entries.status().message().empty()) std::abort();
}

std::vector<std::string> seeds_config_yaml() {
  return {
      "device: emulator\nlog:\n  level: debug\n  location: syslog\n",
      "emulator:\n  hbm_bytes: 96GiB\n  product: trn1.2xlarge\nunknown: {a: [1, 2], b: *c}\n",
      "a: &x [1, 2, 3]\nb: *x\n# comment\n\"quoted \\u00e4\": 'single'\n--- \nsecond: 1\n",
  };
}

}  // namespace opennrt::fuzz
