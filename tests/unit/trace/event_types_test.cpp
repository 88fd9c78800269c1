// SPDX-License-Identifier: Apache-2.0
#include "trace/event_types.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace opennrt::trace {
namespace {

// Numbers and names of the public interface, written down independently.
TEST(EventTypes, NumbersAndNamesAreThoseOfTheInterface) {
  const std::vector<std::pair<int, std::string>> known = {
      {0, "generic"},           {1, "model_load"},
      {3, "nrt_execute"},       {4, "runtime_execute"},
      {6, "cc_exec_barrier"},   {7, "nc_exec_running"},
      {8, "cc_running"},        {9, "tensor_read"},
      {10, "tensor_write"},     {13, "numerical_err"},
      {17, "kbl_exec_pre"},     {19, "kbl_exec_wait"},
      {24, "hw_notify"},        {25, "timestamp_sync_point"},
      {26, "nrt_model_switch"}, {30, "dmem_buf_copyin"},
      {31, "dmem_buf_copyout"}, {34, "dma_mem_alloc"},
      {45, "hostcc_wait"}};
  for (const auto& [number, name] : known) {
    EXPECT_EQ(name_of(static_cast<EventType>(number)), name) << number;
    EXPECT_EQ(static_cast<int>(type_of(name).value()), number) << name;
  }
  std::set<std::string> all;
  for (std::size_t i = 0; i < 46; ++i) all.emplace(name_of(static_cast<EventType>(i)));
  EXPECT_EQ(all.size(), 46u);
  EXPECT_EQ(all.count("unknown"), 0u);
  EXPECT_EQ(name_of(static_cast<EventType>(46)), "unknown");
}

TEST(EventTypes, SecondNamesMeanTheSame) {
  EXPECT_EQ(type_of("nrt_load"), EventType::kModelLoad);
  EXPECT_EQ(type_of("cc_exec"), EventType::kCcExec);
  EXPECT_EQ(type_of("device_exec"), EventType::kDeviceExec);
  EXPECT_EQ(type_of("nrt_tensor_read"), EventType::kTensorRead);
  EXPECT_FALSE(type_of("NRT_EXECUTE"));
  EXPECT_FALSE(type_of(""));
}

// The published mask of hardware events counts from type 6.
TEST(EventTypes, HardwareGroup) {
  std::uint64_t expected = 0;
  for (const int type : {6, 7, 8, 13, 24, 25, 26}) expected |= 1ull << type;
  EXPECT_EQ(kHardwareTypes, expected);
}

TEST(EventTypes, PayloadOfADeviceExecution) {
  auto names = [](EventType t, Phase p) {
    std::vector<std::string> out;
    for (const Field& f : fields_of(t, p)) out.emplace_back(f.name);
    return out;
  };
  EXPECT_EQ(names(EventType::kDeviceExec, Phase::kStart),
            (std::vector<std::string>{"device_core_idx", "exec_id", "nc_timestamp_ns",
                                      "cpu_timestamp_ns", "model_id"}));
  EXPECT_EQ(names(EventType::kDeviceExec, Phase::kStop),
            (std::vector<std::string>{"nc_timestamp_ns", "cpu_timestamp_ns"}));
  EXPECT_TRUE(names(EventType::kGeneric, Phase::kInstant).empty());
  EXPECT_TRUE(names(EventType::kTensorRead, Phase::kStop).empty());
}

TEST(EventTypes, Filters) {
  auto filter = [](std::vector<std::string> items) { return *types_of_filter(items); };
  EXPECT_EQ(filter({}), kAllTypes);
  EXPECT_EQ(filter({"hardware"}), kHardwareTypes);
  EXPECT_EQ(filter({"software"}), kAllTypes & ~kHardwareTypes);
  EXPECT_EQ(filter({"nrt_execute", "tensor_read"}), 1ull << 3 | 1ull << 9);
  EXPECT_EQ(filter({"^hardware"}), kAllTypes & ~kHardwareTypes);
  EXPECT_EQ(filter({"hardware", "^hw_notify"}), kHardwareTypes & ~(1ull << 24));
  EXPECT_EQ(filter({"all", "^generic"}), kAllTypes & ~1ull);
  const std::vector<std::string> bad = {"^nothing"};
  const auto refused = types_of_filter(bad);
  ASSERT_FALSE(refused.is_ok());
  EXPECT_EQ(refused.status().code(), NRT_INVALID);
  EXPECT_NE(refused.status().message().find("^nothing"), std::string::npos);
}

}  // namespace
}  // namespace opennrt::trace
