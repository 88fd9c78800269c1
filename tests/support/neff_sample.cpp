// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "support/neff_builder.h"

namespace opennrt::testing {
namespace {

constexpr const char* kDefinition = R"({
 "name": "definition", "version": "0.6",
 "pe": "PE.json", "act": "Activation.json", "pool": "Pool.json", "dve": "DVE.json", "sp": "SP.json",
 "runtime_event_count": 12, "runtime_semaphore_count": 3,
 "cc_streams": {"num_streams": 0}, "#rank_world_size": 0, "neff_features": [],
 "fp8_conversion_config": {"fp8_range_extension": true, "emax_fp8_e4m3": 8, "emax_fp8_e5m2": 15,
   "ocp_sat": true, "fp8_sis": false, "fp8_sns": false},
 "runtime_statebuffer_reservation": [{"type": "evtaccel", "offset": 229368, "size": 8,
   "base_partition": 0, "partitions": 128}],
 "dma_queue": {
  "qSPIO0": {"type": "in", "owner": "sp", "num_queues": 16, "semaphore_set": [8, 9, 10, 11]},
  "qPoolIO0": {"type": "out", "owner": "pool", "num_queues": 16, "semaphore": 24,
    "queue_instances": ["qPoolIO0_a"]},
  "qPoolDynamic": {"type": "dynamic", "owner": "pool", "semaphore_set": [40],
    "dynamic_dma": {"SB_scratch_partition_offset": 0, "SB_scratch_partition_size": 16384}}
 },
 "var": {
  "SB": {"type": "state-buffer", "var_id": 0},
  "b_vec": {"type": "input", "var_id": 1, "size": 1024, "ops": []},
  "a_vec": {"type": "input", "var_id": 2, "size": 1024, "ops": []},
  "out": {"type": "output", "var_id": 3, "size": 1024, "ops": []},
  "weights": {"type": "file", "var_id": 4, "size": 256, "alignment": 64, "file_name": "weights.npy"},
  "raw": {"type": "file", "var_id": 5, "size": 96, "file_name": "raw.bin"},
  "spill": {"type": "virtual", "var_id": 6, "size": 4096, "backing_variable_off": 8192},
  "half": {"type": "virtual", "var_id": 7, "size": 512, "backing_variable_off": 0,
    "backing_buf": "local"},
  "cell": {"type": "pointer", "var_id": 8, "size": 8, "referenced_var_id": 1},
  "DGETable0": {"type": "dge-table", "var_id": 9, "list": [1, 2, 3]},
  "ranks": {"type": "list", "var_id": 10, "list": [6]},
  "tmp": {"type": "tmp-buf", "var_id": 11, "size": 1024, "alignment": 128}@REMOTE@
 }
})";

constexpr const char* kSp = R"({"name": "SP.json", "instr": "SP.bin", "dma": [
 {"#comment": "a", "id": 0, "queue": "qSPIO0", "semaphore": 8, "desc": [
  {"op": "copy", "from": "a_vec", "from_off": 0, "from_sizes": [8, 128], "from_steps": [1, 8],
   "from_dtype": "float32", "to": "SB", "to_off": 0, "to_sizes": [8, 128], "to_steps": [1, 262144],
   "to_dtype": "float32", "num_tiling_dimensions": 1}]},
 {"id": 1, "queue": "qSPIO0", "semaphore": 9, "desc": [
  {"from": "b_vec", "from_off": 0, "from_sizes": [8, 128], "from_steps": [1, 8],
   "to": "SB", "to_off": 64, "to_sizes": [8, 128], "to_steps": [1, 262144]}]},
 {"id": 2, "queue": "qSPIO0", "event": 20, "remote_semaphores": [33], "function_start": "f0", "desc": [
  {"op": "cast", "from": "a_vec", "from_off": 0, "from_sizes": [1024], "from_steps": [1],
   "from_dtype": "float32", "to": "half", "to_off": 0, "to_sizes": [512], "to_steps": [1],
   "to_dtype": "float16"},
  {"op": "add", "from_arr": [
    {"from": "a_vec", "from_dtype": "float32", "from_off": 0, "from_sizes": [64], "from_steps": [1]},
    {"from": "b_vec", "from_dtype": "float32", "from_off": 960, "from_sizes": [64], "from_steps": [1]}],
   "to": "spill", "to_dtype": "float32", "to_off": 0, "to_sizes": [64], "to_steps": [1]},
  {"op": "max", "constant": -1.5, "constant_dtype": "float32", "from_arr": [
    {"from": "a_vec", "from_dtype": "float32", "from_off": 0, "from_sizes": [64], "from_steps": [1]}],
   "to": "spill", "to_dtype": "float32", "to_off": 64, "to_sizes": [64], "to_steps": [1]},
  {"op": "fma", "scale": [0.5, 2], "scale_dtype": "float32", "from_arr": [
    {"from": "a_vec", "from_dtype": "float32", "from_off": 0, "from_sizes": [64], "from_steps": [1]},
    {"from": "b_vec", "from_dtype": "float32", "from_off": 0, "from_sizes": [64], "from_steps": [1]}],
   "to": "spill", "to_dtype": "float32", "to_off": 128, "to_sizes": [64], "to_steps": [1]},
  {"transpose_op": "WZXY", "transpose_element_size": 2, "transpose_shape": [1, 1, 16, 8],
   "num_tiling_dimensions": 2, "from": "weights", "from_off": 0, "from_sizes": [16, 16],
   "from_steps": [1, 16], "to": "SB", "to_off": 128, "to_sizes": [16, 16], "to_steps": [1, 262144]},
  {"from": "spill", "from_off": 992, "from_sizes": [32, 2], "from_steps": [1, -32],
   "to": "tmp", "to_off": 0, "to_sizes": [32, 2], "to_steps": [1, 32]}]}
]})";

