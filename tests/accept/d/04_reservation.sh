# SPDX-License-Identifier: Apache-2.0
# Cores that one process holds are refused to another with pid and command of
# the holder; visible-cores settings split a device.
. "$(dirname "$0")/../lib.sh"
echo "$(gtest "$ACCEPT_RELEASE" emud_runtime_test '*Reservation*') reservation cases"
