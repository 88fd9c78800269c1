// SPDX-License-Identifier: Apache-2.0
//
// Runs the five images of a core on a small model of the sequencers: control
// flow, semaphores, events and doorbells, nothing else. Shows that the barriers
// of all engines match and that every path leads where it should.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "test_program.h"

namespace opennrt::tdrv::test {
namespace {

struct Request {
  std::uint32_t do_switch = 0, reload = 0, tables = 0;
};

class MiniCore {
 public:
  MiniCore(const ImageInputs& in, const ImageSet& images) : in_(in), images_(images) {
    nrtp_dma_slot slot{};
    EXPECT_EQ(in.arch->dma->runtime_ring(in.product, in.core, NRTP_RING_EXEC, &slot), NRTP_OK);
    exec_ = doorbell(slot);
    EXPECT_EQ(in.arch->dma->runtime_ring(in.product, in.core, NRTP_RING_DVE_TABLES, &slot),
              NRTP_OK);
    dve_ = doorbell(slot);
    EXPECT_EQ(in.arch->dma->runtime_ring(in.product, in.core, NRTP_RING_ACT_TABLES, &slot),
              NRTP_OK);
    act_ = doorbell(slot);
  }

  void post(const Request& request) {
    request_ = request;
    ++semaphore_[0];
  }
  // The gate of the old program has taken the kick of this request.
  void continue_with(const Request& request) {
    request_ = request;
    awaiting_request_ = false;
  }
  void start_at(std::size_t byte_offset_of_each) { pc_.fill(byte_offset_of_each); }
  void start_at_gates() {
    for (std::size_t e = 0; e < pc_.size(); ++e) pc_[e] = images_[e].gate_offset;
  }
  // Until no engine can go on. false: the limit was hit.
  bool run() {
    for (int budget = 200'000; budget > 0;) {
      bool progress = false;
      for (std::size_t e = 0; e < pc_.size(); ++e) {
        while (budget > 0 && !left_[e] && step(e)) {
          progress = true;
          --budget;
        }
      }
      if (!progress) return true;
    }
    return false;
  }

  bool at_gate(std::size_t e) const {
    // Inside the gate's first wait: past ORDER, before anything else.
    return pc_[e] >= images_[e].gate_offset && pc_[e] <= images_[e].gate_offset + 2 * 64;
  }
  bool left(std::size_t e) const { return left_[e]; }
  const std::string& log(std::size_t e) const { return log_[e]; }
  std::uint32_t semaphore(std::size_t i) const { return semaphore_.at(i); }
  std::uint32_t last_io_count() const { return io_count_; }
  std::uint32_t table_kicks(std::size_t engine) const { return kicks_[engine]; }
  std::uint32_t peer_increments() const { return peer_; }
  void arrive_from_peer() { ++semaphore_[1]; }

 private:
  std::uint64_t doorbell(nrtp_dma_slot s) const {
    return in_.arch->dma->udma_device(in_.product, s.engine) +
           in_.arch->dma->queue_reg(s.queue, 1, NRTP_QREG_TAIL_INC);
  }

  bool wait_ok(std::uint8_t mode, std::uint8_t index, std::uint32_t value) {
    switch (mode) {
      case isa::kWaitNone:
        return true;
      case isa::kWaitSemEq:
        return semaphore_[index] == value;
      case isa::kWaitSemGt:
        return semaphore_[index] > value;
      case isa::kWaitSemGe:
        return semaphore_[index] >= value;
      case isa::kWaitEvtSetThenClear:
        if (!event_[index]) return false;
        event_[index] = false;
        return true;
      default:
        ADD_FAILURE() << "wait mode " << int{mode};
        return true;
    }
  }
  void update(std::uint8_t mode, std::uint8_t index, std::uint32_t value) {
    switch (mode) {
      case isa::kUpdateNone:
        break;
      case isa::kUpdateEvtSet:
        EXPECT_FALSE(event_[index]) << "event " << int{index} << " set twice";
        event_[index] = true;
        break;
      case isa::kUpdateSemInc:
      case isa::kUpdateSemAdd:
        semaphore_[index] += value;
        break;
      case isa::kUpdateSemDec:
        semaphore_[index] -= value;
        break;
      case isa::kUpdateSemWrite:
        semaphore_[index] = value;
        break;
      default:
        ADD_FAILURE() << "update mode " << int{mode};
    }
  }

