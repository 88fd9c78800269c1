# SPDX-License-Identifier: Apache-2.0
# At least 120 of the table's opcodes execute and are unit-tested; the others
# refuse with the reason that the table lists.
. "$(dirname "$0")/../lib.sh"
gtest "$ACCEPT_RELEASE" instruction_support_test '*' >/dev/null
"$ACCEPT_RELEASE/bin/opennrt" isa --summary | tee /dev/stderr | awk '/execute/ { n = $1 } END { exit n < 120 }'
"$ACCEPT_RELEASE/bin/opennrt" isa --summary | tail -n 1
