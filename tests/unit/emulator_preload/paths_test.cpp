// SPDX-License-Identifier: Apache-2.0
#include "preload/paths.h"

#include <gtest/gtest.h>

#include <string>

namespace opennrt::emu::preload {
namespace {

std::string normal(const char* base, const std::string& path) {
  char out[kPathBytes];
  return normalise(base, path, out) ? out : "too long";
}

TEST(Paths, Nodes) {
  EXPECT_EQ(locate("/dev/neuron0").place, Place::kDevice);
  EXPECT_EQ(locate("/dev/neuron63").device, 63u);
  for (const char* other : {"/dev/neuron", "/dev/neuron01", "/dev/neuron-1", "/dev/neuron0x",
                            "/dev/neuron1000", "/dev/neuron0/a", "/dev/null", "/devneuron0"})
    EXPECT_EQ(locate(other).place, Place::kElsewhere) << other;
}

TEST(Paths, Attributes) {
  for (const char* ours : {"/sys/module/neuron", "/sys/module/neuron/version",
                           "/sys/class/neuron_device/neuron0/info/architecture/arch_type",
                           "/sys/devices/virtual/dmi/id/product_name"})
    EXPECT_EQ(locate(ours).place, Place::kAttribute) << ours;
  for (const char* other : {"/sys/module/neuron2", "/sys/module/neuronx/version",
                            "/sys/class/neuron_device2", "/sys/devices/virtual/dmi/id"})
    EXPECT_EQ(locate(other).place, Place::kElsewhere) << other;
  for (const char* parent : {"/", "/dev", "/sys", "/sys/class", "/sys/module"})
    EXPECT_EQ(locate(parent).place, Place::kParent) << parent;
}

TEST(Paths, NormalForm) {
  EXPECT_EQ(normal("", "/"), "/");
  EXPECT_EQ(normal("", "//dev///neuron0/"), "/dev/neuron0");
  EXPECT_EQ(normal("", "/a/./b/../../../dev/neuron0"), "/dev/neuron0");
  EXPECT_EQ(normal("/sys/class", "neuron_device/../../module"), "/sys/module");
  EXPECT_EQ(normal("/x", ".."), "/");
  EXPECT_EQ(normal("/x", "/abs"), "/abs");
  EXPECT_EQ(normal("", "..."), "/...");
  const std::string fits(kPathBytes - 2, 'a');
  EXPECT_EQ(normal("", "/" + fits), "/" + fits);
  EXPECT_EQ(normal("", "/" + fits + "a"), "too long");
  EXPECT_EQ(normal("", std::string(5000, '/')), "/");
}

// What cannot be ours must be told apart early; what can must never be missed.
TEST(Paths, Suspicion) {
  for (const char* maybe : {"/dev/neuron0", "/sys/class", "/", "//dev/neuron0", "/x/../dev/neuron0",
                            "../dev/neuron0", "a/../../dev/neuron1"})
    EXPECT_TRUE(suspicious(maybe, false)) << maybe;
  for (const char* no : {"/usr/lib/libc.so.6", "neuron0", "core_count", "../lib/x", ""})
    EXPECT_FALSE(suspicious(no, false)) << no;
  EXPECT_TRUE(suspicious("core_count", true));
  EXPECT_FALSE(suspicious(nullptr, true));
}

}  // namespace
}  // namespace opennrt::emu::preload