constexpr const char* kPool = R"({"name": "Pool.json", "instr": "Pool.bin", "dma": [
 {"id": 7, "queue": "qPoolIO0", "semaphore": 24, "desc": [
  {"op": "copy", "from": "SB", "from_off": 64, "from_sizes": [8, 128], "from_steps": [1, 262144],
   "to": "out", "to_off": 0, "to_sizes": [8, 128], "to_steps": [1, 8]}]},
 {"id": 3, "instance_name": "qPoolIO0_a", "desc": [
  {"from": "SB", "from_off": 64, "from_sizes": [8], "from_steps": [1],
   "to": "cell", "to_off": 0, "to_sizes": [8], "to_steps": [1]}]}
]})";

constexpr const char* kActivation = R"({"name": "Activation.json", "instr": "Activation.bin",
 "dma": [], "act_info": "act_info.json", "act_semaphore": 12,
 "activation_function_sets": ["exp_set"]})";

constexpr const char* kActInfo = R"({"pwp_file_keys": ["bkt_bin", "ctrl_bin", "profile_json"],
 "act_func_sets": [
  {"name": "other_set", "bkt_bin": "o_bkt.bin", "ctrl_bin": "o_ctrl.bin", "profile_json": "o.json"},
  {"name": "exp_set", "bkt_bin": "exp_bkt.bin", "ctrl_bin": "exp_ctrl.bin",
   "profile_json": "exp_set.json", "act": {"exp": 2}}]})";

constexpr const char* kProfile = R"({"bkt_bin": "exp_bkt.bin", "ctl_bin": "exp_ctrl.bin",
 "bkt_entry_cnt": 3, "ctl_entry_cnt": 2, "profile_meta_data": [
  {"func_name": "exp_2p", "func_id": 7, "fnan_result": 2143289344, "exp_offset": -7,
   "symmetry_opt_en": 0, "use_multipass": false}]})";

constexpr const char* kKelf = R"({"version": "0.5", "target": "@TARGET@", "graphs": [@GRAPHS@]})";

constexpr const char* kNeff = R"({"nodes": [
 {"op": "null", "name": "a_vec", "inputs": [], "output_names": ["a_vec"], "is_param": "0"},
 {"op": "null", "name": "b_vec", "inputs": [], "output_names": ["b_vec"], "is_param": "0"},
 {"op": "tvm_op", "name": "sg_coreV10", "attrs": {"func_name": "__kelf", "kelf": "kelf-0.json",
   "num_inputs": "2", "num_outputs": "1", "flatten_data": "0"},
  "inputs": [[0, 0, 0], [1, 0, 0]], "output_names": ["out", "out"]}],
 "arg_nodes": [1, 0], "heads": [[2, 0, 0], [2, 1, 0]], "node_row_ptr": [0, 1, 2, 4],
 "attrs": {"shape": ["list_shape", [[256], [2, 128], [8, 32], [8, 32]]],
  "dltype": ["list_str", ["float32", "float32", "float32", "float32"]],
  "storage_id": ["list_int", [0, 1, 2, 3]]},
 "metadata": {"signatures": {"default": {"inputs": {}, "outputs": {}}}}})";

