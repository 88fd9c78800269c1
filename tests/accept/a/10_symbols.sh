# Exported names, version nodes, struct layouts.
. "$(dirname "$0")/../lib.sh"
(cd "$ACCEPT_RELEASE" && ctest -L abi --output-on-failure) >/tmp/abi.$$ || { cat /tmp/abi.$$; exit 1; }
names=$(nm -D --defined-only "$ACCEPT_RELEASE/lib/libnrt.so.1" | grep -c '@@NRT_')
echo "$names exported functions; $(grep 'tests passed' /tmp/abi.$$)"; rm -f /tmp/abi.$$
