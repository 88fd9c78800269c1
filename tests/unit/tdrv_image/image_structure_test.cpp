// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "test_program.h"

namespace opennrt::tdrv::test {
namespace {

using isa::kRecordBytes;

ImageSet assemble(const ImageInputs& in) {
  auto images = assemble_images(in);
  EXPECT_TRUE(images.is_ok()) << images.status().message();
  return images.is_ok() ? *std::move(images) : ImageSet{};
}

template <typename Record>
Record record_at(const Image& image, std::size_t slot) {
  return isa::load_record<Record>(image.bytes.data() + slot * kRecordBytes);
}
std::size_t slots(const Image& image) { return image.bytes.size() / kRecordBytes; }
std::size_t count_opcode(const Image& image, std::uint8_t opcode) {
  std::size_t n = 0;
  for (std::size_t s = 0; s < slots(image); ++s) n += image.bytes[s * kRecordBytes] == opcode;
  return n;
}

// What must hold for every image, whatever its program.
void check_invariants(const ImageSet& images) {
  for (std::size_t e = 0; e < images.size(); ++e) {
    SCOPED_TRACE("engine " + std::to_string(e));
    const Image& image = images[e];
    ASSERT_EQ(image.bytes.size() % kRecordBytes, 0u);
    ASSERT_GT(image.gate_offset, 0u);
    ASSERT_LT(image.gate_offset, image.main_offset);
    ASSERT_EQ(image.main_offset + image.main_bytes, image.postamble_offset);
    ASSERT_LT(image.postamble_offset, image.bytes.size());
    EXPECT_EQ(image.gate_offset % kRecordBytes, 0u);
    EXPECT_EQ(image.main_offset % kRecordBytes, 0u);
    // The gate begins with ORDER 1; SWITCH ends right before it, with a branch.
    const auto gate = record_at<isa::OrderingRecord>(image, image.gate_offset / kRecordBytes);
    EXPECT_EQ(gate.h.opcode, isa::kOpSetOrderingMode);
    EXPECT_EQ(gate.mode, 1);
    std::size_t barriers = 0;
    for (std::size_t s = 0; s < slots(image); ++s) {
      if (image.bytes[s * kRecordBytes] == isa::kOpCompareBranch) {
        const auto b = record_at<isa::CompareBranchRecord>(image, s);
        if (b.target_mode != isa::kTargetRelative) continue;
        const std::ptrdiff_t target = static_cast<std::ptrdiff_t>(s * kRecordBytes) + b.offset;
        EXPECT_GE(target, 0) << "slot " << s;
        EXPECT_LT(target, static_cast<std::ptrdiff_t>(image.bytes.size())) << "slot " << s;
        EXPECT_EQ(target % static_cast<std::ptrdiff_t>(kRecordBytes), 0) << "slot " << s;
      }
      if (image.bytes[s * kRecordBytes] == isa::kOpEventSemaphore) {
        barriers += record_at<isa::EventSemaphoreRecord>(image, s).update_index == 2 ? 1 : 0;
      }
    }
    // The last record leads back to the gate.
    const auto last = record_at<isa::CompareBranchRecord>(image, slots(image) - 1);
    EXPECT_EQ(last.h.opcode, isa::kOpCompareBranch);
    EXPECT_EQ(static_cast<std::ptrdiff_t>(image.bytes.size() - kRecordBytes) + last.offset,
              static_cast<std::ptrdiff_t>(image.gate_offset));
    // SP meets each barrier with one record, the other engines with two.
    const std::size_t per_barrier = e == NRTP_ENGINE_SP ? 1 : 2;
    const std::size_t pe = 2;
    std::size_t of_pe = 0;
    for (std::size_t s = 0; s < slots(images[0]); ++s) {
      if (images[0].bytes[s * kRecordBytes] != isa::kOpEventSemaphore) continue;
      of_pe += record_at<isa::EventSemaphoreRecord>(images[0], s).update_index == 2 ? 1 : 0;
    }
    EXPECT_EQ(barriers * pe, of_pe * per_barrier);
    // Patches lie in order inside the image and cover all that is not MAIN.
    std::size_t inserted = 0;
    std::uint32_t end = 0;
    for (const Patch& patch : image.patches) {
      EXPECT_GE(patch.offset, end);
      if (patch.type == PatchType::kInsert) {
        end = patch.offset + patch.slots * static_cast<std::uint32_t>(kRecordBytes);
        inserted += patch.slots;
      }
    }
    EXPECT_EQ(end, image.bytes.size());
    EXPECT_EQ(inserted, slots(image) - image.main_bytes / kRecordBytes);
  }
}

class Structure : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  ArchCopy arch_;
};

TEST_P(Structure, ProgramWithTwoSets) {
  TestProgram p;
  add_input_and_output(p);
  check_invariants(assemble(p.inputs(arch_.plugin, GetParam())));
}

TEST_P(Structure, EmptyProgram) {
  TestProgram p;
  for (std::size_t e = 0; e < 5; ++e) p.clear_stream(static_cast<neff::Engine>(e));
  const ImageSet images = assemble(p.inputs(arch_.plugin, GetParam()));
  for (const Image& image : images) EXPECT_EQ(image.main_bytes, 0u);
  check_invariants(images);
}

TEST_P(Structure, ReadyProgram) {
  ImageInputs in;
  in.arch = &arch_.plugin;
  in.product = arch_.plugin.products;
  in.form = GetParam();
  in.request_pa = TestProgram::kRequest;
  const ImageSet images = assemble(in);
  check_invariants(images);
  // No ring is set up: the one STORE is POOL's bound check.
  for (std::size_t e = 0; e < images.size(); ++e) {
    EXPECT_EQ(count_opcode(images[e], isa::kOpTensorStore), e == NRTP_ENGINE_POOL ? 1u : 0u);
  }
}

TEST_P(Structure, LabelsAreDeletedAndBothKeepThePatchList) {
  TestProgram p;
  p.add(neff::Engine::kAct, isa::zero_record<isa::ControlRecord>(isa::kOpPseudoBranchLabel));
  p.add(neff::Engine::kAct, isa::zero_record<isa::ControlRecord>(isa::kOpNop));
  const ImageSet images = assemble(p.inputs(arch_.plugin, GetParam()));
  check_invariants(images);
  const Image& act = images[NRTP_ENGINE_ACT];
  EXPECT_EQ(act.main_bytes, 2 * kRecordBytes);
  const auto deleted = std::find_if(act.patches.begin(), act.patches.end(), [](const Patch& patch) {
    return patch.type == PatchType::kDelete;
  });
  ASSERT_NE(deleted, act.patches.end());
  EXPECT_EQ(deleted->offset, act.main_offset + kRecordBytes);  // behind ORDER
  EXPECT_EQ(deleted->slots, 1u);
  EXPECT_EQ(deleted->section, Section::kMain);
}

TEST_P(Structure, PatchesOfAPart) {
  TestProgram p;
  const ImageSet images = assemble(p.inputs(arch_.plugin, GetParam()));
  // Release 2.25 lists the parts one by one, later ones a region at a time.
  const std::size_t expected = GetParam() == NRTP_FORM_2_25 ? 5 : 2;
  for (const Image& image : images) EXPECT_EQ(image.patches.size(), expected);
}

INSTANTIATE_TEST_SUITE_P(Forms, Structure,
                         ::testing::Values(NRTP_FORM_2_25, NRTP_FORM_2_27, NRTP_FORM_2_30),
                         [](const auto& p) { return "Form" + std::to_string(p.param); });

TEST(ImageStructure, SemaphoreSharesCoverThreeTo255Once) {
  TestProgram p;
  const ImageSet images = assemble(p.inputs());
  // First and last semaphore that each engine resets, as in device images.
  const std::array<std::array<std::size_t, 2>, 5> expected = {
      {{3, 53}, {54, 104}, {105, 155}, {156, 206}, {207, 255}}};
  for (std::size_t e = 0; e < 5; ++e) {
    std::vector<std::size_t> reset;
    for (std::size_t s = images[e].postamble_offset / kRecordBytes; s < slots(images[e]); ++s) {
      if (images[e].bytes[s * kRecordBytes] != isa::kOpEventSemaphore) continue;
      const auto r = record_at<isa::EventSemaphoreRecord>(images[e], s);
      if (r.update_mode == isa::kUpdateSemWrite && r.update_index != 2) {
        reset.push_back(r.update_index);
      }
    }
    ASSERT_FALSE(reset.empty());
    EXPECT_EQ(reset.front(), expected[e][0]);
    EXPECT_EQ(reset.back(), expected[e][1]);
    EXPECT_EQ(reset.size(), expected[e][1] - expected[e][0] + 1);
  }
}

TEST(ImageStructure, PreArmedSetIsArmedAtSetUpAndAfterEachRun) {
  TestProgram p;
  const auto sb = p.add_variable("SB", neff::VariableType::kStateBuffer, 0, 0);
  const auto w = p.add_variable("w", neff::VariableType::kFile, 128 * 64, 0x40000000);
  auto& set = p.add_set("qSPSpillReload0", neff::QueueType::kData, neff::Engine::kSp);
  for (std::uint32_t id = 0; id < 2; ++id) {
    set.blocks.push_back(block(
        id, {copy(pattern(w, 0, {64, 128}, {1, 64}), pattern(sb, 0, {64, 128}, {1, kPartition}))}));
  }
  p.add_trigger(neff::Engine::kSp, set.name, 0);
  p.add_trigger(neff::Engine::kSp, set.name, 1);
  const ImageInputs in = p.inputs();
  const ImageSet images = assemble(in);
  const Image& sp = images[NRTP_ENGINE_SP];
  const std::uint64_t s2m_tail = 0xffff1000000 + 0x21000 + 0x38;  // queue 0, all engines
  const std::uint64_t m2s_tail = 0xffff1000000 + 0x1000 + 0x38;
  std::vector<std::array<std::uint64_t, 3>> writes;  // region, address, data
  for (std::size_t s = 0; s < slots(sp); ++s) {
    if (sp.bytes[s * kRecordBytes] != isa::kOpWrite) continue;
    const auto r = record_at<isa::WriteRecord>(sp, s);
    if (r.address0 != s2m_tail && r.address0 != m2s_tail) continue;
    EXPECT_EQ(r.size1, 0);
    const std::size_t at = s * kRecordBytes;
    writes.push_back({at < sp.gate_offset        ? 0u
                      : at < sp.main_offset      ? 1u
                      : at < sp.postamble_offset ? 2u
                                                 : 3u,
                      r.address0, r.data0});
  }
  // 8 rows a ring into 8 partitions + increment = 9 a block; the source is dense: 2 + 1.
  const std::vector<std::array<std::uint64_t, 3>> expected = {
      {0, s2m_tail, 18}, {2, m2s_tail, 3}, {2, m2s_tail, 3}, {3, s2m_tail, 18}};
  EXPECT_EQ(writes, expected);
}

TEST(ImageStructure, SetUpWritesBasesOfSixteenRings) {
  TestProgram p;
  add_input_and_output(p);
  const ImageInputs in = p.inputs();
  const ImageSet images = assemble(in);
  // qSPIO0 is queue 1 and reads the caller's input: its TX bases come later.
  const Image& sp = images[NRTP_ENGINE_SP];
  std::size_t stores = 0;
  for (std::size_t s = 0; s < sp.gate_offset / kRecordBytes; ++s) {
    if (sp.bytes[s * kRecordBytes] != isa::kOpTensorStore) continue;
    const auto r = record_at<isa::MemRecord>(sp, s);
    const std::size_t group = stores / 3;
    const std::uint64_t window = 0xffff0000000 + group * 4 * 0x40000;
    EXPECT_EQ(r.count_inner, 2);
    EXPECT_EQ(r.count_outer, 4);
    EXPECT_EQ(r.step_outer, 0x40000 / 4);
    switch (stores % 3) {
      case 0:
        EXPECT_EQ(r.address, window + 0x2028);
        for (const std::uint32_t word : r.data) EXPECT_EQ(word, 0u);
        break;
      case 1:
        EXPECT_EQ(r.address, window + 0x22028);
        for (std::size_t i = 0; i < 4; ++i) {
          EXPECT_EQ(r.data[2 * i], in.queues[1].s2m_base[group * 4 + i]);
          EXPECT_EQ(r.data[2 * i + 1], 0u);
        }
        break;
      default:
        EXPECT_EQ(r.address, window + 0x2030);
        EXPECT_EQ(r.step_inner, 0x20000 / 4);
        for (const std::uint32_t word : r.data) EXPECT_EQ(word, 0xFFFFF0u);
    }
    ++stores;
  }
  EXPECT_EQ(stores, 12u);
}

// The DVE tables come over one engine of the core: number 11, queue 14 (device
// images of real runs). The broadcast that resets this ring excludes the others.
TEST(ImageStructure, TableRingIsResetAlone) {
  TestProgram p;
  const ImageSet images = assemble(p.inputs());
  constexpr std::uint64_t kS2mReset = 0xffff1000000 + 0x21000 + 14 * 0x1000 + 0x64;
  constexpr std::uint64_t kM2sReset = 0xffff1000000 + 0x1000 + 14 * 0x1000 + 0xB0;
  for (std::size_t e = 0; e < images.size(); ++e) {
    std::size_t found = 0;
    for (std::size_t s = 0; s < images[e].gate_offset / kRecordBytes; ++s) {
      if (images[e].bytes[s * kRecordBytes] != isa::kOpWrite) continue;
      const auto r = record_at<isa::WriteRecord>(images[e], s);
      if (r.address0 != kS2mReset) continue;
      EXPECT_EQ(r.address1, kM2sReset);
      EXPECT_EQ(r.data0, 0xF7FF0100u);
      EXPECT_EQ(r.data1, 0xF7FF0100u);
      ++found;
    }
    EXPECT_EQ(found, e == NRTP_ENGINE_DVE ? 1u : 0u) << e;
  }
}

// The usual kick of the DVE tables is 5 (device images of real runs); a ring of
// longer tables says how many descriptors it has.
TEST(ImageStructure, TableRingIsReleasedAsAWhole) {
  TestProgram p;
  constexpr std::uint64_t kS2mTail = 0xffff0000000 + 11 * 0x40000 + 0x21000 + 14 * 0x1000 + 0x38;
  for (const std::uint32_t descriptors : {0u, 9u}) {
    ImageInputs in = p.inputs();
    in.dve.descriptors = descriptors;
    const Image dve = assemble(in)[NRTP_ENGINE_DVE];
    std::vector<std::array<std::uint64_t, 2>> released;
    for (std::size_t s = 0; s < dve.gate_offset / kRecordBytes; ++s) {
      if (dve.bytes[s * kRecordBytes] != isa::kOpWrite) continue;
      const auto r = record_at<isa::WriteRecord>(dve, s);
      if (r.address0 == kS2mTail) released.push_back({r.data0, r.data1});
    }
    const std::uint64_t want = descriptors == 0 ? 5 : descriptors;
    EXPECT_EQ(released, (std::vector<std::array<std::uint64_t, 2>>{{want, want}}));
  }
}

TEST(ImageStructure, SetWithBothCallerSidesDoublesTheIoSwitch) {
  TestProgram p;
  const auto in_var = p.add_variable("x", neff::VariableType::kInput, 4096, kCaller);
  const auto out_var = p.add_variable("y", neff::VariableType::kOutput, 4096, kCaller);
  auto& set = p.add_set("qSPIO0", neff::QueueType::kIn, neff::Engine::kSp);
  set.blocks.push_back(
      block(0, {copy(pattern(in_var, 0, {4096}, {1}), pattern(out_var, 0, {4096}, {1}))}));
  const ImageSet images = assemble(p.inputs());
  const Image& pe = images[NRTP_ENGINE_PE];
  bool found = false;
  for (std::size_t s = pe.gate_offset / kRecordBytes; s < pe.main_offset / kRecordBytes; ++s) {
    if (pe.bytes[s * kRecordBytes] != isa::kOpWrite) continue;
    found |= record_at<isa::WriteRecord>(pe, s).data0 == 65;  // 2 sides x 2 x 16 + event
  }
  EXPECT_TRUE(found);
}

TEST(ImageStructure, ArgumentTableLoadsTheRegisterPair) {
  ArchCopy arch;
  TestProgram p;
  p.add_variable("table", neff::VariableType::kDgeTable, 0, 0);
  ImageInputs in = p.inputs(arch.plugin, NRTP_FORM_2_30);
  in.argument_table_pa = 0x62000000;
  const ImageSet images = assemble(in);
  check_invariants(images);
  for (const Image& image : images) {
    std::size_t found = 0;
    for (std::size_t s = 0; s < image.main_offset / kRecordBytes; ++s) {
      if (image.bytes[s * kRecordBytes] != isa::kOpTensorLoad) continue;
      const auto r = record_at<isa::MemRecord>(image, s);
      if (r.address != in.argument_table_pa) continue;
      EXPECT_EQ(r.reg[0], 0x82);
      EXPECT_EQ(r.reg[1], 0x83);
      EXPECT_EQ(r.count_inner, 2);
      EXPECT_EQ(r.step_inner, 1);
      ++found;
    }
    EXPECT_EQ(found, 1u);
  }
}

// --- refusals -----------------------------------------------------------------

Status refusal(const ImageInputs& in) {
  auto images = assemble_images(in);
  EXPECT_FALSE(images.is_ok());
  return images.is_ok() ? Status::ok() : std::move(images).status();
}

TEST(ImageRefusal, UnknownFormAndFormOfAnotherArch) {
  TestProgram p;
  ImageInputs in = p.inputs();
  in.form = 226;
  EXPECT_EQ(refusal(in).code(), NRT_INVALID);
  in.form = NRTP_FORM_2_30;  // sunda knows 2.25 and 2.27
  const Status s = refusal(in);
  EXPECT_EQ(s.code(), NRT_INVALID);
  EXPECT_NE(s.message().find("230"), std::string_view::npos);
}

TEST(ImageRefusal, DgeTableNeedsForm230) {
  TestProgram p;
  p.add_variable("table", neff::VariableType::kDgeTable, 0, 0);
  const Status s = refusal(p.inputs());
  EXPECT_EQ(s.code(), NRT_INVALID);
  EXPECT_NE(s.message().find("dge-table"), std::string_view::npos);
}

TEST(ImageRefusal, MoreThanFourteenSets) {
  TestProgram p;
  for (int i = 0; i < 15; ++i) {
    p.add_set("q" + std::to_string(100 + i), neff::QueueType::kIn, neff::Engine::kSp);
  }
  EXPECT_EQ(assign_hardware_queues(p.sg, sunda(), *sunda().products, 0).status().code(),
            NRT_RESOURCE);
  ImageInputs in = p.inputs();
  for (std::size_t i = 0; i < in.queues.size(); ++i) in.queues[i].set = &p.sg.queues[i];
  const Status s = refusal(in);
  EXPECT_EQ(s.code(), NRT_RESOURCE);
  EXPECT_NE(s.message().find("15"), std::string_view::npos);
}

TEST(ImageRefusal, SetWithoutOwner) {
  TestProgram p;
  add_input_and_output(p);
  p.sg.queues[0].owner.reset();
  const Status s = refusal(p.inputs());
  EXPECT_EQ(s.code(), NRT_INVALID);
  EXPECT_NE(s.message().find("qSPIO0"), std::string_view::npos);
}

TEST(ImageRefusal, FailingArchStepIsReported) {
  ArchCopy arch;
  arch.ib.step = [](std::uint32_t, const nrtp_ib_env*, nrtp_ibuf* out) {
    out->len = 7;  // no whole record
    return static_cast<int>(NRTP_OK);
  };
  TestProgram p;
  const Status s = refusal(p.inputs(arch.plugin));
  EXPECT_EQ(s.code(), NRT_FAILURE);
  EXPECT_NE(s.message().find("step"), std::string_view::npos);
}

// Silicon with other counts than the built-in families.
struct SmallArch : ArchCopy {
  SmallArch() : geometry(*plugin.geometry), sync(*plugin.sync) {
    geometry.engines = 4;
    geometry.semaphores = 103;
    geometry.dma_per_core = 12;
    sync.id[NRTP_SYNC_INF_INIT_LAST] = 2;
    plugin.geometry = &geometry;
    plugin.sync = &sync;
    dma.alloc_class = [](const nrtp_product*, std::uint32_t, std::uint32_t, nrtp_dma_slot* out,
                         std::uint32_t* n) {
      if (*n < 3) return static_cast<int>(NRTP_RESOURCE);
      *n = 3;
      for (std::uint32_t i = 0; i < 3; ++i) out[i] = {0, 2 * i + 1};
      return static_cast<int>(NRTP_OK);
    };
  }
  nrtp_arch_geometry geometry;
  nrtp_arch_sync sync;
};

TEST(OtherCounts, AnEngineThatIsNotThereHasNoImage) {
  SmallArch arch;
  TestProgram p;
  const ImageSet images = assemble(p.inputs(arch.plugin));
  EXPECT_TRUE(images[NRTP_ENGINE_SP].bytes.empty());
  // The barrier goes from PE to DVE and back: 0 to 6, DVE turns it.
  std::vector<std::uint32_t> values;
  for (std::uint32_t e = 0; e < 4; ++e) {
    ASSERT_FALSE(images[e].bytes.empty()) << e;
    std::uint32_t in_first = 0;
    for (std::size_t s = 0; s < slots(images[e]); ++s) {
      const auto r = record_at<isa::EventSemaphoreRecord>(images[e], s);
      if (r.h.opcode != isa::kOpEventSemaphore || r.update_index != 2) continue;
      values.push_back(r.wait_mode == isa::kWaitSemEq ? r.wait_value : 0);
      if (++in_first == (e == NRTP_ENGINE_DVE ? 1u : 2u)) break;
    }
  }
  std::sort(values.begin(), values.end());
  EXPECT_EQ(values, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6}));
}

