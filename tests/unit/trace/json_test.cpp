// SPDX-License-Identifier: Apache-2.0
#include "trace/json.h"

#include <gtest/gtest.h>
#include <simdjson.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "trace/names.h"

namespace opennrt::trace {
namespace {

std::string text_of(const std::vector<Record>& records) {
  TextBlock text;
  EXPECT_TRUE(append_json(records, text).is_ok());
  return std::string(text.view());
}

Record record(EventType type, Phase phase, const Payload& data) {
  Record r;
  r.event = {.type = type, .phase = phase, .core = 3, .tracking = 9, .sequence = 0, .data = data};
  r.id = 1;
  r.core_id = 2;
  r.thread = 4;
  r.time_ns = 5;
  return r;
}

TEST(Json, EmptyTraceIsAnEmptyList) { EXPECT_EQ(text_of({}), R"({"events":[],"data_version":2})"); }

TEST(Json, KeysAndTheirOrder) {
  Record r = record(EventType::kTensorRead, Phase::kStart, {17, 4096});
  EXPECT_EQ(text_of({r}),
            R"({"events":[{"event_type":"tensor_read","phase":"start","id":1,"nc_idx":3,)"
            R"("nc_local_id":2,"tracking_id":9,"thread_id":4,"worker_gid":-1,)"
            R"("data":{"tensor_id":17,"size":4096},"timestamp_ns":5}],"data_version":2})");
  r.event.phase = Phase::kStop;
  r.event.sequence = 99;
  set_core_rank(3, 12);
  const std::string text = text_of({r, r});
  set_core_rank(3, -1);
  EXPECT_NE(text.find(R"("worker_gid":12,"data":{},"timestamp_ns":5,"nrta_seq_id":99},{)"),
            std::string::npos)
      << text;
}

TEST(Json, DeviceTimeTakesThePlaceOfTheHostTime) {
  const std::string start =
      text_of({record(EventType::kDeviceExec, Phase::kStart, {2, 7, 1000, 123456, 10001})});
  EXPECT_NE(start.find(R"("data":{"device_core_idx":2,"exec_id":7,"nc_timestamp_ns":1000,)"
                       R"("cpu_timestamp_ns":123456,"model_id":10001},"timestamp_ns":1000})"),
            std::string::npos)
      << start;
  const std::string stop = text_of({record(EventType::kDeviceExec, Phase::kStop, {3000, 123460})});
  EXPECT_NE(stop.find(R"("timestamp_ns":3000)"), std::string::npos) << stop;
}

TEST(Json, NamesAndForms) {
  name_model(10077, "net \"a\"\n\xFF");
  static constexpr const char* kUsages[] = {"generic", "pe"};
  name_memory_usages(kUsages);
  const std::string model = text_of({record(EventType::kExecuteApi, Phase::kStart, {10077})});
  EXPECT_NE(model.find(R"("model_id":10077,"model_name":"net \"a\"\u000a?")"), std::string::npos)
      << model;
  const std::string memory =
      text_of({record(EventType::kDmaMemAlloc, Phase::kStart, {0, 1, 1, 0, 4}),
               record(EventType::kDmaMemAlloc, Phase::kStop, {64, 0xABC, 0, 65, 66})});
  EXPECT_NE(memory.find(R"({"hbm_idx":0,"usage_type":"pe","is_nc_hbm":true,"is_aligned":false,)"),
            std::string::npos)
      << memory;
  EXPECT_NE(memory.find(R"("allocated_bytes":64,"physical_address":"0xabc")"), std::string::npos)
      << memory;
  EXPECT_EQ(memory_usage_name(2), "unknown");
}

// Any parser must take any event: every type and phase, with a name that is
// valid UTF-8 and one that is not.
TEST(Json, EveryEventParses) {
  name_model(1, "gr\xC3\xBC\xC3\x9F");
  name_model(2, "\xED\xA0\x80 \xC0\xAF \xF5");
  std::vector<Record> all;
  for (std::size_t i = 0; i < kEventTypes; ++i)
    for (const Phase phase : {Phase::kStart, Phase::kStop, Phase::kInstant})
      for (const std::uint64_t value : {1ull, 2ull, ~0ull})
        all.push_back(
            record(static_cast<EventType>(i), phase, {value, value, value, value, value, value}));
  const simdjson::padded_string text(text_of(all));
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  ASSERT_EQ(parser.parse(text).get(root), simdjson::SUCCESS);
  simdjson::dom::array events;
  ASSERT_EQ(root["events"].get(events), simdjson::SUCCESS);
  EXPECT_EQ(events.size(), all.size());
  for (const simdjson::dom::element event : events) {
    simdjson::dom::object data;
    EXPECT_EQ(event["data"].get(data), simdjson::SUCCESS);
  }
  EXPECT_EQ(std::uint64_t(root["data_version"]), 2u);
}

TEST(Json, TextIsOneBlockOfTheCHeap) {
  TextBlock text;
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(text.append("0123456789"));
  EXPECT_EQ(text.view().size(), 10000u);
  char* block = text.release();
  EXPECT_EQ(block[10000], '\0');
  EXPECT_TRUE(text.view().empty());
  free(block);
}

TEST(Names, UnloadedModelsAreForgottenInTheEnd) {
  for (std::uint32_t id = 20000; id < 21000; ++id) {
    name_model(id, "m");
    forget_model(id);
  }
  EXPECT_EQ(model_name(20999), "m");
  EXPECT_EQ(model_name(20000), "");
  forget_model(1234567);  // unknown
}

}  // namespace
}  // namespace opennrt::trace
