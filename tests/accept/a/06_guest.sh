# The runtime as a guest in a Python process.
. "$(dirname "$0")/../lib.sh"
OPENNRT_DEVICE=emulator /usr/bin/python3 tests/abi/guest/guest_test.py "$ACCEPT_RELEASE/lib/libnrt.so.1" \
  "$ACCEPT_RELEASE/bin/tests/guest_probe.so" "$ACCEPT_RELEASE/bin/tests/guest_clash.so" \
  "$ACCEPT_RELEASE/examples/vecadd.neff" >/tmp/guest.$$ || { cat /tmp/guest.$$; exit 1; }
for so in "$ACCEPT_RELEASE"/lib/libnrt.so.1 "$ACCEPT_RELEASE"/lib/plugins/*.so; do
  ! nm "$so" | grep -q set_fast_math || { echo "$so links a -ffast-math object"; exit 1; }
done
tail -n 1 /tmp/guest.$$; rm -f /tmp/guest.$$
