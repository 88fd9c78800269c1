/* SPDX-License-Identifier: Apache-2.0
 *
 * A vector addition that waits: says "ready" with its model loaded, then executes
 * for each line of standard input and says "right" or what was wrong. So packages
 * can be changed below a running process.
 *
 *   patient_client LIBRARY MODEL.neff
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "nrt/nrt.h"
#include "nrt/nrt_experimental.h"

#define FUNCTIONS(F)              \
  F(nrt_init)                     \
  F(nrt_close)                    \
  F(nrt_load)                     \
  F(nrt_unload)                   \
  F(nrt_get_model_tensor_info)    \
  F(nrt_free_model_tensor_info)   \
  F(nrt_tensor_allocate)          \
  F(nrt_tensor_free)              \
  F(nrt_tensor_read)              \
  F(nrt_tensor_write)             \
  F(nrt_allocate_tensor_set)      \
  F(nrt_add_tensor_to_tensor_set) \
  F(nrt_destroy_tensor_set)       \
  F(nrt_execute)

static struct {
#define MEMBER(name) __typeof__(&(name)) name;
  FUNCTIONS(MEMBER)
#undef MEMBER
} api;

#define CHECK(call)                                     \
  do {                                                  \
    const NRT_STATUS status_ = (call);                  \
    if (status_ != NRT_SUCCESS) {                       \
      printf("%s failed: status %d\n", #call, status_); \
      exit(1);                                          \
    }                                                   \
  } while (0)

static void open_library(const char* name) {
  void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    printf("%s\n", dlerror());
    exit(1);
  }
#define LOOK_UP(function)                               \
  *(void**)&api.function = dlsym(library, #function);   \
  if (api.function == NULL) {                           \
    printf("%s has no function %s\n", name, #function); \
    exit(1);                                            \
  }
  FUNCTIONS(LOOK_UP)
#undef LOOK_UP
}

static nrt_model_t* load(const char* path) {
  FILE* file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
    perror(path);
    exit(1);
  }
  const size_t size = (size_t)ftell(file);
  rewind(file);
  void* bytes = malloc(size);
  if (bytes == NULL || fread(bytes, 1, size, file) != size) exit(1);
  fclose(file);
  nrt_model_t* model = NULL;
  CHECK(api.nrt_load(bytes, size, -1, -1, &model));
  free(bytes);
  return model;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  setvbuf(stdout, NULL, _IOLBF, 0);
  open_library(argv[1]);
  CHECK(api.nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  nrt_model_t* model = load(argv[2]);
  nrt_tensor_info_array_t* info = NULL;
  CHECK(api.nrt_get_model_tensor_info(model, &info));
  if (info->tensor_count != 3) return 1;
  const size_t bytes = info->tensor_array[0].size, count = bytes / sizeof(float);
  nrt_tensor_set_t *inputs = NULL, *outputs = NULL;
  CHECK(api.nrt_allocate_tensor_set(&inputs));
  CHECK(api.nrt_allocate_tensor_set(&outputs));
  nrt_tensor_t *in[2] = {NULL, NULL}, *out = NULL;
  int number = 0;
  for (size_t i = 0; i < 3; ++i) {
    const nrt_tensor_info_t* t = &info->tensor_array[i];
    nrt_tensor_t* tensor = NULL;
    CHECK(api.nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, t->size, t->name, &tensor));
    const int is_input = t->usage == NRT_TENSOR_USAGE_INPUT;
    if (is_input && number == 2) return 1;
    if (is_input)
      in[number++] = tensor;
    else
      out = tensor;
    CHECK(api.nrt_add_tensor_to_tensor_set(is_input ? inputs : outputs, t->name, tensor));
  }
  float* values = malloc(bytes);
  if (values == NULL || out == NULL) return 1;
  puts("ready");
  int round = 0;
  for (int c = getchar(); c != EOF; c = getchar()) {
    if (c != '\n') continue;
    ++round;
    for (int side = 0; side < 2; ++side) {
      for (size_t k = 0; k < count; ++k)
        values[k] = (float)(k % 1000) * (side == 0 ? 1 : (float)round);
      CHECK(api.nrt_tensor_write(in[side], values, 0, bytes));
    }
    CHECK(api.nrt_execute(model, inputs, outputs));
    CHECK(api.nrt_tensor_read(out, values, 0, bytes));
    size_t wrong = 0;
    for (size_t k = 0; k < count; ++k) wrong += values[k] != (float)(k % 1000) * (float)(round + 1);
    if (wrong != 0)
      printf("%zu of %zu wrong\n", wrong, count);
    else
      puts("right");
  }
  free(values);
  api.nrt_destroy_tensor_set(&inputs);
  api.nrt_destroy_tensor_set(&outputs);
  for (int side = 0; side < 2; ++side) api.nrt_tensor_free(&in[side]);
  api.nrt_tensor_free(&out);
  api.nrt_free_model_tensor_info(info);
  CHECK(api.nrt_unload(model));
  api.nrt_close();
  puts("closed");
  return 0;
}
