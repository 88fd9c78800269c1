// SPDX-License-Identifier: Apache-2.0
#include "tdrv/image/sequencing_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "tdrv/image/region_steps.h"

namespace opennrt::tdrv::image {

namespace {

// A name field of fixed size; empty: no end within it.
template <std::size_t kBytes>
std::optional<std::string_view> name_in(const char (&field)[kBytes]) {
  const std::size_t length = ::strnlen(field, kBytes);
  if (length == kBytes) return std::nullopt;
  return std::string_view(field, length);
}

template <std::size_t kBytes>
Status check_zero(const std::uint8_t (&bytes)[kBytes], std::size_t offset) {
  const auto bad =
      std::find_if(std::begin(bytes), std::end(bytes), [](std::uint8_t b) { return b != 0; });
  if (bad == std::end(bytes)) return Status::ok();
  return Status::invalid("byte {} is {:#04x}, no field is known there",
                         offset + static_cast<std::size_t>(bad - std::begin(bytes)), *bad);
}

}  // namespace

void append_wait_of(isa::Header header, RecordBuilder& out) {
  if (header.wait_mode == isa::kWaitNone) return;
  header.update_mode = header.update_index = 0;
  out.append(isa::zero_record<isa::ControlRecord>(isa::kOpNop));
  out.take_events(out.slot() - 1, header);
}

void append_update_of(isa::Header header, RecordBuilder& out) {
  if (header.update_mode == isa::kUpdateNone) return;
  // The value belongs to the wait unless the update needs an operand.
  const bool has_operand = header.update_mode == isa::kUpdateSemAdd ||
                           header.update_mode == isa::kUpdateSemSub ||
                           header.update_mode == isa::kUpdateSemWrite;
  if (header.wait_mode != isa::kWaitNone && !has_operand) header.value = 0;
  header.wait_mode = header.wait_index = 0;
  out.append(isa::zero_record<isa::ControlRecord>(isa::kOpNop));
  out.take_events(out.slot() - 1, header);
}

// In the form of the runtime's own rendezvous at the start of a run: raise the
// peer's semaphore, wait for the peer's raise and take it back. The wait of the
// source comes first, its update last.
Status lower_core_barrier(const ImageInputs& in, const isa::CoreBarrierRecord& barrier,
                          RecordBuilder& out) {
  const nrtp_arch_plugin& arch = *in.arch;
  if (in.lnc_size < 2) {
    return Status::invalid("needs a program on two physical cores, this one has one");
  }
  const std::uint8_t reserved = arch.sync->id[NRTP_SYNC_RESERVED_SEMAPHORES];
  if (barrier.semaphore < reserved || barrier.semaphore >= arch.geometry->semaphores) {
    return Status::invalid("uses semaphore {}; programs have {} to {}", barrier.semaphore, reserved,
                           arch.geometry->semaphores - 1);
  }
  const auto semaphore = static_cast<std::uint8_t>(barrier.semaphore);
  auto arrive = isa::zero_record<isa::WriteRecord>(isa::kOpWrite);
  arrive.h = barrier.h;
  arrive.h.opcode = isa::kOpWrite;
  arrive.h.update_mode = isa::kUpdateNone;
  arrive.h.update_index = 0;
  arrive.size0 = 4;
  arrive.address0 =
      arch.address->sem_addr(in.product, in.peer_core, barrier.semaphore, NRTP_SEM_INC);
  arrive.data0 = 1;
  if (arrive.address0 == UINT64_MAX) {
    return Status::failure("arch {} has no window for semaphore {} of core {}", arch.name,
                           barrier.semaphore, in.peer_core);
  }
  out.append(arrive);
  out.semaphore(semaphore, isa::kWaitSemGe, 1, isa::kUpdateSemDec, 1);
  if (barrier.h.update_mode == isa::kUpdateNone) return Status::ok();
  auto passed = isa::zero_record<isa::ControlRecord>(isa::kOpNop);
  passed.h.update_mode = barrier.h.update_mode;
  passed.h.update_index = barrier.h.update_index;
  const bool has_operand = barrier.h.update_mode == isa::kUpdateSemAdd ||
                           barrier.h.update_mode == isa::kUpdateSemSub ||
                           barrier.h.update_mode == isa::kUpdateSemWrite;
  if (has_operand) passed.h.value = barrier.h.value;
  out.append(passed);
  return Status::ok();
}

Status lower_act_func_set(const ImageInputs& in, std::uint32_t engine,
                          const ActFuncSetRecord& record, RecordBuilder& out) {
  if (engine != NRTP_ENGINE_ACT) {
    return Status::invalid("stands in the stream of {}; only ACT has activation tables",
                           engine_text(engine));
  }
  ONRT_TRY(check_zero(record.r0, 44));
  const auto name = name_in(record.set);
  if (!name) {
    return Status::invalid("the name of the set has no end within {} bytes", sizeof record.set);
  }
  const auto& sets = in.subgraph->act_sets;
  const auto found =
      std::find_if(sets.begin(), sets.end(), [&](const auto& set) { return set.name == *name; });
  if (found == sets.end()) {
    return Status::invalid(
        "names activation set '{}'; {} lists {} sets in its "
        "activation_function_sets, not this one",
        *name, in.subgraph->name, sets.size());
  }
  auto load = isa::zero_record<isa::ControlRecord>(isa::kOpActivationTableLoad);
  load.act_set_index = static_cast<std::uint8_t>(found - sets.begin());
  out.append(load);
  out.take_events(out.slot() - 1, record.h);
  return Status::ok();
}

std::optional<QueueName> find_queue_name(const ImageInputs& in, std::string_view name) {
  for (std::size_t q = 0; q < in.queues.size(); ++q) {
    if (in.queues[q].set->name == name) return QueueName{q, std::nullopt};
  }
  for (std::size_t q = 0; q < in.queues.size(); ++q) {
    const auto& instances = in.queues[q].set->instances;
    const auto found = std::find(instances.begin(), instances.end(), name);
    if (found != instances.end()) {
      return QueueName{q, static_cast<std::size_t>(found - instances.begin())};
    }
  }
  return std::nullopt;
}

Result<QueueName> swapped_instance(const ImageInputs& in, const SwapQueueSetRecord& record) {
  ONRT_TRY(check_zero(record.r0, 44));
  if (record.swap != 1) {
    return Status::invalid("bytes 60 to 63 hold {}; 1 is the swap that is known", record.swap);
  }
  const auto name = name_in(record.queue);
  if (!name) return Status::invalid("the name has no end within {} bytes", sizeof record.queue);
  auto found = find_queue_name(in, *name);
  if (!found) {
    return Status::invalid("names '{}', which is no queue set or instance of {}", *name,
                           in.subgraph->name);
  }
  const neff::QueueSet& set = *in.queues[found->queue].set;
  if (set.instances.size() < 2) {
    return Status::invalid("queue set '{}' has no several queue_instances to switch between",
                           set.name);
  }
  if (found->instance) {
    if (record.instance != 0) {
      return Status::invalid(
          "byte 59 is {} beside the instance '{}': going on where an instance stopped is not "
          "supported by this release",
          record.instance, *name);
    }
    return *found;
  }
  if (record.instance >= set.instances.size()) {
    return Status::invalid("instance {} of queue set '{}', which has {}", record.instance, set.name,
                           set.instances.size());
  }
  found->instance = record.instance;
  return *found;
}

void DmaProgress::started(std::uint32_t semaphore, std::uint32_t amount) {
  semaphores_[semaphore].total += amount;
}

Status DmaProgress::append_waits(const ImageInputs& in, std::uint32_t engine, RecordBuilder& out) {
  if (!unseen_.empty()) {
    return Status::invalid("{} raises no semaphore that could be waited for", unseen_);
  }
  for (auto& [semaphore, count] : semaphores_) {
    if (count.waited == count.total) continue;
    for (const QueuePlacement& queue : in.queues) {
      const neff::QueueSet& set = *queue.set;
      const bool foreign = set.owner && static_cast<std::uint32_t>(*set.owner) != engine;
      if (foreign && std::find(set.semaphores.begin(), set.semaphores.end(), semaphore) !=
                         set.semaphores.end()) {
        return Status::invalid(
            "semaphore {} also counts queue set '{}' of {}: its value does not tell which DMA is "
            "complete",
            semaphore, set.name, engine_text(static_cast<std::uint32_t>(*set.owner)));
      }
    }
    if (count.total > INT32_MAX) {
      return Status::invalid("semaphore {} would reach {}, beyond 32 bits", semaphore, count.total);
    }
    out.semaphore(static_cast<std::uint8_t>(semaphore), isa::kWaitSemGe,
                  static_cast<std::uint32_t>(count.total), isa::kUpdateNone, 0);
    count.waited = count.total;
  }
  return Status::ok();
}

}  // namespace opennrt::tdrv::image
