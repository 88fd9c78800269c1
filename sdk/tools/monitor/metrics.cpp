// SPDX-License-Identifier: Apache-2.0
#include "monitor/metrics.h"

#include <simdjson.h>

#include <cstdio>
#include <utility>
#include <vector>

namespace opennrt::tools {

namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

// Families in the order in which they are begun; one without samples is left out.
class Exposition {
 public:
  void family(const char* name, const char* type, const char* help) {
    name_ = name;
    head_ = std::string("# HELP ") + name + " " + help + "\n# TYPE " + name + " " + type + "\n";
  }
  void sample(const Labels& labels, double value) {
    text_ += std::exchange(head_, std::string()) + name_;
    const char* separator = "{";
    for (const auto& [name, content] : labels) {
      if (content.empty()) continue;  // the same as no label
      text_ += separator + name + "=\"" + label_text(content) + "\"";
      separator = ",";
    }
    if (*separator == ',') text_ += "}";
    char number[40];
    std::snprintf(number, sizeof number, " %.17g\n", value);
    text_ += number;
  }
  template <typename T>
  void sample(const Labels& labels, const std::optional<T>& value) {
    if (value) sample(labels, static_cast<double>(*value));
  }
  const std::string& text() const { return text_; }

 private:
  std::string name_, head_, text_;
};

class Writer {
 public:
  Writer(const Sample& sample, const PeriodFigures& figures) : sample_(sample), figures_(figures) {
    base_ = {{"instance_type", sample.machine.product}};
  }
  std::string text() {
    up(!sample_.machine.devices.empty());
    machine();
    cores();
    processes();
    host();
    return out_.text();
  }

  std::string stale_text() {
    up(false);
    return out_.text();
  }

 private:
  void up(bool is) {
    out_.family("opennrt_machine_up", "gauge", "1 if there are devices, and figures that are new");
    out_.sample(base_, is ? 1.0 : 0.0);
    out_.family("opennrt_sample_timestamp_seconds", "gauge",
                "When the figures were taken, since 1970");
    out_.sample({}, sample_.wall_s);
  }
  Labels with(Labels more) const {
    Labels all = base_;
    for (auto& label : more) all.push_back(std::move(label));
    return all;
  }
  Labels of(const ProcessFigures& p, Labels more) const {
    // Tags need not differ.
    more.insert(more.begin(), {{"runtime_tag", p.tag}, {"pid", std::to_string(p.pid)}});
    return with(std::move(more));
  }

  void machine() {
    const Listing& machine = sample_.machine;
    out_.family("instance_info", "gauge", "Type of the machine");
    if (!machine.product.empty()) out_.sample(base_, 1.0);
    out_.family("neuron_hardware_info", "gauge", "Devices of the machine");
    if (!machine.devices.empty()) {
      const Device& first = machine.devices.front();
      out_.sample(
          with({{"neuron_device_count", std::to_string(machine.devices.size())},
                {"neuroncore_per_device_count",
                 machine.lnc ? std::to_string(first.cores.size() / *machine.lnc) : ""},
                {"logical_neuroncore_config", machine.lnc ? std::to_string(*machine.lnc) : ""},
                {"neuron_device_memory_size",
                 first.memory_total ? std::to_string(*first.memory_total) : ""}}),
          1.0);
    }
    out_.family("opennrt_device_memory_used_bytes", "gauge", "Device memory in use, of all");
    for (const Device& d : machine.devices) out_.sample(device(d), d.memory_used);
    out_.family("opennrt_device_memory_total_bytes", "gauge", "Device memory there is");
    for (const Device& d : machine.devices) out_.sample(device(d), d.memory_total);
    out_.family("hardware_ecc_events_total", "counter",
                "Memory errors since the driver was loaded");
    for (const Device& d : machine.devices) {
      out_.sample(device(d, {"event_type", "mem_ecc_uncorrected"}), d.hbm_uncorrected);
      out_.sample(device(d, {"event_type", "mem_ecc_repairable_uncorrected"}), d.hbm_repairable);
      out_.sample(device(d, {"event_type", "sram_ecc_uncorrected"}), d.sram_uncorrected);
    }
  }
  Labels device(const Device& d) const {
    return with({{"neuron_device_index", std::to_string(d.index)}});
  }
  Labels device(const Device& d, std::pair<std::string, std::string> more) const {
    return with({{"neuron_device_index", std::to_string(d.index)}, std::move(more)});
  }

  void cores() {
    out_.family("neuroncore_utilization_ratio", "gauge",
                "Share of the period in which the core was executing");
    for (const ProcessFigures& p : figures_.processes)
      for (const CoreFigures& c : p.cores)
        out_.sample(core(p, c), c.utilization ? std::optional(*c.utilization / 100) : std::nullopt);
    for (std::size_t i = 0; i < kMemoryNames.size(); ++i) {
      out_.family((std::string("neuroncore_memory_usage_") + kMemoryNames[i]).c_str(), "gauge",
                  "Bytes of device memory of the core for this use");
      for (const ProcessFigures& p : figures_.processes)
        for (const CoreFigures& c : p.cores) out_.sample(core(p, c), c.memory[i]);
    }
  }
  Labels core(const ProcessFigures& p, const CoreFigures& c) const {
    return of(p, {{"neuroncore", std::to_string(c.logical)}});
  }

