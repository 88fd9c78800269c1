// SPDX-License-Identifier: Apache-2.0
#include "compute/psum_groups.h"

#include <algorithm>
#include <cstring>

#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

// Calls use(word, mask) for the bits of all elements; a word may come again.
template <typename Use>
void for_each_word(const Operand& out, const PsumPlace& place, Use use) {
  const std::uint64_t element = (std::uint64_t{1} << place.units) - 1;
  Cursor cursor(out.pattern);
  for (std::uint64_t left = out.pattern.total; left != 0;) {
    const Cursor::Run run = cursor.next(left);
    left -= run.count;
    auto unit = static_cast<std::uint64_t>(place.first + run.offset * place.units);
    if (run.step == 1) {
      const std::uint64_t end = unit + run.count * place.units;
      while (unit < end) {
        const std::uint64_t bit = unit % 64, n = std::min(64 - bit, end - unit);
        use(unit / 64, (n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1) << bit);
        unit += n;
      }
      continue;
    }
    for (std::uint64_t i = 0; i < run.count; ++i) {
      use(unit / 64, element << unit % 64);
      unit += static_cast<std::uint64_t>(run.step * place.units);
    }
  }
}

}  // namespace

void PsumGroups::begin(std::uint32_t flags, const Operand& out, const PsumPlace& place) {
  namespace flag = isa::code::psum_accumulate;
  if ((flags & (flag::START | flag::ACCUMULATE)) == 0) return;
  const std::uint64_t bits = (flags & flag::START) != 0 ? ~std::uint64_t{0} : 0;
  const auto lowest = static_cast<std::uint64_t>(place.first + out.pattern.lowest * place.units);
  const auto highest = static_cast<std::uint64_t>(place.first + out.pattern.highest * place.units);
  const std::uint64_t region = place.region;
  const std::uint64_t first = lowest / region * region / 64;
  const std::uint64_t last = (highest / region + 1) * region / 64;
  for (std::uint32_t c = 0; c < place.cells; ++c) {
    auto& words = pending_[place.first_cell + c];
    for (std::uint64_t w = first; w < last; ++w) words[w] = bits;
  }
}

PsumGroups::Start PsumGroups::look(const Operand& out, const PsumPlace& place) const {
  bool zero = false, held = false;
  for (std::uint32_t c = 0; c < place.cells; ++c) {
    const auto& words = pending_[place.first_cell + c];
    for_each_word(out, place, [&](std::uint64_t word, std::uint64_t mask) {
      const std::uint64_t found = words[word] & mask;
      zero |= found != 0;
      held |= found != mask;
    });
  }
  return zero && held ? Start::kMixed : zero ? Start::kZero : Start::kHeld;
}

bool PsumGroups::take(const Operand& out, const PsumPlace& place) {
  const Start start = look(out, place);
  if (start == Start::kHeld) return false;
  for (std::uint32_t c = 0; c < place.cells; ++c) {
    const std::uint32_t cell = place.first_cell + c;
    if (start == Start::kMixed) {
      const std::uint32_t partitions =
          std::min(kCellPartitions, place.partitions - c * kCellPartitions);
      Cursor cursor(out.pattern);
      for (std::uint64_t i = 0; i < out.pattern.total; ++i) {
        const std::int64_t offset = cursor.next(1).offset;
        if (!from_zero(place, offset, cell)) continue;
        for (std::uint32_t p = 0; p < partitions; ++p)
          std::memset(out.partition(c * kCellPartitions + p) + offset * out.element_bytes, 0,
                      out.element_bytes);
      }
    }
    for_each_word(out, place,
                  [&](std::uint64_t word, std::uint64_t mask) { pending_[cell][word] &= ~mask; });
  }
  return start == Start::kZero;
}

void PsumGroups::visit(std::uint32_t flags, const Operand& out, const PsumPlace& place,
                       OperandVisitor& visitor) const {
  namespace flag = isa::code::psum_accumulate;
  const Start start = (flags & flag::START) != 0        ? Start::kZero
                      : (flags & flag::ACCUMULATE) != 0 ? Start::kHeld
                                                        : look(out, place);
  if (start != Start::kMixed) {
    visitor.visit("destination", out, place.partitions,
                  start == Start::kZero ? Access::kWrite : Access::kReadWrite);
    return;
  }
  for (std::uint32_t c = 0; c < place.cells; ++c) {
    const std::uint32_t partitions =
        std::min(kCellPartitions, place.partitions - c * kCellPartitions);
    Operand one = out;
    one.pattern = Pattern();
    one.first_partition = out.first_partition + c * kCellPartitions;
    Cursor cursor(out.pattern);
    for (std::uint64_t i = 0; i < out.pattern.total; ++i) {
      const std::int64_t offset = cursor.next(1).offset;
      one.base = out.partition(c * kCellPartitions) + offset * out.element_bytes;
      visitor.visit(
          "destination", one, partitions,
          from_zero(place, offset, place.first_cell + c) ? Access::kWrite : Access::kReadWrite);
    }
  }
}

}  // namespace opennrt::emu
