// SPDX-License-Identifier: Apache-2.0
//
// DMAMEMCPY: the engine's descriptor generator copies a 2-D pattern of runs.
// Transfers of one engine happen in the order of their records, data before the
// semaphore.
#include <algorithm>
#include <limits>

#include "compute/operand.h"
#include "dma/convert.h"
#include "dma/stream.h"
#include "engine/address.h"
#include "engine/scalar.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

namespace op = isa::op;
namespace D2 = isa::layout::DMA_DIRECT2D;

constexpr std::uint32_t kMaxPriority = 4;
constexpr std::uint8_t kBoundEnabled = 0x80;
// Sub-id of the custom notification: out of bounds through a scalar offset.
constexpr std::uint32_t kScalarOutOfBounds = 4;
// Repeated addresses can ask for any amount of work; real transfers stay below
// the 24 MiB of an on-chip memory.
constexpr std::uint64_t kMaxTransferBytes = 1ull << 32;
// A run costs as much as a small record whatever its length.
constexpr std::uint64_t kMaxTransferRuns = 1ull << 24;

// One side of the record: count_1 x count_0 runs of `run` bytes.
struct Side {
  const char* name;
  const std::uint8_t* address;  // field in the record
  std::int64_t step[2];         // bytes
  std::uint64_t count[2];
  std::uint64_t run;
  std::uint32_t bound;
  std::uint32_t dtype;

  std::uint64_t bytes() const { return run * count[0] * count[1]; }
  GeneratedTransfer::Side at(std::uint64_t base) const {
    return {base, {step[0], step[1]}, {count[0], count[1]}, run, dtype, {}};
  }
  // Bytes touched, relative to the address.
  std::int64_t lowest() const {
    return std::min<std::int64_t>(0, reach(0)) + std::min<std::int64_t>(0, reach(1));
  }
  std::int64_t end() const {
    return std::max<std::int64_t>(0, reach(0)) + std::max<std::int64_t>(0, reach(1)) +
           static_cast<std::int64_t>(run);
  }

 private:
  std::int64_t reach(int i) const { return step[i] * static_cast<std::int64_t>(count[i] - 1); }
};

std::uint64_t run_bytes(std::uint16_t field) { return field == 0 ? 65536 : field; }

Side source(const std::uint8_t* raw) {
  return {"source",
          raw + D2::src_addr.kOffset,
          {D2::src_step_0(raw), D2::src_step_1(raw)},
          {D2::src_num_0(raw), D2::src_num_1(raw)},
          run_bytes(D2::src_elem_size(raw)),
          D2::src_bound(raw),
          D2::in_dtype(raw)};
}
Side destination(const std::uint8_t* raw) {
  return {"destination",
          raw + D2::dst_addr.kOffset,
          {D2::dst_step_0(raw), D2::dst_step_1(raw)},
          {D2::dst_num_0(raw), D2::dst_num_1(raw)},
          run_bytes(D2::dst_elem_size(raw)),
          D2::dst_bound(raw),
          D2::out_dtype(raw)};
}

bool check_side(const Side& side, std::string* error) {
  const auto fail = [&](const std::string& text) {
    return refuse(error, std::string(side.name) + ": " + text);
  };
  if (!check_address(side.name, side.address, error)) return false;
  if (side.count[0] == 0 || side.count[1] == 0) return fail("count 0");
  if (side.bytes() > kMaxTransferBytes)
    return fail(std::to_string(side.bytes()) + " bytes, the limit is " +
                std::to_string(kMaxTransferBytes));
  if (side.count[0] * side.count[1] > kMaxTransferRuns)
    return fail(std::to_string(side.count[0] * side.count[1]) + " runs, the limit is " +
                std::to_string(kMaxTransferRuns));
  if (side.bound == 0) return true;
  if ((side.bound & kBoundEnabled) == 0)
    return fail("bound register " + hex(side.bound) + " without the enable bit 0x80");
  if (!known_register(side.bound & 0x7F))
    return fail("bound register " + std::to_string(side.bound & 0x7F) + " does not exist");
  return address_has_offset(side.address) ||
         fail("a bound needs an address with an offset into the argument table");
}

bool check_memcpy(const PlanContext& context, const Decoded& d, std::string* error) {
  const std::uint32_t config = D2::dma_configs(d.raw), compute = D2::compute_op(d.raw);
  if (config > kMaxPriority)
    return refuse(error, "DMA configuration " + hex(config) + ", known are the priorities 0 to 4");
  if (compute != 0)
    return refuse(error, "compute operation " + std::to_string(compute) +
                             ": published numberings contradict each other, only 0 (copy) is "
                             "executed");
  const Side from = source(d.raw), to = destination(d.raw);
  if (!check_side(from, error) || !check_side(to, error)) return false;
  if (!check_semaphore(context.map.geometry(), D2::semaphore(d.raw), error)) return false;
  std::uint64_t from_element = 1, to_element = 1;
  if (from.dtype != to.dtype) {
    from_element = element_bytes(from.dtype);
    to_element = element_bytes(to.dtype);
    if (!can_convert(from.dtype, to.dtype))
      return refuse(error, "cast from data type " + dtype_name(from.dtype) + " to " +
                               dtype_name(to.dtype) + " is not implemented");
    if (from.run % from_element != 0 || to.run % to_element != 0)
      return refuse(error, "a run of " + std::to_string(from.run) + " or " +
                               std::to_string(to.run) + " bytes is not a number of elements");
  }
  if (from.bytes() / from_element != to.bytes() / to_element)
    return refuse(error, "source of " + std::to_string(from.bytes() / from_element) +
                             " elements, destination of " +
                             std::to_string(to.bytes() / to_element));
  return true;
}

