// SPDX-License-Identifier: Apache-2.0
#include "top/screen.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <map>

#include "output.h"

namespace opennrt::tools {

namespace {

constexpr std::size_t kCoreColumn = 26;  // of one core with its bar
constexpr std::size_t kBar = 10;

[[gnu::format(printf, 1, 2)]] std::string format(const char* text, ...) {
  char line[512];
  va_list args;
  va_start(args, text);
  std::vsnprintf(line, sizeof line, text, args);
  va_end(args);
  return line;
}

template <typename T>
std::string or_dash(const std::optional<T>& value, const char* form) {
  return value ? format(form, static_cast<double>(*value)) : "-";
}

// A core of the machine, of whichever process.
struct CoreLoad {
  std::uint32_t logical = 0, device = 0;
  std::optional<double> utilization;
  bool used = false;
};

std::string bar(const CoreLoad& core) {
  std::string cells(kBar, core.used ? '.' : ' ');
  const double share = core.utilization.value_or(0) / 100;
  const auto full = static_cast<std::size_t>(share * kBar + 0.5);
  std::fill_n(cells.begin(), std::min(full, kBar), '#');
  return format("%4u [%s] %6s ", core.logical, cells.c_str(),
                core.used ? (or_dash(core.utilization, "%.1f") + "%").c_str() : "free");
}

// "1.5G"
std::string tight_bytes(std::optional<std::uint64_t> bytes) {
  std::string text = short_bytes(bytes);
  const std::size_t blank = text.find(' ');
  if (blank != text.npos) text = text.substr(0, blank) + text[blank + 1];
  return text;
}

// Without the directory of the program.
std::string program(const std::string& command) {
  const std::size_t end = std::min(command.find(' '), command.size());
  const std::size_t slash = command.rfind('/', end);
  return slash == command.npos || slash + 1 >= end ? command : command.substr(slash + 1);
}

std::string cores_text(const ProcessFigures& p) {
  std::string out;
  for (std::size_t i = 0; i < p.cores.size(); ++i) {
    std::size_t end = i;
    while (end + 1 < p.cores.size() && p.cores[end + 1].logical == p.cores[end].logical + 1) ++end;
    out += (out.empty() ? "" : ",") + std::to_string(p.cores[i].logical);
    if (end != i) out += "-" + std::to_string(p.cores[end].logical);
    i = end;
  }
  return out.empty() ? "-" : out;
}

double utilization_of(const ProcessFigures& p) {
  double sum = 0;
  for (const CoreFigures& c : p.cores) sum += c.utilization.value_or(0);
  return sum;
}

std::vector<const ProcessFigures*> sorted(const PeriodFigures& figures, Sort sort) {
  std::vector<const ProcessFigures*> out;
  for (const ProcessFigures& p : figures.processes) out.push_back(&p);
  const auto more = [sort](const ProcessFigures* a, const ProcessFigures* b) {
    switch (sort) {
      case Sort::kPid:
        return false;  // as they are
      case Sort::kMemory:
        return a->device_bytes.value_or(0) > b->device_bytes.value_or(0);
      case Sort::kUtilization:
        return utilization_of(*a) > utilization_of(*b);
      case Sort::kExecutions:
        break;
    }
    if (a->rate.value_or(0) != b->rate.value_or(0))
      return a->rate.value_or(0) > b->rate.value_or(0);
    return a->totals.executions > b->totals.executions;
  };
  std::sort(out.begin(), out.end(), [&](const ProcessFigures* a, const ProcessFigures* b) {
    return more(a, b) || (!more(b, a) && a->pid < b->pid);
  });
  return out;
}

std::uint64_t errors_of(const Counts& counts) {
  std::uint64_t sum = 0;
  for (std::size_t i = 1; i < counts.outcomes.size(); ++i) sum += counts.outcomes[i];
  return sum;
}

class Composer {
 public:
  Composer(const Sample& sample, const PeriodFigures& figures, const Look& look, bool keys)
      : sample_(sample), figures_(figures), look_(look), keys_(keys) {}

  std::vector<ScreenLine> lines() {
    head();
    const Listing& machine = sample_.machine;
    if (!machine.devices.empty()) {
      devices();
      cores();
      processes();
      models();
    }
    if (!machine.reason.empty()) paragraph(machine.reason);
    if (!sample_.error.empty()) paragraph(sample_.error);
    return finish();
  }

 private:
  void add(std::string text, bool heading = false) {
    out_.push_back({.text = std::move(text), .heading = heading});
  }
  std::size_t room() const {
    const std::size_t taken = out_.size() + (keys_ ? 1 : 0);
    return look_.rows > taken ? look_.rows - taken : 0;
  }

