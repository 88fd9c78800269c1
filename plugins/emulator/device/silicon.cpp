// SPDX-License-Identifier: Apache-2.0
//
// Construction, the public Device calls, clock and error reports. What an
// access does is in registers.cpp.
#include "device/silicon.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>

#include "opennrt/isa/records.h"
#include "opennrt/isa/table.h"

namespace opennrt::emu {

namespace {

// Error lines beyond this many are not logged; the error records still are.
constexpr std::uint32_t kMaxErrorLines = 64;

// Engine field of an error record for a DMA engine: this bit and the index
// among the engines of its core.
constexpr std::uint32_t kDmaUnit = 0x80;

// Never-written memory: a quiet NaN in every float format.
constexpr int kPoison = 0xFF;
constexpr std::uint32_t kNoLine = 0;

}  // namespace

std::string hex(std::uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::unique_ptr<Device> Device::create(const DeviceConfig& config,
                                       std::shared_ptr<DeviceMemory> memory, std::string* error) {
  const auto fail = [&](const std::string& text) {
    *error = "software device " + std::to_string(config.index) + ": " + text;
    return nullptr;
  };
  if (!config.arch || !config.product || !memory) return fail("arch, product or memory is missing");
  const nrtp_arch_plugin& arch = *config.arch;
  if (!arch.geometry || !arch.address || !arch.dma || !arch.ib)
    return fail("the arch table lacks geometry, addresses, DMA or instruction facts");
  if (arch.geometry->engines > NRTP_MAX_ENGINES)
    return fail(std::to_string(arch.geometry->engines) + " engines per core, the limit is " +
                std::to_string(NRTP_MAX_ENGINES));
  if (arch.geometry->semaphores > SyncBank::kCount || arch.geometry->events > SyncBank::kCount)
    return fail(std::to_string(arch.geometry->semaphores) + " semaphores and " +
                std::to_string(arch.geometry->events) + " events per core, the limit is " +
                std::to_string(SyncBank::kCount));
  if (arch.geometry->status_queue_first + arch.geometry->engines > NotificationBlock::kMaxQueues ||
      arch.geometry->error_queue >= NotificationBlock::kMaxQueues)
    return fail("status queues " + std::to_string(arch.geometry->status_queue_first) + " + " +
                std::to_string(arch.geometry->engines) + " engines and error queue " +
                std::to_string(arch.geometry->error_queue) + ", the limit is " +
                std::to_string(NotificationBlock::kMaxQueues) + " notification queues");
  // Of the lanes that kernels of the compute rooms have.
  constexpr std::uint32_t kPartitions = 128;
  constexpr std::uint64_t kPartitionBytes = 0x40000;
  if (const nrtp_arch_geometry& g = *arch.geometry;
      g.sbuf_partitions > kPartitions || g.psum_partitions > kPartitions ||
      g.sbuf_partition_bytes > kPartitionBytes || g.psum_partition_bytes > kPartitionBytes)
    return fail(std::to_string(g.sbuf_partitions) + " partitions of " +
                std::to_string(g.sbuf_partition_bytes) + " bytes of SBUF and " +
                std::to_string(g.psum_partitions) + " of " +
                std::to_string(g.psum_partition_bytes) + " of PSUM, the limit is " +
                std::to_string(kPartitions) + " of " + std::to_string(kPartitionBytes));
  const std::uint32_t cores = config.product->cores;
  if (cores == 0 || cores > memory->cores())
    return fail("product " + std::string(config.product->name ? config.product->name : "?") +
                " has " + std::to_string(cores) + " cores, the memory was made for " +
                std::to_string(memory->cores()));
  return std::make_unique<Silicon>(config, std::move(memory), cores);
}

Silicon::Silicon(const DeviceConfig& config, std::shared_ptr<DeviceMemory> memory,
                 std::uint32_t cores)
    : config_(config),
      memory_(std::move(memory)),
      map_(config.arch, config.product, *memory_, cores) {
  const nrtp_arch_plugin& arch = *config.arch;
  const auto local_of = [&](std::uint64_t pa) {
    nrtp_addr_class c;
    return map_.classify(pa, &c) ? c.local : UINT64_MAX;
  };
  event_base_ = local_of(arch.address->event_addr(config.product, 0, 0));
  for (std::uint32_t op = 0; op < semaphore_base_.size(); ++op)
    semaphore_base_[op] = local_of(arch.address->sem_addr(config.product, 0, 0, op));
  for (std::uint32_t e = 0; e < arch.geometry->engines; ++e)
    nx_offset_[e] = local_of(arch.address->nx_device(config.product, 0, e));
  for (std::uint32_t dir = 0; dir < 2; ++dir)
    for (std::uint32_t reg = 0; reg < queue_regs_[dir].size(); ++reg) {
      const std::uint64_t offset = arch.dma->queue_reg(0, dir, reg);
      nrtp_addr_class c;
      queue_regs_[dir][reg] =
          offset != UINT64_MAX &&
                  map_.classify(arch.dma->udma_device(config.product, 0) + offset, &c)
              ? c.reg
              : UINT32_MAX;
    }
  if (config.verify.tracks_memory() || config.verify.order_seed)
    verifier_ = std::make_unique<Verifier>(
        config.verify, map_, [this](const Origin& who, const std::string& text) {
          report(who, ErrorType::kDroppedAccess, 0, "verify: " + text);
        });
  if (!config.inspect.items.empty())
    inspector_ = std::make_unique<Inspector>(config.inspect, map_, [this](const std::string& text) {
      log(NRTP_LOG_ERROR, "device " + std::to_string(config_.index) + ": " + text);
    });
  if (!config.faults.empty())
    faults_ = std::make_unique<FaultInjector>(config.faults, config.index, cores);
  if (faults_ && faults_->empty()) faults_.reset();
  // The engines look once who watches them.
  for (std::uint32_t i = 0; i < cores; ++i)
    cores_.push_back(std::make_unique<Core>(this, i, arch.geometry->engines, config.threads));
  dma_ = std::make_unique<DmaFabric>(*this, config.verify.order_seed.has_value());
  random_.seed(config.verify.order_seed.value_or(0));
  for (std::uint32_t i = 0; i < cores; ++i) poison_core(i);
  clock_start_ns_ = 0;
  clock_start_ns_ = time_ps() / 1000;
}

// Device time starts with the device and counts 1/1000 ns, the unit of the
// timestamps in notification records.
std::uint64_t Silicon::time_ps() const {
  std::uint64_t now = 0;
  if (config_.host && NRTP_HAS(nrtp_host, config_.host, now_ns) && config_.host->now_ns)
    now = config_.host->now_ns(config_.host->self);
  else
    now = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                         std::chrono::steady_clock::now().time_since_epoch())
                                         .count());
  return (now - clock_start_ns_) * 1000;
}

