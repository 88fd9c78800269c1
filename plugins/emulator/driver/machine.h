// SPDX-License-Identifier: Apache-2.0
//
// The emulated driver: every device of one instance behind open, close, ioctl,
// mmap and munmap. The object knows no process: each call brings a Client and
// the access to that client's memory.
//
// Threading: all members may be called from any thread. Lock order: a node's
// mutex, then one of the machine's; nothing calls the Device with a machine
// mutex held, and data moves without any lock.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "driver/arch_facts.h"
#include "driver/client.h"
#include "driver/node.h"
#include "driver/request_faults.h"
#include "driver/user_memory.h"
#include "driver/version.h"
#include "opennrt/arch.h"
#include "opennrt/port.h"

namespace opennrt::emu {

using DeviceFactory = std::function<std::unique_ptr<Device>(
    const DeviceConfig&, std::shared_ptr<DeviceMemory>, std::string* error)>;

// Devices of one machine: as many as a process can use (emulator.devices).
inline constexpr std::uint32_t kMaxDevices = NRTP_MAX_PROCESS_DEVICES;

struct MachineConfig {
  const nrtp_host* host = nullptr;  // may be null: no log
  const nrtp_arch_plugin* arch = nullptr;
  const nrtp_product* product = nullptr;
  std::uint32_t devices = 1;
  std::uint32_t threads = 1;    // of one core, 0 = by the CPUs of the process
  std::uint64_t hbm_bytes = 0;  // per channel, 0 = the product's
  std::uint64_t host_bytes = std::uint64_t{4} << 30;
  std::uint64_t memory_limit = 0;  // sum of all allocations, 0 = none
  const char* memory_limit_name = "cgroup memory.max";
  const DriverPreset* driver = find_driver_preset(kDefaultDriver);
  std::uint64_t driver_features = kKnownFeatures;  // emulator.driver_features: others are off
  std::vector<std::string> driver_without;         // emulator.driver_without: names of requests
  DeviceFactory make_device;
  bool failed_reset = false;  // the start-up reset never completes
  // How long requests wait for other processes.
  std::chrono::milliseconds reader_patience{500}, writer_patience{2000}, init_patience{5000};
  VerifyOptions verify{};
  InspectOptions inspect{};
  std::vector<Fault> faults;  // emulator.faults
  // What carries out kill_process. The driver itself sends no signal: without
  // this such an entry is refused.
  std::function<bool(const Client&)> kill_process;
  bool refuse_unconfirmed = false;  // emulator.unconfirmed_instructions
  std::string report;               // file written when the device goes: see write_report
};

// What a descriptor says about the open file behind it.
struct File {
  DeviceNode* node = nullptr;
  Lane lane = Lane::kDevice;
  bool readable = true, writable = true;
  std::uint32_t id = 0;  // of the open file, which duplicates share
};

struct RequestEntry;

class Machine {
 public:
  static std::unique_ptr<Machine> create(const MachineConfig& config, std::string* error);
  ~Machine();
  Machine(const Machine&) = delete;
  Machine& operator=(const Machine&) = delete;

  // flags: access mode of open(2), 0..3. Descriptor or -errno.
  int open(const Client& client, const char* path, std::uint32_t flags);
  // Detaches the calling process once, whoever opened the descriptor.
  int close(const Client& client, int fd);
  // A second descriptor of the same open file (dup, fork).
  int duplicate(int fd);
  std::int64_t ioctl(const Client& client, UserMemory& memory, int fd, std::uint32_t request,
                     std::uint64_t arg);
  // prot: bit 0 read, bit 1 write.
  int mmap(const Client& client, int fd, std::uint64_t bytes, std::uint32_t prot,
           std::uint64_t offset, void** out);
  int munmap(const Client& client, void* address, std::uint64_t bytes);
  // The two halves of mmap for a client that maps in a process of its own.
  // decide_map: what it may map (region, offset, bytes, writable); record_mapping:
  // where it does.
  struct Mapping;
  int decide_map(const Client& client, int fd, std::uint64_t bytes, std::uint32_t prot,
                 std::uint64_t offset, Mapping* out);
  void record_mapping(Mapping mapping, std::uint64_t address);
  // The process has ended, though a request of it may be under way: its DMA queues
  // move nothing more, the rest goes with its descriptors.
  void stop_transfers(std::uint32_t pid);
  // The process has ended: its mappings are gone.
  void forget_mappings(std::uint32_t pid);
  int exists(const char* path) const;
  std::int64_t read_text(const char* path, char* buffer, std::size_t n);
  // Bytes taken, or -errno. Only the reset attribute of a device.
  std::int64_t write_text(const char* path, std::string_view text);

