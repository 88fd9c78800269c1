// SPDX-License-Identifier: Apache-2.0
//
// emud_crowd [--seconds N] [--processes 16] [--devices 2]
// Processes that come, load, execute, check their sums and go, some of them by
// kill -9, on one machine-wide software device. One process more than there are
// cores is told who holds them. Memory and descriptors of the daemon stay flat.
// Exit code 0 only if everything held; the last line has the figures.
#include <algorithm>
#include <cinttypes>
#include <random>

#include "capi/emud_lab.h"
#include "nrt/nrt.h"
#include "nrt/nrt_experimental.h"
#include "support/vecadd_client.h"

namespace {

using namespace opennrt::test;
using Clock = std::chrono::steady_clock;

constexpr int kWrong = 20, kNoInit = 21, kNoLoad = 22, kNoRun = 23;

// A real model for a logical core of two; the assembled one takes a single core.
std::string corpus_model() {
  const char* corpus = std::getenv("OPENNRT_CORPUS");
  return std::string(corpus ? corpus : OPENNRT_DEFAULT_CORPUS) + "/vecadd_2tiles_cayman.neff";
}

// One life. runs: how many executions, each announced by a byte.
int live(const Child::Line& line, int core, bool pair, int runs, std::uint64_t seed) {
  setenv("NEURON_LOGICAL_NC_CONFIG", pair ? "2" : "1", 1);
  setenv("NEURON_RT_VISIBLE_CORES", std::to_string(pair ? core / 2 : core).c_str(), 1);
  Runtime runtime;
  if (runtime.status() != NRT_SUCCESS) return kNoInit;
  line.say('i');
  const std::vector<char> neff = read_file(pair ? corpus_model() : OPENNRT_VECADD_CAYMAN_NEFF);
  VecAddModel model(neff);
  if (model.status() != NRT_SUCCESS) return kNoLoad;
  line.say('l');
  VecAddTensors tensors(model, seed);
  for (int i = 0; i < runs; ++i) {
    tensors.poison_output();
    if (tensors.execute() != NRT_SUCCESS) return kNoRun;
    if (tensors.wrong() != 0) return kWrong;
    line.say('x');
  }
  return 0;
}

struct Life {
  std::unique_ptr<Child> child;
  int core = 0;
  Clock::time_point killed_at;  // when it is killed, if at all
  bool doomed = false, pair = false;
  std::uint64_t executions = 0;
};

struct Size {
  unsigned long anonymous_kb = 0;
  std::size_t descriptors = 0;
};

Size size_of(pid_t pid) {
  Size size;
  const std::string proc = "/proc/" + std::to_string(pid);
  std::ifstream status(proc + "/status");
  for (std::string text; std::getline(status, text);)
    if (text.rfind("RssAnon:", 0) == 0) size.anonymous_kb = std::stoul(text.substr(8));
  std::error_code ignored;
  for ([[maybe_unused]] const auto& e : std::filesystem::directory_iterator(proc + "/fd", ignored))
    ++size.descriptors;
  return size;
}

struct Crowd {
  MachineWide machine;
  int seconds, processes, devices;
  std::vector<Life> lives;
  std::mt19937 random{11};
  const bool real_model = std::filesystem::exists(corpus_model());
  std::uint64_t executions = 0, of_real_model = 0, killed = 0, ended = 0, told = 0;
  std::string failure;

  Crowd(int s, int p, int d)
      : machine("trn2.48xlarge", std::to_string(d).c_str()), seconds(s), processes(p), devices(d) {
    MachineWide::set("NEURON_LOGICAL_NC_CONFIG", "1");  // of those that live no life
    MachineWide::set("OPENNRT_EMULATOR_HBM_BYTES", "4G");
    MachineWide::set("OPENNRT_EMULATOR_IDLE_EXIT_S", "30");
    lives.resize(static_cast<std::size_t>(p));
  }

