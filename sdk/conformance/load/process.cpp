// SPDX-License-Identifier: Apache-2.0
//
// The process belongs to the program that loads the runtime: a plugin leaves it alone.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cfenv>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <map>
#include <string>
#include <utility>

#include "host.h"
#include "subject.h"

namespace opennrt::conform {
namespace {

// What a process has once, by name.
using Facts = std::map<std::string, std::string>;
constexpr const char* kVariable = "environment variable ";

std::string signals_text(const sigset_t& set) {
  std::string out;
  for (int signal = 1; signal < NSIG; ++signal)
    if (sigismember(&set, signal) == 1) out += (out.empty() ? "" : " ") + std::to_string(signal);
  return out.empty() ? "none" : out;
}

void add_signals(Facts* facts) {
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action{};
    if (sigaction(signal, nullptr, &action) != 0) continue;
    const char* name = sigabbrev_np(signal);
    char text[64];
    std::snprintf(text, sizeof text, "%p, flags 0x%x", reinterpret_cast<void*>(action.sa_handler),
                  static_cast<unsigned>(action.sa_flags));
    (*facts)["handler of " +
             (name != nullptr ? "SIG" + std::string(name) : "signal " + std::to_string(signal))] =
        action.sa_handler == SIG_DFL   ? "the default"
        : action.sa_handler == SIG_IGN ? "to ignore it"
                                       : text + (", blocks " + signals_text(action.sa_mask));
  }
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  (*facts)["blocked signals"] = signals_text(mask);
}

void add_limits(Facts* facts) {
  const auto text = [](rlim_t value) {
    return value == RLIM_INFINITY ? std::string("unlimited") : std::to_string(value);
  };
  constexpr const char* kNames[] = {"CPU",      "FSIZE",  "DATA",    "STACK", "CORE",  "RSS",
                                    "NPROC",    "NOFILE", "MEMLOCK", "AS",    "LOCKS", "SIGPENDING",
                                    "MSGQUEUE", "NICE",   "RTPRIO",  "RTTIME"};
  int kind = 0;
  for (const char* name : kNames) {
    rlimit limit{};
    if (getrlimit(static_cast<__rlimit_resource>(kind++), &limit) == 0)
      (*facts)[std::string("limit RLIMIT_") + name] =
          text(limit.rlim_cur) + " of " + text(limit.rlim_max);
  }
  constexpr std::pair<__itimer_which, const char*> kTimers[] = {
      {ITIMER_REAL, "alarm"}, {ITIMER_VIRTUAL, "virtual timer"}, {ITIMER_PROF, "profiling timer"}};
  for (const auto& [timer, name] : kTimers) {
    itimerval value{};
    getitimer(timer, &value);
    (*facts)[name] = value.it_value.tv_sec != 0 || value.it_value.tv_usec != 0 ? "set" : "not set";
  }
}

void add_streams(Facts* facts) {
  constexpr const char* kNames[] = {"standard input", "standard output", "standard error"};
  for (int fd = 0; fd < 3; ++fd) {
    struct stat info{};
    char text[96] = "closed";
    if (fstat(fd, &info) == 0)
      std::snprintf(text, sizeof text, "inode %llu of device %llu, flags 0x%x",
                    static_cast<unsigned long long>(info.st_ino),
                    static_cast<unsigned long long>(info.st_dev),
                    static_cast<unsigned>(fcntl(fd, F_GETFL)));
    (*facts)[kNames[fd]] = text;
  }
}

Facts facts_of_process() {
  Facts out;
  char text[4096];
  const mode_t mask = umask(0);
  umask(mask);
  std::snprintf(text, sizeof text, "%03o", static_cast<unsigned>(mask));
  out["umask"] = text;
  out["working directory"] = getcwd(text, sizeof text) != nullptr ? text : std::strerror(errno);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::size_t name = std::strcspn(*entry, "=");
    out[kVariable + std::string(*entry, name)] = *entry + name;
  }
  add_signals(&out);
  add_limits(&out);
  add_streams(&out);
  const char* locale = std::setlocale(LC_ALL, nullptr);
  out["locale"] = locale != nullptr ? locale : "none";
  out["rounding of floating point numbers"] = std::to_string(std::fegetround());
  out["process group"] = std::to_string(getpgrp());
  out["session"] = std::to_string(getsid(0));
  out["user and group"] = std::to_string(geteuid()) + ":" + std::to_string(getegid());
  int death = 0;
  prctl(PR_GET_PDEATHSIG, &death);
  out["signal at the end of the parent"] = std::to_string(death);
  out["permission to trace it"] = std::to_string(prctl(PR_GET_DUMPABLE));
  return out;
}

