# SPDX-License-Identifier: Apache-2.0
# A recorded run replays; a changed one is told its first divergence.
. "$(dirname "$0")/../lib.sh"
echo "$(gtest "$ACCEPT_RELEASE" port_trace_test) cases"
