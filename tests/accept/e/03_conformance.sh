# SPDX-License-Identifier: Apache-2.0
# The conformance kit names the rule that each of 25 mistakes of a plugin author breaks,
# and finds nothing wrong with the template. Doubles fail what they break and no more.
. "$(dirname "$0")/../lib.sh"
/usr/bin/python3 tests/integration/conform_doubles_test.py "$ACCEPT_RELEASE/bin/opennrt-conform" \
  "$ACCEPT_RELEASE/bin/opennrt-conform-checks" "$ACCEPT_RELEASE/lib/plugins" \
  "$ACCEPT_RELEASE/bin/tests/doubles"
/usr/bin/python3 tests/conformance/mistakes_test.py "$(command -v cmake)" "$ACCEPT_ROOT" \
  "$ACCEPT_RELEASE"
