# vecadd_*_sunda* bit exact through the C ABI, 1,000 executions, 4 threads, no
# leak (ASan/LSan), no race (TSan).
. "$(dirname "$0")/../lib.sh"
plain=$(gtest "$ACCEPT_RELEASE" capi_corpus_test '*VecAdd*')
leaks=$(gtest "$ACCEPT_ASAN" capi_corpus_test '*VecAdd*')
races=$(gtest "$ACCEPT_TSAN" capi_corpus_test '*VecAdd*')
echo "bit exact: $plain cases release, $leaks asan+ubsan, $races tsan"