// Fails once for each fact that is another than before. Values of the environment may be
// secrets, which do not belong in a report.
void expect_unchanged(const Facts& before, const char* what) {
  const Facts after = facts_of_process();
  Facts all = before;
  all.insert(after.begin(), after.end());
  for (const auto& [name, value] : all) {
    const auto was = before.find(name), is = after.find(name);
    if (was != before.end() && is != after.end() && was->second == is->second) continue;
    std::string how;
    if (is == after.end()) {
      how = "is gone";
    } else if (was == before.end()) {
      how = "was not there";
    } else if (name.starts_with(kVariable)) {
      how = "has another value";
    } else {
      how = "was '" + was->second + "', and is '" + is->second + "'";
    }
    ADD_FAILURE() << what << " changes the process: " << name << " " << how;
  }
}

// Attaches a plugin of any kind, where there is something to attach it to.
class Attachment {
 public:
  void set_up() {
    const Subject& s = subject();
    host_ = TestHost::instance().table();
    if (s.arch() != nullptr && s.arch()->n_products != 0 && s.arch()->products != nullptr) {
      device_.size = sizeof device_;
      device_.platform = NRTP_PLATFORM_EMULATOR;
      device_.product = s.arch()->products;
      device_.dev = this;
      device_.reg_read32 = [](void*, std::uint64_t, std::uint32_t*, std::uint32_t) { return 0; };
      device_.reg_write32 = [](void*, std::uint64_t, const std::uint32_t*, std::uint32_t) {
        return 0;
      };
      detach_ = s.arch()->attach != nullptr ? s.arch()->detach : nullptr;
    } else if (s.ndl() != nullptr) {
      const SoftwareDevice& software = software_device();
      port_ = software.port;
      port_ctx_ = software.ctx;
      problem_ = software.problem;
      detach_ = s.ndl()->attach != nullptr && port_ != nullptr ? s.ndl()->detach : nullptr;
    } else if (s.port() != nullptr) {
      detach_ = s.port()->attach != nullptr ? s.port()->detach : nullptr;
    }
    if (problem_.empty() && detach_ == nullptr) problem_ = "there is no attach and detach";
  }
  const std::string& problem() const { return problem_; }  // why it cannot be attached
  // A plugin that refuses has nothing to detach.
  bool attach() {
    const Subject& s = subject();
    if (s.arch() != nullptr) return s.arch()->attach(host_, &device_, &ctx_) == 0;
    if (s.ndl() != nullptr) return s.ndl()->attach(host_, port_, port_ctx_, &ctx_) == 0;
    return s.port()->attach(host_, &ctx_) == 0;
  }
  void detach() { detach_(ctx_); }

 private:
  const nrtp_host* host_ = nullptr;
  nrtp_host_dev device_{};
  const nrtp_sys_port* port_ = nullptr;
  void* port_ctx_ = nullptr;
  void* ctx_ = nullptr;
  void (*detach_)(void*) = nullptr;
  std::string problem_;
};

class Process : public testing::Test {};

// The first look at the plugin, when the case runs alone.
TEST_F(Process, LoadAndQueryLeaveItAlone) {
  const Facts before = facts_of_process();
  const Subject& s = subject();
  expect_unchanged(before, "loading it, or its query function,");
  if (s.head() == nullptr) GTEST_SKIP() << s.problem();
  s.query(s.abi_major(), 0);
  expect_unchanged(before, "its query function");
}

TEST_F(Process, AttachAndDetachLeaveItAlone) {
  if (subject().head() == nullptr) GTEST_SKIP() << subject().problem();
  Attachment attachment;
  attachment.set_up();
  if (!attachment.problem().empty()) GTEST_SKIP() << attachment.problem();
  const Facts before = facts_of_process();
  at("attach");
  const bool attached = attachment.attach();
  expect_unchanged(before, "its attach");
  if (!attached || HasFailure()) return;
  at("detach");
  attachment.detach();
  expect_unchanged(before, "its detach");
}

}  // namespace
}  // namespace opennrt::conform
