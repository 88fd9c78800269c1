// SPDX-License-Identifier: Apache-2.0
//
// Words of a command line: positional ones and --options, in any order.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace opennrt::tools {

struct Option {
  std::string_view name;     // "engine": --engine=PE or --engine PE
  bool takes_value = false;  // else --name alone
};

class Args {
 public:
  // Refuses unknown and repeated options, missing values and another number of
  // positional words than min..max. "--" ends the options.
  static Result<Args> parse(const std::vector<std::string>& words,
                            const std::vector<Option>& options, std::size_t min, std::size_t max);

  const std::vector<std::string>& positional() const { return positional_; }
  bool has(std::string_view name) const { return options_.contains(name); }
  std::optional<std::string> value(std::string_view name) const;
  // The default when the option is absent; refuses what is not a decimal number.
  Result<std::uint64_t> number(std::string_view name, std::uint64_t otherwise) const;

 private:
  std::vector<std::string> positional_;
  std::map<std::string, std::string, std::less<>> options_;
};

std::optional<std::uint64_t> decimal(std::string_view text);

}  // namespace opennrt::tools