TEST(OtherCounts, TheSemaphoresArePutBackByTheEnginesThatAreThere) {
  SmallArch arch;
  static std::array<std::pair<std::uint32_t, std::uint32_t>, 5> shares;
  shares = {};
  arch.ib.step = [](std::uint32_t which, const nrtp_ib_env* env, nrtp_ibuf* out) {
    if (which == NRTP_STEP_SEM_RESET) shares[env->engine] = {env->sem_first, env->sem_last};
    return ArchCopy::step(which, env, out);
  };
  TestProgram p;
  assemble(p.inputs(arch.plugin));
  // 3 to 102 in four parts.
  EXPECT_EQ(shares[0], std::pair(3u, 27u));
  EXPECT_EQ(shares[3], std::pair(78u, 102u));
  EXPECT_EQ(shares[4], std::pair(0u, 0u));
}

TEST(OtherCounts, AProgramForAMissingEngineIsRefused) {
  SmallArch arch;
  TestProgram p;
  p.add(neff::Engine::kSp, isa::zero_record<isa::ControlRecord>(isa::kOpNop));
  const Status s = refusal(p.inputs(arch.plugin));
  EXPECT_EQ(s.code(), NRT_INVALID);
  EXPECT_NE(s.message().find("record 1 (opcode 0xa4) is for SP"), std::string_view::npos)
      << s.message();
}

