// SPDX-License-Identifier: Apache-2.0
//
// Our images and rings against what the original runtime wrote on real
// hardware, read from device profiles of the same models.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "cayman/table.h"
#include "image_compare.h"
#include "neff/program.h"
#include "opennrt/isa/records.h"
#include "support/ntff.h"
#include "tdrv/image.h"
#include "tdrv/vring.h"

extern "C" const nrtp_arch_plugin* nrtp_arch_query(std::uint32_t, std::uint32_t);

namespace opennrt {
namespace {

namespace fs = std::filesystem;

fs::path corpus() {
  const char* folder = std::getenv("OPENNRT_CORPUS");
  return folder != nullptr ? folder : OPENNRT_DEFAULT_CORPUS;
}

std::vector<std::byte> read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto* p = reinterpret_cast<const std::byte*>(text.data());
  return {p, p + text.size()};
}

// A model and its profile, lowered with made-up device addresses.
class Fidelity : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kRequest = 0x3'0000'0000;
  static constexpr std::uint64_t kRings = 0x2'0000'0000;
  static constexpr std::uint64_t kVariables = 0x1'0000'0000;
  static constexpr std::uint64_t kRingBytes = 0x1000;

  void SetUp() override {
    if (!fs::exists(corpus())) {
      GTEST_SKIP() << "no corpus in " << corpus() << "; set OPENNRT_CORPUS";
    }
    arch_ = nrtp_arch_query(NRTP_ARCH_ABI_MAJOR, NRTP_ARCH_ABI_MINOR);
    ASSERT_NE(arch_, nullptr);
    product_ = arch_->products;  // trn1.2xlarge
    ASSERT_STREQ(product_->name, "trn1.2xlarge");
  }

  // Reads both files; the profile's subgraph must be that of the model.
  void load(const std::string& name, std::uint32_t lnc_size = 1) {
    const auto profile_bytes = read_file(corpus() / (name + ".ntff"));
    std::string error;
    ASSERT_TRUE(test::read_ntff(profile_bytes, profile_, error)) << name << ": " << error;
    load_model(name, lnc_size);
    if (HasFatalFailure()) return;
    ASSERT_EQ(profile_.subgraphs.size(), program_.subgraphs.size());
  }

  void load_model(const std::string& name, std::uint32_t lnc_size) {
    neff::LoadLimits limits;
    limits.targets = limits.known_targets = {"sunda", "v2", "cayman", "v3", "mariana", "v4"};
    limits.running_on = "test";
    limits.lnc_size = lnc_size;
    const auto neff_bytes = read_file(corpus() / (name + ".neff"));
    auto loaded = neff::load_program(neff_bytes, limits);
    ASSERT_TRUE(loaded.is_ok()) << name << ": " << loaded.status().message();
    program_ = *std::move(loaded);
  }

  std::vector<std::uint64_t> place_variables(const neff::Subgraph& sg) const {
    std::vector<std::uint64_t> out;
    std::uint64_t next = kVariables;
    for (const neff::Variable& v : sg.variables) {
      const bool caller =
          v.type == neff::VariableType::kInput || v.type == neff::VariableType::kOutput;
      out.push_back(caller ? UINT64_MAX : next);
      if (!caller) next += (v.size + 0xFFF) & ~std::uint64_t{0xFFF};
    }
    return out;
  }

  tdrv::RingInputs ring_inputs(const neff::Subgraph& sg) const {
    return {.arch = arch_,
            .product = product_,
            .core = core_,
            .platform = NRTP_PLATFORM_EMULATOR,
            .subgraph = &sg,
            .variable_address = addresses_,
            .filler_pa = kVariables - 4,
            .peer_core = std::nullopt};
  }

