// SPDX-License-Identifier: Apache-2.0
#include "monitor/report.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>

#include "json_list.h"

namespace opennrt::tools {

namespace {

constexpr const char* kPercentiles[] = {"p0", "p1", "p25", "p50", "p75", "p99", "p100"};

JsonList object() { return JsonList('{'); }
JsonList array() { return JsonList('['); }

template <std::size_t N>
std::string counts(const std::array<const char*, N>& names,
                   const std::array<std::uint64_t, N>& values) {
  JsonList out = object();
  for (std::size_t i = 0; i < N; ++i) out.add(names[i], json_value(values[i]));
  return out.close();
}

std::optional<double> seconds(std::optional<std::uint64_t> us) {
  return us ? std::optional(static_cast<double>(*us) * 1e-6) : std::nullopt;
}

// All of them are the one execution of the period.
std::string percentiles(std::optional<double> latency_s) {
  if (!latency_s) return "null";
  JsonList out = object();
  for (const char* name : kPercentiles) out.add(name, json_value(*latency_s));
  return out.close();
}

std::string latency_stats(const ProcessFigures& p) {
  const bool exact = p.period && p.period->executions == 1;
  const bool none = p.period && p.period->executions == 0;
  JsonList out = object();
  out.add("total_latency", percentiles(exact ? seconds(p.last_total_us) : std::nullopt));
  out.add("device_latency", percentiles(exact ? seconds(p.last_device_us) : std::nullopt));
  out.add("last_execution", p.last_total_us
                                ? object()
                                      .add("total_latency", json_value(seconds(p.last_total_us)))
                                      .add("device_latency", json_value(seconds(p.last_device_us)))
                                      .close()
                                : "null");
  out.add("mean_device_latency",
          json_value(p.mean_device_us ? std::optional(*p.mean_device_us * 1e-6) : std::nullopt));
  out.add("error",
          json_string(exact || none ? ""
                                    : "percentiles are not known: a process shows the latency of "
                                      "its last execution only"));
  return out.close();
}

// Why a group of the process has nothing to say.
std::string trouble(const ProcessFigures& p, bool of_period) {
  if (!p.known) return p.error;
  return of_period && !p.period ? "the counters at the beginning of the period are not known" : "";
}

std::string execution_stats(const PeriodFigures& figures, const ProcessFigures& p) {
  JsonList out = object();
  out.add("period", json_value(figures.period_s));
  out.add("error_summary", p.period ? counts(kErrorNames, p.period->errors) : "null");
  out.add("execution_summary", p.period ? counts(kOutcomeNames, p.period->outcomes) : "null");
  out.add("latency_stats", p.known ? latency_stats(p) : "null");
  // Since the process began.
  out.add("error_totals", p.known ? counts(kErrorNames, p.totals.errors) : "null");
  out.add("execution_totals", p.known ? counts(kOutcomeNames, p.totals.outcomes) : "null");
  out.add("error", json_string(trouble(p, true)));
  return out.close();
}

std::string core_of(const CoreFigures& core, std::uint32_t generation) {
  JsonList out = object();
  out.add("neuroncore_utilization", json_value(core.utilization));
  out.add("flops", core.flops ? json_value(std::floor(*core.flops + 0.5)) : "null");
  if (core.physical.size() > 1) {
    const std::string version = std::to_string(generation);
    JsonList physical = object();
    for (const PhysicalCore& c : core.physical)
      physical.add("nc_v" + version + "." + std::to_string(c.number),
                   object().add("neuroncore_utilization", json_value(c.utilization)).close());
    out.add("v" + version + "d", physical.close());
  }
  return out.close();
}

std::uint32_t generation_of(const Sample& sample) {
  return sample.machine.devices.empty() ? 0 : sample.machine.devices.front().arch_type;
}

std::string neuroncore_counters(const Sample& sample, const PeriodFigures& figures,
                                const ProcessFigures& p) {
  JsonList cores = object();
  for (const CoreFigures& core : p.cores)
    cores.add(std::to_string(core.logical), core_of(core, generation_of(sample)));
  return object()
      .add("period", json_value(figures.period_s))
      .add("neuroncores_in_use", p.known ? cores.close() : "null")
      .add("error", json_string(trouble(p, true)))
      .close();
}

std::optional<std::uint64_t> plus(std::optional<std::uint64_t> a, std::optional<std::uint64_t> b) {
  return a && b ? std::optional(*a + *b) : std::nullopt;
}

// What is neither constants nor tensors. Buffers of DMA are in it, and are not told
// apart.
std::string host_breakdown(const MemoryBytes& bytes) {
  return object()
      .add("application_memory", json_value(plus(plus(bytes[NDS_DMA_MEM_USAGE_SLOT_CODE],
                                                      bytes[NDS_DMA_MEM_USAGE_SLOT_SCRATCHPAD]),
                                                 bytes[NDS_DMA_MEM_USAGE_SLOT_MISC])))
      .add("constants", json_value(bytes[NDS_DMA_MEM_USAGE_SLOT_CONSTANTS]))
      .add("dma_buffers", "null")
      .add("tensors", json_value(bytes[NDS_DMA_MEM_USAGE_SLOT_TENSORS]))
      .close();
}

std::string device_breakdown(const MemoryBytes& bytes) {
  JsonList out = object();
  for (std::size_t i = 0; i < kMemoryNames.size(); ++i)
    out.add(kMemoryNames[i], json_value(bytes[i]));
  return out.close();
}

std::string model_of(const ModelFigures& model) {
  std::map<std::string, std::string> parts;
  for (const ModelFigures::Part& part : model.parts) {
    char text[16];
    std::snprintf(text, sizeof text, "sg_%02u", part.subgraph);
    std::string name = text;
    while (parts.count(name) != 0) name += "_" + std::to_string(part.logical);
    parts[name] = object()
                      .add("memory_used_bytes",
                           object()
                               .add("host", json_value(sum_of(part.host)))
                               .add("neuron_device", json_value(sum_of(part.on_device)))
                               .add("usage_breakdown",
                                    object()
                                        .add("host", host_breakdown(part.host))
                                        .add("neuron_device", device_breakdown(part.on_device))
                                        .close())
                               .close())
                      .add("neuroncore_index", std::to_string(part.logical))
                      .add("neuron_device_index", std::to_string(part.device))
                      .close();
  }
  JsonList subgraphs = object();
  for (const auto& [name, text] : parts) subgraphs.add(name, text);
  return object()
      .add("name", json_string(model.name))
      .add("uuid", json_string(model.uuid))
      .add("model_id", std::to_string(model.model_id))
      .add("is_running", "null")  // not in a data store
      .add("subgraphs", subgraphs.close())
      .close();
}

std::string memory_used(const PeriodFigures& figures, const ProcessFigures& p) {
  JsonList cores = object(), models = array();
  for (const CoreFigures& core : p.cores)
    cores.add(std::to_string(core.logical), device_breakdown(core.memory));
  for (const ModelFigures& model : p.models) models.add(model_of(model));
  const std::string used =
      object()
          .add("host", json_value(p.host_bytes))
          .add("neuron_device", json_value(p.device_bytes))
          .add("usage_breakdown", object()
                                      .add("host", host_breakdown(p.host))
                                      .add("neuroncore_memory_usage", cores.close())
                                      .close())
          .close();
  return object()
      .add("period", json_value(figures.period_s))
      .add("neuron_runtime_used_bytes", p.known ? used : "null")
      .add("loaded_models", p.known ? models.close() : "null")
      .add("error", json_string(trouble(p, false)))
      .close();
}

std::string process_cpu(const PeriodFigures& figures, const ProcessFigures& p) {
  return object()
      .add("period", json_value(figures.period_s))
      .add(
          "vcpu_usage",
          p.user
              ? object().add("user", json_value(p.user)).add("system", json_value(p.system)).close()
              : "null")
      .add("error",
           json_string(p.user ? "" : "the times of the process in the period are not known"))
      .close();
}

std::string runtime_of(const Sample& sample, const PeriodFigures& figures,
                       const ProcessFigures& p) {
  return object()
      .add("pid", std::to_string(p.pid))
      .add("address", json_string(""))
      .add("neuron_runtime_tag", json_string(p.tag))
      .add("error", json_string(p.error))
      .add("report", object()
                         .add("execution_stats", execution_stats(figures, p))
                         .add("memory_used", memory_used(figures, p))
                         .add("neuroncore_counters", neuroncore_counters(sample, figures, p))
                         .add("neuron_runtime_vcpu_usage", process_cpu(figures, p))
                         .close())
      .close();
}

std::string share_of(const std::optional<CpuShare>& share) {
  if (!share) return "null";
  return object()
      .add("user", json_value(share->user))
      .add("nice", json_value(share->nice))
      .add("system", json_value(share->system))
      .add("idle", json_value(share->idle))
      .add("io_wait", json_value(share->io_wait))
      .add("irq", json_value(share->irq))
      .add("soft_irq", json_value(share->soft_irq))
      .close();
}

std::string hardware_counters(const Sample& sample, const PeriodFigures& figures) {
  JsonList devices = array();
  for (const Device& d : sample.machine.devices)
    devices.add(object()
                    .add("neuron_device_index", std::to_string(d.index))
                    .add("mem_ecc_corrected", "null")
                    .add("mem_ecc_uncorrected", json_value(d.hbm_uncorrected))
                    .add("mem_ecc_repairable_uncorrected", json_value(d.hbm_repairable))
                    .add("sram_ecc_uncorrected", json_value(d.sram_uncorrected))
                    .add("sram_ecc_corrected", "null")
                    .close());
  const bool any = !sample.machine.devices.empty();
  return object()
      .add("period", json_value(figures.period_s))
      .add("neuron_devices", any ? devices.close() : "null")
      .add("error", json_string(any ? "" : sample.machine.reason))
      .close();
}

std::string system_data(const Sample& sample, const PeriodFigures& figures) {
  const SystemSample& host = sample.system;
  JsonList cpus = object();
  for (std::size_t i = 0; i < figures.cpus.size(); ++i)
    cpus.add(std::to_string(i), share_of(figures.cpus[i]));
  const auto used = [](std::optional<std::uint64_t> total, std::optional<std::uint64_t> free) {
    return total && free && *total >= *free ? std::optional(*total - *free) : std::nullopt;
  };
  return object()
      .add("neuron_hw_counters", hardware_counters(sample, figures))
      .add("vcpu_usage",
           object()
               .add("period", json_value(figures.period_s))
               .add("average_usage", share_of(figures.cpu))
               .add("usage_data", figures.cpu ? cpus.close() : "null")
               .add("context_switch_count", json_value(figures.context_switches))
               .add("error", json_string(figures.cpu ? "" : "the times of a period are not known"))
               .close())
      .add("memory_info",
           object()
               .add("period", json_value(figures.period_s))
               .add("memory_total_bytes", json_value(host.memory_total))
               .add("memory_used_bytes", json_value(used(host.memory_total, host.memory_available)))
               .add("swap_total_bytes", json_value(host.swap_total))
               .add("swap_used_bytes", json_value(used(host.swap_total, host.swap_free)))
               .add("error", json_string(host.memory_total ? "" : "/proc/meminfo cannot be read"))
               .close())
      .close();
}

std::string instance_info(const Sample& sample) {
  return object()
      .add("instance_name", "null")
      .add("instance_id", "null")
      .add("instance_type", json_text_or_null(sample.machine.product))
      .add("instance_availability_zone", "null")
      .add("instance_availability_zone_id", "null")
      .add("instance_region", "null")
      .add("ami_id", "null")
      .add("subnet_id", "null")
      .add("error", json_string("only the type is known: no metadata service is asked"))
      .close();
}

std::string hardware_info(const Sample& sample) {
  const Listing& machine = sample.machine;
  JsonList out = object();
  if (machine.devices.empty()) {
    for (const char* key : {"neuron_device_type", "neuron_device_version", "neuroncore_version",
                            "neuron_device_count", "neuron_device_memory_size",
                            "neuroncore_per_device_count", "logical_neuroncore_config"})
      out.add(key, "null");
  } else {
    const Device& first = machine.devices.front();
    std::string type = first.silicon;
    std::transform(type.begin(), type.end(), type.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    out.add("neuron_device_type", json_text_or_null(type));
    out.add("neuron_device_version", json_text_or_null(first.version));
    out.add("neuroncore_version",
            first.arch_type != 0 ? json_string("v" + std::to_string(first.arch_type)) : "null");
    out.add("neuron_device_count", std::to_string(machine.devices.size()));
    out.add("neuron_device_memory_size", json_value(first.memory_total));
    out.add("neuroncore_per_device_count",
            machine.lnc ? std::to_string(first.cores.size() / *machine.lnc) : "null");
    out.add("logical_neuroncore_config", machine.lnc ? std::to_string(*machine.lnc) : "null");
  }
  std::string error = machine.reason;
  if (!sample.error.empty()) error += (error.empty() ? "" : "; ") + sample.error;
  return out.add("error", json_string(error)).close();
}

}  // namespace

std::string report_of(const Sample& sample, const PeriodFigures& figures) {
  JsonList processes = array();
  for (const ProcessFigures& p : figures.processes) processes.add(runtime_of(sample, figures, p));
  return object()
      .add("timestamp", json_value(sample.wall_s))
      .add("neuron_runtime_data", processes.close())
      .add("system_data", system_data(sample, figures))
      .add("instance_info", instance_info(sample))
      .add("neuron_hardware_info", hardware_info(sample))
      .close();
}

}  // namespace opennrt::tools
