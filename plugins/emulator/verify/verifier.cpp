// SPDX-License-Identifier: Apache-2.0
#include "verify/verifier.h"

#include "compute/operand.h"
#include "compute/plan.h"

namespace opennrt::emu {

namespace {

std::uint64_t sync_key(std::uint32_t core, std::uint32_t index) {
  return std::uint64_t{core} << 32 | index;
}

// "Written" for bytes that nothing wrote when a read of them has been reported:
// before everything, as what the host writes.
const Moment kReported(kHostActor, ~std::uint32_t{0});

std::uint64_t queue_key(std::uint32_t engine, std::uint32_t queue) {
  return std::uint64_t{engine} << 16 | queue;
}

const char* engine_text(std::uint32_t engine) {
  static constexpr const char* kNames[] = {"PE", "ACT", "POOL", "DVE", "SP"};
  return engine < 5 ? kNames[engine] : "engine";
}

// Contiguous pieces of an operand, partition by partition.
template <typename F>
void for_each_run(const Operand& operand, std::uint32_t partitions, F f) {
  Pattern pattern = operand.pattern;
  // A repeated dimension touches the same bytes again.
  for (std::uint32_t d = 0; d < pattern.dims; ++d)
    if (pattern.step[d] == 0) {
      pattern.total /= pattern.count[d];
      pattern.count[d] = 1;
    }
  for (std::uint32_t p = 0; p < partitions; ++p) {
    const std::uint8_t* base = operand.partition(p);
    Cursor cursor(pattern);
    for (std::uint64_t left = pattern.total; left != 0;) {
      const Cursor::Run run = cursor.next(left);
      left -= run.count;
      const std::int64_t width = operand.element_bytes;
      if (run.step == 1 || run.step == -1) {
        const std::int64_t lowest =
            run.step == 1 ? run.offset : run.offset - static_cast<std::int64_t>(run.count - 1);
        f(p, base + lowest * width, run.count * operand.element_bytes);
        continue;
      }
      for (std::uint64_t i = 0; i < run.count; ++i)
        f(p, base + (run.offset + static_cast<std::int64_t>(i) * run.step) * width,
          std::uint64_t{operand.element_bytes});
    }
  }
}

}  // namespace

Verifier::Verifier(const VerifyOptions& options, const AddressMap& map, Report report)
    : options_(options), map_(map), report_(std::move(report)) {}

Actor Verifier::intern(std::uint64_t key, std::string name) {
  const auto [it, fresh] = actors_.try_emplace(key, static_cast<Actor>(actor_names_.size()));
  if (fresh) actor_names_.push_back(std::move(name));
  return it->second;
}

Actor Verifier::queue_actor(std::uint32_t engine, std::uint32_t queue) {
  const std::uint64_t key = std::uint64_t{1} << 63 | queue_key(engine, queue);
  if (const auto it = actors_.find(key); it != actors_.end()) return it->second;
  return intern(key, "DMA engine " + std::to_string(engine) + " queue " + std::to_string(queue));
}

Actor Verifier::actor(const Origin& who) {
  switch (who.kind) {
    case Origin::Kind::kHost:
      return kHostActor;
    case Origin::Kind::kDma:
      return queue_actor(who.unit, who.queue);
    case Origin::Kind::kEngine:
    case Origin::Kind::kGenerator:
      break;
  }
  const bool generator = who.kind == Origin::Kind::kGenerator;
  const std::uint64_t key = std::uint64_t{generator ? 3u : 2u} << 60 | sync_key(who.core, who.unit);
  if (const auto it = actors_.find(key); it != actors_.end()) return it->second;
  return intern(key, "core " + std::to_string(who.core) + " " + engine_text(who.unit) +
                         (generator ? " descriptor generator" : ""));
}

void Verifier::begin(const Origin& who) {
  std::lock_guard lock(mutex_);
  clocks_.begin(actor(who), who.slot);
}

void Verifier::semaphore_added(const Origin& who, std::uint32_t core, std::uint32_t index,
                               std::int32_t value) {
  std::lock_guard lock(mutex_);
  const Actor a = actor(who);
  if (a == kHostActor) clocks_.acquire_all(a);
  semaphores_[sync_key(core, index)].add(clocks_.release(a), value);
}

void Verifier::semaphore_set(const Origin& who, std::uint32_t core, std::uint32_t index,
                             std::int32_t value) {
  std::lock_guard lock(mutex_);
  const Actor a = actor(who);
  if (a == kHostActor) clocks_.acquire_all(a);
  semaphores_[sync_key(core, index)].set(clocks_.release(a), value);
}

void Verifier::semaphore_passed(const Origin& who, std::uint32_t core, std::uint32_t index,
                                const std::int32_t* rising) {
  std::lock_guard lock(mutex_);
  const auto it = semaphores_.find(sync_key(core, index));
  if (it == semaphores_.end()) return;
  if (rising)
    it->second.passed(clocks_, actor(who), *rising);
  else
    it->second.passed_exactly(clocks_, actor(who));
}

void Verifier::event_written(const Origin& who, std::uint32_t core, std::uint32_t index) {
  std::lock_guard lock(mutex_);
  const Actor a = actor(who);
  if (a == kHostActor) clocks_.acquire_all(a);
  events_[sync_key(core, index)] = clocks_.release(a);
}

void Verifier::event_passed(const Origin& who, std::uint32_t core, std::uint32_t index) {
  std::lock_guard lock(mutex_);
  const auto it = events_.find(sync_key(core, index));
  if (it != events_.end()) clocks_.acquire(actor(who), it->second);
}

void Verifier::generator_started(const Origin& engine, const Origin& generator) {
  std::lock_guard lock(mutex_);
  clocks_.acquire(actor(generator), clocks_.release(actor(engine)));
}

void Verifier::core_reset(std::uint32_t core) {
  std::lock_guard lock(mutex_);
  for (std::uint32_t i = 0; i < 256; ++i) {
    semaphores_.erase(sync_key(core, i));
    events_.erase(sync_key(core, i));
  }
}

void Verifier::doorbell(const Origin& who, std::uint32_t engine, std::uint32_t queue) {
  std::lock_guard lock(mutex_);
  const Actor a = actor(who);
  if (a == kHostActor) clocks_.acquire_all(a);
  doorbells_[queue_key(engine, queue)] = clocks_.release(a);
}

void Verifier::doorbell_taken(std::uint32_t engine, std::uint32_t queue) {
  std::lock_guard lock(mutex_);
  const auto it = doorbells_.find(queue_key(engine, queue));
  if (it != doorbells_.end()) clocks_.acquire(queue_actor(engine, queue), it->second);
}

bool Verifier::is_allocated(std::uint64_t pa, std::uint64_t bytes) const {
  // Neighbouring allocations may be used as one.
  while (bytes != 0) {
    auto it = allocations_.upper_bound(pa);
    if (it == allocations_.begin()) return false;
    --it;
    const std::uint64_t offset = pa - it->first;
    if (offset >= it->second) return false;
    const std::uint64_t n = std::min(bytes, it->second - offset);
    pa += n;
    bytes -= n;
  }
  return true;
}

std::string Verifier::place(std::uint64_t pa) const {
  auto it = names_.upper_bound(pa);
  if (it != names_.begin()) {
    --it;
    if (pa - it->first < it->second.bytes)
      return "'" + it->second.name + "' + " + std::to_string(pa - it->first) + " (" + hex(pa) + ")";
  }
  nrtp_addr_class c;
  const nrtp_arch_geometry& g = map_.geometry();
  if (map_.classify(pa, &c)) {
    const auto in_core = [&](const char* memory, std::uint64_t stride) {
      return "core " + std::to_string(c.core) + " " + memory + " partition " +
             std::to_string(c.local / stride) + " byte " + std::to_string(c.local % stride) + " (" +
             hex(pa) + ")";
    };
    if (c.kind == NRTP_ADDR_SBUF) return in_core("SBUF", g.sbuf_partition_stride);
    if (c.kind == NRTP_ADDR_PSUM) return in_core("PSUM", g.psum_partition_stride);
  }
  return hex(pa);
}

std::string Verifier::unit(Moment moment) const {
  const std::uint64_t slot = clocks_.slot_of(moment);
  return actor_names_[moment.actor()] + (slot == 0 ? std::string() : " (" + place(slot) + ")");
}

void Verifier::check(Actor a, std::string_view what, std::uint64_t pa, const std::uint8_t* host,
                     std::uint64_t bytes, bool write, std::string& finding) {
  const Moment now = clocks_.now(a);
  // Neighbouring bytes mostly have the same past.
  Moment seen_before{};
  const auto is_before = [&](Moment m) {
    if (m == seen_before) return true;
    if (!clocks_.is_before(m, a)) return false;
    seen_before = m;
    return true;
  };
  const auto base = reinterpret_cast<std::uintptr_t>(host);
  const auto at = [&](std::uintptr_t address) { return place(pa + (address - base)); };
  shadow_.each(base, bytes, [&](ByteState& s, std::uintptr_t address, std::uint64_t) {
    if (!write && !s.write && options_.poison) {
      if (finding.empty())
        finding = std::string(what) + ": reads " + at(address) + ", which was never written";
      s.write = kReported;
    }
    if (options_.races && finding.empty()) {
      if (!is_before(s.write))
        finding = std::string(what) + (write ? ": writes " : ": reads ") + at(address) +
                  ", not ordered after the write of " + unit(s.write);
      if (write)
        for (const Moment& r : s.reads)
          if (finding.empty() && !is_before(r))
            finding = std::string(what) + ": writes " + at(address) +
                      ", not ordered after the read of " + unit(r);
    }
    if (write) {
      s = {now, {}};
      return;
    }
    // Keep the readers that a later write could miss.
    Moment* slot = &s.reads[0];
    for (Moment& r : s.reads)
      if (!r || is_before(r)) slot = &r;
    if (s.reads[0].actor() == a && s.reads[0]) slot = &s.reads[0];
    *slot = now;
  });
}

void Verifier::emit(const Origin& who, const std::string& text) {
  if (findings_++ < kMaxReports) report_(who, text);
}

void Verifier::access(const Origin& who, std::string_view what, std::uint64_t pa,
                      const std::uint8_t* host, std::uint64_t bytes, bool write) {
  if (!options_.tracks_memory() || bytes == 0) return;
  // Host memory changes unseen.
  const std::uint64_t host_window = map_.geometry().host_window_base;
  if (host_window != 0 && pa >= host_window) return;
  std::string finding;
  {
    std::lock_guard lock(mutex_);
    if (auto it = ignored_.upper_bound(pa); it != ignored_.begin()) {
      --it;
      if (pa - it->first < it->second && bytes <= it->second - (pa - it->first)) return;
    }
    if (options_.bounds) {
      nrtp_addr_class c;
      if (map_.classify(pa, &c) && c.kind == NRTP_ADDR_HBM && !is_allocated(pa, bytes))
        finding = std::string(what) + ": " + (write ? "writes " : "reads ") +
                  std::to_string(bytes) + " bytes at " + place(pa) +
                  ", which are not all inside allocated memory";
    }
    check(actor(who), what, pa, host, bytes, write, finding);
  }
  if (!finding.empty()) emit(who, finding);
}

void Verifier::operands(const Origin& who, const ComputePlan& plan, EngineState& state,
                        Update update) {
  if (!options_.tracks_memory()) return;
  class Visitor final : public OperandVisitor {
   public:
    Visitor(Verifier& verifier, const Origin& who) : v_(verifier), who_(who) {}
    void visit(const char* name, const Operand& operand, std::uint32_t partitions,
               Access access) override {
      // Sources are read before anything is written, whatever the order of the
      // visits; so writes are kept for the second pass.
      if ((access == Access::kWrite) == !writing_ && access != Access::kReadWrite) return;
      const AddressMap& map = v_.map_;
      const nrtp_arch_geometry& g = map.geometry();
      const std::uint32_t core = who_.core;
      const std::uint8_t* psum = map.psum(core);
      const bool in_psum = operand.base >= psum && operand.base < psum + g.psum_window_bytes;
      const std::uint8_t* memory = in_psum ? psum : map.sbuf(core);
      const std::uint64_t window =
          map.arch().address->local_to_device(map.product(), core, in_psum ? g.psum_local_base : 0);
      std::string finding;
      {
        std::lock_guard lock(v_.mutex_);
        const Actor a = v_.actor(who_);
        const std::string_view what(name);
        for_each_run(operand, partitions,
                     [&](std::uint32_t, const std::uint8_t* at, std::uint64_t bytes) {
                       v_.check(a, what, window + static_cast<std::uint64_t>(at - memory), at,
                                bytes, writing_, finding);
                     });
      }
      if (!finding.empty()) v_.emit(who_, finding);
    }
    void write_pass() { writing_ = true; }

   private:
    Verifier& v_;
    const Origin& who_;
    bool writing_ = false;
  } visitor(*this, who);
  plan.visit_operands(state, visitor);
  if (update == Update::kWhenRead) {
    std::lock_guard lock(mutex_);
    clocks_.begin_unreleased(actor(who), who.slot);
  }
  visitor.write_pass();
  plan.visit_operands(state, visitor);
}

void Verifier::host_wrote(const std::uint8_t* host, std::uint64_t bytes) {
  if (!options_.tracks_memory()) return;
  std::lock_guard lock(mutex_);
  clocks_.acquire_all(kHostActor);
  const Moment now = clocks_.now(kHostActor);
  shadow_.each(reinterpret_cast<std::uintptr_t>(host), bytes,
               [&](ByteState& s, std::uintptr_t, std::uint64_t) { s = {now, {}}; });
}

void Verifier::allocated(std::uint64_t pa, const std::uint8_t* host, std::uint64_t bytes) {
  if (!options_.tracks_memory()) return;
  std::lock_guard lock(mutex_);
  allocations_[pa] = bytes;
  shadow_.each(reinterpret_cast<std::uintptr_t>(host), bytes,
               [](ByteState& s, std::uintptr_t, std::uint64_t) { s = {}; });
}

void Verifier::freed(std::uint64_t pa, std::uint64_t) {
  std::lock_guard lock(mutex_);
  allocations_.erase(pa);
}

void Verifier::never_written(const std::uint8_t* host, std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  shadow_.each(reinterpret_cast<std::uintptr_t>(host), bytes,
               [](ByteState& s, std::uintptr_t, std::uint64_t) { s = {}; });
}

std::uint64_t Verifier::first_unwritten(const std::uint8_t* host, std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  std::uint64_t first = bytes;
  const auto base = reinterpret_cast<std::uintptr_t>(host);
  shadow_.each(base, bytes, [&](ByteState& s, std::uintptr_t address, std::uint64_t) {
    if (!s.write || s.write == kReported) first = std::min<std::uint64_t>(first, address - base);
  });
  return first;
}

void Verifier::name_range(std::uint64_t pa, std::uint64_t bytes, const std::string& name) {
  std::lock_guard lock(mutex_);
  names_[pa] = {bytes, name};
}

void Verifier::forget_names(std::uint64_t pa, std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  names_.erase(names_.lower_bound(pa), names_.lower_bound(pa + bytes));
  ignored_.erase(ignored_.lower_bound(pa), ignored_.lower_bound(pa + bytes));
}

void Verifier::ignore_range(std::uint64_t pa, std::uint64_t bytes) {
  std::lock_guard lock(mutex_);
  ignored_[pa] = bytes;
}

}  // namespace opennrt::emu
