# SPDX-License-Identifier: Apache-2.0
# 16 processes, 2 devices, init/load/execute/kill -9 for ten minutes: right
# numbers, resources of the dead return, memory and descriptors of the daemon
# stay flat; the 17th process is told who holds the device.
. "$(dirname "$0")/../lib.sh"
"$ACCEPT_RELEASE/bin/tests/emud_crowd" --seconds "${CROWD_SECONDS:-600}" --processes 16 --devices 2
