// SPDX-License-Identifier: Apache-2.0
#include "top/screen.h"

#include <simdjson.h>

#include "lab.h"

namespace opennrt::tools::test {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

std::string joined(const std::vector<ScreenLine>& lines) {
  std::string out;
  for (const ScreenLine& line : lines) out += line.text + "\n";
  return out;
}

// A machine with processes 100, 101, ... that have executed 10, 20, ... times.
struct Busy {
  Sample before, now;
  Busy(std::uint32_t devices, std::uint32_t cores, std::uint32_t processes) {
    before = machine(devices, cores);
    now = before;
    now.at_s += 1;
    for (std::uint32_t i = 0; i < processes; ++i) {
      add_process(&now, 100 + i, i % devices);
      nds::StoreReading& s = store(&now, i);
      execute(&s, i / devices % cores, 10 * (i + 1), 10'000);
      s.models = {model(10000 + i, i / devices % cores)};
      s.cores[i / devices % cores][nds::kDeviceMemory] = (100 - i) * 1024 * 1024;
    }
  }
  PeriodFigures figures() const { return figures_of(&before, now); }
};

void expect_fits(const Busy& busy, std::size_t columns, std::size_t rows) {
  SCOPED_TRACE(std::to_string(columns) + "x" + std::to_string(rows));
  const Look look{.columns = columns, .rows = rows};
  const auto lines = screen_of(busy.now, busy.figures(), look);
  EXPECT_LE(lines.size(), rows);
  EXPECT_FALSE(lines.empty());
  for (const ScreenLine& line : lines) {
    EXPECT_LE(line.text.size(), columns);
    for (const char c : line.text) EXPECT_TRUE(c >= ' ' && c < 0x7F) << line.text;
  }
}

TEST(Screen, FitsWhateverTheSize) {
  for (const auto& [devices, cores, processes] :
       {std::tuple{1u, 2u, 0u}, std::tuple{1u, 2u, 2u}, std::tuple{16u, 8u, 60u}}) {
    const Busy busy(devices, cores, processes);
    for (const std::size_t columns : {1u, 5u, 20u, 40u, 80u, 132u, 300u})
      for (const std::size_t rows : {1u, 2u, 5u, 10u, 24u, 50u, 200u})
        expect_fits(busy, columns, rows);
  }
  EXPECT_TRUE(screen_of(machine(1, 1), PeriodFigures(), {.columns = 80, .rows = 0}).empty());
}

TEST(Screen, EightyByTwentyFour) {
  const Busy busy(1, 2, 2);
  const auto lines = screen_of(busy.now, busy.figures(), Look());
  const std::string text = joined(lines);
  EXPECT_THAT(text, HasSubstr("trn1.32xlarge, driver 2.27.4.0, kernel\n"));
  EXPECT_THAT(text, HasSubstr("\n1 devices, 2 processes, 2 models, 30.0 executions/s\n"));
  EXPECT_THAT(text, HasSubstr("     0 Trainium1    sunda         2         1.0 KiB / 32.0 GiB\n"));
  EXPECT_THAT(text, HasSubstr("   0 [#.........]  10.0%    1 [##........]  20.0%\n"));
  EXPECT_THAT(text,
              ContainsRegex("\n    101 1 +20\\.0 +20 +0 +10\\.50 +99\\.0M +0B +- python3 ser\n"));
  EXPECT_LT(text.find("\n    101 1"), text.find("\n    100 0"));  // more executions
  EXPECT_THAT(text, ContainsRegex("\n    101   10001 1 +0B +0B net\n"));
  EXPECT_EQ(lines.back().text, "q quit   s sort   p pause   every 1 s, by executions");
  EXPECT_TRUE(lines.back().heading);
}

TEST(Screen, ManyCoresAreACharacterEach) {
  Busy busy(16, 8, 1);
  busy.now.machine.devices[0].cores[3].holder = Holder{.pid = 9, .command = "", .state = ""};
  execute(&store(&busy.now), 0, 100, 10'000);  // more than all of the second
  const std::string text = joined(screen_of(busy.now, busy.figures(), Look()));
  EXPECT_THAT(text, HasSubstr("\n   0 *--?" + std::string(70, '-') + "\n"));
  EXPECT_THAT(text, HasSubstr("\n  74 " + std::string(54, '-') + "\n"));
}

TEST(Screen, WhatIsLeftOutIsCounted) {
  const Busy busy(16, 8, 60);
  const auto lines = screen_of(busy.now, busy.figures(), Look());
  const std::string text = joined(lines);
  EXPECT_EQ(lines.size(), 24u);
  EXPECT_THAT(text, ContainsRegex("\n +13 more devices\n"));
  EXPECT_THAT(text, ContainsRegex("\n +[0-9]+ more processes\n"));
  EXPECT_THAT(text, ContainsRegex("\n +[0-9]+ more models\n"));
}

TEST(Screen, Sorting) {
  const Busy busy(1, 2, 2);
  Look look;
  look.sort = Sort::kMemory;
  std::string text = joined(screen_of(busy.now, busy.figures(), look));
  EXPECT_LT(text.find("\n    100 "), text.find("\n    101 "));  // has more
  look.sort = Sort::kUtilization;
  text = joined(screen_of(busy.now, busy.figures(), look));
  EXPECT_LT(text.find("\n    101 "), text.find("\n    100 "));
  look.sort = Sort::kPid;
  look.paused = true;
  text = joined(screen_of(busy.now, busy.figures(), look));
  EXPECT_LT(text.find("\n    100 "), text.find("\n    101 "));
  EXPECT_THAT(text, HasSubstr("by pid, paused\n"));
  Sort sort = Sort::kExecutions;
  for (int i = 0; i < 4; ++i) sort = next(sort);
  EXPECT_EQ(sort, Sort::kExecutions);
}

TEST(Screen, TextsOfProcessesStayText) {
  Busy busy(1, 1, 1);
  store(&busy.now).tag = "tag\x1b[2J\n\xC3\xA4\x9B";
  busy.now.processes[0].command = "a\tb\x7f";
  store(&busy.now).models[0].name = "\x1b]0;title\a";
  const std::string text = joined(screen_of(busy.now, busy.figures(), {.columns = 200}));
  EXPECT_THAT(text, HasSubstr("tag?[2J??, a?b?\n"));
  EXPECT_THAT(text, HasSubstr("?]0;title?\n"));
  EXPECT_THAT(text_of(busy.now, busy.figures(), Sort::kPid), Not(HasSubstr("\x1b")));
  expect_fits(busy, 80, 24);
}

TEST(Screen, NoMachine) {
  Sample none;
  none.machine.reason =
      "there is no device to show: every process has a software device of its own, and ends with "
      "it; set OPENNRT_EMULATOR_SCOPE=machine";
  const auto lines = screen_of(none, PeriodFigures(), {.columns = 40, .rows = 24});
  for (const ScreenLine& line : lines) EXPECT_LE(line.text.size(), 40u);
  std::string text = joined(lines);
  EXPECT_THAT(text, Not(HasSubstr("CORE")));
  EXPECT_THAT(text, HasSubstr("OPENNRT_EMULATOR_SCOPE=machine"));
  // For a pipe it is one line.
  EXPECT_THAT(text_of(none, PeriodFigures(), Sort::kPid),
              HasSubstr("\n" + none.machine.reason + "\n"));
}

TEST(Screen, APlainTextHasEverything) {
  const Busy busy(16, 8, 60);
  const std::string text = text_of(busy.now, busy.figures(), Sort::kPid);
  EXPECT_THAT(text, AllOf(Not(HasSubstr("more ")), Not(HasSubstr("quit")), HasSubstr("\n    159 "),
                          HasSubstr(" 127 [")));
}

TEST(Screen, UnknownFiguresAreDashes) {
  Sample now = machine(1, 1);
  ProcessSample& p = add_process(&now, 7);
  p.stores.clear();
  p.error = "device 0: its data store is empty: it is starting or ending";
  const std::string text = text_of(now, figures_of(nullptr, now), Sort::kPid);
  EXPECT_THAT(text, HasSubstr("1 processes, 0 models, - executions/s\n"));
  EXPECT_THAT(text, HasSubstr("      7 -      device 0: its data store is empty"));
}

TEST(ShortBytes, Units) {
  EXPECT_EQ(short_bytes(std::nullopt), "-");
  EXPECT_EQ(short_bytes(0), "0 B");
  EXPECT_EQ(short_bytes(1023), "1023 B");
  EXPECT_EQ(short_bytes(1024), "1.0 KiB");
  EXPECT_EQ(short_bytes(1024 * 1024 - 1), "1.0 MiB");
  EXPECT_EQ(short_bytes(std::uint64_t{3} << 39), "1.5 TiB");
  EXPECT_EQ(short_bytes(UINT64_MAX), "16384.0 PiB");
}

TEST(Json, OfASample) {
  Busy busy(2, 2, 2);
  store(&busy.now).tag = "say \"hi\"\x01";
  simdjson::dom::parser parser;
  const auto parsed = parser.parse(json_of(busy.now, busy.figures()));
  ASSERT_EQ(parsed.error(), simdjson::SUCCESS);
  const simdjson::dom::element all = parsed.value_unsafe();
  EXPECT_EQ(all["devices"].get_array().value().size(), 2u);
  const auto process = all["processes"].at(0);
  EXPECT_EQ(process["pid"].get_int64().value(), 100);
  EXPECT_EQ(process["tag"].get_string().value(), "say \"hi\"\x01");
  EXPECT_EQ(process["executions"].get_uint64().value(), 10u);
  EXPECT_EQ(process["cores"].at(0)["logical"].get_uint64().value(), 0u);
  EXPECT_EQ(process["models"].at(0)["name"].get_string().value(), "net");
  EXPECT_TRUE(process["cpu_user"].is_null());
  EXPECT_TRUE(all["reason"].is_null());
}

}  // namespace
}  // namespace opennrt::tools::test