  void head() {
    const Listing& machine = sample_.machine;
    char clock[16] = "";
    const auto now = static_cast<std::time_t>(sample_.wall_s);
    std::tm local{};
    if (localtime_r(&now, &local) != nullptr)
      std::strftime(clock, sizeof clock, "%H:%M:%S", &local);
    add(format(
        "opennrt top  %s  %s, driver %s, %s", clock,
        machine.product.empty() ? "no machine" : printable(machine.product).c_str(),
        machine.driver.empty() ? "-" : printable(machine.driver).c_str(),
        machine.served_by.empty() ? "nothing serves" : printable(machine.served_by).c_str()));
    std::size_t models = 0;
    std::optional<double> rate;
    for (const ProcessFigures& p : figures_.processes) {
      models += p.models.size();
      if (p.rate) rate = rate.value_or(0) + *p.rate;
    }
    if (figures_.processes.empty() && figures_.period_s) rate = 0;
    add(format("%zu devices, %zu processes, %zu models, %s executions/s", machine.devices.size(),
               figures_.processes.size(), models, or_dash(rate, "%.1f").c_str()));
  }

  void devices() {
    add("DEVICE SILICON      ARCH      CORES     MEMORY USED / TOTAL", true);
    std::vector<std::string> all;
    for (const Device& d : sample_.machine.devices)
      all.push_back(format("%6u %-12s %-9s %5zu %15s / %s", d.index,
                           d.silicon.empty() ? "-" : printable(d.silicon).c_str(),
                           d.arch.empty() ? "no plugin" : printable(d.arch).c_str(), d.cores.size(),
                           short_bytes(d.memory_used).c_str(),
                           short_bytes(d.memory_total).c_str()));
    add_some(all, look_.rows / 5, "devices");
  }

  std::vector<CoreLoad> loads() const {
    std::map<std::uint32_t, CoreLoad> by_number;
    for (const Device& d : sample_.machine.devices)
      for (const Core& c : d.cores) {
        CoreLoad& load = by_number[c.logical];
        load.logical = c.logical;
        load.device = d.index;
        load.used |= c.holder.has_value();
      }
    for (const ProcessFigures& p : figures_.processes)
      for (const CoreFigures& c : p.cores) {
        CoreLoad& load = by_number[c.logical];
        load.logical = c.logical;
        load.device = c.device;
        load.used = true;
        if (c.utilization)
          load.utilization = std::min(100.0, load.utilization.value_or(0) + *c.utilization);
      }
    std::vector<CoreLoad> out;
    for (const auto& [number, load] : by_number) out.push_back(load);
    return out;
  }

  void cores() {
    add("CORE  LOAD", true);
    const std::vector<CoreLoad> all = loads();
    const std::size_t across = std::max<std::size_t>(1, look_.columns / kCoreColumn);
    const std::size_t most = std::max<std::size_t>(1, look_.rows / 4);
    std::vector<std::string> lines;
    if (!keys_ || (all.size() + across - 1) / across <= most) {
      for (std::size_t i = 0; i < all.size(); i += across) {
        std::string line;
        for (std::size_t k = i; k < std::min(all.size(), i + across); ++k) line += bar(all[k]);
        line.erase(line.find_last_not_of(' ') + 1);
        lines.push_back(line);
      }
      add_some(lines, lines.size(), "");
      return;
    }
    // A character a core.
    std::string line;
    for (const CoreLoad& core : all) {
      if (line.empty()) line = format("%4u ", core.logical);
      line += symbol(core);
      if (line.size() < look_.columns - 1) continue;
      lines.push_back(std::move(line));
      line.clear();
    }
    if (!line.empty()) lines.push_back(line);
    add_some(lines, most, "lines of cores");
  }
  // Tenths; '*' is all of the time, '-' a core that nobody has.
  static char symbol(const CoreLoad& core) {
    if (!core.used) return '-';
    if (!core.utilization) return '?';
    const int tenth = static_cast<int>(*core.utilization / 10);
    return tenth >= 10 ? '*' : static_cast<char>('0' + tenth);
  }

  void processes() {
    add("    PID CORES    EXEC/S  EXECUTED  ERR LAST ms  DEVICE    HOST  CPU% TAG, COMMAND", true);
    std::vector<std::string> all;
    for (const ProcessFigures* p : sorted(figures_, look_.sort)) {
      const std::optional<double> last =
          p->last_total_us ? std::optional(static_cast<double>(*p->last_total_us) / 1000)
                           : std::nullopt;
      const std::optional<double> cpu =
          p->user ? std::optional(*p->user + p->system.value_or(0)) : std::nullopt;
      const std::string tag = p->tag == std::to_string(p->pid) ? "" : printable(p->tag) + ", ";
      std::string line = format("%7ld %-6s ", p->pid, cores_text(*p).c_str());
      if (p->known)
        line += format("%8s %9llu %4llu %7s %7s %7s %5s ", or_dash(p->rate, "%.1f").c_str(),
                       static_cast<unsigned long long>(p->totals.executions),
                       static_cast<unsigned long long>(errors_of(p->totals)),
                       or_dash(last, "%.2f").c_str(), tight_bytes(p->device_bytes).c_str(),
                       tight_bytes(p->host_bytes).c_str(), or_dash(cpu, "%.1f").c_str());
      all.push_back(line + tag + printable(p->error.empty() ? program(p->command) : p->error));
    }
    // Models get a third of what is left, if there are any.
    const std::size_t left = room();
    add_some(all, has_models() && left > 6 ? left - left / 3 : left, "processes");
  }

