# cayman, mariana and inf1 NEFFs are refused naming built-for and running-on.
. "$(dirname "$0")/../lib.sh"
n=$(gtest "$ACCEPT_RELEASE" capi_corpus_test '*ForeignNeff*')
echo "$n refusals"
