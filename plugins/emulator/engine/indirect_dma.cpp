// SPDX-License-Identifier: Apache-2.0
//
// DMA_INDIRECT: the engine's descriptor generator gathers or scatters runs by
// vectors of indices in SBUF. Run i of an indexed side lies at
//
//   address + index[i] * step,
//
// of the other side at address + i * step. Fields as public analyses of the
// instruction headers give them; steps count bytes, as those of DMAMEMCPY do in
// real programs; index i lies on partition i mod channels, as word i / channels.
// Indices are read when the record executes, the data when the transfer does.
#include <algorithm>
#include <cstring>

#include "compute/operand.h"
#include "dma/convert.h"
#include "dma/stream.h"
#include "engine/address.h"
#include "engine/scalar.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

namespace op = isa::op;
namespace DI = isa::layout::DMA_INDIRECT1D;
namespace compute = isa::code::dge_compute;

constexpr std::uint32_t kMaxPriority = 4;
constexpr std::uint32_t kMaxIndices = 4096;
constexpr std::uint32_t kWord = 4;
constexpr std::uint8_t kBoundEnabled = 0x80;
constexpr std::uint32_t kModes = 3;  // gather, scatter, both
constexpr std::uint32_t kOutOfBoundsIsError = 1u << 2;
constexpr std::uint32_t kDimensions = 0xF0;  // of the two sides
// Sub-id of the custom notification: out of bounds through a vector of offsets.
constexpr std::uint32_t kVectorOutOfBounds = 5;
constexpr std::uint32_t kRegisterForm = 0x80000000;

struct Side {
  const char* name;
  const std::uint8_t* address;  // field in the record
  std::int64_t step;            // bytes
  std::uint32_t runs;
  std::uint64_t run;  // bytes
  std::uint32_t dtype;
  bool indexed;
  std::uint32_t indices;  // address field of their vector
  std::uint32_t bound;
};

std::uint64_t run_bytes(std::uint16_t field) { return field == 0 ? 65536 : field; }

std::uint32_t word_at(const std::uint8_t* bytes) {
  std::uint32_t v;
  std::memcpy(&v, bytes, sizeof v);
  return v;
}

std::uint32_t mode_of(const std::uint8_t* raw) { return DI::flags(raw) & 3; }

Side source(const std::uint8_t* raw) {
  return {"source",
          raw + DI::src_addr.kOffset,
          DI::src_step(raw),
          DI::src_num(raw),
          run_bytes(DI::src_elem_size(raw)),
          DI::in_dtype(raw),
          mode_of(raw) != 1,
          word_at(raw + DI::src_idx_addr.kOffset),
          DI::src_idx_bound(raw)};
}
Side destination(const std::uint8_t* raw) {
  return {"destination",
          raw + DI::dst_addr.kOffset,
          DI::dst_step(raw),
          DI::dst_num(raw),
          run_bytes(DI::dst_elem_size(raw)),
          DI::out_dtype(raw),
          mode_of(raw) != 0,
          word_at(raw + DI::dst_idx_addr.kOffset),
          DI::dst_idx_bound(raw)};
}

bool check_side(const Side& side, std::string* error) {
  const auto fail = [&](const std::string& text) {
    return refuse(error, std::string(side.name) + ": " + text);
  };
  if (!check_address(side.name, side.address, error)) return false;
  if (side.runs == 0 || side.runs > kMaxIndices)
    return fail(std::to_string(side.runs) + " runs, a record has 1 to " +
                std::to_string(kMaxIndices));
  if (!side.indexed) {
    if (side.indices != 0) return fail("has an index vector, the mode gives it no indices");
    return side.bound == 0 || fail("has an index bound, the mode gives it no indices");
  }
  if ((side.indices & kRegisterForm) != 0) {
    if ((side.indices & ~kRegisterForm) >= Sequencer::kRegisters)
      return fail("address of the index vector " + hex(side.indices) +
                  " is no register form 0x80000000 | 0 to 63");
  } else if (side.indices % kWord != 0) {
    return fail("index vector at " + hex(side.indices) + ", its words are aligned to 4 bytes");
  }
  if (side.bound == 0) return true;
  const std::uint32_t reg = side.bound & ~std::uint32_t{kBoundEnabled};
  if ((side.bound & kBoundEnabled) == 0 || reg >= Sequencer::kRegisters)
    return fail("index bound register " + hex(side.bound) + " must be 0 or 0x80 | 0 to 63");
  return true;
}

