// SPDX-License-Identifier: Apache-2.0
//
// The public functions of the data store, for programs that find them in the
// symbol table. The runtime's own writing is nds/process_store.h.
#include <errno.h>
#include <unistd.h>

#include <bit>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <variant>

#include "nds/slab.h"
#include "nrt/nds/neuron_ds.h"

using namespace opennrt::nds;

struct nds_instance {
  ndl_device_t* device = nullptr;
  pid_t pid = 0;        // 0: the slab of this process
  pid_t opened_by = 0;  // a forked child has no mapping
  void* data = nullptr;
  size_t bytes = 0;
  Slab slab;
  std::mutex mutex;  // records

  int readable() const { return getpid() == opened_by ? 0 : -EACCES; }
  int writable() const {
    if (const int error = readable()) return error;
    return pid == 0 ? 0 : -EPERM;
  }
};

namespace {

// A record and where it is or will be.
struct Object {
  nds_instance* instance = nullptr;
  int slot = -1;  // of a model that was committed through this object
  std::variant<ModelRecord, ProcessInfoRecord, ProcessInfoExtRecord> record;
};

Object* object_of(nds_obj_handle_t handle) { return static_cast<Object*>(handle); }

template <typename Record>
Record* record_of(nds_obj_handle_t handle) {
  return handle == nullptr ? nullptr : std::get_if<Record>(&object_of(handle)->record);
}

template <typename Record>
nds_obj_handle_t read_record(nds_instance_t* inst, size_t offset) {
  if (inst == nullptr || inst->readable() != 0) return nullptr;
  Record record{};
  inst->slab.read(offset, &record);
  if (record.hash == 0) return nullptr;  // never published
  return new (std::nothrow) Object{.instance = inst, .slot = -1, .record = record};
}

template <typename Change>
int change(const nds_instance_t* inst, Change change) {
  if (inst == nullptr) return -EINVAL;
  const int error = inst->writable();
  return error != 0 ? error : change(inst->slab);
}

int read_counter(const nds_instance_t* inst, const uint64_t* counter, uint64_t* value) {
  const int error = inst->readable();
  return error != 0 ? error : load(counter, value);
}

}  // namespace

