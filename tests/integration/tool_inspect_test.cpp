// SPDX-License-Identifier: Apache-2.0
//
// opennrt run --verify, --break, --dump and --compare, and what a deadlock is
// called, as processes on models made from sdk/examples/vecadd.yaml.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

namespace opennrt {
namespace {

namespace fs = std::filesystem;

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A .npy file of format version 1.
void write_npy(const std::string& path, const std::string& descr, const std::string& shape,
               const std::string& data) {
  std::string text = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
  text.append(64 - (10 + text.size() + 1) % 64, ' ');
  text += '\n';
  std::ofstream out(path, std::ios::binary);
  out << std::string("\x93NUMPY\x01\0", 8) << static_cast<char>(text.size() & 0xFF)
      << static_cast<char>(text.size() >> 8) << text << data;
}

std::string floats(std::size_t n, float value) {
  std::string bytes(n * 4, '\0');
  for (std::size_t i = 0; i < n; ++i) std::memcpy(bytes.data() + i * 4, &value, 4);
  return bytes;
}

class ToolInspect : public ::testing::Test {
 protected:
  static constexpr std::size_t kElements = 256000;

  void SetUp() override {
    char name[] = "/tmp/opennrt-inspect-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    dir_ = name;
  }
  void TearDown() override { fs::remove_all(dir_); }

