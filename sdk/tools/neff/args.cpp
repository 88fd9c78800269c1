// SPDX-License-Identifier: Apache-2.0
#include "neff/args.h"

#include <algorithm>
#include <charconv>

namespace opennrt::tools {

Result<Args> Args::parse(const std::vector<std::string>& words, const std::vector<Option>& options,
                         std::size_t min, std::size_t max) {
  Args args;
  bool only_positional = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (only_positional || word.size() < 2 || word[0] != '-') {
      args.positional_.push_back(word);
      continue;
    }
    if (word == "--") {
      only_positional = true;
      continue;
    }
    const std::size_t equal = word.find('=');
    const std::string name = word.starts_with("--")
                                 ? word.substr(2, equal == std::string::npos ? equal : equal - 2)
                                 : word;
    const auto option = std::find_if(options.begin(), options.end(),
                                     [&](const Option& o) { return o.name == name; });
    if (option == options.end()) return Status::invalid("unknown option {}", word);
    std::string value;
    if (option->takes_value) {
      if (equal == std::string::npos && i + 1 == words.size())
        return Status::invalid("--{} needs a value", name);
      value = equal == std::string::npos ? words[++i] : word.substr(equal + 1);
    } else if (equal != std::string::npos) {
      return Status::invalid("--{} takes no value", name);
    }
    if (!args.options_.emplace(name, value).second)
      return Status::invalid("--{} is given twice", name);
  }
  if (args.positional_.size() < min) return Status::invalid("an argument is missing");
  if (args.positional_.size() > max)
    return Status::invalid("unexpected argument {}", args.positional_[max]);
  return args;
}

std::optional<std::string> Args::value(std::string_view name) const {
  const auto it = options_.find(name);
  return it == options_.end() ? std::nullopt : std::optional(it->second);
}

Result<std::uint64_t> Args::number(std::string_view name, std::uint64_t otherwise) const {
  const auto text = value(name);
  if (!text) return otherwise;
  const auto result = decimal(*text);
  if (!result) return Status::invalid("--{}={}: expected a number", name, *text);
  return *result;
}

std::optional<std::uint64_t> decimal(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace opennrt::tools
