/* SPDX-License-Identifier: Apache-2.0 */
/* A client that knows the runtime by symbol names alone: LIBNRT VECADD.neff */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include "nrt/nrt_experimental.h"
#define CALL(name, ...) \
  if (((__typeof__(&name))dlsym(lib, #name))(__VA_ARGS__)) return fprintf(stderr, #name "\n"), 1
#define VOID(name, ...) ((__typeof__(&name))dlsym(lib, #name))(__VA_ARGS__)
static char neff[1 << 20];
int main(int argc, char** argv) {
  void* lib = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  FILE* file = argc == 3 ? fopen(argv[2], "rb") : NULL;
  if (lib == NULL || file == NULL) return fprintf(stderr, "usage: LIBNRT VECADD.neff\n"), 2;
  size_t size = fread(neff, 1, sizeof neff, file), wrong = 0;
  uint32_t cores = 0;
  nrt_model_t* model = NULL;
  nrt_tensor_info_array_t* info = NULL;
  nrt_tensor_set_t* sets[2] = {NULL};
  nrt_tensor_t* t[3] = {NULL};
  CALL(nrt_get_total_nc_count, &cores); /* before nrt_init */
  CALL(nrt_init, NRT_FRAMEWORK_TYPE_NO_FW, "", "");
  CALL(nrt_load, neff, size, -1, -1, &model);
  CALL(nrt_get_model_tensor_info, model, &info);
  for (int i = 0; i < 2; ++i) CALL(nrt_allocate_tensor_set, &sets[i]);
  const size_t bytes = info->tensor_array[0].size;
  float *v = malloc(3 * bytes), *a = v, *b = v + bytes / 4, *sum = b + bytes / 4;
  for (size_t k = 0; k < bytes / 4; ++k) a[k] = (float)k * 0.5f, b[k] = 3.0f - (float)k;
  for (int i = 0; i < 3; ++i) {
    const nrt_tensor_info_t* x = &info->tensor_array[i];
    CALL(nrt_tensor_allocate, NRT_TENSOR_PLACEMENT_DEVICE, 0, bytes, x->name, &t[i]);
    CALL(nrt_tensor_write, t[i], (char*)v + (size_t)i * bytes, 0, bytes);
    CALL(nrt_add_tensor_to_tensor_set, sets[x->usage], x->name, t[i]);
  }
  CALL(nrt_execute, model, sets[0], sets[1]);
  CALL(nrt_tensor_read, t[2], sum, 0, bytes);
  for (size_t k = 0; k < bytes / 4; ++k) wrong += sum[k] != a[k] + b[k];
  CALL(nrt_unload, model);
  VOID(nrt_close);
  printf("%u cores, %zu sums, %zu wrong, dlclose %d\n", cores, bytes / 4, wrong, dlclose(lib));
  return wrong != 0;
}
