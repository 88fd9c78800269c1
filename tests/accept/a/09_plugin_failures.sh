# Missing manifest, truncated library, other major, hidden member: one clear line
# each, nrt_init fails with the documented status.
. "$(dirname "$0")/../lib.sh"
n=$(gtest "$ACCEPT_RELEASE" plugin_failure_test '*')
echo "$n plugin failures"
