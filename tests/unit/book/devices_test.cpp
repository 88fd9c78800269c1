// SPDX-License-Identifier: Apache-2.0
//
// Which network card is next to a device, on a made-up PCI tree.
#include "book/devices.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace opennrt::book {
namespace {

namespace fs = std::filesystem;

class PciTree : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("onrt-pci-" + std::to_string(getpid()));
    fs::remove_all(root_);
    fs::create_directories(bus());
  }
  void TearDown() override { fs::remove_all(root_); }
  fs::path bus() const { return root_ / "bus"; }
  // A function at a path of bridges, and its link.
  void add(const std::string& path, const std::string& vendor, const std::string& device) {
    const fs::path place = root_ / "devices" / path;
    fs::create_directories(place);
    std::ofstream(place / "vendor") << vendor << "\n";
    std::ofstream(place / "device") << device << "\n";
    fs::create_symlink(place, bus() / place.filename());
  }
  std::string nearest(const std::string& device) { return nearest_card(bus().string(), device); }
  fs::path root_;
};

TEST_F(PciTree, CardBehindTheSameBridgeWins) {
  add("pci0000:00/0000:00:01.0/0000:10:00.0", "0x1d0f", "0x7164");
  add("pci0000:00/0000:00:02.0/0000:20:00.0", "0x1d0f", "0x7164");
  add("pci0000:00/0000:00:01.0/0000:10:1e.0", "0x1d0f", "0xefa1");
  add("pci0000:00/0000:00:02.0/0000:20:1e.0", "0x1d0f", "0xefa1");
  EXPECT_EQ(nearest("0000:10:00.0"), "0000:10:1e.0");
  EXPECT_EQ(nearest("0000:20:00.0"), "0000:20:1e.0");
}

TEST_F(PciTree, AnyCardIsBetterThanNone) {
  add("pci0000:00/0000:00:01.0/0000:10:00.0", "0x1d0f", "0x7164");
  add("pci0000:01/0000:30:00.0", "0x1d0f", "0xefa2");
  add("pci0000:01/0000:31:00.0", "0x1d0f", "0xefa2");
  EXPECT_EQ(nearest("0000:10:00.0"), "0000:30:00.0");
}

TEST_F(PciTree, OthersAreNoCards) {
  add("pci0000:00/0000:10:00.0", "0x1d0f", "0x7164");
  add("pci0000:00/0000:10:01.0", "0x8086", "0xefa1");
  add("pci0000:00/0000:10:02.0", "0x1d0f", "0xec20");
  EXPECT_EQ(nearest("0000:10:00.0"), "");
  EXPECT_EQ(nearest("0000:99:00.0"), "");
  EXPECT_EQ(nearest_card((root_ / "absent").string(), "0000:10:00.0"), "");
}

TEST(PciAddress, Text) {
  EXPECT_EQ(text_of({0, 0, 0x1e, 0}), "0000:00:1e.0");
  EXPECT_EQ(text_of({0x10, 0xab, 1, 7}), "0010:ab:01.7");
}

}  // namespace
}  // namespace opennrt::book
