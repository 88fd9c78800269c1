// SPDX-License-Identifier: Apache-2.0
#include "watch/figures.h"

#include "lab.h"
#include "watch/source.h"

namespace opennrt::tools::test {
namespace {

// Two seconds later.
Sample later(const Sample& sample) {
  Sample out = sample;
  out.at_s += 2;
  return out;
}

TEST(Figures, TheFirstSampleHasTotalsOnly) {
  Sample now = machine(1, 2);
  add_process(&now, 7);
  execute(&store(&now), 1, 5);
  const PeriodFigures figures = figures_of(nullptr, now);
  EXPECT_EQ(figures.period_s, std::nullopt);
  const ProcessFigures& p = figures.processes.at(0);
  EXPECT_TRUE(p.known);
  EXPECT_EQ(p.totals.executions, 5u);
  EXPECT_EQ(p.totals.outcomes[0], 5u);
  EXPECT_EQ(p.period.has_value(), false);
  EXPECT_EQ(p.rate, std::nullopt);
  ASSERT_EQ(p.cores.size(), 1u);  // core 0 has done nothing
  EXPECT_EQ(p.cores[0].logical, 1u);
  EXPECT_EQ(p.cores[0].utilization, std::nullopt);
  EXPECT_EQ(p.last_total_us, 1500u);
  EXPECT_EQ(p.tag, "7");
}

TEST(Figures, WhatHappenedInThePeriod) {
  Sample before = machine(1, 2);
  add_process(&before, 7);
  execute(&store(&before), 0, 5);
  Sample now = later(before);
  execute(&store(&now), 0, 100, 4000);
  execute(&store(&now), 1, 50, 4000);
  store(&now).cores[0][nds::kTimedOut] = 2;
  store(&now).cores[0][nds::kInferences] += 2;
  store(&now).cores[1][nds::kErrorNumerical] = 3;
  store(&now).cores[0][nds::kMacs] = 1'000'000;
  const PeriodFigures figures = figures_of(&before, now);
  EXPECT_DOUBLE_EQ(*figures.period_s, 2);
  const ProcessFigures& p = figures.processes.at(0);
  ASSERT_TRUE(p.period);
  EXPECT_EQ(p.period->executions, 152u);
  EXPECT_EQ(p.totals.executions, 157u);
  EXPECT_EQ(p.period->outcomes, (std::array<std::uint64_t, 6>{150, 0, 0, 2, 0, 0}));
  EXPECT_EQ(p.period->errors, (std::array<std::uint64_t, 6>{0, 3, 0, 0, 0, 0}));
  EXPECT_DOUBLE_EQ(*p.rate, 76);
  ASSERT_EQ(p.cores.size(), 2u);
  EXPECT_DOUBLE_EQ(*p.cores[0].utilization, 20);  // 0.4 s of 2 s
  EXPECT_DOUBLE_EQ(*p.cores[1].utilization, 10);
  EXPECT_DOUBLE_EQ(*p.cores[0].flops, 1'000'000);  // two of each
  EXPECT_DOUBLE_EQ(*p.mean_device_us, 600'000.0 / 152);
}

TEST(Figures, AnExecutionLongerThanThePeriodIsAllOfIt) {
  Sample before = machine(1, 1);
  add_process(&before, 7);
  Sample now = later(before);
  execute(&store(&now), 0, 1, 9'000'000);
  EXPECT_DOUBLE_EQ(*figures_of(&before, now).processes.at(0).cores.at(0).utilization, 100);
}

TEST(Figures, ANewProcessBeganWithNothing) {
  const Sample before = machine(1, 1);
  Sample now = later(before);
  add_process(&now, 7);
  execute(&store(&now), 0, 9);
  EXPECT_EQ(figures_of(&before, now).processes.at(0).period->executions, 9u);
  // Another one of that number is another process.
  Sample same = before;
  add_process(&same, 7).started = 16;
  execute(&store(&same), 0, 4);
  EXPECT_EQ(figures_of(&same, now).processes.at(0).period->executions, 9u);
}

TEST(Figures, AStoreThatWasMadeAnewBeganWithNothing) {
  Sample before = machine(1, 1);
  add_process(&before, 7);
  execute(&store(&before), 0, 100);
  Sample now = later(before);
  store(&now) = {};
  store(&now).readable = nds::Readable::kYes;
  execute(&store(&now), 0, 3);
  EXPECT_EQ(figures_of(&before, now).processes.at(0).period->executions, 3u);
}

TEST(Figures, WhatNobodySawIsNotKnown) {
  // The devices could not be asked before.
  Sample before = machine(1, 1);
  before.error = "device 0 cannot be asked: Permission denied";
  Sample now = later(before);
  add_process(&now, 7);
  execute(&store(&now), 0, 9);
  const PeriodFigures figures = figures_of(&before, now);
  EXPECT_FALSE(figures.processes.at(0).period);
  EXPECT_EQ(figures.processes.at(0).rate, std::nullopt);
  EXPECT_EQ(figures.processes.at(0).totals.executions, 9u);
  // Its store could not be read before.
  before.error.clear();
  add_process(&before, 7).stores.clear();
  before.processes[0].error = "its data store is empty";
  EXPECT_FALSE(figures_of(&before, now).processes.at(0).period);
  // It cannot be read now.
  now.processes[0].stores.clear();
  now.processes[0].error = "its data store is empty";
  const ProcessFigures gone = figures_of(&before, now).processes.at(0);
  EXPECT_FALSE(gone.known);
  EXPECT_EQ(gone.device_bytes, std::nullopt);
  EXPECT_EQ(gone.host_bytes, std::nullopt);
  EXPECT_EQ(gone.host[0], std::nullopt);
}

TEST(Figures, MemoryOfACoreAndOfTheHost) {
  Sample now = machine(2, 2);
  add_process(&now, 7);
  now.processes[0].stores.push_back({.device = 1, .store = {}});
  for (std::size_t d = 0; d < 2; ++d)
    for (std::uint32_t i = 0; i < 5; ++i) {
      store(&now, 0, d).cores[1][nds::kDeviceMemory + i] = 10 + i;
      store(&now, 0, d).device[nds::kHostMemory + i] = 100 * (d + 1);
    }
  ProcessFigures p = figures_of(nullptr, now).processes.at(0);
  ASSERT_EQ(p.cores.size(), 2u);
  EXPECT_EQ(p.cores[0].logical, 1u);
  EXPECT_EQ(p.cores[1].logical, 3u);
  EXPECT_EQ(p.cores[1].device, 1u);
  EXPECT_EQ(p.cores[0].memory[4], 14u);
  EXPECT_EQ(p.device_bytes, 2u * (10 + 11 + 12 + 13 + 14));
  EXPECT_EQ(p.host_bytes, 1500u);
  // A counter below zero makes the sums unknown, and no other figure.
  store(&now).cores[1][nds::kDeviceMemory] = static_cast<std::uint64_t>(-1);
  p = figures_of(nullptr, now).processes.at(0);
  EXPECT_EQ(p.device_bytes, std::nullopt);
  EXPECT_EQ(p.cores[0].memory[0], std::nullopt);
  EXPECT_EQ(p.cores[0].memory[1], 11u);
  EXPECT_EQ(p.host_bytes, 1500u);
}

// Every physical core of a logical one counts an execution.
TEST(Figures, CoresThatAreOneCountOnce) {
  Sample before = machine(2, 4, 2);
  add_process(&before, 7, 1);
  Sample now = later(before);
  for (const std::uint32_t core : {0, 1}) execute(&store(&now), core, 10, 100'000);
  execute(&store(&now), 1, 0, 100'000);
  store(&now).cores[1][nds::kTimeInUse] = 500'000;
  const ProcessFigures p = figures_of(&before, now).processes.at(0);
  EXPECT_EQ(p.period->executions, 10u);
  EXPECT_EQ(p.totals.outcomes[0], 10u);
  ASSERT_EQ(p.cores.size(), 1u);
  EXPECT_EQ(p.cores[0].logical, 2u);  // the first of device 1
  ASSERT_EQ(p.cores[0].physical.size(), 2u);
  EXPECT_EQ(p.cores[0].physical[0].number, 4u);
  EXPECT_DOUBLE_EQ(*p.cores[0].physical[0].utilization, 50);
  EXPECT_DOUBLE_EQ(*p.cores[0].physical[1].utilization, 25);
  EXPECT_DOUBLE_EQ(*p.cores[0].utilization, 50);
}

TEST(Figures, ModelsWithTheirParts) {
  Sample now = machine(1, 4, 2);
  add_process(&now, 7);
  nds::StoreReading& s = store(&now);
  s.models = {model(1, 0, 0), model(1, 1, 1), model(2, 2, 0)};
  s.models[0].bytes[1][0] = 4096;
  const ProcessFigures p = figures_of(nullptr, now).processes.at(0);
  ASSERT_EQ(p.models.size(), 2u);
  EXPECT_EQ(p.models[0].uuid, "abababababababababababababababab");
  ASSERT_EQ(p.models[0].parts.size(), 2u);
  EXPECT_EQ(sum_of(p.models[0].parts[0].on_device), 4096u);
  EXPECT_EQ(p.models[0].parts[1].logical, 0u);
  EXPECT_EQ(p.models[1].parts[0].logical, 1u);
}

TEST(Figures, ACoreThatIsHeldIsInUse) {
  Sample now = machine(1, 2);
  add_process(&now, 7);
  now.machine.devices[0].cores[1].holder = Holder{.pid = 7, .command = "x", .state = ""};
  const ProcessFigures p = figures_of(nullptr, now).processes.at(0);
  ASSERT_EQ(p.cores.size(), 1u);
  EXPECT_EQ(p.cores[0].logical, 1u);
}

TEST(Figures, SharesOfTheHost) {
  Sample before = machine(1, 1);
  before.system.all = CpuTicks{.user = 100, .system = 100, .idle = 800};
  before.system.cpus = {*before.system.all};
  before.system.context_switches = 5;
  add_process(&before, 7).cpu = ProcessTicks{.started = 17, .user = 10, .system = 0};
  Sample now = later(before);
  now.system.all = CpuTicks{.user = 150, .system = 110, .idle = 840};
  now.system.context_switches = 25;
  now.processes[0].cpu = ProcessTicks{.started = 17, .user = 20, .system = 5};
  const PeriodFigures figures = figures_of(&before, now);
  EXPECT_DOUBLE_EQ(figures.cpu->user, 50);
  EXPECT_DOUBLE_EQ(figures.cpu->idle, 40);
  EXPECT_EQ(figures.context_switches, 20u);
  EXPECT_EQ(figures.cpus.at(0).has_value(), false);  // it had no tick
  EXPECT_DOUBLE_EQ(*figures.processes[0].user, 10);
  EXPECT_DOUBLE_EQ(*figures.processes[0].system, 5);
}

TEST(Lnc, AsTheModelsOfTheProcessShow) {
  Sample now = machine(1, 8);
  add_process(&now, 7);
  EXPECT_EQ(lnc_of(now.processes[0].stores), 0u);
  store(&now).models = {model(1, 0), model(2, 1)};
  EXPECT_EQ(lnc_of(now.processes[0].stores), 1u);
  store(&now).models.push_back(model(2, 0, 1));
  EXPECT_EQ(lnc_of(now.processes[0].stores), 2u);
}

}  // namespace
}  // namespace opennrt::tools::test
