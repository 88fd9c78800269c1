# SPDX-License-Identifier: Apache-2.0
# 1,000,000 executions and 10,000 loads from several threads: memory and file
# descriptors stay flat (1 %).
. "$(dirname "$0")/../lib.sh"
"$ACCEPT_RELEASE/bin/tests/soak" --executions 1000000 --loads 10000
