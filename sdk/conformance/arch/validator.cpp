// SPDX-License-Identifier: Apache-2.0
//
// The instruction validator, whatever the silicon: it tells what is wrong where, takes
// only what can be executed, and looks at nothing beyond the record.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "arch/arch_case.h"
#include "opennrt/isa/records.h"
#include "opennrt/isa/table.h"

namespace opennrt::conform {
namespace {

class ArchValidator : public ArchCase {
 protected:
  void SetUp() override {
    ArchCase::SetUp();
    if (HasFatalFailure() || IsSkipped()) return;
    if (ib().validate_inst == nullptr || ib().validate_image == nullptr)
      GTEST_SKIP() << "not offered";
  }
  const nrtp_arch_ib& ib() const { return *arch().ib; }
  isa::Generation generation() const {
    const bool named = NRTP_HAS(nrtp_arch_ib, arch().ib, isa) && ib().isa != 0;
    const std::uint32_t type = named ? ib().isa : arch().arch_type;
    return isa::generation_of_arch(type).value_or(isa::Generation::kMariana);
  }
  bool claimed(std::uint32_t engine, std::uint8_t opcode) const {
    return arch().semantics != nullptr && arch().semantics->claims != nullptr &&
           arch().semantics->claims(engine, opcode) != 0;
  }
  // Of one record, with a guarded diagnosis and a record that ends its memory.
  int check(std::uint32_t engine, const std::uint8_t* record) {
    std::memset(&guarded_, 0xC7, sizeof guarded_);
    guarded_.diag.size = sizeof guarded_.diag;
    guarded_.diag.slot = 0;
    guarded_.diag.msg[0] = '\0';
    const int status = ib().validate_inst(engine, record, &guarded_.diag);
    for (const unsigned char c : guarded_.behind) EXPECT_EQ(c, 0xC7) << "wrote behind nrtp_diag";
    EXPECT_EQ(guarded_.diag.size, sizeof guarded_.diag);
    return status;
  }
  void expect_explained(std::uint32_t slot, std::uint8_t opcode) {
    EXPECT_EQ(guarded_.diag.slot, slot);
    EXPECT_EQ(guarded_.diag.opcode, opcode);
    expect_message(guarded_.diag);
  }
  static void expect_message(const nrtp_diag& diag) {
    ASSERT_NE(std::memchr(diag.msg, 0, sizeof diag.msg), nullptr) << "the message has no end";
    EXPECT_STRNE(diag.msg, "");
    EXPECT_EQ(std::strchr(diag.msg, '\n'), nullptr) << diag.msg;
  }
  struct {
    nrtp_diag diag;
    unsigned char behind[64];
  } guarded_;
};

void put(std::vector<std::uint8_t>* image, std::size_t slot, std::uint8_t opcode) {
  std::memset(image->data() + slot * isa::kRecordBytes, 0, isa::kRecordBytes);
  (*image)[slot * isa::kRecordBytes] = opcode;
  (*image)[slot * isa::kRecordBytes + 1] = 0x10;
}

// The last record of a page in front of one that nobody may read.
class LastOfPage {
 public:
  LastOfPage() : bytes_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    void* at =
        mmap(nullptr, 2 * bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) return;
    base_ = static_cast<std::uint8_t*>(at);
    mprotect(base_ + bytes_, bytes_, PROT_NONE);
  }
  ~LastOfPage() {
    if (base_ != nullptr) munmap(base_, 2 * bytes_);
  }
  LastOfPage(const LastOfPage&) = delete;
  LastOfPage& operator=(const LastOfPage&) = delete;
  std::span<std::uint8_t> record() const {
    if (base_ == nullptr) return {};
    return {base_ + bytes_ - isa::kRecordBytes, isa::kRecordBytes};
  }

