// SPDX-License-Identifier: Apache-2.0
#include "fake_driver.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace opennrt::tdrv::test {

FakeDriver::FakeDriver(std::uint32_t lnc_mask)
    : arch_(*nrtp_arch_query(NRTP_ARCH_ABI_MAJOR, NRTP_ARCH_ABI_MINOR)),
      geometry_(*arch_.geometry) {
  if (lnc_mask != 0) geometry_.lnc_mask = lnc_mask;
  arch_.geometry = &geometry_;
  request_cores.reserve(10'000);
  kicks.reserve(10'000);  // recording must not allocate while a test counts
  fill_tables();
}

Bindings FakeDriver::bindings() const {
  Bindings b;
  b.host = &host_;
  b.ndl = &ops_;
  b.ndl_ctx = const_cast<FakeDriver*>(this);
  b.arch = &arch_;
  b.product = arch_.products;
  b.platform = NRTP_PLATFORM_EMULATOR;
  return b;
}

int FakeDriver::enter(const char* name) {
  ++count[name];
  return ++calls == fail_at ? fail_with : 0;
}

std::size_t FakeDriver::live_memory() const { return memory_.size(); }

std::uint64_t FakeDriver::live_bytes() const {
  std::uint64_t sum = 0;
  for (const auto& [handle, m] : memory_) sum += m->host ? 0 : m->bytes.size();
  return sum;
}

FakeDriver::Memory* FakeDriver::find(std::uint64_t handle) {
  const auto found = memory_.find(handle);
  return found == memory_.end() ? nullptr : found->second.get();
}

std::byte* FakeDriver::at(std::uint64_t pa, std::uint64_t bytes) {
  for (auto& [handle, m] : memory_) {
    if (pa >= m->pa && pa + bytes <= m->pa + m->bytes.size()) return m->bytes.data() + (pa - m->pa);
  }
  return nullptr;
}

int FakeDriver::move(std::uint64_t src, std::uint64_t dst, std::uint64_t src_offset,
                     std::uint64_t dst_offset, std::uint64_t bytes) {
  const auto place = [&](std::uint64_t handle, std::uint64_t offset) -> std::byte* {
    if (handle == kBounceHandle) {
      return offset + bytes <= bounce_.size() ? bounce_.data() + offset : nullptr;
    }
    Memory* m = find(handle);
    return m != nullptr && offset + bytes <= m->bytes.size() ? m->bytes.data() + offset : nullptr;
  };
  std::byte* from = place(src, src_offset);
  std::byte* to = place(dst, dst_offset);
  if (from == nullptr || to == nullptr) return -EINVAL;
  // A DMA engine promises no order of the bytes of one copy.
  if (from < to + bytes && to < from + bytes) return -EFAULT;
  std::memmove(to, from, bytes);
  return 0;
}

void FakeDriver::notify(std::uint32_t queue, std::uint16_t kind, std::uint16_t sub_id,
                        std::uint64_t time, std::uint32_t core) {
  Queue& q = queues_[core][queue];
  const std::uint32_t capacity = static_cast<std::uint32_t>(q.storage.size() / 2);
  const std::uint64_t word0 = 0x12345u | (q.phase ? 0x80000000u : 0);
  const std::uint64_t word1 = sub_id | static_cast<std::uint32_t>(kind) << 16;
  q.storage[q.next * 2 + 1] = time;
  q.storage[q.next * 2] = word0 | word1 << 32;
  if (++q.next == capacity) {
    q.next = 0;
    q.phase = !q.phase;
  }
}

void FakeDriver::notify_all(std::uint16_t kind, std::uint32_t core) {
  for (std::uint32_t e = 0; e < neff::kEngines; ++e) {
    notify(arch_.geometry->status_queue_first + e, kind, 0, 0, core);
  }
}

bool FakeDriver::staged(const ExecRing& ring) {
  if (ring.size == 0) return false;
  DmaDescriptor tx;
  std::memcpy(&tx, at(ring.tx + ring.next * 16ull, 16), 16);
  return (tx.len_ctrl >> kDescRingIdShift & 3) == ring.ring_id;
}

void FakeDriver::run_request(std::uint32_t core) {
  const std::uint64_t switched =
      arch_.address->event_addr(&product(), core, arch_.sync->id[NRTP_SYNC_IOQ_CODE_SWITCH]);
  auto& [exec_tx, exec_rx, exec_size, exec_next, exec_ring_id] = exec_[core];
  for (std::uint32_t i = 0; i < exec_size; ++i) {
    DmaDescriptor tx, rx;
    std::memcpy(&tx, at(exec_tx + exec_next * 16ull, 16), 16);
    std::memcpy(&rx, at(exec_rx + exec_next * 16ull, 16), 16);
    const std::uint32_t id = tx.len_ctrl >> kDescRingIdShift & 3;
    const std::uint32_t packet = kDescFirst | kDescLast;
    if (id != exec_ring_id || (rx.len_ctrl >> kDescRingIdShift & 3) != id) {
      ring_error = "stale descriptor at " + std::to_string(exec_next);
      return;
    }
    if ((tx.len_ctrl & packet) != packet || (rx.len_ctrl & packet) != packet ||
        (tx.len_ctrl & 0xFFFF) != (rx.len_ctrl & 0xFFFF) || tx.meta_ctrl != 0x01080003) {
      ring_error = "malformed packet at " + std::to_string(exec_next);
      return;
    }
    if (++exec_next == exec_size) {
      exec_next = 0;
      exec_ring_id = (exec_ring_id + 1) & 3;
    }
    const std::uint32_t bytes = tx.len_ctrl & 0xFFFF;
    packets.push_back({tx.address, rx.address, bytes, id});
    if (bytes == 52) {
      std::array<std::uint32_t, 13> words{};
      std::memcpy(words.data(), at(tx.address, 52), 52);
      requests.push_back(words);
      if (request_cores.size() < request_cores.capacity()) request_cores.push_back(core);
      if (words[0] == 1) {
        notify_all(7, core);
        notify_all(8, core);
      }
    }
    if (rx.address == switched) return;
  }
  ring_error = "a request without end";
}

void FakeDriver::fill_tables() {
  host_.size = sizeof(host_);
  host_.self = this;
  host_.log = [](void*, std::uint32_t, const char*, const char*) {};
  host_.alloc = [](void*, std::size_t bytes, std::size_t) { return std::malloc(bytes); };
  host_.release = [](void*, void* p) { std::free(p); };
  host_.now_ns = [](void* s) { return self(s).clock_ns; };

  ops_.head.size = sizeof(ops_);
  ops_.probe = &probe_;
  ops_.device = &device_;
  ops_.reg = &reg_;
  ops_.mem = &mem_;
  ops_.copy = &copy_;
  ops_.dma = &dma_;
  ops_.sync = &sync_;
  ops_.nq = &nq_;
  ops_.life = &life_;
  ops_.misc = &misc_;

  device_.open = [](void* ctx, std::uint32_t, std::uint64_t* dev, nrtp_ndl_device_info* info) {
    if (const int rc = self(ctx).enter("open")) return rc;
    *dev = 77;
    info->arch = self(ctx).arch_.arch_type;
    ++self(ctx).open_devices;
    return 0;
  };
  device_.close = [](void* ctx, std::uint64_t) {
    self(ctx).enter("close");
    --self(ctx).open_devices;
    return 0;
  };
  reg_.read = [](void* ctx, std::uint64_t, const std::uint64_t* a, std::uint32_t n,
                 std::uint32_t* out) {
    if (const int rc = self(ctx).enter("reg.read")) return rc;
    for (std::uint32_t i = 0; i < n; ++i) out[i] = self(ctx).registers[a[i]];
    return 0;
  };
  reg_.write = [](void* ctx, std::uint64_t, const std::uint64_t* a, std::uint32_t n,
                  const std::uint32_t* v) {
    if (const int rc = self(ctx).enter("reg.write")) return rc;
    for (std::uint32_t i = 0; i < n; ++i) self(ctx).registers[a[i]] = v[i];
    return 0;
  };

  mem_.alloc = [](void* ctx, std::uint64_t, std::uint64_t bytes, std::uint64_t align,
                  std::uint32_t host, std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t,
                  std::uint64_t* out) {
    FakeDriver& d = self(ctx);
    if (const int rc = d.enter("alloc")) return rc;
    d.alignments.push_back(align);
    if (align > 4096 && !d.align_supported) return -EOPNOTSUPP;
    if (host != 0 && align != 0) return -EINVAL;
    if (host == 0 && d.live_bytes() + bytes > d.hbm_limit) return -ENOMEM;
    auto m = std::make_unique<Memory>();
    m->bytes.resize((bytes + 4095) / 4096 * 4096);
    m->host = host != 0;
    std::uint64_t& next = host != 0 ? d.next_host_ : d.next_hbm_;
    if (align > 4096) next = (next + align - 1) / align * align;
    m->pa = (host != 0 ? d.arch_.geometry->host_window_base : 0) + next;
    next += m->bytes.size() + 4096;
    *out = d.next_handle_++;
    d.memory_[*out] = std::move(m);
    return 0;
  };
  mem_.free = [](void* ctx, std::uint64_t handle) {
    FakeDriver& d = self(ctx);
    d.enter("free");
    Memory* m = d.find(handle);
    if (m == nullptr || m->mapped) return -EINVAL;  // unmap precedes free
    d.memory_.erase(handle);
    return 0;
  };
  mem_.get_pa = [](void* ctx, std::uint64_t handle, std::uint64_t* out) {
    if (const int rc = self(ctx).enter("get_pa")) return rc;
    *out = self(ctx).find(handle)->pa;
    return 0;
  };
  mem_.map = [](void* ctx, std::uint64_t handle, void** out) {
    if (const int rc = self(ctx).enter("map")) return rc;
    Memory* m = self(ctx).find(handle);
    m->mapped = true;
    *out = m->bytes.data();
    return 0;
  };
  mem_.unmap = [](void* ctx, std::uint64_t handle) {
    self(ctx).enter("unmap");
    self(ctx).find(handle)->mapped = false;
    return 0;
  };
  mem_.copy_buf = [](void* ctx, std::uint64_t, std::uint32_t, nrtp_ndl_copy_buf* out) {
    if (const int rc = self(ctx).enter("copy_buf")) return rc;
    if (!self(ctx).has_copy_buf) return -EINVAL;
    *out = {kBounceHandle, self(ctx).bounce_.data(), self(ctx).bounce_.size()};
    return 0;
  };

  copy_.in = [](void* ctx, std::uint64_t mem, std::uint64_t offset, const void* buffer,
                std::uint64_t bytes) {
    if (const int rc = self(ctx).enter("copy.in")) return rc;
    std::memcpy(self(ctx).find(mem)->bytes.data() + offset, buffer, bytes);
    return 0;
  };
  copy_.out = [](void* ctx, std::uint64_t mem, std::uint64_t offset, void* buffer,
                 std::uint64_t bytes) {
    if (const int rc = self(ctx).enter("copy.out")) return rc;
    std::memcpy(buffer, self(ctx).find(mem)->bytes.data() + offset, bytes);
    return 0;
  };
  copy_.batch = [](void* ctx, std::uint64_t, const nrtp_copy_batch* batches, std::uint32_t n,
                   std::uint32_t direction, std::int32_t) {
    FakeDriver& d = self(ctx);
    if (const int rc = d.enter("batch")) return rc;
    if (!d.has_batch) return -EINVAL;
    for (std::uint32_t b = 0; b < n; ++b) {
      for (std::uint32_t i = 0; i < batches[b].n_ops; ++i) {
        const nrtp_copy_op& op = batches[b].ops[i];
        std::byte* at = d.find(batches[b].mem)->bytes.data() + batches[b].mem_offset + op.offset;
        direction == 0 ? std::memcpy(at, op.buffer, op.bytes)
                       : std::memcpy(op.buffer, at, op.bytes);
      }
    }
    return 0;
  };
  copy_.copy = [](void* ctx, std::uint64_t src, std::uint64_t dst, std::uint64_t so,
                  std::uint64_t dof, std::uint64_t bytes) {
    if (const int rc = self(ctx).enter("copy")) return rc;
    return self(ctx).has_copy ? self(ctx).move(src, dst, so, dof, bytes) : -EINVAL;
  };
  copy_.copy_async = [](void* ctx, std::uint64_t src, std::uint64_t dst, std::uint64_t so,
                        std::uint64_t dof, std::uint64_t bytes, std::uint64_t, std::int32_t* wait) {
    FakeDriver& d = self(ctx);
    if (const int rc = d.enter("copy_async")) return rc;
    // Two slots; a chain names the slot it waits for.
    if (*wait != -1 && *wait != d.async_slot_) return -EINVAL;
    const std::int32_t slot = *wait == 1 ? 2 : 1;
    if (const int rc = d.move(src, dst, so, dof, bytes)) return rc;
    d.async_slot_ = *wait = slot;
    return 0;
  };
  copy_.copy_wait = [](void* ctx, std::uint64_t, std::int32_t wait) {
    FakeDriver& d = self(ctx);
    if (const int rc = d.enter("copy_wait")) return rc;
    if (wait != d.async_slot_) return -EINVAL;
    d.async_slot_ = 0;
    return 0;
  };
  copy_.set = [](void* ctx, std::uint64_t mem, std::uint64_t offset, std::uint8_t value,
                 std::uint64_t bytes) {
    if (const int rc = self(ctx).enter("set")) return rc;
    if (!self(ctx).has_set) return -EINVAL;
    std::memset(self(ctx).find(mem)->bytes.data() + offset, value, bytes);
    return 0;
  };

  dma_.queue_init = [](void* ctx, std::uint64_t, const nrtp_ndl_queue* queue) {
    FakeDriver& d = self(ctx);
    if (const int rc = d.enter("queue_init")) return rc;
    d.queue_inits.push_back(*queue);
    for (std::uint32_t core = 0; core < kCores; ++core) {
      nrtp_dma_slot slot{};
      d.arch_.dma->runtime_ring(&d.product(), core, NRTP_RING_EXEC, &slot);
      if (queue->engine != slot.engine || queue->queue != slot.queue) continue;
      d.exec_[core] = {.tx = d.find(queue->tx_mem)->pa,
                       .rx = d.find(queue->rx_mem)->pa,
                       .size = queue->tx_descs};
    }
    return 0;
  };
  dma_.queue_init_batch = [](void* ctx, std::uint64_t, const nrtp_ndl_queue* queues,
                             std::uint32_t n) {
    if (const int rc = self(ctx).enter("queue_init_batch")) return rc;
    self(ctx).queue_inits.insert(self(ctx).queue_inits.end(), queues, queues + n);
    return 0;
  };
  sync_.sem_inc = [](void* ctx, std::uint64_t, std::uint32_t core, std::uint32_t index,
                     std::uint32_t value) {
    FakeDriver& d = self(ctx);
    if (const int rc = d.enter("sem_inc")) return rc;
    if (core >= kCores || index != d.arch_.sync->id[NRTP_SYNC_INFERENCE_START] || value != 1) {
      return -EINVAL;
    }
    std::uint32_t staged_mask = 0;
    for (std::uint32_t c = 0; c < kCores; ++c) staged_mask |= d.staged(d.exec_[c]) ? 1u << c : 0;
    if (d.kicks.size() < d.kicks.capacity()) d.kicks.push_back({core, staged_mask});
    if (!d.answers || (d.silent_cores >> core & 1) != 0) return 0;
    d.run_request(core);
    d.notify_all(2, core);
    d.notify_all(3, core);
    return 0;
  };
  nq_.init = [](void* ctx, std::uint64_t, const nrtp_ndl_nq_config* config, std::uint64_t* out) {
    FakeDriver& d = self(ctx);
    if (const int rc = d.enter("nq.init")) return rc;
    if (config->device_id >= kCores) return -EINVAL;
    Queue& queue = d.queues_[config->device_id][config->engine_index];
    queue = {};
    queue.storage.resize(config->bytes / 8);
    *out = 0x500 + config->device_id * 16 + config->engine_index;
    ++d.live_queues;
    return 0;
  };
  nq_.map = [](void* ctx, std::uint64_t nq, void** out) {
    if (const int rc = self(ctx).enter("nq.map")) return rc;
    *out = self(ctx).queues_[(nq - 0x500) / 16][(nq - 0x500) % 16].storage.data();
    return 0;
  };
  nq_.destroy = [](void* ctx, std::uint64_t) {
    self(ctx).enter("nq.destroy");
    --self(ctx).live_queues;
    return 0;
  };
  life_.reset = [](void* ctx, std::uint64_t, std::uint32_t, std::uint32_t* request) {
    if (const int rc = self(ctx).enter("reset")) return rc;
    *request = 1;
    return 0;
  };
  life_.ready = [](void* ctx, std::uint64_t, std::uint32_t, std::uint32_t* ready) {
    if (const int rc = self(ctx).enter("ready")) return rc;
    *ready = 1;
    return 0;
  };
  // These three are asked on the way to an error only and count for nobody.
  dma_.queue_state = [](void* ctx, std::uint64_t, std::uint32_t engine, std::uint32_t,
                        nrtp_ndl_queue_state* tx, nrtp_ndl_queue_state* rx) {
    *tx = *rx = {};
    tx->sw_status = rx->sw_status = self(ctx).aborted_engines.contains(engine) ? 3 : 2;
    return 0;
  };
  misc_.memory_errors = [](void* ctx, std::uint64_t, nrtp_ndl_memory_errors* out) {
    if (!self(ctx).tells_memory_errors) return -ENOENT;
    *out = self(ctx).memory_errors;
    return 0;
  };
  misc_.printk = [](void* ctx, const char* text, std::uint32_t, std::uint32_t) {
    self(ctx).kernel_log.push_back(text);
    return 0;
  };
  misc_.now_us = [](void* ctx) { return self(ctx).clock_ns / 1000; };
  misc_.sleep_us = [](void* ctx, std::uint32_t us) { self(ctx).clock_ns += us * 1000ull; };
}

std::shared_ptr<const neff::Program> small_program() {
  struct Owner {
    std::array<std::array<std::byte, 64>, neff::kEngines> streams{};
    std::vector<std::byte> weights = std::vector<std::byte>(5000, std::byte{0x42});
    std::vector<std::byte> table = std::vector<std::byte>(64, std::byte{1});
  };
  auto owner = std::make_shared<Owner>();
  auto program = std::make_shared<neff::Program>();
  program->name = "small";
  program->lnc_size = 1;
  program->inputs.push_back({"x", NRT_DTYPE_FLOAT32, {128, 16}, 8192});
  program->outputs.push_back({"y", NRT_DTYPE_FLOAT32, {128, 16}, 8192});
  neff::Subgraph sg;
  sg.name = "sg00";
  for (std::size_t e = 0; e < neff::kEngines; ++e) {
    owner->streams[e][0] = std::byte{0xB1};  // ordering mode, the first record of every stream
    owner->streams[e][1] = std::byte{0x10};
    sg.streams[e] = owner->streams[e];
    sg.stream_members[e] = "sg00/engine" + std::to_string(e);
  }
  const auto variable = [&](const char* name, neff::VariableType type, std::uint64_t size) {
    neff::Variable v;
    v.name = name;
    v.type = type;
    v.size = size;
    v.var_id = static_cast<std::uint32_t>(sg.variables.size());
    if (type == neff::VariableType::kFile) v.content = owner->weights;
    sg.variables.push_back(v);
    return v.var_id;
  };
  const std::uint32_t sb = variable("SB", neff::VariableType::kStateBuffer, 0);
  const std::uint32_t x = variable("x", neff::VariableType::kInput, 8192);
  const std::uint32_t y = variable("y", neff::VariableType::kOutput, 8192);
  variable("w", neff::VariableType::kFile, 5000);
  variable("t", neff::VariableType::kTmpBuf, 100);
  variable("v", neff::VariableType::kVirtual, 4096);
  const auto pattern = [](std::uint32_t var, std::int64_t step) {
    neff::AccessPattern p;
    p.var_id = var;
    p.dims = 2;
    p.sizes = {64, 128, 1, 1};
    p.steps = {1, step, 0, 0};
    return p;
  };
  const auto set = [&](const char* name, neff::Engine engine, neff::AccessPattern from,
                       neff::AccessPattern to) {
    neff::QueueSet q;
    q.name = name;
    q.type = neff::QueueType::kIn;
    q.owner = engine;
    q.num_queues = 16;
    neff::Block block;
    block.id = 0;
    block.semaphore = 8;
    neff::Descriptor d;
    d.from = {from};
    d.to = to;
    block.descriptors = {d};
    q.blocks = {block};
    sg.queues.push_back(q);
  };
  set("qPoolOut0", neff::Engine::kPool, pattern(sb, 0x40000), pattern(y, 64));
  set("qSPIn0", neff::Engine::kSp, pattern(x, 64), pattern(sb, 0x40000));
  for (const char* name : {"opcode", "control_fast", "control_slow", "datapath"}) {
    sg.dve_tables.push_back({name, owner->table});
  }
  program->subgraphs.push_back(std::move(sg));
  program->storage = owner;
  return program;
}

}  // namespace opennrt::tdrv::test
