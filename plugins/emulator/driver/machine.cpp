// SPDX-License-Identifier: Apache-2.0
//
// Construction, descriptors, attach and clean-up.
#include "driver/machine.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <thread>

#include "driver/request.h"

namespace opennrt::emu {

namespace {

constexpr std::uint64_t kSmallPool = std::uint64_t{1} << 30;
constexpr std::uint32_t kMemTypeDriver = 13;    // NCDEV_DEVICE
constexpr std::uint64_t kHostStart = 1u << 20;  // host address 0 is nobody's
constexpr std::uint32_t kMarkedCores = 512;
constexpr std::uint32_t kEngineIdle = 1;

// Descriptor word: device in bits 0-5, open file from bit 9.
constexpr std::uint32_t kNodeMask = 0x3F, kMiscBit = 1u << 6, kReadBit = 1u << 7,
                        kWriteBit = 1u << 8, kFileShift = 9, kFileMask = 0x3FFFFF,
                        kOpenBit = 1u << 31;

}  // namespace

Backing::~Backing() {
  if (machine) machine->release_host(address, bytes);
}

Machine::Machine(const MachineConfig& config) : config_(config) {
  product_ = *config.product;
  if (config.hbm_bytes) product_.hbm_channel_bytes = config.hbm_bytes & ~(kPage - 1);
  config_.product = &product_;
  facts_ = make_arch_facts(*config.arch, product_);
  request_faults_ =
      std::make_unique<RequestFaults>(config_.faults, config_.devices, request_table().size());
  if (request_faults_->empty()) request_faults_.reset();
  marks_.assign(kMarkedCores, 0);
}

Machine::~Machine() {
  // Mappings of their own go before the nodes whose memory they show.
  for (Mapping& m : mappings_)
    if (m.own) ::munmap(reinterpret_cast<void*>(m.address), m.bytes);
  mappings_.clear();
  nodes_.clear();
}

std::unique_ptr<Machine> Machine::create(const MachineConfig& config, std::string* error) {
  if (!config.arch || !config.product || !config.driver || !config.make_device) {
    *error = "the software device needs an arch table, a product and a driver version";
    return nullptr;
  }
  if (config.devices == 0 || config.devices > kMaxDevices) {
    *error = "emulator.devices is " + std::to_string(config.devices) + ", allowed are 1 to " +
             std::to_string(kMaxDevices);
    return nullptr;
  }
  for (const Fault& fault : config.faults)
    if (fault.point == Fault::Point::kKillProcess && !config.kill_process) {
      *error = "emulator.faults: kill_process is not possible here";
      return nullptr;
    }
  std::unique_ptr<Machine> machine(new Machine(config));
  if (!machine->build(error)) return nullptr;
  return machine;
}

bool Machine::build(std::string* error) {
  const nrtp_arch_geometry& g = geometry();
  const std::uint64_t carve_out = g.hbm_reserved_low;
  // What requests can name.
  if (g.tpbs > kMaxCores || g.dma_total > kMaxEngines || g.dma_queues_per_engine > kMaxQueues) {
    *error = std::string("arch ") + config_.arch->name + " has " + std::to_string(g.tpbs) +
             " cores, " + std::to_string(g.dma_total) + " DMA engines and " +
             std::to_string(g.dma_queues_per_engine) +
             " queues on each; the driver's interface names " + std::to_string(kMaxCores) + ", " +
             std::to_string(kMaxEngines) + " and " + std::to_string(kMaxQueues);
    return false;
  }
  if (product_.hbm_channel_bytes <= carve_out) {
    *error = "emulator.hbm_bytes is " + std::to_string(product_.hbm_channel_bytes) +
             " per channel, the firmware area alone takes " + std::to_string(carve_out);
    return false;
  }
  if (config_.host_bytes <= 2 * kHostStart || config_.host_bytes > (std::uint64_t{4} << 30)) {
    *error = "emulator.host_bytes is " + std::to_string(config_.host_bytes) +
             ", allowed are more than 2 MiB and at most 4 GiB";
    return false;
  }
  host_region_ = Region::create("opennrt-host", config_.host_bytes, error);
  if (!host_region_) return false;
  host_pool_ = RangePool(kHostStart, (config_.host_bytes & ~(kPage - 1)) - kHostStart);

  for (std::uint32_t i = 0; i < config_.devices; ++i) {
    auto node = std::make_unique<DeviceNode>();
    node->machine = this;
    node->index = i;
    node->routing_id = routing_id(*config_.arch, product_, config_.devices, i);
    MemoryConfig memory;
    memory.hbm_channels = g.n_hbm;
    memory.hbm_channel_bytes = product_.hbm_channel_bytes;
    memory.host_bytes = config_.host_bytes;
    memory.host = host_region_;
    memory.cores = g.tpbs;
    memory.sbuf_window_bytes = g.sbuf_window_bytes;
    memory.psum_window_bytes = g.psum_window_bytes;
    node->memory = DeviceMemory::create(memory, error);
    if (!node->memory) return false;
    DeviceConfig device;
    device.host = config_.host;
    device.arch = config_.arch;
    device.product = &product_;
    device.index = i;
    device.threads = config_.threads;
    device.verify = config_.verify;
    device.inspect = config_.inspect;
    device.faults = config_.faults;
    device.refuse_unconfirmed = config_.refuse_unconfirmed;
    node->device = config_.make_device(device, node->memory, error);
    if (!node->device) return false;

    start_reset(*node);
    if (config_.failed_reset) node->state = NodeState::kInvalid;
    node->core_queues.resize(g.tpbs);
    node->topsp_queues.resize(g.topsps);
    node->scrubbing.resize(g.n_hbm);
    node->init.fill(CoreInit::kInvalid);
    node->engine_state.fill(kEngineIdle);
    for (std::uint32_t c = 0; c < g.n_hbm; ++c) {
      ChannelPools pools;
      pools.base = g.hbm[c].base;
      pools.bytes = product_.hbm_channel_bytes;
      const std::uint64_t small = pools.bytes > kSmallPool ? kSmallPool : 0;
      pools.main = RangePool(pools.base + carve_out, pools.bytes - carve_out - small);
      pools.small = RangePool(pools.base + pools.bytes - small, small);
      node->channels.push_back(pools);
      auto reserved = std::make_unique<Chunk>();
      reserved->pa = pools.base;
      reserved->bytes = carve_out;
      reserved->channel = c;
      reserved->mem_type = kMemTypeDriver;
      reserved->lifespan = Lifespan::kDevice;
      reserved->pool = Pool::kReserved;
      reserved->driver_owned = true;
      reserved->backing = std::make_shared<Backing>();
      node->chunks[reserved->pa] = std::move(reserved);
    }
    set_memory_limits(*node);
    nodes_.push_back(std::move(node));
  }
  build_blocked();
  return build_requests(error);
}

bool Machine::build_requests(std::string* error) {
  for (const std::string& name : config_.driver_without)
    if (!find_request(name)) {
      *error = "emulator.driver_without names \"" + name +
               "\", which is no request of the driver; names are for example PRINTK or "
               "MEM_MC_GET_INFO_V2";
      return false;
    }
  for (const RequestEntry& row : request_table())
    absent_.push_back(
        !at_least(row.since) || !has_request(features(), row.name) ||
        std::count(config_.driver_without.begin(), config_.driver_without.end(), row.name) != 0);
  return true;
}

void Machine::log(std::uint32_t level, const char* format, ...) const {
  const nrtp_host* host = config_.host;
  if (!host || !host->log) return;
  if (host->log_enabled && !host->log_enabled(host->self, level, "EMU")) return;
  char text[400];
  va_list args;
  va_start(args, format);
  std::vsnprintf(text, sizeof text, format, args);
  va_end(args);
  host->log(host->self, level, "EMU", text);
}

DeviceNode* Machine::find_path(const char* path) const {
  constexpr std::string_view kPrefix = "/dev/neuron";
  const std::string_view text(path);
  if (!text.starts_with(kPrefix)) return nullptr;
  const std::string_view digits = text.substr(kPrefix.size());
  std::uint32_t index = 0;
  const auto [end, ec] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (ec != std::errc() || end != digits.data() + digits.size()) return nullptr;
  if (digits.size() > 1 && digits.front() == '0') return nullptr;
  return index < nodes_.size() ? nodes_[index].get() : nullptr;
}

bool Machine::find_file(int fd, File* out) const {
  const std::int64_t slot = std::int64_t{fd} - kFirstDescriptor;
  if (slot < 0 || slot >= kDescriptors) return false;
  const std::uint32_t word =
      descriptors_[static_cast<std::size_t>(slot)].load(std::memory_order_acquire);
  if (!(word & kOpenBit)) return false;
  *out = File{nodes_[word & kNodeMask].get(), word & kMiscBit ? Lane::kMisc : Lane::kDevice,
              (word & kReadBit) != 0, (word & kWriteBit) != 0, word >> kFileShift & kFileMask};
  return true;
}

// files_mutex_ is held.
int Machine::add_descriptor(std::uint32_t packed) {
  for (std::uint32_t& slot = lowest_free_; slot < kDescriptors; ++slot) {
    if (descriptors_[slot].load(std::memory_order_relaxed)) continue;
    descriptors_[slot].store(packed, std::memory_order_release);
    ++references_[packed >> kFileShift & kFileMask];
    return kFirstDescriptor + static_cast<int>(slot++);
  }
  return -EMFILE;
}

void Machine::release_file(const File& file) {
  if (file.lane != Lane::kDevice) return;
  DeviceNode& node = *file.node;
  std::lock_guard lock(node.mutex);
  if (--node.descriptors == 0) abandon(node);
}

// Memory that does not outlive its owner, newest first.
template <typename Which>
void Machine::free_chunks(DeviceNode& node, Which which) {
  std::vector<Chunk*> gone;
  for (auto& [pa, chunk] : node.chunks)
    if (chunk->lifespan == Lifespan::kProcess && which(*chunk)) gone.push_back(chunk.get());
  std::sort(gone.begin(), gone.end(),
            [](const Chunk* a, const Chunk* b) { return a->sequence > b->sequence; });
  for (Chunk* chunk : gone) free_chunk(node, chunk, true);
}

// A program that ran on would execute what the next owner of its memory puts there.
template <typename Which>
void Machine::end_programs(DeviceNode& node, Which which) {
  std::vector<MemoryRange> gone;
  for (const auto& [pa, chunk] : node.chunks)
    if (chunk->lifespan == Lifespan::kProcess && !chunk->host() && which(*chunk))
      gone.push_back({chunk->pa, chunk->bytes});
  node.device->end_programs(gone);
}

// Nobody has the device open any more: nothing belongs to anybody. Most is gone
// with its owner; what is left is of processes that used a descriptor of others.
void Machine::abandon(DeviceNode& node) {
  for (DataStore& store : node.stores)
    if (store.pid) fold_store(node, store);
  for (auto& engine : node.queues)
    for (Queue& queue : engine) queue.owner = queue.h2t_owner = 0;
  node.locks.fill(CoreLock{});
  node.resets.clear();
  end_programs(node, [](const Chunk&) { return true; });
  free_chunks(node, [](const Chunk&) { return true; });
  for (Attach& slot : node.attached) {
    if (slot.count) clean_up(node, slot.pid);
    slot = Attach{};
  }
  node.changed.notify_all();
}

int Machine::open(const Client& client, const char* path, std::uint32_t flags) {
  DeviceNode* node = find_path(path);
  if (!node) return -ENOENT;
  const Lane lane = (flags & 3) == 1 || (flags & 3) == 3 ? Lane::kMisc : Lane::kDevice;
  if (lane == Lane::kDevice) {
    std::unique_lock lock(node->mutex);
    while (state_of(*node, true) == NodeState::kReset) {
      const auto done = node->full_reset.done;
      node->changed.wait_until(lock, done);
    }
    if (node->state == NodeState::kInvalid) return -EINVAL;
    Attach* slot = node->find_attached(client.pid);
    for (Attach& a : node->attached) {
      if (slot) break;
      if (a.count == 0) slot = &a;
    }
    if (!slot) return -EBUSY;
    slot->pid = client.pid;
    ++slot->count;
    ++node->descriptors;
  }
  int fd = 0;
  {
    std::lock_guard lock(files_mutex_);
    if (free_files_.empty()) {
      free_files_.push_back(static_cast<std::uint32_t>(references_.size()));
      references_.push_back(0);
    }
    const std::uint32_t id = free_files_.back();
    fd = add_descriptor(kOpenBit | node->index | (lane == Lane::kMisc ? kMiscBit : 0) |
                        ((flags & 3) != 1 ? kReadBit : 0) | ((flags & 3) != 0 ? kWriteBit : 0) |
                        id << kFileShift);
    if (fd >= 0) {
      free_files_.pop_back();
      open_files_.fetch_add(1, std::memory_order_release);
    }
  }
  if (fd < 0 && lane == Lane::kDevice) {
    detach(*node, client.pid);
    release_file(File{.node = node, .lane = lane});
  }
  return fd;
}

int Machine::duplicate(int fd) {
  std::lock_guard lock(files_mutex_);
  File file;
  if (!find_file(fd, &file)) return -EBADF;
  return add_descriptor(descriptors_[static_cast<std::size_t>(fd - kFirstDescriptor)].load(
      std::memory_order_relaxed));
}

int Machine::close(const Client& client, int fd) {
  File file;
  bool last = false, none = false;
  {
    std::lock_guard lock(files_mutex_);
    if (!find_file(fd, &file)) return -EBADF;
    const auto slot = static_cast<std::uint32_t>(fd - kFirstDescriptor);
    descriptors_[slot].store(0, std::memory_order_release);
    lowest_free_ = std::min(lowest_free_, slot);
    last = --references_[file.id] == 0;
    if (last) {
      free_files_.push_back(file.id);
      none = open_files_.fetch_sub(1, std::memory_order_acq_rel) == 1;
    }
  }
  if (file.lane == Lane::kDevice) {
    detach(*file.node, client.pid);
  } else {
    std::lock_guard lock(marks_mutex_);
    std::replace(marks_.begin(), marks_.end(), client.pid, 0u);
  }
  if (none) {
    // Marks made through a device descriptor go with the last of all.
    std::lock_guard lock(marks_mutex_);
    if (open_files_.load(std::memory_order_acquire) == 0)
      std::fill(marks_.begin(), marks_.end(), 0u);
  }
  if (last) release_file(file);
  return 0;
}

std::vector<std::uint32_t> Machine::attached(DeviceNode& node) {
  std::vector<std::uint32_t> pids;
  std::lock_guard lock(node.mutex);
  for (const Attach& a : node.attached)
    if (a.count) pids.push_back(a.pid);
  return pids;
}

void Machine::detach(DeviceNode& node, std::uint32_t pid) {
  std::unique_lock lock(node.mutex);
  Attach* slot = node.find_attached(pid);
  // The last one waits for the reset that its process has asked for.
  for (Reset unused; slot && slot->count == 1 && take_reset(node, lock, pid, &unused);)
    slot = node.find_attached(pid);
  if (!slot) return;
  if (slot->count == 1) clean_up(node, pid);
  if (--slot->count == 0) slot->pid = 0;
}

// The list a close runs when it is the last one of the process, in its order.
void Machine::clean_up(DeviceNode& node, std::uint32_t pid) {
  end_programs(node, [pid](const Chunk& chunk) { return chunk.owner == pid; });
  replace_queues(node, pid);
  for (CoreLock& lock : node.locks)
    if (lock.writer_pid == pid) lock = CoreLock{};
  for (DataStore& store : node.stores)
    if (store.pid == pid) fold_store(node, store);
  free_chunks(node, [pid](const Chunk& chunk) { return chunk.owner == pid; });
  drop_mappings(node, pid);
  node.changed.notify_all();
}

// Rings of a process that went away must not be fetched any more: each of its
// queues gets a dummy ring. The default copy queues and the instruction rings
// stay.
void Machine::replace_queues(DeviceNode& node, std::uint32_t pid) {
  constexpr std::uint32_t kDummyLength = 64;
  const nrtp_arch_dma& dma = *config_.arch->dma;
  const std::uint32_t per_core = std::max(1u, geometry().dma_per_core);
  for (std::uint32_t e = 0; e < kMaxEngines; ++e) {
    for (std::uint32_t q = 0; q < kMaxQueues; ++q) {
      Queue& queue = node.queues[e][q];
      if (queue.h2t_owner == pid) queue.h2t_owner = 0;
      if (queue.owner != pid) continue;
      queue.owner = 0;
      bool stays = q == facts_.instruction_queue && e < per_core * cores() &&
                   ((facts_.nx_ring_mask >> (e % per_core)) & 1);
      for (std::uint32_t core = 0; core < cores() && !stays; ++core)
        stays = dma.host_engine(&product_, core) == e && dma.host_queue(&product_, core) == q;
      if (stays) continue;
      if (!node.dummy_ring) {
        AllocRequest request;
        request.bytes = kPage;
        request.host = true;
        request.mem_type = kMemTypeDriverHost;
        request.lifespan = Lifespan::kDevice;
        request.handle = false;
        if (allocate(node, request, &node.dummy_ring) != 0) continue;
      }
      const RingConfig ring{node.dummy_ring->pa, kDummyLength};
      node.device->queue_init(e, q, ring, ring);
      queue.tx_length = queue.rx_length = kDummyLength;
      queue.rx_memory = true;
    }
  }
}

void Machine::stop_transfers(std::uint32_t pid) {
  for (auto& node : nodes_) {
    std::lock_guard lock(node->mutex);
    replace_queues(*node, pid);
  }
}

// Faults of a request come from the configuration, and from the host for the
// program around the driver; its points are named after the requests. The result
// of the request, 0 to carry it out.
std::int64_t Machine::injected_fault(const DeviceNode& node, const Client& client,
                                     const RequestEntry& entry) {
  if (request_faults_) {
    const RequestFaults::Outcome fault = request_faults_->next(
        node.index, static_cast<std::size_t>(&entry - request_table().data()));
    if (fault.latency_us) std::this_thread::sleep_for(std::chrono::microseconds(fault.latency_us));
    if (fault.kill) {
      if (!config_.kill_process(client))
        log(NRTP_LOG_ERROR, "emulator.faults: process %u cannot be killed", client.pid);
      return -EINTR;  // while the signal is on its way
    }
    if (fault.result) return fault.result;
  }
  const nrtp_host* host = config_.host;
  if (!host || !host->fault) return 0;
  switch (host->fault(host->self, entry.name)) {
    case NRTP_OK:
      return 0;
    case NRTP_INVALID:
      return -EINVAL;
    case NRTP_RESOURCE:
      return -ENOMEM;
    case NRTP_TIMEOUT:
      return kFailed;
    default:
      return -EIO;
  }
}

std::int64_t Machine::ioctl(const Client& client, UserMemory& memory, int fd, std::uint32_t request,
                            std::uint64_t arg) {
  File file;
  if (!find_file(fd, &file)) return -EBADF;
  const RequestEntry* entry = find_request(request, file.lane);
  if (!entry || absent_[static_cast<std::size_t>(entry - request_table().data())]) return -EINVAL;
  DeviceNode& node = *file.node;
  if (entry->gate == Gate::kAttached && file.lane == Lane::kDevice) {
    std::lock_guard lock(node.mutex);
    if (!node.find_attached(client.pid)) return -EACCES;
  }
  if (const std::int64_t fault = injected_fault(node, client, *entry)) return fault;
  Call call{*this, node, client, memory, arg, *entry};
  return entry->handler(call);
}

bool Machine::owns_reachable(std::uint32_t pid, std::uint64_t pa) {
  for (auto& node : nodes_) {
    std::lock_guard lock(node->mutex);
    if (node->find_attached(pid) && node->find_chunk(pa)) return true;
  }
  return false;
}

bool Machine::run(std::uint64_t max_records) {
  bool any = false;
  for (auto& node : nodes_)
    if (node->device->runnable()) any |= node->device->run(max_records);
  return any;
}

std::vector<std::uint32_t> Machine::cores_of(std::uint32_t pid) {
  std::vector<std::uint32_t> masks(nodes_.size(), 0);
  bool any = false;
  {
    std::lock_guard lock(marks_mutex_);
    for (std::uint32_t k = 0; k < marks_.size() && k / cores() < masks.size(); ++k) {
      if (marks_[k] != pid) continue;
      masks[k / cores()] |= 1u << (k % cores());
      any = true;
    }
  }
  if (!any) std::fill(masks.begin(), masks.end(), UINT32_MAX);
  return masks;
}

bool Machine::stuck(std::uint32_t pid) {
  const std::vector<std::uint32_t> masks = cores_of(pid);
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (masks[i] != 0 && !nodes_[i]->device->idle(masks[i])) return false;
  return true;
}

std::uint64_t Machine::progress(std::uint32_t pid) {
  const std::vector<std::uint32_t> masks = cores_of(pid);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < nodes_.size(); ++i) sum += nodes_[i]->device->progress(masks[i]);
  return sum;
}

