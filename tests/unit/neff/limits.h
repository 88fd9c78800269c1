// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "neff/program.h"
#include "support/neff_builder.h"

namespace opennrt::neff {

inline LoadLimits test_limits() {
  LoadLimits limits;
  limits.targets = {"sunda", "v2"};
  limits.known_targets = {"sunda", "v2", "cayman", "v3", "mariana", "v4"};
  limits.running_on = "sunda (trn1.2xlarge)";
  limits.max_decompressed_bytes = std::uint64_t{16} << 20;
  return limits;
}

inline Result<Program> load(const std::string& file, const LoadLimits& limits = test_limits()) {
  return load_program(testing::as_bytes(file), limits);
}

// One way to spoil the sample program, and what must be said about it.
struct Refusal {
  const char* name;
  std::function<void(testing::NeffBuilder&)> spoil;
  NRT_STATUS status;
  std::vector<std::string> texts;  // all of them are in the message
};

inline void PrintTo(const Refusal& refusal, std::ostream* out) { *out << refusal.name; }

inline void expect_refused(const Refusal& refusal, const std::string& file,
                           const LoadLimits& limits) {
  const auto program = load(file, limits);
  ASSERT_FALSE(program.is_ok()) << "was accepted";
  EXPECT_EQ(program.status().code(), refusal.status) << program.status().message();
  for (const std::string& text : refusal.texts)
    EXPECT_NE(program.status().message().find(text), std::string_view::npos)
        << "message: " << program.status().message() << "\nlacks: " << text;
}

inline std::string refusal_name(const ::testing::TestParamInfo<Refusal>& info) {
  return info.param.name;
}

// A refusal by one replacement in one member.
inline Refusal edit(const char* name, const char* member, const char* from, const char* to,
                    std::vector<std::string> texts, NRT_STATUS status = NRT_INVALID) {
  return {name, [=](testing::NeffBuilder& neff) { neff.replace(member, from, to); }, status,
          std::move(texts)};
}

}  // namespace opennrt::neff
