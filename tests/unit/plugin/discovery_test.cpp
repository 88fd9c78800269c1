// SPDX-License-Identifier: Apache-2.0
#include "plugin/discovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/plugin_directory.h"

namespace opennrt::plugin {
namespace {

using test::PluginDirectory;
using ::testing::HasSubstr;

std::vector<Candidate> discover_in(std::vector<std::string> directories,
                                   std::vector<std::string> disable = {}) {
  return discover({.directories = std::move(directories), .disable = std::move(disable)});
}

TEST(Manifest, ReadsEveryKeyAndResolvesTheLibraryAgainstItself) {
  PluginDirectory d;
  const auto path = d.write("x.plugin.yaml",
                            "kind: arch\nname: x\narch_type: 3\nlibrary: ../lib/x.so\n"
                            "abi: \"1.0\"\nversion: 1.2.3\npriority: -4\n");
  auto m = read_manifest(path);
  ASSERT_TRUE(m.is_ok()) << m.status().message();
  EXPECT_EQ(m->kind, Kind::kArch);
  EXPECT_EQ(m->arch_type, 3u);
  EXPECT_EQ(m->version, "1.2.3");
  EXPECT_EQ(m->priority, -4);
  EXPECT_EQ(m->library,
            std::filesystem::path(d.path() + "/../lib/x.so").lexically_normal().string());
}

TEST(Manifest, RefusalsNameFileAndKey) {
  PluginDirectory d;
  auto message = [&](const std::string& text) {
    const auto path = d.write("x.plugin.yaml", text);
    auto m = read_manifest(path);
    EXPECT_FALSE(m.is_ok()) << text;
    EXPECT_THAT(std::string(m.status().message()), HasSubstr(path));
    return std::string(m.status().message());
  };
  EXPECT_THAT(message("kind: lamp\nname: x\nlibrary: x.so\n"), HasSubstr("kind is 'lamp'"));
  EXPECT_THAT(message("kind: ndl\nlibrary: x.so\n"), HasSubstr("key name is missing"));
  EXPECT_THAT(message("kind: ndl\nname: x\n"), HasSubstr("key library is missing"));
  EXPECT_THAT(message("kind: arch\nname: x\nlibrary: x.so\n"), HasSubstr("arch_type is ''"));
  EXPECT_THAT(message("kind: arch\nname: x\nlibrary: x\narch_type: two\n"),
              HasSubstr("arch_type is 'two'"));
  EXPECT_THAT(message("kind: ndl\nname: x\nlibrary: x\npriority: high\n"),
              HasSubstr("priority is 'high'"));
  EXPECT_THAT(message("[1, 2"), HasSubstr("x.plugin.yaml:"));
  EXPECT_THAT(message(""), HasSubstr("not a map"));
  EXPECT_THAT(message(std::string(70000, ' ')), HasSubstr("larger than 65536"));
  EXPECT_FALSE(read_manifest(d.file("missing")).is_ok());
}

TEST(Manifest, FifoIsRefusedInsteadOfWaitedFor) {
  PluginDirectory d;
  const std::string path = d.write("x.plugin.yaml", "");
  ASSERT_EQ(unlink(path.c_str()), 0);
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const auto m = read_manifest(path);
  ASSERT_FALSE(m.is_ok());
  EXPECT_THAT(std::string(m.status().message()), HasSubstr(path + ": not a regular file"));
  unlink(path.c_str());
}

TEST(Versions, CompareByNumber) {
  EXPECT_EQ(compare_versions("1.2", "1.2.0"), 0);
  EXPECT_LT(compare_versions("1.9", "1.10"), 0);
  EXPECT_GT(compare_versions("2", "1.99.99"), 0);
  EXPECT_EQ(compare_versions("", ""), 0);
  EXPECT_LT(compare_versions("", "0.0.1"), 0);
}

TEST(Discovery, EarlierDirectoryHidesTheSameKindAndName) {
  PluginDirectory a, b;
  a.manifest("n.plugin.yaml", "ndl", "x", "/x.so");
  b.manifest("n.plugin.yaml", "ndl", "x", "/x.so", "priority: 100\n");
  b.manifest("p.plugin.yaml", "port", "x", "/x.so");
  const auto all = discover_in({a.path(), b.path()});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].verdict, Verdict::kUsable);
  EXPECT_EQ(all[1].verdict, Verdict::kHidden);
  EXPECT_EQ(all[1].reason, "hidden by " + a.file("n.plugin.yaml"));
  EXPECT_EQ(all[2].verdict, Verdict::kUsable);
}

TEST(Discovery, BrokenManifestIsListedAndHidesNothing) {
  PluginDirectory a, b;
  a.write("x.plugin.yaml", "kind: lamp\n");
  b.manifest("x.plugin.yaml", "ndl", "x", "/x.so");
  const auto all = discover_in({a.path(), "/no/such/directory", b.path()});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].verdict, Verdict::kRefused);
  EXPECT_THAT(all[0].reason, HasSubstr(a.file("x.plugin.yaml")));
  EXPECT_EQ(all[1].verdict, Verdict::kUsable);
}