void substitute(std::string& text, std::string_view mark, std::string_view value) {
  text.replace(text.find(mark), mark.size(), value);
}

std::string counted(std::size_t bytes) {
  std::string data(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<char>(i * 7 + 1);
  return data;
}

void add_subgraph(NeffBuilder& neff, const std::string& dir, bool sunda, unsigned other,
                  bool remote) {
  std::string definition = kDefinition;
  substitute(definition, "@REMOTE@",
             remote
                 ? fmt::format(",\n  \"SB{{{}}}\": {{\"type\": \"remote\", \"var_id\": 12}}", other)
                 : "");
  auto& members = neff.members;
  members[dir + "def.json"] = definition;
  members[dir + "SP.json"] = kSp;
  members[dir + "Pool.json"] = kPool;
  members[dir + "Activation.json"] = kActivation;
  members[dir + "PE.json"] = R"({"name": "PE.json", "instr": "PE.bin", "dma": []})";
  members[dir + "act_info.json"] = kActInfo;
  members[dir + "exp_set.json"] = kProfile;
  members[dir + "exp_bkt.bin"] = counted(96);
  members[dir + "exp_ctrl.bin"] = counted(64);
  members[dir + "weights.npy"] = make_npy("<f2", "(1, 1, 8, 16)", counted(256));
  members[dir + "raw.bin"] = counted(96);
  members[dir + "opcode.bin"] = counted(sunda ? 2048 : 1024);
  members[dir + "control.bin"] = counted(sunda ? 2048 : 4096);
  members[dir + "datapath.bin"] = counted(sunda ? 8192 : 16384);
  const std::string controls = sunda ? R"("control_table": "control.bin")"
                                     : R"("control_fast_table": "control.bin", )"
                                       R"("control_slow_table": "slow.bin")";
  if (!sunda) members[dir + "slow.bin"] = counted(4096);
  members[dir + "DVE.json"] = fmt::format(
      R"({{"instr": "DVE.bin", "dma": [], "dve_tables": [{{"opcode_table": "opcode.bin", {},)"
      R"( "datapath_table": "datapath.bin"}}]}})",
      controls);
  const std::string start = plain_record(0xB1);
  members[dir + "PE.bin"] = start;
  members[dir + "Activation.bin"] = start;
  members[dir + "DVE.bin"] = start + plain_record(0xA4);
  members[dir + "SP.bin"] = start + trigger_record("qSPIO0", 0) + trigger_record("qSPIO0", 1);
  members[dir + "Pool.bin"] = start + trigger_record("qPoolIO0", 7);
  members[dir + "debug_info_asm_SP.dbg"] = counted(300);
}

}  // namespace

NeffBuilder sample_neff(std::string_view target, unsigned cores) {
  NeffBuilder neff;
  std::string graphs;
  for (unsigned core = 0; core < cores; ++core) {
    const std::string name = fmt::format("sg{:02}", core);
    graphs += fmt::format(R"({}{{"name": "{}", "definition": "{}/def.json"}})",
                          core == 0 ? "" : ", ", name, name);
    add_subgraph(neff, name + "/", target == "sunda", (core + 1) % cores, cores > 1);
  }
  std::string kelf = kKelf;
  substitute(kelf, "@TARGET@", target);
  substitute(kelf, "@GRAPHS@", graphs);
  neff.members["kelf-0.json"] = kelf;
  neff.members["neff.json"] = kNeff;
  neff.members["info.json"] =
      R"({"tool_version": "2.99.0+test", "kelp_version": "Dynamic", "name": "sample"})";
  neff.members["hlo_stats.json"] = R"({"HloMacCount": 256, "HloInputCount": -1})";
  neff.members["debug_info/debug_info_hlo.dbg"] = counted(500);
  if (cores > 1) {
    neff.version_major = 2;
    neff.feature_bits = 0xC00;
    neff.lnc_size = cores;
  }
  return neff;
}

}  // namespace opennrt::testing