  void write(std::uint64_t address, std::uint64_t data) {
    if (address == exec_) {
      // 2: request and its event; otherwise the IO switch, whose last one is an event.
      const bool request = awaiting_request_;
      awaiting_request_ = !awaiting_request_;
      if (request) {
        EXPECT_EQ(data, 2u);
        event_[8] = true;
      } else {
        io_count_ = static_cast<std::uint32_t>(data);
        event_[4] = true;
      }
    }
    if (address == dve_) ++kicks_[NRTP_ENGINE_DVE], event_[7] = true;
    if (address == act_) ++kicks_[NRTP_ENGINE_ACT], event_[6] = true;
    if (in_.lnc_size == 2 &&
        address == in_.arch->address->sem_addr(in_.product, in_.peer_core, 1, NRTP_SEM_INC)) {
      ++peer_;
    }
  }

  std::uint32_t load(std::uint64_t address) const {
    switch (address - in_.request_pa) {
      case 0:
        return request_.do_switch;
      case 0x2C:
        return request_.reload;
      case 0x30:
        return request_.tables;
      default:
        // Words of the request are recognisable, registers read 0.
        return address - in_.request_pa < 0x100 ? static_cast<std::uint32_t>(address) : 0;
    }
  }

  bool step(std::size_t e) {
    const auto& bytes = images_[e].bytes;
    if (pc_[e] >= bytes.size()) {
      ADD_FAILURE() << "engine " << e << " ran over the end";
      left_[e] = true;
      return false;
    }
    const std::uint8_t* p = bytes.data() + pc_[e];
    const auto h = isa::load_record<isa::ControlRecord>(p).h;
    std::size_t next = pc_[e] + 64;
    switch (h.opcode) {
      case isa::kOpEventSemaphore: {
        const auto r = isa::load_record<isa::EventSemaphoreRecord>(p);
        if (!wait_ok(r.wait_mode, r.wait_index, r.wait_value)) return false;
        update(r.update_mode, r.update_index, r.update_value);
        break;
      }
      case isa::kOpNop:
        if (!wait_ok(h.wait_mode, h.wait_index, h.value)) return false;
        update(h.update_mode, h.update_index, h.value);
        break;
      case isa::kOpNotify: {
        const auto r = isa::load_record<isa::ControlRecord>(p);
        log_[e] += std::to_string(r.notify_kind) + " ";
        break;
      }
      case isa::kOpHalt:
        log_[e] += "halt ";
        break;
      case isa::kOpWrite: {
        const auto r = isa::load_record<isa::WriteRecord>(p);
        write(r.address0, r.data0);
        if (r.size1 != 0) write(r.address1, r.data1);
        break;
      }
      case isa::kOpTensorLoad: {
        const auto r = isa::load_record<isa::MemRecord>(p);
        for (std::size_t i = 0; i < r.count_inner; ++i) {
          reg_[e][r.reg[i]] = load(r.address + 4 * i);
        }
        break;
      }
      case isa::kOpCompareBranch: {
        const auto r = isa::load_record<isa::CompareBranchRecord>(p);
        if (r.target_mode == isa::kTargetRegister) {
          log_[e] += "leaves:" + std::to_string(reg_[e][r.target_lo] - in_.request_pa) + "," +
                     std::to_string(reg_[e][r.target_hi] - in_.request_pa) + " ";
          left_[e] = true;
          return false;
        }
        const bool taken = r.op == isa::kBranchAlways || reg_[e][r.lhs] == r.immediate;
        if (taken) next = pc_[e] + static_cast<std::size_t>(static_cast<std::ptrdiff_t>(r.offset));
        break;
      }
      case isa::kOpPoolConfig:
        log_[e] += "library ";
        break;
      default:
        break;
    }
    pc_[e] = next;
    return true;
  }

