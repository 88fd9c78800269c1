// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "fake_port.h"

namespace opennrt::ndl_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct ProbeTest : NdlTest {
  // The one error line of a refused probe.
  std::string refused(int expected) {
    EXPECT_EQ(ops->probe->probe(ctx), expected);
    EXPECT_EQ(ops->caps(ctx), 0u);
    const auto lines = host.errors();
    EXPECT_EQ(lines.size(), 1u);
    return lines.empty() ? "" : lines[0];
  }
};

TEST_F(ProbeTest, AcceptsACurrentDriver) {
  EXPECT_EQ(ops->probe->probe(ctx), 0);
  EXPECT_EQ(ops->caps(ctx), 0x1FFu);
  EXPECT_TRUE(host.errors().empty());
}

TEST_F(ProbeTest, AcceptsEveryDriverFrom224) {
  for (const char* version : {"2.24.7.0", "2.25.4.0", "2.26.5.0", "2.27.4.0"}) {
    port.texts["/sys/module/neuron/version"] = version;
    port.driver(2, 5, 7, 0xFF);
    EXPECT_EQ(ops->probe->probe(ctx), 0);
    port.driver(4, 10, 11, 0x1FF);
    EXPECT_EQ(ops->probe->probe(ctx), 0);
  }
}

TEST_F(ProbeTest, ModuleNotLoaded) {
  port.texts.erase("/sys/module/neuron/version");
  EXPECT_THAT(refused(-ENODEV), AllOf(HasSubstr("not loaded"), HasSubstr("modprobe neuron")));
  EXPECT_EQ(port.opens, 0);
}

TEST_F(ProbeTest, VersionNotReadable) {
  port.text_errors["/sys/module/neuron/version"] = -EACCES;
  EXPECT_THAT(refused(-EACCES), HasSubstr("EACCES"));
}

TEST_F(ProbeTest, NodeMissing) {
  port.nodes.clear();
  EXPECT_THAT(refused(-ENOENT),
              AllOf(HasSubstr("/dev/neuron0 does not exist"), HasSubstr("--device")));
}

TEST_F(ProbeTest, NoPermission) {
  for (const int error : {-EACCES, -EPERM}) {
    port.nodes["/dev/neuron0"] = error;
    host.lines.clear();
    EXPECT_THAT(refused(error), AllOf(HasSubstr("/dev/neuron0"), HasSubstr("permission")));
  }
}

TEST_F(ProbeTest, Version1IsRefusedBeforeAnyRequest) {
  port.texts["/sys/module/neuron/version"] = "1.9.3";
  EXPECT_THAT(refused(-EPROTONOSUPPORT),
              AllOf(HasSubstr("driver 1.9.3 is too old"), HasSubstr("package")));
  EXPECT_TRUE(port.calls.empty());
}

TEST_F(ProbeTest, VersionTextThatIsNone) {
  for (const char* text : {"", "\n", "unknown", "2", "2.", ".2", "99999999999.1", "-1.2"}) {
    port.texts["/sys/module/neuron/version"] = text;
    host.lines.clear();
    EXPECT_THAT(refused(-EPROTONOSUPPORT), HasSubstr("not a version number")) << text;
  }
}

// A driver that asks for a later runtime.
TEST_F(ProbeTest, RuntimeTooOld) {
  port.driver(3, 11, 12, 0x1FF);
  EXPECT_THAT(refused(-EPROTONOSUPPORT),
              AllOf(HasSubstr("runtime (package opennrt-ndl"), HasSubstr("too old"),
                    HasSubstr("11 to 12"), HasSubstr("2.27.4.0")));
}

TEST_F(ProbeTest, DriverTooOldByWindow) {
  port.driver(3, 8, 10, 0x1FF);
  EXPECT_THAT(refused(-EPROTONOSUPPORT),
              AllOf(HasSubstr("driver 2.27.4.0 is too old"), HasSubstr("8 to 10"),
                    HasSubstr("aws-neuronx-dkms")));
}

TEST_F(ProbeTest, Arch2HasItsOwnIds) {
  port.driver(2, 6, 6, 0x1FF);
  EXPECT_EQ(ops->probe->probe(ctx), 0);
  port.driver(2, 7, 9, 0x1FF);
  EXPECT_EQ(ops->probe->probe(ctx), -EPROTONOSUPPORT);
  port.driver(2, 3, 5, 0x1FF);
  EXPECT_EQ(ops->probe->probe(ctx), -EPROTONOSUPPORT);
  // What arch 3 accepts, arch 2 does not.
  port.driver(2, 10, 11, 0x1FF);
  EXPECT_EQ(ops->probe->probe(ctx), -EPROTONOSUPPORT);
}

