// SPDX-License-Identifier: Apache-2.0
#include "command_line.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <new>

#include "base/spelling.h"
#include "output.h"

namespace opennrt::tools {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

CommandLine command_line(CommandLine::Behind behind = CommandLine::Behind::kMore) {
  return {{.command = "opennrt thing",
           .usage = "[options] FILE\n--list\n more",
           .header = "Does a thing.",
           .footer = table_text("names", {{"a", "one"}, {"long", "two"}})},
          {Option("json", "j", "for programs"), Option("range", "r", "which").argument("A:B"),
           Option("name", "n", "whose").argument("NAME").repeatable(true),
           Option("verify", "", "what").argument("LIST", false), Option("verbose", "v", "more"),
           Option("limit", "", "how many").argument("N")},
          behind};
}

Arguments parse(const Words& words) { return command_line().parse(words).value(); }

// What is wrong with the words, "" when nothing is.
template <typename Action>
std::string refusal_of(Action action) {
  try {
    action();
  } catch (const UsageError& e) {
    return e.what();
  }
  return "";
}
std::string refusal(const Words& words) {
  return refusal_of([&] { parse(words); });
}

TEST(Spelling, EditsAreLettersAndSwaps) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("run", "run"), 0u);
  EXPECT_EQ(edit_distance("rnu", "run"), 1u);
  EXPECT_EQ(edit_distance("exections", "executions"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("abcdef", "badcfe"), 3u);
}

TEST(Spelling, TheNearestNameIfOneIsNear) {
  const std::vector<std::string_view> names = {"run", "config", "ls", "doctor"};
  EXPECT_EQ(nearest_name("rnu", names), "run");
  EXPECT_EQ(nearest_name("confg", names), "config");
  EXPECT_EQ(nearest_name("dcotro", names), "doctor");
  EXPECT_EQ(nearest_name("monitor", names), "");
  EXPECT_EQ(nearest_name("xs", names), "");  // of two letters one is no slip
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name(std::string(100000, 'r'), names), "");
}

TEST(CommandLine, OptionsStandAnywhere) {
  const Arguments a = parse({"--json", "x", "--range", "1:2", "y"});
  EXPECT_EQ(a.words, (Words{"x", "y"}));
  EXPECT_TRUE(a.has("json"));
  EXPECT_EQ(a.value("range"), "1:2");
  EXPECT_FALSE(a.has("verbose"));
}

TEST(CommandLine, ValuesInEveryForm) {
  for (const Words& words : {Words{"--range=a=b"}, Words{"--range", "a=b"}, Words{"-r", "a=b"},
                             Words{"-ra=b"}, Words{"-r=a=b"}, Words{"--ran=a=b"}})
    EXPECT_EQ(parse(words).value("range"), "a=b") << words[0];
  EXPECT_EQ(parse({"--range", "-1"}).value("range"), "-1");
  EXPECT_EQ(parse({"--range", "--"}).value("range"), "--");
}

TEST(CommandLine, OrderAndRepetitionAreKept) {
  const Arguments a = parse({"--name=a", "w", "--name", "b"});
  ASSERT_EQ(a.all.size(), 3U);
  EXPECT_EQ(a.all[0].option, "name");
  EXPECT_EQ(a.all[1].option, "");
  EXPECT_EQ(a.all[1].value, "w");
  EXPECT_EQ(a.all[2].value, "b");
}

TEST(CommandLine, AnOptionalValueIsPartOfTheWord) {
  EXPECT_EQ(parse({"--verify"}).value("verify"), "");
  EXPECT_EQ(parse({"--verify=races"}).value("verify"), "races");
  EXPECT_EQ(parse({"--verify", "races"}).words, (Words{"races"}));
}

TEST(CommandLine, DashesEndTheOptions) {
  const Arguments a = parse({"x", "--", "--json", "--"});
  EXPECT_EQ(a.words, (Words{"x", "--json", "--"}));
  EXPECT_FALSE(a.has("json"));
  EXPECT_EQ(parse({"-"}).words, (Words{"-"}));
}

