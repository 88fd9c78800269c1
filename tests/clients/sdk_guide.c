/* SPDX-License-Identifier: Apache-2.0
 *
 * A client linked with libnrt.so.1, as runtime guides show it: load a compiled
 * model, ask for its tensors, allocate them by name, fill the inputs from files,
 * execute, write the outputs to files.
 *
 *   sdk_guide MODEL.neff            lists the tensors
 *   sdk_guide MODEL.neff FOLDER     reads FOLDER/<input>.in, writes FOLDER/<output>.out
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "nrt/nrt.h"
#include "nrt/nrt_experimental.h"

#define CHECK(call)                                              \
  do {                                                           \
    const NRT_STATUS status_ = (call);                           \
    if (status_ != NRT_SUCCESS) {                                \
      fprintf(stderr, "%s failed: status %d\n", #call, status_); \
      exit(1);                                                   \
    }                                                            \
  } while (0)

static void die(const char* path, const char* what) {
  fprintf(stderr, "%s: %s\n", path, what);
  exit(1);
}

static void* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (file == NULL) die(path, "cannot be opened");
  fseek(file, 0, SEEK_END);
  const long length = ftell(file);
  rewind(file);
  void* bytes = malloc(length > 0 ? (size_t)length : 1);
  if (length < 0 || bytes == NULL || fread(bytes, 1, (size_t)length, file) != (size_t)length)
    die(path, "cannot be read");
  fclose(file);
  *size = (size_t)length;
  return bytes;
}

static void write_file(const char* path, const void* bytes, size_t size) {
  FILE* file = fopen(path, "wb");
  if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0)
    die(path, "cannot be written");
}

/* FOLDER/<tensor>.<ending> */
static const char* path_of(const char* folder, const nrt_tensor_info_t* info, const char* ending) {
  static char path[4096];
  const int length = snprintf(path, sizeof path, "%s/%s.%s", folder, info->name, ending);
  if (length < 0 || (size_t)length >= sizeof path) die(folder, "name is too long");
  return path;
}

static void list(const nrt_tensor_info_array_t* tensors) {
  for (uint64_t i = 0; i < tensors->tensor_count; ++i) {
    const nrt_tensor_info_t* info = &tensors->tensor_array[i];
    printf("%s %s dtype %d, %zu bytes, shape", info->usage == NRT_TENSOR_USAGE_INPUT ? "in" : "out",
           info->name, (int)info->dtype, info->size);
    for (uint32_t d = 0; d < info->ndim; ++d) printf(" %" PRIu32, info->shape[d]);
    printf("\n");
  }
}

static void load_input(nrt_tensor_t* tensor, const nrt_tensor_info_t* info, const char* folder) {
  const char* path = path_of(folder, info, "in");
  size_t size = 0;
  void* bytes = read_file(path, &size);
  if (size != info->size) die(path, "is not as long as the tensor");
  CHECK(nrt_tensor_write(tensor, bytes, 0, size));
  free(bytes);
}

static void save_output(nrt_tensor_t* tensor, const nrt_tensor_info_t* info, const char* folder) {
  void* bytes = malloc(info->size);
  if (bytes == NULL) die(info->name, "out of memory");
  CHECK(nrt_tensor_read(tensor, bytes, 0, info->size));
  write_file(path_of(folder, info, "out"), bytes, info->size);
  free(bytes);
}

static void run(nrt_model_t* model, const nrt_tensor_info_array_t* tensors, const char* folder) {
  nrt_tensor_set_t *inputs = NULL, *outputs = NULL;
  CHECK(nrt_allocate_tensor_set(&inputs));
  CHECK(nrt_allocate_tensor_set(&outputs));
  for (uint64_t i = 0; i < tensors->tensor_count; ++i) {
    const nrt_tensor_info_t* info = &tensors->tensor_array[i];
    const int is_input = info->usage == NRT_TENSOR_USAGE_INPUT;
    nrt_tensor_t* tensor = NULL;
    CHECK(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, info->size, info->name, &tensor));
    CHECK(nrt_add_tensor_to_tensor_set(is_input ? inputs : outputs, info->name, tensor));
    if (is_input) load_input(tensor, info, folder);
  }

  CHECK(nrt_execute(model, inputs, outputs));

  for (uint64_t i = 0; i < tensors->tensor_count; ++i) {
    const nrt_tensor_info_t* info = &tensors->tensor_array[i];
    const int is_input = info->usage == NRT_TENSOR_USAGE_INPUT;
    nrt_tensor_t* tensor = NULL;
    CHECK(nrt_get_tensor_from_tensor_set(is_input ? inputs : outputs, info->name, &tensor));
    if (!is_input) save_output(tensor, info, folder);
    nrt_tensor_free(&tensor);
  }
  nrt_destroy_tensor_set(&inputs);
  nrt_destroy_tensor_set(&outputs);
}

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    fprintf(stderr, "usage: %s MODEL.neff [FOLDER]\n", argv[0]);
    return 2;
  }
  CHECK(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));

  size_t size = 0;
  void* neff = read_file(argv[1], &size);
  nrt_model_t* model = NULL;
  CHECK(nrt_load(neff, size, -1, -1, &model));
  free(neff); /* the model does not need the file any more */

  nrt_tensor_info_array_t* tensors = NULL;
  CHECK(nrt_get_model_tensor_info(model, &tensors));
  if (argc == 2)
    list(tensors);
  else
    run(model, tensors, argv[2]);

  CHECK(nrt_free_model_tensor_info(tensors));
  CHECK(nrt_unload(model));
  nrt_close();
  return 0;
}
