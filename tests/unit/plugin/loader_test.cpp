// SPDX-License-Identifier: Apache-2.0
#include "plugin/loader.h"
#include "plugin/validate.h"

#include <dlfcn.h>
#include <errno.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>

#include "support/plugin_directory.h"

namespace opennrt::plugin {
namespace {

using test::PluginDirectory;
using ::testing::EndsWith;
using ::testing::HasSubstr;

class LoaderTest : public ::testing::Test {
 protected:
  void configure(config::Environment extra = {}) {
    extra["OPENNRT_PLUGIN_PATH"] = directory_.path();
    const auto loaded = config::load({.system_file = "", .environment = std::move(extra)});
    ASSERT_TRUE(loaded.status.is_ok()) << loaded.status.message();
    loader_.configure(loaded.config);
  }
  // What the loader says about a driver layer double.
  std::string refusal(const std::string& double_name, const std::string& extra = "") {
    directory_.manifest("d.plugin.yaml", "ndl", "d", PluginDirectory::library(double_name), extra);
    configure();
    auto table = loader_.ndl("d");
    EXPECT_FALSE(table.is_ok()) << double_name;
    EXPECT_EQ(table.status().code(), NRT_INVALID);
    return std::string(table.status().message());
  }
  static std::string exact(const std::string& double_name, const std::string& reason) {
    return "no usable driver layer plugin d: " + PluginDirectory::library(double_name) + ": " +
           reason;
  }
  PluginDirectory directory_;
  Loader loader_;
};

TEST_F(LoaderTest, WhatIsMissedMayBeInADirectoryThatIsNotThere) {
  const std::string both = directory_.path() + ":/no/such/directory";
  const auto loaded =
      config::load({.system_file = "", .environment = {{"OPENNRT_PLUGIN_PATH", both}}});
  loader_.configure(loaded.config);
  EXPECT_THAT(std::string(loader_.port("other").status().message()),
              HasSubstr("plugin directory /no/such/directory: No such file or directory"));
}

// Nobody named a product and there is a choice: no silicon is taken at random.
TEST_F(LoaderTest, SeveralArchsWithoutTheUsualOneAreNoChoice) {
  directory_.add_working_set();
  directory_.manifest("other.plugin.yaml", "arch", "other", "/no/such/library.so",
                      "arch_type: 257\n");
  configure();
  const std::string message(loader_.arch(0).status().message());
  EXPECT_THAT(message, HasSubstr("no arch plugin lists the product 'trn1.2xlarge'"));
  EXPECT_THAT(message, HasSubstr("double lists double.small, double.large"));
  EXPECT_THAT(message, HasSubstr("/no/such/library.so"));
  configure({{"OPENNRT_CONFIG", directory_.write("c.yaml", "plugins: {arch: double}\n")}});
  EXPECT_TRUE(loader_.arch(0).is_ok());
}

TEST_F(LoaderTest, WorkingSetLoads) {
  directory_.add_working_set();
  configure();
  auto arch = loader_.arch(256);
  ASSERT_TRUE(arch.is_ok()) << arch.status().message();
  EXPECT_STREQ((*arch)->name, "double");
  EXPECT_EQ(*loader_.arch(256), *arch);
  EXPECT_EQ(*loader_.arch(0), *arch);
  auto product = loader_.arch_of_product("double.large");
  ASSERT_TRUE(product.is_ok());
  EXPECT_EQ(*product, *arch);
  EXPECT_TRUE(loader_.port("double").is_ok());
  EXPECT_TRUE(loader_.exists(Kind::kPort, "double"));
  EXPECT_FALSE(loader_.exists(Kind::kPort, "other"));
  EXPECT_THAT(loader_.arch_names(), ::testing::Contains("double"));
}

TEST_F(LoaderTest, AbsentMembersOfADriverLayerAnswerEinval) {
  directory_.add_working_set();
  configure();
  auto ndl = loader_.ndl("double");
  ASSERT_TRUE(ndl.is_ok()) << ndl.status().message();
  const nrtp_ndl_ops& t = **ndl;
  EXPECT_EQ(t.dma->desc_write(nullptr, 0, nullptr, 0, 0, 0), -EINVAL);
  EXPECT_EQ(t.copy->batch(nullptr, 0, nullptr, 0, 0, 0), -EINVAL);
  ASSERT_NE(t.pod, nullptr);  // the double has no such group at all
  EXPECT_EQ(t.pod->info(nullptr, nullptr, nullptr), -EINVAL);
  EXPECT_EQ(t.misc->printk(nullptr, nullptr, 0, 0), -EINVAL);
  EXPECT_EQ(t.dma->size, sizeof(nrtp_ndl_dma));
  EXPECT_STREQ(t.name, "double");
}

TEST_F(LoaderTest, NewerMinorIsAccepted) {
  directory_.manifest("d.plugin.yaml", "ndl", "d", PluginDirectory::library("ndl-newer-minor"));
  configure();
  auto table = loader_.ndl("d");
  EXPECT_TRUE(table.is_ok()) << table.status().message();
}

TEST_F(LoaderTest, TruncatedTable) {
  EXPECT_EQ(refusal("ndl-truncated-table"),
            exact("ndl-truncated-table",
                  fmt::format("table has {} bytes, version 1.0 has {}",
                              offsetof(nrtp_ndl_ops, misc), sizeof(nrtp_ndl_ops))));
}

TEST_F(LoaderTest, OtherMajor) {
  EXPECT_EQ(refusal("ndl-other-major"),
            exact("ndl-other-major",
                  "plugin ABI 2.0, this runtime has 1.0; install the plugin package of the same "
                  "major version"));
}

TEST_F(LoaderTest, OtherMajorInTheManifestAlone) {
  directory_.write("d.plugin.yaml", "kind: ndl\nname: d\nlibrary: /none.so\nabi: \"3.1\"\n");
  configure();
  EXPECT_THAT(std::string(loader_.ndl("d").status().message()),
              HasSubstr("d.plugin.yaml: plugin ABI 3.1, this runtime has 1.0"));
}

TEST_F(LoaderTest, NewerHostNeeded) {
  EXPECT_EQ(refusal("ndl-needs-newer-host"),
            exact("ndl-needs-newer-host",
                  "needs host ABI 1.9, this runtime has 1.0; update the runtime"));
}

TEST_F(LoaderTest, HostFeatureNeeded) {
  EXPECT_EQ(refusal("ndl-needs-feature"),
            exact("ndl-needs-feature", "needs host features 0x10, this runtime has 0x0"));
}

TEST_F(LoaderTest, MissingMember) {
  EXPECT_EQ(refusal("ndl-missing-member"),
            exact("ndl-missing-member", "mandatory member sync.sem_inc is missing"));
}

TEST_F(LoaderTest, MemberOutsideTheGroupsSizeIsMissing) {
  EXPECT_EQ(refusal("ndl-short-group"),
            exact("ndl-short-group", "mandatory member nq.map is missing"));
}

TEST_F(LoaderTest, WrongMagic) {
  EXPECT_EQ(refusal("ndl-wrong-magic"),
            exact("ndl-wrong-magic", "wrong magic 0x12345678, expected 0x5054524e"));
}

TEST_F(LoaderTest, WrongKind) {
  EXPECT_EQ(refusal("ndl-wrong-kind"),
            exact("ndl-wrong-kind", "is a plugin of kind port, expected ndl"));
}

TEST_F(LoaderTest, OtherSanitizer) {
  EXPECT_EQ(refusal("ndl-other-sanitizer"),
            exact("ndl-other-sanitizer",
                  "built with sanitizer 'memory', this runtime with '" OPENNRT_BUILD_SAN "'"));
}

TEST_F(LoaderTest, MissingQuerySymbol) {
  EXPECT_EQ(refusal("ndl-no-symbol"), exact("ndl-no-symbol", "exports no symbol nrtp_ndl_query"));
}

TEST_F(LoaderTest, UnboundSymbolIsFoundAtLoad) {
  EXPECT_THAT(refusal("ndl-unbound"), HasSubstr("opennrt_test_symbol_that_nobody_has"));
}

TEST_F(LoaderTest, ThrowingQuery) {
  EXPECT_EQ(refusal("ndl-throwing"),
            exact("ndl-throwing", "its query function threw an exception"));
}

TEST_F(LoaderTest, QueryThatAnswersNull) {
  EXPECT_EQ(refusal("ndl-null"), exact("ndl-null", "does not know host ABI 1.0"));
}

TEST_F(LoaderTest, MandatoryMemberOfAnArch) {
  directory_.manifest("a.plugin.yaml", "arch", "d", PluginDirectory::library("arch-no-classify"));
  configure();
  EXPECT_EQ(loader_.arch(256).status().message(),
            "no usable plugin for arch 256: " + PluginDirectory::library("arch-no-classify") +
                ": mandatory member address.classify is missing");
}

// The core calls them without asking, so a table without any one of them is refused.
TEST_F(LoaderTest, EveryAddressAndDmaFunctionOfAnArchIsMandatory) {
  directory_.manifest("a.plugin.yaml", "arch", "d", PluginDirectory::library("arch"));
  configure();
  const auto loaded = loader_.arch(256);
  ASSERT_TRUE(loaded.is_ok());
  ASSERT_TRUE(check_arch(**loaded, 256, "x.so").is_ok());
  const auto without = [&](auto group, auto nrtp_arch_plugin::* member, std::size_t offset) {
    nrtp_arch_plugin table = **loaded;
    std::memset(reinterpret_cast<char*>(&group) + offset, 0, sizeof(void*));
    table.*member = &group;
    return std::string(check_arch(table, 256, "x.so").message());
  };
  for (std::size_t at = offsetof(nrtp_arch_address, local_to_device);
       at < sizeof(nrtp_arch_address); at += sizeof(void*))
    EXPECT_THAT(without(*(*loaded)->address, &nrtp_arch_plugin::address, at),
                HasSubstr("mandatory member address."))
        << at;
  for (std::size_t at = offsetof(nrtp_arch_dma, udma_bar0);
       at <= offsetof(nrtp_arch_dma, alloc_class); at += sizeof(void*))
    EXPECT_THAT(without(*(*loaded)->dma, &nrtp_arch_plugin::dma, at),
                HasSubstr("mandatory member dma."))
        << at;
}

TEST_F(LoaderTest, ArchTypeMustMatchTheManifest) {
  directory_.manifest("a.plugin.yaml", "arch", "d", PluginDirectory::library("arch"),
                      "arch_type: 77\n");
  configure();
  EXPECT_THAT(std::string(loader_.arch(77).status().message()),
              EndsWith("is for arch 256, its manifest says 77"));
}

TEST_F(LoaderTest, LibraryThatIsNotThere) {
  directory_.manifest("d.plugin.yaml", "ndl", "d", "gone.so");
  configure();
  EXPECT_EQ(loader_.ndl("d").status().message(),
            "no usable driver layer plugin d: " + directory_.file("gone.so") +
                ": No such file or directory");
}

// Every length is a clear refusal, never a crash.
TEST_F(LoaderTest, TruncatedLibrary) {
  std::ifstream in(PluginDirectory::library("ndl"), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  ASSERT_GT(whole.size(), 8000u);
  int n = 0;
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{3}, std::size_t{63}, std::size_t{64},
                                  std::size_t{200}, std::size_t{4096}, std::size_t{8000}}) {
    const std::string name = fmt::format("cut{}.so", n++);
    directory_.write(name, whole.substr(0, bytes));
    directory_.manifest("d.plugin.yaml", "ndl", "d", name);
    configure();
    auto table = loader_.ndl("d");
    ASSERT_FALSE(table.is_ok()) << bytes;
    EXPECT_THAT(std::string(table.status().message()), HasSubstr(directory_.file(name)));
  }
}

TEST_F(LoaderTest, LibraryOfAnotherMachine) {
  std::ifstream in(PluginDirectory::library("ndl"), std::ios::binary);
  std::string image((std::istreambuf_iterator<char>(in)), {});
  image[18] = 8;  // e_machine: MIPS
  image[19] = 0;
  directory_.write("mips.so", image);
  directory_.manifest("d.plugin.yaml", "ndl", "d", "mips.so");
  configure();
  EXPECT_THAT(std::string(loader_.ndl("d").status().message()),
              HasSubstr("built for machine 8 class 2, this process is machine"));
}

TEST_F(LoaderTest, RefusedFirstChoiceFallsBackToTheNext) {
  directory_.manifest("1.plugin.yaml", "arch", "broken", PluginDirectory::library("ndl"),
                      "priority: 9\n");
  directory_.manifest("2.plugin.yaml", "arch", "good", PluginDirectory::library("arch"));
  configure();
  auto arch = loader_.arch(256);
  ASSERT_TRUE(arch.is_ok()) << arch.status().message();
  EXPECT_STREQ((*arch)->name, "double");
}

TEST_F(LoaderTest, NothingFoundNamesThePlaces) {
  configure();
  const auto message = std::string(loader_.arch(4711).status().message());
  EXPECT_THAT(message, HasSubstr("no plugin for arch 4711 found in " + directory_.path()));
  EXPECT_THAT(message, HasSubstr("OPENNRT_PLUGIN_PATH"));
}

TEST_F(LoaderTest, PluginsArchNamesTheOnlyChoice) {
  directory_.manifest("1.plugin.yaml", "arch", "one", PluginDirectory::library("arch"),
                      "priority: 9\n");
  const auto file = directory_.write("conf.yaml", "plugins: {arch: two}\n");
  configure({{"OPENNRT_CONFIG", file}});
  EXPECT_THAT(std::string(loader_.arch(256).status().message()),
              HasSubstr("no plugin for arch 256 named two"));
}

TEST_F(LoaderTest, ProductOfATargetIsTheFirstOfSeveralDevices) {
  directory_.add_working_set();
  configure();
  EXPECT_EQ(loader_.product_of_target("double"), "double.large");
  EXPECT_EQ(loader_.product_of_target("dou"), "");
  EXPECT_EQ(loader_.product_of_target(""), "");
}

TEST_F(LoaderTest, UnknownProductNamesTheProductsThereAre) {
  directory_.add_working_set();
  configure();
  auto r = loader_.arch_of_product("double.huge");
  EXPECT_EQ(r.status().code(), NRT_INVALID);
  EXPECT_THAT(std::string(r.status().message()),
              HasSubstr("double lists double.small, double.large"));
}

TEST_F(LoaderTest, CandidatesCarryVerdictAndReason) {
  directory_.manifest("1.plugin.yaml", "arch", "first", PluginDirectory::library("arch"),
                      "priority: 9\n");
  directory_.manifest("2.plugin.yaml", "arch", "second", PluginDirectory::library("arch"));
  directory_.manifest("3.plugin.yaml", "ndl", "bad", PluginDirectory::library("ndl-wrong-magic"));
  directory_.manifest("4.plugin.yaml", "ndl", "exp", PluginDirectory::library("ndl"));
  const auto file = directory_.write("conf.yaml", "plugins: {disable: [exp]}\n");
  configure({{"OPENNRT_CONFIG", file}});
  const auto all = loader_.list_candidates();
  auto of = [&](const std::string& name) -> const Candidate& {
    for (const auto& c : all)
      if (c.manifest.name == name) return c;
    static const Candidate none;
    ADD_FAILURE() << name;
    return none;
  };
  EXPECT_EQ(of("first").verdict, Verdict::kSelected);
  EXPECT_EQ(of("second").verdict, Verdict::kOutranked);
  EXPECT_EQ(of("second").reason, "outranked by " + directory_.file("1.plugin.yaml"));
  EXPECT_EQ(of("bad").verdict, Verdict::kRefused);
  EXPECT_THAT(of("bad").reason, HasSubstr("wrong magic"));
  EXPECT_EQ(of("exp").verdict, Verdict::kDisabled);
}

// The plugin's symbols are nobody else's business.
TEST_F(LoaderTest, LoadedLibrariesStayLocal) {
  directory_.add_working_set();
  configure();
  ASSERT_TRUE(loader_.ndl("double").is_ok());
  EXPECT_EQ(dlsym(RTLD_DEFAULT, "nrtp_ndl_query"), nullptr);
}

TEST_F(LoaderTest, AnArchTableOfVersionOneIsComplete) {
  directory_.add_working_set();
  configure();
  const auto found = loader_.arch(256);
  ASSERT_TRUE(found.is_ok());
  nrtp_arch_plugin old = **found;
  nrtp_arch_ib ib = *old.ib;
  old.head.size = kArchTableBytes;
  ib.size = offsetof(nrtp_arch_ib, isa);
  old.ib = &ib;
  EXPECT_TRUE(check_arch(old, 256, "file").is_ok());
  ib.size -= 8;
  EXPECT_THAT(std::string(check_arch(old, 256, "file").message()), HasSubstr("group ib has"));
}

TEST(TableSizes, AreThoseOfVersionOne) {
  // `driver` came with 1.1.
  EXPECT_EQ(kArchTableBytes, offsetof(nrtp_arch_plugin, driver));
  EXPECT_EQ(kNdlTableBytes, sizeof(nrtp_ndl_ops));
  // `control` came with 1.1.
  EXPECT_EQ(kPortTableBytes, offsetof(nrtp_sys_port, control));
}

}  // namespace
}  // namespace opennrt::plugin
