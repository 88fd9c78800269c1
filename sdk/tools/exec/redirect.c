/* SPDX-License-Identifier: Apache-2.0
 *
 * An audit library of the loader (rtld-audit(7)): whoever asks for a libnrt, by
 * name or by path, linked or with dlopen, gets the one beside this file. Nothing
 * else is touched. The loader keeps it in a namespace of its own, so that the
 * program sees none of its symbols. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

static char target[PATH_MAX];

static void find_target(void) {
  static const char kName[] = "libnrt.so.1";
  Dl_info info;
  if (dladdr((void*)&find_target, &info) == 0 || info.dli_fname == NULL) return;
  const char* slash = strrchr(info.dli_fname, '/');
  if (slash == NULL) return;
  const size_t directory = (size_t)(slash + 1 - info.dli_fname);
  if (directory + sizeof kName > sizeof target) return;
  memcpy(target, info.dli_fname, directory);
  memcpy(target + directory, kName, sizeof kName);
}

static int is_libnrt(const char* name) {
  const char* slash = strrchr(name, '/');
  const char* file = slash != NULL ? slash + 1 : name;
  return strcmp(file, "libnrt.so") == 0 || strcmp(file, "libnrt.so.1") == 0 ||
         strncmp(file, "libnrt.so.1.", 12) == 0;
}

EXPORT unsigned int la_version(unsigned int version) {
  find_target();
  return version < LAV_CURRENT ? version : LAV_CURRENT;
}

EXPORT char* la_objsearch(const char* name, uintptr_t* cookie, unsigned int flag) {
  (void)cookie;
  if (flag == LA_SER_ORIG && target[0] != '\0' && is_libnrt(name)) return target;
  return (char*)(uintptr_t)name;
}
