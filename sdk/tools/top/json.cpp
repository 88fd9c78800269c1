// SPDX-License-Identifier: Apache-2.0
#include "json_list.h"
#include "top/screen.h"

namespace opennrt::tools {

namespace {

JsonList object() { return JsonList('{'); }
JsonList array() { return JsonList('['); }

template <std::size_t N>
std::string named(const std::array<const char*, N>& names,
                  const std::array<std::uint64_t, N>& values) {
  JsonList out = object();
  for (std::size_t i = 0; i < N; ++i) out.add(names[i], json_value(values[i]));
  return out.close();
}

std::string device_json(const Device& d) {
  JsonList cores = array();
  for (const Core& c : d.cores)
    cores.add(object()
                  .add("core", std::to_string(c.core))
                  .add("logical", std::to_string(c.logical))
                  .add("pid", c.holder ? std::to_string(c.holder->pid) : "null")
                  .close());
  return object()
      .add("index", std::to_string(d.index))
      .add("silicon", json_text_or_null(d.silicon))
      .add("arch", json_text_or_null(d.arch))
      .add("memory_used", json_value(d.memory_used))
      .add("memory_total", json_value(d.memory_total))
      .add("cores", cores.close())
      .close();
}

std::string process_json(const ProcessFigures& p) {
  JsonList cores = array(), models = array();
  for (const CoreFigures& c : p.cores)
    cores.add(object()
                  .add("logical", std::to_string(c.logical))
                  .add("device", std::to_string(c.device))
                  .add("executions", json_value(c.executions))
                  .add("executions_total", json_value(c.executions_total))
                  .add("utilization", json_value(c.utilization))
                  .add("device_memory", json_value(sum_of(c.memory)))
                  .close());
  for (const ModelFigures& m : p.models)
    models.add(object()
                   .add("model_id", std::to_string(m.model_id))
                   .add("name", json_string(m.name))
                   .add("uuid", json_string(m.uuid))
                   .close());
  return object()
      .add("pid", std::to_string(p.pid))
      .add("command", json_string(p.command))
      .add("tag", json_string(p.tag))
      .add("error", json_text_or_null(p.error))
      .add("executions", p.period ? json_value(p.period->executions) : "null")
      .add("executions_total", p.known ? json_value(p.totals.executions) : "null")
      .add("executions_per_second", json_value(p.rate))
      .add("outcomes_total", p.known ? named(kOutcomeNames, p.totals.outcomes) : "null")
      .add("last_latency_us", json_value(p.last_total_us))
      .add("last_device_latency_us", json_value(p.last_device_us))
      .add("device_memory", json_value(p.device_bytes))
      .add("host_memory", json_value(p.host_bytes))
      .add("cpu_user", json_value(p.user))
      .add("cpu_system", json_value(p.system))
      .add("cores", cores.close())
      .add("models", p.known ? models.close() : "null")
      .close();
}

}  // namespace

std::string json_of(const Sample& sample, const PeriodFigures& figures) {
  const Listing& machine = sample.machine;
  JsonList devices = array(), processes = array();
  for (const Device& d : machine.devices) devices.add(device_json(d));
  for (const ProcessFigures& p : figures.processes) processes.add(process_json(p));
  std::string reason = machine.reason;
  if (!sample.error.empty()) reason += (reason.empty() ? "" : "; ") + sample.error;
  return object()
      .add("timestamp", json_value(sample.wall_s))
      .add("period", json_value(figures.period_s))
      .add("served_by", json_text_or_null(machine.served_by))
      .add("driver", json_text_or_null(machine.driver))
      .add("product", json_text_or_null(machine.product))
      .add("reason", json_text_or_null(reason))
      .add("devices", devices.close())
      .add("processes", processes.close())
      .close();
}

}  // namespace opennrt::tools