void Silicon::log(std::uint32_t level, const std::string& text) const {
  if (config_.host && NRTP_HAS(nrtp_host, config_.host, log) && config_.host->log)
    config_.host->log(config_.host->self, level, "EMU", text.c_str());
}

bool Silicon::accept_unconfirmed(std::uint8_t opcode, const char* reading, std::string* error) {
  const std::string name = isa::find_instruction(opcode)->name;
  if (config_.refuse_unconfirmed) {
    *error = name + " is refused because part of its meaning is a reading (" + reading +
             "); emulator.unconfirmed_instructions: run executes it";
    return false;
  }
  if (!reading_told_[opcode].exchange(true, std::memory_order_relaxed))
    log(NRTP_LOG_WARN, "device " + std::to_string(config_.index) + ": " + name + " (" +
                           hex(opcode) + ") executes by a reading that nothing confirms: " +
                           reading + "; emulator.unconfirmed_instructions: refuse refuses it");
  return true;
}

void Silicon::report(const Origin& who, ErrorType type, std::uint16_t detail,
                     const std::string& text) {
  const std::uint32_t n = reported_.fetch_add(1, std::memory_order_relaxed);
  if (n < kMaxErrorLines) {
    std::string line = "device " + std::to_string(config_.index) + " ";
    if (who.kind == Origin::Kind::kEngine || who.kind == Origin::Kind::kGenerator)
      line += "core " + std::to_string(who.core) + " " + engine_name(who.unit) +
              (who.kind == Origin::Kind::kGenerator ? " DMA" : "") + " at " + hex(who.slot);
    else if (who.kind == Origin::Kind::kDma)
      line += "DMA engine " + std::to_string(who.unit) + " queue " + std::to_string(who.queue) +
              " descriptor at " + hex(who.slot);
    else
      line += "host";
    log(NRTP_LOG_ERROR, line + ": " + text);
  } else if (n == kMaxErrorLines) {
    log(NRTP_LOG_ERROR, "device " + std::to_string(config_.index) +
                            ": further device errors are only recorded in the error queues");
  }
  if (who.kind == Origin::Kind::kHost || !has_core(who.core)) return;

  const nrtp_arch_geometry& g = map_.geometry();
  std::uint32_t unit = who.unit;
  std::uint64_t line = kNoLine;
  if (who.kind == Origin::Kind::kDma)
    unit = kDmaUnit | (g.dma_per_core ? who.unit % g.dma_per_core : 0);
  else
    line = who.slot / 64;
  // Error layout: bytes 0-3 as in other records, 4 type, 5 unit, 6-7 detail.
  const Notification record{
      .word0 = static_cast<std::uint32_t>(line & 0xFFFFF),
      .word1 = static_cast<std::uint32_t>(type) | (unit & 0xFF) << 8 | std::uint32_t{detail} << 16};
  cores_[who.core]->notifications().push(map_, g.error_queue, record.word0, record.word1,
                                         time_ps());
}

