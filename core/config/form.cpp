// SPDX-License-Identifier: Apache-2.0
#include "config/form.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "config/value.h"

namespace opennrt::config {

namespace {

// "trn2.48xlarge": family and size.
Status instance_type(std::string_view text) {
  const auto word = [](std::string_view part) {
    return !part.empty() && std::all_of(part.begin(), part.end(), [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    });
  };
  const auto dot = text.find('.');
  if (dot != text.npos && word(text.substr(0, dot)) && word(text.substr(dot + 1))) return {};
  return Status::invalid("must be an instance type such as trn2.48xlarge");
}

// Host names are refused, as by the public runtime.
Status endpoint(std::string_view text) {
  const auto colon = text.rfind(':');
  std::string host(text.substr(0, colon));
  const std::uint64_t port =
      colon == text.npos ? 0 : parse_uint(text.substr(colon + 1)).value_or(0);
  const bool v6 = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (v6) host = host.substr(1, host.size() - 2);
  std::array<unsigned char, 16> address{};
  if (port >= 1 && port <= 65535 &&
      inet_pton(v6 ? AF_INET6 : AF_INET, host.c_str(), address.data()) == 1)
    return {};
  return Status::invalid("must be IPv4:port or [IPv6]:port");
}

constexpr std::array<std::string_view, 11> kAlgorithms = {"ring",
                                                          "hier",
                                                          "mesh",
                                                          "kangaring",
                                                          "single_cycle_ring",
                                                          "intra_rdh",
                                                          "single_step_mesh",
                                                          "inter_rdh",
                                                          "pod_mesh",
                                                          "latency_mesh",
                                                          "bw_mesh"};

// Names, each group after "intra:" or "inter:"; or the mask of all of them, a
// bit for each algorithm and kind of communicator.
Status algorithms(std::string_view text) {
  if (const auto mask = parse_uint(text)) {
    constexpr std::uint64_t kEnd = 1ull << (2 * kAlgorithms.size());
    return *mask < kEnd ? Status() : Status::invalid("a mask must be below {:#x}", kEnd);
  }
  const std::vector<std::string> items = split_list(text, ',');
  if (items.empty()) return Status::invalid("no algorithm named");
  for (const std::string& item : items) {
    std::string_view name = item;
    for (std::string_view scope : {"intra:", "inter:"})
      if (name.starts_with(scope)) name.remove_prefix(scope.size());
    if (std::find(kAlgorithms.begin(), kAlgorithms.end(), name) == kAlgorithms.end())
      return Status::invalid("'{}' is no algorithm; there are {}", printable(item),
                             fmt::join(kAlgorithms, " "));
  }
  return {};
}

// bucket_usecs num_buckets per_neff_warmup warmup output_path
Status histogram(std::string_view text) {
  constexpr std::size_t kWords = 5, kMaxPath = 127;
  const std::vector<std::string> words = split_list(text, ' ');
  if (words.size() != kWords)
    return Status::invalid("has {} words, must have {}", words.size(), kWords);
  for (std::size_t i = 0; i + 1 < kWords; ++i)
    if (!parse_uint(words[i])) return Status::invalid("'{}' is not a number", printable(words[i]));
  if (words.back().size() > kMaxPath)
    return Status::invalid("the path has {} bytes, may have {}", words.back().size(), kMaxPath);
  return {};
}

Status output_directory(std::string_view text) {
  while (text.size() > 1 && text.ends_with('/')) text.remove_suffix(1);
  return text == "./tmp" ? Status::invalid("is reserved; choose another directory") : Status();
}

Status verify_modes(std::string_view text) {
  constexpr std::array<std::string_view, 6> kModes = {"all",   "none",     "poison",
                                                      "races", "coverage", "bounds"};
  constexpr std::string_view kOrder = "order=";
  for (const std::string& item : split_list(text, ',')) {
    if (std::find(kModes.begin(), kModes.end(), item) != kModes.end()) continue;
    if (item.starts_with(kOrder) && parse_uint(std::string_view(item).substr(kOrder.size())))
      continue;
    return Status::invalid(
        "'{}' is no check; use all, none, or a list of poison, races, coverage, "
        "bounds, order=SEED",
        printable(item));
  }
  return {};
}

}  // namespace

Status check_form(Form form, std::string_view text) {
  switch (form) {
    case Form::kNone:
      return {};
    case Form::kInstanceType:
      return instance_type(text);
    case Form::kEndpoint:
      return endpoint(text);
    case Form::kAlgorithms:
      return algorithms(text);
    case Form::kHistogram:
      return histogram(text);
    case Form::kOutputDirectory:
      return output_directory(text);
    case Form::kVerifyModes:
      return verify_modes(text);
  }
  return {};
}

}  // namespace opennrt::config
