# SPDX-License-Identifier: Apache-2.0
# Every command that a page or a manual page shows is run, shown output is compared,
# names and links exist; mistakes on purpose are told.
. "$(dirname "$0")/../lib.sh"
arguments=("$(command -v cmake)" "$ACCEPT_ROOT" "$ACCEPT_RELEASE")
/usr/bin/python3 tests/integration/docs_mistakes_test.py "${arguments[@]}"
/usr/bin/python3 tests/integration/docs_test.py "${arguments[@]}"
