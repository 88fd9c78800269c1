// SPDX-License-Identifier: Apache-2.0
//
// opennrt conform as a process: over plugins that conform, over some that crash, hang,
// exit and print, and over files that are no plugin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace opennrt {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class ToolConform : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/opennrt-conform-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    directory_ = name;
  }
  void TearDown() override { fs::remove_all(directory_); }

  int run(const std::string& command) {
    const std::string line = "cd " + directory_ +
                             " && env -u OPENNRT_CONFIG -u OPENNRT_PLUGIN_PATH " + command + " >" +
                             directory_ + "/out 2>" + directory_ + "/err";
    const int status = std::system(line.c_str());
    out_ = contents("out");
    errors_ = contents("err");
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  int conform(const std::string& words) { return run("'" OPENNRT_CONFORM "' " + words); }
  std::string contents(const std::string& file) const {
    std::ifstream in(directory_ + "/" + file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  // Statements over the report r.json as `r` and its cases by name as `c`, and r.xml as
  // `x`; the last one is an expression to print.
  std::string report(const std::string& statements) {
    std::ofstream(directory_ + "/look.py")
        << "import json, os, xml.etree.ElementTree as E\n"
           "r = json.load(open('r.json'))\n"
           "c = {case['name']: case for case in r['cases']}\n"
           "x = E.parse('r.xml').getroot() if os.path.exists('r.xml') else None\n"
           "print("
        << statements << ")\n";
    EXPECT_EQ(run(OPENNRT_PYTHON " look.py"), 0) << errors_;
    if (!out_.empty() && out_.back() == '\n') out_.pop_back();
    return out_;
  }
  static std::string built(const std::string& plugin) {
    return OPENNRT_LIB_DIR "/plugins/opennrt-" + plugin + ".so";
  }
  static std::string with(const std::string& twin) {
    return OPENNRT_DOUBLES_DIR "/double-" + twin + ".so";
  }
  std::string directory_, out_, errors_;
};

TEST_F(ToolConform, BuiltInPluginsPassQuick) {
  for (const std::string plugin : {"sunda", "ndl-kernel", "emulator"}) {
    EXPECT_EQ(run("'" OPENNRT_TOOL "' conform --time-limit 120 --json r.json --junit r.xml " +
                  built(plugin)),
              0)
        << out_ << errors_;
    EXPECT_THAT(out_, ContainsRegex("[1-9][0-9]+ passed, 0 failed, 0 crashed, 0 hung, 0 exited"));
    EXPECT_EQ(report("r['plugin']['name'], r['list'], r['failed'], r['passed'] > 15"),
              plugin + " quick 0 True");
    EXPECT_EQ(report("r['passed'] + r['skipped'] == len(r['cases']) == int(x.get('tests')), "
                     "len(x.findall('.//testcase')) == len(c), x.get('failures'), "
                     "x.get('errors'), all(case['must'] for case in r['cases'])"),
              "True True 0 0 True");
  }
}

TEST_F(ToolConform, WhatIsNotOfferedIsSkippedAndNamed) {
  EXPECT_EQ(conform("--filter arch.semantics.refuses,any.head.name --verbose " + built("sunda")),
            0);
  EXPECT_THAT(out_,
              AllOf(HasSubstr("passed  Head.NameIsAWord"), HasSubstr("not offered: semantics (1)"),
                    HasSubstr("1 passed"), HasSubstr("1 skipped")));
}

TEST_F(ToolConform, EachWayToMisbehaveFailsItsCaseByName) {
  EXPECT_EQ(
      conform("--full --time-limit 5 --json r.json --junit r.xml " + with("port-misbehaving")), 1);
  const std::string text = out_;
  EXPECT_THAT(text, AllOf(HasSubstr("crashed  PortTime.NeverGoesBack: SIGABRT"),
                          HasSubstr("hung  PortTime.SleepsEnd: did not end in 5 s"),
                          HasSubstr("exited  PortFiles.MissingNodesAreErrors: the process exited "
                                    "with code 0 in the case"),
                          HasSubstr("rule port.time.monotonic: the clock never goes back"),
                          HasSubstr("failed  PortFiles.BadDescriptorsAreErrors")));
  EXPECT_EQ(report("c['PortTime.NeverGoesBack']['status'], c['PortTime.SleepsEnd']['status'], "
                   "c['PortFiles.MissingNodesAreErrors']['status'], "
                   "c['PortFiles.BadDescriptorsAreErrors']['status'], "
                   "c['PortControl.UnknownCommandsAreRefusedAndRepliesAreCut']['status'], "
                   "c['PortTable.EveryMandatoryFunctionIsThere']['status'], "
                   "c['Head.RuntimeAcceptsTheTable']['status']"),
            "crashed hung exited failed failed passed passed");
  // All that was planned is in it, and what was printed without end is cut.
  EXPECT_EQ(report("sum(r[k] for k in ('passed', 'failed', 'crashed', 'hung', 'exited', "
                   "'skipped')) == len(c) == len(x.findall('.//testcase')), "
                   "20000 < len(c['PortFiles.BadDescriptorsAreErrors']['output']) < 200000, "
                   "len(x.findall('.//error')) == r['crashed'] + r['hung'] + r['exited'], "
                   "len(x.findall('.//failure')) == r['failed']"),
            "True True True True");
  const std::string planned = report("len(c)");
  EXPECT_EQ(conform("--full --list " + with("port-misbehaving")), 0) << errors_;
  EXPECT_EQ(std::to_string(std::count(out_.begin(), out_.end(), '\n')), planned);
}

TEST_F(ToolConform, DyingWhenItIsOpenedLeavesAReport) {
  EXPECT_EQ(conform("--json r.json --junit r.xml " + with("port-crashes-on-load")), 1);
  EXPECT_THAT(out_, AllOf(HasSubstr("crashed  Load.OpensAndDescribesItself: SIGABRT (opening the "
                                    "library)"),
                          HasSubstr("SIGABRT while opening the library")));
  EXPECT_EQ(report("r['plugin']['kind'], r['crashed'], r['skipped'] == len(c) - 1 > 10, "
                   "'PortTime.SleepsEnd' in c"),
            "port 1 True True");
  EXPECT_EQ(conform("--time-limit 1 " + with("port-hangs-on-load")), 1);
  EXPECT_THAT(out_, HasSubstr("hung  Load.OpensAndDescribesItself"));
  // Nothing that fits the filter runs, and that is no success.
  EXPECT_EQ(conform("--filter 'Port*' " + with("port-crashes-on-load")), 1);
}

TEST_F(ToolConform, PluginsThatTheLoaderRefuses) {
  for (const auto& [twin, name] :
       {std::pair{"ndl-missing-member", "Head.RuntimeAcceptsTheTable"},
        {"ndl-wrong-magic", "Head.MagicKindAndMajor"},
        {"ndl-wrong-kind", "Head.MagicKindAndMajor"},
        {"ndl-truncated-table", "Head.SizeIsAtLeastThatOfTheFirstVersion"},
        {"ndl-other-major", "Head.MagicKindAndMajor"},
        {"ndl-needs-newer-host", "Head.NeedsNoMoreThanTheHostHas"},
        {"ndl-needs-feature", "Head.NeedsNoMoreThanTheHostHas"},
        {"ndl-other-sanitizer", "Head.BuildNamesSanitizerAndVersion"},
        {"ndl-no-symbol", "Load.OpensAndDescribesItself"},
        {"ndl-unbound", "Load.OpensAndDescribesItself"},
        {"ndl-throwing", "Load.OpensAndDescribesItself"},
        {"ndl-null", "Load.OpensAndDescribesItself"},
        {"arch-no-classify", "ArchGroups.EveryFunctionIsThere"}}) {
    EXPECT_EQ(conform("--filter 'Load*,Head*,ArchGroups*' " + with(twin)), 1) << twin;
    EXPECT_THAT(out_, ContainsRegex("(failed|crashed)  " + std::string(name))) << twin;
  }
  EXPECT_EQ(conform("--filter 'Load*,Query*,Head*' " + with("ndl-newer-minor")), 0) << out_;
}

TEST_F(ToolConform, FilesThatAreNoPlugin) {
  std::ofstream(directory_ + "/text.so") << "no library\n";
  std::ofstream(directory_ + "/empty.so");
  for (const auto& [file, reason] : {std::pair{"text.so", "not a shared library"},
                                     {"empty.so", "not a shared library"},
                                     {".", "not a regular file"},
                                     {"missing.so", "No such file or directory"}}) {
    fs::remove(directory_ + "/r.json");
    EXPECT_EQ(conform(std::string("--json r.json ") + file), 1) << file;
    EXPECT_THAT(out_,
                ContainsRegex(std::string("failed  Load.OpensAndDescribesItself: [^\n]*") + reason))
        << file;
    EXPECT_EQ(report("r['failed'], r['plugin']['kind']"), "1 ") << file;
  }
  EXPECT_EQ(conform("/lib/x86_64-linux-gnu/libm.so.6"), 1);
  EXPECT_THAT(out_, HasSubstr("has none of nrtp_arch_query, nrtp_ndl_query, nrtp_port_query"));
}

TEST_F(ToolConform, ReportsThatCannotBeWritten) {
  const std::string plugin = " --filter Load.OpensAndDescribesItself " + built("sunda");
  EXPECT_EQ(conform("--json none/r.json" + plugin), 1);
  EXPECT_THAT(errors_, HasSubstr("none/r.json: No such file or directory"));
  EXPECT_THAT(out_, IsEmpty());  // no case has run
  EXPECT_EQ(conform("--junit ." + plugin), 1);
  EXPECT_THAT(errors_, HasSubstr(".: Is a directory"));
  EXPECT_EQ(conform("--json /dev/full" + plugin), 1);
  EXPECT_THAT(errors_, HasSubstr("/dev/full: No space left on device"));
  EXPECT_EQ(run("sh -c \"exec '" OPENNRT_CONFORM "'" + plugin + " >/dev/full\""), 1);
  EXPECT_THAT(errors_, HasSubstr("standard output: cannot write"));
  // On standard output the report has it to itself.
  EXPECT_EQ(conform("--json -" + plugin), 0);
  EXPECT_EQ(out_.substr(0, 10), "{\"plugin\":");
  EXPECT_THAT(errors_, HasSubstr("1 passed"));
}

TEST_F(ToolConform, WrongUsage) {
  for (const char* words :
       {"", "--none", "a.so b.so", "--time-limit 0 a.so", "--time-limit soon a.so",
        "--time-limit -1 a.so", "--json - --junit - a.so", "--json"})
    EXPECT_EQ(conform(words), 2) << words;
  EXPECT_EQ(conform("--filter 'Nothing*' " + built("sunda")), 2);
  EXPECT_THAT(errors_, HasSubstr("no case fits --filter Nothing*"));
}

TEST_F(ToolConform, RulesAndCasesAreListedWithoutAPlugin) {
  EXPECT_EQ(conform("--rules"), 0);
  EXPECT_THAT(out_, AllOf(HasSubstr("| `any.load.opens` |"), HasSubstr("`ndl.fork.refused`"),
                          HasSubstr("| `arch.semantics.refuses` (semantics) |")));
  EXPECT_EQ(conform("--list"), 0);
  EXPECT_THAT(out_, AllOf(HasSubstr("PortTime.SleepsEnd  port.time.monotonic  quick\n"),
                          HasSubstr("ArchValidator.AnyBytesGiveAnAnswer")));
  EXPECT_EQ(conform("--help"), 0);
  EXPECT_THAT(out_, HasSubstr("--time-limit"));
}

// The command is in one package, this part of it in another.
TEST_F(ToolConform, CommandWithoutTheKitSaysWhichPackage) {
  fs::copy_file(OPENNRT_TOOL, directory_ + "/opennrt");
  EXPECT_EQ(run("LD_LIBRARY_PATH='" OPENNRT_LIB_DIR "' PATH=/none ./opennrt conform a.so"), 1);
  EXPECT_THAT(errors_,
              HasSubstr("'conform' is in the package opennrt-dev, which is not installed"));
}

}  // namespace
}  // namespace opennrt