TEST(CommandLine, WhatBelongsToAProgramIsNotReadAsOptions) {
  const CommandLine line = command_line(CommandLine::Behind::kProgram);
  const auto a = line.parse({"--json", "ls", "--json", "-h", "--", "--odd"});
  ASSERT_TRUE(a);
  EXPECT_EQ(a->words, (Words{"ls", "--json", "-h", "--", "--odd"}));
  EXPECT_EQ(line.parse({"--", "-h"})->words, (Words{"-h"}));
}

TEST(CommandLine, WrongOnesAreNamed) {
  EXPECT_EQ(refusal({"a", "--jsn"}), "unknown option --jsn, did you mean --json?");
  EXPECT_EQ(refusal({"a", "--verfiy=x"}), "unknown option --verfiy=x, did you mean --verify?");
  EXPECT_EQ(refusal({"a", "-x"}), "unknown option -x");
  EXPECT_EQ(refusal({"a", "--odd=1"}), "unknown option --odd=1");
  EXPECT_EQ(refusal({"a", "--range"}), "--range needs a value");
  EXPECT_EQ(refusal({"a", "-r"}), "-r needs a value");
  EXPECT_EQ(refusal({"a", "--range="}), "--range needs a value");
  EXPECT_EQ(refusal({"--range", ""}), "--range needs a value");
  EXPECT_EQ(refusal({"a", "--json=1"}), "--json takes no value");
  EXPECT_EQ(refusal({"a", "-jx"}), "-j takes no value");
  EXPECT_EQ(refusal({"a", "-r="}), "-r needs a value");
  EXPECT_EQ(refusal({"a", "--json", "-j"}), "-j is given twice");
  EXPECT_EQ(refusal({"a", "--json", "--json"}), "--json is given twice");
  EXPECT_EQ(refusal({"--ver"}), "--ver is short for more than one option");
}

TEST(CommandLine, WordsAreCounted) {
  EXPECT_EQ(refusal_of([] { parse({}).only_word("FILE"); }), "FILE is missing");
  EXPECT_EQ(refusal_of([] { parse({""}).only_word("FILE"); }), "FILE is missing");
  EXPECT_EQ(refusal_of([] { parse({"a", "b"}).only_word("FILE"); }), "unexpected argument b");
  EXPECT_EQ(refusal_of([] { parse({"a"}).want_words(2, 2); }), "an argument is missing");
  EXPECT_EQ(parse({"a"}).only_word("FILE"), "a");
}

TEST(CommandLine, NumbersAreWholeAndInRange) {
  EXPECT_EQ(number_of("n", "9223372036854775807"), INT64_MAX);
  EXPECT_EQ(number_of("n", "0x10"), 16);
  EXPECT_EQ(number_of("n", "-1", -1, 255), -1);
  for (const char* text : {"", "-", "-1", "1 ", " 1", "+1", "0x", "1e3", "9223372036854775808",
                           "18446744073709551616", "--1"})
    EXPECT_EQ(refusal_of([&] { number_of("n", text); }),
              "--n=" + std::string(text) + ": expected a number from 0 on");
  EXPECT_EQ(refusal_of([] { number_of("n", "6", 1, 5); }), "--n=6: expected a number from 1 to 5");
  EXPECT_EQ(seconds_of("t", "0.5", 0.1, 10), 0.5);
  for (const char* text : {"", "x", "0.05", "11", "nan", "inf", "-1", "1s"})
    EXPECT_EQ(refusal_of([&] { seconds_of("t", text, 0.1, 10); }),
              "--t=" + std::string(text) + ": expected 0.1 to 10 seconds");
}

