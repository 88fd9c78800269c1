/* SPDX-License-Identifier: Apache-2.0
 *
 * The smallest complete client: load a vector-add model, run it, check it.
 * Usage: vecadd_demo MODEL.neff [EXECUTIONS]
 */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "nrt/nrt.h"
#include "nrt/nrt_experimental.h"
#include "nrt/nrt_version.h"

#define MAX_TENSORS 8

#define NAME "vecadd_demo: "

static void check(NRT_STATUS status, const char* what) {
  if (status == NRT_SUCCESS) return;
  fprintf(stderr, NAME "%s failed with status %d\n", what, (int)status);
  exit(1);
}

static void* read_file(const char* path, size_t* size) {
  struct stat info;
  const char* why = NULL;
  FILE* file = NULL;
  void* bytes = NULL;
  *size = 0;
  if (stat(path, &info) != 0)
    why = strerror(errno);
  else if (!S_ISREG(info.st_mode))
    why = "is no regular file";
  else if ((file = fopen(path, "rb")) == NULL)
    why = strerror(errno);
  else if ((bytes = malloc((size_t)info.st_size + 1)) == NULL ||
           (*size = fread(bytes, 1, (size_t)info.st_size, file)) != (size_t)info.st_size)
    why = "cannot be read";
  if (why != NULL) {
    fprintf(stderr, NAME "%s: %s\n", path, why);
    exit(1);
  }
  fclose(file);
  return bytes;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char** argv) {
  const int executions = argc > 2 ? atoi(argv[2]) : 1000;
  if (argc < 2 || executions < 1) {
    fprintf(stderr, "usage: %s MODEL.neff [EXECUTIONS]\n", argv[0]);
    return 2;
  }
  size_t size = 0;
  void* neff = read_file(argv[1], &size);

  check(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), "nrt_init");
  nrt_instance_info_t instance;
  uint32_t cores = 0;
  nrt_version_t version;
  check(nrt_get_instance_info(&instance, sizeof instance), "nrt_get_instance_info");
  check(nrt_get_visible_vnc_count(&cores), "nrt_get_visible_vnc_count");
  check(nrt_get_version(&version, sizeof version), "nrt_get_version");
  printf("runtime    %s\n", version.rt_detail);
  printf("device     %s, %u logical cores visible\n", instance.arch_name, cores);

  nrt_model_t* model = NULL;
  check(nrt_load(neff, size, -1, -1, &model), "nrt_load");
  free(neff);
  printf("model      %s (%zu bytes)\n", argv[1], size);

  nrt_tensor_info_array_t* info = NULL;
  check(nrt_get_model_tensor_info(model, &info), "nrt_get_model_tensor_info");
  if (info->tensor_count > MAX_TENSORS) {
    fprintf(stderr, NAME "%s: %zu tensors, this program takes at most %d\n", argv[1],
            (size_t)info->tensor_count, MAX_TENSORS);
    return 1;
  }
  nrt_tensor_set_t *inputs = NULL, *outputs = NULL;
  check(nrt_allocate_tensor_set(&inputs), "nrt_allocate_tensor_set");
  check(nrt_allocate_tensor_set(&outputs), "nrt_allocate_tensor_set");
  nrt_tensor_t* tensors[MAX_TENSORS] = {NULL};
  float* values[MAX_TENSORS] = {NULL};
  size_t output = MAX_TENSORS;
  for (size_t i = 0; i < info->tensor_count; ++i) {
    const nrt_tensor_info_t* t = &info->tensor_array[i];
    const size_t count = t->size / sizeof(float);
    const int is_input = t->usage == NRT_TENSOR_USAGE_INPUT;
    printf("%s     %s, %zu float32\n", is_input ? "input " : "output", t->name, count);
    check(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, t->size, t->name, &tensors[i]),
          "nrt_tensor_allocate");
    values[i] = malloc(t->size);
    for (size_t k = 0; k < count; ++k)
      values[i][k] = is_input ? (float)rand() / (float)RAND_MAX - 0.5f : -1.0f;
    check(nrt_tensor_write(tensors[i], values[i], 0, t->size), "nrt_tensor_write");
    check(nrt_add_tensor_to_tensor_set(is_input ? inputs : outputs, t->name, tensors[i]),
          "nrt_add_tensor_to_tensor_set");
    if (!is_input) output = i;
  }

  check(nrt_execute(model, inputs, outputs), "nrt_execute");
  const double start = seconds();
  check(nrt_execute_repeat(model, inputs, outputs, executions), "nrt_execute_repeat");
  const double elapsed = seconds() - start;

  size_t wrong = 0, count = 0;
  if (output == 2) {
    count = info->tensor_array[output].size / sizeof(float);
    check(nrt_tensor_read(tensors[output], values[output], 0, count * sizeof(float)),
          "nrt_tensor_read");
    for (size_t k = 0; k < count; ++k) wrong += values[output][k] != values[0][k] + values[1][k];
    printf("checked    %zu sums, %zu wrong\n", count, wrong);
  } else {
    printf("not a vector addition: outputs not checked\n");
  }
  printf("time       %.1f us per execution (mean of %d)\n", elapsed / executions * 1e6, executions);

  for (size_t i = 0; i < MAX_TENSORS; ++i) {
    nrt_tensor_free(&tensors[i]);
    free(values[i]);
  }
  nrt_destroy_tensor_set(&inputs);
  nrt_destroy_tensor_set(&outputs);
  nrt_free_model_tensor_info(info);
  check(nrt_unload(model), "nrt_unload");
  nrt_close();
  return wrong == 0 ? 0 : 1;
}
