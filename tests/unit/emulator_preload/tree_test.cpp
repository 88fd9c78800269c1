// SPDX-License-Identifier: Apache-2.0
#include "launcher/tree.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <set>

#include "run_program.h"

namespace opennrt::emu::launcher {
namespace {

TEST(Tree, HasWhatTheMachineHas) {
  const test::Directory directory;
  const std::string root = directory / "tree";
  std::string error;
  const std::set<std::string> known = {
      "/dev/neuron0", "/dev/neuron63", "/sys/module/neuron/version",
      "/sys/class/neuron_device/neuron63/reset",
      "/sys/class/neuron_device/neuron63/neuron_core7/info/architecture/arch_type"};
  ::umask(077);
  ASSERT_TRUE(make_tree(
      root, [&](const std::string& n) { return known.contains(n); }, &error))
      << error;
  ::umask(022);
  std::set<std::string> made;
  for (const auto& e : std::filesystem::recursive_directory_iterator(root)) {
    struct stat status;
    ASSERT_EQ(::stat(e.path().c_str(), &status), 0);
    if (e.is_directory()) {
      EXPECT_EQ(status.st_mode & 0777, 0555u) << e.path();
      continue;
    }
    const std::string name = e.path().string().substr(root.size());
    made.insert(name);
    const mode_t mode = name.starts_with("/dev") ? 0666 : name.ends_with("reset") ? 0644 : 0444;
    EXPECT_EQ(status.st_mode & 0777, mode) << name;
  }
  EXPECT_EQ(made, known);
  remove_tree(root);
  EXPECT_FALSE(std::filesystem::exists(root));
}

// A device without its node has no attributes.
TEST(Tree, HolesStayHoles) {
  const test::Directory directory;
  std::string error;
  ASSERT_TRUE(make_tree(
      directory / "tree",
      [](const std::string& n) {
        return n.find("neuron_device/neuron3/") != n.npos || n == "/dev/neuron4";
      },
      &error));
  EXPECT_FALSE(std::filesystem::exists(directory / "tree/sys/class/neuron_device/neuron3"));
}

TEST(Tree, RemovalFollowsNoLink) {
  const test::Directory directory;
  std::ofstream(directory / "kept") << "x";
  std::filesystem::create_directory(directory / "tree");
  std::filesystem::create_symlink(directory.path(), directory / "tree/link");
  remove_tree(directory / "tree");
  EXPECT_TRUE(std::filesystem::exists(directory / "kept"));
  EXPECT_FALSE(std::filesystem::exists(directory / "tree"));
}

TEST(Tree, NoRoom) {
  std::string error;
  EXPECT_FALSE(make_tree("/proc/no/such", [](const std::string&) { return true; }, &error));
  EXPECT_NE(error.find("/proc/no/such"), std::string::npos) << error;
}

}  // namespace
}  // namespace opennrt::emu::launcher