  bool has_models() const {
    return std::any_of(figures_.processes.begin(), figures_.processes.end(),
                       [](const ProcessFigures& p) { return !p.models.empty(); });
  }

  void models() {
    if (!has_models() || room() < 2) return;
    add("    PID   MODEL CORES   DEVICE    HOST NAME", true);
    std::vector<std::string> all;
    for (const ProcessFigures* p : sorted(figures_, look_.sort))
      for (const ModelFigures& m : p->models) {
        ProcessFigures where;  // for the text of its cores
        std::optional<std::uint64_t> device = 0, host = 0;
        for (const ModelFigures::Part& part : m.parts) {
          if (where.cores.empty() || where.cores.back().logical != part.logical)
            where.cores.push_back({.logical = part.logical,
                                   .device = part.device,
                                   .physical = {},
                                   .executions_total = 0,
                                   .executions = {},
                                   .utilization = {},
                                   .flops = {},
                                   .memory = {}});
          const auto on_device = sum_of(part.on_device), on_host = sum_of(part.host);
          device = device && on_device ? std::optional(*device + *on_device) : std::nullopt;
          host = host && on_host ? std::optional(*host + *on_host) : std::nullopt;
        }
        all.push_back(format("%7ld %7u %-6s %7s %7s ", p->pid, m.model_id,
                             cores_text(where).c_str(), tight_bytes(device).c_str(),
                             tight_bytes(host).c_str()) +
                      printable(m.name));
      }
    add_some(all, room(), "models");
  }

  // At most `most` lines, the last of which says how many more there are.
  void add_some(std::vector<std::string> all, std::size_t most, const char* what) {
    if (keys_) most = std::min(most, room());
    const bool cut = keys_ && all.size() > most;
    const std::size_t shown = cut ? (most > 0 ? most - 1 : 0) : all.size();
    for (std::size_t i = 0; i < shown; ++i) add(std::move(all[i]));
    if (cut && most > 0) add(format("        %zu more %s", all.size() - shown, what));
  }

  // Broken at blanks.
  void paragraph(const std::string& text) {
    std::string rest = printable(text);
    while (!rest.empty()) {
      std::size_t end = rest.size();
      if (keys_ && end > look_.columns) {
        end = rest.rfind(' ', look_.columns);
        if (end == rest.npos || end == 0) end = std::max<std::size_t>(1, look_.columns);
      }
      add(rest.substr(0, end));
      rest.erase(0, end);
      rest.erase(0, rest.find_first_not_of(' '));
    }
  }

  std::vector<ScreenLine> finish() {
    if (!keys_) return std::move(out_);
    if (look_.rows == 0) return {};
    if (out_.size() > look_.rows - 1) out_.resize(look_.rows - 1);
    add(format("q quit   s sort   p pause   every %g s, by %s%s", look_.interval_s,
               kSortNames[static_cast<int>(look_.sort)], look_.paused ? ", paused" : ""),
        true);
    for (ScreenLine& line : out_)
      if (line.text.size() > look_.columns) line.text.resize(look_.columns);
    return std::move(out_);
  }

  const Sample& sample_;
  const PeriodFigures& figures_;
  const Look& look_;
  const bool keys_;
  std::vector<ScreenLine> out_;
};

}  // namespace

Sort next(Sort sort) {
  return static_cast<Sort>((static_cast<int>(sort) + 1) % static_cast<int>(std::size(kSortNames)));
}

std::vector<ScreenLine> screen_of(const Sample& sample, const PeriodFigures& figures,
                                  const Look& look) {
  return Composer(sample, figures, look, true).lines();
}

std::string text_of(const Sample& sample, const PeriodFigures& figures, Sort sort) {
  Look look;
  look.sort = sort;
  look.rows = SIZE_MAX / 2;
  std::string out;
  for (const ScreenLine& line : Composer(sample, figures, look, false).lines())
    out += line.text + "\n";
  return out;
}

std::string short_bytes(std::optional<std::uint64_t> bytes) {
  if (!bytes) return "-";
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
  if (*bytes < 1024) return std::to_string(*bytes) + " B";
  double value = static_cast<double>(*bytes) / 1024;
  std::size_t unit = 0;
  // What would be shown as 1024.0 is one of the next.
  while (value >= 1023.95 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  return format("%.1f %s", value, kUnits[unit]);
}

}  // namespace opennrt::tools