bool check_indirect(const PlanContext& context, const Decoded& d, std::string* error) {
  const std::uint32_t flags = DI::flags(d.raw), config = DI::dma_configs(d.raw);
  const std::uint32_t channels = DI::idx_num_active_channels(d.raw);
  const std::uint32_t effect = DI::compute_op(d.raw);
  if (mode_of(d.raw) >= kModes)
    return refuse(error, "indirection mode 3 is not one of 0 (gather), 1 (scatter), 2 (both)");
  if ((flags & kDimensions) != 0)
    return refuse(error, "flags " + hex(flags) +
                             ": an index dimension other than X needs a shape register, which is "
                             "not implemented");
  if (channels == 0 || channels > 128)
    return refuse(error, std::to_string(channels) + " index channels, there are 1 to 128");
  if (config > kMaxPriority)
    return refuse(error, "DMA configuration " + hex(config) + ", known are the priorities 0 to 4");
  if (effect != compute::NONE && effect != compute::ADD && effect != compute::MAX &&
      effect != compute::MIN)
    return refuse(error, "compute operation " + std::to_string(effect) +
                             " is not one of 0 (copy), 1 (add), 3 (maximum), 4 (minimum)");
  const Side from = source(d.raw), to = destination(d.raw);
  if (!check_side(from, error) || !check_side(to, error)) return false;
  if (!check_semaphore(context.map.geometry(), DI::semaphore(d.raw), error)) return false;
  if (from.runs != to.runs)
    return refuse(error, "source of " + std::to_string(from.runs) + " runs, destination of " +
                             std::to_string(to.runs) + ": an index moves one of each");
  std::uint64_t from_element = 1, to_element = 1;
  if (from.dtype != to.dtype || effect != compute::NONE) {
    from_element = element_bytes(from.dtype);
    to_element = element_bytes(to.dtype);
    if (!can_convert(from.dtype, to.dtype) || !can_convert(to.dtype, isa::kDtFloat32))
      return refuse(error, "data type " + dtype_name(from.dtype) + " into " + dtype_name(to.dtype) +
                               " is not implemented");
    if (from.run % from_element != 0 || to.run % to_element != 0)
      return refuse(error, "a run of " + std::to_string(from.run) + " or " +
                               std::to_string(to.run) + " bytes is not a number of elements");
  }
  if (from.run / from_element != to.run / to_element)
    return refuse(error, "source runs of " + std::to_string(from.run / from_element) +
                             " elements, destination runs of " +
                             std::to_string(to.run / to_element));
  return true;
}

// The indices of a side, into `out`.
bool read_indices(Sequencer& s, const Side& side, std::uint32_t channels,
                  std::vector<std::uint64_t>* out, std::string* error) {
  const nrtp_arch_geometry& g = s.bus().map().geometry();
  const std::uint64_t local =
      (side.indices & kRegisterForm) != 0 ? *s.reg(side.indices & ~kRegisterForm) : side.indices;
  const auto fail = [&](const std::string& text) {
    return refuse(error, std::string(side.name) + ": index vector at " + hex(local) + text);
  };
  const std::uint64_t words = (side.runs + channels - 1) / channels;
  if (local % kWord != 0) return fail(", its words are aligned to 4 bytes");
  if (local + words * kWord > g.sbuf_partition_bytes)
    return fail(" with " + std::to_string(words) + " words does not lie in SBUF partition 0 (" +
                std::to_string(g.sbuf_partition_bytes) + " bytes)");
  const AddressMap& map = s.bus().map();
  const std::uint64_t base =
      map.arch().address->local_to_device(map.product(), s.core(), 0) + local;
  out->resize(side.runs);
  for (std::uint32_t i = 0; i < side.runs; ++i) {
    std::uint32_t index = 0;
    if (!s.bus().bus_read(base + i % channels * g.sbuf_partition_stride + i / channels * kWord,
                          &index, sizeof index, s.origin()))
      return fail(" is not in memory");
    (*out)[i] = index;
  }
  return true;
}

// Turns indices (or positions) into addresses. Runs that are out of bounds get
// the address kNowhere on both sides.
constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

