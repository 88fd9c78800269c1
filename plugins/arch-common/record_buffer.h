// SPDX-License-Identifier: Apache-2.0
//
// Appends instruction records to an nrtp_ibuf. All or nothing: a step reserves
// its records first, so a buffer that is too small is left as it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "opennrt/arch.h"
#include "opennrt/isa/records.h"

namespace opennrt::arch_common {

// NRTP_OK when `records` more records fit; NRTP_INVALID for a missing or
// unaligned buffer; NRTP_RESOURCE when it is too small.
int reserve_records(const nrtp_ibuf* out, std::size_t records);

// After reserve_records().
template <typename Record>
void append(nrtp_ibuf* out, const Record& record) {
  static_assert(sizeof(Record) == isa::kRecordBytes);
  std::memcpy(out->p + out->len, &record, sizeof record);
  out->len += sizeof record;
}

// One 4-byte write, or two of which `address0` goes first.
isa::WriteRecord make_write(std::uint64_t address0, std::uint32_t data0);
isa::WriteRecord make_write(std::uint64_t address0, std::uint32_t data0, std::uint64_t address1,
                            std::uint32_t data1);

}  // namespace opennrt::arch_common
