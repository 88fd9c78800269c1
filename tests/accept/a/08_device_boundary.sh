# The demo never touches /dev/neuron*; kernel mode without a device explains itself.
. "$(dirname "$0")/../lib.sh"
log=$(mktemp)
OPENNRT_DEVICE=emulator strace -f -o "$log" "$ACCEPT_RELEASE/bin/vecadd_demo" "$ACCEPT_RELEASE/examples/vecadd.neff" 10 >/dev/null
calls=$(wc -l <"$log")
! grep -q '/dev/neuron' "$log" || { grep /dev/neuron "$log" | head; exit 1; }
rm -f "$log"
n=$(gtest "$ACCEPT_RELEASE" capi_test 'CapiInit.KernelWithoutADeviceSaysWhatIsMissing')
m=$(gtest "$ACCEPT_RELEASE" ndl_test 'ProbeTest.NodeMissing:ProbeTest.NoPermission:ProbeTest.ModuleNotLoaded')
echo "$calls system calls, none on /dev/neuron*; $((n + m)) cases of a missing device"
