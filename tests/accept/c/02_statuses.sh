# SPDX-License-Identifier: Apache-2.0
# Each function reaches success, its documented failures and every guard state;
# the table of function and status is made by the tests.
. "$(dirname "$0")/../lib.sh"
"$ACCEPT_RELEASE/bin/tests/api_status_table" --check
