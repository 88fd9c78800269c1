// SPDX-License-Identifier: Apache-2.0
//
// The runtime in several processes on one software device (emulator.scope:
// machine): reservation of cores, and a device that ends under its users.
#include <gtest/gtest.h>

#include <stdexcept>

#include "capi/emud_lab.h"
#include "nrt/nrt.h"
#include "nrt/nrt_experimental.h"
#include "support/vecadd_client.h"

namespace opennrt::test {
namespace {

class Emud : public ::testing::Test {
 protected:
  Emud() : machine("trn1.2xlarge", "1") {}
  std::string log(const std::string& name) const { return machine.file(name + ".log"); }
  MachineWide machine;
};
class EmudReservation : public Emud {};
class EmudLost : public Emud {};

void choose(const char* cores) { setenv("NEURON_RT_VISIBLE_CORES", cores, 1); }

// Loads, runs and checks once. 0, or where it went wrong.
int add_once(std::uint64_t seed) {
  const std::vector<char> neff = read_file(OPENNRT_VECADD_NEFF);
  VecAddModel model(neff);
  if (model.status() != NRT_SUCCESS) return 11;
  try {
    VecAddTensors tensors(model, seed);
    for (int i = 0; i < 5; ++i) {
      tensors.poison_output();
      if (tensors.execute() != NRT_SUCCESS) return 12;
      if (tensors.wrong() != 0) return 13;
    }
  } catch (const std::out_of_range&) {
    return 15;  // a tensor could not be made
  }
  return 0;
}

// Holds cores until told to end.
int hold(const Child::Line& line, const char* cores, std::uint64_t seed) {
  choose(cores);
  Runtime runtime;
  if (runtime.status() != NRT_SUCCESS) return 10;
  line.say('h');
  if (line.hear() != 'g') return 9;
  return add_once(seed);
}

TEST_F(EmudReservation, TheHolderOfACoreIsNamedWithPidAndCommand) {
  Child a(log("a"), [](const Child::Line& line) { return hold(line, "0", 1); });
  ASSERT_EQ(a.line().hear(), 'h') << a.log();
  Child b(log("b"), [](const Child::Line&) {
    choose("0");
    Runtime runtime;
    return static_cast<int>(runtime.status());
  });
  EXPECT_EQ(b.wait(), NRT_FAILURE);
  const std::string text = b.log();
  EXPECT_NE(text.find("core 0: pid " + std::to_string(a.pid()) + " ("), std::string::npos) << text;
  EXPECT_NE(text.find("emud_runtime_test"), std::string::npos) << text;
  // Who asks for any core gets the other one; the next finds none in a row of two.
  Child c(log("c"), [](const Child::Line&) {
    setenv("NEURON_RT_NUM_CORES", "2", 1);
    Runtime runtime;
    return static_cast<int>(runtime.status());
  });
  EXPECT_EQ(c.wait(), NRT_FAILURE);
  EXPECT_NE(c.log().find("pid " + std::to_string(a.pid())), std::string::npos) << c.log();
  a.line().say('g');
  EXPECT_EQ(a.wait(), 0);
}

TEST_F(EmudReservation, VisibleCoresSplitADevice) {
  Child a(log("a"), [](const Child::Line& line) { return hold(line, "0", 1); });
  Child b(log("b"), [](const Child::Line& line) { return hold(line, "1", 2); });
  ASSERT_EQ(a.line().hear(), 'h') << a.log();
  ASSERT_EQ(b.line().hear(), 'h') << b.log();
  a.line().say('g');
  b.line().say('g');
  EXPECT_EQ(a.wait(), 0) << a.log();
  EXPECT_EQ(b.wait(), 0) << b.log();
}

TEST_F(EmudReservation, AKilledProcessGivesItsCoresBack) {
  Child keeper(log("k"), [](const Child::Line& line) { return hold(line, "1", 3); });
  ASSERT_EQ(keeper.line().hear(), 'h') << keeper.log();
  for (int round = 0; round < 3; ++round) {
    Child a(log("a"), [](const Child::Line& line) { return hold(line, "0", 4); });
    ASSERT_EQ(a.line().hear(), 'h') << a.log();
    kill(a.pid(), SIGKILL);
    EXPECT_EQ(a.wait(), 1000 + SIGKILL);
    // The daemon notices by itself, at once but not within this very moment.
    int code = -1;
    for (int i = 0; i < 100 && code != 0; ++i) {
      Child b(log("b"), [](const Child::Line&) {
        choose("0");
        Runtime runtime;
        return runtime.status() == NRT_SUCCESS ? add_once(5) : 10;
      });
      code = b.wait();
    }
    EXPECT_EQ(code, 0);
  }
  keeper.line().say('g');
  EXPECT_EQ(keeper.wait(), 0) << keeper.log();
}

TEST_F(EmudReservation, TheOtherCoreGoesOnWhileOneStartsAndEnds) {
  Child steady(log("s"), [](const Child::Line& line) {
    choose("0");
    Runtime runtime;
    if (runtime.status() != NRT_SUCCESS) return 10;
    line.say('h');
    const std::vector<char> neff = read_file(OPENNRT_VECADD_NEFF);
    VecAddModel model(neff);
    VecAddTensors tensors(model, 9);
    fcntl(line.in, F_SETFL, O_NONBLOCK);
    while (line.hear() != 'g') {
      tensors.poison_output();
      if (tensors.execute() != NRT_SUCCESS) return 12;
      if (tensors.wrong() != 0) return 13;
    }
    return 0;
  });
  ASSERT_EQ(steady.line().hear(), 'h') << steady.log();
  for (int round = 0; round < 5; ++round) {
    Child other(log("o"), [](const Child::Line& line) {
      choose("1");
      Runtime runtime;
      if (runtime.status() != NRT_SUCCESS) return 10;
      return line.in >= 0 ? add_once(6) : 0;
    });
    EXPECT_EQ(other.wait(), 0) << other.log();
  }
  steady.line().say('g');
  EXPECT_EQ(steady.wait(), 0) << steady.log();
}

TEST_F(EmudLost, ExecutionsEndWithHwErrorThatNamesTheDaemon) {
  Child a(log("a"), [](const Child::Line& line) {
    choose("0");
    {
      Runtime runtime;
      if (runtime.status() != NRT_SUCCESS) return 10;
      const std::vector<char> neff = read_file(OPENNRT_VECADD_NEFF);
      VecAddModel model(neff);
      VecAddTensors tensors(model, 9);
      if (tensors.execute() != NRT_SUCCESS) return 11;
      line.say('h');
      NRT_STATUS status = NRT_SUCCESS;
      while (status == NRT_SUCCESS) status = tensors.execute();
      if (status != NRT_HW_ERROR) return 100 + static_cast<int>(status) % 100;
      // Every later call says so too.
      nrt_tensor_t* more = nullptr;
      if (nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 4096, "more", &more) != NRT_HW_ERROR)
        return 12;
      nrt_model_t* again = nullptr;
      if (nrt_load(neff.data(), neff.size(), 0, -1, &again) != NRT_HW_ERROR) return 13;
    }
    // A new machine.
    Runtime runtime;
    if (runtime.status() != NRT_SUCCESS) return 14;
    return add_once(3);
  });
  ASSERT_EQ(a.line().hear(), 'h') << a.log();
  const pid_t daemon = machine.daemon();
  ASSERT_NE(daemon, 0);
  kill(daemon, SIGKILL);
  EXPECT_EQ(a.wait(), 0) << a.log();
  const std::string text = a.log();
  EXPECT_NE(text.find("opennrt-emud (pid " + std::to_string(daemon) + ") has ended"),
            std::string::npos)
      << text;
  EXPECT_NE(machine.daemon(), daemon);
}

// At any point of init and load: an error or success, never a hang or a crash.
TEST_F(EmudLost, KilledDuringInitAndLoad) {
  for (int round = 0; round < 8; ++round) {
    Child a(log("a"), [](const Child::Line& line) {
      choose("0");
      line.say('h');
      {
        Runtime runtime;
        if (runtime.status() == NRT_SUCCESS) (void)add_once(3);
      }
      Runtime runtime;  // on a machine of its own if that one has gone
      if (runtime.status() != NRT_SUCCESS) return 14;
      return add_once(4);
    });
    ASSERT_EQ(a.line().hear(), 'h');
    std::this_thread::sleep_for(std::chrono::milliseconds(40 * round));
    pid_t daemon = 0;
    for (int i = 0; i < 1000 && daemon == 0; ++i) daemon = machine.daemon();
    if (daemon) kill(daemon, SIGKILL);
    const int code = a.wait();
    // Killed while the second one was in use: that is told as well. A sum that was
    // not read is not a wrong one.
    EXPECT_TRUE(code == 0 || (code >= 11 && code <= 15)) << code << a.log();
  }
}

TEST_F(EmudLost, TensorsThatAreMappedStayReadable) {
  Child a(log("a"), [](const Child::Line& line) {
    choose("0");
    Runtime runtime;
    if (runtime.status() != NRT_SUCCESS) return 10;
    nrt_tensor_t* tensor = nullptr;
    if (nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_HOST, 0, 1 << 20, "t", &tensor) != NRT_SUCCESS)
      return 11;
    std::vector<char> data(1 << 20, 'd');
    if (nrt_tensor_write(tensor, data.data(), 0, data.size()) != NRT_SUCCESS) return 12;
    auto* va = static_cast<const char*>(nrt_tensor_get_va(tensor));
    if (va == nullptr || va[5] != 'd') return 13;
    line.say('h');
    if (line.hear() != 'g') return 9;
    if (std::memcmp(va, data.data(), data.size()) != 0) return 14;
    nrt_tensor_free(&tensor);
    return 0;
  });
  ASSERT_EQ(a.line().hear(), 'h') << a.log();
  const pid_t daemon = machine.daemon();
  ASSERT_NE(daemon, 0);
  kill(daemon, SIGKILL);
  a.line().say('g');
  EXPECT_EQ(a.wait(), 0) << a.log();
}

TEST_F(Emud, AnotherMachineIsRefusedAtInit) {
  Child a(log("a"), [](const Child::Line& line) { return hold(line, "0", 1); });
  ASSERT_EQ(a.line().hear(), 'h') << a.log();
  Child b(log("b"), [](const Child::Line&) {
    choose("1");
    setenv("OPENNRT_EMULATOR_DEVICES", "2", 1);
    Runtime runtime;
    return static_cast<int>(runtime.status());
  });
  EXPECT_EQ(b.wait(), NRT_INVALID);
  EXPECT_NE(b.log().find("emulator.devices 1, this process asks for 2"), std::string::npos)
      << b.log();
  a.line().say('g');
  EXPECT_EQ(a.wait(), 0);
}

}  // namespace
}  // namespace opennrt::test
