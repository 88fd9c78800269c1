/* SPDX-License-Identifier: Apache-2.0
 *
 * Two copies of the library in one process, as when a framework brings its own:
 * each works, neither gets the other's core, closing one leaves the other alone. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "nrt/nrt.h"

struct copy {
  NRT_STATUS (*init)(nrt_framework_type_t, const char*, const char*);
  void (*close)(void);
  NRT_STATUS (*count)(uint32_t*);
};

static int load(const char* path, struct copy* out) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    printf("%s\n", dlerror());
    return 0;
  }
  out->init = (NRT_STATUS(*)(nrt_framework_type_t, const char*, const char*))(uintptr_t)dlsym(
      library, "nrt_init");
  out->close = (void (*)(void))(uintptr_t)dlsym(library, "nrt_close");
  out->count = (NRT_STATUS(*)(uint32_t*))(uintptr_t)dlsym(library, "nrt_get_visible_nc_count");
  return out->init != NULL && out->close != NULL && out->count != NULL;
}

int main(int argc, char** argv) {
  struct copy a, b;
  if (argc != 3 || !load(argv[1], &a) || !load(argv[2], &b)) return 3;
  if (a.init == b.init) {
    printf("one copy\n");
    return 4;
  }
  uint32_t cores = 0;
  /* They share the device, as two processes do. */
  setenv("NEURON_RT_VISIBLE_CORES", "0", 1);
  const NRT_STATUS first = a.init(NRT_FRAMEWORK_TYPE_NO_FW, "", "");
  const NRT_STATUS taken = b.init(NRT_FRAMEWORK_TYPE_NO_FW, "", "");
  setenv("NEURON_RT_VISIBLE_CORES", "1", 1);
  const NRT_STATUS second = b.init(NRT_FRAMEWORK_TYPE_NO_FW, "", "");
  printf("init %d, same core %d, other core %d\n", (int)first, (int)taken, (int)second);
  printf("count %d", (int)a.count(&cores));
  printf(" %d %u\n", (int)b.count(&cores), cores);
  a.close();
  printf("after close %d\n", (int)b.count(&cores));
  b.close();
  return 0;
}