  void processes() {
    counts("execution_status_total", "Executions that ended so", "status_type", kOutcomeNames,
           &Counts::outcomes);
    counts("execution_errors_total", "Errors of executions", "error_type", kErrorNames,
           &Counts::errors);
    out_.family("execution_latency_seconds", "gauge",
                "Time of the execution, when the period had one only");
    for (const ProcessFigures& p : figures_.processes)
      for (const char* name : {"p0", "p1", "p25", "p50", "p75", "p99", "p100"})
        if (p.period && p.period->executions == 1 && p.last_total_us)
          out_.sample(of(p, {{"percentile", name}}), static_cast<double>(*p.last_total_us) * 1e-6);
    out_.family("opennrt_execution_last_latency_seconds", "gauge",
                "Time of the last execution, whole and on the device");
    for (const ProcessFigures& p : figures_.processes) {
      if (p.last_total_us)
        out_.sample(of(p, {{"part", "total"}}), static_cast<double>(*p.last_total_us) * 1e-6);
      if (p.last_device_us)
        out_.sample(of(p, {{"part", "device"}}), static_cast<double>(*p.last_device_us) * 1e-6);
    }
    out_.family("opennrt_models_loaded", "gauge", "Models that the process has loaded");
    for (const ProcessFigures& p : figures_.processes)
      if (p.known) out_.sample(of(p, {}), static_cast<double>(p.models.size()));
    out_.family("neuron_runtime_memory_used_bytes", "gauge", "Memory of the process, by place");
    for (const ProcessFigures& p : figures_.processes) {
      out_.sample(of(p, {{"memory_location", "host"}}), p.host_bytes);
      out_.sample(of(p, {{"memory_location", "neuron_device"}}), p.device_bytes);
    }
    out_.family("neuron_runtime_vcpu_usage_ratio", "gauge",
                "Share of the time of all CPUs that the process had");
    for (const ProcessFigures& p : figures_.processes) {
      out_.sample(of(p, {{"usage_type", "user"}}), ratio(p.user));
      out_.sample(of(p, {{"usage_type", "system"}}), ratio(p.system));
    }
  }
  void counts(const char* name, const char* help, const char* label,
              const std::array<const char*, 6>& names,
              std::array<std::uint64_t, 6> Counts::* member) {
    out_.family(name, "counter", help);
    for (const ProcessFigures& p : figures_.processes)
      for (std::size_t i = 0; p.known && i < names.size(); ++i)
        out_.sample(of(p, {{label, names[i]}}), static_cast<double>((p.totals.*member)[i]));
  }
  static std::optional<double> ratio(std::optional<double> percent) {
    return percent ? std::optional(*percent / 100) : std::nullopt;
  }

  void host() {
    const SystemSample& host = sample_.system;
    gauge("system_memory_total_bytes", "Memory of the host", host.memory_total);
    if (host.memory_total && host.memory_available && *host.memory_available <= *host.memory_total)
      gauge("system_memory_used_bytes", "Memory of the host in use",
            std::optional(*host.memory_total - *host.memory_available));
    gauge("system_swap_total_bytes", "Swap space of the host", host.swap_total);
    if (host.swap_total && host.swap_free && *host.swap_free <= *host.swap_total)
      gauge("system_swap_used_bytes", "Swap space of the host in use",
            std::optional(*host.swap_total - *host.swap_free));
    if (!host.cpus.empty())
      gauge("system_vcpu_count", "CPUs of the host",
            std::optional<std::uint64_t>(host.cpus.size()));
    out_.family("system_vcpu_usage_ratio", "gauge", "Share of the time of all CPUs, by use");
    if (!figures_.cpu) return;
    const CpuShare& cpu = *figures_.cpu;
    for (const auto& [type, percent] :
         {std::pair{"user", cpu.user}, std::pair{"nice", cpu.nice}, std::pair{"system", cpu.system},
          std::pair{"idle", cpu.idle}, std::pair{"io_wait", cpu.io_wait}, std::pair{"irq", cpu.irq},
          std::pair{"soft_irq", cpu.soft_irq}})
      out_.sample(with({{"usage_type", type}}), percent / 100);
  }
  void gauge(const char* name, const char* help, std::optional<std::uint64_t> value) {
    out_.family(name, "gauge", help);
    out_.sample(base_, value);
  }

  const Sample& sample_;
  const PeriodFigures& figures_;
  Labels base_;
  Exposition out_;
};

}  // namespace

std::string label_text(std::string_view text) {
  const bool valid = simdjson::validate_utf8(text.data(), text.size());
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"')
      (out += '\\') += c;
    else if (c == '\n')
      out += "\\n";
    else if (static_cast<unsigned char>(c) < ' ')
      out += ' ';
    else if (!valid && static_cast<unsigned char>(c) >= 0x80)
      out += "\xEF\xBF\xBD";  // U+FFFD
    else
      out += c;
  }
  return out;
}

std::string metrics_of(const Sample& sample, const PeriodFigures& figures) {
  return Writer(sample, figures).text();
}

std::string stale_metrics_of(const Sample& sample) {
  return Writer(sample, PeriodFigures()).stale_text();
}

}  // namespace opennrt::tools
