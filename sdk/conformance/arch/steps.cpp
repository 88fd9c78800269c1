// SPDX-License-Identifier: Apache-2.0
//
// Output of the instruction steps: whole records whose addresses decode.
#include <algorithm>
#include <cstring>
#include <vector>

#include "arch/arch_case.h"
#include "opennrt/isa/records.h"

namespace opennrt::conform {
namespace {

class ArchSteps : public ArchCase {
 protected:
  nrtp_ib_env env(std::uint32_t core, std::uint32_t engine, std::uint32_t form) const {
    nrtp_ib_env e{};
    e.size = sizeof e;
    e.form = form;
    e.product = product();
    e.core = core;
    e.engine = engine;
    e.lnc_size = 1;
    e.sem_first = arch().sync->id[NRTP_SYNC_RESERVED_SEMAPHORES];
    e.sem_last = std::min(e.sem_first + 50, geometry().semaphores - 1);
    return e;
  }
  std::vector<std::uint32_t> forms() const {
    std::vector<std::uint32_t> result;
    const std::uint32_t mask = arch().ib->form_mask;
    if (mask & NRTP_FORM_BIT_2_25) result.push_back(NRTP_FORM_2_25);
    if (mask & NRTP_FORM_BIT_2_27) result.push_back(NRTP_FORM_2_27);
    if (mask & NRTP_FORM_BIT_2_30) result.push_back(NRTP_FORM_2_30);
    return result;
  }
};

constexpr std::uint32_t kSteps = NRTP_STEP_MODEL_CONFIG + 1;

ARCH_CASE(ArchSteps, DefaultFormIsSupported) {
  EXPECT_FALSE(forms().empty());
  bool found = false;
  for (std::uint32_t form : forms()) found = found || form == arch().ib->form_default;
  EXPECT_TRUE(found);
  for (std::uint32_t e = 0; e < geometry().engines; ++e) {
    const std::uint32_t align = arch().ib->block_align[e];
    EXPECT_GE(align, 0x8000u);
    EXPECT_EQ(align & (align - 1), 0u);
  }
}

ARCH_CASE(ArchSteps, OutputIsWholeValidRecordsAndEveryAddressDecodes) {
  std::vector<std::uint8_t> buffer(0x10000);
  std::size_t records = 0;
  for (std::uint32_t form : forms()) {
    for (std::uint32_t core = 0; core < product()->cores; ++core) {
      for (std::uint32_t engine = 0; engine < geometry().engines; ++engine) {
        for (std::uint32_t step = 0; step < kSteps; ++step) {
          const nrtp_ib_env e = env(core, engine, form);
          nrtp_ibuf out{buffer.data(), buffer.size(), 0};
          ASSERT_EQ(arch().ib->step(step, &e, &out), NRTP_OK) << step << " of engine " << engine;
          ASSERT_EQ(out.len % isa::kRecordBytes, 0u);
          nrtp_diag diag{};
          diag.size = sizeof diag;
          if (arch().ib->validate_image != nullptr) {
            EXPECT_EQ(arch().ib->validate_image(engine, buffer.data(), out.len, &diag), NRTP_OK)
                << diag.msg;
          }
          for (std::uint64_t at = 0; at < out.len; at += isa::kRecordBytes) {
            ++records;
            const std::uint8_t* r = buffer.data() + at;
            if (r[0] == isa::kOpWrite) {
              const auto write = isa::load_record<isa::WriteRecord>(r);
              EXPECT_GE(decode(write.address0).bytes_left, 4u);
              if (write.size1 != 0) {
                EXPECT_GE(decode(write.address1).bytes_left, 4u);
              }
            } else if (r[0] == isa::kOpTensorLoad || r[0] == isa::kOpTensorStore) {
              EXPECT_GE(decode(isa::load_record<isa::MemRecord>(r).address).bytes_left, 4u);
            } else if (r[0] == isa::kOpCompareBranch) {
              const auto branch = isa::load_record<isa::CompareBranchRecord>(r);
              const std::int64_t target = static_cast<std::int64_t>(at) + branch.offset;
              EXPECT_GE(target, 0);
              EXPECT_LE(target, static_cast<std::int64_t>(out.len));
              EXPECT_EQ(branch.offset % 64, 0);
            }
          }
        }
      }
    }
  }
  EXPECT_GT(records, 0u);
}

ARCH_CASE(ArchSteps, AppendsAfterWhatIsThere) {
  std::vector<std::uint8_t> buffer(0x10000, 0xEE);
  const nrtp_ib_env e = env(0, geometry().engines - 1, arch().ib->form_default);
  nrtp_ibuf first{buffer.data(), buffer.size(), 0};
  ASSERT_EQ(arch().ib->step(NRTP_STEP_SEM_RESET, &e, &first), NRTP_OK);
  ASSERT_GT(first.len, 0u);
  nrtp_ibuf again{buffer.data(), buffer.size(), first.len};
  ASSERT_EQ(arch().ib->step(NRTP_STEP_SEM_RESET, &e, &again), NRTP_OK);
  EXPECT_EQ(again.len, 2 * first.len);
  EXPECT_EQ(std::memcmp(buffer.data(), buffer.data() + first.len, first.len), 0);
}

ARCH_CASE(ArchSteps, TooSmallABufferIsRefusedUnchanged) {
  std::vector<std::uint8_t> buffer(0x10000, 0xEE);
  for (std::uint32_t engine = 0; engine < geometry().engines; ++engine) {
    for (std::uint32_t step = 0; step < kSteps; ++step) {
      const nrtp_ib_env e = env(0, engine, arch().ib->form_default);
      nrtp_ibuf whole{buffer.data(), buffer.size(), 0};
      ASSERT_EQ(arch().ib->step(step, &e, &whole), NRTP_OK);
      if (whole.len == 0) continue;
      std::vector<std::uint8_t> small(whole.len - 1, 0xEE);
      nrtp_ibuf out{small.data(), small.size(), 0};
      EXPECT_EQ(arch().ib->step(step, &e, &out), NRTP_RESOURCE) << step;
      EXPECT_EQ(out.len, 0u);
      EXPECT_EQ(small, std::vector<std::uint8_t>(small.size(), 0xEE));
    }
  }
}

ARCH_CASE(ArchSteps, WrongArgumentsAreRefused) {
  std::vector<std::uint8_t> buffer(0x4000);
  nrtp_ibuf out{buffer.data(), buffer.size(), 0};
  const std::uint32_t form = arch().ib->form_default;
  const nrtp_ib_env good = env(0, 0, form);
  const auto* ib = arch().ib;
  EXPECT_EQ(ib->step(NRTP_STEP_SEM_RESET, nullptr, &out), NRTP_INVALID);
  EXPECT_EQ(ib->step(NRTP_STEP_SEM_RESET, &good, nullptr), NRTP_INVALID);
  EXPECT_EQ(ib->step(kSteps, &good, &out), NRTP_INVALID);
  nrtp_ib_env bad = env(0, geometry().engines, form);
  EXPECT_EQ(ib->step(NRTP_STEP_SEM_RESET, &bad, &out), NRTP_INVALID);
  bad = env(product()->cores, 0, form);
  EXPECT_EQ(ib->step(NRTP_STEP_SEM_RESET, &bad, &out), NRTP_INVALID);
  bad = env(0, 0, 223);
  EXPECT_EQ(ib->step(NRTP_STEP_SEM_RESET, &bad, &out), NRTP_INVALID);
  bad = good;
  bad.product = nullptr;
  EXPECT_EQ(ib->step(NRTP_STEP_SEM_RESET, &bad, &out), NRTP_INVALID);
  bad = good;
  bad.sem_last = geometry().semaphores;
  EXPECT_EQ(ib->step(NRTP_STEP_SEM_RESET, &bad, &out), NRTP_INVALID);
  bad = good;
  bad.sem_first = bad.sem_last + 1;
  EXPECT_EQ(ib->step(NRTP_STEP_SEM_RESET, &bad, &out), NRTP_INVALID);
  nrtp_ibuf unaligned{buffer.data(), buffer.size(), 32};
  EXPECT_EQ(ib->step(NRTP_STEP_SEM_RESET, &good, &unaligned), NRTP_INVALID);
  EXPECT_EQ(out.len, 0u);
}

}  // namespace
}  // namespace opennrt::conform
