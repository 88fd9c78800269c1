// SPDX-License-Identifier: Apache-2.0
#include "run_options.h"

#include <gtest/gtest.h>

namespace opennrt::tools {
namespace {

RunOptions parse(const std::vector<std::string>& args) {
  return run_options(run_command_line().parse(args).value());
}
// Message of the refusal, "" when there is none.
std::string refusal(const std::vector<std::string>& args) {
  try {
    parse(args);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "";
}

TEST(RunOptions, VerifyIsAllUnlessAListIsGiven) {
  EXPECT_FALSE(parse({"m.neff"}).verify);
  EXPECT_EQ(parse({"m.neff", "--verify"}).verify, "all");
  const RunOptions list = parse({"--verify=races,order=7", "m.neff"});
  EXPECT_EQ(list.verify, "races,order=7");
  EXPECT_EQ(list.model, "m.neff");
}

TEST(RunOptions, DumpsBelongToTheBreakBeforeThem) {
  const RunOptions o = parse({"m.neff", "--break", "sg01/PE:12", "--dump", "sbuf:0-3:0+64:float32",
                              "--dump=acc=psum:0:0+4:float32", "--break=SP:1@2", "--dump=var:x:0",
                              "--dump-dir", "d"});
  ASSERT_EQ(o.dumps.size(), 3u);
  EXPECT_EQ(o.dumps[0].at, "sg01/PE:12");
  EXPECT_EQ(o.dumps[0].name, "sg01_PE_12.sbuf_0-3_0_64_float32");
  EXPECT_EQ(o.dumps[1].name, "acc");
  EXPECT_EQ(o.dumps[1].at, "sg01/PE:12");
  EXPECT_EQ(o.dumps[1].dtype, "float32");
  EXPECT_EQ(o.dumps[2].at, "SP:1@2");
  EXPECT_EQ(o.dumps[2].dtype, "");  // of the variable
  EXPECT_EQ(o.dumps[2].variable, "x:0");
  EXPECT_EQ(o.dump_dir, "d");
}

TEST(RunOptions, ComparisonsTakeTolerancesFromTheEnd) {
  const RunOptions o =
      parse({"m.neff", "--compare", "out=a,b.npy,rtol=1e-3,atol=0.5", "--compare=y:0=f"});
  ASSERT_EQ(o.compares.size(), 2u);
  EXPECT_EQ(o.compares[0].name, "out");
  EXPECT_EQ(o.compares[0].file, "a,b.npy");
  EXPECT_EQ(o.compares[0].rtol, 1e-3);
  EXPECT_EQ(o.compares[0].atol, 0.5);
  EXPECT_EQ(o.compares[1].name, "y:0");
  EXPECT_FALSE(o.compares[1].rtol);
}

TEST(RunOptions, WrongArgumentsAreRefusedNamingTheOption) {
  const std::vector<std::pair<std::vector<std::string>, const char*>> wrong = {
      {{}, "MODEL.neff is missing"},
      {{"m", "--break=PE:1"}, "no --dump behind it"},
      {{"m", "--break=PE:1", "--break=PE:2", "--dump=var:x"}, "--break=PE:1: no --dump"},
      {{"m", "--dump=var:x"}, "a --break PLACE comes before it"},
      {{"m", "--break=XX:1", "--dump=var:x"}, "no engine \"XX\""},
      {{"m", "--break=PE:0", "--dump=var:x"}, "number from 1"},
      {{"m", "--break=PE:1", "--dump=sbuf:0:0"}, "sbuf:PARTITIONS:BYTES:DTYPE"},
      {{"m", "--break=PE:1", "--dump=../x=var:y"}, "a name consists of"},
      {{"m", "--break=PE:1", "--dump==var:y"}, "a name consists of"},
      {{"m", "--break=PE:1", "--dump=a=var:x", "--dump=a=var:y"}, "two dumps are called 'a'"},
      {{"m", "--dump-dir="}, "--dump-dir needs a value"},
      {{"m", "--compare=out"}, "expected NAME=FILE"},
      {{"m", "--compare==f"}, "expected NAME=FILE"},
      {{"m", "--compare=out="}, "names no file"},
      {{"m", "--compare=out=f,rtol=x"}, "tolerance 'x'"},
      {{"m", "--compare=out=f,rtol=-1"}, "tolerance '-1'"},
      {{"m", "--compare=out=f,atol=nan"}, "tolerance 'nan'"},
      {{"m", "--compare=out=f,atol=inf"}, "tolerance 'inf'"},
      {{"m", "--compare=out=f,rtol"}, "tolerance ''"},
      {{"m", "--compare=out=f,rtol=1,rtol=2"}, "rtol is given twice"},
      {{"m", "--executions=0"}, "--executions=0: expected a number from 1 to 100000000"},
      {{"m", "--vnc=-2"}, "--vnc=-2: expected a number from -1 to 255"},
      {{"m", "--seed=x"}, "--seed=x: expected a number from 0 to "},
      {{"m", "--fill=fives"}, "--fill=fives: expected zeros, ones, ramp or random"},
      {{"m", "-ia=zeros", "-ib=ones", "-ia=ramp"}, "input 'a' is given twice"},
      {{"m", "n"}, "unexpected argument n"},
  };
  for (const auto& [args, part] : wrong) {
    const std::string text = refusal(args);
    EXPECT_NE(text.find(part), std::string::npos)
        << (args.empty() ? "" : args.back()) << ": " << text;
  }
}

}  // namespace
}  // namespace opennrt::tools
