/* SPDX-License-Identifier: Apache-2.0
 *
 * The C library's hint that a process has one thread, which reference counts
 * consult. Archives that are not fully position independent need it inside this
 * library; "several threads" is always right.
 */
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;
