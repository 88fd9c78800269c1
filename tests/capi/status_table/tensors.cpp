// SPDX-License-Identifier: Apache-2.0
//
// Tensors and tensor sets.
#include <errno.h>

#include <array>

#include "table.h"

namespace opennrt::status_table {
namespace {

nrt_tensor_t* tensor(Report& r, nrt_tensor_placement_t placement, int vnc, std::size_t bytes) {
  nrt_tensor_t* t = nullptr;
  r.need(nrt_tensor_allocate(placement, vnc, bytes, "t", &t) == NRT_SUCCESS, "a tensor");
  return t;
}

int allocate(nrt_tensor_placement_t placement, int vnc, std::size_t bytes) {
  nrt_tensor_t* t = nullptr;
  const NRT_STATUS status = nrt_tensor_allocate(placement, vnc, bytes, "t", &t);
  nrt_tensor_free(&t);
  return status;
}

int found(const void* p) { return p != nullptr ? kAnswer : kNeutral; }

int batch(bool write, Objects& o) {
  char bytes[8] = {};
  const nrt_tensor_batch_op_t op{0, sizeof bytes, bytes};
  const nrt_tensor_batch_t one{o.a, &op, 1};
  return write ? nrt_tensor_write_batch(&one, 1, false) : nrt_tensor_read_batch(&one, 1, false);
}

const std::array kProbes = {
    Probe{"nrt_tensor_allocate", Guard::kFull,
          [](Objects&) { return allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 64); }},
    Probe{"nrt_tensor_allocate_empty", Guard::kFull,
          [](Objects&) -> int {
            nrt_tensor_t* t = nullptr;
            const NRT_STATUS status = nrt_tensor_allocate_empty("t", &t);
            nrt_tensor_free(&t);
            return status;
          }},
    Probe{"nrt_tensor_attach_buffer", Guard::kFull,
          [](Objects&) -> int {
            char buffer[16];
            nrt_tensor_t* t = nullptr;
            nrt_tensor_allocate_empty("t", &t);
            const NRT_STATUS status = nrt_tensor_attach_buffer(t, buffer, sizeof buffer);
            nrt_tensor_free(&t);
            return status;
          }},
    Probe{"nrt_tensor_allocate_slice", Guard::kFull,
          [](Objects& o) -> int {
            nrt_tensor_t* slice = nullptr;
            const NRT_STATUS status = nrt_tensor_allocate_slice(o.a, 4, 8, "s", &slice);
            nrt_tensor_free(&slice);
            return status;
          }},
    Probe{"nrt_tensor_free",
          Guard::kFullVoid,
          [](Objects&) -> int {
            nrt_tensor_t* t = nullptr;
            nrt_tensor_allocate_empty("t", &t);
            nrt_tensor_free(&t);
            return t == nullptr ? kDone : kNeutral;
          },
          {kDone}},
    Probe{"nrt_tensor_read", Guard::kFull,
          [](Objects& o) -> int {
            char byte = 0;
            return nrt_tensor_read(o.a, &byte, 0, 1);
          }},
    Probe{"nrt_tensor_write", Guard::kFull,
          [](Objects& o) -> int {
            const char byte = 0;
            return nrt_tensor_write(o.a, &byte, 0, 1);
          }},
    Probe{"nrt_tensor_read_batch", Guard::kFull, [](Objects& o) { return batch(false, o); }},
    Probe{"nrt_tensor_write_batch", Guard::kFull, [](Objects& o) { return batch(true, o); }},
    Probe{"nrt_tensor_memset", Guard::kFull,
          [](Objects& o) -> int { return nrt_tensor_memset(o.a, 0, 0, 16); }},
    Probe{"nrt_tensor_copy", Guard::kFull,
          [](Objects& o) -> int { return nrt_tensor_copy(o.a, 0, o.b, 0, 16); }},
    Probe{"nrt_tensor_get_size",
          Guard::kNone,
          [](Objects& o) { return nrt_tensor_get_size(o.a) != 0 ? kAnswer : kNeutral; },
          {kAnswer},
          {},
          {kNeutral}},
    Probe{"nrt_tensor_get_va",
          Guard::kProbe,
          [](Objects& o) { return found(nrt_tensor_get_va(o.a)); },
          {kAnswer}},
    Probe{"nrt_tensor_get_device_allocation_info", Guard::kFull,
          [](Objects& o) -> int {
            nrt_tensor_device_allocation_info_t info;
            return nrt_tensor_get_device_allocation_info(o.a, &info);
          }},
    Probe{"nrt_tensor_get_lnc_index", Guard::kFull,
          [](Objects& o) -> int {
            int core = 0;
            return nrt_tensor_get_lnc_index(o.a, &core);
          }},
    Probe{"nrt_tensor_check_output_completion",
          Guard::kNone,
          [](Objects& o) -> int { return nrt_tensor_check_output_completion(o.a, 0, 0); },
          {0},
          {},
          {NRT_INVALID}},
    Probe{"nrt_tensor_reset_output_completion",
          Guard::kNone,
          [](Objects& o) -> int { return nrt_tensor_reset_output_completion(o.a); },
          {0},
          {},
          {NRT_INVALID}},
    Probe{"nrt_allocate_tensor_set", Guard::kFull,
          [](Objects&) -> int {
            nrt_tensor_set_t* set = nullptr;
            const NRT_STATUS status = nrt_allocate_tensor_set(&set);
            nrt_destroy_tensor_set(&set);
            return status;
          }},
    Probe{"nrt_destroy_tensor_set",
          Guard::kProbe,
          [](Objects&) -> int {
            nrt_tensor_set_t* set = nullptr;
            nrt_allocate_tensor_set(&set);
            nrt_destroy_tensor_set(&set);
            return set == nullptr ? kDone : kNeutral;
          },
          {kDone}},
    Probe{"nrt_add_tensor_to_tensor_set", Guard::kFull,
          [](Objects& o) -> int { return nrt_add_tensor_to_tensor_set(o.out, "other", o.a); }},
    Probe{"nrt_get_tensor_from_tensor_set", Guard::kFull,
          [](Objects& o) -> int {
            nrt_tensor_t* t = nullptr;
            return nrt_get_tensor_from_tensor_set(o.in, "a", &t);
          }},
};

void making(Report& r) {
  start(r);
  nrt_tensor_t* t = nullptr;
  const char* f = "nrt_tensor_allocate";
  constexpr auto kDevice = NRT_TENSOR_PLACEMENT_DEVICE;
  r.null(f, 3, {NRT_SUCCESS}, nrt_tensor_allocate(kDevice, 0, 16, nullptr, &t));
  nrt_tensor_free(&t);
  r.null(f, 4, {NRT_INVALID}, nrt_tensor_allocate(kDevice, 0, 16, "t", nullptr));
  r.call(f, {NRT_INVALID}, "placement 3", allocate(static_cast<nrt_tensor_placement_t>(3), 0, 16));
  for (const int vnc : {-1, 2, 1 << 30})
    r.call(f, {NRT_INVALID}, "device, logical core " + std::to_string(vnc),
           allocate(kDevice, vnc, 16));
  r.call(f, {NRT_SUCCESS}, "heap, logical core -1", allocate(NRT_TENSOR_PLACEMENT_VIRTUAL, -1, 16));
  r.call(f, {NRT_INVALID}, "size 0", allocate(kDevice, 0, 0));
  r.call(f, {NRT_RESOURCE}, "more than the HBM", allocate(kDevice, 0, std::size_t{1} << 42));
  r.call(f, {NRT_RESOURCE}, "size near 2^64", allocate(kDevice, 0, ~std::size_t{0} - 1));
  r.call(f, {NRT_RESOURCE}, "host, above 4 MiB",
         allocate(NRT_TENSOR_PLACEMENT_HOST, 0, (4u << 20) + 1));
  r.call(f, {NRT_SUCCESS}, "host, 4 MiB", allocate(NRT_TENSOR_PLACEMENT_HOST, 0, 4u << 20));
  r.call(f, {NRT_RESOURCE}, "heap, size near 2^63",
         allocate(NRT_TENSOR_PLACEMENT_VIRTUAL, -1, std::size_t{1} << 62));
  if (NoMemory::possible()) {
    r.call(f, {NRT_RESOURCE}, "host memory exhausted",
           OPENNRT_WITHOUT_MEMORY(nrt_tensor_allocate(kDevice, 0, 16, "t", &t)));
    r.call("nrt_tensor_allocate_empty", {NRT_RESOURCE}, "host memory exhausted",
           OPENNRT_WITHOUT_MEMORY(nrt_tensor_allocate_empty("t", &t)));
  }
  f = "nrt_tensor_allocate_empty";
  r.null(f, 1, {NRT_INVALID}, nrt_tensor_allocate_empty("t", nullptr));
  r.null(f, 0, {NRT_SUCCESS}, nrt_tensor_allocate_empty(nullptr, &t));
  char buffer[64];
  f = "nrt_tensor_attach_buffer";
  r.null(f, 0, {NRT_INVALID}, nrt_tensor_attach_buffer(nullptr, buffer, 64));
  r.null(f, 1, {NRT_INVALID}, nrt_tensor_attach_buffer(t, nullptr, 64));
  r.call(f, {NRT_INVALID}, "size 0", nrt_tensor_attach_buffer(t, buffer, 0));
  f = "nrt_tensor_allocate_slice";
  nrt_tensor_t* slice = nullptr;
  r.call(f, {NRT_INVALID}, "source without storage",
         nrt_tensor_allocate_slice(t, 0, 1, "s", &slice));
  r.call("nrt_tensor_get_va", {kNeutral}, "no storage", found(nrt_tensor_get_va(t)));
  r.call("nrt_tensor_get_size", {kNeutral}, "no storage",
         nrt_tensor_get_size(t) == 0 ? kNeutral : kAnswer);
  r.call("nrt_tensor_attach_buffer", {NRT_SUCCESS}, "64 bytes",
         nrt_tensor_attach_buffer(t, buffer, 64));
  r.null(f, 0, {NRT_INVALID}, nrt_tensor_allocate_slice(nullptr, 0, 1, "s", &slice));
  r.null(f, 4, {NRT_INVALID}, nrt_tensor_allocate_slice(t, 0, 1, "s", nullptr));
  r.call(f, {NRT_INVALID}, "one byte behind the source",
         nrt_tensor_allocate_slice(t, 60, 5, "s", &slice));
  r.call(f, {NRT_INVALID}, "offset and size wrap",
         nrt_tensor_allocate_slice(t, 8, ~std::size_t{0}, "s", &slice));
  r.null(f, 3, {NRT_SUCCESS}, nrt_tensor_allocate_slice(t, 16, 16, nullptr, &slice));
  nrt_tensor_t* of_slice = nullptr;
  r.call(f, {NRT_INVALID}, "behind the view, inside the storage",
         nrt_tensor_allocate_slice(slice, 8, 9, "s", &of_slice));
  if (NoMemory::possible())
    r.call(f, {NRT_RESOURCE}, "host memory exhausted",
           OPENNRT_WITHOUT_MEMORY(nrt_tensor_allocate_slice(t, 0, 1, "s", &of_slice)));
  r.null("nrt_tensor_free", 0, {kDone}, (nrt_tensor_free(nullptr), kDone));
  nrt_tensor_t* none = nullptr;
  r.call("nrt_tensor_free", {kDone}, "pointer to NULL", (nrt_tensor_free(&none), kDone));
  r.null("nrt_tensor_get_size", 0, {kNeutral},
         nrt_tensor_get_size(nullptr) == 0 ? kNeutral : kAnswer);
  r.null("nrt_tensor_get_va", 0, {kNeutral}, found(nrt_tensor_get_va(nullptr)));
  nrt_tensor_device_allocation_info_t info;
  f = "nrt_tensor_get_device_allocation_info";
  r.call(f, {NRT_INVALID}, "host tensor", nrt_tensor_get_device_allocation_info(t, &info));
  r.null(f, 0, {NRT_INVALID}, nrt_tensor_get_device_allocation_info(nullptr, &info));
  r.null(f, 1, {NRT_INVALID}, nrt_tensor_get_device_allocation_info(t, nullptr));
  int core = 0;
  f = "nrt_tensor_get_lnc_index";
  r.null(f, 0, {NRT_INVALID}, nrt_tensor_get_lnc_index(nullptr, &core));
  r.null(f, 1, {NRT_INVALID}, nrt_tensor_get_lnc_index(t, nullptr));
  nrt_tensor_t* const gone = slice;
  nrt_tensor_free(&slice);
  r.call("nrt_tensor_read", {NRT_INVALID}, "freed tensor", nrt_tensor_read(gone, buffer, 0, 1));
  nrt_close();
  // Handles that outlive the runtime.
  nrt_tensor_free(&t);
  r.call("nrt_tensor_free", {kDone}, "after nrt_close", kDone);
}

void moving(Report& r) {
  start(r);
  nrt_tensor_t* const t = tensor(r, NRT_TENSOR_PLACEMENT_DEVICE, 0, 4096);
  nrt_tensor_t* const far = tensor(r, NRT_TENSOR_PLACEMENT_DEVICE, 1, 4096);
  nrt_tensor_t* const host = tensor(r, NRT_TENSOR_PLACEMENT_VIRTUAL, -1, 4096);
  nrt_tensor_t* empty = nullptr;
  r.need(nrt_tensor_allocate_empty("e", &empty) == NRT_SUCCESS, "an empty tensor");
  char b[64] = {};
  constexpr std::size_t kMost = ~std::size_t{0};
  r.null("nrt_tensor_read", 0, {NRT_INVALID}, nrt_tensor_read(nullptr, b, 0, 1));
  r.null("nrt_tensor_read", 1, {NRT_INVALID}, nrt_tensor_read(t, nullptr, 0, 1));
  r.null("nrt_tensor_write", 0, {NRT_INVALID}, nrt_tensor_write(nullptr, b, 0, 1));
  r.null("nrt_tensor_write", 1, {NRT_INVALID}, nrt_tensor_write(t, nullptr, 0, 1));
  r.null("nrt_tensor_memset", 0, {NRT_INVALID}, nrt_tensor_memset(nullptr, 0, 0, 1));
  r.null("nrt_tensor_copy", 0, {NRT_INVALID}, nrt_tensor_copy(nullptr, 0, t, 0, 1));
  r.null("nrt_tensor_copy", 2, {NRT_INVALID}, nrt_tensor_copy(t, 0, nullptr, 0, 1));
  for (const auto& [offset, size, how] :
       {std::tuple{std::size_t{4096}, std::size_t{1}, "one byte behind"},
        {std::size_t{1}, kMost, "offset and size wrap"},
        {kMost, std::size_t{64}, "offset near 2^64"}}) {
    r.call("nrt_tensor_read", {NRT_INVALID}, how, nrt_tensor_read(t, b, offset, size));
    r.call("nrt_tensor_write", {NRT_INVALID}, how, nrt_tensor_write(t, b, offset, size));
    r.call("nrt_tensor_memset", {NRT_INVALID}, how, nrt_tensor_memset(t, offset, 0, size));
    r.call("nrt_tensor_copy", {NRT_INVALID}, how, nrt_tensor_copy(t, offset, host, 0, size));
    r.call("nrt_tensor_copy", {NRT_INVALID}, how, nrt_tensor_copy(host, 0, t, offset, size));
  }
  r.call("nrt_tensor_read", {NRT_INVALID}, "no storage", nrt_tensor_read(empty, b, 0, 1));
  r.call("nrt_tensor_write", {NRT_INVALID}, "no storage", nrt_tensor_write(empty, b, 0, 1));
  r.call("nrt_tensor_memset", {NRT_INVALID}, "no storage", nrt_tensor_memset(empty, 0, 0, 1));
  r.call("nrt_tensor_read", {NRT_SUCCESS}, "nothing at the end", nrt_tensor_read(t, b, 4096, 0));
  r.call("nrt_tensor_write", {NRT_SUCCESS}, "nothing at the end", nrt_tensor_write(t, b, 4096, 0));
  r.call("nrt_tensor_copy", {NRT_INVALID}, "device memory of different HBMs",
         nrt_tensor_copy(t, 0, far, 0, 64));
  r.call("nrt_tensor_copy", {NRT_SUCCESS}, "to the host", nrt_tensor_copy(t, 0, host, 0, 64));
  // The driver refuses every way of copying.
  faults().fail("MEM", EIO, 0);
  const std::initializer_list<int> broken = {NRT_FAILURE, NRT_HW_ERROR};
  r.call("nrt_tensor_read", broken, "copy fails", nrt_tensor_read(t, b, 0, 64));
  r.call("nrt_tensor_write", broken, "copy fails", nrt_tensor_write(t, b, 0, 64));
  r.call("nrt_tensor_memset", broken, "copy fails", nrt_tensor_memset(t, 0, 0, 64));
  r.call("nrt_tensor_copy", broken, "copy fails", nrt_tensor_copy(t, 0, t, 128, 64));
  const nrt_tensor_batch_op_t op{0, sizeof b, b};
  const nrt_tensor_batch_t one{t, &op, 1};
  r.call("nrt_tensor_read_batch", broken, "copy fails", nrt_tensor_read_batch(&one, 1, false));
  r.call("nrt_tensor_write_batch", broken, "copy fails", nrt_tensor_write_batch(&one, 1, false));
  faults().clear();
  r.call("nrt_tensor_read", {NRT_SUCCESS}, "after failures", nrt_tensor_read(t, b, 0, 64));
  r.null("nrt_tensor_check_output_completion", 0, {NRT_INVALID},
         nrt_tensor_check_output_completion(nullptr, 0, 0));
  r.call("nrt_tensor_check_output_completion", {NRT_TIMEOUT}, "too late",
         nrt_tensor_check_output_completion(t, 1000, 1));
  r.null("nrt_tensor_reset_output_completion", 0, {NRT_INVALID},
         nrt_tensor_reset_output_completion(nullptr));
  nrt_close();
}

template <typename F>
void batches_of(Report& r, const char* f, F call) {
  start(r);
  nrt_tensor_t* const t = tensor(r, NRT_TENSOR_PLACEMENT_DEVICE, 0, 4096);
  char b[64] = {};
  nrt_tensor_batch_op_t op{0, sizeof b, b};
  nrt_tensor_batch_t one{t, &op, 1};
  r.null(f, 0, {NRT_INVALID}, call(nullptr, 2, false));
  r.call(f, {NRT_SUCCESS}, "no batches at NULL", call(nullptr, 0, false));
  one.tensor = nullptr;
  r.call(f, {NRT_INVALID}, "tensor NULL", call(&one, 1, false));
  one = {t, nullptr, 1};
  r.call(f, {NRT_INVALID}, "ops NULL", call(&one, 1, false));
  one = {t, &op, 1};
  op.buffer = nullptr;
  r.call(f, {NRT_INVALID}, "buffer NULL", call(&one, 1, false));
  op = {4090, 7, b};
  r.call(f, {NRT_INVALID}, "behind the tensor", call(&one, 1, false));
  r.call(f, {NRT_INVALID}, "behind the tensor, unchecked", call(&one, 1, true));
  op = {8, ~std::uint64_t{0}, b};
  r.call(f, {NRT_INVALID}, "offset and size wrap", call(&one, 1, true));
  op = {0, 64, b};
  r.call(f, {NRT_SUCCESS}, "unchecked", call(&one, 1, true));
  nrt_close();
}

void read_batches(Report& r) { batches_of(r, "nrt_tensor_read_batch", nrt_tensor_read_batch); }
void write_batches(Report& r) { batches_of(r, "nrt_tensor_write_batch", nrt_tensor_write_batch); }

void sets(Report& r) {
  start(r);
  nrt_tensor_t* t = tensor(r, NRT_TENSOR_PLACEMENT_VIRTUAL, -1, 64);
  nrt_tensor_set_t *set = nullptr, *none = nullptr;
  r.null("nrt_allocate_tensor_set", 0, {NRT_INVALID}, nrt_allocate_tensor_set(nullptr));
  if (NoMemory::possible())
    r.call("nrt_allocate_tensor_set", {NRT_RESOURCE}, "host memory exhausted",
           OPENNRT_WITHOUT_MEMORY(nrt_allocate_tensor_set(&set)));
  r.need(nrt_allocate_tensor_set(&set) == NRT_SUCCESS, "a set");
  const char* f = "nrt_add_tensor_to_tensor_set";
  r.null(f, 0, {NRT_INVALID}, nrt_add_tensor_to_tensor_set(nullptr, "x", t));
  r.null(f, 1, {NRT_INVALID}, nrt_add_tensor_to_tensor_set(set, nullptr, t));
  r.null(f, 2, {NRT_INVALID}, nrt_add_tensor_to_tensor_set(set, "x", nullptr));
  if (NoMemory::possible())
    r.call(f, {NRT_RESOURCE}, "host memory exhausted",
           OPENNRT_WITHOUT_MEMORY(nrt_add_tensor_to_tensor_set(
               set, "a name that is longer than any short string optimisation", t)));
  f = "nrt_get_tensor_from_tensor_set";
  nrt_tensor_t* found_tensor = t;
  r.call(f, {NRT_FAILURE}, "no such name", nrt_get_tensor_from_tensor_set(set, "x", &found_tensor));
  r.call("nrt_add_tensor_to_tensor_set", {NRT_SUCCESS}, "after failures",
         nrt_add_tensor_to_tensor_set(set, "x", t));
  r.null(f, 0, {NRT_INVALID}, nrt_get_tensor_from_tensor_set(nullptr, "x", &found_tensor));
  r.null(f, 1, {NRT_INVALID}, nrt_get_tensor_from_tensor_set(set, nullptr, &found_tensor));
  r.null(f, 2, {NRT_INVALID}, nrt_get_tensor_from_tensor_set(set, "x", nullptr));
  r.null("nrt_destroy_tensor_set", 0, {kDone}, (nrt_destroy_tensor_set(nullptr), kDone));
  r.call("nrt_destroy_tensor_set", {kDone}, "pointer to NULL",
         (nrt_destroy_tensor_set(&none), kDone));
  nrt_tensor_set_t* gone = set;
  nrt_destroy_tensor_set(&set);
  r.call("nrt_destroy_tensor_set", {kDone}, "destroyed", (nrt_destroy_tensor_set(&gone), kDone));
  nrt_close();
}

constexpr std::array kScenes = {Scene{"making tensors", making}, Scene{"moving data", moving},
                                Scene{"read batches", read_batches},
                                Scene{"write batches", write_batches}, Scene{"tensor sets", sets}};

}  // namespace

std::span<const Probe> tensors_probes() { return kProbes; }
std::span<const Scene> tensors_scenes() { return kScenes; }

}  // namespace opennrt::status_table