  int execute(const std::string& command) {
    const int status = std::system((command + " >" + dir_ + "/out 2>" + dir_ + "/err").c_str());
    out_ = contents(dir_ + "/out");
    err_ = contents(dir_ + "/err");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  // The example, with `from` replaced by `to`.
  std::string model(const std::string& from = "", const std::string& to = "") {
    std::string text = contents(OPENNRT_EXAMPLE);
    if (!from.empty()) {
      const std::size_t at = text.find(from);
      EXPECT_NE(at, std::string::npos) << from;
      if (at != std::string::npos) text.replace(at, from.size(), to);
    }
    std::ofstream(dir_ + "/m.yaml") << text;
    const std::string neff = dir_ + "/m.neff";
    EXPECT_EQ(execute("'" OPENNRT_NEFF_TOOL "' build " + dir_ + "/m.yaml " + neff), 0) << err_;
    return neff;
  }
  int run(const std::string& arguments) {
    return execute("env OPENNRT_DEVICE=emulator '" OPENNRT_TOOL "' run " + arguments);
  }
  bool said(const std::string& part) const { return (out_ + err_).find(part) != std::string::npos; }
  std::string dir_, out_, err_;
};

#define EXPECT_SAID(part) EXPECT_TRUE(said(part)) << out_ << err_

TEST_F(ToolInspect, AGoodProgramHasNoFindings) {
  const std::string neff = model();
  ASSERT_EQ(run(neff + " --verify=poison,races,coverage,bounds"), 0) << err_;
  EXPECT_NE(out_.find("verify: no findings\n"), std::string::npos) << out_;
  ASSERT_EQ(run(neff + " --verify=none"), 0);
  EXPECT_EQ(out_.find("verify"), std::string::npos) << out_;
  ASSERT_EQ(run(neff), 0);
  EXPECT_EQ(out_.find("verify"), std::string::npos) << out_;
}

TEST_F(ToolInspect, NothingIsSaidOfAProgramThatDidNotRun) {
  const std::string neff = dir_ + "/damaged.neff";
  std::string bytes = contents(model());
  bytes.resize(bytes.size() / 2);
  std::ofstream(neff, std::ios::binary) << bytes;
  EXPECT_EQ(run(neff + " --verify"), 1);
  EXPECT_FALSE(said("no findings")) << out_;
}

TEST_F(ToolInspect, AMissingWaitIsFound) {
  // The first addition no longer waits for its second operand.
  const std::string neff =
      model("TENSOR_TENSOR_ARITH_OP wait=SEM_GE_IMM(9) update=SEM_INC_COMPLETE(6) value=16",
            "TENSOR_TENSOR_ARITH_OP update=SEM_INC_COMPLETE(6)");
  EXPECT_EQ(run(neff + " --verify=races"), 1);
  EXPECT_SAID("verify: ");
  EXPECT_SAID(" finding");
  EXPECT_FALSE(said("verify: no findings")) << out_;
}

TEST_F(ToolInspect, DumpsAreTakenAfterTheRecordAndCompared) {
  const std::string neff = model();
  write_npy(dir_ + "/two.npy", "<f4", "(4, 1000)", floats(4000, 2));
  write_npy(dir_ + "/sum.npy", "<f4", "(256000,)", floats(kElements, 2));
  // DVE record 3 adds the first tile: bytes 16000 to 19999 of each partition.
  ASSERT_EQ(run(neff + " --fill ones --dump-dir " + dir_ +
                "/d --break DVE:3 --dump tile=sbuf:8-11:16000+4000:float32 --dump var:a:float32"
                " --break sg00/POOL:4@2 --dump o=var:out:float32 -n 2 --compare tile=" +
                dir_ + "/two.npy --compare out=" + dir_ + "/sum.npy --compare o=" + dir_ +
                "/sum.npy --verify=bounds"),
            0)
      << out_ << err_;
  const std::string tile = contents(dir_ + "/d/tile.npy");
  EXPECT_NE(tile.find("'<f4'"), std::string::npos);
  EXPECT_NE(tile.find("(4, 1000)"), std::string::npos);
  EXPECT_EQ(tile.substr(tile.size() - 16000), floats(4000, 2));
  const std::string a = contents(dir_ + "/d/DVE_3.var_a_float32.npy");
  ASSERT_GT(a.size(), kElements * 4);
  EXPECT_EQ(a.substr(a.size() - kElements * 4), floats(kElements, 1));
  EXPECT_SAID("compare tile: match, 0 of 4000 elements differ");
  EXPECT_SAID("compare out: match, 0 of 256000 elements differ");
  EXPECT_SAID("compare o: match");
  EXPECT_SAID("verify: no findings");
}

// Without a type a dump of an input or output has the tensor's, and can be given
// back as an input or compared.
TEST_F(ToolInspect, DumpsOfTensorsHaveTheirFormAndAreTakenBack) {
  const std::string neff = model();
  ASSERT_EQ(run(neff + " --fill ones --dump-dir " + dir_ +
                " --break POOL:4 --dump a=var:a --dump o=var:out"),
            0)
      << out_ << err_;
  EXPECT_NE(contents(dir_ + "/a.npy").find("'<f4'"), std::string::npos);
  EXPECT_NE(contents(dir_ + "/a.npy").find("(256000,"), std::string::npos);
  ASSERT_EQ(run(neff + " -i a=" + dir_ + "/a.npy --fill ones --compare out=" + dir_ + "/o.npy"), 0)
      << out_ << err_;
  EXPECT_SAID("compare out: match, 0 of 256000");
  // A dump of this run is there only after it.
  ASSERT_EQ(run(neff + " --fill ones --dump-dir " + dir_ +
                "/new --break POOL:4 --dump o=var:out --compare out=" + dir_ +
                "/new/o.npy --compare o=" + dir_ + "/o.npy"),
            0)
      << out_ << err_;
  EXPECT_SAID("compare out: match");
  EXPECT_SAID("compare o: match");
}

TEST_F(ToolInspect, InputsOfAnotherTypeOrShapeAreRefused) {
  const std::string neff = model();
  write_npy(dir_ + "/i.npy", "<i4", "(256000,)", floats(kElements, 1));
  EXPECT_EQ(run(neff + " -i a=" + dir_ + "/i.npy"), 1);
  EXPECT_SAID("input a: " + dir_ + "/i.npy: elements are <i4, the tensor is float32: expected <f4");
  write_npy(dir_ + "/s.npy", "<f4", "(256, 1000)", floats(kElements, 1));
  EXPECT_EQ(run(neff + " -i a=" + dir_ + "/s.npy"), 1);
  EXPECT_SAID("the shape is (256, 1000), the tensor's is (256000,)");
  std::ofstream(dir_ + "/raw", std::ios::binary) << floats(kElements, 1);
  EXPECT_EQ(run(neff + " -i a=" + dir_ + "/raw"), 0) << err_;
}

TEST_F(ToolInspect, PipesAndDevicesAreNotWaitedFor) {
  const std::string neff = model(), fifo = dir_ + "/fifo", said_of_it = fifo + ": is a pipe";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(run(fifo), 1);
  EXPECT_SAID(said_of_it);
  EXPECT_EQ(run("/dev/zero"), 1);
  EXPECT_SAID("/dev/zero: is a device");
  EXPECT_EQ(run(neff + " -i a=" + fifo), 1);
  EXPECT_SAID("input a: " + said_of_it);
  EXPECT_EQ(run(neff + " --compare out=" + fifo), 1);
  EXPECT_SAID("--compare: out: " + said_of_it);
  EXPECT_EQ(run(neff + " --break PE:1 --dump x=var:a --compare x=" + fifo), 1);
  EXPECT_SAID("--compare: x: " + said_of_it);
  EXPECT_EQ(execute("'" OPENNRT_NEFF_TOOL "' info " + fifo), 1);
  EXPECT_SAID(said_of_it);
}

// A reference that cannot be compared costs no execution, and the outputs of this
// run do not take its place.
TEST_F(ToolInspect, ReferencesAreReadBeforeTheRun) {
  const std::string neff = model();
  write_npy(dir_ + "/i.npy", "<i4", "(256000,)", floats(kElements, 1));
  EXPECT_EQ(run(neff + " --compare out=" + dir_ + "/i.npy"), 1);
  EXPECT_SAID("--compare: out: " + dir_ + "/i.npy: elements are <i4");
  EXPECT_FALSE(said("latency us")) << out_;
  EXPECT_EQ(run(neff + " --break PE:1 --dump x=var:a --compare x=/no/such.npy"), 1);
  EXPECT_SAID("/no/such.npy: No such file");
  EXPECT_FALSE(said("latency us")) << out_;
  write_npy(dir_ + "/out.npy", "<f4", "(256000,)", floats(kElements, 7));
  EXPECT_EQ(run(neff + " --fill ones -o " + dir_ + " --compare out=" + dir_ + "/out.npy"), 1);
  EXPECT_SAID("compare out: MISMATCH, 256000 of 256000");
}

TEST_F(ToolInspect, RawDumpsHoldTheBytesAlone) {
  ASSERT_EQ(run(model() + " --fill ones --raw --dump-dir " + dir_ +
                " --break DVE:3 --dump t=sbuf:0:16000+8:float32"),
            0)
      << err_;
  EXPECT_EQ(contents(dir_ + "/t.bin"), floats(2, 2));
}

TEST_F(ToolInspect, BreaksThatAreNotReachedAreTold) {
  const std::string neff = model();
  std::ofstream(dir_ + "/x.npy") << "of an earlier run";
  EXPECT_EQ(run(neff + " --dump-dir " + dir_ +
                " --break PE:99 --dump x=sbuf:0:0:uint8 --break PE:1@2 --dump y=sbuf:0:0:uint8"
                " --break PE:1 --dump z=var:nothing"),
            1);
  EXPECT_SAID("--break=PE:99 --dump=sbuf:0:0:uint8: never reached: no loaded program has this");
  EXPECT_SAID("--break=PE:1@2 --dump=sbuf:0:0:uint8: never reached: the program never got there");
  EXPECT_SAID("--break=PE:1 --dump=var:nothing: not written: no variable 'nothing'");
  EXPECT_FALSE(fs::exists(dir_ + "/x.npy"));
}

TEST_F(ToolInspect, MismatchesNamePlaceAndValues) {
  std::string values = floats(kElements, 2);
  const float wrong = 5, nan = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(values.data() + 4 * 17, &wrong, 4);
  std::memcpy(values.data() + 4 * 99, &nan, 4);
  write_npy(dir_ + "/r.npy", "<f4", "(256000,)", values);
  const std::string neff = model();
  EXPECT_EQ(run(neff + " --fill ones --compare out=" + dir_ + "/r.npy"), 1);
  EXPECT_SAID("compare out: MISMATCH, 2 of 256000 elements differ");
  EXPECT_SAID("max abs error 3, max rel error 0.6; 1 with NaN or infinity on one side only");
  EXPECT_SAID("first at 17: 2, reference 5");
  EXPECT_SAID("worst at 99: 2, reference nan");
  EXPECT_EQ(run(neff + " --fill ones --compare out=" + dir_ + "/r.npy,atol=3"), 1);
  EXPECT_SAID("MISMATCH, 1 of 256000");
}

TEST_F(ToolInspect, WrongArgumentsAreBadUsage) {
  const std::string neff = model();
  EXPECT_EQ(run(neff + " --verify=everything"), 2);
  EXPECT_SAID("\"everything\" is not a check");
  EXPECT_EQ(run(neff + " --compare nothing=" + dir_ + "/m.yaml"), 2);
  EXPECT_SAID("no output and the command no dump named 'nothing'");
  EXPECT_EQ(run(neff + " --input c=ones"), 2);
  EXPECT_SAID("the model has no input named 'c'; its inputs are a, b");
  EXPECT_EQ(run(neff + " --device kernel --verify"), 2);
  EXPECT_SAID("need the software device");
  EXPECT_EQ(run(neff + " --compare out=/no/such/file.npy"), 1);
  EXPECT_SAID("/no/such/file.npy: No such file");
  EXPECT_EQ(run(neff + " --break PE:1 --dump var:a --dump-dir " + dir_ + "/m.yaml/x"), 1);
  EXPECT_SAID("--dump-dir=");
}

TEST_F(ToolInspect, ASettingThatIsNoDumpFailsTheStart) {
  const std::string neff = model();
  EXPECT_EQ(execute("env OPENNRT_DEVICE=emulator OPENNRT_EMULATOR_INSPECT='nonsense' '" OPENNRT_TOOL
                    "' run " +
                    neff),
            1);
  EXPECT_SAID("emulator.inspect: \"nonsense\"; expected BREAK DUMP FILE");
}

// The first addition waits for the first store, which waits for the addition.
TEST_F(ToolInspect, ADeadlockIsToldAtOnceWithTheInstructionsThatWait) {
  const std::string neff =
      model("- NOP wait=SEM_GE_IMM(8) value=16", "- NOP wait=SEM_GE_IMM(12) value=16");
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(run(neff), 1);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));  // timeout: 30 s
  EXPECT_SAID("NRT_TIMEOUT");
  EXPECT_SAID("deadlock: ");
  EXPECT_SAID("DVE at image slot ");
  EXPECT_SAID("sg00/DVE.bin instruction 2 waits (mode ");
  EXPECT_SAID("for semaphore 12 >= 16 (value 0)");
  // Instruction 2 of POOL is a pseudo-instruction: the place in the model counts.
  EXPECT_SAID("sg00/Pool.bin instruction 2 waits (mode ");
  EXPECT_SAID("for semaphore 6 >= 1 (value 0)");
}

TEST_F(ToolInspect, TheInstructionTable) {
  ASSERT_EQ(execute("'" OPENNRT_TOOL "' isa --summary"), 0) << err_;
  unsigned executes = 0, all = 0, decodes = 0;
  int end = 0;
  ASSERT_EQ(std::sscanf(out_.c_str(), "%u of %u opcodes execute, %u only decode\n%n", &executes,
                        &all, &decodes, &end),
            3)
      << out_;
  EXPECT_EQ(static_cast<std::size_t>(end), out_.size());
  EXPECT_EQ(executes + decodes, all);
  ASSERT_EQ(execute("'" OPENNRT_TOOL "' isa"), 0);
  EXPECT_SAID("TENSOR_TENSOR_ARITH_OP");
  ASSERT_EQ(execute("'" OPENNRT_TOOL "' isa --json"), 0);
  EXPECT_SAID("\"name\": \"MATMUL\"");
  ASSERT_EQ(execute("'" OPENNRT_TOOL "' isa --markdown"), 0);
  EXPECT_SAID("| 0x02 | MATMUL |");
  EXPECT_EQ(execute("'" OPENNRT_TOOL "' isa --nonsense"), 2);
  EXPECT_EQ(execute("'" OPENNRT_TOOL "' isa --json --summary"), 2);
  EXPECT_EQ(execute("'" OPENNRT_TOOL "' isa --help"), 0);
}

}  // namespace
}  // namespace opennrt