  // Rings of every queue set of subgraph `index`, in hardware queue order.
  void build_rings(std::size_t index) {
    const neff::Subgraph& sg = program_.subgraphs[index];
    addresses_ = place_variables(sg);
    const auto numbers = tdrv::assign_hardware_queues(sg, *arch_, *product_, core_);
    ASSERT_TRUE(numbers.is_ok()) << numbers.status().message();
    queues_.assign(sg.queues.size(), {});
    std::uint64_t base = memory_ + kRings;
    for (std::size_t i = 0; i < sg.queues.size(); ++i) {
      const neff::QueueSet& set = sg.queues[i];
      queues_[(*numbers)[i]].set = &set;
      auto rings = tdrv::build_queue_rings(set, ring_inputs(sg));
      ASSERT_TRUE(rings.is_ok()) << rings.status().message();
      tdrv::QueuePlacement& placed = queues_[(*numbers)[i]];
      placed.hardware_queue = (*numbers)[i];
      placed.caller_sources = rings->caller_sources;
      placed.caller_destinations = rings->caller_destinations;
      placed.blocks = rings->blocks;
      placed.total_s2m = static_cast<std::uint32_t>(rings->rings[0].rx.size());
      for (std::uint32_t r = 0; r < tdrv::kMaxRings; ++r) {
        placed.m2s_base[r] = placed.caller_sources ? 0 : (base += kRingBytes);
        placed.s2m_base[r] = placed.caller_destinations ? 0 : (base += kRingBytes);
      }
    }
  }

  void expect_block_counts(const test::NtffSubgraph& theirs) {
    std::size_t compared = 0;
    for (const test::NtffQueue& q : theirs.queues) {
      if (q.queue > 13) continue;  // runtime rings
      SCOPED_TRACE("DMA engine " + std::to_string(q.engine) + " queue " + std::to_string(q.queue) +
                   " " + q.name);
      ASSERT_LT(q.queue, queues_.size());
      const tdrv::QueuePlacement& ours = queues_[q.queue];
      EXPECT_EQ(ours.set->name, q.name);
      EXPECT_EQ(ours.is_io() ? 3u : 2u, q.usage);
      std::map<std::uint64_t, test::NtffBlock> blocks;
      for (const test::NtffBlock& b : q.blocks) blocks[b.id] = b;
      ASSERT_EQ(ours.blocks.size(), blocks.size());
      for (const tdrv::BlockCounts& b : ours.blocks) {
        ASSERT_TRUE(blocks.contains(b.block_id)) << "block " << b.block_id;
        EXPECT_EQ(b.m2s, blocks[b.block_id].m2s) << "block " << b.block_id;
        EXPECT_EQ(b.s2m, blocks[b.block_id].s2m) << "block " << b.block_id;
        ++compared;
      }
    }
    // Every set shows up on all 16 engines of the core.
    std::size_t expected = 0;
    for (const tdrv::QueuePlacement& q : queues_) expected += 16 * q.blocks.size();
    EXPECT_EQ(compared, expected);
    EXPECT_GT(compared, 0u);
  }

  Result<tdrv::ImageSet> assemble(std::size_t index) const {
    const neff::Subgraph& sg = program_.subgraphs[index];
    tdrv::ImageInputs in;
    in.arch = arch_;
    in.product = product_;
    in.form = form_;
    in.core = core_;
    in.lnc_rank = static_cast<std::uint32_t>(index);
    in.lnc_size = static_cast<std::uint32_t>(program_.subgraphs.size());
    in.peer_core = core_ ^ (in.lnc_size - 1);
    in.request_pa = memory_ + kRequest;
    in.argument_table_pa = memory_ + kRequest + 0x1000;
    in.subgraph = &sg;
    in.queues = queues_;
    in.dve = {.present = true,
              .m2s_base = memory_ + kRings - 0x2000,
              .s2m_base = memory_ + kRings - 0x1000};
    in.act = {.present = !sg.act_sets.empty(),
              .m2s_base = memory_ + kRings - 0x4000,
              .s2m_base = memory_ + kRings - 0x3000};
    in.ulib_pa = memory_ + kRequest + 0x2000;  // every profile of form 2.30 loads one
    in.ulib_bytes = 0x48e0;
    in.variable_address = addresses_;
    return tdrv::assemble_images(in);
  }

