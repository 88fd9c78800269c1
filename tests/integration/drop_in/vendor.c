/* SPDX-License-Identifier: Apache-2.0
 *
 * Another libnrt, as found where a program was built for it. */
#include <stddef.h>
#include <string.h>

struct nrt_version;

__attribute__((visibility("default"))) int nrt_get_version(struct nrt_version* version,
                                                           size_t size) {
  memset((void*)version, 0, size);
  return 0;
}
__attribute__((visibility("default"))) int nrta_is_completed(void) { return 0; }
__attribute__((visibility("default"))) int nrt_of_the_future(void) { return 0; }
