// SPDX-License-Identifier: Apache-2.0
//
// The entries of the fuzz targets over their seeds and mutations of them. A
// mutation is a function of its number alone: a failure repeats.
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <random>

#include "entries.h"
#include "gtest/gtest.h"

namespace opennrt::fuzz {
namespace {

struct Target {
  const char* name;
  void (*run)(const std::uint8_t*, std::size_t);
  std::vector<std::string> (*seeds)();
  // Of a seed; nullptr: changes of bytes and text.
  std::string (*mutate)(const std::string& seed, std::uint32_t number) = nullptr;
};
void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }

const Target kTargets[] = {
    {"neff_container", fuzz_neff_container, seeds_neff_container},
    {"neff_manifest", fuzz_neff_manifest, seeds_neff_manifest},
    {"neff_tool", fuzz_neff_tool, seeds_neff_tool},
    {"neff_listing", fuzz_neff_listing, seeds_neff_listing},
    {"neff_records", fuzz_neff_records, seeds_neff_records},
    {"program", fuzz_program, seeds_program, mutate_program},
    {"driver", fuzz_driver, seeds_driver},
    {"config_yaml", fuzz_config_yaml, seeds_config_yaml},
    {"port_trace", fuzz_port_trace, seeds_port_trace},
    {"data_store", fuzz_data_store, seeds_data_store},
};

// Text that parsers treat specially.
constexpr const char* kTokens[] = {
    "-1", "0",    "18446744073709551615", "18446744073709551616", "1e99", "null", "true", "[]",
    "{}", "\"\"", "\"a\\u0000b\"",        "4294967296",           "[[[[", "}",    ",",    "\\"};

std::string mutate(const std::vector<std::string>& seeds, std::uint32_t number) {
  std::mt19937 random(number);
  const auto below = [&](std::size_t limit) { return limit == 0 ? 0 : random() % limit; };
  std::string text = seeds[below(seeds.size())];
  const std::size_t changes = 1 + below(4);
  for (std::size_t i = 0; i < changes; ++i) {
    const std::size_t at = below(text.size());
    switch (below(7)) {
      case 0:
        if (!text.empty()) text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
        break;
      case 1:
        if (!text.empty()) text[at] = static_cast<char>(below(256));
        break;
      case 2:
        text.erase(at, below(32));
        break;
      case 3:
        text.insert(at, kTokens[below(std::size(kTokens))]);
        break;
      case 4: {
        const std::string token = kTokens[below(std::size(kTokens))];
        text.replace(at, std::min(token.size(), text.size() - at), token);
        break;
      }
      case 5:
        text.insert(at, text.substr(below(text.size()), below(64)));
        break;
      default:
        text.resize(at);
    }
  }
  return text;
}

void run_one(const Target& target, const std::string& text) {
  // A copy of the exact size lets sanitizers see a read past the end.
  const std::vector<std::uint8_t> bytes(text.begin(), text.end());
  target.run(bytes.data(), bytes.size());
}

double seconds() {
  const char* text = std::getenv("OPENNRT_FUZZ_SECONDS");
  return text ? std::atof(text) : 3.0;
}

class FuzzRegress : public ::testing::TestWithParam<Target> {};

TEST_P(FuzzRegress, SeedsAndMutations) {
  using Clock = std::chrono::steady_clock;
  const Target& target = GetParam();
  const std::vector<std::string> seeds = target.seeds();
  ASSERT_FALSE(seeds.empty());
  for (const std::string& seed : seeds) run_one(target, seed);
  run_one(target, "");
  std::uint32_t number = 0;
  double slowest = 0;
  const auto begin = Clock::now();
  const std::chrono::duration<double> limit(seconds());
  for (; Clock::now() - begin < limit; ++number) {
    SCOPED_TRACE(number);
    const auto start = Clock::now();
    run_one(target, target.mutate != nullptr ? target.mutate(seeds[number % seeds.size()], number)
                                             : mutate(seeds, number));
    slowest = std::max(slowest, std::chrono::duration<double>(Clock::now() - start).count());
  }
  EXPECT_GT(number, 0U);
  // No input of a few kilobytes may take long, whatever it says.
  EXPECT_LT(slowest, 10.0);
  std::cerr << target.name << ": " << number << " mutations, slowest " << slowest << " s\n";
}

INSTANTIATE_TEST_SUITE_P(All, FuzzRegress, ::testing::ValuesIn(kTargets),
                         [](const ::testing::TestParamInfo<Target>& test) {
                           return std::string(test.param.name);
                         });

}  // namespace
}  // namespace opennrt::fuzz
