// SPDX-License-Identifier: Apache-2.0
//
// opennrt-conform-checks: the cases, in the process of the plugin under test.
// opennrt-conform starts it once per case; by hand it runs like any GoogleTest
// program, with all cases that fit the plugin.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "results.h"
#include "rules.h"
#include "subject.h"

namespace opennrt::conform {

void at(const std::string& what) { tell("at", what); }

namespace {

const char* kind_word(std::uint32_t kind) {
  switch (kind) {
    case NRTP_KIND_ARCH:
      return "arch";
    case NRTP_KIND_NDL:
      return "ndl";
    case NRTP_KIND_PORT:
      return "port";
    default:
      return "";
  }
}

// Tells the starter what gtest finds.
class Reporter : public testing::EmptyTestEventListener {
  void OnTestPartResult(const testing::TestPartResult& part) override {
    if (part.skipped()) {
      tell("skipped", part.message() != nullptr ? part.message() : "");
    } else if (part.failed()) {
      const std::string file = part.file_name() != nullptr ? part.file_name() : "";
      const std::size_t slash = file.rfind('/');
      tell("failure", file.substr(slash == file.npos ? 0 : slash + 1) + ":" +
                          std::to_string(part.line_number()) + ": " + part.message());
    }
  }
  void OnTestEnd(const testing::TestInfo& info) override {
    const testing::TestResult& result = *info.result();
    tell("end", result.Failed() ? "failed" : result.Skipped() ? "skipped" : "passed");
  }
};

// Kind and offer of the plugin. The kind first: opening it may end this process.
int describe() {
  tell("kind", kind_word(kind_by_file(subject_path())));
  const Subject& s = subject();
  tell("problem", s.problem());
  tell("kind", kind_word(s.kind()));
  tell("name", s.name());
  if (const nrtp_head* head = s.head()) {
    tell("abi", std::to_string(head->abi_major) + "." + std::to_string(head->abi_minor));
    if (head->build != nullptr) tell("build", head->build);
  }
  if (s.arch() != nullptr) tell("arch_type", std::to_string(s.arch()->arch_type));
  for (const std::string& capability : s.capabilities()) tell("has", capability);
  tell("end", "passed");
  return 0;
}

// Cases without a rule, and rules whose case does not exist. Prints them.
int check_rules() {
  int wrong = 0;
  std::string all = "\n";
  const testing::UnitTest& unit = *testing::UnitTest::GetInstance();
  for (int s = 0; s < unit.total_test_suite_count(); ++s) {
    const testing::TestSuite& suite = *unit.GetTestSuite(s);
    for (int i = 0; i < suite.total_test_count(); ++i) {
      const std::string name = std::string(suite.name()) + "." + suite.GetTestInfo(i)->name();
      all += name + "\n";
      if (rule_of(name) != nullptr) continue;
      std::printf("%s belongs to no rule\n", name.c_str());
      ++wrong;
    }
  }
  for (const Rule& rule : rules())
    for (const char* name : rule.cases)
      if (all.find("\n" + std::string(name) + "\n") == all.npos) {
        std::printf("rule %s: there is no case %s\n", rule.id, name);
        ++wrong;
      }
  std::printf("%zu rules, %d wrong\n", rules().size(), wrong);
  return wrong == 0 ? 0 : 1;
}

int run(int argc, char** argv) {
  bool described = false, checked = false;
  std::string only;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.starts_with("--plugin=")) {
      set_subject(word.substr(9));
    } else if (word.starts_with("--results=")) {
      set_nonce(word.substr(10));
    } else if (word.starts_with("--case=")) {
      only = word.substr(7);
    } else if (word == "--describe") {
      described = true;
    } else if (word == "--check-rules") {
      checked = true;
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  argv[argc] = nullptr;
  GTEST_FLAG_SET(output, "");  // meant for a test that runs this program
  testing::InitGoogleTest(&argc, argv);
  if (argc > 1) {
    std::fprintf(stderr, "opennrt-conform-checks: unknown option %s\n", argv[1]);
    return 2;
  }
  if (described) return describe();
  if (checked) return check_rules();
  if (!only.empty()) GTEST_FLAG_SET(filter, only);
  testing::UnitTest::GetInstance()->listeners().Append(new Reporter);
  return RUN_ALL_TESTS();
}

}  // namespace
}  // namespace opennrt::conform

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  // A plugin that dies is a result, not a reason for core files.
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  return opennrt::conform::run(argc, argv);
}
