# SPDX-License-Identifier: Apache-2.0
# The packages are installed, changed and purged in a clean root; models run there.
. "$(dirname "$0")/../lib.sh"
bash tests/packages/documents_test.sh "$ACCEPT_RELEASE/bin" "$ACCEPT_RELEASE/man" packaging/completion/opennrt
bash tests/packages/packages_test.sh . "$ACCEPT_RELEASE/bin/tests/doubles"
