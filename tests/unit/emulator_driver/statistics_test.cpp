// SPDX-License-Identifier: Apache-2.0
//
// The statistics files: counters of the data stores of living and past processes,
// memory by category.
#include "harness.h"
#include "support/driver_books.h"

namespace opennrt::emu::test {
namespace {

constexpr const char* kDevice = "/sys/class/neuron_device/neuron0/";

class Statistics : public DriverTest {
 protected:
  std::string text(const std::string& file) {
    const std::string path = kDevice + file;
    char buffer[64] = {};
    const std::int64_t n = machine->read_text(path.c_str(), buffer, sizeof buffer);
    EXPECT_EQ(machine->exists(path.c_str()), n >= 0 ? 1 : 0) << path;
    return n < 0 ? "none" : buffer;
  }
  std::string core(int core, const std::string& file) {
    return text("neuron_core" + std::to_string(core) + "/stats/" + file);
  }
  // The data store of a process, mapped.
  std::uint64_t* store(Process& p, int fd) {
    abi::DsInfo info;
    EXPECT_EQ(p.call(fd, abi::kAcquireNeuronDs, info), 0);
    void* map = nullptr;
    EXPECT_EQ(p.mmap(fd, info.size, 3, info.mmap_offset, &map), 0);
    return static_cast<std::uint64_t*>(map);
  }
};

// Word of a counter, as the layout of the store gives it.
std::size_t word(std::size_t core, std::size_t counter) {
  if (core >= 4) return 7248 + 96 * (core - 4) + counter;
  return counter <= 30 ? 32 + 31 * core + counter : 6992 + 64 * core + (counter - 31);
}

TEST_F(Statistics, CountersOfTheLivingAndThePast) {
  Process p = process(10), q = process(11);
  const int pfd = p.open(), qfd = q.open();
  std::uint64_t *mine = store(p, pfd), *theirs = store(q, qfd);
  EXPECT_EQ(core(0, "status/success/total"), "0\n");
  mine[word(0, 1)] = 5;
  theirs[word(0, 1)] = 7;
  mine[word(1, 34)] = 2;
  mine[word(1, 28)] = 100;
  mine[word(1, 29)] = 3000000000000;
  EXPECT_EQ(core(0, "status/success/present"), "12\n");
  EXPECT_EQ(core(0, "status/success/total"), "12\n");
  EXPECT_EQ(core(1, "status/success/total"), "0\n");
  EXPECT_EQ(core(1, "status/hw_dma_abort_error/total"), "2\n");
  EXPECT_EQ(core(1, "other_info/inference_count"), "100\n");
  EXPECT_EQ(core(1, "other_info/flop_count"), "3000000000000\n");
  ASSERT_EQ(p.close(pfd), 0);
  EXPECT_EQ(core(0, "status/success/present"), "7\n") << "the process is gone";
  EXPECT_EQ(core(0, "status/success/total"), "12\n") << "its counts are not";
  EXPECT_EQ(core(1, "other_info/inference_count"), "100\n");
  ASSERT_EQ(q.close(qfd), 0);
  EXPECT_EQ(core(0, "status/success/present"), "0\n");
  EXPECT_EQ(core(0, "status/success/total"), "12\n");
}

TEST_F(Statistics, EveryStatusIsItsOwnCounter) {
  const std::pair<const char*, std::size_t> rows[] = {{"success", 1},
                                                      {"failure", 16},
                                                      {"timeout", 4},
                                                      {"exec_bad_input", 5},
                                                      {"hw_error", 11},
                                                      {"execute_completed_with_error", 2},
                                                      {"execute_completed_with_num_error", 3},
                                                      {"generic_error", 7},
                                                      {"resource_error", 17},
                                                      {"resource_nc_error", 18},
                                                      {"execute_failed_to_queue", 6},
                                                      {"invalid_error", 19},
                                                      {"unsupported_neff_version", 20},
                                                      {"oob_error", 30},
                                                      {"hw_collectives_error", 31},
                                                      {"hw_hbm_ue_error", 32},
                                                      {"hw_nc_ue_error", 33},
                                                      {"hw_dma_abort_error", 34},
                                                      {"execute_sw_nq_overflow", 35},
                                                      {"execute_sw_semaphore_error", 36},
                                                      {"execute_sw_event_error", 37},
                                                      {"execute_sw_psum_collision", 38},
                                                      {"execute_sw_sequencer_fatal", 39},
                                                      {"hw_repairable_hbm_ue_error", 40}};
  Process p = process(10);
  const int fd = p.open();
  std::uint64_t* counters = store(p, fd);
  for (std::size_t k = 0; k < 95; ++k) counters[word(1, k)] = 1000 + k;
  for (const auto& [name, counter] : rows)
    EXPECT_EQ(core(1, std::string("status/") + name + "/total"),
              std::to_string(1000 + counter) + "\n")
        << name;
  EXPECT_EQ(core(1, "other_info/nc_time_in_use"), "1000\n");
  EXPECT_EQ(core(1, "other_info/model_load_count"), "1027\n");
}

TEST_F(Statistics, MemoryByCategory) {
  Process p = process(10);
  const int fd = p.open();
  std::uint64_t tensors = 0, code = 0, host = 0;
  ASSERT_EQ(p.alloc(fd, 8192, &tensors, {.type = 9, .core = 1}), 0);
  ASSERT_EQ(p.alloc(fd, 4096, &code, {.type = 8, .core = 1}), 0);
  ASSERT_EQ(p.alloc(fd, 4096, &host, {.host = true, .type = 2}), 0);
  const std::string device = "memory_usage/device_mem/";
  EXPECT_EQ(core(1, device + "total"), "12288\n");
  EXPECT_EQ(core(1, device + "tensors/total"), "8192\n");
  EXPECT_EQ(core(1, device + "model_code/total"), "4096\n");
  EXPECT_EQ(core(0, device + "total"), "0\n");
  EXPECT_EQ(core(0, "memory_usage/host_mem/total"), "4096\n");
  EXPECT_EQ(text("stats/memory_usage/host_mem/tensors/total"), "4096\n");
  ASSERT_EQ(p.free(fd, tensors), 0);
  EXPECT_EQ(core(1, device + "tensors/total"), "0\n");
  EXPECT_EQ(core(1, device + "tensors/present"), "-8192\n") << "the last change";
  EXPECT_EQ(core(1, device + "tensors/peak"), "8192\n");
  EXPECT_EQ(core(1, device + "peak"), "12288\n");
  ASSERT_EQ(p.close(fd), 0);
  EXPECT_EQ(core(1, device + "total"), "0\n");
  EXPECT_EQ(text("stats/memory_usage/host_mem/tensors/total"), "0\n");
  EXPECT_EQ(MachineBooks::check_idle(*machine), "");
}

TEST_F(Statistics, FilesThatAreNotThere) {
  for (const char* file :
       {"neuron_core2/stats/status/success/total", "neuron_core0/stats/status/success",
        "neuron_core0/stats/status/success/", "neuron_core0/stats/status/success/peak",
        "neuron_core0/stats/status/nothing/total", "neuron_core0/stats/other_info/flop_count/total",
        "neuron_core0/stats/memory_usage/device_mem/tensors", "neuron_core0/stats", "neuron_core",
        "neuron_core/stats/status/success/total", "stats/memory_usage/host_mem/total", "stats"})
    EXPECT_EQ(text(file), "none") << file;
  char buffer[8];
  EXPECT_EQ(machine->read_text("/sys/devices/virtual/neuron_device/neuron0/core_count", buffer, 8),
            1);
  EXPECT_EQ(machine->read_text("/sys/devices/virtual/neuron_device/neuron1/core_count", buffer, 8),
            -ENOENT);
}

}  // namespace
}  // namespace opennrt::emu::test