void Machine::build_blocked() {
  const nrtp_arch_dma& dma = *config_.arch->dma;
  for (std::uint32_t e = 0; e < geometry().dma_total; ++e)
    udma_bases_.push_back(dma.udma_bar0(&product_, e));
  std::sort(udma_bases_.begin(), udma_bases_.end());
  constexpr std::uint32_t kCompletionLow = 0x44, kCompletionHigh = 0x48, kBaseLow = 0x28;
  for (std::uint32_t q = 0; q < kMaxQueues; ++q)
    for (std::uint32_t dir = 0; dir < 2; ++dir) {
      const std::uint64_t low = dma.queue_reg(q, dir, NRTP_QREG_BASE_LO);
      if (low == UINT64_MAX) continue;
      const std::uint64_t page = low - kBaseLow;
      for (std::uint64_t offset :
           {low, dma.queue_reg(q, dir, NRTP_QREG_BASE_HI), page + kCompletionLow,
            page + kCompletionHigh, dma.queue_reg(q, dir, NRTP_QREG_TAIL_INC)})
        blocked_offsets_.push_back(static_cast<std::uint32_t>(offset));
    }
  std::sort(blocked_offsets_.begin(), blocked_offsets_.end());
}

bool Machine::blocked_register(std::uint64_t bar0) const {
  for (std::uint64_t offset : {0x1F0, 0x1F4, 0x1F8, 0x1FC, 0x800})
    if (facts_.misc_ram_bar0 != UINT64_MAX && bar0 == facts_.misc_ram_bar0 + offset) return true;
  auto base = std::upper_bound(udma_bases_.begin(), udma_bases_.end(), bar0);
  if (base == udma_bases_.begin()) return false;
  const std::uint64_t offset = bar0 - *std::prev(base);
  return offset <= UINT32_MAX &&
         std::binary_search(blocked_offsets_.begin(), blocked_offsets_.end(),
                            static_cast<std::uint32_t>(offset));
}

}  // namespace opennrt::emu
