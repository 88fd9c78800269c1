// SPDX-License-Identifier: Apache-2.0
//
// opennrt-ls, which `opennrt ls` runs: devices, cores, who has them, driver, plugins.

#include <cstdio>

#include "command_line.h"
#include "json_text.h"
#include "log/log.h"
#include "ls/listing.h"
#include "output.h"

namespace {

using namespace opennrt::tools;
using opennrt::plugin::Candidate;
using opennrt::plugin::kind_name;
using opennrt::plugin::verdict_name;

std::string bytes(const std::optional<std::uint64_t>& value) {
  return value ? std::to_string(*value) : "-";
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

// "0-3" of the logical cores of a device.
std::string logical_range(const Device& device) {
  if (device.cores.empty()) return "-";
  const std::uint32_t first = device.cores.front().logical, last = device.cores.back().logical;
  return first == last ? std::to_string(first) : std::to_string(first) + "-" + std::to_string(last);
}

void print_devices(const Listing& list) {
  std::printf("driver   %s, %s\nproduct  %s\n", printable(or_dash(list.driver)).c_str(),
              list.served_by.c_str(), printable(or_dash(list.product)).c_str());
  std::printf("%-7s %-12s %-9s %-6s %-8s %15s / %s\n", "device", "silicon", "arch", "cores",
              "logical", "memory used", "total");
  for (const Device& d : list.devices)
    std::printf("%-7u %-12s %-9s %-6zu %-8s %15s / %s\n", d.index, or_dash(d.silicon).c_str(),
                d.arch.empty() ? "no plugin" : d.arch.c_str(), d.cores.size(),
                logical_range(d).c_str(), bytes(d.memory_used).c_str(),
                bytes(d.memory_total).c_str());
}

void print_processes(const Listing& list) {
  for (const Device& d : list.devices) {
    for (std::size_t i = 0; i < d.cores.size(); ++i) {
      if (!d.cores[i].holder) continue;
      std::size_t end = i;  // of the run of one process
      while (end + 1 < d.cores.size() && d.cores[end + 1].holder &&
             d.cores[end + 1].holder->pid == d.cores[i].holder->pid)
        ++end;
      std::printf("held     device %u, cores %u-%u (logical %u-%u): %s\n", d.index, d.cores[i].core,
                  d.cores[end].core, d.cores[i].logical, d.cores[end].logical,
                  described(*d.cores[i].holder).c_str());
      i = end;
    }
    for (const Holder& process : d.processes) {
      const bool shown = [&] {
        for (const Core& core : d.cores)
          if (core.holder && core.holder->pid == process.pid) return true;
        return false;
      }();
      if (!shown) std::printf("open     device %u: %s\n", d.index, described(process).c_str());
    }
  }
}

void print_text(const Listing& list) {
  if (!list.served_by.empty()) {
    print_devices(list);
    print_processes(list);
  }
  if (!list.reason.empty()) std::printf("%s\n", list.reason.c_str());
  for (const Candidate& c : list.plugins)
    if (!c.manifest.name.empty())
      std::printf("plugin   %-5s %-12s %-8s %s\n", std::string(kind_name(c.manifest.kind)).c_str(),
                  c.manifest.name.c_str(), or_dash(c.manifest.version).c_str(),
                  std::string(verdict_name(c.verdict)).c_str());
}

std::string json_or_null(const std::string& text) {
  return text.empty() ? "null" : json_string(text);
}

std::string json_process(const Holder& holder) {
  return "{\"pid\": " + std::to_string(holder.pid) +
         ", \"command\": " + json_string(holder.command) + "}";
}

void print_json_device(const Device& d) {
  std::printf(
      "{\"index\": %u, \"silicon\": %s, \"arch\": %s, \"memory_used\": %s, "
      "\"memory_total\": %s, \"cores\": [",
      d.index, json_or_null(d.silicon).c_str(), json_or_null(d.arch).c_str(),
      d.memory_used ? std::to_string(*d.memory_used).c_str() : "null",
      d.memory_total ? std::to_string(*d.memory_total).c_str() : "null");
  const char* separator = "";
  for (const Core& core : d.cores) {
    std::printf("%s{\"core\": %u, \"logical\": %u, \"process\": %s}", separator, core.core,
                core.logical, core.holder ? json_process(*core.holder).c_str() : "null");
    separator = ", ";
  }
  std::printf("], \"processes\": [");
  separator = "";
  for (const Holder& process : d.processes) {
    std::printf("%s%s", separator, json_process(process).c_str());
    separator = ", ";
  }
  std::printf("]}");
}

void print_json(const Listing& list) {
  std::printf(
      "{\"served_by\": %s, \"driver\": %s, \"product\": %s, \"reason\": %s,\n \"devices\": [",
      json_or_null(list.served_by).c_str(), json_or_null(list.driver).c_str(),
      json_or_null(list.product).c_str(), json_or_null(list.reason).c_str());
  const char* separator = "\n  ";
  for (const Device& device : list.devices) {
    std::printf("%s", separator);
    print_json_device(device);
    separator = ",\n  ";
  }
  std::printf("],\n \"plugins\": [");
  separator = "\n  ";
  for (const Candidate& c : list.plugins) {
    if (c.manifest.name.empty()) continue;
    std::printf(
        "%s{\"kind\": \"%s\", \"name\": %s, \"version\": %s, \"verdict\": \"%s\", "
        "\"manifest\": %s}",
        separator, std::string(kind_name(c.manifest.kind)).c_str(),
        json_string(c.manifest.name).c_str(), json_string(c.manifest.version).c_str(),
        std::string(verdict_name(c.verdict)).c_str(), json_string(c.manifest.path).c_str());
    separator = ",\n  ";
  }
  std::printf("]}\n");
}

int run(const Words& words) {
  const CommandLine line(
      {.command = "opennrt ls",
       .usage = "[options]",
       .header =
           "Lists devices with their cores (physical, logical), device memory in bytes, the "
           "processes that hold cores or have a device open, the driver and the plugins; says why "
           "when there is no device. Opens no device and starts no software device.",
       .footer = "Exit code: 1 when devices should be there and are not, or settings are wrong."},
      {Option("json", "j",
              "for programs: {served_by, driver, product, reason, devices, plugins}")});
  return line.run(words, [](const Arguments& arguments) {
    arguments.want_words(0, 0);
    Surroundings here;
    const Listing list = collect(here);
    arguments.has("json") ? print_json(list) : print_text(list);
    return list.good ? 0 : 1;
  });
}

}  // namespace

int main(int argc, char** argv) {
  opennrt::log::set_level(opennrt::log::Level::kDisabled);
  return tool_main(argc, argv, run);
}
