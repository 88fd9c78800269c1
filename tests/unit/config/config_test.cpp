// SPDX-License-Identifier: Apache-2.0
#include "config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/config/fixture.h"

namespace opennrt::config {
namespace {

using ::testing::HasSubstr;

TEST_F(ConfigTest, Defaults) {
  const Loaded l = load_with({});
  ASSERT_TRUE(l.status.is_ok()) << l.status.message();
  const Config& c = *l.config;
  EXPECT_EQ(c.number(Key::kExecTimeoutS), 30u);
  EXPECT_EQ(c.number(Key::kExecXuQueueDepth), 8u);
  EXPECT_TRUE(c.flag(Key::kCoresResetOnInit));
  EXPECT_FALSE(c.flag(Key::kLoadValidateHash));
  EXPECT_FALSE(c.is_set(Key::kCoresLncSize));
  EXPECT_EQ(c.visible_cores(), std::nullopt);
  EXPECT_EQ(c.text(Key::kDevice), "auto");
  EXPECT_EQ(c.text(Key::kEmulatorProduct), "auto");
  EXPECT_TRUE(l.issues.empty());
  EXPECT_TRUE(c.describe().empty());
}

TEST_F(ConfigTest, LayersWinInOrder) {
  const auto system = file("sys.yaml",
                           "version: 1\nexec: {timeout_s: 40, xu_queue_depth: 4}\n"
                           "device: kernel\n");
  const auto user = file("user.yaml", "exec: {timeout_s: 50}\ndevice: emulator\n");
  const Loaded l = load_with({{"OPENNRT_CONFIG", user}, {"NEURON_RT_EXEC_TIMEOUT", "60"}}, system);
  ASSERT_TRUE(l.status.is_ok()) << l.status.message();
  EXPECT_EQ(l.config->number(Key::kExecTimeoutS), 60u);
  EXPECT_EQ(l.config->text(Key::kDevice), "emulator");
  EXPECT_EQ(l.config->number(Key::kExecXuQueueDepth), 4u);
  EXPECT_THAT(l.config->describe(),
              ::testing::Contains("exec.timeout_s = 60 (NEURON_RT_EXEC_TIMEOUT)"));
  EXPECT_THAT(l.config->describe(), ::testing::Contains("device = emulator (" + user + ":2)"));
}

TEST_F(ConfigTest, MissingSystemFileIsFineMissingUserFileIsNot) {
  EXPECT_TRUE(load_with({}, dir_ + "/none.yaml").status.is_ok());
  const Loaded l = load_with({{"OPENNRT_CONFIG", dir_ + "/none.yaml"}});
  EXPECT_EQ(l.status.code(), NRT_INVALID);
  EXPECT_THAT(std::string(l.status.message()), HasSubstr("none.yaml: No such file"));
  EXPECT_NE(l.config, nullptr);
}

TEST_F(ConfigTest, WhatAFileSaysTwiceOrInTheWrongShapeIsRefused) {
  const auto message = [&](const std::string& text) {
    const Loaded l = load_with({{"OPENNRT_CONFIG", file("c.yaml", text)}});
    EXPECT_EQ(l.status.code(), NRT_INVALID) << text;
    return std::string(l.status.message());
  };
  EXPECT_THAT(message("device: kernel\nexec: {timeout_s: 5}\ndevice: emulator\n"),
              HasSubstr("c.yaml:3: device: stands twice; keep one of them"));
  EXPECT_THAT(message("log: {level: INFO, level: DEBUG}\n"), HasSubstr("log.level: stands twice"));
  EXPECT_THAT(message("exec: 5\n"),
              HasSubstr("c.yaml:1: exec: must be a map of settings, such as exec."));
  EXPECT_THAT(message("exec: [5]\n"), HasSubstr("exec: must be a map of settings"));
  EXPECT_THAT(message(std::string("\xff\xfe"
                                  "d\0e\0",
                                  6)),
              HasSubstr("c.yaml: is no text file: byte 3 is 0; write it in UTF-8"));
  // An empty section is none.
  EXPECT_TRUE(load_with({{"OPENNRT_CONFIG", file("d.yaml", "exec:\n")}}).status.is_ok());
}

TEST_F(ConfigTest, ManyMistakesAreCounted) {
  std::string text = "cores:\n";
  for (int i = 0; i < 5000; ++i) text += "  count: 1\n";
  const Loaded l = load_with({{"OPENNRT_CONFIG", file("many.yaml", text)}});
  const std::string m(l.status.message());
  EXPECT_LT(m.size(), 10'000u);
  EXPECT_THAT(m, HasSubstr("many.yaml:3: cores.count: stands twice"));
  EXPECT_THAT(m, testing::ContainsRegex("; and [0-9]+ more$"));
}

// A value is shown as far as it helps.
TEST_F(ConfigTest, LongAndStrangeValuesAreShortenedAndEscaped) {
  const Loaded l = load_with({{"NEURON_RT_EXEC_TIMEOUT", "a\n\x01" + std::string(100'000, 'x')},
                              {"NEURON_RT_VISIBLE_CORES", std::string(100'000, 'y')}});
  const std::string m(l.status.message());
  EXPECT_LT(m.size(), 1000u);
  EXPECT_THAT(m, HasSubstr("exec.timeout_s='a\\x0a\\x01xxx"));
  EXPECT_THAT(m, HasSubstr("...': must be a number"));
}

TEST_F(ConfigTest, UnknownKeyIsAWarningWithFileAndLine) {
  const auto f = file("c.yaml", "exec:\n  timeout_s: 5\n  timeout: 5\nfoo: {bar: 1}\n");
  const Loaded l = load_with({{"OPENNRT_CONFIG", f}});
  ASSERT_TRUE(l.status.is_ok());
  EXPECT_THAT(issue_text(l),
              HasSubstr(f + ":3: unknown key exec.timeout; did you mean exec.timeout_s?"));
  EXPECT_THAT(issue_text(l), HasSubstr(f + ":4: unknown key foo; `opennrt config` lists"));
  EXPECT_EQ(l.issues.size(), 2u);
  for (const Issue& issue : l.issues) EXPECT_TRUE(issue.always) << issue.text;  // as variables are
}

TEST_F(ConfigTest, MessagesNameTheSourceOfAValue) {
  const auto f = file("c.yaml", "cores: {count: 2,\n  visible: 1-0}\n");
  const Loaded l = load_with({{"OPENNRT_CONFIG", f}, {"NEURON_RT_EXEC_TIMEOUT", "60"}});
  const Config& c = *l.config;
  EXPECT_EQ(c.source(Key::kCoresCount), f + ":1 (cores.count)");
  EXPECT_EQ(c.assignment(Key::kCoresCount), f + ":1: cores.count=2");
  EXPECT_EQ(c.source(Key::kExecTimeoutS), "NEURON_RT_EXEC_TIMEOUT (exec.timeout_s)");
  EXPECT_EQ(c.assignment(Key::kExecTimeoutS), "NEURON_RT_EXEC_TIMEOUT=60");
  EXPECT_EQ(c.source(Key::kExecXuQueueDepth), "exec.xu_queue_depth");
  EXPECT_EQ(c.assignment(Key::kExecXuQueueDepth), "exec.xu_queue_depth=8");
}

TEST_F(ConfigTest, AFileThatSaysTwoThingsIsQuotedWithItsKeys) {
  const auto f = file("c.yaml", "cores: {count: 2,\n  visible: 0-1}\n");
  const Loaded l = load_with({{"OPENNRT_CONFIG", f}});
  EXPECT_THAT(issue_text(l), HasSubstr(f + ":1: cores.count=2 is ignored because " + f +
                                       ":2 (cores.visible) names the cores"));
}

TEST_F(ConfigTest, EveryMistakeIsReportedAtOnce) {
  const Loaded l = load_with({{"NEURON_RT_EXEC_TIMEOUT", "soon"},
                              {"NEURON_RT_VISIBLE_CORES", "0,2"},
                              {"NEURON_RT_RESET_CORES", "maybe"},
                              {"NEURON_RT_VALIDATE_HASH", "1"}});
  EXPECT_EQ(l.status.code(), NRT_INVALID);
  const std::string m(l.status.message());
  EXPECT_THAT(m,
              HasSubstr("NEURON_RT_EXEC_TIMEOUT: exec.timeout_s='soon': must be a number from "));
  EXPECT_THAT(m, HasSubstr("NEURON_RT_VISIBLE_CORES: cores.visible='0,2': not contiguous"));
  EXPECT_THAT(m, HasSubstr("NEURON_RT_RESET_CORES: cores.reset_on_init='maybe': must be 0 or 1"));
  EXPECT_TRUE(l.config->flag(Key::kLoadValidateHash));
  EXPECT_EQ(l.config->number(Key::kExecTimeoutS), 30u);
}

TEST_F(ConfigTest, RangesAndClamping) {
  EXPECT_EQ(load_with({{"NEURON_RT_XU_COMPUTE_MAX_QUEUED_REQUESTS", "0"}}).status.code(),
            NRT_INVALID);
  EXPECT_EQ(load_with({{"NEURON_SCRATCHPAD_PAGE_SIZE", "700"}}).status.code(), NRT_INVALID);
  EXPECT_EQ(load_with({{"NEURON_RT_EXEC_TIMEOUT", "2147483648"}}).status.code(), NRT_INVALID);
  EXPECT_TRUE(load_with({{"NEURON_RT_EXEC_TIMEOUT", "2147483647"}}).status.is_ok());
  const Loaded l = load_with({{"NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS", "100"}});
  EXPECT_TRUE(l.status.is_ok());
  EXPECT_EQ(l.config->number(Key::kExecImplicitAsyncDepth), 63u);
  EXPECT_THAT(issue_text(l), HasSubstr("out of range, 63 used"));
}

TEST_F(ConfigTest, BadLogSettingsKeepTheLowerLayer) {
  const auto f = file("c.yaml", "log: {level: DEBUG}\n");
  const Loaded l = load_with({{"OPENNRT_CONFIG", f}, {"NEURON_RT_LOG_LEVEL", "LOUD"}});
  EXPECT_TRUE(l.status.is_ok());
  EXPECT_EQ(l.config->text(Key::kLogLevel), "DEBUG");
  EXPECT_THAT(issue_text(l), HasSubstr("NEURON_RT_LOG_LEVEL"));
}

TEST_F(ConfigTest, FirstSpellingOfTheLncSizeWins) {
  EXPECT_EQ(load_with({{"NEURON_RT_VIRTUAL_CORE_SIZE", "2"}}).config->number(Key::kCoresLncSize),
            2u);
  EXPECT_EQ(load_with({{"NEURON_RT_VIRTUAL_CORE_SIZE", "2"}, {"NEURON_LOGICAL_NC_CONFIG", "1"}})
                .config->number(Key::kCoresLncSize),
            1u);
  EXPECT_EQ(load_with({{"NEURON_RT_VIRTUAL_CORE_SIZE", "2"}, {"NEURON_LOGICAL_NC_CONFIG", ""}})
                .config->number(Key::kCoresLncSize),
            2u);
}

TEST_F(ConfigTest, VisibleCoresWinOverTheCount) {
  const Loaded l = load_with({{"NEURON_RT_VISIBLE_CORES", "3,2"}, {"NEURON_RT_NUM_CORES", "1"}});
  ASSERT_TRUE(l.config->visible_cores());
  EXPECT_EQ(l.config->visible_cores()->first, 2u);
  EXPECT_EQ(l.config->visible_cores()->count, 2u);
  EXPECT_THAT(issue_text(l), HasSubstr("ascending"));
  EXPECT_THAT(issue_text(l), HasSubstr("NEURON_RT_NUM_CORES=1 is ignored"));
}

TEST_F(ConfigTest, PluginPathIsAppendedToTheConfiguredList) {
  const auto f = file("c.yaml", "plugins: {path: [/a, /b], disable: ['x-*']}\n");
  const Loaded l = load_with({{"OPENNRT_CONFIG", f}, {"OPENNRT_PLUGIN_PATH", "/c:/d"}});
  EXPECT_THAT(l.config->list(Key::kPluginsPath), ::testing::ElementsAre("/a", "/b", "/c", "/d"));
  EXPECT_THAT(l.config->list(Key::kPluginsDisable), ::testing::ElementsAre("x-*"));
}

TEST_F(ConfigTest, EmulatorKeysAndFreePluginSettings) {
  const auto f = file("c.yaml",
                      "emulator:\n  hbm_bytes: 2GiB\n  verify: {poison: yes}\n"
                      "  faults: [{point: load, n: 2}]\n"
                      "plugins: {settings: {sunda: {colour: blue}}}\n");
  const Loaded l = load_with({{"OPENNRT_CONFIG", f},
                              {"OPENNRT_EMULATOR_PRODUCT", "trn1.2xlarge"},
                              {"OPENNRT_EMULATOR_COLOUR", "red"}});
  ASSERT_TRUE(l.status.is_ok()) << l.status.message();
  EXPECT_EQ(l.config->get("emulator.hbm_bytes"), "2147483648");
  EXPECT_EQ(l.config->get("emulator.verify.poison"), "1");
  EXPECT_EQ(l.config->get("emulator.product"), "trn1.2xlarge");
  EXPECT_EQ(l.config->get("emulator.faults"), "[{point: load, n: 2}]");
  EXPECT_EQ(l.config->get("plugins.settings.sunda.colour"), "blue");
  EXPECT_EQ(l.config->get("emulator.record"), std::nullopt);
  EXPECT_EQ(l.config->get("no.such.key"), std::nullopt);
  EXPECT_EQ(l.config->get("exec.timeout_s"), "30");
  EXPECT_THAT(issue_text(l), HasSubstr("OPENNRT_EMULATOR_COLOUR: no such setting"));
}

TEST_F(ConfigTest, UnknownVariableOfOursIsToldWithTheNearestName) {
  const Loaded l = load_with({{"OPENNRT_EMULATOR_PRODCUT", "trn1.2xlarge"},
                              {"OPENNRT_DEVCE", "emulator"},
                              {"OPENNRT_CONFG", "/x"},
                              {std::string("OPENNRT_") + std::string(100'000, 'A'), "1"}});
  ASSERT_TRUE(l.status.is_ok());
  ASSERT_EQ(l.issues.size(), 4u);
  for (const Issue& issue : l.issues) {
    EXPECT_TRUE(issue.always) << issue.text;
    EXPECT_EQ(issue.level, log::Level::kWarn);
  }
  EXPECT_THAT(issue_text(l), HasSubstr("OPENNRT_EMULATOR_PRODCUT: no such setting, ignored; did "
                                       "you mean OPENNRT_EMULATOR_PRODUCT?\n"));
  EXPECT_THAT(issue_text(l), HasSubstr("did you mean OPENNRT_DEVICE?\n"));
  EXPECT_THAT(issue_text(l), HasSubstr("did you mean OPENNRT_CONFIG?\n"));
}

TEST_F(ConfigTest, NamesOfTestsAndOfOtherRuntimesAreNoMistake) {
  const Loaded l = load_with({{"OPENNRT_CORPUS", "/c"},
                              {"OPENNRT_TEST_X", "1"},
                              {"OPENNRT_CONFIG", ""},
                              {"NEURON_RT_FRAMEWORK_PRIVATE", "1"}});
  ASSERT_EQ(l.issues.size(), 1u);
  EXPECT_EQ(l.issues[0].level, log::Level::kDebug);
  EXPECT_FALSE(l.issues[0].always);
}

TEST_F(ConfigTest, OnlyOurOwnVariablesTakeUnits) {
  const auto bytes = [&](const char* text) {
    const Loaded l = load_with({{"OPENNRT_EMULATOR_HBM_BYTES", text}});
    return l.status.is_ok() ? l.config->number(Key::kEmulatorHbmBytes) : 0;
  };
  EXPECT_EQ(bytes("8G"), 8ull << 30);
  EXPECT_EQ(bytes("64MiB"), 64ull << 20);
  EXPECT_EQ(bytes("33554432"), 32u << 20);
  const Loaded bad = load_with({{"OPENNRT_EMULATOR_HBM_BYTES", "8GB"}});
  EXPECT_EQ(bad.status.code(), NRT_INVALID);
  EXPECT_THAT(
      std::string(bad.status.message()),
      HasSubstr("OPENNRT_EMULATOR_HBM_BYTES: emulator.hbm_bytes='8GB': must be a size from "));
  constexpr char kPublic[] = "NEURON_RT_DBG_MESH_CHANNEL_BUFFER_SIZE";
  EXPECT_EQ(load_with({{kPublic, "1048576"}}).config->number(Key::kCcBufMeshBytes), 1u << 20);
  EXPECT_EQ(load_with({{kPublic, "1MiB"}}).status.code(), NRT_INVALID);
  const auto f = file("c.yaml", "cc: {buf: {mesh_bytes: 1MiB}}\n");
  EXPECT_EQ(load_with({{"OPENNRT_CONFIG", f}}).config->number(Key::kCcBufMeshBytes), 1u << 20);
}

TEST_F(ConfigTest, DevicesEndWhereTheRuntimesLimitIs) {
  EXPECT_TRUE(load_with({{"OPENNRT_EMULATOR_DEVICES", "32"}}).status.is_ok());
  const Loaded l = load_with({{"OPENNRT_EMULATOR_DEVICES", "33"}});
  EXPECT_EQ(l.status.code(), NRT_INVALID);
  EXPECT_THAT(std::string(l.status.message()), HasSubstr("must be 1 to 32"));
}

TEST_F(ConfigTest, ImageFormByVariableAndFile) {
  EXPECT_EQ(load_with({}).config->text(Key::kExecRuntimeForm), "auto");
  EXPECT_EQ(load_with({{"OPENNRT_EXEC_RUNTIME_FORM", "2.27"}}).config->text(Key::kExecRuntimeForm),
            "2.27");
  const auto f = file("c.yaml", "exec: {runtime_form: '2.30'}\n");
  EXPECT_EQ(load_with({{"OPENNRT_CONFIG", f}}).config->text(Key::kExecRuntimeForm), "2.30");
  const Loaded bad = load_with({{"OPENNRT_EXEC_RUNTIME_FORM", "2.23"}});
  EXPECT_EQ(bad.status.code(), NRT_INVALID);
  EXPECT_THAT(std::string(bad.status.message()), HasSubstr("must be one of auto|2.25|2.27|2.30"));
}

TEST_F(ConfigTest, MissingPluginDirectoryIsTold) {
  const Loaded l = load_with({{"OPENNRT_PLUGIN_PATH", dir_ + ":" + dir_ + "/none"}});
  ASSERT_EQ(l.issues.size(), 1u);
  EXPECT_TRUE(l.issues[0].always);
  EXPECT_EQ(l.issues[0].text, "OPENNRT_PLUGIN_PATH (plugins.path): plugin directory " + dir_ +
                                  "/none does not exist");
}

TEST_F(ConfigTest, NonsenseAsLogLevelIsToldAtAnyLevel) {
  const Loaded l =
      load_with({{"NEURON_RT_LOG_LEVEL", "nonsense"}, {"NEURON_RT_LOG_LEVEL_TDRV", "nonsense"}});
  ASSERT_TRUE(l.status.is_ok());
  ASSERT_EQ(l.issues.size(), 2u);
  EXPECT_TRUE(l.issues[0].always && l.issues[1].always);
  EXPECT_THAT(issue_text(l), HasSubstr("NEURON_RT_LOG_LEVEL: log.level='nonsense': must be ERROR"));
}

TEST_F(ConfigTest, BrokenFilesAreRefusedWithTheLine) {
  auto message = [&](const std::string& text) {
    const auto f = file("bad.yaml", text);
    const Loaded l = load_with({{"OPENNRT_CONFIG", f}});
    EXPECT_EQ(l.status.code(), NRT_INVALID) << text;
    return std::string(l.status.message());
  };
  EXPECT_THAT(message("a: [1, 2\nb: 3\n"), HasSubstr("bad.yaml:"));
  EXPECT_THAT(message("- 1\n- 2\n"), HasSubstr("must be a map"));
  EXPECT_THAT(message("version: 2\n"), HasSubstr("bad.yaml:1: version='2': must be 1 to 1"));
  EXPECT_THAT(message("plugins: {path: [{a: 1}]}\n"), HasSubstr("must be a list of words"));
  EXPECT_THAT(message("cores: {count: 1GiB}\n"), HasSubstr("must be a number from 0 to "));
  EXPECT_THAT(message(std::string(2 << 20, '#')), HasSubstr("larger than 1048576 bytes"));
  EXPECT_THAT(message("log: {level: &a [*b]}\n"), HasSubstr("bad.yaml:1:18: "));
  EXPECT_THAT(message("device: auto\n---\ndevice: nonsense\n"),
              HasSubstr("bad.yaml:3:1: a second document begins here"));
  EXPECT_THAT(message("---\n---\ndevice: auto\n"), HasSubstr("bad.yaml:3:1: a second document"));
  // What the parser stops at without a word.
  EXPECT_THAT(message("exec: {timeout_s: 3}\n}\ncores: {count: 5}\n"), HasSubstr("bad.yaml:2:1: "));
  EXPECT_THAT(message("}"), HasSubstr("bad.yaml:1:1: "));
  EXPECT_THAT(message("? [x]\n: 1\n"), HasSubstr("bad.yaml:1: a key must be a word"));
  // Deep for the parser, and for the settings.
  EXPECT_THAT(message("log:\n  level: " + std::string(3000, '[')),
              AllOf(HasSubstr("bad.yaml:2:"), HasSubstr("nested more than 16 deep")));
  std::string deep = "plugins:\n  settings: ";
  for (int i = 0; i < 20; ++i) deep += "{a: ";
  EXPECT_THAT(message(deep + "1" + std::string(20, '}')),
              AllOf(HasSubstr("bad.yaml:2:"), HasSubstr("maps are nested more than 16 deep")));
}

TEST_F(ConfigTest, OneDocumentMayHaveItsMarks) {
  const auto f = file("c.yaml", "%YAML 1.2\n---\nexec: {timeout_s: 7}\n...\n");
  const Loaded l = load_with({{"OPENNRT_CONFIG", f}});
  ASSERT_TRUE(l.status.is_ok()) << l.status.message();
  EXPECT_EQ(l.config->number(Key::kExecTimeoutS), 7u);
}

// The group that a key is in is not what was meant.
TEST_F(ConfigTest, UnknownKeysOfAGroupLeadToTheGroup) {
  const auto f = file("c.yaml", "exec: {x: 1}\nemulator: {verify: {zzzzzzzz: 1}}\n");
  const Loaded l = load_with({{"OPENNRT_CONFIG", f}});
  EXPECT_THAT(issue_text(l), HasSubstr(":1: unknown key exec.x; `opennrt config exec` lists"));
  EXPECT_THAT(issue_text(l),
              HasSubstr("unknown key emulator.verify.zzzzzzzz; `opennrt config emulator.verify`"));
}

TEST_F(ConfigTest, FifoAndFolderAreRefusedInsteadOfWaitedFor) {
  const std::string path = file("fifo.yaml", "");
  ASSERT_EQ(unlink(path.c_str()), 0);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  // Nor is a device that never ends; /dev/null is an empty file.
  EXPECT_TRUE(load_with({{"OPENNRT_CONFIG", "/dev/null"}}).status.is_ok());
  for (const std::string& name : {path, dir_, std::string("/dev/zero"), std::string("/dev/tty")}) {
    const Loaded l = load_with({{"OPENNRT_CONFIG", name}});
    EXPECT_EQ(l.status.code(), NRT_INVALID);
    EXPECT_THAT(std::string(l.status.message()), HasSubstr(name + ": not a regular file"));
  }
}

// Aliases that stand for a tree of millions of nodes.
TEST_F(ConfigTest, AliasBombIsRefused) {
  for (const auto& [levels, why] : {std::pair(12, "too many nested values at key plugins.settings"),
                                    std::pair(24, "maps are nested more than 16 deep")}) {
    std::string text = "a0: &a0 {k: v, l: w}\n";
    for (int i = 1; i <= levels; ++i)
      text += fmt::format("a{0}: &a{0} {{x: *a{1}, y: *a{1}, z: *a{1}}}\n", i, i - 1);
    text += fmt::format("plugins: {{settings: *a{}}}\n", levels);
    const auto f = file("bomb.yaml", text);
    const Loaded l = load_with({{"OPENNRT_CONFIG", f}});
    EXPECT_EQ(l.status.code(), NRT_INVALID);
    EXPECT_THAT(std::string(l.status.message()), HasSubstr(why));
  }
}

TEST_F(ConfigTest, LoadSettingsAreReadAgain) {
  const auto f = file("c.yaml", "exec: {timeout_s: 7}\n");
  const Loaded l = load_with({{"OPENNRT_CONFIG", f}, {"NEURON_RT_EXEC_TIMEOUT", "9"}});
  auto now = load_settings(*l.config, {{"NEURON_RT_VALIDATE_HASH", "yes"}});
  ASSERT_TRUE(now.is_ok());
  EXPECT_EQ(now->exec_timeout_s, 7u);  // the variable is gone, the file is not
  EXPECT_TRUE(now->validate_hash);
  EXPECT_FALSE(now->allow_legacy_neff);
  auto bad = load_settings(*l.config,
                           {{"NEURON_RT_EXEC_TIMEOUT", "-1"}, {"NEURON_RT_DBG_FP8_SNS", "some"}});
  EXPECT_EQ(bad.status().code(), NRT_INVALID);
  EXPECT_THAT(std::string(bad.status().message()),
              HasSubstr("NEURON_RT_DBG_FP8_SNS='some': must be 0 or 1"));
  EXPECT_THAT(std::string(bad.status().message()), HasSubstr("NEURON_RT_EXEC_TIMEOUT='-1'"));
}

TEST_F(ConfigTest, LogSettingsPerModule) {
  const auto f =
      file("c.yaml", "log: {level: WARN, file: /tmp/x, modules: {ndl: {level: TRACE}}}\n");
  const Loaded l = load_with({{"OPENNRT_CONFIG", f},
                              {"NEURON_RT_LOG_LEVEL_KMGR", "DEBUG"},
                              {"NEURON_RT_LOG_LEVEL_RUST", "TRACE"},
                              {"NEURON_RT_LOG_LOCATION_TDRV", "SYSLOG"}});
  EXPECT_TRUE(l.issues.empty()) << issue_text(l);
  const log::Settings s = log_settings(*l.config);
  auto module = [&](log::Module m) { return s.modules[static_cast<std::size_t>(m)]; };
  EXPECT_EQ(module(log::Module::kNrt).level, log::Level::kWarn);
  EXPECT_EQ(module(log::Module::kNdl).level, log::Level::kTrace);
  EXPECT_EQ(module(log::Module::kKmgr).level, log::Level::kDebug);
  EXPECT_FALSE(module(log::Module::kTdrv).console);
  EXPECT_TRUE(module(log::Module::kTdrv).syslog);
  EXPECT_TRUE(module(log::Module::kNrt).console);
  EXPECT_EQ(s.file, "/tmp/x");
}

TEST_F(ConfigTest, TheShippedFileHoldsTheDefaults) {
  const Loaded l = load_with({{"OPENNRT_CONFIG", OPENNRT_EXAMPLE_FILE}});
  ASSERT_TRUE(l.status.is_ok()) << l.status.message();
  EXPECT_TRUE(l.issues.empty()) << issue_text(l);
  const Loaded plain = load_with({});
  for (const Setting& row : settings()) {
    EXPECT_EQ(l.config->get(row.key), plain.config->get(row.key)) << row.key;
    EXPECT_TRUE(row.acts || !l.config->is_given(row.id)) << row.key << " does nothing";
  }
}

TEST_F(ConfigTest, EveryRowSaysWhereItComesFrom) {
  const auto system = file("sys.yaml", "exec: {xu_queue_depth: 4}\n");
  const auto user = file("user.yaml", "log:\n  file: /x\ndma: {m2s_prefetch: 0x10}\n");
  const Loaded l = load_with({{"OPENNRT_CONFIG", user},
                              {"NEURON_RT_EXEC_TIMEOUT", "30"},
                              {"NEURON_RT_LOG_LEVEL_TDRV", "DEBUG"}},
                             system);
  std::map<std::string, Config::Row> rows;
  for (const Config::Row& row : l.config->rows()) rows.emplace(row.key, row);
  EXPECT_EQ(rows.size(), kSettings + 1);
  const auto expect = [&](const char* key, std::optional<std::string> text, Layer layer,
                          const std::string& where, bool differs) {
    ASSERT_EQ(rows.count(key), 1u) << key;
    const Config::Row& row = rows.at(key);
    EXPECT_EQ(row.text, text) << key;
    EXPECT_EQ(row.layer, layer) << key;
    EXPECT_EQ(row.where, where) << key;
    EXPECT_EQ(row.differs, differs) << key;
  };
  expect("cores.reset_on_init", "1", Layer::kDefault, "default", false);
  expect("cores.visible", std::nullopt, Layer::kDefault, "default", false);
  expect("exec.xu_queue_depth", "4", Layer::kSystemFile, system + ":1", true);
  expect("log.file", "/x", Layer::kUserFile, user + ":2", true);
  expect("dma.m2s_prefetch", "16", Layer::kUserFile, user + ":3", true);
  // Given, but what it is anyway.
  expect("exec.timeout_s", "30", Layer::kEnvironment, "NEURON_RT_EXEC_TIMEOUT", false);
  expect("log.modules.TDRV.level", "DEBUG", Layer::kEnvironment, "NEURON_RT_LOG_LEVEL_TDRV", true);
  EXPECT_TRUE(l.config->is_given(Key::kExecTimeoutS));
  EXPECT_FALSE(l.config->is_given(Key::kCoresResetOnInit));
  EXPECT_TRUE(rows.at("exec.timeout_s").acts);
  EXPECT_THAT(l.config->without_effect(),
              ::testing::ElementsAre("dma.m2s_prefetch = 16 (" + user +
                                     ":3) has no effect in this release"));
}

TEST_F(ConfigTest, MistakesOfAFileAreToldTogether) {
  const auto f = file("c.yaml",
                      "exec:\n  timeout_s: {a: 1}\n  xu_queue_depth: 0\n"
                      "load: {iram_block_kb: [1, [2], 3, 4, 5]}\n"
                      "cores:\n  ? [x]\n  : 1\n  count: -1\n");
  const Loaded l = load_with({{"OPENNRT_CONFIG", f}, {"NEURON_RT_VALIDATE_HASH", "2"}});
  EXPECT_EQ(l.status.code(), NRT_INVALID);
  const std::string m(l.status.message());
  EXPECT_THAT(m, HasSubstr(f + ":2: exec.timeout_s: must be one value, not a map"));
  EXPECT_THAT(m, HasSubstr(f + ":3: exec.xu_queue_depth='0': must be at least 1"));
  EXPECT_THAT(m, HasSubstr(f + ":4: load.iram_block_kb: must be a list of words"));
  EXPECT_THAT(m, HasSubstr(f + ":6: cores: a key must be a word"));
  EXPECT_THAT(m, HasSubstr(f + ":8: cores.count='-1': must be a number from 0 to "));
  EXPECT_THAT(m, HasSubstr("NEURON_RT_VALIDATE_HASH: load.validate_hash='2': must be 0 or 1"));
}

TEST_F(ConfigTest, EmptyInAFileIsUnsetExceptWhereItMeansOff) {
  const auto f = file("c.yaml", "exec: {timeout_s: ''}\nlog:\ncore_dump: {dir: ''}\n");
  const Loaded l = load_with({{"OPENNRT_CONFIG", f}});
  ASSERT_TRUE(l.status.is_ok()) << l.status.message();
  EXPECT_TRUE(l.issues.empty()) << issue_text(l);
  EXPECT_EQ(l.config->number(Key::kExecTimeoutS), 30u);
  EXPECT_EQ(l.config->get("core_dump.dir"), "");
}

TEST_F(ConfigTest, SecondSpellingCountsOnlyWithoutTheFirst) {
  EXPECT_EQ(load_with({{"NEURON_LOGICAL_NC_CONFIG", ""}, {"NEURON_RT_VIRTUAL_CORE_SIZE", "2"}})
                .config->number(Key::kCoresLncSize),
            2u);
  const Loaded both =
      load_with({{"NEURON_LOGICAL_NC_CONFIG", "1"}, {"NEURON_RT_VIRTUAL_CORE_SIZE", "nonsense"}});
  EXPECT_TRUE(both.status.is_ok());
  EXPECT_EQ(both.config->number(Key::kCoresLncSize), 1u);
}

TEST_F(ConfigTest, TemporaryDirectoryOfTheSystem) {
  EXPECT_EQ(load_with({}).config->get("memory.oom_dump_dir"), "/tmp");
  EXPECT_EQ(load_with({{"TMPDIR", "/var/x"}}).config->get("failure.input_dump_dir"),
            "/var/x/neuron-input-dump");
  EXPECT_EQ(load_with({{"TMPDIR", "relative"}}).config->get("core_dump.dir"),
            "/tmp/neuron-core-dump/dt-%d-cid-%c");
}

TEST_F(ConfigTest, RemovedVariablesAreTold) {
  const Loaded l = load_with({{"NEURON_RT_INSPECT_DURATION_NSEC", "never"}});
  EXPECT_TRUE(l.status.is_ok());
  EXPECT_THAT(issue_text(l), HasSubstr("NEURON_RT_INSPECT_DURATION_NSEC: removed, has no effect"));
}

TEST_F(ConfigTest, QuestionsBeforeInitLookAtTheCoresOnly) {
  const auto f = file("c.yaml",
                      "cores: {count: 3}\nexec: {timeout_s: soon}\nno: 1\n"
                      "emulator: {devices: 2}\n");
  const Environment e = {{"OPENNRT_CONFIG", f},
                         {"NEURON_RT_VALIDATE_HASH", "maybe"},
                         {"NEURON_RT_LOG_LEVEL", "loud"},
                         {"NEURON_RT_RESET_CORES", "0"}};
  const Loaded l = load({.system_file = "", .environment = e, .cores_only = true});
  ASSERT_TRUE(l.status.is_ok()) << l.status.message();
  EXPECT_TRUE(l.issues.empty()) << issue_text(l);
  EXPECT_EQ(l.config->number(Key::kCoresCount), 3u);
  EXPECT_EQ(l.config->number(Key::kEmulatorDevices), 2u);
  EXPECT_FALSE(l.config->flag(Key::kCoresResetOnInit));
  EXPECT_EQ(load({.system_file = "", .environment = e}).status.code(), NRT_INVALID);
  const Loaded bad =
      load({.system_file = "", .environment = {{"NEURON_RT_NUM_CORES", "x"}}, .cores_only = true});
  EXPECT_EQ(bad.status.code(), NRT_INVALID);
}

TEST(ProcessEnvironment, KeepsOurNamesOnly) {
  setenv("NEURON_RT_TEST_X", "1", 1);
  setenv("OPENNRT_TEST_X", "a=b", 1);
  setenv("UNRELATED_TEST_X", "1", 1);
  const Environment e = process_environment();
  EXPECT_EQ(e.at("NEURON_RT_TEST_X"), "1");
  EXPECT_EQ(e.at("OPENNRT_TEST_X"), "a=b");
  EXPECT_EQ(e.count("UNRELATED_TEST_X"), 0u);
}

}  // namespace
}  // namespace opennrt::config
