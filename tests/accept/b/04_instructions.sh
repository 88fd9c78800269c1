# SPDX-License-Identifier: Apache-2.0
# At least 120 of the table's opcodes execute and are unit-tested; the others
# refuse with the reason that the table lists.
. "$(dirname "$0")/../lib.sh"
gtest "$ACCEPT_RELEASE" instruction_support_test '*' >/dev/null
summary=$("$ACCEPT_RELEASE/bin/opennrt" isa --summary | tail -n 1)
executed=${summary%% *}
if ! [ "$executed" -ge 120 ]; then
  echo "$summary; 120 are needed"
  exit 1
fi
echo "$summary"
