# SPDX-License-Identifier: Apache-2.0
# A program of raw open, ioctl and mmap gives the same results in process, over
# the daemon and under `opennrt emu`; a child's exit leaves the parent alone.
. "$(dirname "$0")/../lib.sh"
echo "$(gtest "$ACCEPT_RELEASE" emu_raw_client_test) cases, same results three ways"
