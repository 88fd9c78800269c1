/* SPDX-License-Identifier: Apache-2.0 */
/* A client that knows the runtime by symbol names alone: LIBNRT MODEL.neff */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include "nrt/nrt.h"
#include "nrt/nrt_experimental.h"
#define USE(name) __typeof__(&name) p_##name = (__typeof__(&name))dlsym(lib, #name)
#define DO(call) if ((call) != NRT_SUCCESS) { fprintf(stderr, "%s\n", #call); return 1; }
int main(int argc, char **argv) {
  void *lib = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (lib == NULL) { fprintf(stderr, "%s\n", argc == 3 ? dlerror() : "usage"); return 2; }
  USE(nrt_get_total_nc_count); USE(nrt_init); USE(nrt_close); USE(nrt_load); USE(nrt_unload);
  USE(nrt_get_model_tensor_info); USE(nrt_free_model_tensor_info); USE(nrt_allocate_tensor_set);
  USE(nrt_add_tensor_to_tensor_set); USE(nrt_tensor_allocate); USE(nrt_tensor_write);
  USE(nrt_tensor_read); USE(nrt_tensor_free); USE(nrt_destroy_tensor_set); USE(nrt_execute);
  uint32_t cores = 0;
  DO(p_nrt_get_total_nc_count(&cores)) /* before nrt_init */
  FILE *file = fopen(argv[2], "rb");
  static char neff[1 << 20];
  size_t size = file ? fread(neff, 1, sizeof neff, file) : 0;
  nrt_model_t *model; nrt_tensor_info_array_t *info; nrt_tensor_set_t *sets[2]; nrt_tensor_t *t[3];
  DO(p_nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""))
  DO(p_nrt_load(neff, size, -1, -1, &model))
  DO(p_nrt_get_model_tensor_info(model, &info))
  DO(p_nrt_allocate_tensor_set(&sets[0])) DO(p_nrt_allocate_tensor_set(&sets[1]))
  size_t bytes = info->tensor_array[0].size, wrong = 0;
  float *v[3] = {malloc(bytes), malloc(bytes), malloc(bytes)};
  for (size_t k = 0; k < bytes / 4; ++k) { v[0][k] = (float)k * 0.5f; v[1][k] = 3.0f - (float)k; }
  for (int i = 0; i < 3; ++i) {
    const nrt_tensor_info_t *x = &info->tensor_array[i];
    DO(p_nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, x->size, x->name, &t[i]))
    if (i < 2) DO(p_nrt_tensor_write(t[i], v[i], 0, bytes))
    DO(p_nrt_add_tensor_to_tensor_set(sets[x->usage], x->name, t[i]))
  }
  DO(p_nrt_execute(model, sets[0], sets[1]))
  DO(p_nrt_tensor_read(t[2], v[2], 0, bytes))
  for (size_t k = 0; k < bytes / 4; ++k) wrong += v[2][k] != v[0][k] + v[1][k];
  for (int i = 0; i < 3; ++i) { p_nrt_tensor_free(&t[i]); free(v[i]); }
  p_nrt_free_model_tensor_info(info); p_nrt_destroy_tensor_set(&sets[0]); p_nrt_destroy_tensor_set(&sets[1]);
  DO(p_nrt_unload(model)) p_nrt_close(); fclose(file);
  printf("%u cores before init, %zu sums, %zu wrong, dlclose %d\n", cores, bytes / 4, wrong, dlclose(lib));
  return wrong != 0;
}
