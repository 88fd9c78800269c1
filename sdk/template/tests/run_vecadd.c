/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the vector addition on every core and checks each sum.
 * Argument: vecadd.neff. */
#include <nrt/nrt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 128000, BYTES = COUNT * (int)sizeof(float) };

static float a[COUNT], b[COUNT], sum[COUNT];

#define CHECK(call)                                           \
  do {                                                        \
    const NRT_STATUS status = (call);                         \
    if (status != NRT_SUCCESS) {                              \
      fprintf(stderr, "%s: status %d\n", #call, (int)status); \
      exit(1);                                                \
    }                                                         \
  } while (0)

static void* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    perror(path);
    exit(1);
  }
  static char bytes[1 << 20];
  *size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  return bytes;
}

static nrt_tensor_t* make_tensor(int core, const char* name, const float* values,
                                 nrt_tensor_set_t* set) {
  nrt_tensor_t* tensor = NULL;
  CHECK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, core, BYTES, name, &tensor));
  CHECK(nrt_tensor_write(tensor, values, 0, BYTES));
  CHECK(nrt_add_tensor_to_tensor_set(set, name, tensor));
  return tensor;
}

static int wrong_sums(const void* neff, size_t size, int core) {
  nrt_model_t* model = NULL;
  CHECK(nrt_load(neff, size, core, 1, &model));
  nrt_tensor_set_t *inputs = NULL, *outputs = NULL;
  CHECK(nrt_allocate_tensor_set(&inputs));
  CHECK(nrt_allocate_tensor_set(&outputs));
  for (int i = 0; i < COUNT; ++i) {
    a[i] = (float)(i % 1009) + (float)core;
    b[i] = 0.25f * (float)(i % 4093);
    sum[i] = -1;
  }
  nrt_tensor_t* tensors[] = {make_tensor(core, "a", a, inputs), make_tensor(core, "b", b, inputs),
                             make_tensor(core, "out", sum, outputs)};
  for (int run = 0; run < 3; ++run) CHECK(nrt_execute(model, inputs, outputs));
  CHECK(nrt_tensor_read(tensors[2], sum, 0, BYTES));
  int wrong = 0;
  for (int i = 0; i < COUNT; ++i) wrong += sum[i] != a[i] + b[i];
  for (size_t i = 0; i < sizeof tensors / sizeof tensors[0]; ++i) nrt_tensor_free(&tensors[i]);
  nrt_destroy_tensor_set(&inputs);
  nrt_destroy_tensor_set(&outputs);
  CHECK(nrt_unload(model));
  return wrong;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  size_t size = 0;
  void* neff = read_file(argv[1], &size);
  CHECK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
  uint32_t cores = 0;
  CHECK(nrt_get_visible_vnc_count(&cores));
  int wrong = 0;
  for (uint32_t core = 0; core < cores; ++core) {
    const int of_core = wrong_sums(neff, size, (int)core);
    printf("core %u: %d sums, %d wrong\n", core, COUNT, of_core);
    wrong += of_core;
  }
  nrt_close();
  return wrong != 0 || cores == 0;
}
