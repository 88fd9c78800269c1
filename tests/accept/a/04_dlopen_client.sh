# A 40-line C client with dlsym only; init/close 100 times neither leaks nor slows.
. "$(dirname "$0")/../lib.sh"
client=tests/abi/dlopen_client.c
lines=$(grep -cvE '^\s*$|^\s*/\*' $client)
out=$("$ACCEPT_RELEASE/bin/tests/dlopen_client" "$ACCEPT_RELEASE/lib/libnrt.so.1" "$OPENNRT_CORPUS/vecadd_1tile_sunda.neff")
n=$(gtest "$ACCEPT_ASAN" capi_test 'CapiInit.InitCloseHundredTimes')
echo "$out; client of $lines lines; init/close x100: $n case, no leak"
