// SPDX-License-Identifier: Apache-2.0
//
// INDIRECT_COPY: each group of 16 partitions copies runs of elements, at the
// same places in all its partitions. Index i of a group stands in its partition
// i mod 16, column i / 16; indices count elements.
#include <algorithm>

#include "compute/families.h"
#include "compute/special_common.h"
#include "opennrt/isa/layouts.h"
#include "opennrt/isa/records.h"

namespace opennrt::emu {

std::unique_ptr<ComputePlan> make_indirect_copy(const PlanContext& context,
                                                const std::uint8_t* record, std::string* error);

namespace {

namespace layout = isa::layout;

constexpr std::uint32_t kGroup = 16;
constexpr std::uint64_t kMaxIndices = 4096;
constexpr std::uint32_t kIndirectMarker = 0x20000000, kAddressBits = 0x1FFFFFFF;

class IndirectCopy final : public ComputePlan {
 public:
  static std::unique_ptr<ComputePlan> make(const PlanContext& context, const std::uint8_t* record,
                                           std::string* error) {
    namespace ic = layout::S4D4_IC;
    auto plan = std::make_unique<IndirectCopy>();
    IndirectCopy& p = *plan;
    p.partitions_ = ic::num_active_channels(record);
    p.run_ = ic::src_num_elem_per_idx(record);
    p.bound_ = ic::src_buffer_size(record);
    const std::uint32_t dtype = ic::in_dtype(record);
    const std::uint8_t* src = ic::src(record);
    std::uint32_t index_address = 0, data_address = 0;
    std::uint16_t elements = 0;
    std::memcpy(&index_address, src, 4);
    std::memcpy(&data_address, src + 4, 4);
    std::memcpy(&elements, src + 8, 2);
    const bool power = p.run_ != 0 && p.run_ <= 32 && (p.run_ & (p.run_ - 1)) == 0;
    if (!check_engine(context, record, error) ||
        !expect((index_address & ~kAddressBits) == kIndirectMarker, "source address form",
                index_address >> 29, "the indirect form is 1", error) ||
        !expect(p.partitions_ % kGroup == 0, "number of channels", p.partitions_,
                "it must be a multiple of 16", error) ||
        !expect(ic::out_dtype(record) == dtype, "output data type", ic::out_dtype(record),
                "the bits are moved unchanged", error) ||
        !expect(power, "elements per index", p.run_, "it is 1, 2, 4, 8, 16 or 32", error) ||
        !expect(ic::dst_num_elem_per_idx(record) == 0, "destination elements per index",
                ic::dst_num_elem_per_idx(record), "it must be 0", error) ||
        !expect(ic::dst_buffer_size(record) == 0, "destination buffer size",
                ic::dst_buffer_size(record), "it must be 0", error) ||
        !expect(p.bound_ > 1, "source buffer size", p.bound_, "it must be above 1", error) ||
        !resolve_operand(context, tensor4d("destination", ic::dst(record), dtype), p.partitions_,
                         &p.out_, error))
      return nullptr;
    p.indices_ = p.out_.pattern.total / p.run_;
    if (!expect(p.out_.pattern.total % p.run_ == 0, "number of destination elements",
                p.out_.pattern.total, "it must be a multiple of the elements per index", error) ||
        !expect(p.indices_ <= kMaxIndices, "number of indices", p.indices_, "the limit is 4096",
                error) ||
        !expect(elements == p.indices_ || elements == p.out_.pattern.total,
                "number of source elements", elements, "the destination has another number", error))
      return nullptr;
    OperandFields f{};
    f.dims = 1;
    f.step[0] = 1;
    f.name = "indices";
    f.address = index_address & kAddressBits;
    f.dtype = isa::kDtUint16;
    f.count[0] = static_cast<std::uint16_t>((p.indices_ + kGroup - 1) / kGroup);
    if (!resolve_operand(context, f, p.partitions_, &p.index_, error)) return nullptr;
    f.name = "source";
    f.address = data_address;
    f.dtype = dtype;
    f.count[0] = static_cast<std::uint16_t>(p.bound_);
    if (!resolve_operand(context, f, p.partitions_, &p.in_, error)) return nullptr;
    return plan;
  }

  bool execute(EngineState&, std::string* error) const override {
    for (std::uint32_t first = 0; first < partitions_; first += kGroup)
      for (std::uint64_t i = 0; i < indices_; ++i)
        if (index(first, i) + run_ > bound_) {
          *error = "index " + std::to_string(index(first, i)) + " (number " + std::to_string(i) +
                   " of channels " + std::to_string(first) + " to " +
                   std::to_string(first + kGroup - 1) + ") with " + std::to_string(run_) +
                   " elements, the source buffer has " + std::to_string(bound_);
          return false;
        }
    const std::uint64_t bytes = out_.element_bytes;
    std::uint16_t indices[kMaxIndices];  // the destination may overlap them
    for (std::uint32_t first = 0; first < partitions_; first += kGroup) {
      for (std::uint64_t i = 0; i < indices_; ++i) indices[i] = index(first, i);
      for (std::uint32_t p = first; p < first + kGroup; ++p) {
        const std::uint8_t* from = in_.partition(p);
        std::uint64_t k = 0;
        for_each_element(out_, p, [&](std::uint8_t* to) {
          std::memcpy(to, from + (indices[k / run_] + k % run_) * bytes, bytes);
          ++k;
        });
      }
    }
    return true;
  }

  void visit_operands(EngineState&, OperandVisitor& visitor) const override {
    visitor.visit("indices", index_, partitions_, Access::kRead);
    visitor.visit("source", in_, partitions_, Access::kRead);
    visitor.visit("destination", out_, partitions_, Access::kWrite);
  }

 private:
  std::uint16_t index(std::uint32_t first, std::uint64_t i) const {
    std::uint16_t value;
    std::memcpy(&value, index_.partition(first + i % kGroup) + i / kGroup * 2, 2);
    return value;
  }

  Operand index_, in_, out_;
  std::uint32_t partitions_ = 0, run_ = 1, bound_ = 0;
  std::uint64_t indices_ = 0;
};

}  // namespace

std::unique_ptr<ComputePlan> make_indirect_copy(const PlanContext& context,
                                                const std::uint8_t* record, std::string* error) {
  return IndirectCopy::make(context, record, error);
}

}  // namespace opennrt::emu