  void expect_images(const test::NtffSubgraph& theirs, std::size_t index) {
    auto images = assemble(index);
    ASSERT_TRUE(images.is_ok()) << images.status().message();
    const test::CompareContext context{arch_, product_, memory_ + kRequest};
    for (std::uint32_t engine = 0; engine < neff::kEngines; ++engine) {
      ASSERT_TRUE(theirs.engines.contains(engine));
      const test::NtffEngine& real = theirs.engines.at(engine);
      ASSERT_FALSE(real.image.empty());
      for (const std::string& d : test::compare_image(context, engine, (*images)[engine], real)) {
        ADD_FAILURE() << d;
      }
      for (const std::string& d : test::compare_patches((*images)[engine], real)) {
        ADD_FAILURE() << "engine " << engine << ": " << d;
      }
    }
  }

  std::uint32_t form_ = NRTP_FORM_2_25;
  std::uint32_t core_ = 0;
  std::uint64_t memory_ = 0;  // start of HBM
  const nrtp_arch_plugin* arch_ = nullptr;
  const nrtp_product* product_ = nullptr;
  test::Ntff profile_;
  neff::Program program_;
  std::vector<std::uint64_t> addresses_;
  std::vector<tdrv::QueuePlacement> queues_;
};

class ImagesOf225 : public Fidelity, public ::testing::WithParamInterface<const char*> {};

TEST_P(ImagesOf225, EqualTheRealOnesRecordByRecord) {
  load(GetParam());
  if (HasFatalFailure()) return;
  EXPECT_EQ(profile_.runtime_version[0], 2u);
  EXPECT_EQ(profile_.runtime_version[1], 25u);
  build_rings(0);
  if (HasFatalFailure()) return;
  expect_images(profile_.subgraphs[0], 0);
  expect_block_counts(profile_.subgraphs[0]);
}

INSTANTIATE_TEST_SUITE_P(Corpus, ImagesOf225,
                         ::testing::Values("vecadd_2tiles_sunda_b", "vecadd_1tile_sunda"),
                         [](const auto& p) { return std::string(p.param); });

// Later forms, on both cores of a logical core.
struct CaymanCase {
  const char* name;
  std::uint32_t form;
};
void PrintTo(const CaymanCase& c, std::ostream* out) { *out << c.name; }

class ImagesOfLaterForms : public Fidelity, public ::testing::WithParamInterface<CaymanCase> {};

