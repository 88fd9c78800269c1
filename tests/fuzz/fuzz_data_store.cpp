// SPDX-License-Identifier: Apache-2.0
//
// A data store as another process may leave it: read, and shown in every form.
#include <simdjson.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "entries.h"
#include "monitor/metrics.h"
#include "monitor/report.h"
#include "nds/reader.h"
#include "nds/records.h"
#include "nds/slab.h"
#include "support/exposition.h"
#include "top/screen.h"

namespace opennrt::fuzz {

namespace {

using namespace tools;

Sample sample_of(const nds::StoreReading& reading) {
  Sample out;
  Device device;
  device.arch_type = 3;
  for (std::uint32_t c = 0; c < 8; ++c)
    device.cores.push_back({.core = c, .logical = c / 2, .holder = {}});
  out.machine.served_by = "kernel";
  out.machine.lnc = 2;
  out.machine.devices.push_back(device);
  ProcessSample process;
  process.pid = 7;
  process.lnc = 2;
  if (reading.readable == nds::Readable::kYes)
    process.stores.push_back({.device = 0, .store = reading});
  else
    process.error = nds::reason_of(reading, 1);
  out.processes.push_back(std::move(process));
  out.at_s = 1;
  return out;
}

void show(const Sample& before, const Sample& now) {
  const PeriodFigures figures = figures_of(&before, now);
  simdjson::dom::parser parser;
  for (const std::string& text : {report_of(now, figures), json_of(now, figures)})
    if (parser.parse(text).error() != simdjson::SUCCESS) std::abort();
  if (!test::parse_exposition(metrics_of(now, figures)).error.empty()) std::abort();
  for (const std::size_t rows : {1, 24}) {
    const auto lines = screen_of(now, figures, {.columns = 80, .rows = rows});
    if (lines.size() > rows) std::abort();
    for (const ScreenLine& line : lines)
      if (line.text.size() > 80 || line.text.find('\x1b') != std::string::npos) std::abort();
  }
}

}  // namespace

void fuzz_data_store(const std::uint8_t* data, std::size_t size) {
  std::vector<std::uint64_t> words((size + 7) / 8);
  if (size != 0) std::memcpy(words.data(), data, size);
  const nds::StoreReading reading = nds::read_store(words.data(), size);
  if (size != 0 && std::memcmp(words.data(), data, size) != 0) std::abort();
  if (reading.models.size() + reading.damaged_models > nds::kModels) std::abort();
  for (const nds::ModelReading& model : reading.models)
    if (model.core >= nds::kCores || model.name.size() > 256) std::abort();
  if (reading.tag.size() > 256) std::abort();
  const bool whole = reading.readable == nds::Readable::kYes;
  if (whole != (size >= nds::kLeastBytes && words[0] == nds::kHeader)) std::abort();
  if (nds::reason_of(reading, size).empty() != whole) std::abort();
  Sample now = sample_of(reading), none = now;
  none.at_s = 0;
  none.processes.clear();
  show(none, now);
  // The same process, before it did anything.
  nds::StoreReading empty;
  empty.readable = nds::Readable::kYes;
  Sample before = sample_of(empty);
  before.at_s = 0;
  show(before, now);
}

std::vector<std::string> seeds_data_store() {
  std::vector<std::uint64_t> words(nds::kLeastBytes / 8);
  nds::Slab slab(words.data(), nds::kLeastBytes);
  slab.commit_header();
  const nds::Process process{.framework_type = 1, .tag = "tag"};
  slab.publish(nds::kProcessInfoAt, nds::process_record(process));
  slab.publish(nds::kProcessInfoExtAt, nds::extended_process_record(process));
  for (std::uint32_t i = 0; i < 3; ++i) {
    nds::ModelRecord record{};
    record.info.model_id = 10001 + i / 2;
    record.info.model_node_id = i % 2;
    record.info.nc_index = static_cast<std::uint8_t>(i);
    std::strcpy(record.info.name, "model");
    record.memory.model_mem_usage[1][0].total_size = 4096;
    const int slot = slab.take_model();
    slab.publish(nds::Slab::model_offset(static_cast<std::uint32_t>(slot)), record);
  }
  nds::store(slab.core_counter(1, nds::kInferences), 5);
  nds::store(slab.core_counter(1, nds::kLatencyTotal), 1500);
  nds::store(slab.device_counter(nds::kHostMemory), 1 << 20);
  const auto text = [&] {
    return std::string(reinterpret_cast<const char*>(words.data()), nds::kLeastBytes);
  };
  std::vector<std::string> seeds = {text()};
  // Without hashes that keep changes from being seen: short texts, as a store begins.
  seeds.push_back(text().substr(0, 256));
  words[0] = 0;
  seeds.push_back(text());
  return seeds;
}

}  // namespace opennrt::fuzz