  const ImageInputs& in_;
  const ImageSet& images_;
  std::uint64_t exec_ = 0, dve_ = 0, act_ = 0;
  Request request_;
  bool awaiting_request_ = true;
  std::array<std::size_t, 5> pc_{};
  std::array<bool, 5> left_{};
  std::array<std::string, 5> log_;
  std::map<std::size_t, std::uint32_t> semaphore_;
  std::map<std::size_t, bool> event_;
  std::array<std::map<std::size_t, std::uint64_t>, 5> reg_;
  std::array<std::uint32_t, 5> kicks_{};
  std::uint32_t io_count_ = 0, peer_ = 0;
};

class RunOf : public ::testing::TestWithParam<std::uint32_t> {
 protected:
  void assemble(const ImageInputs& in) {
    in_ = in;
    auto built = assemble_images(in_);
    ASSERT_TRUE(built.is_ok()) << built.status().message();
    images_ = *std::move(built);
  }
  bool conditional() const { return GetParam() == NRTP_FORM_2_30; }

  ArchCopy arch_;
  ImageInputs in_;
  ImageSet images_;
};

TEST_P(RunOf, OneRequestIsOneStartAndOneEnd) {
  TestProgram p;
  add_input_and_output(p);
  ASSERT_NO_FATAL_FAILURE(assemble(p.inputs(arch_.plugin, GetParam())));
  MiniCore core(in_, images_);
  core.start_at_gates();
  ASSERT_TRUE(core.run());
  for (std::size_t e = 0; e < 5; ++e) {
    EXPECT_EQ(core.log(e), "") << e;
    EXPECT_TRUE(core.at_gate(e)) << e;
  }
  for (int i = 1; i <= 3; ++i) {
    core.post({});
    ASSERT_TRUE(core.run());
    std::string expected;
    for (int k = 0; k < i; ++k) expected += "2 3 ";
    for (std::size_t e = 0; e < 5; ++e) {
      EXPECT_EQ(core.log(e), expected) << e;
      EXPECT_TRUE(core.at_gate(e)) << e;
    }
    EXPECT_EQ(core.last_io_count(), 65u);  // two sets with one caller side each
    EXPECT_EQ(core.semaphore(2), 0u);
    EXPECT_EQ(core.semaphore(0), 0u);
  }
}

TEST_P(RunOf, SwitchAwayLoadsEveryEnginesTarget) {
  TestProgram p;
  ASSERT_NO_FATAL_FAILURE(assemble(p.inputs(arch_.plugin, GetParam())));
  // Offsets of the address words in the request, by runtime release.
  const std::array<const char*, 5> older = {"4,8", "12,16", "20,24", "28,32", "36,40"};
  const std::array<const char*, 5> flat = {"4,24", "8,28", "12,32", "16,36", "20,40"};
  // A request without reload leaves out register writes only, the halt stays.
  for (const std::uint32_t reload : {1u, 0u}) {
    SCOPED_TRACE(reload);
    MiniCore core(in_, images_);
    core.start_at_gates();
    core.post({.do_switch = 1, .reload = reload});
    ASSERT_TRUE(core.run());
    for (std::size_t e = 0; e < 5; ++e) {
      const std::string library = conditional() && e == NRTP_ENGINE_POOL ? "library " : "";
      EXPECT_EQ(core.log(e), library + "halt leaves:" + (conditional() ? flat[e] : older[e]) + " ");
    }
  }
}

TEST_P(RunOf, SwitchInRunsOnceWithAndWithoutReload) {
  TestProgram p;
  add_input_and_output(p);
  ImageInputs in = p.inputs(arch_.plugin, GetParam());
  in.act = {.present = true, .m2s_base = 0x71000000, .s2m_base = 0x71001000};
  ASSERT_NO_FATAL_FAILURE(assemble(in));
  for (const std::uint32_t reload : {0u, 1u}) {
    for (const std::uint32_t tables : {0u, 1u}) {
      SCOPED_TRACE("reload " + std::to_string(reload) + " tables " + std::to_string(tables));
      MiniCore core(in_, images_);
      core.start_at(0);
      // The old program's gate has consumed the kick and released its engines.
      const bool kept = conditional() && tables == 0;
      core.continue_with({.do_switch = 1, .reload = reload, .tables = tables});
      ASSERT_TRUE(core.run());
      for (std::size_t e = 0; e < 5; ++e) {
        std::string expected = "7 ";
        if (!conditional() || reload != 0) expected += "halt ";
        if (conditional() && e == NRTP_ENGINE_POOL) expected += "library ";
        expected += "8 2 3 ";
        EXPECT_EQ(core.log(e), expected) << e;
        EXPECT_TRUE(core.at_gate(e)) << e;
      }
      EXPECT_EQ(core.table_kicks(NRTP_ENGINE_DVE), kept ? 0u : 1u);
      EXPECT_EQ(core.table_kicks(NRTP_ENGINE_ACT), kept ? 0u : 1u);
    }
  }
}

TEST_P(RunOf, PeerCoreIsMetOncePerRun) {
  TestProgram p;
  ImageInputs in = p.inputs(arch_.plugin, GetParam());
  in.lnc_size = 2;
  in.peer_core = 1;
  ASSERT_NO_FATAL_FAILURE(assemble(in));
  MiniCore core(in_, images_);
  core.start_at_gates();
  core.post({});
  ASSERT_TRUE(core.run());
  EXPECT_EQ(core.peer_increments(), 1u);
  EXPECT_EQ(core.log(NRTP_ENGINE_PE), "2 ");  // waits for the peer
  core.arrive_from_peer();
  ASSERT_TRUE(core.run());
  for (std::size_t e = 0; e < 5; ++e) EXPECT_EQ(core.log(e), "2 3 ") << e;
  EXPECT_EQ(core.semaphore(1), 0u);
}

// A peer that meets us again before we have taken its first signal.
TEST_P(RunOf, SignalsOfThePeerAreCounted) {
  TestProgram p;
  ImageInputs in = p.inputs(arch_.plugin, GetParam());
  in.lnc_size = 2;
  in.peer_core = 1;
  ASSERT_NO_FATAL_FAILURE(assemble(in));
  MiniCore core(in_, images_);
  core.start_at_gates();
  core.arrive_from_peer();
  core.arrive_from_peer();
  core.post({});
  ASSERT_TRUE(core.run());
  EXPECT_EQ(core.semaphore(1), 1u);
  core.post({});
  ASSERT_TRUE(core.run());
  for (std::size_t e = 0; e < 5; ++e) EXPECT_EQ(core.log(e), "2 3 2 3 ") << e;
  EXPECT_EQ(core.semaphore(1), 0u);
}

TEST_P(RunOf, ReadyProgramAnswersAndHandsOver) {
  ImageInputs in;
  in.arch = &arch_.plugin;
  in.product = arch_.plugin.products;
  in.form = GetParam();
  in.request_pa = TestProgram::kRequest;
  ASSERT_NO_FATAL_FAILURE(assemble(in));
  for (const Image& image : images_) {
    ASSERT_EQ(image.main_bytes, 64u);
    const auto r = isa::load_record<isa::OrderingRecord>(image.bytes.data() + image.main_offset);
    EXPECT_EQ(r.h.opcode, isa::kOpSetOrderingMode);
    EXPECT_EQ(r.mode, 0);
  }
  MiniCore core(in_, images_);
  core.start_at_gates();
  core.post({});
  ASSERT_TRUE(core.run());
  for (std::size_t e = 0; e < 5; ++e) EXPECT_EQ(core.log(e), "2 3 ") << e;
  EXPECT_EQ(core.last_io_count(), 1u);
  core.post({.do_switch = 1, .reload = 1});
  ASSERT_TRUE(core.run());
  for (std::size_t e = 0; e < 5; ++e) EXPECT_TRUE(core.left(e)) << e;
}

INSTANTIATE_TEST_SUITE_P(Forms, RunOf,
                         ::testing::Values(NRTP_FORM_2_25, NRTP_FORM_2_27, NRTP_FORM_2_30),
                         [](const auto& p) { return "Form" + std::to_string(p.param); });

}  // namespace
}  // namespace opennrt::tdrv::test
