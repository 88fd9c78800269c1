/* SPDX-License-Identifier: Apache-2.0
 *
 * A client that is not linked with the runtime: it opens the library by its
 * name, looks every function up, and closes the library again; all of it twice
 * in one process, as network providers do. Headers give the types only.
 *
 *   LD_LIBRARY_PATH=<libnrt.so.1's folder> dlopen_twice MODEL.neff
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "nrt/nrt.h"
#include "nrt/nrt_experimental.h"
#include "nrt/nrt_version.h"

#define FUNCTIONS(F)              \
  F(nrt_get_version)              \
  F(nrt_get_total_nc_count)       \
  F(nrt_init)                     \
  F(nrt_close)                    \
  F(nrt_load)                     \
  F(nrt_unload)                   \
  F(nrt_get_model_tensor_info)    \
  F(nrt_free_model_tensor_info)   \
  F(nrt_tensor_allocate)          \
  F(nrt_tensor_free)              \
  F(nrt_tensor_get_va)            \
  F(nrt_tensor_read)              \
  F(nrt_memcpy_to_device)         \
  F(nrt_allocate_tensor_set)      \
  F(nrt_add_tensor_to_tensor_set) \
  F(nrt_destroy_tensor_set)       \
  F(nrt_execute)

/* One pointer for each function: api.nrt_init(...). */
static struct {
#define MEMBER(name) __typeof__(&(name)) name;
  FUNCTIONS(MEMBER)
#undef MEMBER
} api;

#define CHECK(call)                                              \
  do {                                                           \
    const NRT_STATUS status_ = (call);                           \
    if (status_ != NRT_SUCCESS) {                                \
      fprintf(stderr, "%s failed: status %d\n", #call, status_); \
      exit(1);                                                   \
    }                                                            \
  } while (0)

static void* open_library(void) {
  void* library = dlopen("libnrt.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
#define LOOK_UP(name)                                     \
  *(void**)&api.name = dlsym(library, #name);             \
  if (api.name == NULL) {                                 \
    fprintf(stderr, "%s is not in the library\n", #name); \
    exit(1);                                              \
  }
  FUNCTIONS(LOOK_UP)
#undef LOOK_UP
  return library;
}

/* a[k] + b[k], with numbers that differ from round to round. */
static float input(int which, size_t k, int round) {
  return which == 0 ? 0.37f * (float)(k % 1000) - (float)round : 1.5e-3f * (float)(k * 7 % 4096);
}

static size_t add_vectors(const void* neff, size_t size, int round) {
  nrt_model_t* model = NULL;
  nrt_tensor_info_array_t* info = NULL;
  nrt_tensor_set_t* sets[2] = {NULL, NULL}; /* by usage */
  nrt_tensor_t* tensors[3] = {NULL, NULL, NULL};
  CHECK(api.nrt_load(neff, size, 0, 1, &model));
  CHECK(api.nrt_get_model_tensor_info(model, &info));
  if (info->tensor_count != 3) {
    fprintf(stderr, "the model does not add two vectors\n");
    exit(1);
  }
  for (int i = 0; i < 2; ++i) CHECK(api.nrt_allocate_tensor_set(&sets[i]));
  const size_t bytes = info->tensor_array[0].size, count = bytes / sizeof(float);
  float* values = malloc(bytes);
  for (int i = 0; i < 3; ++i) {
    const nrt_tensor_info_t* t = &info->tensor_array[i];
    CHECK(api.nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, t->size, t->name, &tensors[i]));
    CHECK(api.nrt_add_tensor_to_tensor_set(sets[t->usage], t->name, tensors[i]));
    for (size_t k = 0; k < count; ++k) values[k] = i < 2 ? input(i, k, round) : -1.0f;
    /* Through the address that the CPU sees the device memory at. */
    CHECK(api.nrt_memcpy_to_device(api.nrt_tensor_get_va(tensors[i]), values, bytes));
  }
  CHECK(api.nrt_execute(model, sets[0], sets[1]));
  CHECK(api.nrt_tensor_read(tensors[2], values, 0, bytes));
  size_t wrong = 0;
  for (size_t k = 0; k < count; ++k) wrong += values[k] != input(0, k, round) + input(1, k, round);
  printf("round %d: %zu sums, %zu wrong\n", round, count, wrong);
  free(values);
  for (int i = 0; i < 3; ++i) api.nrt_tensor_free(&tensors[i]);
  for (int i = 0; i < 2; ++i) api.nrt_destroy_tensor_set(&sets[i]);
  CHECK(api.nrt_free_model_tensor_info(info));
  CHECK(api.nrt_unload(model));
  return wrong;
}

int main(int argc, char** argv) {
  static char neff[8 << 20];
  FILE* file = argc == 2 ? fopen(argv[1], "rb") : NULL;
  const size_t size = file != NULL ? fread(neff, 1, sizeof neff, file) : 0;
  if (size == 0) {
    fprintf(stderr, "usage: %s MODEL.neff\n", argv[0]);
    return 2;
  }
  size_t wrong = 0;
  for (int round = 0; round < 2; ++round) {
    void* library = open_library();
    nrt_version_t version;
    uint32_t cores = 0;
    CHECK(api.nrt_get_version(&version, sizeof version));
    CHECK(api.nrt_get_total_nc_count(&cores)); /* works before nrt_init */
    printf("%s, %u cores\n", version.rt_detail, cores);
    CHECK(api.nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
    wrong += add_vectors(neff, size, round);
    api.nrt_close();
    if (dlclose(library) != 0) {
      fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
  }
  return wrong == 0 ? 0 : 1;
}
