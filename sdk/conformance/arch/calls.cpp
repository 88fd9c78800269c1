// SPDX-License-Identifier: Apache-2.0
//
// How functions of the table answer, whatever they say: from any thread, with pointers
// that stay, within the buffer, with a look at nothing but the arguments.
#include <cstring>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "arch/arch_case.h"
#include "arch/guarded_record.h"
#include "arch/interruptions.h"
#include "opennrt/isa/records.h"

namespace opennrt::conform {
namespace {

class ArchCalls : public ArchCase {
 protected:
  // All that the functions say about a core and a record, as bytes.
  std::string answers(std::uint32_t caller) const {
    const std::uint32_t core = caller % product()->cores;
    std::string out = refusal(caller);
    const auto note = [&out](std::uint64_t value) {
      out.append(reinterpret_cast<const char*>(&value), sizeof value);
    };
    nrtp_dma_slot slots[64] = {};
    for (std::uint32_t ring_class = 0; ring_class < 4; ++ring_class) {
      std::uint32_t n = 64;
      note(static_cast<std::uint64_t>(dma().alloc_class(product(), ring_class, core, slots, &n)));
      for (std::uint32_t i = 0; i < n && i < 64; ++i) note(slots[i].engine), note(slots[i].queue);
    }
    for (std::uint32_t which = 0; which < NRTP_RING_FETCH + geometry().engines; ++which) {
      nrtp_dma_slot slot = {};
      note(static_cast<std::uint64_t>(dma().runtime_ring(product(), core, which, &slot)));
      note(slot.engine), note(slot.queue);
    }
    std::uint32_t hbm_cores[64] = {}, n = 64;
    note(static_cast<std::uint64_t>(
        address().cores_of_hbm(product(), address().default_hbm(product(), core), hbm_cores, &n)));
    for (std::uint32_t i = 0; i < n && i < 64; ++i) note(hbm_cores[i]);
    for (std::uint32_t engine = 0; engine < geometry().engines; ++engine) {
      nrtp_addr_class c{};
      c.size = sizeof c;
      note(static_cast<std::uint64_t>(
          address().classify(product(), address().nx_device(product(), core, engine), &c)));
      note(c.kind), note(c.core), note(c.unit), note(c.local), note(c.bytes_left);
      std::uint32_t nx = 0, q7 = 0, topsp = 0;
      note(static_cast<std::uint64_t>(address().coretype(product(), engine, &nx, &q7, &topsp)));
      note(nx), note(q7), note(topsp);
    }
    out += steps(core);
    return out;
  }
  // Why a record is refused: every other caller has another one.
  std::string refusal(std::uint32_t caller) const {
    if (arch().ib->validate_inst == nullptr) return "";
    std::uint8_t record[isa::kRecordBytes] = {isa::kOpNop};
    if (caller % 2 == 0) {
      record[0] = 0xFE;  // nobody's
      record[1] = 0x10;
    }
    std::string out;
    for (int i = 0; i < 20; ++i) {
      nrtp_diag diag{};
      diag.size = sizeof diag;
      arch().ib->validate_inst(0, record, &diag);
      out.append(diag.msg, strnlen(diag.msg, sizeof diag.msg));
    }
    return out;
  }
  std::string steps(std::uint32_t core) const {
    std::uint8_t buffer[0x8000];
    nrtp_ib_env env{};
    env.size = sizeof env;
    env.form = arch().ib->form_default;
    env.product = product();
    env.core = core;
    env.lnc_size = 1;
    env.sem_first = arch().sync->id[NRTP_SYNC_RESERVED_SEMAPHORES];
    env.sem_last = env.sem_first + core;
    nrtp_ibuf out{buffer, sizeof buffer, 0};
    arch().ib->step(NRTP_STEP_NX_SETUP, &env, &out);
    arch().ib->step(NRTP_STEP_SEM_RESET, &env, &out);
    return std::string(reinterpret_cast<const char*>(buffer), out.len);
  }
};

// Other memory than a function's own is written where a returned stack would be.
[[gnu::noinline]] void overwrite_the_stack() {
  volatile unsigned char junk[16384];
  for (std::size_t i = 0; i < sizeof junk; ++i) junk[i] = 0xA7;
}

ARCH_CASE(ArchCalls, ThreadsDoNotDisturbEachOther) {
  constexpr std::uint32_t kThreads = 4, kRounds = 2000;
  std::vector<std::string> alone;
  for (std::uint32_t t = 0; t < kThreads; ++t) alone.push_back(answers(t));
  std::vector<std::uint32_t> wrong(kThreads);
  std::latch together(kThreads);
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      together.arrive_and_wait();
      for (std::uint32_t i = 0; i < kRounds; ++i) wrong[t] += answers(t) != alone[t];
    });
  const Interruptions interruptions;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<std::uint32_t>(kThreads)) << "answers that another thread changed";
}