  // Runs the work of all devices on the calling thread. True if anything ran.
  bool run(std::uint64_t max_records);
  // No core that the process has reserved could go on, and none is being run;
  // of all cores when it has reserved none.
  bool stuck(std::uint32_t pid);
  // Sum of these cores' progress.
  std::uint64_t progress(std::uint32_t pid);

  const MachineConfig& config() const { return config_; }
  const ArchFacts& facts() const { return facts_; }
  const nrtp_arch_geometry& geometry() const { return *config_.arch->geometry; }
  std::uint32_t cores() const { return config_.arch->geometry->tpbs; }
  bool at_least(const DriverVersion& version) const { return config_.driver->version >= version; }
  // Word 0 of DRIVER_INFO_GET.
  std::uint64_t features() const { return config_.driver->features & config_.driver_features; }
  DeviceNode* node(std::uint32_t index) {
    return index < nodes_.size() ? nodes_[index].get() : nullptr;
  }
  std::uint32_t devices() const { return static_cast<std::uint32_t>(nodes_.size()); }

  // --- for the request files -------------------------------------------------
  struct AllocRequest {
    std::uint64_t bytes = 0, align = 0;
    bool host = false;
    std::uint32_t channel = 0, core = 0, mem_type = 0, owner = 0;
    Lifespan lifespan = Lifespan::kProcess;
    bool handle = true;
  };
  // Node locked by the caller. 0 or -errno.
  int allocate(DeviceNode& node, const AllocRequest& request, Chunk** out);
  void free_chunk(DeviceNode& node, Chunk* chunk, bool discard_small = false);
  void unpin(DeviceNode& node, Chunk* chunk);  // takes the node's mutex
  // Bytes that (chunk, offset) may name. A contiguous piece runs on to the end
  // of its pool.
  static std::uint64_t reach(const DeviceNode& node, const Chunk& chunk);

  // Begins the reset of those cores: what it clears is cleared now, and the
  // outcome is known at Reset::done. Node locked by the caller.
  Reset begin_reset(DeviceNode& node, std::uint32_t nc_map);
  // Waits for the reset that the process asked for, if there is one, and takes
  // it. lock holds the node's mutex.
  bool take_reset(DeviceNode& node, std::unique_lock<std::mutex>& lock, std::uint32_t id,
                  Reset* out);
  // State of the device for one who waits for the end of a reset, or for one who
  // only looks. Node locked by the caller.
  static NodeState state_of(DeviceNode& node, bool waits);

  // True when a device the process is attached to has a chunk at the address.
  bool owns_reachable(std::uint32_t pid, std::uint64_t pa);
  void reset_cores(DeviceNode& node, std::uint32_t nc_map);
  void fold_store(DeviceNode& node, DataStore& store);
  // Counter of a core in the stores of running processes, and in all since the
  // driver was loaded. Node locked by the caller.
  std::uint64_t store_counter(const DeviceNode& node, std::uint32_t core,
                              std::uint32_t counter) const;

  struct Mapping {
    std::uint32_t pid = 0;
    std::uint64_t address = 0, bytes = 0;
    DeviceNode* node = nullptr;
    int channel = -1;  // HBM channel, -1 for anything else
    Region* region = nullptr;
    std::uint64_t memory_offset = 0;  // of the mapping in the region
    bool writable = false;
    bool own = false;     // a mapping of its own, not a view into the backing
    bool tracked = true;  // the driver still knows it
    std::shared_ptr<Backing> backing;
  };
  // Copy of the mapping of that process which contains the address.
  bool find_mapping(std::uint32_t pid, std::uint64_t address, Mapping* out);

