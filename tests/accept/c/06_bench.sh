# SPDX-License-Identifier: Apache-2.0
# Launch path against its limits, peers in the same run.
. "$(dirname "$0")/../lib.sh"
"$ACCEPT_RELEASE/bin/bench/opennrt_launch_bench" --limits
