// SPDX-License-Identifier: Apache-2.0
#include "arch-common/record_buffer.h"

namespace opennrt::arch_common {

int reserve_records(const nrtp_ibuf* out, std::size_t records) {
  if (out == nullptr || (out->p == nullptr && out->cap != 0)) return NRTP_INVALID;
  if (out->len % isa::kRecordBytes != 0 || out->len > out->cap) return NRTP_INVALID;
  if ((out->cap - out->len) / isa::kRecordBytes < records) return NRTP_RESOURCE;
  return NRTP_OK;
}

isa::WriteRecord make_write(std::uint64_t address0, std::uint32_t data0) {
  auto r = isa::zero_record<isa::WriteRecord>(isa::kOpWrite);
  r.size0 = 4;
  r.address0 = address0;
  r.data0 = data0;
  return r;
}

isa::WriteRecord make_write(std::uint64_t address0, std::uint32_t data0, std::uint64_t address1,
                            std::uint32_t data1) {
  auto r = make_write(address0, data0);
  r.size1 = 4;
  r.address1 = address1;
  r.data1 = data1;
  return r;
}

}  // namespace opennrt::arch_common
