// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "book/machine.h"
#include "book/reservation.h"
#include "support/plugin_directory.h"

namespace opennrt::book {
namespace {

using ::testing::HasSubstr;

class BookTest : public ::testing::Test {
 protected:
  // settings: of the driver layer double, "key: value, ...".
  void configure(const std::string& settings = "", config::Environment extra = {}) {
    const auto file = directory_.write(
        "conf.yaml",
        fmt::format("device: double\nndl: double\nplugins: {{settings: {{double: {{{}}}}}}}\n",
                    settings));
    extra.emplace("OPENNRT_CONFIG", file);
    extra.emplace("OPENNRT_PLUGIN_PATH", directory_.path());
    auto loaded = config::load({.system_file = "", .environment = std::move(extra)});
    ASSERT_TRUE(loaded.status.is_ok()) << loaded.status.message();
    config_ = loaded.config;
    loader_.configure(config_);
  }
  void open(const std::string& settings = "", config::Environment extra = {}) {
    directory_.add_working_set();
    configure(settings, std::move(extra));
    auto driver = Driver::open(loader_, *config_);
    ASSERT_TRUE(driver.is_ok()) << driver.status().message();
    driver_ = *std::move(driver);
    auto machine = discover(*driver_, loader_);
    ASSERT_TRUE(machine.is_ok()) << machine.status().message();
    machine_ = *std::move(machine);
  }
  test::PluginDirectory directory_;
  plugin::Loader loader_;
  std::shared_ptr<const config::Config> config_;
  std::unique_ptr<Driver> driver_;
  Machine machine_;
};

TEST_F(BookTest, DiscoversDevicesSiliconAndProduct) {
  open("devices: 4, product: double.large");
  EXPECT_THAT(machine_.devices, ::testing::ElementsAre(0u, 1u, 2u, 3u));
  EXPECT_STREQ(machine_.arch->name, "double");
  EXPECT_STREQ(machine_.product->name, "double.large");
  EXPECT_TRUE(machine_.product_known);
  EXPECT_EQ(machine_.platform, static_cast<std::uint32_t>(NRTP_PLATFORM_EMULATOR));
  EXPECT_EQ(machine_.physical_cores(), 16u);
  const auto info = instance_info(machine_);
  EXPECT_EQ(info.family, 7u);
  EXPECT_EQ(info.size, 6u);
  EXPECT_STREQ(info.arch_name, "double");
}

TEST_F(BookTest, UnknownProductIsChosenByItsNumberOfDevices) {
  open("devices: 4, product: something.else");
  EXPECT_FALSE(machine_.product_known);
  EXPECT_STREQ(machine_.product->name, "double.large");
  EXPECT_EQ(instance_info(machine_).family, static_cast<std::uint32_t>(NRT_INSTANCE_UNKNOWN));
  EXPECT_EQ(instance_info(machine_).size, static_cast<std::uint32_t>(NRT_INSTANCE_SIZE_UNKNOWN));
}

TEST_F(BookTest, LogicalCoreSize) {
  open();
  EXPECT_EQ(*lnc_size(machine_, *config_), 2u);  // default of the silicon
  auto with = [&](const char* size) -> Result<std::uint32_t> {
    auto loaded =
        config::load({.system_file = "", .environment = {{"NEURON_LOGICAL_NC_CONFIG", size}}});
    if (!loaded.status) return std::move(loaded.status);
    return lnc_size(machine_, *loaded.config);
  };
  EXPECT_EQ(*with("1"), 1u);
  EXPECT_EQ(*with("2"), 2u);
  for (const char* bad : {"3", "4", "8", "64"}) {
    EXPECT_EQ(with(bad).status().code(), NRT_INVALID) << bad;
  }
}

TEST_F(BookTest, CoreRequests) {
  open("devices: 4");  // 16 physical, 8 logical cores
  auto with = [&](config::Environment e) {
    auto loaded = config::load({.system_file = "", .environment = std::move(e)});
    return core_request(machine_, *loaded.config);
  };
  auto all = with({});
  ASSERT_TRUE(all.is_ok());
  EXPECT_EQ(all->total, 8u);
  EXPECT_EQ(all->count, 8u);
  EXPECT_FALSE(all->is_explicit);
  auto some = with({{"NEURON_RT_VISIBLE_CORES", "3-5"}});
  ASSERT_TRUE(some.is_ok());
  EXPECT_EQ(some->first, 3u);
  EXPECT_EQ(some->count, 3u);
  EXPECT_TRUE(some->is_explicit);
  auto beyond = with({{"NEURON_RT_VISIBLE_CORES", "7-9"}});
  EXPECT_EQ(beyond.status().code(), NRT_INVALID);
  EXPECT_THAT(std::string(beyond.status().message()), HasSubstr("core 9 is on /dev/neuron4"));
  EXPECT_EQ(with({{"NEURON_RT_NUM_CORES", "1"}})->count, 1u);
  EXPECT_EQ(with({{"NEURON_RT_NUM_CORES", "4"}})->count, 4u);  // two devices
  EXPECT_EQ(with({{"NEURON_RT_NUM_CORES", "3"}}).status().code(), NRT_INVALID);
  auto many = with({{"NEURON_RT_NUM_CORES", "9"}});
  EXPECT_EQ(many.status().code(), NRT_INVALID);
  EXPECT_THAT(std::string(many.status().message()),
              HasSubstr("NEURON_RT_NUM_CORES (cores.count) is 9"));
  const std::string file = directory_.write("c.yaml", "cores:\n  count: 9\n");
  EXPECT_THAT(std::string(with({{"OPENNRT_CONFIG", file}}).status().message()),
              HasSubstr(file + ":2 (cores.count) is 9"));
  const std::string visible = directory_.write("v.yaml", "cores:\n  visible: 7-9\n");
  EXPECT_THAT(std::string(with({{"OPENNRT_CONFIG", visible}}).status().message()),
              HasSubstr(visible + ":2 (cores.visible): visible cores 7-9: core 9"));
}

TEST_F(BookTest, ReservationMapsLogicalCores) {
  open("devices: 2", {{"NEURON_RT_VISIBLE_CORES", "1-2"}});
  auto r = Reservation::take(*driver_, machine_, *core_request(machine_, *config_));
  ASSERT_TRUE(r.is_ok()) << r.status().message();
  EXPECT_EQ((*r)->first(), 1u);
  const auto& cores = (*r)->logical_cores();
  ASSERT_EQ(cores.size(), 2u);
  EXPECT_EQ(cores[0][0].device, 0u);
  EXPECT_EQ(cores[0][0].core, 2u);
  EXPECT_EQ(cores[0][1].core, 3u);
  EXPECT_EQ(cores[1][0].device, 1u);
  EXPECT_EQ(cores[1][0].core, 0u);
}

TEST_F(BookTest, CountTakesTheFirstFreeCores) {
  open("devices: 2, taken: 4", {{"NEURON_RT_NUM_CORES", "2"}});
  auto r = Reservation::take(*driver_, machine_, *core_request(machine_, *config_));
  ASSERT_TRUE(r.is_ok()) << r.status().message();
  EXPECT_EQ((*r)->first(), 2u);
  EXPECT_EQ((*r)->logical_cores()[0][0].device, 1u);
}

TEST_F(BookTest, TakenCoresAreAFailureWithNumbers) {
  open("devices: 1, taken: 3", {{"NEURON_RT_VISIBLE_CORES", "0-1"}});
  auto r = Reservation::take(*driver_, machine_, *core_request(machine_, *config_));
  EXPECT_EQ(r.status().code(), NRT_FAILURE);
  EXPECT_THAT(std::string(r.status().message()),
              HasSubstr("2 logical core(s) asked for, 0 free in a row"));
  EXPECT_EQ(r.status().cause(), Cause::kDeviceInUse);
}

TEST_F(BookTest, FreeCoresInsideALogicalCoreAreInvalid) {
  open("devices: 1, taken: 1", {{"NEURON_RT_NUM_CORES", "1"}});
  auto r = Reservation::take(*driver_, machine_, *core_request(machine_, *config_));
  EXPECT_EQ(r.status().code(), NRT_INVALID);
  EXPECT_THAT(std::string(r.status().message()), HasSubstr("NEURON_RT_VISIBLE_CORES=1-1"));
}

TEST_F(BookTest, NoDevice) {
  directory_.add_working_set();
  configure("devices: 0");
  auto driver = Driver::open(loader_, *config_);
  EXPECT_EQ(driver.status().code(), NRT_INVALID);
  EXPECT_THAT(std::string(driver.status().message()), HasSubstr("double reports no device"));
}

TEST_F(BookTest, ProbeFailures) {
  directory_.add_working_set();
  configure("probe: 13");  // EACCES
  EXPECT_THAT(std::string(Driver::open(loader_, *config_).status().message()),
              HasSubstr("permission denied"));
  configure("probe: 130");  // EOWNERDEAD
  const Status gone = Driver::open(loader_, *config_).status();
  EXPECT_EQ(gone.code(), NRT_HW_ERROR);
  EXPECT_THAT(std::string(gone.message()), HasSubstr("the software device is lost"));
  configure("probe: 22");
  EXPECT_THAT(std::string(Driver::open(loader_, *config_).status().message()),
              HasSubstr("double cannot drive this driver: Invalid argument"));
}

// Nothing is detached that did not attach, whatever it left behind.
TEST_F(BookTest, FailedPortAttach) {
  directory_.add_working_set();
  configure("port: 12");
  const Status status = Driver::open(loader_, *config_).status();
  EXPECT_EQ(status.code(), NRT_INVALID);
  EXPECT_THAT(std::string(status.message()), HasSubstr("device double: Cannot allocate memory"));
}

// ndl: auto looks for ndl-compat when ndl-kernel finds the driver too old, and
// for no other reason.
TEST_F(BookTest, AutomaticChoiceOfTheDriverLayer) {
  directory_.add_working_set();
  const auto open_auto = [&](const char* settings) {
    configure(settings, {{"OPENNRT_NDL", "auto"}});
    return Driver::open(loader_, *config_);
  };
  directory_.manifest("kernel.plugin.yaml", "ndl", "ndl-kernel",
                      test::PluginDirectory::library("ndl"));
  constexpr char kTooOld[] = "probe: 95";  // EOPNOTSUPP
  EXPECT_THAT(std::string(open_auto(kTooOld).status().message()),
              HasSubstr("ndl-compat, which drives older drivers, is not installed"));
  EXPECT_THAT(std::string(open_auto("probe: 93").status().message()),
              ::testing::Not(HasSubstr("ndl-compat")));
  EXPECT_TRUE(open_auto("probe: 0").is_ok());
  directory_.manifest("compat.plugin.yaml", "ndl", "ndl-compat",
                      test::PluginDirectory::library("ndl"));
  EXPECT_THAT(std::string(open_auto(kTooOld).status().message()),
              HasSubstr("cannot drive this driver: Operation not supported"));
}

TEST_F(BookTest, MissingPlugins) {
  configure();
  EXPECT_THAT(std::string(Driver::open(loader_, *config_).status().message()),
              HasSubstr("conf.yaml:1: device=double: no port plugin double found in"));
  directory_.manifest("port.plugin.yaml", "port", "double", test::PluginDirectory::library("port"));
  configure();
  EXPECT_THAT(std::string(Driver::open(loader_, *config_).status().message()),
              HasSubstr("no driver layer plugin double found in"));
  directory_.manifest("ndl.plugin.yaml", "ndl", "double", test::PluginDirectory::library("ndl"));
  configure();
  auto driver = Driver::open(loader_, *config_);
  ASSERT_TRUE(driver.is_ok()) << driver.status().message();
  auto machine = discover(**driver, loader_);
  EXPECT_EQ(machine.status().code(), NRT_INVALID);
  EXPECT_THAT(std::string(machine.status().message()), HasSubstr("unsupported arch 256"));
}

}  // namespace
}  // namespace opennrt::book
