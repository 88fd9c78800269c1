// SPDX-License-Identifier: Apache-2.0
#include "launcher/options.h"

#include <gtest/gtest.h>

namespace opennrt::emu::launcher {
namespace {

using Words = std::vector<std::string>;
using Pair = std::pair<std::string, std::string>;

Options parsed(const Words& words) {
  Options options;
  std::string error;
  EXPECT_TRUE(parse(words, &options, &error)) << error;
  return options;
}

std::string error_of(const Words& words) {
  Options options;
  std::string error;
  EXPECT_FALSE(parse(words, &options, &error));
  return error;
}

TEST(EmuOptions, ProgramBegins) {
  EXPECT_EQ(parsed({"--", "ls", "-l"}).program, (Words{"ls", "-l"}));
  EXPECT_EQ(parsed({"ls", "--devices", "3"}).program, (Words{"ls", "--devices", "3"}));
  EXPECT_EQ(parsed({"--", "--devices"}).program, (Words{"--devices"}));
  EXPECT_EQ(parsed({"--shared", "--", "--", "x"}).program, (Words{"--", "x"}));
}

TEST(EmuOptions, Settings) {
  const Options o = parsed({"--product", "trn2.48xlarge", "--devices=16", "--hbm-bytes", "1G",
                            "--driver-version=2.26.5.0", "--set", "emulator.faults=a=b", "--shared",
                            "--no-guard", "--log", "x.log", "prog"});
  EXPECT_EQ(o.settings, (std::vector<Pair>{{"emulator.product", "trn2.48xlarge"},
                                           {"emulator.devices", "16"},
                                           {"emulator.hbm_bytes", "1G"},
                                           {"emulator.driver_version", "2.26.5.0"},
                                           {"emulator.faults", "a=b"}}));
  EXPECT_TRUE(o.shared);
  EXPECT_FALSE(o.guard);
  EXPECT_EQ(o.log, "x.log");
  const Options plain = parsed({"prog"});
  EXPECT_TRUE(plain.settings.empty() && !plain.shared && plain.guard && plain.log.empty());
}

TEST(EmuOptions, Mistakes) {
  EXPECT_EQ(error_of({}), "no program to run");
  EXPECT_EQ(error_of({"--"}), "no program to run");
  EXPECT_EQ(error_of({"--device", "1", "x"}), "unknown option '--device'");
  EXPECT_EQ(error_of({"-x", "y"}), "unknown option '-x'");
  EXPECT_EQ(error_of({"--shared=1", "y"}), "unknown option '--shared=1'");
  EXPECT_EQ(error_of({"--devices"}), "--devices needs a value");
  EXPECT_EQ(error_of({"--devices=", "x"}), "--devices needs a value");
  for (const char* bad : {"emulator.x", "x=y", "emulator.x=", "emulator.x=a\nb=c"})
    EXPECT_EQ(error_of({"--set", bad, "x"}),
              std::string("--set ") + bad + ": expected emulator.KEY=VALUE");
}

TEST(EmuOptions, HelpWinsAndNamesEveryOption) {
  EXPECT_TRUE(parsed({"--help"}).help);
  EXPECT_TRUE(parsed({"-h", "x"}).help);
  EXPECT_FALSE(parsed({"x", "--help"}).help);
  const std::string help = kHelp;
  for (const char* option : {"--product", "--devices", "--hbm-bytes", "--driver-version", "--set",
                             "--shared", "--log", "--no-guard", "--help"})
    EXPECT_NE(help.find(option), std::string::npos) << option;
}

}  // namespace
}  // namespace opennrt::emu::launcher