  std::string log_of(std::size_t i) const { return machine.file("log" + std::to_string(i)); }

  void start(std::size_t i) {
    Life& life = lives[i];
    if (i % 2 == 1 && lives[i - 1].child && lives[i - 1].pair) return;
    life.pair = real_model && i % 2 == 0 && !lives[i + 1].child && random() % 2 == 0;
    life.core = static_cast<int>(i);
    life.executions = 0;
    const int runs = 1 + static_cast<int>(random() % 12);
    const std::uint64_t seed = random();
    life.doomed = random() % 2 == 0;
    life.killed_at = Clock::now() + std::chrono::milliseconds(random() % 1500);
    life.child = std::make_unique<Child>(
        log_of(i), [core = life.core, pair = life.pair, runs, seed](const Child::Line& line) {
          return live(line, core, pair, runs, seed);
        });
    fcntl(life.child->line().in, F_SETFL, O_NONBLOCK);
  }

  void end_of(std::size_t i, int code) {
    Life& life = lives[i];
    count(life);
    executions += life.executions;
    if (life.pair) of_real_model += life.executions;
    if (code == 0) {
      ++ended;
    } else if (life.doomed && code == 1000 + SIGKILL) {
      ++killed;
    } else if (code == kNoInit &&
               life.child->log().find("taken by another process: core ") != std::string::npos) {
      ++told;  // the predecessor on this core is being cleaned up
    } else if (failure.empty()) {
      failure = "a process ended with " + std::to_string(code) + ": " + life.child->log();
    }
    life.child.reset();
  }

  static void count(Life& life) {
    for (char c = life.child->line().hear(); c != '\0'; c = life.child->line().hear())
      life.executions += c == 'x';
  }

