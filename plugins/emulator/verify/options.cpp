// SPDX-License-Identifier: Apache-2.0
#include "verify/options.h"

#include <cstdlib>

namespace opennrt::emu {

bool parse_verify(const std::string& text, VerifyOptions* out, std::string* error) {
  VerifyOptions options;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string item = text.substr(at, end - at);
    at = end + 1;
    if (item == "all") {
      options.poison = options.races = options.coverage = options.bounds = true;
      if (!options.order_seed) options.order_seed = 1;
    } else if (item == "poison") {
      options.poison = true;
    } else if (item == "races") {
      options.races = true;
    } else if (item == "coverage") {
      options.coverage = true;
    } else if (item == "bounds") {
      options.bounds = true;
    } else if (item.rfind("order=", 0) == 0 && item.size() > 6 &&
               item.find_first_not_of("0123456789", 6) == std::string::npos) {
      options.order_seed = std::strtoull(item.c_str() + 6, nullptr, 10);
    } else if (item != "none" && !item.empty()) {
      *error = "emulator.verify: \"" + item +
               "\" is not a check; use all, none, or a list of poison, races, coverage, bounds, "
               "order=<seed>";
      return false;
    }
  }
  *out = options;
  return true;
}

}  // namespace opennrt::emu