 private:
  std::size_t bytes_;
  std::uint8_t* base_ = nullptr;
};

// A record of an opcode that nobody has on that engine, or 0.
std::uint8_t unknown_opcode() {
  for (std::uint32_t opcode = 0xFF; opcode != 0; --opcode)
    if (isa::find_instruction(static_cast<std::uint8_t>(opcode)) == nullptr)
      return static_cast<std::uint8_t>(opcode);
  return 0;
}

ARCH_CASE(ArchValidator, TakesWhatTheRuntimeItselfWrites) {
  for (std::uint32_t engine = 0; engine < geometry().engines; ++engine) {
    for (const std::uint8_t opcode : {isa::kOpNop, isa::kOpHalt, isa::kOpEventSemaphore}) {
      std::vector<std::uint8_t> record(isa::kRecordBytes);
      put(&record, 0, opcode);
      EXPECT_EQ(check(engine, record.data()), NRTP_OK)
          << isa::opcode_name(opcode) << " on engine " << engine << ": " << guarded_.diag.msg;
    }
  }
}

// What it takes can be executed: the named instruction table or the plugin's own.
ARCH_CASE(ArchValidator, TakesOnlyWhatCanBeExecuted) {
  std::vector<std::uint8_t> record(isa::kRecordBytes);
  for (std::uint32_t engine = 0; engine < geometry().engines; ++engine) {
    for (std::uint32_t code = 0; code < 256; ++code) {
      const auto opcode = static_cast<std::uint8_t>(code);
      put(&record, 0, opcode);
      const int status = check(engine, record.data());
      if (status != NRTP_OK) {
        EXPECT_EQ(status, NRTP_INVALID) << code;
        expect_explained(0, opcode);
        continue;
      }
      const isa::Instruction* known = isa::find_instruction(opcode);
      EXPECT_TRUE(claimed(engine, opcode) || (known != nullptr && known->exists_on(generation())))
          << "opcode " << code << " on engine " << engine << " is nobody's";
    }
  }
}

ARCH_CASE(ArchValidator, NamesSlotOpcodeAndReason) {
  const std::uint8_t unknown = unknown_opcode();
  ASSERT_NE(unknown, 0);
  std::vector<std::uint8_t> image(5 * isa::kRecordBytes);
  for (std::size_t slot = 0; slot < 5; ++slot) put(&image, slot, isa::kOpNop);
  nrtp_diag diag{};
  diag.size = sizeof diag;
  ASSERT_EQ(ib().validate_image(0, image.data(), image.size(), &diag), NRTP_OK) << diag.msg;
  for (std::uint32_t slot = 0; slot < 5; ++slot) {
    if (claimed(0, unknown)) return;
    put(&image, slot, unknown);
    diag = {};
    diag.size = sizeof diag;
    EXPECT_EQ(ib().validate_image(0, image.data(), image.size(), &diag), NRTP_INVALID);
    EXPECT_EQ(diag.slot, slot);
    EXPECT_EQ(diag.opcode, unknown);
    expect_message(diag);
    // The reason is optional for the caller.
    EXPECT_EQ(ib().validate_image(0, image.data(), image.size(), nullptr), NRTP_INVALID);
    EXPECT_EQ(ib().validate_inst(0, image.data() + slot * isa::kRecordBytes, nullptr),
              NRTP_INVALID);
    put(&image, slot, isa::kOpNop);
  }
}

ARCH_CASE(ArchValidator, RefusesWrongArguments) {
  std::vector<std::uint8_t> image(3 * isa::kRecordBytes);
  for (std::size_t slot = 0; slot < 3; ++slot) put(&image, slot, isa::kOpNop);
  nrtp_diag diag{};
  diag.size = sizeof diag;
  for (const std::uint32_t engine : {geometry().engines, geometry().engines + 1, UINT32_MAX}) {
    EXPECT_EQ(ib().validate_inst(engine, image.data(), &diag), NRTP_INVALID) << engine;
    EXPECT_EQ(ib().validate_image(engine, image.data(), image.size(), &diag), NRTP_INVALID);
  }
  EXPECT_EQ(ib().validate_inst(0, nullptr, &diag), NRTP_INVALID);
  EXPECT_EQ(ib().validate_image(0, nullptr, 64, &diag), NRTP_INVALID);
  EXPECT_EQ(ib().validate_image(0, nullptr, 0, &diag), NRTP_OK);
  for (const std::uint64_t bytes : {1u, 63u, 65u, 191u})
    EXPECT_EQ(ib().validate_image(0, image.data(), bytes, &diag), NRTP_INVALID) << bytes;
}

// Records need no alignment: they lie in files.
ARCH_CASE(ArchValidator, TakesRecordsAtAnyAddress) {
  std::vector<std::uint8_t> image(3 * isa::kRecordBytes + 64);
  for (std::size_t shift = 0; shift < 16; ++shift) {
    for (std::size_t slot = 0; slot < 3; ++slot) {
      std::memset(image.data() + shift + slot * 64, 0, 64);
      image[shift + slot * 64] = isa::kOpNop;
      image[shift + slot * 64 + 1] = 0x10;
    }
    nrtp_diag diag{};
    diag.size = sizeof diag;
    EXPECT_EQ(ib().validate_image(0, image.data() + shift, 3 * isa::kRecordBytes, &diag), NRTP_OK)
        << shift << ": " << diag.msg;
  }
}

ARCH_CASE(ArchValidator, BranchesStayInTheImage) {
  std::vector<std::uint8_t> image(3 * isa::kRecordBytes);
  auto branch = isa::zero_record<isa::CompareBranchRecord>(isa::kOpCompareBranch);
  branch.target_mode = isa::kTargetRelative;
  struct Case {
    std::int32_t offset;
    int expected;
  };
  for (std::uint32_t engine = 0; engine < geometry().engines; ++engine) {
    for (const Case& c : {Case{64, NRTP_OK}, Case{0, NRTP_OK}, Case{-64, NRTP_OK},
                          Case{128, NRTP_INVALID}, Case{-128, NRTP_INVALID}, Case{32, NRTP_INVALID},
                          Case{INT32_MAX, NRTP_INVALID}, Case{INT32_MIN, NRTP_INVALID}}) {
      for (std::size_t i = 0; i < 3; ++i) put(&image, i, isa::kOpNop);
      branch.offset = c.offset;
      std::memcpy(image.data() + 64, &branch, 64);
      nrtp_diag diag{};
      diag.size = sizeof diag;
      EXPECT_EQ(ib().validate_image(engine, image.data(), image.size(), &diag), c.expected)
          << c.offset << " " << diag.msg;
      if (c.expected != NRTP_OK) {
        EXPECT_EQ(diag.slot, 1u);
      }
    }
  }
}

// The record ends where its memory ends, in front of a page that nobody may read, and
// is not written to.
ARCH_CASE(ArchValidator, AnyBytesGiveAnAnswer) {
  constexpr int kRecords = 20'000;
  std::mt19937_64 random(7);
  const LastOfPage page;
  const std::span<std::uint8_t> record = page.record();
  ASSERT_FALSE(record.empty());
  for (int i = 0; i < kRecords; ++i) {
    for (std::size_t at = 0; at < record.size(); at += 8) {
      const std::uint64_t bits = random();
      std::memcpy(record.data() + at, &bits, 8);
    }
    if (i % 4 != 0) record[1] = 0x10;  // else most are refused by their length
    const std::vector<std::uint8_t> before(record.begin(), record.end());
    const auto engine = static_cast<std::uint32_t>(random() % geometry().engines);
    const int status = check(engine, record.data());
    ASSERT_TRUE(std::equal(before.begin(), before.end(), record.begin()))
        << "the record was written to";
    ASSERT_TRUE(status == NRTP_OK || status == NRTP_INVALID) << status;
    if (status == NRTP_INVALID) expect_explained(0, record[0]);
    ASSERT_EQ(check(engine, record.data()), status) << "another answer the second time";
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace opennrt::conform
