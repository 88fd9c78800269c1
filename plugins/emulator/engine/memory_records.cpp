// SPDX-License-Identifier: Apache-2.0
//
// WRITE, TENSOR_LOAD, TENSOR_STORE, POLL_SEM: words between registers and device
// space, posted in program order. The first three as in device images of real
// runs, narrow and 64-bit types and POLL_SEM by their published fields.
#include <cstring>

#include "engine/address.h"
#include "engine/scalar.h"
#include "opennrt/isa/layouts.h"

namespace opennrt::emu {

namespace {

namespace op = isa::op;
namespace dt = isa::code::dtype;
namespace alu = isa::code::alu_op;
namespace MEM = isa::layout::MEM_2D;
namespace POLL = isa::layout::CTRL_POLL_SEM;

// --- WRITE

bool check_write(const PlanContext&, const Decoded& d, std::string* error) {
  const auto r = d.as<isa::WriteRecord>();
  if (r.size0 != 4 || (r.size1 != 4 && r.size1 != 0))
    return refuse(error, "write sizes " + std::to_string(r.size0) + " and " +
                             std::to_string(r.size1) +
                             ", only 4 (and 0 for no second write) exist");
  return true;
}

Outcome write(Sequencer& s, const Decoded& d) {
  const auto r = d.as<isa::WriteRecord>();
  const Origin who = s.origin();
  const auto data0 = static_cast<std::uint32_t>(r.data0);
  s.bus().bus_write(r.address0, &data0, 4, who);
  if (r.size1 != 0) {
    const auto data1 = static_cast<std::uint32_t>(r.data1);
    s.bus().bus_write(r.address1, &data1, 4, who);
  }
  return Outcome::kNext;
}

// --- TENSOR_LOAD, TENSOR_STORE: up to 32 registers from or to device space.

struct MemoryType {
  std::uint32_t bytes = 0;  // of an element in memory; 8: two registers; 0: does not move
  bool is_signed = false;
};

MemoryType memory_type(std::uint32_t dtype) {
  switch (dtype) {
    case dt::INT8:
      return {1, true};
    case dt::UINT8:
      return {1, false};
    case dt::INT16:
      return {2, true};
    case dt::UINT16:
      return {2, false};
    case dt::INT32:
    case dt::UINT32:
    case dt::FP32:
      return {4, false};
    case dt::INT64:
    case dt::UINT64:
      return {8, false};
    default:
      return {};
  }
}

bool check_memory(const PlanContext&, const Decoded& d, std::string* error) {
  const auto r = d.as<isa::MemRecord>();
  const bool store = r.h.opcode == isa::kOpTensorStore;
  const MemoryType type = memory_type(r.dtype);
  if (type.bytes == 0)
    return refuse(error, "data type " + dtype_name(r.dtype) +
                             ", registers take integers of 8 to 64 bits and FP32");
  if (r.immediate > (store ? 1 : 0))
    return refuse(error, "data mode " + std::to_string(r.immediate));
  if (r.immediate && type.bytes < 4)
    return refuse(error, "immediate data of type " + dtype_name(r.dtype) +
                             ": their place in the words is not published");
  const std::uint32_t n = std::uint32_t{r.count_inner} * r.count_outer;
  const std::uint32_t limit = r.immediate ? 8 : 32;
  if (n == 0 || n > limit)
    return refuse(error, std::to_string(r.count_inner) + " x " + std::to_string(r.count_outer) +
                             " elements, the record holds 1 to " + std::to_string(limit));
  if (type.bytes == 8) {
    // The counts are of 32-bit halves.
    if (r.count_inner % 2 != 0)
      return refuse(error, std::to_string(r.count_inner) + " halves of 64-bit elements");
    if ((r.count_inner > 2 && r.step_inner != 1) || r.count_outer != 1)
      return refuse(error,
                    "64-bit elements that are not neighbours: the unit of their steps is "
                    "not published");
  }
  if (!check_address("memory", d.raw + MEM::address.kOffset, error)) return false;
  if (!r.immediate)
    for (std::uint32_t i = 0; i < n; ++i)
      if (!known_register(r.reg[i]))
        return refuse(error, "register " + std::to_string(r.reg[i]) + " does not exist");
  return true;
}

// Calls element(address, k) for each register k.
template <typename Element>
bool for_each_register(Sequencer& s, const Decoded& d, const isa::MemRecord& r, std::uint32_t bytes,
                       std::string* error, Element element) {
  DeviceAddress address;
  if (!resolve_address(s, "memory", d.raw + MEM::address.kOffset, &address, error)) return false;
  const std::uint64_t base = address.base + address.offset;
  // Halves of 64-bit elements are neighbours.
  const std::int64_t unit = bytes == 8 ? 4 : bytes;
  const std::int64_t step = bytes == 8 ? 1 : r.step_inner;
  std::uint32_t k = 0;
  for (std::int64_t j = 0; j < r.count_outer; ++j)
    for (std::int64_t i = 0; i < r.count_inner; ++i)
      element(base + static_cast<std::uint64_t>(unit * (i * step + j * r.step_outer)), k++);
  return true;
}

Outcome tensor_load(Sequencer& s, const Decoded& d) {
  const auto r = d.as<isa::MemRecord>();
  const Origin who = s.origin();
  const MemoryType type = memory_type(r.dtype);
  const std::uint32_t bytes = type.bytes < 4 ? type.bytes : 4;
  // All words are read before a register changes: the address may come from one.
  std::uint32_t words[32] = {};
  std::string error;
  const auto load = [&](std::uint64_t address, std::uint32_t k) {
    s.bus().bus_read(address, &words[k], bytes, who);
    if (type.is_signed) {
      const std::uint32_t shift = 32 - 8 * bytes;
      words[k] = static_cast<std::uint32_t>(static_cast<std::int32_t>(words[k] << shift) >> shift);
    }
  };
  if (!for_each_register(s, d, r, type.bytes, &error, load)) return s.fail(r.h.opcode, error);
  const std::uint32_t n = std::uint32_t{r.count_inner} * r.count_outer;
  for (std::uint32_t k = 0; k < n; ++k) *s.reg(r.reg[k]) = words[k];
  return Outcome::kNext;
}

Outcome tensor_store(Sequencer& s, const Decoded& d) {
  const auto r = d.as<isa::MemRecord>();
  const Origin who = s.origin();
  const MemoryType type = memory_type(r.dtype);
  const std::uint32_t bytes = type.bytes < 4 ? type.bytes : 4;
  std::string error;
  const auto store = [&](std::uint64_t address, std::uint32_t k) {
    std::uint32_t word;
    if (r.immediate)
      std::memcpy(&word, d.raw + offsetof(isa::MemRecord, data) + 4 * k, 4);
    else
      word = *s.reg(r.reg[k]);
    s.bus().bus_write(address, &word, bytes, who);
  };
  if (!for_each_register(s, d, r, type.bytes, &error, store)) return s.fail(r.h.opcode, error);
  return Outcome::kNext;
}

// --- POLL_SEM: folds up to 16 words into a register; a result that is not zero
// goes back to memory as often as words were read.

constexpr std::uint32_t kPollMax = 16;

bool check_poll(const PlanContext&, const Decoded& d, std::string* error) {
  const std::uint32_t n = POLL::n_read(d.raw), fold = POLL::op(d.raw);
  if (n == 0 || n > kPollMax)
    return refuse(error, "reads " + std::to_string(n) + " words, possible are 1 to 16");
  if (fold != alu::MIN && fold != alu::MAX && fold != alu::ADD && fold != alu::BITWISE_AND &&
      fold != alu::BITWISE_OR)
    return refuse(error, "folds with " + alu_op_name(fold) +
                             ", implemented are MIN, MAX, ADD, BITWISE_AND, BITWISE_OR");
  if (!known_register(POLL::result(d.raw)))
    return refuse(error,
                  "result register " + std::to_string(POLL::result(d.raw)) + " does not exist");
  return true;
}

Outcome poll_semaphores(Sequencer& s, const Decoded& d) {
  const Origin who = s.origin();
  const std::uint32_t n = POLL::n_read(d.raw);
  std::uint32_t words[kPollMax] = {};
  for (std::uint32_t i = 0; i < n; ++i)
    s.bus().bus_read(POLL::addr(d.raw) + 4 * i, &words[i], 4, who);
  std::uint64_t result = words[0];
  std::string error;
  // Semaphores are signed.
  for (std::uint32_t i = 1; i < n; ++i)
    scalar_operate(POLL::op(d.raw), dt::INT32, result, words[i], &result, &error);
  const auto value = static_cast<std::uint32_t>(result);
  *s.reg(POLL::result(d.raw)) = value;
  for (std::uint32_t i = 0; value != 0 && i < n; ++i)
    s.bus().bus_write(POLL::res_writeback_addr(d.raw) + 4 * i, &value, 4, who);
  return Outcome::kNext;
}

constexpr RecordEntry kEntries[] = {
    {op::WRITE, write, check_write},
    {op::TENSOR_LOAD, tensor_load, check_memory},
    {op::TENSOR_STORE, tensor_store, check_memory},
    {op::POLL_SEM, poll_semaphores, check_poll},
};

}  // namespace

std::span<const RecordEntry> memory_records() { return kEntries; }

}  // namespace opennrt::emu