void Silicon::notify(std::uint32_t core, std::uint32_t queue, const Notification& record) {
  if (!faults_) {
    push_record(core, queue, record);
    return;
  }
  const std::uint32_t engine = queue - map_.geometry().status_queue_first;
  const std::uint32_t kind = record.word1 >> 16;
  if (kind == isa::kNotifyEnd && faults_->loses_end(core, engine)) {
    cores_[core]->notifications().lose_record();
    return;
  }
  push_record(core, queue, record);
  if (kind == isa::kNotifyStart)
    for (const Fault& fault : faults_->started(core, engine)) inject(core, engine, fault);
}

// On the thread of the engine that has just reported START; it holds no queue.
void Silicon::inject(std::uint32_t core, std::uint32_t engine, const Fault& fault) {
  const nrtp_arch_geometry& g = map_.geometry();
  switch (fault.point) {
    case Fault::Point::kErrorRecord:
      push_record(core, g.error_queue,
                  {.word0 = 0, .word1 = fault.type | engine << 8 | fault.detail << 16});
      return;
    case Fault::Point::kCustomRecord:
      cores_[core]->engine(engine).notify(isa::kNotifyCustom, fault.sub_id, fault.hint);
      return;
    case Fault::Point::kQueueOverflow:
      faults_->lose_end(core, engine);
      return;
    case Fault::Point::kHang:
      cores_[core]->engine(engine).hang();
      return;
    case Fault::Point::kDmaAbort:
      dma_->abort_engine(map_.arch().dma->core_engine(config_.product, core, fault.ring));
      return;
    case Fault::Point::kSramUncorrected:
    case Fault::Point::kHbmUncorrected:
    case Fault::Point::kHbmRepairable:
      faults_->count(fault);
      return;
    case Fault::Point::kRequest:
    case Fault::Point::kKillProcess:
    case Fault::Point::kMemoryExhausted:
    case Fault::Point::kResetFailed:
    case Fault::Point::kResetDelayed:
      return;  // of the driver; none comes here
  }
}

ErrorCounters Silicon::error_counters() { return faults_ ? faults_->counters() : ErrorCounters{}; }