ARCH_CASE(ArchCalls, PointersStayAsTheyAre) {
  std::uint32_t n = 0, again_n = 0;
  const nrtp_csr_region* regions = address().csr_regions(product(), &n);
  ASSERT_NE(regions, nullptr);
  overwrite_the_stack();
  const std::vector<nrtp_csr_region> first(regions, regions + n);
  for (const nrtp_csr_region& region : first) {
    ASSERT_NE(region.bytes, 0u) << "the regions are gone after the call";
    ASSERT_EQ(address().bar0_to_device(product(), region.bar0), region.device)
        << "the regions are gone after the call";
  }
  EXPECT_EQ(address().csr_regions(product(), &again_n), regions) << "another array each time";
  EXPECT_EQ(again_n, n);
  const nrtp_arch_tables& tables = *arch().tables;
  if (!NRTP_HAS(nrtp_arch_tables, &tables, default_dve) || tables.default_dve == nullptr) return;
  const nrtp_blob* blobs = tables.default_dve(&n);
  ASSERT_TRUE(blobs != nullptr || n == 0);
  overwrite_the_stack();
  for (std::uint32_t i = 0; i < n; ++i) {
    ASSERT_NE(blobs[i].name, nullptr);
    bool known = false;
    for (std::uint32_t slot = 0; slot < tables.n_dve; ++slot)
      known |= std::string(tables.dve[slot].name) == blobs[i].name;
    EXPECT_TRUE(known) << "default table " << i << " has no slot";
    EXPECT_TRUE(blobs[i].data != nullptr || blobs[i].bytes == 0);
  }
  EXPECT_EQ(tables.default_dve(&n), blobs) << "another array each time";
}

// A buffer of every size that is too small: what does not fit is not written.
ARCH_CASE(ArchCalls, NothingIsWrittenBehindABuffer) {
  constexpr nrtp_dma_slot kMark = {0xA5A5A5A5, 0x5A5A5A5A};
  for (std::uint32_t core = 0; core < product()->cores; ++core) {
    std::uint32_t whole = 0;
    const int status = dma().alloc_class(product(), 0, core, nullptr, &whole);
    EXPECT_EQ(status, NRTP_RESOURCE);
    ASSERT_LE(whole, 1024u);
    for (std::uint32_t room = 0; room < whole; ++room) {
      std::vector<nrtp_dma_slot> slots(whole + 4, kMark);
      std::uint32_t n = room;
      EXPECT_EQ(dma().alloc_class(product(), 0, core, slots.data(), &n), NRTP_RESOURCE) << room;
      EXPECT_EQ(n, whole);
      for (std::uint32_t i = room; i < slots.size(); ++i) {
        EXPECT_EQ(slots[i].engine, kMark.engine) << "slot " << i << " of " << room;
        EXPECT_EQ(slots[i].queue, kMark.queue) << "slot " << i << " of " << room;
      }
    }
  }
}

// --- steps

class ArchStepTargets : public ArchCase {};