TEST_F(ProbeTest, EachOfTheFirstEightFeaturesIsNeeded) {
  for (uint32_t bit = 0; bit < 8; ++bit) {
    port.driver(3, 10, 11, 0x1FF & ~(uint64_t{1} << bit));
    host.lines.clear();
    EXPECT_THAT(refused(-EOPNOTSUPP),
                AllOf(HasSubstr("too old"), HasSubstr("(bit " + std::to_string(bit) + ");"),
                      HasSubstr("aws-neuronx-dkms"), HasSubstr("`ndl: compat`")))
        << bit;
  }
}

TEST_F(ProbeTest, MissingFeaturesAreNamed) {
  port.driver(3, 10, 11, 0x1FF & ~0x42u);
  EXPECT_THAT(refused(-EOPNOTSUPP),
              HasSubstr("lacks asynchronous copy (bit 1), 64-bit sizes (bit 6);"));
}

TEST_F(ProbeTest, AllFeaturesMissingFitsTheLine) {
  port.driver(3, 10, 11, 0);
  constexpr uint32_t kChunkInfoV2 = 0xC0204E6F;
  port.fail(kChunkInfoV2, -EINVAL);
  EXPECT_THAT(refused(-EOPNOTSUPP),
              AllOf(HasSubstr("lacks dma-buf (bit 0), "),
                    HasSubstr("scratchpad (bit 7), MEM_MC_GET_INFO_V2 (request 111);"),
                    HasSubstr("`ndl: auto`")));
}

// The request has no bit, so it is asked: of an address no chunk is at.
TEST_F(ProbeTest, TheChunkRequestIsNeeded) {
  constexpr uint32_t kChunkInfoV2 = 0xC0204E6F;
  port.fail(kChunkInfoV2, -EINVAL);
  EXPECT_THAT(refused(-EOPNOTSUPP), HasSubstr("lacks MEM_MC_GET_INFO_V2 (request 111);"));
  EXPECT_EQ(get<uint64_t>(port.calls_of(kChunkInfoV2).at(0).arg.data(), 0), UINT64_MAX);
  port.fail(kChunkInfoV2, -ENOMEM);
  EXPECT_EQ(ops->probe->probe(ctx), 0);
}

// A device that cannot be opened now says so when it is used.
TEST_F(ProbeTest, ABusyDeviceIsNotAnOldDriver) {
  for (const int error : {-EBUSY, -EINVAL}) {
    EXPECT_EQ(ops->probe->feature_supported(ctx, 0, std::make_unique<uint32_t>().get()), 0);
    port.nodes["/dev/neuron0"] = error;  // the misc lane is open already
    EXPECT_EQ(ops->probe->probe(ctx), 0);
    port.nodes["/dev/neuron0"] = 0;
  }
}

TEST_F(ProbeTest, ZeroCopyIsNotNeeded) {
  port.driver(2, 5, 7, 0xFF);
  EXPECT_EQ(ops->probe->probe(ctx), 0);
  uint32_t supported = 9;
  EXPECT_EQ(ops->probe->feature_supported(ctx, NRTP_FEATURE_ZEROCOPY, &supported), 0);
  EXPECT_EQ(supported, 0u);
}

TEST_F(ProbeTest, WithoutAFeatureWordNothingIsSupported) {
  port.fail(kDriverInfoCode, -EINVAL);
  port.on(0x40084E64, 8, [](void* arg) {
    put<uint32_t>(arg, 0, 3);
    return int64_t{0};
  });
  EXPECT_THAT(refused(-EOPNOTSUPP), HasSubstr("lacks dma-buf (bit 0)"));
}

TEST_F(ProbeTest, ARequestThatFailsOtherwiseIsPassedOn) {
  port.fail(kCompatCode, -EIO);
  EXPECT_THAT(refused(-EIO), HasSubstr("EIO"));
  port.driver(3, 10, 11, 0x1FF);
  port.fail(kDriverInfoCode, 24);
  host.lines.clear();
  EXPECT_THAT(refused(-EFAULT), HasSubstr("features"));
}

TEST_F(ProbeTest, FeatureSupportedWorksBeforeProbe) {
  uint32_t supported = 0;
  EXPECT_EQ(ops->probe->feature_supported(ctx, 8, &supported), 0);
  EXPECT_EQ(supported, 1u);
  EXPECT_EQ(ops->probe->feature_supported(ctx, 9, &supported), 0);
  EXPECT_EQ(supported, 0u);
  EXPECT_EQ(ops->probe->feature_supported(ctx, 64, &supported), -EINVAL);
  EXPECT_EQ(ops->probe->feature_supported(ctx, 0, nullptr), -EINVAL);
}

