// SPDX-License-Identifier: Apache-2.0
#include "compute/pe_fields.h"

#include "compute/pe_rows.h"
#include "device/bus.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

bool group(const char* name, std::uint32_t code, std::uint32_t used, std::uint8_t* first,
           std::uint8_t* cells, std::string* error) {
  switch (code) {
    case 1:
    case 2:
    case 4:
    case 8:
      *cells = 1;
      *first = static_cast<std::uint8_t>(code == 1 ? 0 : code == 2 ? 32 : code == 4 ? 64 : 96);
      break;
    case 3:
    case 12:
      *cells = 2;
      *first = code == 3 ? 0 : 64;
      break;
    case 15:
      *cells = 4;
      *first = 0;
      break;
    default:
      *error = std::string(name) + " group code " + std::to_string(code) +
               " is not one of 1, 2, 4, 8, 3, 12, 15";
      return false;
  }
  if (used == 0 || used > *cells * kPeCell) {
    *error = std::to_string(used) + " active " + name + "s, group code " + std::to_string(code) +
             " has room for 1 to " + std::to_string(*cells * kPeCell);
    return false;
  }
  return true;
}

bool start_partition(const OperandFields& f, std::uint64_t base, std::uint64_t stride,
                     std::uint32_t want, const char* what, std::string* error) {
  const std::uint64_t first = (f.address - base) / stride;
  if (first == want) return true;
  *error = std::string(f.name) + " starts at partition " + std::to_string(first) + ", its " + what +
           " group at " + std::to_string(want);
  return false;
}

}  // namespace

bool pe_tile(std::uint32_t rows, std::uint32_t columns, std::uint32_t row_group,
             std::uint32_t column_group, PeTile* out, std::string* error) {
  out->rows = static_cast<std::uint8_t>(rows);
  out->columns = static_cast<std::uint8_t>(columns);
  return group("row", row_group, rows, &out->first_row, &out->row_cells, error) &&
         group("column", column_group, columns, &out->first_column, &out->column_cells, error);
}

bool pe_source(const PlanContext& context, const char* name, const std::uint8_t* pattern,
               std::uint32_t dtype, const PeTile& tile, Operand* out, std::string* error) {
  const nrtp_arch_geometry& g = context.map.geometry();
  const std::uint32_t bytes = pe_element_bytes(dtype);
  if (bytes == 0) {
    *error = std::string(name) + ": data type " + std::to_string(dtype) +
             " is no input of the PE array (FP8, BF16, FP16, FP32, FP32R)";
    return false;
  }
  // The type only sets the element size here.
  const std::uint32_t raw = bytes == 1   ? isa::kDtUint8
                            : bytes == 2 ? isa::kDtUint16
                                         : isa::kDtUint32;
  const OperandFields f = tensor3d(name, pattern, raw);
  if (!resolve_operand(context, f, tile.rows, out, error)) return false;
  if (f.address >= g.psum_local_base) {
    *error = std::string(name) + " at " + hex(f.address) + " is in PSUM, the PE array reads SBUF";
    return false;
  }
  if (out->pattern.total > PeScratch::kMaxRow) {
    *error = std::string(name) + " has " + std::to_string(out->pattern.total) +
             " elements per partition, the limit is " + std::to_string(PeScratch::kMaxRow);
    return false;
  }
  out->dtype = dtype;
  return start_partition(f, 0, g.sbuf_partition_stride, tile.first_row, "row", error);
}