void Silicon::push_record(std::uint32_t core, std::uint32_t queue, const Notification& record) {
  switch (cores_[core]->notifications().push(map_, queue, record.word0, record.word1, time_ps())) {
    case NotificationBlock::Result::kWritten:
    case NotificationBlock::Result::kNoRing:
      return;
    case NotificationBlock::Result::kOverflow:
      if (reported_.fetch_add(1, std::memory_order_relaxed) < kMaxErrorLines)
        log(NRTP_LOG_WARN,
            "device " + std::to_string(config_.index) + " core " + std::to_string(core) +
                ": notification queue " + std::to_string(queue) +
                " is full, a record is dropped (the consumer must advance its head)");
      return;
    case NotificationBlock::Result::kBadRing:
      if (reported_.fetch_add(1, std::memory_order_relaxed) < kMaxErrorLines)
        log(NRTP_LOG_ERROR, "device " + std::to_string(config_.index) + " core " +
                                std::to_string(core) + ": notification queue " +
                                std::to_string(queue) +
                                " has a base or size that is not a ring in memory");
      return;
  }
}

std::uint32_t Silicon::semaphore_read(std::uint32_t core, std::uint32_t index) {
  if (!has_core(core) || index >= map_.geometry().semaphores) return 0;
  return static_cast<std::uint32_t>(sync(core).semaphore(index));
}

void Silicon::semaphore_set(std::uint32_t core, std::uint32_t index, std::uint32_t value) {
  if (!has_core(core) || index >= map_.geometry().semaphores) return;
  sync(core).set_semaphore(index, static_cast<std::int32_t>(value));
  if (verifier_) verifier_->semaphore_set({}, core, index, static_cast<std::int32_t>(value));
  cores_[core]->wake();
}

void Silicon::semaphore_add(std::uint32_t core, std::uint32_t index, std::int32_t delta) {
  if (!has_core(core) || index >= map_.geometry().semaphores) return;
  // Announced before the engines can see it.
  if (verifier_) verifier_->semaphore_added({}, core, index, sync(core).semaphore(index) + delta);
  sync(core).add_semaphore(index, static_cast<std::uint32_t>(delta));
  cores_[core]->wake();
}

std::uint32_t Silicon::event_read(std::uint32_t core, std::uint32_t index) {
  if (!has_core(core) || index >= map_.geometry().events) return 0;
  return sync(core).event(index);
}

void Silicon::event_write(std::uint32_t core, std::uint32_t index, std::uint32_t value) {
  if (!has_core(core) || index >= map_.geometry().events) return;
  sync(core).set_event(index, value != 0);
  if (verifier_) verifier_->event_written({}, core, index);
  cores_[core]->wake();
}

void Silicon::queue_init(std::uint32_t engine, std::uint32_t queue, const RingConfig& tx,
                         const RingConfig& rx) {
  dma_->init(engine, queue, tx, rx);
}

int Silicon::queue_start(std::uint32_t engine, std::uint32_t queue, std::uint32_t tx_count,
                         std::uint32_t rx_count) {
  return dma_->start(engine, queue, tx_count, rx_count);
}

void Silicon::queue_state(std::uint32_t engine, std::uint32_t queue, RingState* tx, RingState* rx) {
  dma_->state(engine, queue, tx, rx);
}

void Silicon::reset_cores(std::uint32_t mask) {
  for (std::uint32_t core = 0; core < cores_.size(); ++core) {
    if ((mask >> core & 1) == 0) continue;
    cores_[core]->reset();
    if (faults_) faults_->reset(core);
    if (verifier_) verifier_->core_reset(core);
    poison_core(core);
    for (std::uint32_t i = 0; i < map_.geometry().dma_per_core; ++i) {
      const std::uint32_t engine = map_.arch().dma->core_engine(config_.product, core, i);
      if (engine < dma_->engines()) dma_->reset_engine(engine);
    }
  }
}

void Silicon::poison_core(std::uint32_t core) {
  if (!config_.verify.poison) return;
  const nrtp_arch_geometry& g = map_.geometry();
  for (auto [memory, bytes] :
       {std::pair{map_.sbuf(core), g.sbuf_window_bytes}, {map_.psum(core), g.psum_window_bytes}}) {
    std::memset(memory, kPoison, bytes);
    verifier_->never_written(memory, bytes);
  }
}

void Silicon::memory_allocated(std::uint64_t pa, std::uint64_t bytes) {
  if (!verifier_) return;
  std::uint8_t* memory = map_.memory(pa, bytes);
  if (!memory) return;
  if (config_.verify.poison) std::memset(memory, kPoison, bytes);
  verifier_->allocated(pa, memory, bytes);
}

