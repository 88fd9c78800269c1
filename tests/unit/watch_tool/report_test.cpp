// SPDX-License-Identifier: Apache-2.0
#include "monitor/report.h"

#include <simdjson.h>

#include "lab.h"
#include "monitor/metrics.h"
#include "support/exposition.h"

namespace opennrt::tools::test {
namespace {

using opennrt::test::Exposition;
using opennrt::test::parse_exposition;
using simdjson::dom::element;
using ::testing::HasSubstr;

constexpr std::uint32_t slot(int use) { return static_cast<std::uint32_t>(use); }

class Reports : public ::testing::Test {
 protected:
  void SetUp() override {
    before_ = machine(2, 4, 2);
    now_ = before_;
    now_.at_s += 2;
    add_process(&now_, 7, 1);
    nds::StoreReading& s = store(&now_);
    s.tag = "job";
    for (const std::uint32_t core : {2, 3}) {
      execute(&s, core, 10, 20'000);
      s.cores[core][nds::kDeviceMemory + slot(NDS_DMA_MEM_USAGE_SLOT_CODE)] = 100;
      s.cores[core][nds::kDeviceMemory + slot(NDS_DMA_MEM_USAGE_SLOT_MISC)] = 50;
    }
    s.device[nds::kHostMemory + slot(NDS_DMA_MEM_USAGE_SLOT_TENSORS)] = 7;
    s.device[nds::kHostMemory + slot(NDS_DMA_MEM_USAGE_SLOT_MISC)] = 8;
    s.models = {model(10001, 2, 0), model(10001, 3, 1)};
    s.models[1].bytes[1][NDS_DMA_MEM_USAGE_SLOT_CONSTANTS] = 4096;
  }
  element report() {
    text_ = report_of(now_, figures_of(&before_, now_));
    EXPECT_EQ(text_.find('\n'), std::string::npos);
    auto parsed = parser_.parse(text_);
    EXPECT_EQ(parsed.error(), simdjson::SUCCESS) << text_;
    return parsed.value();
  }
  Exposition metrics() {
    text_ = metrics_of(now_, figures_of(&before_, now_));
    Exposition out = parse_exposition(text_);
    EXPECT_EQ(out.error, "") << text_;
    return out;
  }
  static std::string text(const simdjson::simdjson_result<element>& e) {
    return std::string(e.get_string().value());
  }
  Sample before_, now_;
  simdjson::dom::parser parser_;
  std::string text_;
};

TEST_F(Reports, ShapeOfTheEcosystem) {
  const element all = report();
  const auto runtime = all["neuron_runtime_data"].at(0);
  EXPECT_EQ(runtime["pid"].get_int64().value(), 7);
  EXPECT_EQ(text(runtime["address"]), "");
  EXPECT_EQ(text(runtime["neuron_runtime_tag"]), "job");
  EXPECT_EQ(text(runtime["error"]), "");
  const auto stats = runtime["report"]["execution_stats"];
  EXPECT_DOUBLE_EQ(stats["period"].get_double().value(), 2);
  EXPECT_EQ(stats["execution_summary"]["completed"].get_uint64().value(), 10u);
  for (const char* name : {"completed_with_err", "completed_with_num_err", "timed_out",
                           "incorrect_input", "failed_to_queue"})
    EXPECT_EQ(stats["execution_summary"][name].get_uint64().value(), 0u) << name;
  for (const char* name : {"generic", "numerical", "transient", "model", "runtime", "hardware"})
    EXPECT_EQ(stats["error_summary"][name].get_uint64().value(), 0u) << name;
  EXPECT_EQ(stats["execution_totals"]["completed"].get_uint64().value(), 10u);
  // Two logical cores of two physical ones on device 0, and this is the second on device 1.
  const auto counters = runtime["report"]["neuroncore_counters"];
  EXPECT_EQ(counters["neuroncores_in_use"].get_object().value().size(), 1u);
  const auto core = counters["neuroncores_in_use"]["3"];
  EXPECT_DOUBLE_EQ(core["neuroncore_utilization"].get_double().value(), 10);
  EXPECT_EQ(core["flops"].get_uint64().value(), 0u);
  EXPECT_DOUBLE_EQ(core["v2d"]["nc_v2.6"]["neuroncore_utilization"].get_double().value(), 10);
  EXPECT_DOUBLE_EQ(core["v2d"]["nc_v2.7"]["neuroncore_utilization"].get_double().value(), 10);
  const auto memory = runtime["report"]["memory_used"];
  const auto used = memory["neuron_runtime_used_bytes"];
  EXPECT_EQ(used["host"].get_uint64().value(), 15u);
  EXPECT_EQ(used["neuron_device"].get_uint64().value(), 300u);
  const auto host = used["usage_breakdown"]["host"];
  EXPECT_EQ(host["application_memory"].get_uint64().value(), 8u);
  EXPECT_EQ(host["tensors"].get_uint64().value(), 7u);
  EXPECT_EQ(host["constants"].get_uint64().value(), 0u);
  EXPECT_TRUE(host["dma_buffers"].is_null());
  const auto cores = used["usage_breakdown"]["neuroncore_memory_usage"]["3"];
  EXPECT_EQ(cores["model_code"].get_uint64().value(), 200u);
  EXPECT_EQ(cores["runtime_memory"].get_uint64().value(), 100u);
  for (const char* name : {"constants", "tensors", "model_shared_scratchpad"})
    EXPECT_EQ(cores[name].get_uint64().value(), 0u) << name;
  const auto model = memory["loaded_models"].at(0);
  EXPECT_EQ(text(model["name"]), "net");
  EXPECT_EQ(model["model_id"].get_uint64().value(), 10001u);
  EXPECT_TRUE(model["is_running"].is_null());
  const auto part = model["subgraphs"]["sg_01"];
  EXPECT_EQ(part["memory_used_bytes"]["neuron_device"].get_uint64().value(), 4096u);
  EXPECT_EQ(part["neuroncore_index"].get_uint64().value(), 3u);
  EXPECT_EQ(part["neuron_device_index"].get_uint64().value(), 1u);
  const auto hardware = all["neuron_hardware_info"];
  EXPECT_EQ(text(hardware["neuron_device_type"]), "trainium1");
  EXPECT_EQ(text(hardware["neuron_device_version"]), "v3");
  EXPECT_EQ(text(hardware["neuroncore_version"]), "v2");
  EXPECT_EQ(hardware["neuron_device_count"].get_uint64().value(), 2u);
  EXPECT_EQ(hardware["neuroncore_per_device_count"].get_uint64().value(), 2u);
  EXPECT_EQ(hardware["logical_neuroncore_config"].get_uint64().value(), 2u);
  EXPECT_EQ(text(hardware["error"]), "");
  EXPECT_EQ(text(all["instance_info"]["instance_type"]), "trn1.32xlarge");
  EXPECT_TRUE(all["instance_info"]["instance_id"].is_null());
  const auto ecc = all["system_data"]["neuron_hw_counters"]["neuron_devices"].at(1);
  EXPECT_EQ(ecc["neuron_device_index"].get_uint64().value(), 1u);
  EXPECT_EQ(ecc["sram_ecc_uncorrected"].get_uint64().value(), 3u);
  EXPECT_TRUE(ecc["mem_ecc_corrected"].is_null());
  EXPECT_TRUE(ecc["mem_ecc_uncorrected"].is_null());
}

// Of a sample that is too old only that, and when it was.
TEST_F(Reports, SamplesThatAreTooOld) {
  now_.wall_s = 1'700'000'000.5;
  EXPECT_EQ(metrics().sum("opennrt_machine_up"), 1);
  EXPECT_EQ(metrics().sum("opennrt_sample_timestamp_seconds"), 1'700'000'000.5);
  const Exposition stale = parse_exposition(stale_metrics_of(now_));
  EXPECT_EQ(stale.error, "");
  EXPECT_EQ(stale.types.size(), 2u);
  EXPECT_EQ(stale.types.count("opennrt_machine_up"), 1u);
  EXPECT_EQ(stale.sum("opennrt_machine_up"), 0);
  EXPECT_EQ(stale.sum("opennrt_sample_timestamp_seconds"), 1'700'000'000.5);
}

TEST_F(Reports, PercentilesOnlyWhereTheyAreKnown) {
  auto latency =
      report()["neuron_runtime_data"].at(0)["report"]["execution_stats"]["latency_stats"];
  EXPECT_TRUE(latency["total_latency"].is_null());
  EXPECT_TRUE(latency["device_latency"].is_null());
  EXPECT_THAT(text(latency["error"]), HasSubstr("last execution only"));
  EXPECT_DOUBLE_EQ(latency["last_execution"]["total_latency"].get_double().value(), 0.0205);
  EXPECT_DOUBLE_EQ(latency["last_execution"]["device_latency"].get_double().value(), 0.02);
  EXPECT_DOUBLE_EQ(latency["mean_device_latency"].get_double().value(), 0.02);
  EXPECT_EQ(metrics().sum("execution_latency_seconds"), 0);
  // One execution is all of the percentiles.
  before_ = now_;
  before_.at_s -= 2;
  for (const std::uint32_t core : {2, 3}) execute(&store(&now_), core, 1, 30'000);
  latency = report()["neuron_runtime_data"].at(0)["report"]["execution_stats"]["latency_stats"];
  for (const char* name : {"p0", "p1", "p25", "p50", "p75", "p99", "p100"}) {
    EXPECT_DOUBLE_EQ(latency["total_latency"][name].get_double().value(), 0.0305) << name;
    EXPECT_DOUBLE_EQ(latency["device_latency"][name].get_double().value(), 0.03) << name;
  }
  EXPECT_EQ(text(latency["error"]), "");
  EXPECT_DOUBLE_EQ(metrics().sum("execution_latency_seconds", {"percentile=\"p99\""}), 0.0305);
  // None has none.
  before_ = now_;
  before_.at_s -= 2;
  latency = report()["neuron_runtime_data"].at(0)["report"]["execution_stats"]["latency_stats"];
  EXPECT_TRUE(latency["total_latency"].is_null());
  EXPECT_TRUE(latency["mean_device_latency"].is_null());
  EXPECT_EQ(text(latency["error"]), "");
}

TEST_F(Reports, AProcessThatCannotBeReadHasNullsAndAnError) {
  now_.processes[0].stores.clear();
  now_.processes[0].error = "device 1: its data store is empty";
  const auto runtime = report()["neuron_runtime_data"].at(0);
  EXPECT_EQ(text(runtime["error"]), "device 1: its data store is empty");
  const auto groups = runtime["report"];
  EXPECT_TRUE(groups["execution_stats"]["execution_summary"].is_null());
  EXPECT_TRUE(groups["execution_stats"]["latency_stats"].is_null());
  EXPECT_TRUE(groups["memory_used"]["neuron_runtime_used_bytes"].is_null());
  EXPECT_TRUE(groups["memory_used"]["loaded_models"].is_null());
  EXPECT_TRUE(groups["neuroncore_counters"]["neuroncores_in_use"].is_null());
  for (const char* group : {"execution_stats", "memory_used", "neuroncore_counters"})
    EXPECT_EQ(text(groups[group]["error"]), "device 1: its data store is empty") << group;
  EXPECT_NE(text(groups["neuron_runtime_vcpu_usage"]["error"]), "");
  const Exposition m = metrics();
  EXPECT_EQ(m.types.count("execution_status_total"), 0u);
  EXPECT_EQ(m.types.count("opennrt_models_loaded"), 0u);
}

TEST_F(Reports, NoMachineHasNullsAndTheReason) {
  now_.machine = Listing();
  now_.machine.reason = "there is no device to show";
  now_.processes.clear();
  const element all = report();
  EXPECT_EQ(all["neuron_runtime_data"].get_array().value().size(), 0u);
  EXPECT_TRUE(all["neuron_hardware_info"]["neuron_device_count"].is_null());
  EXPECT_EQ(text(all["neuron_hardware_info"]["error"]), "there is no device to show");
  EXPECT_TRUE(all["system_data"]["neuron_hw_counters"]["neuron_devices"].is_null());
  EXPECT_TRUE(all["instance_info"]["instance_type"].is_null());
  const Exposition m = metrics();
  EXPECT_EQ(m.at("opennrt_machine_up"), 0);
  EXPECT_EQ(m.types.count("neuron_hardware_info"), 0u);
}

TEST_F(Reports, MetricsHaveTheNamesOfTheExporter) {
  const Exposition m = metrics();
  const std::string base = "{instance_type=\"trn1.32xlarge\"";
  const std::string who = "pid=\"7\",runtime_tag=\"job\"";
  EXPECT_EQ(m.at("opennrt_machine_up" + base + "}"), 1);
  EXPECT_EQ(m.at("execution_status_total" + base + "," + who + ",status_type=\"completed\"}"), 10);
  EXPECT_EQ(
      m.at("execution_errors_total{error_type=\"numerical\",instance_type=\"trn1.32xlarge\"," +
           who + "}"),
      0);
  EXPECT_DOUBLE_EQ(m.at("neuroncore_utilization_ratio" + base + ",neuroncore=\"3\"," + who + "}"),
                   0.1);
  EXPECT_EQ(m.at("neuroncore_memory_usage_model_code" + base + ",neuroncore=\"3\"," + who + "}"),
            200);
  EXPECT_EQ(m.at("neuron_runtime_memory_used_bytes" + base + ",memory_location=\"neuron_device\"," +
                 who + "}"),
            300);
  EXPECT_EQ(m.at("opennrt_models_loaded" + base + "," + who + "}"), 1);
  EXPECT_EQ(m.at("hardware_ecc_events_total{event_type=\"sram_ecc_uncorrected\",instance_type="
                 "\"trn1.32xlarge\",neuron_device_index=\"1\"}"),
            3);
  EXPECT_EQ(m.types.at("execution_status_total"), "counter");
  EXPECT_EQ(m.types.at("neuroncore_utilization_ratio"), "gauge");
  EXPECT_THAT(text_, HasSubstr("# HELP execution_status_total "));
}

TEST_F(Reports, LabelsAreEscaped) {
  store(&now_).tag = "a\"b\\c\nd\x80\x01";
  const Exposition m = metrics();
  EXPECT_EQ(m.at("opennrt_models_loaded{instance_type=\"trn1.32xlarge\",pid=\"7\",runtime_tag="
                 "\"a\"b\\c\nd\xEF\xBF\xBD \"}"),
            1);
  EXPECT_EQ(label_text("a\"b\\c\nd"), "a\\\"b\\\\c\\nd");
  EXPECT_EQ(label_text("\xC3\xA4"), "\xC3\xA4");
}

TEST_F(Reports, ProcessesOfOneTagAreTwo) {
  add_process(&now_, 8, 0);
  store(&now_, 1).tag = "job";
  execute(&store(&now_, 1), 0, 1);
  const Exposition m = metrics();
  EXPECT_EQ(m.sum("execution_status_total", {"runtime_tag=\"job\""}), 11);
  EXPECT_EQ(m.sum("execution_status_total", {"pid=\"8\""}), 1);
}

}  // namespace
}  // namespace opennrt::tools::test