// Records of a step touch the core that they are for, and layouts that ib.isa names.
ARCH_CASE(ArchStepTargets, AreOnTheirCore) {
  std::vector<std::uint8_t> buffer(0x10000);
  std::size_t writes = 0;
  for (std::uint32_t core = 0; core < product()->cores; ++core)
    for (std::uint32_t engine = 0; engine < geometry().engines; ++engine)
      for (std::uint32_t step = NRTP_STEP_NX_SETUP; step <= NRTP_STEP_MODEL_CONFIG; ++step) {
        nrtp_ib_env env{};
        env.size = sizeof env;
        env.form = arch().ib->form_default;
        env.product = product();
        env.core = core;
        env.engine = engine;
        env.lnc_size = 1;
        env.sem_first = env.sem_last = arch().sync->id[NRTP_SYNC_RESERVED_SEMAPHORES];
        nrtp_ibuf out{buffer.data(), buffer.size(), 0};
        ASSERT_EQ(arch().ib->step(step, &env, &out), NRTP_OK);
        for (std::uint64_t at = 0; at + isa::kRecordBytes <= out.len; at += isa::kRecordBytes) {
          if (buffer[at] != isa::kOpWrite) continue;
          const auto write = isa::load_record<isa::WriteRecord>(buffer.data() + at);
          for (const auto& [address, size] :
               {std::pair{write.address0, write.size0}, std::pair{write.address1, write.size1}}) {
            if (size == 0) continue;
            ++writes;
            const nrtp_addr_class c = decode(address);
            const bool of_core = c.kind == NRTP_ADDR_ENGINE || c.kind == NRTP_ADDR_TPB_CSR ||
                                 c.kind == NRTP_ADDR_SYNC || c.kind == NRTP_ADDR_TABLE ||
                                 c.kind == NRTP_ADDR_NOTIFIC || c.kind == NRTP_ADDR_UDMA_BCAST;
            if (of_core) {
              EXPECT_EQ(c.core, core) << "step " << step << " of engine " << engine;
            }
          }
        }
      }
  if (writes == 0) GTEST_SKIP() << "no step writes";
}

// --- instructions of its own

class ArchOwnInstructions : public ArchCase {
 protected:
  void SetUp() override {
    ArchCase::SetUp();
    if (HasFatalFailure() || IsSkipped()) return;
    const nrtp_arch_semantics* own = arch().semantics;
    if (own == nullptr || own->claims == nullptr || own->execute == nullptr)
      GTEST_SKIP() << "not offered";
  }
};

// A view of memory that is there, and of registers; nothing is kept.
nrtp_engine_view memory_view(const nrtp_product* product, std::uint32_t engine) {
  nrtp_engine_view view{};
  view.size = sizeof view;
  view.engine = engine;
  view.product = product;
  view.read_local = view.read_device = [](void*, std::uint64_t, void* out, std::uint64_t bytes) {
    std::memset(out, 0, bytes);
    return int{NRTP_OK};
  };
  view.write_local = view.write_device = [](void*, std::uint64_t, const void*, std::uint64_t) {
    return int{NRTP_OK};
  };
  view.read_register = [](void*, std::uint32_t, std::uint32_t* out) {
    *out = 0;
    return int{NRTP_OK};
  };
  view.write_register = [](void*, std::uint32_t, std::uint32_t) { return int{NRTP_OK}; };
  view.explain = [](void*, const char*) {};
  return view;
}

// Records with one or two bytes set, in front of memory that nobody may read: a field
// that is read behind the record ends the process.
ARCH_CASE(ArchOwnInstructions, LookAtTheirRecordAlone) {
  constexpr std::size_t kHead = 12;  // all records begin with these
  const GuardedRecord guarded;
  const std::span<std::uint8_t> record = guarded.record();
  ASSERT_FALSE(record.empty());
  for (std::uint32_t engine = 0; engine < geometry().engines; ++engine)
    for (std::uint32_t code = 0; code < 256; ++code) {
      const auto opcode = static_cast<std::uint8_t>(code);
      if (arch().semantics->claims(engine, opcode) == 0) continue;
      at("opcode " + std::to_string(code) + " of engine " + std::to_string(engine));
      const nrtp_engine_view view = memory_view(product(), engine);
      const auto try_record = [&] {
        record[0] = opcode;
        record[1] = 0x10;
        if (arch().ib->validate_inst != nullptr)
          arch().ib->validate_inst(engine, record.data(), nullptr);
        arch().semantics->execute(engine, record.data(), &view);
      };
      for (std::size_t first = kHead; first < record.size(); ++first)
        for (std::size_t second = first; second < record.size(); ++second) {
          std::fill(record.begin(), record.end(), std::uint8_t{0});
          record[first] = record[second] = 1;
          try_record();
        }
    }
}

}  // namespace
}  // namespace opennrt::conform
