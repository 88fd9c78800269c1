/* SPDX-License-Identifier: Apache-2.0
 *
 * State of the calling thread that a guest library must leave alone.
 */
#include <fenv.h>
#include <stdint.h>
#include <xmmintrin.h>

__attribute__((visibility("default"))) uint32_t probe_mxcsr(void) {
  return _mm_getcsr() & ~0x3Fu; /* without the sticky exception flags */
}
__attribute__((visibility("default"))) int probe_rounding(void) { return fegetround(); }