TEST(CommandLine, HelpHasFormsOptionsAndNoBlanksAtItsEnds) {
  const std::string text = command_line().help_text();
  EXPECT_THAT(text, StartsWith("usage: opennrt thing [options] FILE\n"
                               "       opennrt thing --list\n"
                               "                     more\n"
                               "Does a thing.\n\n"));
  EXPECT_THAT(text, HasSubstr("\n-h, --help "));
  EXPECT_THAT(text, HasSubstr("\n-rA:B, --range=A:B "));
  EXPECT_THAT(text, HasSubstr("\nnames:\n  a     one\n  long  two\n"));
  EXPECT_EQ(text.find(" \n"), std::string::npos);
  for (const Words& words : {Words{"--help"}, Words{"-h"}, Words{"--json", "--help", "--odd"}})
    EXPECT_FALSE(command_line().parse(words));
}

int ran(const Words& words, const std::function<int(const Arguments&)>& body) {
  return command_line().run(words, body);
}

TEST(CommandLine, ExitCodesAndMessages) {
  const auto said = [] { return ::testing::internal::GetCapturedStderr(); };
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(ran({}, [](const Arguments&) { return 0; }), kDone);
  EXPECT_EQ(ran({}, [](const Arguments&) { return 7; }), 7);
  EXPECT_EQ(said(), "");
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(ran({}, [](const Arguments&) -> int { throw std::runtime_error("no"); }), kFailed);
  EXPECT_EQ(ran({}, [](const Arguments&) -> int { throw std::bad_alloc(); }), kFailed);
  EXPECT_EQ(said(), "opennrt thing: no\nopennrt thing: no memory left\n");
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(ran({}, [](const Arguments&) -> int { throw UsageError("so not"); }), kBadUsage);
  EXPECT_THAT(said(), StartsWith("opennrt thing: so not\nusage: opennrt thing [options] FILE\n"));
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(ran({"--odd"}, [](const Arguments&) { return 0; }), kBadUsage);
  EXPECT_THAT(said(), HasSubstr("(opennrt thing --help says more)\n"));
  const CommandLine other({.command = "x", .usage = "", .trouble = 2}, {});
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(other.run({}, [](const Arguments&) -> int { throw std::runtime_error("no"); }), 2);
  said();
}

// In a process of its own, as the failure stays. nullptr: a pipe that nobody reads.
int with_output(const char* file, const std::function<int()>& action) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    ignore_closed_pipes();
    int ends[2] = {-1, -1};
    if (file != nullptr) {
      ends[1] = ::open(file, O_WRONLY);
    } else if (::pipe(ends) == 0) {
      ::close(ends[0]);
    }
    ::dup2(ends[1], STDOUT_FILENO);
    ::_exit(action());
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(Output, WhatDoesNotArriveFails) {
  const auto text = [](int code) {
    return [code] {
      print("text\n");
      return finish_output("opennrt thing", code);
    };
  };
  EXPECT_EQ(with_output("/dev/null", text(0)), 0);
  EXPECT_EQ(with_output("/dev/full", text(0)), 1);
  EXPECT_EQ(with_output("/dev/full", text(126)), 126);
  EXPECT_EQ(with_output(nullptr, text(0)), 1);
  EXPECT_EQ(with_output("/dev/full",
                        [] {
                          print(std::string(1 << 20, 'x'));
                          return finish_output("opennrt thing", 1, 2);
                        }),
            2);
  EXPECT_EQ(with_output("/dev/full", [] { return command_line().run({"--help"}, nullptr); }), 1);
  EXPECT_EQ(with_output("/dev/full", [] { return finish_output("opennrt thing", 0); }), 0);
}

TEST(Output, AReaderThatLeavesIsAnEnd) {
  const auto now = [] {
    const Written written = print_now("text\n");
    return finish_output("opennrt thing", written == Written::kReaderGone ? 0 : 5);
  };
  EXPECT_EQ(with_output(nullptr, now), 0);
  EXPECT_EQ(with_output("/dev/full", now), 5);
}

}  // namespace
}  // namespace opennrt::tools