// The runs of a side, neighbouring ones joined.
class Runs final : public SegmentList {
 public:
  Runs(const GeneratedTransfer::Side& side, std::uint64_t slot)
      : side_(side), base_(side.base), slot_(slot) {
    for (int i = 0; i < 2; ++i) {
      if (side_.step[0] == static_cast<std::int64_t>(side_.run) || side_.count[0] == 1) {
        side_.run *= side_.count[0];
        side_.count[0] = side_.count[1];
        side_.step[0] = side_.step[1];
        side_.count[1] = 1;
      }
    }
  }
  bool next(Segment* out) override {
    if (j_ == side_.count[1]) return false;
    *out = {base_ + static_cast<std::uint64_t>(static_cast<std::int64_t>(i_) * side_.step[0] +
                                               static_cast<std::int64_t>(j_) * side_.step[1]),
            side_.run, slot_};
    if (++i_ == side_.count[0]) {
      i_ = 0;
      ++j_;
    }
    return true;
  }

 private:
  GeneratedTransfer::Side side_;
  std::uint64_t base_, slot_;
  std::uint64_t i_ = 0, j_ = 0;
};

enum class Place : std::uint8_t { kGood, kOutOfBounds, kWrong };

// Where a side lies. kWrong: *error says why the engine cannot go on.
Place place(Sequencer& s, const Side& side, std::uint64_t* base, std::string* error) {
  DeviceAddress address;
  if (!resolve_address(s, side.name, side.address, &address, error)) return Place::kWrong;
  const std::int64_t lowest = side.lowest(), end = side.end();
  if (side.bound != 0) {
    // Both ends of what is touched lie inside the argument.
    const std::uint64_t limit = *s.reg(side.bound & 0x7F);
    const std::uint64_t before = static_cast<std::uint64_t>(-lowest);
    const std::uint64_t after = static_cast<std::uint64_t>(end);
    if (address.offset < before || after > limit || address.offset > limit - after)
      return Place::kOutOfBounds;
  }
  *base = address.base + address.offset;
  const std::uint64_t first = *base + static_cast<std::uint64_t>(lowest);
  const std::uint64_t span = static_cast<std::uint64_t>(end - lowest);
  if (s.bus().map().memory(first, span)) return Place::kGood;
  *error = std::string(side.name) + ": " + std::to_string(span) + " bytes at " + hex(first) +
           " do not lie in one memory";
  return Place::kWrong;
}

Outcome memcpy_2d(Sequencer& s, const Decoded& d) {
  const Side from = source(d.raw), to = destination(d.raw);
  std::uint64_t from_base = 0, to_base = 0;
  std::string error;
  const Place from_place = place(s, from, &from_base, &error);
  if (from_place == Place::kWrong) return s.fail(d.raw[0], error);
  const Place to_place = place(s, to, &to_base, &error);
  if (to_place == Place::kWrong) return s.fail(d.raw[0], error);
  GeneratedTransfer transfer;
  transfer.slot = s.program_counter();
  transfer.semaphore = D2::semaphore(d.raw);
  transfer.increment = D2::sem_increment(d.raw);
  if (from_place == Place::kGood && to_place == Place::kGood) {
    transfer.from = from.at(from_base);
    transfer.to = to.at(to_base);
  } else {
    // Nothing is written; the program goes on and the run ends with the status
    // of the notification.
    s.notify(isa::kNotifyCustom, kScalarOutOfBounds, 0);
  }
  s.start_transfer(transfer);
  return Outcome::kNext;
}

constexpr RecordEntry kEntries[] = {
    {op::DMAMEMCPY, memcpy_2d, check_memcpy},
};

}  // namespace

void copy_generated(Bus& bus, const GeneratedTransfer& t, Origin who) {
  if (t.from.run == 0) return;
  if (t.indirect) {
    copy_indirect(bus, t, who);
    return;
  }
  WindowCache from_windows(bus.map()), to_windows(bus.map());
  Runs from_runs(t.from, t.slot), to_runs(t.to, t.slot);
  ReadStream reader(bus, from_windows, from_runs, who);
  WriteStream writer(bus, to_windows, to_runs, who);
  if (t.from.dtype == t.to.dtype)
    copy_stream(reader, writer, t.from.bytes());
  else
    cast_stream(reader, t.from.dtype, writer, t.to.dtype,
                t.from.bytes() / element_bytes(t.from.dtype));
}

std::span<const RecordEntry> dma_records() { return kEntries; }

}  // namespace opennrt::emu
