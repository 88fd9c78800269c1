// SPDX-License-Identifier: Apache-2.0
//
// Subgraphs: variables, queues, blocks, tables and streams.
#include "limits.h"

namespace opennrt::neff {
namespace {

using testing::NeffBuilder;

constexpr const char* kDef = "sg00/def.json";
constexpr const char* kSp = "sg00/SP.json";
constexpr const char* kPool = "sg00/Pool.json";

Refusal without(const char* name, const char* member, std::vector<std::string> texts) {
  return {name, [=](NeffBuilder& neff) { ASSERT_EQ(neff.members.erase(member), 1U); }, NRT_INVALID,
          std::move(texts)};
}

Refusal stream(const char* name, const char* member, const std::string& record,
               std::vector<std::string> texts) {
  return {name, [=](NeffBuilder& neff) { neff.members.at(member) += record; }, NRT_INVALID,
          std::move(texts)};
}

Refusal npy(const char* name, const std::string& content, std::vector<std::string> texts) {
  texts.push_back("sg00/weights.npy");
  return {name, [=](NeffBuilder& neff) { neff.members.at("sg00/weights.npy") = content; },
          NRT_INVALID, std::move(texts)};
}

const std::string kData(256, 'd');

const Refusal kVariables[] = {
    edit("NoVar", kDef, "\"var\"", "\"vars\"", {kDef, "\"var\""}),
    edit("VarNotObject", kDef, "\"var_id\": 0}", "\"var_id\": 0}, \"x\": 3",
         {kDef, "var.x", "an object"}),
    edit("NoType", kDef, "\"type\": \"state-buffer\", ", "", {kDef, "var.SB", "\"type\""}),
    edit("UnknownType", kDef, "state-buffer", "shared", {kDef, "var.SB.type", "\"shared\""}),
    edit("TypeNotText", kDef, "\"state-buffer\"", "1", {kDef, "var.SB.type", "1", "string"}),
    edit("NoVarId", kDef, "\"state-buffer\", \"var_id\": 0", "\"state-buffer\"",
         {kDef, "var.SB", "\"var_id\""}),
    edit("DuplicateVarId", kDef, "\"var_id\": 5", "\"var_id\": 4",
         {kDef, "var.raw", "4", "\"weights\""}),
    edit("SparseVarId", kDef, "\"var_id\": 11", "\"var_id\": 12",
         {kDef, "var.tmp", "12", "0 to 11"}),
    edit("HugeVarId", kDef, "\"var_id\": 11", "\"var_id\": 4294967296",
         {kDef, "var.tmp.var_id", "4294967296"}),
    edit("SizeMissing", kDef, "\"tmp-buf\", \"var_id\": 11, \"size\": 1024",
         "\"tmp-buf\", \"var_id\": 11", {kDef, "var.tmp", "\"size\""}),
    edit("SizeZero", kDef, "\"var_id\": 11, \"size\": 1024", "\"var_id\": 11, \"size\": 0",
         {kDef, "var.tmp.size", "0"}),
    edit("SizeNegative", kDef, "\"var_id\": 11, \"size\": 1024", "\"var_id\": 11, \"size\": -1024",
         {kDef, "var.tmp.size", "-1024"}),
    edit("SizeHuge", kDef, "\"var_id\": 11, \"size\": 1024",
         "\"var_id\": 11, \"size\": 9223372036854775808",
         {kDef, "var.tmp.size", "9223372036854775808"}),
    edit("SizeText", kDef, "\"var_id\": 11, \"size\": 1024", "\"var_id\": 11, \"size\": \"1024\"",
         {kDef, "var.tmp.size", "\"1024\"", "integer"}),
    edit("OperationsNotAList", kDef, "\"var_id\": 11, ", "\"var_id\": 11, \"ops\": {}, ",
         {kDef, "var.tmp.ops", "an array"}),
    edit("Alignment", kDef, "\"alignment\": 128", "\"alignment\": 96",
         {kDef, "var.tmp.alignment", "96", "power of two"}),
    edit("NoOutputVariable", kDef, "\"type\": \"output\", \"var_id\": 3",
         "\"type\": \"tmp-buf\", \"var_id\": 3", {kDef, "var", "no outputs"}),
    edit("InputUnknown", kDef, "\"a_vec\"", "\"c_vec\"", {kDef, "var.c_vec", "neff.json"}),
    edit("OutputUnknown", kDef, "\"out\": {\"type\": \"output\"", "\"res\": {\"type\": \"output\"",
         {kDef, "var.res", "neff.json"}),
    edit("InputIsOutputThere", kDef, "\"a_vec\": {\"type\": \"input\"",
         "\"a_vec\": {\"type\": \"output\"", {kDef, "var.a_vec", "output", "neff.json"}),
    edit("InputSize", kDef, "\"var_id\": 2, \"size\": 1024", "\"var_id\": 2, \"size\": 1028",
         {kDef, "var.a_vec", "1028", "1024"}),
    edit("ConstantMissing", kDef, "\"raw.bin\"", "\"cooked.bin\"",
         {kDef, "var.raw.file_name", "\"sg00/cooked.bin\""}),
    edit("ConstantSize", kDef, "\"var_id\": 5, \"size\": 96", "\"var_id\": 5, \"size\": 97",
         {kDef, "var.raw.file_name", "96", "97"}),
    npy("NpyMagic", std::string(400, 'x'), {"not a NumPy file"}),
    npy("NpyShort", "\x93NUMPY\x01", {"not a NumPy file"}),
    npy("NpyVersion", testing::make_npy("<f2", "(128,)", kData).replace(6, 1, "\x03"),
        {"format 3"}),
    npy("NpyHeaderLength", testing::make_npy("<f2", "(128,)", kData).replace(8, 2, "\xff\xff"),
        {"65535"}),
    npy("NpyFortran", testing::make_npy("<f2", "(16, 8)", kData, 1, true), {"fortran_order"}),
    npy("NpyDataShort", testing::make_npy("<f2", "(127,)", kData.substr(2)), {"254", "256"}),
    edit("BackingBuffer", kDef, "\"local\"", "\"global\"",
         {kDef, "var.half.backing_buf", "\"global\""}),
    edit("BackingOffset", kDef, "\"backing_variable_off\": 8192", "\"backing_variable_off\": -8",
         {kDef, "var.spill.backing_variable_off", "-8"}),
    edit("NoBackingOffset", kDef, ", \"backing_variable_off\": 8192", "",
         {kDef, "var.spill", "\"backing_variable_off\""}),
    edit("PointerSize", kDef, "\"var_id\": 8, \"size\": 8", "\"var_id\": 8, \"size\": 4",
         {kDef, "var.cell", "4", "8 bytes"}),
    edit("PointerTarget", kDef, "\"referenced_var_id\": 1", "\"referenced_var_id\": 12",
         {kDef, "var.cell", "referenced_var_id", "12"}),
    edit("PointerToItself", kDef, "\"referenced_var_id\": 1", "\"referenced_var_id\": 8",
         {kDef, "var.cell", "referenced_var_id", "8"}),
    edit("TableEntry", kDef, "[1, 2, 3]", "[1, 2, 99]", {kDef, "var.DGETable0", "list", "99"}),
    edit("ListNotArray", kDef, "\"list\": [6]", "\"list\": 6",
         {kDef, "var.ranks.list", "an array"}),
    edit("RemoteName", kDef, "\"tmp\": {\"type\": \"tmp-buf\"", "\"tmp\": {\"type\": \"remote\"",
         {kDef, "var.tmp", "<variable>{<subgraph>}"}),
    edit("RemoteSubgraph", kDef, "\"tmp\": {\"type\": \"tmp-buf\"",
         "\"SB{1}\": {\"type\": \"remote\"", {kDef, "SB{1}", "subgraph 1", "has 1"}),
    edit("RemoteUnknown", kDef, "\"tmp\": {\"type\": \"tmp-buf\"",
         "\"zz{0}\": {\"type\": \"remote\"", {kDef, "zz{0}", "\"zz\""}),
    edit("RemoteOfRemote", kDef, "\"tmp\": {\"type\": \"tmp-buf\"",
         "\"q{0}{0}\": {\"type\": \"remote\"", {kDef, "q{0}{0}"}),
    edit("BackingSharded", kDef, "\"local\"", "\"sharded\"",
         {kDef, "var.half.backing_buf", "\"sharded\"", "not supported"}),
    edit("SecondDgeTable", kDef, "\"ranks\": {\"type\": \"list\"",
         "\"ranks\": {\"type\": \"dge-table\"", {kDef, "var.ranks", "second dge-table"}),
    edit("TableOfTables", kDef, "\"var_id\": 10, \"list\": [6]", "\"var_id\": 10, \"list\": [9]",
         {kDef, "var.ranks", "list 9"}),
    edit("PointerToTable", kDef, "\"referenced_var_id\": 1", "\"referenced_var_id\": 9",
         {kDef, "var.cell", "referenced_var_id 9"}),
    {"VariableName",
     [](NeffBuilder& n) { n.replace(kDef, "\"tmp\"", "\"" + std::string(256, 'v') + "\""); },
     NRT_INVALID,
     {kDef, "255"}},
    // Runtime sections.
    edit("SemaphoreCount", kDef, "\"runtime_semaphore_count\": 3", "\"runtime_semaphore_count\": 2",
         {kDef, "runtime_semaphore_count", "2"}),
    edit("EventCount", kDef, "\"runtime_event_count\": 12", "\"runtime_event_count\": 257",
         {kDef, "runtime_event_count", "257"}),
    edit("ReservationType", kDef, "\"evtaccel\"", "\"mystery\"",
         {kDef, "runtime_statebuffer_reservation[0].type", "\"mystery\""}),
    edit("ReservationRange", kDef, "\"offset\": 229368", "\"offset\": 262140",
         {kDef, "runtime_statebuffer_reservation[0]", "262140"}),
    edit("Fp8Type", kDef, "\"ocp_sat\": true", "\"ocp_sat\": 1",
         {kDef, "fp8_conversion_config.ocp_sat", "true or false"}),
    edit("Features", kDef, "\"neff_features\": []", "\"neff_features\": {}",
         {kDef, "neff_features", "an array"}),
    edit("FeatureName", kDef, "\"neff_features\": []",
         "\"neff_features\": [\"neff_feature_vnc\", 7]", {kDef, "neff_features[1]", "7", "string"}),
    edit("CcStreams", kDef, "\"cc_streams\": {\"num_streams\": 0}", "\"cc_streams\": 1",
         {kDef, "cc_streams", "an object"}),
};

const Refusal kQueues[] = {
    edit("QueueType", kDef, "\"type\": \"in\"", "\"type\": \"inout\"",
         {kDef, "dma_queue.qSPIO0.type", "\"inout\""}),
    edit("NoQueueType", kDef, "\"type\": \"in\", ", "", {kDef, "dma_queue.qSPIO0", "\"type\""}),
    edit("QueueOwner", kDef, "\"owner\": \"sp\"", "\"owner\": \"gpsimd\"",
         {kDef, "dma_queue.qSPIO0.owner", "\"gpsimd\""}),
    edit("NoRings", kDef, "\"sp\", \"num_queues\": 16", "\"sp\", \"num_queues\": 0",
         {kDef, "dma_queue.qSPIO0.num_queues", "0", "1 to 16"}),
    edit("TooManyRings", kDef, "\"sp\", \"num_queues\": 16", "\"sp\", \"num_queues\": 17",
         {kDef, "dma_queue.qSPIO0.num_queues", "17"}),
    {"TooManySemaphores",
     [](NeffBuilder& n) {
       std::string list = "8";
       for (int i = 9; i < 8 + 33; ++i) list += ", " + std::to_string(i);
       n.replace(kDef, "[8, 9, 10, 11]", "[" + list + "]");
     },
     NRT_INVALID,
     {kDef, "dma_queue.qSPIO0", "32 semaphores"}},
    edit("RuntimeSemaphore", kDef, "[8, 9, 10, 11]", "[8, 2, 10, 11]",
         {kDef, "dma_queue.qSPIO0.semaphore_set[1]", "semaphore 2", "3 to 255"}),
    edit("SemaphoreRange", kDef, "[8, 9, 10, 11]", "[8, 9, 256, 11]",
         {kDef, "dma_queue.qSPIO0.semaphore_set[2]", "256"}),
    edit("TwoActLoads", kDef, "\"type\": \"in\", \"owner\": \"sp\"",
         "\"type\": \"act_load\", \"owner\": \"act\"}, \"q2\": {\"type\": \"act_load\", \"owner\": "
         "\"act\"",
         {kDef, "dma_queue.q2", "act_load"}),
    edit("QueueName", kDef, "\"qPoolDynamic\"", "\"qPoolDynamic_with_a_name_too_long\"",
         {kDef, "qPoolDynamic_with_a_name_too_long", "31"}),
    edit("ScratchOwner", kDef, "\"dynamic\", \"owner\": \"pool\"",
         "\"dynamic\", \"owner\": \"act\"", {kDef, "dma_queue.qPoolDynamic.dynamic_dma"}),
    edit("ScratchRange", kDef, "\"SB_scratch_partition_offset\": 0",
         "\"SB_scratch_partition_offset\": 262000",
         {kDef, "dma_queue.qPoolDynamic.dynamic_dma", "262000"}),
    edit("EmbeddingUpdate", kDef, "\"type\": \"in\"", "\"type\": \"embedding_update\"",
         {kDef, "dma_queue.qSPIO0", "\"embedding_update\"", "not supported"}),
    edit("EmbeddingSemaphore", kDef, "\"type\": \"in\"",
         "\"type\": \"in\", \"embedding_update_sync_semaphore\": 9",
         {kDef, "dma_queue.qSPIO0.embedding_update_sync_semaphore", "not supported"}),
    edit("InstanceTwice", kDef, "[\"qPoolIO0_a\"]", "[\"qPoolIO0_a\", \"qPoolIO0_a\"]",
         {kDef, "dma_queue.qPoolIO0.queue_instances[1]", "\"qPoolIO0_a\"", "already"}),
    edit("BlockOfNoInstance", kDef, "[\"qPoolIO0_a\"]", "[\"qPoolIO0_a\", \"qPoolIO0_b\"]",
         {kPool, "dma[0]", "\"instance_name\" is missing", "\"qPoolIO0\"", "2 instances"}),
    edit("InstancesOfGeneratedDma", kDef,
         "\"out\", \"owner\": \"pool\", \"num_queues\": 16, \"semaphore\": 24,\n    "
         "\"queue_instances\": [\"qPoolIO0_a\"]",
         "\"dynamic\", \"owner\": \"pool\", \"num_queues\": 16, \"semaphore\": 24,\n    "
         "\"queue_instances\": [\"qPoolIO0_a\", \"qPoolIO0_b\"]",
         {kDef, "dma_queue.qPoolIO0", "queue_instances", "2 instances"}),
    edit("Instances", kDef, "[\"qPoolIO0_a\"]", "[1]",
         {kDef, "dma_queue.qPoolIO0.queue_instances[0]", "1"}),
};

const Refusal kBlocks[] = {
    edit("BlockId", kSp, "\"id\": 1", "\"id\": -1", {kSp, "dma[1].id", "-1"}),
    edit("NoBlockId", kSp, "\"id\": 1, ", "", {kSp, "dma[1]", "\"id\""}),
    edit("DuplicateBlock", kSp, "\"id\": 1", "\"id\": 0", {kSp, "dma[1].id", "0", "\"qSPIO0\""}),
    edit("UnknownQueue", kSp, "\"queue\": \"qSPIO0\", \"semaphore\": 9", "\"queue\": \"qNone\"",
         {kSp, "dma[1].queue", "\"qNone\""}),
    edit("NoQueue", kSp, "\"queue\": \"qSPIO0\", \"semaphore\": 9, ", "",
         {kSp, "dma[1]", "\"queue\""}),
    edit("ForeignQueue", kSp, "\"queue\": \"qSPIO0\", \"semaphore\": 9", "\"queue\": \"qPoolIO0\"",
         {kSp, "dma[1].queue", "\"qPoolIO0\"", "pool", "sp"}),
    edit("UnknownInstance", kPool, "qPoolIO0_a", "qPoolIO0_b",
         {kPool, "dma[1].instance_name", "\"qPoolIO0_b\""}),
    edit("BlockSemaphore", kSp, "\"semaphore\": 9", "\"semaphore\": 1",
         {kSp, "dma[1].semaphore", "semaphore 1"}),
    edit("BlockEvent", kSp, "\"event\": 20", "\"event\": 11",
         {kSp, "dma[2].event", "11", "12 to 255"}),
    edit("RemoteSemaphore", kSp, "[33]", "[333]", {kSp, "dma[2].remote_semaphores[0]", "333"}),
    edit("SectionStart", kSp, "\"id\": 1, ", "\"id\": 1, \"section_start_desc\": true, ",
         {kSp, "dma[1]", "section_start_desc true"}),
    edit("SectionStartType", kSp, "\"id\": 1, ", "\"id\": 1, \"section_start_desc\": 1, ",
         {kSp, "dma[1].section_start_desc", "true or false"}),
    edit("PriorityClass", kSp, "\"id\": 1, ", "\"id\": 1, \"priority_class\": -1, ",
         {kSp, "dma[1].priority_class", "-1"}),
    edit("FunctionStartType", kSp, "\"function_start\": \"f0\"", "\"function_start\": 4",
         {kSp, "dma[2].function_start", "4", "string"}),
    edit("NoDescriptors", kPool, "\"instance_name\": \"qPoolIO0_a\", \"desc\": [",
         "\"instance_name\": \"qPoolIO0_a\", \"desc\": [], \"x\": [",
         {kPool, "dma[1].desc", "no descriptors"}),
    edit("DescMissing", kPool, "\"instance_name\": \"qPoolIO0_a\", \"desc\"",
         "\"instance_name\": \"qPoolIO0_a\", \"x\"", {kPool, "dma[1]", "\"desc\""}),
    edit("UnknownVariable", kPool, "\"to\": \"out\"", "\"to\": \"nowhere\"",
         {kPool, "dma[0].desc[0].to", "\"nowhere\""}),
    edit("ListAsTarget", kPool, "\"to\": \"out\"", "\"to\": \"ranks\"",
         {kPool, "dma[0].desc[0].to", "\"ranks\"", "list"}),
    edit("StepsLength", kPool, "\"to_steps\": [1, 8]", "\"to_steps\": [1]",
         {kPool, "dma[0].desc[0].to_steps", "to_sizes has 2"}),
    edit("FiveDims", kPool, "\"to_sizes\": [8, 128], \"to_steps\": [1, 8]",
         "\"to_sizes\": [8, 2, 2, 2, 16], \"to_steps\": [1, 8, 8, 8, 8]",
         {kPool, "dma[0].desc[0].to_sizes", "5 dimensions"}),
    edit("SizeZero", kPool, "\"to_sizes\": [8, 128]", "\"to_sizes\": [8, 0]",
         {kPool, "dma[0].desc[0].to_sizes[1]", "0"}),
    edit("InnerStep", kPool, "\"to_steps\": [1, 8]", "\"to_steps\": [2, 8]",
         {kPool, "dma[0].desc[0].to_steps[0]", "2"}),
    edit("OutOfBounds", kPool, "\"to_off\": 0, \"to_sizes\": [8, 128]",
         "\"to_off\": 1, \"to_sizes\": [8, 128]",
         {kPool, "dma[0].desc[0]", "1 to 1024", "\"out\"", "1024"}),
    edit("BelowZero", kSp, "\"from_off\": 992", "\"from_off\": 16",
         {kSp, "dma[2].desc[5]", "-16", "\"spill\""}),
    edit("StateBufferBounds", kPool, "\"from_off\": 64, \"from_sizes\": [8, 128]",
         "\"from_off\": 262137, \"from_sizes\": [8, 128]",
         {kPool, "dma[0].desc[0]", "\"SB\"", "33554432"}),
    edit("HugeOffset", kPool, "\"to_off\": 0, \"to_sizes\": [8, 128]",
         "\"to_off\": 18446744073709551615, \"to_sizes\": [8, 128]",
         {kPool, "dma[0].desc[0].to_off", "18446744073709551615"}),
    edit("PointerOffset", kPool, "\"to\": \"cell\", \"to_off\": 0",
         "\"to\": \"cell\", \"to_off\": 1", {kPool, "dma[1].desc[0]", "to_off", "pointer"}),
    edit("BytesDiffer", kPool, "\"to_sizes\": [8, 128]", "\"to_sizes\": [8, 127]",
         {kPool, "dma[0].desc[0]", "1024", "1016"}),
    edit("CastElements", kSp, "\"to_sizes\": [512]", "\"to_sizes\": [510]",
         {kSp, "dma[2].desc[0]", "256", "255"}),
    edit("CastFraction", kSp, "\"from_sizes\": [1024]", "\"from_sizes\": [1022]",
         {kSp, "dma[2].desc[0]", "1022", "elements"}),
    edit("UnknownOp", kSp, "\"op\": \"cast\"", "\"op\": \"xor\"",
         {kSp, "dma[2].desc[0]", "\"xor\""}),
    edit("UnknownDtype", kSp, "\"to_dtype\": \"float16\"", "\"to_dtype\": \"float128\"",
         {kSp, "dma[2].desc[0]", "to_dtype", "\"float128\""}),
    {"TooManySources",
     [](NeffBuilder& n) {
       const std::string source =
           R"({"from": "a_vec", "from_sizes": [4], "from_steps": [1], "from_dtype": "float32"})";
       std::string list = source;
       for (int i = 0; i < 16; ++i) list += ", " + source;
       n.replace(kPool, R"("to": "cell")",
                 R"("op": "add", "from_arr": [)" + list + R"(], "to": "cell")");
       n.replace(kPool, R"("to_sizes": [8], )", R"("to_dtype": "float32", "to_sizes": [4], )");
     },
     NRT_INVALID,
     {kPool, "dma[1].desc[0].from_arr", "16 sources"}},
    edit("NoSources", kPool, "\"to\": \"cell\"",
         "\"op\": \"add\", \"from_arr\": [], \"to\": \"cell\"",
         {kPool, "dma[1].desc[0].from_arr", "no sources"}),
    edit("ScaleCount", kSp, "[0.5, 2]", "[0.5]", {kSp, "dma[2].desc[3].scale", "1", "2"}),
    edit("ScaleRange", kSp, "[0.5, 2]", "[0.5, 1e300]", {kSp, "dma[2].desc[3].scale[1]", "1e+300"}),
    edit("ConstantDtype", kSp, "\"constant_dtype\": \"float32\"", "\"constant_dtype\": \"int8\"",
         {kSp, "dma[2].desc[2]", "constant_dtype", "\"int8\""}),
    edit("ScaleOfACast", kSp, "\"op\": \"cast\", ", "\"op\": \"cast\", \"scale\": 2, ",
         {kSp, "dma[2].desc[0]", "scale", "fma"}),
    edit("ConstantOfAnAdd", kSp, "\"op\": \"add\", ", "\"op\": \"add\", \"constant\": 2, ",
         {kSp, "dma[2].desc[1]", "constant", "min or max"}),
    edit("TransposeShapeOfACopy", kPool, "\"op\": \"copy\", ",
         "\"op\": \"copy\", \"transpose_shape\": [1, 1, 1, 1], ",
         {kPool, "dma[0].desc[0]", "transpose_shape", "transpose"}),
    edit("SourcesOfTwoDtypes", kSp,
         "\"from\": \"b_vec\", \"from_dtype\": \"float32\", \"from_off\": 960",
         "\"from\": \"b_vec\", \"from_dtype\": \"int32\", \"from_off\": 960",
         {kSp, "dma[2].desc[1]", "from_arr", "different dtypes"}),
    edit("TransposeOp", kSp, "WZXY", "WZXX", {kSp, "dma[2].desc[4].transpose_op", "\"WZXX\""}),
    edit("TransposeShape", kSp, "[1, 1, 16, 8]", "[1, 1, 16, 9]",
         {kSp, "dma[2].desc[4].transpose_shape", "288", "256"}),
    edit("TransposeDims", kSp, "[1, 1, 16, 8]", "[1, 16, 8]",
         {kSp, "dma[2].desc[4].transpose_shape", "3 elements"}),
    edit("Tiling", kSp, "\"num_tiling_dimensions\": 2", "\"num_tiling_dimensions\": 5",
         {kSp, "dma[2].desc[4].num_tiling_dimensions", "5"}),
};

const Refusal kEngines_[] = {
    without("NoEngineJson", "sg00/PE.json", {kDef, "pe", "\"sg00/PE.json\""}),
    without("NoStream", "sg00/PE.bin", {"sg00/PE.json", "instr", "\"sg00/PE.bin\""}),
    edit("NoInstrKey", "sg00/PE.json", "\"instr\"", "\"code\"", {"sg00/PE.json", "\"instr\""}),
    edit("EngineNotText", kDef, "\"pe\": \"PE.json\"", "\"pe\": {}", {kDef, "pe", "string"}),
    stream("StreamLength", "sg00/PE.bin", "x", {"sg00/PE.json", "sg00/PE.bin", "65", "64"}),
    stream("TriggerQueue", "sg00/SP.bin", testing::trigger_record("qNone", 0),
           {"sg00/SP.bin", "record 4 (byte 192)", "\"qNone\""}),
    stream("TriggerBlock", "sg00/SP.bin", testing::trigger_record("qSPIO0", 3),
           {"sg00/SP.bin", "record 4", "block 3", "\"qSPIO0\""}),
    stream("TriggerOwner", "sg00/PE.bin", testing::trigger_record("qSPIO0", 0),
           {"sg00/PE.bin", "record 2", "\"qSPIO0\"", "sp", "pe"}),
    stream("TriggerName", "sg00/SP.bin", testing::trigger_record(std::string(32, 'q'), 0),
           {"sg00/SP.bin", "record 4", "31"}),
    // Activation tables.
    edit("UnknownSet", "sg00/Activation.json", "[\"exp_set\"]", "[\"sin_set\"]",
         {"sg00/Activation.json", "activation_function_sets[0]", "\"sin_set\"",
          "sg00/act_info.json"}),
    without("NoActInfo", "sg00/act_info.json",
            {"sg00/Activation.json", "act_info", "sg00/act_info.json"}),
    without("NoBuckets", "sg00/exp_bkt.bin",
            {"sg00/act_info.json", "act_func_sets[1].bkt_bin", "sg00/exp_bkt.bin"}),
    without("NoProfile", "sg00/exp_set.json",
            {"act_func_sets[1].profile_json", "sg00/exp_set.json"}),
    stream("BucketSize", "sg00/exp_bkt.bin", "x",
           {"sg00/exp_set.json", "bkt_entry_cnt", "96", "97"}),
    edit("ControlCount", "sg00/exp_set.json", "\"ctl_entry_cnt\": 2", "\"ctl_entry_cnt\": 3",
         {"sg00/exp_set.json", "ctl_entry_cnt", "96", "64"}),
    {"TooManyFunctions",
     [](NeffBuilder& n) {
       std::string list = R"({"func_name": "f", "func_id": 1})";
       for (int i = 0; i < 25; ++i) list += R"(, {"func_name": "f", "func_id": 1})";
       n.replace("sg00/exp_set.json", "\"profile_meta_data\": [",
                 "\"profile_meta_data\": [" + list + ", ");
     },
     NRT_INVALID,
     {"sg00/exp_set.json", "profile_meta_data", "27", "25"}},
    edit("FunctionId", "sg00/exp_set.json", "\"func_id\": 7", "\"func_id\": 700",
         {"sg00/exp_set.json", "profile_meta_data[0].func_id", "700"}),
    edit("FunctionField", "sg00/exp_set.json", "\"exp_offset\": -7", "\"exp_offset\": 0.5",
         {"sg00/exp_set.json", "profile_meta_data[0].exp_offset", "0.5"}),
    // DVE tables.
    without("NoOpcodeTable", "sg00/opcode.bin",
            {"sg00/DVE.json", "dve_tables[0].opcode_table", "sg00/opcode.bin"}),
    edit("NoControlTable", "sg00/DVE.json", "\"control_table\"", "\"control_slow_table\"",
         {"sg00/DVE.json", "dve_tables[0]", "\"control_fast_table\""}),
    edit("TwoTableSets", "sg00/DVE.json", "\"dve_tables\": [", "\"dve_tables\": [{}, ",
         {"sg00/DVE.json", "dve_tables", "2 elements"}),
};

class ProgramTest : public ::testing::TestWithParam<Refusal> {};

TEST_P(ProgramTest, IsRefused) {
  NeffBuilder neff = testing::sample_neff();
  GetParam().spoil(neff);
  expect_refused(GetParam(), neff.build(), test_limits());
}

INSTANTIATE_TEST_SUITE_P(Variables, ProgramTest, ::testing::ValuesIn(kVariables), refusal_name);
INSTANTIATE_TEST_SUITE_P(Queues, ProgramTest, ::testing::ValuesIn(kQueues), refusal_name);
INSTANTIATE_TEST_SUITE_P(Blocks, ProgramTest, ::testing::ValuesIn(kBlocks), refusal_name);
INSTANTIATE_TEST_SUITE_P(Engines, ProgramTest, ::testing::ValuesIn(kEngines_), refusal_name);

TEST(RefusedProgram, ReservationMissingWhereTheArchNeedsIt) {
  NeffBuilder neff = testing::sample_neff();
  neff.replace(kDef, "\"runtime_statebuffer_reservation\"", "\"#other\"");
  LoadLimits limits = test_limits();
  EXPECT_TRUE(load(neff.build(), limits).is_ok());
  limits.sbuf_reservation_required = true;
  expect_refused({"",
                  nullptr,
                  NRT_INVALID,
                  {kDef, "runtime_statebuffer_reservation", "NEURON_RT_ALLOW_LEGACY_NEFF=1"}},
                 neff.build(), limits);
  limits.allow_legacy = true;
  EXPECT_TRUE(load(neff.build(), limits).is_ok());
}

TEST(RefusedProgram, ControlBytesOfAFileDoNotReachTheMessage) {
  NeffBuilder neff = testing::sample_neff();
  neff.replace(kDef, "state-buffer", "x\\n[ERROR] forged\\u001b[31m");
  const auto program = load(neff.build());
  ASSERT_FALSE(program.is_ok());
  for (const char c : program.status().message()) EXPECT_GE(static_cast<unsigned char>(c), 0x20);
}

}  // namespace
}  // namespace opennrt::neff