TEST_P(ImagesOfLaterForms, EqualTheRealOnesRecordByRecord) {
  load(GetParam().name, 2);
  if (HasFatalFailure()) return;
  EXPECT_EQ(2u * 100 + profile_.runtime_version[1], GetParam().form);
  arch_ = &cayman::plugin();
  product_ = arch_->products;
  ASSERT_STREQ(product_->name, "trn2.3xlarge");
  form_ = GetParam().form;
  memory_ = 0x800000000000;
  for (std::size_t i = 0; i < program_.subgraphs.size(); ++i) {
    core_ = static_cast<std::uint32_t>(profile_.subgraphs[i].core);
    SCOPED_TRACE("core " + std::to_string(core_));
    build_rings(i);
    if (HasFatalFailure()) return;
    expect_images(profile_.subgraphs[i], i);
    const bool has_blocks = std::any_of(queues_.begin(), queues_.end(),
                                        [](const auto& q) { return !q.blocks.empty(); });
    if (has_blocks) expect_block_counts(profile_.subgraphs[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Corpus, ImagesOfLaterForms,
    ::testing::Values(CaymanCase{"vecadd_1tile_cayman", NRTP_FORM_2_27},
                      CaymanCase{"vecadd_2tiles_cayman", NRTP_FORM_2_27},
                      CaymanCase{"transpose1024_cayman_a", NRTP_FORM_2_27},
                      CaymanCase{"transpose1024_cayman_act", NRTP_FORM_2_27},
                      CaymanCase{"transpose1024_cayman_b", NRTP_FORM_2_27},
                      CaymanCase{"conv_f16_small_cayman_a", NRTP_FORM_2_27},
                      CaymanCase{"conv_f16_small_cayman_b", NRTP_FORM_2_27},
                      CaymanCase{"attention_bf16_s1024_cayman_fused", NRTP_FORM_2_30},
                      CaymanCase{"attention_bf16_s512_cayman_base", NRTP_FORM_2_30},
                      CaymanCase{"attention_f32_s512_cayman_base", NRTP_FORM_2_30},
                      CaymanCase{"attention_f32_s512_cayman_fused", NRTP_FORM_2_30}),
    [](const auto& p) { return std::string(p.param.name); });

// Images of runtime 2.23 have another gate, and no records for the switch between
// two models. Everything else is compared; what differs is printed.
class ImagesOf223 : public Fidelity, public ::testing::WithParamInterface<const char*> {
 protected:
  static tdrv::Image part(const tdrv::Image& image, std::size_t begin, std::size_t end) {
    tdrv::Image out;
    out.bytes.assign(image.bytes.begin() + static_cast<std::ptrdiff_t>(begin),
                     image.bytes.begin() + static_cast<std::ptrdiff_t>(end));
    return out;
  }
  static test::NtffEngine part(const test::NtffEngine& real, std::size_t begin, std::size_t end) {
    test::NtffEngine out;
    out.image.assign(real.image.begin() + static_cast<std::ptrdiff_t>(begin),
                     real.image.begin() + static_cast<std::ptrdiff_t>(end));
    return out;
  }

  // Slots of the real preamble that ours has no counterpart for, in order: the
  // longest common subsequence of the two is taken as equal.
  std::vector<std::size_t> unmatched(std::uint32_t engine, const tdrv::Image& ours,
                                     const test::NtffEngine& real) const {
    const test::CompareContext context{arch_, product_, kRequest};
    const std::size_t n = ours.bytes.size() / isa::kRecordBytes,
                      m = real.image.size() / isa::kRecordBytes;
    std::vector<std::vector<std::size_t>> length(n + 1, std::vector<std::size_t>(m + 1));
    std::vector<std::vector<char>> same(n, std::vector<char>(m));
    for (std::size_t i = n; i-- > 0;) {
      for (std::size_t j = m; j-- > 0;) {
        const std::size_t a = i * isa::kRecordBytes, b = j * isa::kRecordBytes;
        // A branch skips what differs; where it lands is not compared.
        same[i][j] = ours.bytes[a] == real.image[b] &&
                     (ours.bytes[a] == isa::kOpCompareBranch ||
                      test::compare_image(context, engine, part(ours, a, a + isa::kRecordBytes),
                                          part(real, b, b + isa::kRecordBytes))
                          .empty());
        length[i][j] = same[i][j] != 0 ? length[i + 1][j + 1] + 1
                                       : std::max(length[i + 1][j], length[i][j + 1]);
      }
    }
    std::vector<std::size_t> out;
    std::size_t i = 0, j = 0;
    while (j < m) {
      if (i < n && same[i][j] != 0) {
        ++i;
        ++j;
      } else if (i < n && length[i + 1][j] >= length[i][j + 1]) {
        ++i;
      } else {
        out.push_back(j++);
      }
    }
    return out;
  }
};

TEST_P(ImagesOf223, DifferInTheGateOnly) {
  load(GetParam());
  if (HasFatalFailure()) return;
  EXPECT_EQ(profile_.runtime_version[1], 23u);
  build_rings(0);
  if (HasFatalFailure()) return;
  expect_block_counts(profile_.subgraphs[0]);
  auto images = assemble(0);
  ASSERT_TRUE(images.is_ok()) << images.status().message();
  const test::CompareContext context{arch_, product_, kRequest};
  for (std::uint32_t engine = 0; engine < neff::kEngines; ++engine) {
    SCOPED_TRACE("engine " + std::to_string(engine));
    const tdrv::Image& ours = (*images)[engine];
    const test::NtffEngine& real = profile_.subgraphs[0].engines.at(engine);
    // MAIN and POSTAMBLE but for the branch back to the gate.
    const std::size_t tail = ours.bytes.size() - ours.main_offset;
    ASSERT_GT(real.image.size(), tail);
    const std::size_t start = real.image.size() - tail;
    for (const std::string& d : test::compare_image(
             context, engine, part(ours, ours.main_offset, ours.bytes.size() - isa::kRecordBytes),
             part(real, start, real.image.size() - isa::kRecordBytes))) {
      ADD_FAILURE() << d;
    }
    EXPECT_EQ(real.image[real.image.size() - isa::kRecordBytes], isa::kOpCompareBranch);
    const test::NtffEngine preamble = part(real, 0, start);
    const auto differing = unmatched(engine, part(ours, 0, ours.main_offset), preamble);
    std::string list;
    for (const std::size_t slot : differing) {
      char text[32];
      std::snprintf(text, sizeof text, " %zu:%#04x", slot,
                    preamble.image[slot * isa::kRecordBytes]);
      list += text;
    }
    std::printf("%s engine %u: records of the 2.23 gate (slot:opcode):%s\n", GetParam(), engine,
                list.c_str());
    // One piece, the gate.
    ASSERT_FALSE(differing.empty());
    EXPECT_LE(differing.back() - differing.front() + 1, 24u);
    EXPECT_GT(differing.front(), 2u);
    EXPECT_LT(differing.back(), preamble.image.size() / isa::kRecordBytes - 4);
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, ImagesOf223,
                         ::testing::Values("vecadd_2tiles_sunda_a", "vecadd_2tiles_sunda_c"),
                         [](const auto& p) { return std::string(p.param); });

// The split of blocks over rings does not depend on the runtime release; the
// counts of copies not on the arch either.
struct CountCase {
  const char* name;
  std::uint32_t lnc_size;
};
void PrintTo(const CountCase& c, std::ostream* out) { *out << c.name; }

class BlockCountsOf : public Fidelity, public ::testing::WithParamInterface<CountCase> {};

TEST_P(BlockCountsOf, RingsEqualTheRealOnes) {
  load(GetParam().name, GetParam().lnc_size);
  if (HasFatalFailure()) return;
  for (std::size_t i = 0; i < program_.subgraphs.size(); ++i) {
    if (program_.subgraphs[i].queues.empty()) continue;
    build_rings(i);
    if (HasFatalFailure()) return;
    expect_block_counts(profile_.subgraphs[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Corpus, BlockCountsOf,
                         ::testing::Values(CountCase{"vecadd_2tiles_sunda_a", 1},
                                           CountCase{"vecadd_2tiles_sunda_c", 1},
                                           CountCase{"vecadd_1tile_cayman", 2},
                                           CountCase{"vecadd_2tiles_cayman", 2},
                                           CountCase{"transpose1024_cayman_a", 2},
                                           CountCase{"transpose1024_cayman_act", 2},
                                           CountCase{"transpose1024_cayman_b", 2},
                                           CountCase{"conv_f16_small_cayman_a", 2},
                                           CountCase{"conv_f16_small_cayman_b", 2}),
                         [](const auto& p) { return std::string(p.param.name); });

// Generated DMA: the recorded records differ from the model's in the opcode and
// in the addresses of variables only.
TEST_P(ImagesOfLaterForms, GeneratedDmaEqualsTheRealOne) {
  load(GetParam().name, 2);
  if (HasFatalFailure()) return;
  arch_ = &cayman::plugin();
  product_ = arch_->products;
  form_ = GetParam().form;
  memory_ = 0x800000000000;
  std::size_t expected = 0, compared = 0;
  for (std::size_t i = 0; i < program_.subgraphs.size(); ++i) {
    core_ = static_cast<std::uint32_t>(profile_.subgraphs[i].core);
    build_rings(i);
    if (HasFatalFailure()) return;
    auto images = assemble(i);
    ASSERT_TRUE(images.is_ok()) << images.status().message();
    for (std::uint32_t e = 0; e < neff::kEngines; ++e) {
      const tdrv::Image& ours = (*images)[e];
      const auto& real = profile_.subgraphs[i].engines.at(e).image;
      const auto stream = program_.subgraphs[i].streams[e];
      std::vector<const std::uint8_t*> sources;
      for (std::size_t at = 0; at < stream.size(); at += 64) {
        const auto* record = reinterpret_cast<const std::uint8_t*>(stream.data() + at);
        if (record[0] == isa::kOpPseudoDmaDirect2d) sources.push_back(record);
      }
      expected += sources.size();
      std::size_t next = 0;
      ASSERT_EQ(ours.bytes.size(), real.size());
      for (std::size_t at = ours.main_offset; at < ours.main_offset + ours.main_bytes; at += 64) {
        if (real[at] != isa::kOpDmaMemcpy) continue;
        SCOPED_TRACE("engine " + std::to_string(e) + " slot " + std::to_string(at / 64));
        ASSERT_LT(next, sources.size());
        const std::uint8_t* source = sources[next++];
        for (std::size_t byte = 0; byte < 64; ++byte) {
          const bool address = (byte >= 16 && byte < 24) || (byte >= 40 && byte < 48);
          const std::size_t field = byte < 40 ? 16 : 40;
          // A variable in HBM lies elsewhere in our memory.
          const bool hbm = address && source[field + 7] == 0x10 &&
                           (source[field + 4] | source[field + 5] | source[field + 6]) != 0;
          if (hbm) continue;
          EXPECT_EQ(ours.bytes[at + byte], real[at + byte]) << "byte " << byte;
        }
        for (const std::size_t field : {16u, 40u}) {
          if (source[field + 7] != 0x10) continue;
          std::uint64_t mine = 0, theirs = 0;
          std::memcpy(&mine, &ours.bytes[at + field], 8);
          std::memcpy(&theirs, &real[at + field], 8);
          // Both are plain addresses with the same place in a page.
          EXPECT_EQ(mine >> 56, 0u);
          EXPECT_EQ(mine & 0xFFF, theirs & 0xFFF);
        }
        ++compared;
      }
    }
  }
  EXPECT_EQ(compared, expected);
  EXPECT_EQ(compared != 0, GetParam().form == NRTP_FORM_2_30);
}

// Every model of an arch lowers completely.
class EveryModel : public Fidelity, public ::testing::WithParamInterface<const char*> {
 protected:
  // Rings whose every trigger count is that of all rings of the set.
  void expect_whole_rings(const neff::Subgraph& sg) {
    for (const neff::QueueSet& set : sg.queues) {
      const auto rings = tdrv::build_queue_rings(set, ring_inputs(sg));
      ASSERT_TRUE(rings.is_ok()) << rings.status().message();
      ASSERT_EQ(rings->blocks.size(), set.blocks.size());
      std::size_t tx = 0, rx = 0;
      for (const tdrv::BlockCounts& b : rings->blocks) {
        tx += b.m2s;
        rx += b.s2m;
      }
      for (const tdrv::VirtualRing& ring : rings->rings) {
        EXPECT_EQ(ring.tx.size(), tx);
        EXPECT_EQ(ring.rx.size(), rx);
      }
    }
  }
};

TEST_P(EveryModel, Lowers) {
  const std::string target = GetParam();
  const bool sunda = target == "sunda";
  std::size_t models = 0;
  // Addresses of one split arch serve for the other; its validator would not.
  nrtp_arch_plugin later = cayman::plugin();
  nrtp_arch_ib ib = *later.ib;
  ib.validate_inst = nullptr;
  ib.validate_image = nullptr;
  later.ib = &ib;
  if (!sunda) {
    arch_ = &later;
    product_ = later.products;
    form_ = NRTP_FORM_2_30;
    memory_ = 0x800000000000;
  }
  for (const auto& entry : fs::directory_iterator(corpus())) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() != ".neff" || name.find(target) == std::string::npos) continue;
    SCOPED_TRACE(name);
    load_model(name, sunda ? 1 : 2);
    if (HasFatalFailure()) return;
    for (std::size_t i = 0; i < program_.subgraphs.size(); ++i) {
      core_ = sunda ? 0 : static_cast<std::uint32_t>(4 + i);
      build_rings(i);
      if (HasFatalFailure()) return;
      const neff::Subgraph& sg = program_.subgraphs[i];
      expect_whole_rings(sg);
      auto images = assemble(i);
      ASSERT_TRUE(images.is_ok()) << images.status().message();
      for (std::size_t e = 0; e < neff::kEngines; ++e) {
        EXPECT_GE((*images)[e].main_bytes + 64, sg.streams[e].size() / 2);
        // One record for each of the stream: a trigger becomes one WRITE.
        if (sunda) {
          EXPECT_EQ((*images)[e].main_bytes, sg.streams[e].size());
        }
        EXPECT_EQ((*images)[e].function_offset, (*images)[e].bytes.size());
      }
    }
    ++models;
  }
  EXPECT_GE(models, target == "mariana" ? 1u : 10u);
}

INSTANTIATE_TEST_SUITE_P(Corpus, EveryModel, ::testing::Values("sunda", "cayman", "mariana"),
                         [](const auto& p) { return std::string(p.param); });

// The comparison itself must notice a change of any byte it claims to compare.
TEST_F(Fidelity, ComparisonNoticesChangedRecords) {
  load("vecadd_1tile_sunda");
  if (HasFatalFailure()) return;
  test::NtffEngine real = profile_.subgraphs[0].engines.at(NRTP_ENGINE_POOL);
  tdrv::Image copy;
  copy.bytes = real.image;
  const test::CompareContext self{arch_, product_, 0x3c0011000};
  ASSERT_TRUE(test::compare_image(self, NRTP_ENGINE_POOL, copy, real).empty());
  std::size_t noticed = 0;
  for (std::size_t slot = 0; slot < copy.bytes.size() / 64; ++slot) {
    for (const std::size_t byte : {0u, 7u, 16u, 40u}) {
      tdrv::Image changed = copy;
      changed.bytes[slot * 64 + byte] ^= 0x04;
      noticed += test::compare_image(self, NRTP_ENGINE_POOL, changed, real).empty() ? 0 : 1;
    }
  }
  // Only the high bits of ring bases are free: 4 stores of caller-free rings.
  EXPECT_GE(noticed, 4 * copy.bytes.size() / 64 - 4);
}

TEST_F(Fidelity, EveryProfileIsReadable) {
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(corpus())) {
    if (entry.path().extension() != ".ntff") continue;
    SCOPED_TRACE(entry.path().filename().string());
    test::Ntff profile;
    std::string error;
    ASSERT_TRUE(test::read_ntff(read_file(entry.path()), profile, error)) << error;
    ASSERT_FALSE(profile.subgraphs.empty());
    for (const test::NtffSubgraph& sg : profile.subgraphs) {
      ASSERT_EQ(sg.engines.size(), neff::kEngines);
      for (const auto& [engine, e] : sg.engines) {
        EXPECT_EQ(e.image.size() % 64, 0u);
        // An image ends with the branch back to its gate.
        ASSERT_GE(e.image.size(), 64u);
        EXPECT_EQ(e.image[e.image.size() - 64], 0xA9);
        ASSERT_FALSE(e.patches.empty());
        EXPECT_EQ(e.patches.back().offset + 64 * e.patches.back().slots, e.image.size());
      }
    }
    ++files;
  }
  EXPECT_GT(files, 0u);
}

}  // namespace
}  // namespace opennrt
