// SPDX-License-Identifier: Apache-2.0
//
// What `opennrt neff` does with files of strangers.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "entries.h"
#include "log/log.h"
#include "neff/listing.h"
#include "neff/pack.h"
#include "neff/stats.h"
#include "neff/verify.h"
#include "opennrt/neffkit/neffkit.h"

namespace opennrt::fuzz {
namespace {

using isa::Generation;

constexpr Generation kFamilies[] = {Generation::kSunda, Generation::kCayman, Generation::kMariana};

void check(bool holds) {
  if (!holds) std::abort();
}

// Text of the records and back.
void check_round_trip(std::span<const std::byte> stream, Generation generation) {
  std::string text;
  tools::append_records(stream, generation, 1, stream.size(), &text);
  tools::append_rest(stream, &text);
  const auto back = tools::assemble_listing(text, "fuzz.s", generation);
  check(back.is_ok());
  check(stream.empty() ? back->empty()
                       : back->size() == 1 && std::ranges::equal(back->front().bytes, stream));
}

// A program of one core that copies an input to an output and adds.
constexpr std::string_view kSource = R"(name: seed
target: sunda
inputs:
  - {name: x, dtype: float32, shape: [128]}
outputs:
  - {name: y, dtype: float32, shape: [128]}
subgraphs:
  - name: sg00
    queues:
      - {name: q, type: in, owner: sp, semaphores: [8, 9]}
    blocks:
      - queue: q
        id: 0
        semaphore: 8
        descriptors:
          - from: {variable: x, sizes: [4, 128], steps: [1, 4]}
            to: {variable: y, sizes: [4, 128], steps: [1, 4]}
    engines:
      sp:
        - PSEUDO_DMATRIGGER queue_name="q" block_id=0
        - NOP wait=SEM_GE_IMM(8) value=16
      dve:
        - TENSOR_TENSOR_ARITH_OP in0_in1_dtype=FP32/FP32 out_dtype=FP32 op=ADD
          num_active_channels=128 src0.num=4,1,1 src1.num=4,1,1 dst.num=4,1,1 dst.step=1,0,0
)";

// Members of the seed; a fuzzed stream replaces one of them.
std::vector<std::byte> seed_neff(bool gzipped, std::span<const std::uint8_t> stream) {
  neffkit::Program program;
  std::string error;
  check(neffkit::parse_program(kSource, "seed.yaml", &program, &error));
  std::vector<neffkit::Member> members = neffkit::make_members(program);
  if (!stream.empty())
    for (neffkit::Member& member : members)
      if (member.name.find("DVE") != std::string::npos && member.name.ends_with(".bin"))
        member.bytes.assign(stream.begin(), stream.end());
  std::vector<std::uint8_t> neff, payload;
  check(neffkit::pack_neff(program, members, &neff, &error));
  if (!gzipped) {
    check(neffkit::make_payload(members, false, &payload, &error));
    neff.resize(1024);
    neff[0] = 1;
    for (std::size_t i = 0; i < 8; ++i)
      neff[16 + i] = static_cast<std::uint8_t>(payload.size() >> (8 * i));
    neff.insert(neff.end(), payload.begin(), payload.end());
  }
  const auto bytes = std::as_bytes(std::span(neff));
  return {bytes.begin(), bytes.end()};
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Everything below it that is not inside `folder/out` after an unpack.
void check_contained(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    check(entry.path().filename() == "out");
}

void examine(tools::Model& model, std::span<const std::byte> payload, bool to_disk) {
  tools::Findings findings(10);
  tools::verify_model(model, findings);
  if (!model.program.subgraphs.empty()) tools::count(model);
  if (!to_disk || model.members->size() > 64) return;
  char folder[] = "/tmp/opennrt-fuzz-XXXXXX";
  if (mkdtemp(folder) == nullptr) return;
  const std::string out = std::string(folder) + "/out";
  const bool good = tools::unpack_model(model, payload, out).is_ok();
  check(good == std::filesystem::exists(out));
  check_contained(folder);
  if (good && model.members->size() != 0) check(tools::pack_directory(out, {}).is_ok());
  std::filesystem::remove_all(folder);
}

void quiet() {
  static const bool done = [] {
    log::set_level(log::Level::kDisabled);
    return true;
  }();
  check(done);
}

}  // namespace

void fuzz_neff_tool(const std::uint8_t* data, std::size_t size) {
  quiet();
  const auto bytes = std::as_bytes(std::span(data, size));
  auto model = tools::open_model("fuzz.neff", bytes);
  if (!model) {
    check(!model.status().message().empty());
    return;
  }
  examine(*model, bytes.subspan(neff::kHeaderBytes, model->header.data_size), true);
}

std::vector<std::string> seeds_neff_tool() {
  return {text_of(seed_neff(false, {})), text_of(seed_neff(true, {}))};
}

void fuzz_neff_listing(const std::uint8_t* data, std::size_t size) {
  quiet();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const Generation generation : kFamilies) {
    const auto streams = tools::assemble_listing(text, "fuzz.s", generation);
    if (!streams) {
      check(streams.status().message().starts_with("fuzz.s:"));
      continue;
    }
    // A .target line may have chosen another family; any of them is lossless.
    for (const tools::Stream& stream : *streams) check_round_trip(stream.bytes, generation);
  }
}