  int mark_cores(const DeviceNode& node, std::uint32_t pid, std::uint32_t count,
                 std::uint32_t start, std::uint32_t end, std::uint32_t* max,
                 std::uint64_t bitmap[8]);
  void unmark_cores(const DeviceNode& node, std::uint32_t pid, const std::uint64_t bitmap[8]);

  // Pids of the processes attached to a device; owner of each core in the order
  // of the reservation table, 0 = free.
  std::vector<std::uint32_t> attached(DeviceNode& node);
  std::vector<std::uint32_t> core_owners();

  void release_host(std::uint64_t address, std::uint64_t bytes);
  void log(std::uint32_t level, const char* format, ...) const
      __attribute__((format(printf, 3, 4)));
  bool blocked_register(std::uint64_t bar0) const;

 private:
  friend struct MachineBooks;  // checks of tests: whether the books below add up
  explicit Machine(const MachineConfig& config);
  bool build(std::string* error);
  void build_blocked();
  bool build_requests(std::string* error);
  bool take_budget(const DeviceNode& node, std::uint64_t bytes);
  bool alloc_device(DeviceNode& node, const AllocRequest& request, std::uint64_t bytes,
                    Chunk* chunk);
  bool alloc_host(DeviceNode& node, std::uint64_t bytes, Chunk* chunk);
  // Bit per core, by device.
  std::vector<std::uint32_t> cores_of(std::uint32_t pid);
  DeviceNode* find_path(const char* path) const;
  bool find_file(int fd, File* out) const;
  int add_descriptor(std::uint32_t packed);
  void release_file(const File& file);
  void abandon(DeviceNode& node);
  template <typename Which>
  void free_chunks(DeviceNode& node, Which which);
  template <typename Which>
  void end_programs(DeviceNode& node, Which which);
  std::int64_t injected_fault(const DeviceNode& node, const Client& client,
                              const RequestEntry& entry);
  void start_reset(DeviceNode& node);
  void set_memory_limits(DeviceNode& node);
  void detach(DeviceNode& node, std::uint32_t pid);
  void clean_up(DeviceNode& node, std::uint32_t pid);
  void replace_queues(DeviceNode& node, std::uint32_t pid);
  void drop_mappings(const DeviceNode& node, std::uint32_t pid);
  static void map_range(DeviceNode& node, Region& region, std::uint64_t offset, std::uint64_t bytes,
                        bool writable, Mapping* mapping);
  static int map_here(Mapping* mapping);
  int map_special(DeviceNode& node, std::uint64_t bytes, std::uint32_t prot, std::uint64_t offset,
                  Mapping* mapping);

  MachineConfig config_;
  nrtp_product product_{};  // the product with its memory size overridden
  ArchFacts facts_;
  std::vector<std::unique_ptr<DeviceNode>> nodes_;
  std::unique_ptr<RequestFaults> request_faults_;  // nullptr: none is asked for

  static constexpr int kFirstDescriptor = 1 << 20;  // never the number of a real descriptor
  static constexpr std::uint32_t kDescriptors = 1 << 16;
  // A descriptor is one word, so that a request needs no lock to look it up and
  // a close at the same time does no harm. 0 = free.
  std::array<std::atomic<std::uint32_t>, kDescriptors> descriptors_{};
  std::vector<std::uint32_t> references_;  // descriptors of each open file
  std::vector<std::uint32_t> free_files_;  // indexes of references_ that are 0
  std::atomic<std::uint32_t> open_files_{0};
  std::uint32_t lowest_free_ = 0;  // no descriptor below is free
  std::mutex files_mutex_;

  std::mutex host_mutex_;
  RangePool host_pool_;
  std::shared_ptr<Region> host_region_;
  std::atomic<std::uint64_t> allocated_{0};

  std::mutex mappings_mutex_;
  std::vector<Mapping> mappings_;

  std::mutex marks_mutex_;
  std::vector<std::uint32_t> marks_;  // owner pid by core, 0 = free

  std::vector<bool> absent_;  // rows of the request table this driver does not have

  std::vector<std::uint64_t> udma_bases_;       // sorted BAR 0 offsets of the DMA engines
  std::vector<std::uint32_t> blocked_offsets_;  // sorted offsets inside one engine
};

}  // namespace opennrt::emu
