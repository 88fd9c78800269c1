/* SPDX-License-Identifier: Apache-2.0
 *
 * A client that forks. Before nrt_init: every process initialises for itself
 * and takes another core. After nrt_init: the child may use nothing, is told so
 * by every call and cannot initialise again; the parent goes on. A child that
 * executes a new program starts from the beginning.
 *
 *   fork_client MODEL.neff      (adds two float32 vectors)
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "nrt/nrt.h"
#include "nrt/nrt_experimental.h"

#define EXPECT(call, want)                                                              \
  do {                                                                                  \
    const long got_ = (long)(call);                                                     \
    if (got_ != (long)(want)) {                                                         \
      fprintf(stderr, "%s: %s is %ld, expected %ld\n", who, #call, got_, (long)(want)); \
      _exit(1);                                                                         \
    }                                                                                   \
  } while (0)

static const char* who = "parent";
static char neff[8 << 20];
static size_t neff_size;

struct client {
  nrt_model_t* model;
  nrt_tensor_info_array_t* info;
  nrt_tensor_set_t* sets[2]; /* by usage */
  nrt_tensor_t* tensors[3];  /* a, b, sum */
};

static void open_client(struct client* c) {
  memset(c, 0, sizeof *c);
  EXPECT(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
  EXPECT(nrt_load(neff, neff_size, 0, 1, &c->model), NRT_SUCCESS);
  EXPECT(nrt_get_model_tensor_info(c->model, &c->info), NRT_SUCCESS);
  EXPECT(c->info->tensor_count, 3);
  for (int i = 0; i < 2; ++i) EXPECT(nrt_allocate_tensor_set(&c->sets[i]), NRT_SUCCESS);
  for (int i = 0; i < 3; ++i) {
    const nrt_tensor_info_t* t = &c->info->tensor_array[i];
    EXPECT(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, t->size, t->name, &c->tensors[i]),
           NRT_SUCCESS);
    EXPECT(nrt_add_tensor_to_tensor_set(c->sets[t->usage], t->name, c->tensors[i]), NRT_SUCCESS);
  }
}

/* Numbers that depend on `seed`: nobody finds the sums of another call. */
static void add(struct client* c, int seed) {
  const size_t bytes = c->info->tensor_array[0].size, count = bytes / sizeof(float);
  float *a = malloc(bytes), *b = malloc(bytes), *sum = malloc(bytes);
  for (size_t k = 0; k < count; ++k) {
    a[k] = 0.1f * (float)(k % 5003) + (float)seed;
    b[k] = -0.3f * (float)(k % 257) * (float)(seed + 1);
  }
  EXPECT(nrt_tensor_write(c->tensors[0], a, 0, bytes), NRT_SUCCESS);
  EXPECT(nrt_tensor_write(c->tensors[1], b, 0, bytes), NRT_SUCCESS);
  EXPECT(nrt_execute(c->model, c->sets[0], c->sets[1]), NRT_SUCCESS);
  EXPECT(nrt_tensor_read(c->tensors[2], sum, 0, bytes), NRT_SUCCESS);
  size_t wrong = 0;
  for (size_t k = 0; k < count; ++k) wrong += sum[k] != a[k] + b[k];
  EXPECT(wrong, 0);
  printf("%s: %zu sums are right\n", who, count);
  fflush(stdout);
  free(a);
  free(b);
  free(sum);
}

static void close_client(struct client* c) {
  for (int i = 0; i < 3; ++i) nrt_tensor_free(&c->tensors[i]);
  for (int i = 0; i < 2; ++i) nrt_destroy_tensor_set(&c->sets[i]);
  EXPECT(nrt_free_model_tensor_info(c->info), NRT_SUCCESS);
  EXPECT(nrt_unload(c->model), NRT_SUCCESS);
  nrt_close();
}

static void must_succeed(pid_t child) {
  int status = 0;
  EXPECT(waitpid(child, &status, 0), child);
  EXPECT(WIFEXITED(status), 1);
  EXPECT(WEXITSTATUS(status), 0);
}

