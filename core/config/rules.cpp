// SPDX-License-Identifier: Apache-2.0
#include "config/rules.h"

#include <sys/stat.h>

namespace opennrt::config {

namespace {

void cores(Draft& draft) {
  const auto& visible = draft.entry(Key::kCoresVisible);
  if (visible.value.set) {
    if (!visible.value.cores.was_sorted)
      draft.warn(fmt::format("{}: cores should be named in ascending order",
                             draft.assignment(Key::kCoresVisible)));
    if (const auto& count = draft.entry(Key::kCoresCount); count.value.number != 0)
      draft.warn(fmt::format("{} is ignored because {} names the cores",
                             draft.assignment(Key::kCoresCount), draft.source(Key::kCoresVisible)));
  }
  if (const auto& single = draft.entry(Key::kCoresUltraserverSingleNode); single.value.number != 0)
    draft.derive(Key::kCoresUltraserverMode, "4", single.where, single.layer);
}

void plugin_directories(Draft& draft) {
  const auto& plugins = draft.entry(Key::kPluginsPath);
  for (const std::string& directory : plugins.value.list) {
    struct stat info{};
    if (::stat(directory.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) continue;
    draft.tell(log::Level::kWarn,
               fmt::format("{}: plugin directory {} does not exist",
                           draft.source(Key::kPluginsPath), directory),
               true);
  }
}

void execution(Draft& draft) {
  if (const auto& depth = draft.entry(Key::kExecImplicitAsyncDepth); depth.value.number != 0)
    draft.warn(
        fmt::format("{}: nrt_execute waits all the same and calls the registered callback; "
                    "nrta_* calls are refused",
                    draft.assignment(Key::kExecImplicitAsyncDepth)));
  if (const auto& strict = draft.entry(Key::kExecStrictOrdering); strict.value.number != 0)
    draft.derive(Key::kLoadHwDecodeToggle, "0", strict.where, strict.layer);
}

void collectives(Draft& draft) {
  const auto& by_priority = draft.entry(Key::kCcCopyPrioPacketBytes);
  if (by_priority.value.set && draft.given(Key::kCcDmaPacketBytes))
    draft.warn(fmt::format("{} is ignored because {} gives a size for each priority",
                           draft.assignment(Key::kCcDmaPacketBytes),
                           draft.source(Key::kCcCopyPrioPacketBytes)));
  if (const auto& ranks = draft.entry(Key::kCcProxyRanksPerThread);
      ranks.value.number > 1 && draft.entry(Key::kExecBarrierHardware).value.number == 0)
    draft.fail(
        fmt::format("{}: cc.proxy.ranks_per_thread='{}': above 1 needs "
                    "exec.barrier.hardware (NEURON_RT_ENABLE_HW_EXECUTION_BARRIER=1)",
                    ranks.where, ranks.value.text));
}

// Two switches that ask for more than the verbosity says.
void numerics(Draft& draft) {
  const auto raise = [&draft](Key from, std::string_view to, std::uint64_t level) {
    const auto& source = draft.entry(from);
    if (source.value.number != 0 && draft.entry(Key::kNumericsErrorVerbosity).value.number < level)
      draft.derive(Key::kNumericsErrorVerbosity, to, source.where, source.layer);
  };
  raise(Key::kNumericsVerboseErrors, "verbose", 3);
  raise(Key::kNumericsFailOnNan, "critical", 1);
}

}  // namespace

void apply_rules(Draft& draft) {
  cores(draft);
  plugin_directories(draft);
  execution(draft);
  collectives(draft);
  numerics(draft);
}

Loaded for_machine(const Config& config, const MachineFacts& machine) {
  Draft draft(config);
  const std::string where = fmt::format("default of arch {}", machine.arch_type);
  const auto arch_default = [&](Key key, std::string_view text) {
    if (!text.empty() && !draft.given(key)) draft.derive(key, text, where, Layer::kArch);
  };
  constexpr std::uint32_t kFirstArch = 2;
  for (const Setting& row : settings())
    if (const std::size_t i = machine.arch_type - kFirstArch;
        machine.arch_type >= kFirstArch && i < row.arch_fallback.size())
      arch_default(row.id, row.arch_fallback[i]);
  if (const auto& toggle = draft.entry(Key::kLoadHwDecodeToggle);
      machine.arch_type == 2 && draft.given(Key::kLoadHwDecodeToggle) && toggle.value.number != 0)
    draft.fail(fmt::format("{}: load.hw_decode_toggle='{}': arch 2 has no hardware decoder",
                           toggle.where, toggle.value.text));
  const std::string size = std::to_string(machine.lnc_size);
  if (const auto lnc = draft.entry(Key::kCoresLncSize);
      draft.given(Key::kCoresLncSize) && lnc.value.text != size) {
    draft.warn(fmt::format("{} is ignored: this silicon has logical cores of {}",
                           draft.assignment(Key::kCoresLncSize), size));
    draft.derive(Key::kCoresLncSize, size, where, Layer::kArch);
  } else {
    arch_default(Key::kCoresLncSize, size);
  }
  return std::move(draft).finish();
}

}  // namespace opennrt::config