bool place_runs(Sequencer& s, const Side& side, std::vector<std::uint64_t>* places, bool* outside,
                std::string* error) {
  DeviceAddress address;
  if (!resolve_address(s, side.name, side.address, &address, error)) return false;
  const std::uint64_t base = address.base + address.offset;
  if (!side.indexed) {
    places->resize(side.runs);
    for (std::uint32_t i = 0; i < side.runs; ++i) (*places)[i] = i;
  }
  const bool bounded = side.bound != 0;
  const std::uint32_t limit =
      bounded ? *s.reg(side.bound & ~std::uint32_t{kBoundEnabled}) : std::uint32_t{0};
  for (std::uint32_t i = 0; i < side.runs; ++i) {
    std::uint64_t& place = (*places)[i];
    if (bounded && place >= limit) {
      place = kNowhere;
      *outside = true;
      continue;
    }
    const std::uint64_t index = place;
    place = base + static_cast<std::uint64_t>(side.step) * index;
    if (s.bus().map().memory(place, side.run)) continue;
    *error = std::string(side.name) + ": run " + std::to_string(i) +
             (side.indexed ? " with index " + std::to_string(index) : std::string()) + ", " +
             std::to_string(side.run) + " bytes at " + hex(place) + ", does not lie in memory";
    return false;
  }
  return true;
}

GeneratedTransfer::Effect effect_of(std::uint32_t operation) {
  using Effect = GeneratedTransfer::Effect;
  return operation == compute::ADD   ? Effect::kAdd
         : operation == compute::MAX ? Effect::kMax
         : operation == compute::MIN ? Effect::kMin
                                     : Effect::kCopy;
}

Outcome indirect(Sequencer& s, const Decoded& d) {
  const Side from = source(d.raw), to = destination(d.raw);
  const std::uint32_t channels = DI::idx_num_active_channels(d.raw);
  GeneratedTransfer& t = s.indirect_transfer();
  std::string error;
  bool outside = false;
  if ((from.indexed && !read_indices(s, from, channels, &t.from.places, &error)) ||
      (to.indexed && !read_indices(s, to, channels, &t.to.places, &error)) ||
      !place_runs(s, from, &t.from.places, &outside, &error) ||
      !place_runs(s, to, &t.to.places, &outside, &error))
    return s.fail(d.raw[0], error);
  t.indirect = true;
  t.effect = effect_of(DI::compute_op(d.raw));
  t.from.run = from.run;
  t.from.dtype = from.dtype;
  t.to.run = to.run;
  t.to.dtype = to.dtype;
  t.slot = s.program_counter();
  t.semaphore = DI::semaphore(d.raw);
  t.increment = DI::sem_increment(d.raw);
  if (outside && (DI::flags(d.raw) & kOutOfBoundsIsError) != 0) {
    // Nothing is written; the program goes on and the run ends with the status of
    // the notification.
    t.from.run = 0;
    s.notify(isa::kNotifyCustom, kVectorOutOfBounds, 0);
  }
  s.start_transfer(t);
  return Outcome::kNext;
}

constexpr RecordEntry kEntries[] = {
    {op::DMA_INDIRECT, indirect, check_indirect},
};

class OneRun final : public SegmentList {
 public:
  OneRun(std::uint64_t address, std::uint64_t bytes, std::uint64_t slot)
      : segment_{address, bytes, slot} {}
  bool next(Segment* out) override {
    if (taken_) return false;
    taken_ = true;
    *out = segment_;
    return true;
  }

 private:
  Segment segment_;
  bool taken_ = false;
};

}  // namespace

// Run by run: a destination may occur more than once.
void copy_indirect(Bus& bus, const GeneratedTransfer& t, Origin who) {
  using Effect = GeneratedTransfer::Effect;
  WindowCache from_windows(bus.map()), to_windows(bus.map()), old_windows(bus.map());
  for (std::size_t i = 0; i < t.from.places.size(); ++i) {
    if (t.from.places[i] == kNowhere || t.to.places[i] == kNowhere) continue;
    OneRun from_run(t.from.places[i], t.from.run, t.slot);
    OneRun old_run(t.to.places[i], t.to.run, t.slot), to_run(t.to.places[i], t.to.run, t.slot);
    ReadStream reader(bus, from_windows, from_run, who);
    WriteStream writer(bus, to_windows, to_run, who);
    if (t.effect != Effect::kCopy) {
      ReadStream old(bus, old_windows, old_run, who);
      const CombineSource sources[] = {{&old, t.to.dtype, 1.0f}, {&reader, t.from.dtype, 1.0f}};
      combine_streams(t.effect == Effect::kAdd   ? Combine::kAdd
                      : t.effect == Effect::kMax ? Combine::kMax
                                                 : Combine::kMin,
                      sources, nullptr, writer, t.to.dtype, t.to.run / element_bytes(t.to.dtype));
    } else if (t.from.dtype == t.to.dtype) {
      copy_stream(reader, writer, t.from.run);
    } else {
      cast_stream(reader, t.from.dtype, writer, t.to.dtype,
                  t.from.run / element_bytes(t.from.dtype));
    }
  }
}

std::span<const RecordEntry> indirect_dma_records() { return kEntries; }

}  // namespace opennrt::emu
