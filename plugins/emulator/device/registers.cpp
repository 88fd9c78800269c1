// SPDX-License-Identifier: Apache-2.0
//
// What a read or write of device space does: memory for the memory windows,
// otherwise by the class of the address.
#include <cerrno>
#include <cstring>

#include "device/silicon.h"

namespace opennrt::emu {

namespace {

// Device clock in the notification block, low and high word.
constexpr std::uint64_t kTimestampLo = 0x00;
constexpr std::uint64_t kTimestampHi = 0x04;

constexpr std::uint32_t kUnitRegisters = 0xFF;  // nrtp_addr_class.queue: not a queue page

// Regions whose registers act: whole aligned words only.
bool word_access_only(std::uint32_t kind) {
  return kind == NRTP_ADDR_SYNC || kind == NRTP_ADDR_ENGINE || kind == NRTP_ADDR_NOTIFIC ||
         kind == NRTP_ADDR_UDMA || kind == NRTP_ADDR_UDMA_BCAST;
}

bool memory_kind(std::uint32_t kind) {
  return kind == NRTP_ADDR_HBM || kind == NRTP_ADDR_SBUF || kind == NRTP_ADDR_PSUM ||
         kind == NRTP_ADDR_HOST;
}

}  // namespace

std::uint8_t* Silicon::memory_at(std::uint64_t device_pa, std::uint64_t bytes) {
  return map_.memory(device_pa, bytes);
}

void Silicon::nothing_at(const Origin& who, bool write, std::uint64_t pa, std::uint64_t bytes) {
  report(who, ErrorType::kDroppedAccess, 0,
         (write ? "write of " : "read of ") + std::to_string(bytes) + " bytes at " + hex(pa) +
             ", where the device has nothing" + (write ? "; dropped" : "; reads as 0"));
}

bool Silicon::bus_read(std::uint64_t pa, void* out, std::uint64_t bytes, const Origin& who) {
  if (const std::uint8_t* from = map_.memory(pa, bytes)) {
    if (verifier_ && who.kind != Origin::Kind::kHost)
      verifier_->access(who, "load", pa, from, bytes, false);
    std::memcpy(out, from, bytes);
    return true;
  }
  nrtp_addr_class c;
  bool good = map_.classify(pa, &c) && !memory_kind(c.kind);
  if (good && c.kind == NRTP_ADDR_CONST) {
    // The value in the low word, repeated for any length.
    auto* to = static_cast<std::uint8_t*>(out);
    for (std::uint64_t i = 0; i < bytes; ++i)
      to[i] = i % 4 == 0 ? static_cast<std::uint8_t>(c.local) : 0;
    return true;
  }
  good = good && bytes <= c.bytes_left;
  if (good && !word_access_only(c.kind)) {
    store_.read(pa, out, bytes);
    return true;
  }
  good = good && pa % 4 == 0 && bytes % 4 == 0;
  for (std::uint64_t at = 0; good && at < bytes; at += 4) {
    std::uint32_t word = 0;
    good = map_.classify(pa + at, &c) && read_word(c, pa + at, &word);
    std::memcpy(static_cast<std::uint8_t*>(out) + at, &word, 4);
  }
  if (good) return true;
  std::memset(out, 0, bytes);
  nothing_at(who, false, pa, bytes);
  return false;
}

bool Silicon::bus_write(std::uint64_t pa, const void* in, std::uint64_t bytes, const Origin& who) {
  if (std::uint8_t* to = map_.memory(pa, bytes)) {
    if (verifier_) {
      if (who.kind == Origin::Kind::kHost)
        verifier_->host_wrote(to, bytes);
      else
        verifier_->access(who, "store", pa, to, bytes, true);
    }
    std::memcpy(to, in, bytes);
    return true;
  }
  nrtp_addr_class c;
  bool good = map_.classify(pa, &c) && !memory_kind(c.kind) && c.kind != NRTP_ADDR_CONST &&
              bytes <= c.bytes_left;
  if (good && !word_access_only(c.kind)) {
    store_.write(pa, in, bytes);
    kept(c.kind);
    return true;
  }
  good = good && pa % 4 == 0 && bytes % 4 == 0;
  for (std::uint64_t at = 0; good && at < bytes; at += 4) {
    std::uint32_t word = 0;
    std::memcpy(&word, static_cast<const std::uint8_t*>(in) + at, 4);
    if (at != 0) good = map_.classify(pa + at, &c);
    good = good && write_word(c, pa + at, word, who);
  }
  if (!good) nothing_at(who, true, pa, bytes);
  return good;
}

int Silicon::read(std::uint64_t device_pa, void* out, std::uint64_t bytes) {
  return bytes == 0 || bus_read(device_pa, out, bytes, Origin{}) ? 0 : -EFAULT;
}

int Silicon::write(std::uint64_t device_pa, const void* in, std::uint64_t bytes) {
  return bytes == 0 || bus_write(device_pa, in, bytes, Origin{}) ? 0 : -EFAULT;
}

// --- BAR 0

int Silicon::bar0_read32(std::uint64_t offset, std::uint32_t* out) {
  const std::uint64_t pa = map_.arch().address->bar0_to_device(config_.product, offset);
  if (offset % 4 != 0 || pa == UINT64_MAX) return -EINVAL;
  if (const std::uint8_t* from = map_.memory(pa, 4)) {
    std::memcpy(out, from, 4);
    return 0;
  }
  // Holes of a register region keep what was written, like the rest of it.
  nrtp_addr_class c;
  if (!map_.classify(pa, &c) || !word_access_only(c.kind) || !read_word(c, pa, out))
    *out = store_.load(pa);
  return 0;
}

int Silicon::bar0_write32(std::uint64_t offset, std::uint32_t value) {
  const std::uint64_t pa = map_.arch().address->bar0_to_device(config_.product, offset);
  if (offset % 4 != 0 || pa == UINT64_MAX) return -EINVAL;
  if (std::uint8_t* to = map_.memory(pa, 4)) {
    std::memcpy(to, &value, 4);
    return 0;
  }
  nrtp_addr_class c;
  const bool decoded = map_.classify(pa, &c);
  if (!decoded || !word_access_only(c.kind) || !write_word(c, pa, value, Origin{})) {
    store_.store(pa, value);
    if (decoded) kept(c.kind);
  }
  return 0;
}

// --- Words of the regions that act

bool Silicon::read_word(const nrtp_addr_class& c, std::uint64_t pa, std::uint32_t* out) {
  switch (c.kind) {
    case NRTP_ADDR_SYNC: {
      SyncTarget t;
      if (!has_core(c.core) || !sync_target(c.local, &t)) return false;
      *out = t.window < 0 ? sync(c.core).event(t.index)
                          : static_cast<std::uint32_t>(sync(c.core).semaphore(t.index));
      return true;
    }
    case NRTP_ADDR_ENGINE:
      if (!has_core(c.core)) return false;
      if (!engine_read(c, out)) *out = store_.load(pa);
      return true;
    case NRTP_ADDR_NOTIFIC: {
      if (!has_core(c.core)) return false;
      if (c.local == kTimestampLo)
        *out = static_cast<std::uint32_t>(time_ps());
      else if (c.local == kTimestampHi)
        *out = static_cast<std::uint32_t>(time_ps() >> 32);
      else if (!cores_[c.core]->notifications().register_read(c.local, out))
        *out = store_.load(pa);
      return true;
    }
    case NRTP_ADDR_UDMA:
      return dma_read(c.unit, c, pa, out);
    case NRTP_ADDR_UDMA_BCAST:
      if (!has_core(c.core)) return false;
      return dma_read(map_.arch().dma->core_engine(config_.product, c.core, 0), c, pa, out);
    default:
      return false;
  }
}

void Silicon::add_semaphore(std::uint32_t core, std::uint32_t index, std::uint32_t delta,
                            const Origin& who) {
  const std::int32_t value = sync(core).add_semaphore(index, delta);
  if (verifier_) verifier_->semaphore_added(who, core, index, value);
}

bool Silicon::write_word(const nrtp_addr_class& c, std::uint64_t pa, std::uint32_t value,
                         const Origin& who) {
  switch (c.kind) {
    case NRTP_ADDR_SYNC: {
      SyncTarget t;
      if (!has_core(c.core) || !sync_target(c.local, &t)) return false;
      SyncBank& bank = sync(c.core);
      switch (t.window) {
        case -1:
          bank.set_event(t.index, value != 0);
          if (verifier_) verifier_->event_written(who, c.core, t.index);
          break;
        case NRTP_SEM_SET:
          bank.set_semaphore(t.index, static_cast<std::int32_t>(value));
          if (verifier_)
            verifier_->semaphore_set(who, c.core, t.index, static_cast<std::int32_t>(value));
          break;
        case NRTP_SEM_INC:
          add_semaphore(c.core, t.index, value, who);
          break;
        case NRTP_SEM_DEC:
          add_semaphore(c.core, t.index, 0u - value, who);
          break;
        default:
          return false;  // the read window
      }
      cores_[c.core]->wake();
      return true;
    }
    case NRTP_ADDR_ENGINE:
      if (!has_core(c.core)) return false;
      if (!engine_write(c, value)) store_.store(pa, value);
      return true;
    case NRTP_ADDR_NOTIFIC:
      if (!has_core(c.core)) return false;
      if (!cores_[c.core]->notifications().register_write(c.local, value)) store_.store(pa, value);
      return true;
    case NRTP_ADDR_UDMA:
      return dma_write(c.unit, c, pa, value, who);
    case NRTP_ADDR_UDMA_BCAST: {
      if (!has_core(c.core)) return false;
      const nrtp_arch_dma& dma = *map_.arch().dma;
      const std::uint32_t exclude = value >> dma.bcast_exclude_shift;
      const std::uint32_t data = value & ((1u << dma.bcast_exclude_shift) - 1);
      bool good = true;
      for (std::uint32_t i = 0; i < map_.geometry().dma_per_core; ++i) {
        if ((exclude >> i & 1) != 0) continue;
        // Each engine's own place of the same register, for what is only stored.
        const std::uint32_t engine = dma.core_engine(config_.product, c.core, i);
        const std::uint64_t own = dma.udma_device(config_.product, engine) +
                                  (pa - dma.bcast_device(config_.product, c.core));
        good = dma_write(engine, c, own, data, who) && good;
      }
      return good;
    }
    default:
      return false;
  }
}

bool Silicon::sync_target(std::uint64_t local, SyncTarget* out) const {
  const auto inside = [&](std::uint64_t base, std::uint32_t count) {
    return local >= base && local - base < std::uint64_t{4} * count;
  };
  if (inside(event_base_, map_.geometry().events)) {
    *out = {-1, static_cast<std::uint32_t>((local - event_base_) / 4)};
    return true;
  }
  for (std::uint32_t op = 0; op < semaphore_base_.size(); ++op) {
    if (!inside(semaphore_base_[op], map_.geometry().semaphores)) continue;
    *out = {static_cast<int>(op), static_cast<std::uint32_t>((local - semaphore_base_[op]) / 4)};
    return true;
  }
  return false;
}

std::uint32_t Silicon::queue_register(std::uint32_t dir, std::uint32_t reg) const {
  for (std::uint32_t i = 0; i < queue_regs_[dir].size(); ++i)
    if (queue_regs_[dir][i] == reg) return i;
  return UINT32_MAX;
}

bool Silicon::dma_write(std::uint32_t engine, const nrtp_addr_class& c, std::uint64_t pa,
                        std::uint32_t value, const Origin& who) {
  if (engine >= dma_->engines()) return false;
  if (c.queue == kUnitRegisters) {
    store_.store(pa, value);
    return true;
  }
  if (c.queue >= dma_->queues() || c.dir > 1) return false;
  const std::uint32_t reg = queue_register(c.dir, c.reg);
  if (!dma_->register_write(engine, c.queue, c.dir, reg, value, who)) store_.store(pa, value);
  return true;
}

bool Silicon::dma_read(std::uint32_t engine, const nrtp_addr_class& c, std::uint64_t pa,
                       std::uint32_t* out) {
  if (engine >= dma_->engines()) return false;
  if (c.queue == kUnitRegisters) {
    *out = store_.load(pa);
    return true;
  }
  if (c.queue >= dma_->queues() || c.dir > 1) return false;
  if (!dma_->register_read(engine, c.queue, c.dir, queue_register(c.dir, c.reg), out))
    *out = store_.load(pa);
  return true;
}

bool Silicon::engine_write(const nrtp_addr_class& c, std::uint32_t value) {
  const nrtp_arch_ib& ib = *map_.arch().ib;
  if (c.unit >= map_.geometry().engines || c.local < nx_offset_[c.unit]) return false;
  const std::uint64_t nx = c.local - nx_offset_[c.unit];
  Sequencer& engine = cores_[c.core]->engine(c.unit);
  if (nx == ib.nx_start_ctrl) {
    engine.set_start_ctrl(value);
    cores_[c.core]->wake();
    return true;
  }
  if (nx == ib.nx_start_addr_lo) {
    engine.set_start_lo(value);
    return true;
  }
  if (nx == ib.nx_start_addr_hi) {
    engine.set_start_hi(value);
    return true;
  }
  return false;
}

bool Silicon::engine_read(const nrtp_addr_class& c, std::uint32_t* out) {
  const nrtp_arch_ib& ib = *map_.arch().ib;
  if (c.unit >= map_.geometry().engines || c.local < nx_offset_[c.unit]) return false;
  const std::uint64_t nx = c.local - nx_offset_[c.unit];
  const Sequencer& engine = cores_[c.core]->engine(c.unit);
  if (nx == ib.nx_start_ctrl)
    *out = engine.start_ctrl();
  else if (nx == ib.nx_start_addr_lo)
    *out = engine.start_lo();
  else if (nx == ib.nx_start_addr_hi)
    *out = engine.start_hi();
  else
    return false;
  return true;
}

}  // namespace opennrt::emu