TEST_F(ProbeTest, VersionIsParsed) {
  nrtp_ndl_version version{};
  EXPECT_EQ(ops->probe->get_version(ctx, &version), 0);
  EXPECT_EQ(version.major, 2u);
  EXPECT_EQ(version.minor, 27u);
  EXPECT_EQ(version.patch, 4u);
  EXPECT_EQ(version.maintenance, 0u);
  EXPECT_STREQ(version.text, "2.27.4.0");
  port.texts["/sys/module/neuron/version"] = "none";
  EXPECT_EQ(ops->probe->get_version(ctx, &version), -EPROTONOSUPPORT);
  EXPECT_STREQ(version.text, "2.27.4.0") << "written only on success";
  EXPECT_EQ(ops->probe->get_version(ctx, nullptr), -EINVAL);
}

TEST_F(ProbeTest, DevelopmentBuildsHaveNoMinorNumber) {
  port.texts["/sys/module/neuron/version"] = "2.x.6781.0\n";
  nrtp_ndl_version version{};
  EXPECT_EQ(ops->probe->get_version(ctx, &version), 0);
  EXPECT_EQ(version.major, 2u);
  EXPECT_EQ(version.minor, 0u);
  EXPECT_STREQ(version.text, "2.x.6781.0");
}

TEST_F(ProbeTest, AVersionFileWithoutEndIsCut) {
  port.texts["/sys/module/neuron/version"] = "2.27.4.0-" + std::string(500, 'x');
  nrtp_ndl_version version{};
  EXPECT_EQ(ops->probe->get_version(ctx, &version), 0);
  EXPECT_EQ(std::string(version.text).size(), sizeof version.text - 1);
}

TEST_F(ProbeTest, CompatibleVersionHasTheMaximumFirst) {
  uint32_t min = 0, max = 0;
  EXPECT_EQ(ops->probe->get_compatible_version(ctx, &min, &max), 0);
  EXPECT_EQ(min, 10u);
  EXPECT_EQ(max, 11u);
}

TEST_F(ProbeTest, ProductNameIsTrimmed) {
  char name[16];
  EXPECT_EQ(ops->probe->product_name(ctx, name, sizeof name), 0);
  EXPECT_STREQ(name, "trn2.48xlarge");
  EXPECT_EQ(ops->probe->product_name(ctx, name, 14), 0);
  EXPECT_EQ(ops->probe->product_name(ctx, name, 13), -ERANGE);
  EXPECT_EQ(ops->probe->product_name(ctx, nullptr, 16), -EINVAL);
  port.texts["/sys/devices/virtual/dmi/id/product_name"] = " \n";
  EXPECT_EQ(ops->probe->product_name(ctx, name, sizeof name), -ENOENT);
  port.texts.clear();
  EXPECT_EQ(ops->probe->product_name(ctx, name, sizeof name), -ENOENT);
}

TEST_F(ProbeTest, AvailableListsHoles) {
  port.add_device(5);
  port.add_device(63);
  int32_t indexes[4] = {-1, -1, -1, -1};
  EXPECT_EQ(ops->device->available(ctx, indexes, 4), 3);
  EXPECT_THAT(indexes, ::testing::ElementsAre(0, 5, 63, -1));
  EXPECT_EQ(ops->device->available(ctx, indexes, 1), 3);
  EXPECT_EQ(ops->device->available(ctx, nullptr, 0), 3);
  EXPECT_EQ(ops->device->available(ctx, nullptr, 1), -EINVAL);
  EXPECT_EQ(port.opens, 0);
}

TEST_F(ProbeTest, AvailableWithoutDevicesIsZero) {
  port.nodes.clear();
  int32_t index = -1;
  EXPECT_EQ(ops->device->available(ctx, &index, 1), 0);
  EXPECT_TRUE(host.errors().empty());
}

TEST_F(ProbeTest, AvailableThatCannotLookSaysWhy) {
  port.exists_error = -EACCES;
  int32_t index = -1;
  EXPECT_EQ(ops->device->available(ctx, &index, 1), -EACCES);
  EXPECT_EQ(host.errors().size(), 1u);
}

TEST_F(ProbeTest, BdfCountsFromTheDeviceThatWasOpened) {
  port.nodes.clear();
  port.add_device(4);
  port.on(0x80084E6A, 16, [](void* arg) {
    EXPECT_EQ(get<uint32_t>(arg, 0), 2u);
    return int64_t{0};
  });
  nrtp_ndl_bdf bdf{};
  EXPECT_EQ(ops->device->bdf_ext(ctx, 6, &bdf), 0);
  EXPECT_EQ(ops->device->bdf_ext(ctx, 64, &bdf), -EINVAL);
  EXPECT_EQ(ops->device->bdf(ctx, 64, &bdf), -EINVAL);
}

}  // namespace
}  // namespace opennrt::ndl_test
