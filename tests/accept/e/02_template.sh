# SPDX-License-Identifier: Apache-2.0
# The template of a backend builds, passes its tests, installs and runs from the
# installed development files alone, in less than five minutes.
. "$(dirname "$0")/../lib.sh"
/usr/bin/python3 tests/integration/template_test.py "$(command -v cmake)" "$ACCEPT_ROOT" \
  "$ACCEPT_RELEASE"
