// SPDX-License-Identifier: Apache-2.0
//
// Programs built for another libnrt get this one: by the loader's own means, and by
// `opennrt exec` in the least intrusive way.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace opennrt {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string kPrograms = OPENNRT_DROP_IN_DIR "/";
const std::string kVendor = OPENNRT_DROP_IN_DIR "/vendor/libnrt.so.1";
const std::string kOurDirectory = fs::path(OPENNRT_LIBRARY).parent_path();
const std::string kOurs = kOurDirectory + "/libnrt.so.1";

class DropIn : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/opennrt-drop-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    directory_ = name;
  }
  void TearDown() override { fs::remove_all(directory_); }

  // variables: "NAME=value ..." Returns the exit code.
  int run(const std::string& command, const std::string& variables = "") {
    const std::string line =
        "env -u LD_LIBRARY_PATH -u LD_PRELOAD -u LD_AUDIT -u OPENNRT_CONFIG "
        "OPENNRT_DEVICE=emulator "
        "OPENNRT_EMULATOR_HBM_BYTES=256M " +
        variables + " " + command + " >" + directory_ + "/out 2>" + directory_ + "/err";
    const int status = std::system(line.c_str());
    out_ = contents("/out");
    errors_ = contents("/err");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  // What the program got; empty: it did not start.
  std::string got(const std::string& command, const std::string& variables = "") {
    if (run(command, variables) != 0) return "";
    const std::string path = out_.substr(0, out_.rfind(' '));
    std::error_code code;
    const fs::path real = fs::canonical(path, code);
    return code ? path : real.string();
  }
  std::string exec(const std::string& words) { return "'" OPENNRT_EXEC "' " + words; }
  std::string contents(const std::string& file) const {
    std::ifstream in(directory_ + file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string directory_, out_, errors_;
};

std::string real(const std::string& path) { return fs::canonical(path); }

struct Case {
  const char* program;
  const char* way;       // that exec takes
  bool by_library_path;  // LD_LIBRARY_PATH alone is enough
  bool by_preload;       // LD_PRELOAD alone is enough
};
constexpr Case kCases[] = {
    {"plain", "library-path", true, true},    {"needs_3", "library-path", true, true},
    {"rpath", "preload", false, true},        {"runpath", "library-path", true, true},
    {"absolute", "redirect", false, true},    {"ours", "nothing", true, true},
    {"opens_1", "library-path", true, true},  {"opens", "library-path", true, false},
    {"opens_path", "redirect", false, false}, {"opens_by_rpath", "redirect", false, true},
    {"opens_here", "redirect", false, false},
};

class DropInMatrix : public DropIn, public ::testing::WithParamInterface<Case> {};
INSTANTIATE_TEST_SUITE_P(All, DropInMatrix, ::testing::ValuesIn(kCases),
                         [](const auto& one) { return std::string(one.param.program); });

TEST_P(DropInMatrix, ExecTakesTheLeastThatWorks) {
  const std::string program = kPrograms + GetParam().program;
  ASSERT_EQ(run(exec("--dry-run --json " + program)), 0) << errors_;
  EXPECT_THAT(out_, HasSubstr(std::string("\"way\": \"") + GetParam().way + "\""));
  EXPECT_EQ(got(exec("-- " + program)), real(kOurs)) << out_ << errors_;
  EXPECT_THAT(out_, ::testing::EndsWith(" 0\n"));
  EXPECT_THAT(errors_, StartsWith(std::string("opennrt exec: ") + GetParam().way)) << errors_;
}

TEST_P(DropInMatrix, LoadersOwnMeans) {
  const std::string program = kPrograms + GetParam().program;
  const auto expect = [&](const std::string& variable, bool enough) {
    const std::string path = got(program, variable);
    if (enough)
      EXPECT_EQ(path, real(kOurs)) << variable << ": " << out_ << errors_;
    else
      EXPECT_NE(path, real(kOurs)) << variable;
  };
  expect("LD_LIBRARY_PATH=" + kOurDirectory, GetParam().by_library_path);
  expect("LD_PRELOAD=" + kOurs, GetParam().by_preload);
}

TEST_P(DropInMatrix, NothingIsDoneWhereNothingIsToDo) {
  if (!GetParam().by_library_path) return;
  const std::string program = kPrograms + GetParam().program;
  ASSERT_EQ(run(exec("-n " + program), "LD_LIBRARY_PATH=" + kOurDirectory), 0) << errors_;
  EXPECT_THAT(out_, StartsWith("nothing: it finds " + kOurs));
}

TEST_F(DropIn, EveryWayByName) {
  for (const char* way : {"library-path", "preload", "redirect"}) {
    EXPECT_EQ(got(exec(std::string("--how ") + way + " " + kPrograms + "plain")), real(kOurs))
        << way << errors_;
    EXPECT_THAT(errors_, StartsWith(std::string("opennrt exec: ") + way));
  }
  EXPECT_EQ(got(exec("--how=nothing " + kPrograms + "ours")), real(kOurs)) << errors_;
  // That nothing is to do is looked at.
  EXPECT_EQ(run(exec("--how=nothing " + kPrograms + "runpath")), 126);
  EXPECT_THAT(errors_, HasSubstr("cannot be made to use this library: it gets " OPENNRT_DROP_IN_DIR
                                 "/vendor/libnrt.so.1"));
  EXPECT_EQ(out_, "");
  EXPECT_EQ(run(exec("--how=nothing -n " + kPrograms + "plain")), 126);
  EXPECT_THAT(errors_, HasSubstr("libnrt.so.1 is not found"));
  EXPECT_EQ(run(exec("--how magic " + kPrograms + "plain")), 2);
  EXPECT_THAT(errors_, HasSubstr("nothing, library-path, preload or redirect"));
}

TEST_F(DropIn, ProgramsStartedByTheProgramGetItToo) {
  EXPECT_EQ(got(exec("-- sh -c " + kPrograms + "plain")), real(kOurs)) << errors_;
  EXPECT_EQ(got(exec("--how redirect -- sh -c " + kPrograms + "opens_path")), real(kOurs));
  std::ofstream(directory_ + "/script") << "#!/bin/sh\nexec " + kPrograms + "plain\n";
  fs::permissions(directory_ + "/script", fs::perms::owner_all);
  EXPECT_EQ(got(exec(directory_ + "/script")), real(kOurs)) << errors_;
}

// What was in the variables stays behind it.
TEST_F(DropIn, VariablesAreExtended) {
  ASSERT_EQ(run(exec("-n " + kPrograms + "plain"), "LD_LIBRARY_PATH=/nonexistent"), 0);
  EXPECT_THAT(out_, StartsWith("library-path: LD_LIBRARY_PATH=" + kOurDirectory + ":/nonexistent"));
  EXPECT_EQ(got(kPrograms + "plain", "LD_LIBRARY_PATH=" OPENNRT_DROP_IN_DIR "/vendor"),
            real(kVendor));
  EXPECT_EQ(got(exec(kPrograms + "plain"), "LD_LIBRARY_PATH=" OPENNRT_DROP_IN_DIR "/vendor"),
            real(kOurs));
}

// The loader says so, and goes on without.
TEST_F(DropIn, VariablesThatNameNothingAreNoObstacle) {
  for (const char* variable : {"LD_PRELOAD=/gone/x.so", "LD_AUDIT=/gone/x.so",
                               "LD_PRELOAD=/gone/x.so LD_AUDIT=/gone/x.so"})
    for (const char* program : {"plain", "rpath", "opens_1", "opens_path", "ours"}) {
      EXPECT_EQ(got(exec(kPrograms + program), variable), real(kOurs)) << program << errors_;
    }
  ASSERT_EQ(run(exec("-n " + kPrograms + "ours"), "LD_PRELOAD=/gone/x.so"), 0) << errors_;
  EXPECT_THAT(out_, StartsWith("nothing: it finds "));
  ASSERT_EQ(run(exec("-n " + kPrograms + "opens_1"), "LD_PRELOAD=/gone/x.so"), 0) << errors_;
  EXPECT_THAT(out_, StartsWith("library-path: "));
}

TEST_F(DropIn, RefusedWithAReason) {
  EXPECT_EQ(run(exec(kPrograms + "drop_in_static")), 126);
  EXPECT_THAT(errors_, HasSubstr("linked statically: it takes no library from outside"));
  EXPECT_EQ(run(exec("/nonexistent")), 127);
  EXPECT_EQ(run(exec("no-such-program-on-the-path")), 127);
  EXPECT_EQ(run(exec("")), 2);
  EXPECT_EQ(run(exec("--nonsense ls")), 2);
  EXPECT_EQ(run(exec("--json ls")), 2);
  EXPECT_EQ(run(exec("--help")), 0);
  EXPECT_THAT(out_, HasSubstr("usage: opennrt exec"));
  EXPECT_EQ(run(exec(kPrograms + "needs_9")), 126);
  EXPECT_THAT(errors_, HasSubstr("NRT_9.0.0"));
}

TEST_F(DropIn, ExitCodeAndArgumentsAreTheProgramsOwn) {
  EXPECT_EQ(run(exec("-- sh -c 'exit 7'")), 7);
  EXPECT_EQ(run(exec("-- echo --json -n 'a b'")), 0);
  EXPECT_EQ(out_, "--json -n a b\n");
}

TEST_F(DropIn, TwoCopiesInOneProcess) {
  fs::copy_file(kOurs, directory_ + "/libnrt.so.1");
  fs::create_directory_symlink(kOurDirectory + "/plugins", directory_ + "/plugins");
  ASSERT_EQ(run(kPrograms + "drop_in_two_copies " + kOurs + " " + directory_ + "/libnrt.so.1"), 0)
      << out_ << errors_;
  EXPECT_EQ(out_, "init 0, same core 1, other core 0\ncount 0 0 1\nafter close 0\n") << errors_;
}

}  // namespace
}  // namespace opennrt