std::vector<std::string> seeds_neff_listing() {
  return {
      ".target sunda\n.stream sg00/DVE.bin\nNOP wait=SEM_GE_IMM(9) value=16  # 1\n"
      "TENSOR_TENSOR_ARITH_OP in0_in1_dtype=FP32/BFLOAT16 src0.addr=0x40 src0.step=1,-3,0\n",
      ".stream a\n.record hex:" + std::string(128, 'f') + "\n.bytes hex:00ff\n.stream b\n",
      "PSEUDO_DMATRIGGER queue_name=\"q#1\" block_id=0x10 @50=hex:0a0b word_len=0\n"
      "POOL pool_scale=1.5 pool_dim=XY\nPSEUDO_EXTENSION bound_0=4 debug_cmd=2\n",
      "ALU_OP op=ADD src0_lo=r5 immediate=18446744073709551615\nMOVE src_regs=r1,r2,r3\n",
  };
}

void fuzz_neff_records(const std::uint8_t* data, std::size_t size) {
  quiet();
  const auto bytes = std::as_bytes(std::span(data, size));
  for (const Generation generation : kFamilies) check_round_trip(bytes, generation);
  // The same records inside a program: verify and the figures read them.
  const std::size_t whole = size / isa::kRecordBytes * isa::kRecordBytes;
  if (whole == 0) return;
  const std::vector<std::byte> neff = seed_neff(false, std::span(data, whole));
  auto model = tools::open_model("fuzz.neff", neff);
  check(model.is_ok());
  for (const Generation generation : kFamilies) {
    if (!tools::load(*model, false).is_ok()) return;
    model->generation = generation;
    tools::Findings findings(10);
    for (const neff::Subgraph& graph : model->program.subgraphs) {
      tools::verify_records(*model, graph, findings);
      tools::verify_queues(*model, graph, findings);
    }
    tools::verify_waits(*model, findings);
    tools::count(*model);
  }
}

std::vector<std::string> seeds_neff_records() {
  std::vector<std::string> seeds;
  std::string all;
  for (const isa::Instruction& instruction : isa::instructions()) {
    std::string record(isa::kRecordBytes, '\0');
    record[0] = static_cast<char>(instruction.opcode);
    record[1] = 16;
    for (std::size_t i = 12; i < record.size(); i += 3) record[i] = static_cast<char>(i / 7);
    all += record;
  }
  seeds.push_back(all);
  seeds.push_back(all.substr(0, 5 * isa::kRecordBytes + 7));
  return seeds;
}

}  // namespace opennrt::fuzz
