/* SPDX-License-Identifier: Apache-2.0
 *
 * Linked statically. */
int main(void) { return 0; }
