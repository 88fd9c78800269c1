// SPDX-License-Identifier: Apache-2.0
#include "api/entry.h"
#include "kmgr/completions.h"

using namespace opennrt;
using namespace opennrt::api;

namespace {

kmgr::Tensors& tensors() { return kmgr::Tensors::instance(); }

nrt_tensor_t* tensor_of(kmgr::TensorHandle handle) {
  return reinterpret_cast<nrt_tensor_t*>(handle);
}

Status copy_batches(Session& s, const nrt_tensor_batch_t* batches, uint64_t count,
                    tdrv::CopyDirection direction, bool unchecked) {
  if (count == 0) return {};
  ONRT_TRY(require(batches, "batches"));
  constexpr uint64_t kMost = 1u << 24;
  if (count > kMost)
    return Status::invalid("num_batches is {}, at most {} are possible", count, kMost);
  return s.manager().copy_batches({batches, count}, direction, unchecked);
}

}  // namespace

extern "C" {

NRT_STATUS nrt_tensor_allocate(nrt_tensor_placement_t tensor_placement, int vnc, size_t size,
                               const char* name, nrt_tensor_t** tensor) {
  return guarded(__func__, [&](Session& s) -> Status {
    ONRT_TRY(require(tensor, "tensor"));
    *tensor = nullptr;
    ONRT_ASSIGN(const kmgr::TensorHandle handle,
                s.manager().allocate_tensor(tensor_placement, vnc, size, name_or_unknown(name)));
    *tensor = tensor_of(handle);
    return {};
  });
}

NRT_STATUS nrt_tensor_allocate_empty(const char* name, nrt_tensor_t** tensor) {
  return guarded(__func__, [&](Session&) -> Status {
    ONRT_TRY(require(tensor, "tensor"));
    *tensor = nullptr;
    ONRT_ASSIGN(const kmgr::TensorHandle handle, tensors().allocate_empty(name_or_unknown(name)));
    *tensor = tensor_of(handle);
    return {};
  });
}

NRT_STATUS nrt_tensor_attach_buffer(nrt_tensor_t* tensor, void* buffer, size_t size) {
  return guarded(__func__, [&](Session&) -> Status {
    ONRT_TRY(require(tensor, "tensor"));
    ONRT_TRY(require(buffer, "buffer"));
    if (size == 0) return Status::invalid("size is 0");
    return tensors().attach(handle_of(tensor), buffer, size);
  });
}

NRT_STATUS nrt_tensor_allocate_slice(const nrt_tensor_t* tensor_source, size_t offset, size_t size,
                                     const char* name, nrt_tensor_t** tensor_slice) {
  return guarded(__func__, [&](Session&) -> Status {
    ONRT_TRY(require(tensor_slice, "tensor_slice"));
    *tensor_slice = nullptr;
    ONRT_TRY(require(tensor_source, "tensor_source"));
    ONRT_ASSIGN(const kmgr::TensorHandle handle,
                tensors().slice(handle_of(tensor_source), offset, size, name_or_unknown(name)));
    *tensor_slice = tensor_of(handle);
    return {};
  });
}

void nrt_tensor_free(nrt_tensor_t** tensor) {
  const Entry entry;
  if (!entry || tensor == nullptr || *tensor == nullptr) return;
  run(__func__, [&]() -> Status {
    tensors().free(handle_of(*tensor));
    *tensor = nullptr;
    return {};
  });
}

NRT_STATUS nrt_tensor_read(const nrt_tensor_t* tensor, void* buf, size_t offset, size_t size) {
  return guarded(__func__, [&](Session&) -> Status {
    ONRT_TRY(require(tensor, "tensor"));
    ONRT_TRY(require(buf, "buf"));
    return tensors().read(handle_of(tensor), buf, offset, size);
  });
}

NRT_STATUS nrt_tensor_write(nrt_tensor_t* tensor, const void* buf, size_t offset, size_t size) {
  return guarded(__func__, [&](Session&) -> Status {
    ONRT_TRY(require(tensor, "tensor"));
    ONRT_TRY(require(buf, "buf"));
    return tensors().write(handle_of(tensor), buf, offset, size);
  });
}

NRT_STATUS nrt_tensor_read_batch(const nrt_tensor_batch_t* batches, uint64_t num_batches,
                                 bool unsafe) {
  return guarded(__func__, [&](Session& s) {
    return copy_batches(s, batches, num_batches, tdrv::CopyDirection::kFromTensor, unsafe);
  });
}

NRT_STATUS nrt_tensor_write_batch(const nrt_tensor_batch_t* batches, uint64_t num_batches,
                                  bool unsafe) {
  return guarded(__func__, [&](Session& s) {
    return copy_batches(s, batches, num_batches, tdrv::CopyDirection::kToTensor, unsafe);
  });
}

NRT_STATUS nrt_tensor_memset(nrt_tensor_t* tensor, uint64_t offset, int value, size_t size) {
  return guarded(__func__, [&](Session&) -> Status {
    ONRT_TRY(require(tensor, "tensor"));
    return tensors().set(handle_of(tensor), static_cast<uint8_t>(value), offset, size);
  });
}

NRT_STATUS nrt_tensor_copy(const nrt_tensor_t* src, size_t src_offset, nrt_tensor_t* dst,
                           size_t dst_offset, size_t size) {
  return guarded(__func__, [&](Session&) -> Status {
    ONRT_TRY(require(src, "src"));
    ONRT_TRY(require(dst, "dst"));
    return tensors().copy(handle_of(src), src_offset, handle_of(dst), dst_offset, size);
  });
}

// In every state: without its tensor a handle is stale, which is found out.
size_t nrt_tensor_get_size(const nrt_tensor_t* tensor) { return tensors().size(handle_of(tensor)); }

void* nrt_tensor_get_va(const nrt_tensor_t* tensor) {
  const Entry entry;
  return entry ? tensors().va(handle_of(tensor)) : nullptr;
}

NRT_STATUS nrt_tensor_get_device_allocation_info(const nrt_tensor_t* tensor,
                                                 nrt_tensor_device_allocation_info_t* alloc_info) {
  return guarded(__func__, [&](Session&) -> Status {
    ONRT_TRY(require(tensor, "tensor"));
    ONRT_TRY(require(alloc_info, "alloc_info"));
    ONRT_ASSIGN(const tdrv::Allocation found, tensors().allocation(handle_of(tensor)));
    *alloc_info = {.physical_address = found.address,
                   .size = found.bytes,
                   .hbm_index = static_cast<int>(found.hbm)};
    return {};
  });
}

NRT_STATUS nrt_tensor_get_lnc_index(const nrt_tensor_t* tensor, int* lnc_idx) {
  return guarded(__func__, [&](Session&) -> Status {
    ONRT_TRY(require(tensor, "tensor"));
    ONRT_TRY(require(lnc_idx, "lnc_idx"));
    ONRT_ASSIGN(*lnc_idx, tensors().logical_core(handle_of(tensor)));
    return {};
  });
}

NRT_STATUS nrt_tensor_check_output_completion(const nrt_tensor_t* output_tensor, int64_t timeout,
                                              uint64_t expected_completion_count) {
  // Each look finds out whether the tensor is still there: nrt_close does not
  // wait for the waiter.
  const auto count = [&]() -> Result<uint64_t> {
    ONRT_ASSIGN(const uint64_t found, tensors().completions(handle_of(output_tensor)));
    // A wait uses locks, and nothing completes in a forked child.
    if (state() == State::kChild && found < expected_completion_count)
      return Status::failure("{} completions of {}, and none can follow in a forked child", found,
                             expected_completion_count);
    return found;
  };
  bool late = false;
  const NRT_STATUS code = unguarded(__func__, [&]() -> Status {
    ONRT_TRY(require(output_tensor, "output_tensor"));
    Status status = kmgr::wait_for_completions(count, timeout, expected_completion_count);
    // No error: whoever polls expects it.
    late = status.code() == NRT_TIMEOUT;
    return late ? Status() : std::move(status);
  });
  return late ? NRT_TIMEOUT : code;
}

NRT_STATUS nrt_tensor_reset_output_completion(nrt_tensor_t* output_tensor) {
  return unguarded(__func__, [&]() -> Status {
    ONRT_TRY(require(output_tensor, "output_tensor"));
    return tensors().reset_completions(handle_of(output_tensor));
  });
}

NRT_STATUS nrt_allocate_tensor_set(nrt_tensor_set_t** result) {
  return guarded(__func__, [&](Session&) -> Status {
    ONRT_TRY(require(result, "result"));
    *result = nullptr;
    ONRT_ASSIGN(const kmgr::TensorSetHandle handle, tensors().allocate_set());
    *result = reinterpret_cast<nrt_tensor_set_t*>(handle);
    return {};
  });
}

void nrt_destroy_tensor_set(nrt_tensor_set_t** tensor_set) {
  const Entry entry;
  if (!entry || tensor_set == nullptr || *tensor_set == nullptr) return;
  run(__func__, [&]() -> Status {
    tensors().free_set(handle_of(*tensor_set));
    *tensor_set = nullptr;
    return {};
  });
}

NRT_STATUS nrt_add_tensor_to_tensor_set(nrt_tensor_set_t* tensor_set, const char* tensor_name,
                                        nrt_tensor_t* tensor) {
  return guarded(__func__, [&](Session&) -> Status {
    ONRT_TRY(require(tensor_set, "tensor_set"));
    ONRT_TRY(require(tensor_name, "tensor_name"));
    ONRT_TRY(require(tensor, "tensor"));
    return tensors().add_to_set(handle_of(tensor_set), tensor_name, handle_of(tensor));
  });
}

NRT_STATUS nrt_get_tensor_from_tensor_set(nrt_tensor_set_t* tensor_set, const char* tensor_name,
                                          nrt_tensor_t** tensor) {
  return guarded(__func__, [&](Session&) -> Status {
    ONRT_TRY(require(tensor_set, "tensor_set"));
    ONRT_TRY(require(tensor_name, "tensor_name"));
    ONRT_TRY(require(tensor, "tensor"));
    ONRT_ASSIGN(const kmgr::TensorHandle handle,
                tensors().get_from_set(handle_of(tensor_set), tensor_name));
    *tensor = tensor_of(handle);
    return {};
  });
}

}  // extern "C"
