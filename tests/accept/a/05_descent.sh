# Port calls of one execution, register path, layer trace, name table.
. "$(dirname "$0")/../lib.sh"
n=$(gtest "$ACCEPT_RELEASE" descent_test '*')
for name in nrt_init kmgr_load dlr_model_set H_NN tpb_xu hw_exec_queue dmem vring instruction_block \
  dve_dynamic_config 'ISA validator' hal_platform csr ndl _cm nlog 'device book' 'interned strings'; do
  grep -q "| *\`\?$name\`\? *|" core/README.md || { echo "core/README.md lacks a row for $name"; exit 1; }
done
echo "$n descent cases, 18 names mapped"
