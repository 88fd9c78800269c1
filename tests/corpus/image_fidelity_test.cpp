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
    limits.targets = limits.known_targets = {"sunda", "v2", "cayman", "v3", "trn2"};
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
            .subgraph = &sg,
            .variable_address = addresses_,
            .filler_pa = kVariables - 4};
  }

  static bool only_copies(const neff::QueueSet& set) {
    return std::all_of(set.blocks.begin(), set.blocks.end(), [](const neff::Block& b) {
      return std::all_of(b.descriptors.begin(), b.descriptors.end(),
                         [](const neff::Descriptor& d) { return d.op == neff::DmaOp::kCopy; });
    });
  }

  // Rings of every queue set that only copies, of subgraph `index`, in hardware queue order.
  void build_rings(std::size_t index) {
    const neff::Subgraph& sg = program_.subgraphs[index];
    addresses_ = place_variables(sg);
    const auto numbers = tdrv::assign_hardware_queues(sg);
    ASSERT_TRUE(numbers.is_ok()) << numbers.status().message();
    queues_.assign(sg.queues.size(), {});
    std::uint64_t base = memory_ + kRings;
    for (std::size_t i = 0; i < sg.queues.size(); ++i) {
      const neff::QueueSet& set = sg.queues[i];
      queues_[(*numbers)[i]].set = &set;
      if (!only_copies(set)) continue;
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
      if (!only_copies(*ours.set)) continue;
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
  for (const neff::QueueSet& set : program_.subgraphs[0].queues) {
    ASSERT_TRUE(only_copies(set)) << set.name;
  }
  build_rings(0);
  if (HasFatalFailure()) return;
  expect_images(profile_.subgraphs[0], 0);
  expect_block_counts(profile_.subgraphs[0]);
}

INSTANTIATE_TEST_SUITE_P(Corpus, ImagesOf225,
                         ::testing::Values("vecadd_2tiles_sunda_b", "vecadd_1tile_sunda"),
                         [](const auto& p) { return std::string(p.param); });

// The core has no rule for copies of the descriptor generators yet. Only opcode
// and addresses of memory change, and the latter are not compared.
int lower_generator_copy(const std::uint8_t in[64], const nrtp_ib_env*, nrtp_ibuf* out) {
  if (in[0] != isa::kOpPseudoDmaDirect2d) return NRTP_INVALID;
  std::memcpy(out->p + out->len, in, isa::kRecordBytes);
  out->p[out->len] = isa::kOpDmaMemcpy;
  out->len += isa::kRecordBytes;
  return NRTP_OK;
}

// Later forms, on both cores of a logical core. Sets that convert while
// copying take their counts from the profile.
struct CaymanCase {
  const char* name;
  std::uint32_t form;
};
void PrintTo(const CaymanCase& c, std::ostream* out) { *out << c.name; }

class ImagesOfLaterForms : public Fidelity, public ::testing::WithParamInterface<CaymanCase> {
 protected:
  void take_counts_of_conversions(const test::NtffSubgraph& theirs) {
    for (tdrv::QueuePlacement& q : queues_) {
      if (only_copies(*q.set)) continue;
      for (const test::NtffQueue& real : theirs.queues) {
        if (real.queue != q.hardware_queue || real.engine % 16 != 0) continue;
        for (const test::NtffBlock& b : real.blocks) {
          q.blocks.push_back({.block_id = static_cast<std::uint32_t>(b.id),
                              .m2s = static_cast<std::uint32_t>(b.m2s),
                              .s2m = static_cast<std::uint32_t>(b.s2m)});
          q.total_s2m += static_cast<std::uint32_t>(b.s2m);
        }
      }
      q.m2s_base.fill(memory_ + kRings);
      q.s2m_base.fill(memory_ + kRings);
    }
  }
};

TEST_P(ImagesOfLaterForms, EqualTheRealOnesRecordByRecord) {
  load(GetParam().name, 2);
  if (HasFatalFailure()) return;
  EXPECT_EQ(2u * 100 + profile_.runtime_version[1], GetParam().form);
  nrtp_arch_ib ib = *cayman::plugin().ib;
  ib.lower_pseudo = lower_generator_copy;
  nrtp_arch_plugin arch = cayman::plugin();
  arch.ib = &ib;
  arch_ = &arch;
  product_ = arch.products;
  ASSERT_STREQ(product_->name, "trn2.3xlarge");
  form_ = GetParam().form;
  memory_ = 0x800000000000;
  for (std::size_t i = 0; i < program_.subgraphs.size(); ++i) {
    core_ = static_cast<std::uint32_t>(profile_.subgraphs[i].core);
    SCOPED_TRACE("core " + std::to_string(core_));
    build_rings(i);
    take_counts_of_conversions(profile_.subgraphs[i]);
    if (HasFatalFailure()) return;
    expect_images(profile_.subgraphs[i], i);
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

// Larger models have no profile here: they must lower, or be refused by the
// name of an operation this release lacks.
TEST_F(Fidelity, SundaModelsLowerOrAreRefusedByName) {
  std::size_t lowered = 0;
  for (const auto& entry : fs::directory_iterator(corpus())) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() != ".neff" || name.find("sunda") == std::string::npos) continue;
    SCOPED_TRACE(name);
    load_model(name, 1);
    if (HasFatalFailure()) return;
    const neff::Subgraph& sg = program_.subgraphs[0];
    if (!std::all_of(sg.queues.begin(), sg.queues.end(), only_copies)) {
      addresses_ = place_variables(sg);
      bool named = false;
      for (const neff::QueueSet& set : sg.queues) {
        auto rings = tdrv::build_queue_rings(set, ring_inputs(sg));
        if (rings.is_ok()) continue;
        EXPECT_EQ(rings.status().code(), NRT_INVALID);
        named |= rings.status().message().find("not supported by this release") !=
                 std::string_view::npos;
      }
      EXPECT_TRUE(named);
      continue;
    }
    build_rings(0);
    if (HasFatalFailure()) return;
    auto images = assemble(0);
    ASSERT_TRUE(images.is_ok()) << images.status().message();
    for (std::size_t e = 0; e < neff::kEngines; ++e) {
      // One record for each of the stream: a trigger becomes one WRITE.
      EXPECT_EQ((*images)[e].main_bytes, sg.streams[e].size());
    }
    ++lowered;
  }
  EXPECT_GE(lowered, 4u);
}

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
