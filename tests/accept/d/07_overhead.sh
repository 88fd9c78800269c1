# SPDX-License-Identifier: Apache-2.0
# One request in process at most 1 us, through the daemon at most 15 us median;
# copies through the daemon at least 70 % of memcpy.
. "$(dirname "$0")/../lib.sh"
"$ACCEPT_RELEASE/bin/bench/opennrt_driver_bench" --limits