/* Two children of a parent that has not initialised: both work, on a core each. */
static void fork_before_init(void) {
  pid_t children[2];
  for (int i = 0; i < 2; ++i) {
    children[i] = fork();
    if (children[i] == 0) {
      who = i == 0 ? "first child" : "second child";
      setenv("NEURON_RT_VISIBLE_CORES", i == 0 ? "0" : "1", 1);
      struct client mine;
      open_client(&mine);
      add(&mine, 10 + i);
      close_client(&mine);
      _exit(0);
    }
  }
  for (int i = 0; i < 2; ++i) must_succeed(children[i]);
}

/* The child of an initialised parent. */
static void child_after_init(struct client* c) {
  who = "child after nrt_init";
  nrt_tensor_t* tensor = c->tensors[2];
  nrt_tensor_set_t* set = c->sets[0];
  nrt_model_t* model = NULL;
  uint32_t cores = 0;
  float x = 0;
  EXPECT(nrt_execute(c->model, c->sets[0], c->sets[1]), NRT_FAILURE);
  EXPECT(nrt_load(neff, neff_size, 0, 1, &model), NRT_FAILURE);
  EXPECT(nrt_tensor_read(tensor, &x, 0, sizeof x), NRT_FAILURE);
  EXPECT(nrt_tensor_write(NULL, NULL, 0, 0), NRT_FAILURE); /* the state comes first */
  EXPECT(nrt_unload(c->model), NRT_FAILURE);
  EXPECT(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_FAILURE);
  EXPECT(nrt_tensor_get_va(tensor) == NULL, 1);
  EXPECT(nrt_get_visible_nc_count(&cores), NRT_SUCCESS); /* what the parent has found */
  EXPECT(cores > 0, 1);
  nrt_tensor_free(&tensor); /* nothing of the parent is released */
  nrt_destroy_tensor_set(&set);
  nrt_close();
  EXPECT(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_FAILURE); /* also after nrt_close */
  _exit(0);
}

/* fork and exec is the way to a runtime of its own, here on the other core. */
static void child_that_executes(char** argv) {
  setenv("NEURON_RT_VISIBLE_CORES", "1", 1);
  char* const words[] = {argv[0], argv[1], "alone", NULL};
  execv(argv[0], words);
  perror(argv[0]);
  _exit(1);
}

int main(int argc, char** argv) {
  FILE* file = argc > 1 ? fopen(argv[1], "rb") : NULL;
  neff_size = file != NULL ? fread(neff, 1, sizeof neff, file) : 0;
  if (neff_size == 0) {
    fprintf(stderr, "usage: %s MODEL.neff\n", argv[0]);
    return 2;
  }
  fclose(file);
  struct client mine;
  if (argc == 3) {
    who = "new program";
    open_client(&mine);
    add(&mine, 30);
    close_client(&mine);
    return 0;
  }
  fork_before_init();

  setenv("NEURON_RT_VISIBLE_CORES", "0", 1);
  open_client(&mine);
  add(&mine, 1);
  pid_t child = fork();
  if (child == 0) child_after_init(&mine);
  add(&mine, 2); /* beside the child */
  must_succeed(child);
  add(&mine, 3);
  child = fork();
  if (child == 0) child_that_executes(argv);
  add(&mine, 4);
  must_succeed(child);
  close_client(&mine);

  /* A closed parent is uninitialised, its child still is not a fresh process. */
  EXPECT(nrt_unload(mine.model), NRT_UNINITIALIZED);
  child = fork();
  if (child == 0) {
    who = "child after nrt_close";
    EXPECT(nrt_unload(mine.model), NRT_FAILURE);
    EXPECT(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_FAILURE);
    _exit(0);
  }
  must_succeed(child);
  open_client(&mine);
  add(&mine, 5);
  close_client(&mine);
  return 0;
}
