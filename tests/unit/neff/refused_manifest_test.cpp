// SPDX-License-Identifier: Apache-2.0
//
// neff.json, the kelf descriptor and the gates on arch and core count.
#include "limits.h"

namespace opennrt::neff {
namespace {

using testing::NeffBuilder;

Refusal without(const char* name, const char* member, std::vector<std::string> texts) {
  return {name, [=](NeffBuilder& neff) { ASSERT_EQ(neff.members.erase(member), 1U); }, NRT_INVALID,
          std::move(texts)};
}

const Refusal kRefusals[] = {
    without("NoNeffJson", "neff.json", {"neff.json", "missing"}),
    without("NoKelf", "kelf-0.json", {"neff.json", "\"kelf-0.json\""}),
    without("NoDefinition", "sg00/def.json",
            {"kelf-0.json", "graphs[0].definition", "sg00/def.json"}),
    edit("SyntaxError", "neff.json", "\"arg_nodes\": [1, 0]", "\"arg_nodes\": [1, 0",
         {"neff.json", "line 7, column 29", "arg_nodes"}),
    edit("TrailingText", "kelf-0.json", "]}", "]}}", {"kelf-0.json", "line 1", "behind the end"}),
    {"RootIsArray",
     [](NeffBuilder& n) { n.members["neff.json"] = "[]"; },
     NRT_INVALID,
     {"neff.json", "must be an object"}},
    {"EmptyMember",
     [](NeffBuilder& n) { n.members["kelf-0.json"] = ""; },
     NRT_INVALID,
     {"kelf-0.json", "empty"}},
    {"NotUtf8",
     [](NeffBuilder& n) { n.replace("neff.json", "sg_core", "sg_\xff"); },
     NRT_INVALID,
     {"neff.json", "UTF-8"}},
    {"TooDeep",
     [](NeffBuilder& n) {
       n.replace("neff.json", "\"storage_id\": [",
                 "\"x\": " + std::string(70, '[') + std::string(70, ']') + ", \"storage_id\": [");
     },
     NRT_INVALID,
     {"neff.json", "attrs.x", "deeper than 64"}},
    edit("DuplicateKey", "neff.json", "\"arg_nodes\"", "\"heads\": [], \"arg_nodes\"",
         {"neff.json", "\"heads\"", "twice"}),
    edit("DuplicateNestedKey", "kelf-0.json", "\"name\": \"sg00\"",
         "\"name\": \"sg00\", \"name\": \"sg01\"",
         {"kelf-0.json", "graphs[0]", "\"name\"", "twice"}),
    edit("NoNodes", "neff.json", "\"nodes\"", "\"nodez\"", {"neff.json", "\"nodes\""}),
    edit("NoArgNodes", "neff.json", "\"arg_nodes\"", "\"x\"", {"neff.json", "\"arg_nodes\""}),
    edit("NoHeads", "neff.json", "\"heads\"", "\"x\"", {"neff.json", "\"heads\""}),
    edit("NoRowPtr", "neff.json", "\"node_row_ptr\"", "\"x\"", {"neff.json", "\"node_row_ptr\""}),
    edit("NoKelfNode", "neff.json", "__kelf", "__cpu", {"neff.json", "nodes", "__kelf"}),
    edit("KelfNotText", "neff.json", "\"kelf\": \"kelf-0.json\"", "\"kelf\": 7",
         {"neff.json", "nodes[2].attrs.kelf", "7", "string"}),
    edit("KelfMissing", "neff.json", "\"kelf\": \"kelf-0.json\"", "\"x\": 7",
         {"neff.json", "nodes[2].attrs", "\"kelf\""}),
    edit("NoDtypes", "neff.json", "\"dltype\"", "\"x\"", {"neff.json", "attrs", "\"dltype\""}),
    edit("DtypesNoArray", "neff.json",
         "[\"list_str\", [\"float32\", \"float32\", \"float32\", \"float32\"]]", "\"list_str\"",
         {"neff.json", "attrs.dltype", "an array"}),
    edit("ArgNodeRange", "neff.json", "\"arg_nodes\": [1, 0]", "\"arg_nodes\": [1, 9]",
         {"neff.json", "arg_nodes[1]", "9", "3 nodes"}),
    edit("ArgNodeNegative", "neff.json", "\"arg_nodes\": [1, 0]", "\"arg_nodes\": [-1, 0]",
         {"neff.json", "arg_nodes[0]", "-1"}),
    edit("HeadOutputRange", "neff.json", "[2, 1, 0]", "[2, 5, 0]",
         {"neff.json", "heads[1][1]", "5"}),
    edit("EntryRange", "neff.json", "\"node_row_ptr\": [0, 1, 2, 4]",
         "\"node_row_ptr\": [0, 1, 2, 3]", {"neff.json", "heads[1]", "\"out\"", "out of range"}),
    edit("RowPtrLength", "neff.json", "\"node_row_ptr\": [0, 1, 2, 4]",
         "\"node_row_ptr\": [0, 1, 2]", {"neff.json", "node_row_ptr", "3 elements"}),
    edit("RowPtrDescends", "neff.json", "\"node_row_ptr\": [0, 1, 2, 4]",
         "\"node_row_ptr\": [0, 3, 2, 4]", {"neff.json", "node_row_ptr[2]", "2"}),
    edit("NoOutputs", "neff.json", "\"heads\": [[2, 0, 0], [2, 1, 0]]", "\"heads\": []",
         {"neff.json", "heads", "no outputs"}),
    edit("OutputsDiffer", "neff.json", "[8, 32], [8, 32]", "[8, 32], [32, 8]",
         {"neff.json", "\"out\"", "twice"}),
    edit("TooManyDims", "neff.json", "[2, 128]",
         "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,256]",
         {"neff.json", "attrs.shape[1][1]", "32 dimensions"}),
    edit("ShapeOverflow", "neff.json", "[2, 128]", "[4294967295, 4294967295, 4294967295]",
         {"neff.json", "\"b_vec\"", "larger than"}),
    edit("NegativeDim", "neff.json", "[2, 128]", "[-2, -128]",
         {"neff.json", "attrs.shape[1][1][0]", "-2"}),
    edit("HugeNumber", "neff.json", "[2, 128]", "[18446744073709551616]",
         {"neff.json", "attrs.shape[1][1][0]", "18446744073709551616"}),
    edit("FloatOverflow", "neff.json", "[2, 128]", "[1e999]",
         {"neff.json", "attrs.shape[1][1][0]", "1e999"}),
    edit("FractionalDim", "neff.json", "[2, 128]", "[2.0, 128]",
         {"neff.json", "attrs.shape[1][1][0]", "2", "an integer"}),
    {"TensorNameTooLong",
     [](NeffBuilder& n) {
       n.replace("neff.json", "[\"out\", \"out\"]", "[\"" + std::string(256, 'o') + "\", \"out\"]");
     },
     NRT_INVALID,
     {"neff.json", "heads[0]", "255"}},
    // Arch and core count.
    edit("OtherArch", "kelf-0.json", "\"sunda\"", "\"cayman\"",
         {"kelf-0.json", "target", "built for cayman", "running on sunda (trn1.2xlarge)"}),
    edit("UnknownArch", "kelf-0.json", "\"sunda\"", "\"v9\"",
         {"kelf-0.json", "target", "\"v9\"", "sunda, v2, cayman, v3, mariana, v4"},
         NRT_UNSUPPORTED_NEFF_VERSION),
    edit("NoTarget", "kelf-0.json", "\"target\": \"sunda\", ", "",
         {"compiled for Inferentia1 (neuron-cc 1.x); not supported"}, NRT_UNSUPPORTED_NEFF_VERSION),
    {"Inferentia1ByName",
     [](NeffBuilder& n) {
       n.members["kelf-a.json"] = n.members["kelf-0.json"];
       n.replace("neff.json", "kelf-0.json", "kelf-a.json");
       n.replace("info.json", "Dynamic", "1.0");
     },
     NRT_UNSUPPORTED_NEFF_VERSION,
     {"compiled for Inferentia1 (neuron-cc 1.x); not supported"}},
    edit("TargetNotText", "kelf-0.json", "\"sunda\"", "2",
         {"kelf-0.json", "target", "2", "string"}),
    edit("NoGraphs", "kelf-0.json",
         "\"graphs\": [{\"name\": \"sg00\", \"definition\": \"sg00/def.json\"}]", "\"graphs\": []",
         {"kelf-0.json", "graphs", "no subgraphs"}),
    {"TooManyGraphs",
     [](NeffBuilder& n) { n = testing::sample_neff("sunda", 2), n.version_major = 1; },
     NRT_INVALID,
     {"kelf-0.json", "2 subgraphs", "NEURON_LOGICAL_NC_CONFIG=2"}},
    {"LncSize",
     [](NeffBuilder& n) { n = testing::sample_neff("sunda", 2); },
     NRT_INVALID,
     {"2 physical cores", "this process uses 1", "NEURON_LOGICAL_NC_CONFIG=2"}},
};

class ManifestTest : public ::testing::TestWithParam<Refusal> {};

TEST_P(ManifestTest, IsRefused) {
  NeffBuilder neff = testing::sample_neff();
  GetParam().spoil(neff);
  expect_refused(GetParam(), neff.build(), test_limits());
}

INSTANTIATE_TEST_SUITE_P(All, ManifestTest, ::testing::ValuesIn(kRefusals), refusal_name);

TEST(RefusedManifest, DuplicateGraphName) {
  NeffBuilder neff = testing::sample_neff("sunda", 2);
  neff.replace("kelf-0.json", "\"sg01\"", "\"sg00\"");
  LoadLimits limits = test_limits();
  limits.lnc_size = 2;
  expect_refused({"", nullptr, NRT_INVALID, {"kelf-0.json", "graphs[1].name", "\"sg00\"", "twice"}},
                 neff.build(), limits);
}

TEST(RefusedManifest, MoreCoresThanTheProcessHas) {
  LoadLimits limits = test_limits();
  limits.visible_cores = 1;
  expect_refused(
      {"", nullptr, NRT_LOAD_NOT_ENOUGH_NC, {"kelf-0.json", "2 physical cores", "1 are visible"}},
      testing::sample_neff("sunda", 2).build(), limits);
  limits.visible_cores = 2;
  limits.lnc_size = 2;
  const std::string neff = testing::sample_neff("sunda", 2).build();
  EXPECT_TRUE(load_program(testing::as_bytes(neff), limits).is_ok());
}

TEST(RefusedManifest, OneCoreModelOfTheVncFeatureOnTwo) {
  NeffBuilder neff = testing::sample_neff();
  neff.version_major = 2;
  neff.feature_bits = 0x400;
  LoadLimits limits = test_limits();
  limits.lnc_size = 2;
  expect_refused({"", nullptr, NRT_INVALID, {"lnc_size", "NEURON_LOGICAL_NC_CONFIG=1"}},
                 neff.build(), limits);
}

}  // namespace
}  // namespace opennrt::neff