TEST(Discovery, DisabledNamesAreGlobs) {
  PluginDirectory a;
  a.manifest("1.plugin.yaml", "ndl", "exp-one", "/x.so");
  a.manifest("2.plugin.yaml", "ndl", "other", "/x.so");
  const auto all = discover_in({a.path()}, {"exp-*"});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].verdict, Verdict::kDisabled);
  EXPECT_EQ(all[1].verdict, Verdict::kUsable);
}

TEST(Discovery, LibraryWithoutManifestIsNamed) {
  PluginDirectory a;
  a.write("opennrt-lost.so", "");
  a.write("opennrt-known.so", "");
  a.manifest("k.plugin.yaml", "ndl", "known", "opennrt-known.so");
  const auto all = discover_in({a.path()});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].verdict, Verdict::kRefused);
  EXPECT_EQ(all[1].reason, a.file("opennrt-lost.so") + ": no manifest of this directory names it");
}

TEST(Discovery, TroublesNameWhatCannotBeReadOrIsNamedInVain) {
  PluginDirectory a;
  const std::string file = a.write("file", "");
  const Search search{.directories = {a.path(), "/no/such/named", file, "/no/such/default"},
                      .configured = 2,
                      .disable = {}};
  EXPECT_THAT(troubles(search),
              ::testing::ElementsAre("plugin directory /no/such/named: No such file or directory",
                                     "plugin directory " + file + ": Not a directory"));
}

TEST(Discovery, DirectoriesWithoutPermissionAreTold) {
  PluginDirectory a;
  a.manifest("n.plugin.yaml", "ndl", "x", "/x.so");
  ASSERT_EQ(chmod(a.path().c_str(), 0), 0);
  const pid_t child = fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (geteuid() == 0 && seteuid(kNobody) != 0) _exit(9);
    const Search search{.directories = {a.path()}, .configured = 0, .disable = {}};
    const std::vector<std::string> expected = {"plugin directory " + a.path() +
                                               ": Permission denied"};
    _exit(troubles(search) == expected && discover(search).empty() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  chmod(a.path().c_str(), 0700);
}

TEST(Ranking, PriorityThenVersionThenDirectory) {
  PluginDirectory a, b;
  a.manifest("1.plugin.yaml", "arch", "one", "/x.so", "version: 1.9\n");
  a.manifest("2.plugin.yaml", "arch", "two", "/x.so", "version: 1.10\n");
  b.manifest("3.plugin.yaml", "arch", "three", "/x.so", "version: 0.1\npriority: 5\n");
  b.manifest("4.plugin.yaml", "arch", "four", "/x.so", "version: 1.10\n");
  const auto all = discover_in({a.path(), b.path()});
  auto order = rank(all, [](const Manifest&) { return true; });
  ASSERT_TRUE(order.is_ok());
  std::vector<std::string> names;
  for (auto i : *order) names.push_back(all[i].manifest.name);
  EXPECT_THAT(names, ::testing::ElementsAre("three", "two", "four", "one"));
}

TEST(Ranking, TieInOneDirectoryNamesBothFiles) {
  PluginDirectory a;
  a.manifest("1.plugin.yaml", "arch", "one", "/x.so", "version: 1.0\n");
  a.manifest("2.plugin.yaml", "arch", "two", "/x.so", "version: 1\n");
  const auto all = discover_in({a.path()});
  auto order = rank(all, [](const Manifest&) { return true; });
  ASSERT_FALSE(order.is_ok());
  EXPECT_EQ(order.status().code(), NRT_INVALID);
  EXPECT_THAT(std::string(order.status().message()), HasSubstr(a.file("1.plugin.yaml")));
  EXPECT_THAT(std::string(order.status().message()), HasSubstr(a.file("2.plugin.yaml")));
}

TEST(SearchPath, ConfiguredThenBesideThisFileThenInstalled) {
  PluginDirectory a;
  const auto loaded = config::load(
      {.system_file = "", .environment = {{"OPENNRT_PLUGIN_PATH", a.path() + ":/zzz"}}});
  const Search s = search_of(*loaded.config);
  ASSERT_GE(s.directories.size(), 4u);
  EXPECT_EQ(s.directories[0], a.path());
  EXPECT_EQ(s.directories[1], "/zzz");
  EXPECT_EQ(s.directories[2],
            std::filesystem::canonical("/proc/self/exe").parent_path().string() + "/plugins");
  EXPECT_THAT(s.directories[3], ::testing::EndsWith("/opennrt/plugins"));
}

}  // namespace
}  // namespace opennrt::plugin