extern "C" {

int nds_open(ndl_device_t* device, pid_t pid, nds_instance_t** inst) {
  if (device == nullptr || inst == nullptr || pid < 0) return -EINVAL;
  std::unique_ptr<nds_instance> made(new (std::nothrow) nds_instance);
  if (!made) return -ENOMEM;
  if (const int error = ndl_nds_open(device, pid, &made->data, &made->bytes)) return error;
  made->device = device;
  made->pid = pid;
  made->opened_by = getpid();
  made->slab = Slab(made->data, made->bytes);
  int error = made->slab ? 0 : -EINVAL;
  if (error == 0 && pid == 0)
    made->slab.commit_header();
  else if (error == 0)
    error = made->slab.check_header();
  if (error != 0) {
    ndl_nds_close(device, pid, made->data, made->bytes);
    return error;
  }
  *inst = made.release();
  return 0;
}

int nds_close(nds_instance_t* inst) {
  if (inst == nullptr) return -EINVAL;
  const int error = ndl_nds_close(inst->device, inst->pid, inst->data, inst->bytes);
  delete inst;
  return error;
}

int nds_increment_nc_counter(nds_instance_t* inst, int pnc_index, uint32_t counter_index,
                             uint64_t increment) {
  return change(inst, [&](const Slab& slab) {
    return add(slab.core_counter(pnc_index, counter_index), increment);
  });
}

int nds_decrement_nc_counter(nds_instance_t* inst, int pnc_index, uint32_t counter_index,
                             uint64_t decrement) {
  return change(inst, [&](const Slab& slab) {
    return subtract(slab.core_counter(pnc_index, counter_index), decrement);
  });
}

int nds_get_nc_counter(nds_instance_t* inst, int pnc_index, uint32_t counter_index,
                       uint64_t* value) {
  if (inst == nullptr) return -EINVAL;
  return read_counter(inst, inst->slab.core_counter(pnc_index, counter_index), value);
}

int nds_set_nc_counter(nds_instance_t* inst, int pnc_index, uint32_t counter_index,
                       uint64_t* value) {
  if (value == nullptr) return -EINVAL;
  return change(inst, [&](const Slab& slab) {
    return store(slab.core_counter(pnc_index, counter_index), *value);
  });
}

int nds_increment_nd_counter(nds_instance_t* inst, uint32_t counter_index, uint64_t increment) {
  return change(
      inst, [&](const Slab& slab) { return add(slab.device_counter(counter_index), increment); });
}

int nds_decrement_nd_counter(nds_instance_t* inst, uint32_t counter_index, uint64_t decrement) {
  return change(inst, [&](const Slab& slab) {
    return subtract(slab.device_counter(counter_index), decrement);
  });
}

int nds_or_nd_counter(nds_instance_t* inst, uint32_t counter_index, uint64_t bit_index) {
  return change(inst, [&](const Slab& slab) {
    return set_bit(slab.device_counter(counter_index), bit_index);
  });
}

int nds_get_nd_counter(nds_instance_t* inst, uint32_t counter_index, uint64_t* value) {
  if (inst == nullptr) return -EINVAL;
  return read_counter(inst, inst->slab.device_counter(counter_index), value);
}

int nds_set_nd_counter(nds_instance_t* inst, uint32_t counter_index, uint64_t* value) {
  if (value == nullptr) return -EINVAL;
  return change(
      inst, [&](const Slab& slab) { return store(slab.device_counter(counter_index), *value); });
}

nds_obj_handle_t nds_obj_new(nds_instance_t* inst, int type) {
  if (inst == nullptr) return nullptr;
  auto* object = new (std::nothrow) Object{.instance = inst, .slot = -1, .record = {}};
  if (object == nullptr) return nullptr;
  switch (type) {
    case OBJECT_TYPE_MODEL_NODE_INFO:
      return object;
    case OBJECT_TYPE_PROCESS_INFO:
      object->record = ProcessInfoRecord{};
      return object;
    case OBJECT_TYPE_PROCESS_INFO_EXT:
      object->record = ProcessInfoExtRecord{};
      return object;
    default:
      delete object;
      return nullptr;
  }
}

int nds_obj_commit(nds_obj_handle_t obj) {
  if (obj == nullptr) return -EINVAL;
  Object& object = *object_of(obj);
  nds_instance& inst = *object.instance;
  if (const int error = inst.writable()) return error;
  const std::lock_guard lock(inst.mutex);
  if (const auto* process = std::get_if<ProcessInfoRecord>(&object.record)) {
    inst.slab.publish(kProcessInfoAt, *process);
  } else if (const auto* extended = std::get_if<ProcessInfoExtRecord>(&object.record)) {
    inst.slab.publish(kProcessInfoExtAt, *extended);
  } else {
    if (object.slot < 0) {
      const int slot = inst.slab.take_model();
      if (slot < 0) return slot;
      object.slot = slot;
    }
    inst.slab.publish(Slab::model_offset(static_cast<uint32_t>(object.slot)),
                      std::get<ModelRecord>(object.record));
  }
  return 0;
}

int nds_obj_delete(nds_obj_handle_t obj) {
  if (obj == nullptr) return -EINVAL;
  const std::unique_ptr<Object> object(object_of(obj));
  nds_instance& inst = *object->instance;
  if (object->slot < 0) return 0;
  if (const int error = inst.writable()) return error;
  const std::lock_guard lock(inst.mutex);
  inst.slab.drop_model(static_cast<uint32_t>(object->slot));
  return 0;
}

nds_model_node_info_t* nds_obj_handle_to_model_node_info(nds_obj_handle_t obj) {
  auto* record = record_of<ModelRecord>(obj);
  return record == nullptr ? nullptr : &record->info;
}

nds_model_node_mem_usage_info_t* nds_obj_handle_to_model_node_mem_usage(nds_obj_handle_t obj) {
  auto* record = record_of<ModelRecord>(obj);
  return record == nullptr ? nullptr : &record->memory;
}

nds_process_info_t* nds_obj_handle_to_process_info(nds_obj_handle_t obj) {
  auto* record = record_of<ProcessInfoRecord>(obj);
  return record == nullptr ? nullptr : &record->info;
}

nds_process_info_ext_t* nds_obj_handle_to_process_info_ext(nds_obj_handle_t obj) {
  auto* record = record_of<ProcessInfoExtRecord>(obj);
  return record == nullptr ? nullptr : &record->info;
}

int nds_read_all_model_nodes(nds_instance_t* inst, nds_obj_handle_t** models, size_t* count) {
  if (inst == nullptr || models == nullptr || count == nullptr) return -EINVAL;
  if (const int error = inst->readable()) return error;
  *models = nullptr;
  *count = 0;
  const uint64_t map = inst->slab.model_map();
  if (map == 0) return 0;
  const auto slots = static_cast<size_t>(std::popcount(map));
  auto** found = static_cast<nds_obj_handle_t*>(std::calloc(slots, sizeof(nds_obj_handle_t)));
  if (found == nullptr) return -ENOMEM;
  size_t n = 0;
  for (uint32_t slot = 0; slot < kModels; ++slot) {
    if ((map >> slot & 1) == 0) continue;
    // A record whose slot is taken and not yet written is left out.
    if (nds_obj_handle_t object = read_record<ModelRecord>(inst, Slab::model_offset(slot)))
      found[n++] = object;
  }
  if (n == 0) {
    std::free(found);
    found = nullptr;
  }
  *models = found;
  *count = n;
  return 0;
}

nds_obj_handle_t nds_read_process_info(nds_instance_t* inst) {
  return read_record<ProcessInfoRecord>(inst, kProcessInfoAt);
}

nds_obj_handle_t nds_read_process_info_ext(nds_instance_t* inst) {
  return read_record<ProcessInfoExtRecord>(inst, kProcessInfoExtAt);
}

}  // extern "C"