  void step(bool renew) {
    for (std::size_t i = 0; i < lives.size(); ++i) {
      Life& life = lives[i];
      if (!life.child) {
        if (renew) start(i);
        continue;
      }
      count(life);
      if (life.doomed && Clock::now() >= life.killed_at) kill(life.child->pid(), SIGKILL);
      siginfo_t info{};
      if (waitid(P_PID, static_cast<id_t>(life.child->pid()), &info, WEXITED | WNOHANG | WNOWAIT) ==
              0 &&
          info.si_pid != 0)
        end_of(i, life.child->wait());
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }

  bool all_ended() const {
    return std::all_of(lives.begin(), lives.end(), [](const Life& l) { return !l.child; });
  }

  // Every core is taken: one process more hears by whom.
  void one_too_many() {
    std::vector<std::unique_ptr<Child>> holders;
    for (std::size_t i = 0; i < lives.size(); ++i)
      holders.push_back(std::make_unique<Child>(log_of(i), [i](const Child::Line& line) {
        setenv("NEURON_RT_VISIBLE_CORES", std::to_string(i).c_str(), 1);
        Runtime runtime;
        if (runtime.status() != NRT_SUCCESS) return kNoInit;
        line.say('h');
        line.hear();
        return 0;
      }));
    for (auto& holder : holders)
      if (holder->line().hear() != 'h') {
        failure = "a core is not free although nobody uses it: " + holder->log();
        return;
      }
    Child late(machine.file("late"), [](const Child::Line&) {
      setenv("NEURON_RT_NUM_CORES", "1", 1);
      Runtime runtime;
      return static_cast<int>(runtime.status());
    });
    const int code = late.wait();
    const std::string text = late.log();
    if (code == 0) failure = "a process more than there are cores was admitted";
    for (auto& holder : holders)
      if (text.find("pid " + std::to_string(holder->pid()) + " (") == std::string::npos)
        failure = "the process too many does not hear of pid " + std::to_string(holder->pid()) +
                  ": " + text;
    ++told;
    for (auto& holder : holders) holder->line().say('e');
    for (auto& holder : holders)
      if (holder->wait() != 0) failure = "a holder did not end well: " + holder->log();
  }

  int run() {
    const auto begin = Clock::now();
    const auto until = begin + std::chrono::seconds(seconds);
    // A first part in which caches and pools of the daemon fill up.
    const auto settled = begin + std::chrono::seconds(std::max(seconds / 4, 3));
    Size first{}, most{};
    one_too_many();
    const pid_t daemon = machine.daemon();
    if (daemon == 0 && failure.empty()) failure = "there is no daemon";
    Clock::time_point looked = begin;
    while (failure.empty() && Clock::now() < until) {
      step(true);
      if (Clock::now() - looked < std::chrono::seconds(1)) continue;
      looked = Clock::now();
      const Size now = size_of(daemon);
      if (Clock::now() < settled) {
        first.anonymous_kb = std::max(first.anonymous_kb, now.anonymous_kb);
        first.descriptors = std::max(first.descriptors, now.descriptors);
      } else {
        most.anonymous_kb = std::max(most.anonymous_kb, now.anonymous_kb);
        most.descriptors = std::max(most.descriptors, now.descriptors);
      }
    }
    const auto patience = Clock::now() + std::chrono::seconds(120);
    while (failure.empty() && !all_ended() && Clock::now() < patience) step(false);
    if (failure.empty() && !all_ended()) failure = "a process does not end";
    if (failure.empty()) one_too_many();
    if (failure.empty() && machine.daemon() != daemon) failure = "the daemon has ended in between";
    // 16 processes at once have hundreds of connections; a leak adds up over lives.
    if (failure.empty() && most.anonymous_kb > first.anonymous_kb + first.anonymous_kb / 4 + 16384)
      failure = "the daemon grew from " + std::to_string(first.anonymous_kb) + " to " +
                std::to_string(most.anonymous_kb) + " KiB";
    if (failure.empty() && most.descriptors > first.descriptors + 64)
      failure = "descriptors of the daemon grew from " + std::to_string(first.descriptors) +
                " to " + std::to_string(most.descriptors);
    if (failure.empty() && (killed == 0 || ended == 0 || executions == 0))
      failure = "too little happened to say anything";
    if (!failure.empty()) {
      std::ifstream log(machine.socket() + ".log");
      const std::string of_daemon{std::istreambuf_iterator<char>(log), {}};
      const std::size_t end = of_daemon.size();
      std::printf("daemon: ...%s\n",
                  of_daemon.substr(end - std::min<std::size_t>(end, 4000)).c_str());
      std::printf("failed: %s\n", failure.c_str());
      return 1;
    }
    std::printf(
        "%d s, %d devices: %" PRIu64 " executions with right sums (%" PRIu64
        " of the real model), %" PRIu64 " lives ended, %" PRIu64 " killed, %" PRIu64
        " told who holds a core; daemon %lu KiB and %zu descriptors at most, %lu and %zu at "
        "the start\n",
        seconds, devices, executions, of_real_model, ended, killed, told, most.anonymous_kb,
        most.descriptors, first.anonymous_kb, first.descriptors);
    return 0;
  }
};

int number(const char* text, int most) {
  const int n = std::atoi(text);
  return n >= 1 && n <= most ? n : -1;
}

}  // namespace

int main(int argc, char** argv) {
  int seconds = 30, processes = 16, devices = 2;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    int* const out = option == "--seconds"     ? &seconds
                     : option == "--processes" ? &processes
                     : option == "--devices"   ? &devices
                                               : nullptr;
    if (!out || i + 1 == argc || (*out = number(argv[i + 1], 100'000)) < 0) {
      std::fprintf(stderr, "usage: emud_crowd [--seconds N] [--processes 16] [--devices 2]\n");
      return 2;
    }
  }
  constexpr int kCoresOfDevice = 8;
  if (processes != devices * kCoresOfDevice) {
    std::fprintf(stderr, "a process per core: %d devices have %d\n", devices,
                 devices * kCoresOfDevice);
    return 2;
  }
  return Crowd(seconds, processes, devices).run();
}