bool pe_destination(const PlanContext& context, const std::uint8_t* pattern, std::uint32_t dtype,
                    const PeTile& tile, std::uint32_t zero_region, Operand* out, PsumPlace* place,
                    std::string* error) {
  const nrtp_arch_geometry& g = context.map.geometry();
  const OperandFields f = tensor3d("destination", pattern, dtype);
  if (!resolve_operand(context, f, tile.columns, out, error)) return false;
  if (f.address < g.psum_local_base) {
    *error = "destination " + hex(f.address) + " is in SBUF, the PE array writes PSUM";
    return false;
  }
  if (!start_partition(f, g.psum_local_base, g.psum_partition_stride, tile.first_column, "column",
                       error))
    return false;
  if (zero_region > 3) {
    *error = "PSUM zero region " + std::to_string(zero_region) + " is not one of 0 to 3";
    return false;
  }
  const std::uint64_t offset = (f.address - g.psum_local_base) % g.psum_partition_stride;
  place->first = static_cast<std::int64_t>(offset / PsumGroups::kUnitBytes);
  place->units = out->element_bytes / PsumGroups::kUnitBytes;
  place->region =
      static_cast<std::uint32_t>((g.psum_bank_bytes << zero_region) / PsumGroups::kUnitBytes);
  place->partitions = tile.columns;
  place->first_cell = static_cast<std::uint8_t>(tile.first_column / kPeCell);
  place->cells = static_cast<std::uint8_t>((tile.columns + kPeCell - 1) / kPeCell);
  if (context.generation == isa::Generation::kMariana) return true;
  // Before mariana a product stays in one bank.
  const auto at = [&](std::int64_t element) {
    return (static_cast<std::int64_t>(offset) + element * out->element_bytes) /
           static_cast<std::int64_t>(g.psum_bank_bytes);
  };
  const std::int64_t last_byte =
      static_cast<std::int64_t>(offset) + (out->pattern.highest + 1) * out->element_bytes - 1;
  const std::int64_t first_bank = at(out->pattern.lowest);
  const std::int64_t last_bank = last_byte / static_cast<std::int64_t>(g.psum_bank_bytes);
  if (first_bank == last_bank) return true;
  *error = "destination reaches from PSUM bank " + std::to_string(first_bank) + " to " +
           std::to_string(last_bank) + ", a product stays in one bank of " +
           std::to_string(g.psum_bank_bytes) + " bytes";
  return false;
}

bool pe_fp32_mode(std::uint32_t dtype, std::uint32_t mode, std::string* error) {
  if (mode > isa::code::fp32_mode::LOW_HIGH) {
    *error = "FP32 mode " + std::to_string(mode) + " is not one of 0 to 3";
    return false;
  }
  if (dtype == isa::kDtFloat32 && mode == isa::code::fp32_mode::NONE) {
    *error = "FP32 operand without FP32 mode: 1 LOW, 2 HIGH or 3 LOW_HIGH";
    return false;
  }
  if (dtype != isa::kDtFloat32 && mode != isa::code::fp32_mode::NONE) {
    *error = "FP32 mode " + std::to_string(mode) + " with data type " + std::to_string(dtype) +
             ", only FP32 (10) has passes";
    return false;
  }
  return true;
}

bool pe_accumulate_flags(isa::Generation generation, std::uint32_t flags, std::string* error) {
  namespace F = isa::code::psum_accumulate;
  if (flags <= F::SINGLE) return true;
  if (generation == isa::Generation::kMariana &&
      (flags == F::ACCUMULATE || flags == F::ACCUMULATE_END))
    return true;
  *error = "accumulate flags " + std::to_string(flags) + " are not one of 0 to 3" +
           (generation == isa::Generation::kMariana ? ", 4, 6" : "");
  return false;
}

bool pe_zero(const char* field, std::uint32_t value, std::string* error) {
  if (value == 0) return true;
  *error = std::string(field) + " is " + std::to_string(value) +
           ", its effect is not known for values other than 0";
  return false;
}

bool pe_reserved(const std::uint8_t* record, std::uint32_t first, std::uint32_t count,
                 std::string* error) {
  for (std::uint32_t i = first; i < first + count; ++i)
    if (record[i] != 0) {
      *error = "reserved byte " + std::to_string(i) + " is " + std::to_string(record[i]);
      return false;
    }
  return true;
}

}  // namespace opennrt::emu