void Silicon::memory_freed(std::uint64_t pa, std::uint64_t bytes) {
  for (auto& core : cores_) core->memory_freed(pa, bytes);
  if (verifier_) verifier_->freed(pa, bytes);
}

void Silicon::end_programs(std::span<const MemoryRange> gone) {
  if (gone.empty()) return;
  for (auto& core : cores_) core->end_programs(gone);
}

void Silicon::memory_mapped(std::uint64_t pa, std::uint64_t bytes) {
  const std::uint8_t* memory = verifier_ ? map_.memory(pa, bytes) : nullptr;
  if (memory) verifier_->host_wrote(memory, bytes);
}

bool Silicon::run_in_random_order(std::uint64_t max_records) {
  const std::unique_lock lock(order_mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return false;
  for (auto& core : cores_) core->take_wake();
  const std::uint32_t engines = map_.geometry().engines;
  const auto choices = static_cast<std::uint32_t>(cores_.size() * engines * 2 + 1);
  // Three temperaments, so that both very early and very late DMA are met.
  const std::uint64_t temper = *config_.verify.order_seed % 3;
  std::uint64_t retired = 0;
  const auto attempt = [&](std::uint32_t choice) {
    if (choice == choices - 1) return dma_->perform_pending(random_());
    Core& core = *cores_[choice / 2 / engines];
    const std::uint32_t engine = choice / 2 % engines;
    if (choice % 2 == 1) return core.run_generator(engine);
    const std::uint64_t n = core.run_engine(engine, 1 + random_() % 4);
    retired += n;
    return n != 0;
  };
  bool any = false;
  std::uint32_t failures = 0;
  while (retired < max_records) {
    const bool transfers_wait = temper == 1 && failures < 2 * choices;
    const std::uint32_t choice = random_() % choices;
    const bool transfer = choice == choices - 1 || choice % 2 == 1;
    if (temper == 2 && !transfer) dma_->perform_pending(random_());
    if (!(transfer && transfers_wait) && attempt(choice)) {
      any = true;
      failures = 0;
      continue;
    }
    if (++failures < 4 * choices) continue;
    // Unlucky or done: ask everybody.
    bool moved = false;
    for (std::uint32_t c = 0; c < choices; ++c) moved |= attempt(c);
    if (!moved) return any;
    any = true;
    failures = 0;
  }
  for (auto& core : cores_) core->wake();
  return any;
}

bool Silicon::run(std::uint64_t max_records) {
  if (config_.verify.order_seed) return run_in_random_order(max_records);
  // The order of what the verifier hears is the order of what happens.
  std::unique_lock lock(order_mutex_, std::defer_lock);
  if (verifier_ && !lock.try_lock()) return false;
  bool progress = false;
  for (auto& core : cores_)
    if (core->runnable()) progress |= core->run(max_records) != 0;
  return progress;
}

bool Silicon::runnable() {
  return std::any_of(cores_.begin(), cores_.end(),
                     [](const auto& core) { return core->runnable(); }) ||
         dma_->has_pending();
}

bool Silicon::idle(std::uint32_t cores) {
  if (dma_->has_pending()) return false;
  for (std::uint32_t i = 0; i < cores_.size(); ++i)
    if ((cores >> i & 1) && !cores_[i]->idle()) return false;
  return true;
}

std::uint64_t Silicon::progress(std::uint32_t cores) {
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < cores_.size(); ++i)
    if (cores >> i & 1) sum += cores_[i]->slots_reached();
  return sum;
}

std::string Silicon::describe(std::uint32_t core) {
  if (!has_core(core))
    return "core " + std::to_string(core) + ": the device has " + std::to_string(cores_.size()) +
           " cores";
  return cores_[core]->describe();
}

std::string Silicon::describe_engine(std::uint32_t core, std::uint32_t engine,
                                     std::uint64_t* program_counter) {
  return has_core(core) ? cores_[core]->describe_engine(engine, program_counter) : std::string();
}

bool Silicon::notification_overflow(std::uint32_t core) {
  return has_core(core) && cores_[core]->notifications().overflow();
}

}  // namespace opennrt::emu