TEST(OtherCounts, QueuesAreThoseThatTheArchGives) {
  SmallArch arch;
  TestProgram p;
  for (const char* name : {"qA", "qB", "qC"})
    p.add_set(name, neff::QueueType::kIn, neff::Engine::kPool).num_queues = 12;
  const auto q = assign_hardware_queues(p.sg, arch.plugin, *arch.plugin.products, 0);
  ASSERT_TRUE(q.is_ok());
  EXPECT_EQ(*q, (std::vector<std::uint32_t>{1, 3, 5}));
  EXPECT_TRUE(p.rings(p.sg.queues[0], arch.plugin).is_ok());
  p.sg.queues[0].num_queues = 13;
  const auto rings = p.rings(p.sg.queues[0], arch.plugin);
  EXPECT_EQ(rings.status().code(), NRT_INVALID);
  EXPECT_NE(rings.status().message().find("1 to 12"), std::string_view::npos);
  p.add_set("qD", neff::QueueType::kIn, neff::Engine::kPool);
  EXPECT_EQ(assign_hardware_queues(p.sg, arch.plugin, *arch.plugin.products, 0).status().code(),
            NRT_RESOURCE);
}

TEST(HardwareQueues, DataSetsComeFirstThenByName) {
  TestProgram p;
  p.add_set("qB", neff::QueueType::kIn, neff::Engine::kSp);
  p.add_set("qZ", neff::QueueType::kData, neff::Engine::kSp);
  p.add_set("qA", neff::QueueType::kOut, neff::Engine::kPool);
  p.add_set("qC", neff::QueueType::kData, neff::Engine::kAct);
  const auto q = assign_hardware_queues(p.sg, sunda(), *sunda().products, 0);
  ASSERT_TRUE(q.is_ok());
  EXPECT_EQ(*q, (std::vector<std::uint32_t>{3, 1, 2, 0}));
}

TEST(HardwareQueues, NoSets) {
  TestProgram p;
  const auto q = assign_hardware_queues(p.sg, sunda(), *sunda().products, 0);
  ASSERT_TRUE(q.is_ok());
  EXPECT_TRUE(q->empty());
}

}  // namespace
}  // namespace opennrt::tdrv::test
