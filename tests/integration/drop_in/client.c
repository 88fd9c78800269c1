/* SPDX-License-Identifier: Apache-2.0
 *
 * Says which libnrt it got: the path, and whether a call into it works. Linked with
 * one, or with OPEN_NAME opening that. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

#include "nrt/nrt.h"
#include "nrt/nrt_async.h"
#include "nrt/nrt_version.h"

#ifdef OPEN_NAME
static void* function(void) {
  void* library = dlopen(OPEN_NAME, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) printf("%s\n", dlerror());
  return library != NULL ? dlsym(library, "nrt_get_version") : NULL;
}
#else
int nrt_of_the_future(void);
static void* function(void) {
#ifdef NEEDS_3
  /* Bound when the program starts (-z now). */
  void* volatile keep = (void*)(uintptr_t)&nrta_is_completed;
  if (keep == NULL) return NULL;
#endif
#ifdef NEEDS_9
  void* volatile future = (void*)(uintptr_t)&nrt_of_the_future;
  if (future == NULL) return NULL;
#endif
  return (void*)(uintptr_t)&nrt_get_version;
}
#endif

int main(void) {
  void* address = function();
  Dl_info info;
  if (address == NULL || dladdr(address, &info) == 0) return 3;
  nrt_version_t version;
  NRT_STATUS (*get)(nrt_version_t*, size_t) =
      (NRT_STATUS(*)(nrt_version_t*, size_t))(uintptr_t)address;
  const NRT_STATUS status = get(&version, sizeof version);
  printf("%s %d\n", info.dli_fname, (int)status);
  return 0;
}
