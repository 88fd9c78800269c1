// SPDX-License-Identifier: Apache-2.0
//
// The drivers of the matrix, their requests, and the rules by which a driver
// layer uses them: which form of a request is sent and which is not. Written
// without a look at the plugins.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "support/recording_port/recording.h"

namespace opennrt::test {

// --- the drivers

struct Driver {
  const char* version;
  std::uint64_t features;
};
enum Release { k2_19, k2_20, k2_24, k2_25, k2_26, k2_27, kReleases };
inline constexpr Driver kDrivers[] = {{"2.19.64.0", 0x03F}, {"2.20.28.0", 0x07F},
                                      {"2.24.7.0", 0x0FF},  {"2.25.4.0", 0x1FF},
                                      {"2.26.5.0", 0x1FF},  {"2.27.4.0", 0x1FF}};

// Forms of requests: number and size are in the code. bit: announced by it, -1:
// by none; since: first release that has it.
struct Form {
  const char* name;
  std::uint32_t code;
  int bit;
  Release since;
};
inline constexpr Form kForms[] = {
    {"MEM_ALLOC_V2", 0x80084E66, -1, k2_19},
    {"MEM_ALLOC_V2MT", 0x80304E66, 4, k2_19},
    {"MEM_ALLOC_V2MT64", 0x80384E66, 6, k2_19},
    {"MEM_COPY", 0x80084E17, -1, k2_19},
    {"MEM_COPY64", 0x80284E17, 6, k2_19},
    {"MEM_BUF_COPY", 0xC0084E18, -1, k2_19},
    {"MEM_BUF_COPY64", 0xC0284E18, 6, k2_19},
    {"MEMSET", 0x80084E1C, -1, k2_19},
    {"MEMSET64", 0x80204E1C, 6, k2_19},
    {"PROGRAM_ENGINE_NC", 0xC0084E69, -1, k2_19},
    {"PROGRAM_ENGINE_NC64", 0xC0284E69, 6, k2_19},
    {"DMA_COPY_DESCRIPTORS", 0x80084E26, -1, k2_19},
    {"DMA_COPY_DESCRIPTORS64", 0x80284E26, 6, k2_19},
    {"DMA_QUEUE_INIT", 0x80084E21, -1, k2_19},
    {"DMA_QUEUE_INIT_BATCH", 0xB0084E85, 2, k2_19},
    {"MEM_COPY_ASYNC", 0xC0304E6C, 1, k2_19},
    {"MEM_COPY_ASYNC64", 0xC0384E6C, 6, k2_19},  // and bit 1
    {"MEM_COPY_ASYNC_WAIT", 0x40184E6D, 1, k2_19},
    {"CRWL_NC_RANGE_MARK", 0x40084E55, -1, k2_19},
    {"CRWL_NC_RANGE_MARK_EXT0", 0xC0504E55, 3, k2_19},
    {"CRWL_NC_RANGE_UNMARK", 0x40084E56, -1, k2_19},
    {"CRWL_NC_RANGE_UNMARK_EXT0", 0x40504E56, 3, k2_19},
    {"DMABUF_FD", 0x80084E6B, 0, k2_19},
    {"HBM_SCRUB_START", 0xC0104E76, 5, k2_19},
    {"HBM_SCRUB_WAIT", 0xC0084E77, 5, k2_19},
    {"MEM_BUF_ZEROCOPY64", 0xC0304E7C, 8, k2_25},
    {"MEM_BUF_ZEROCOPY64_BATCHES", 0xC0204E81, 8, k2_25},
    {"MEM_MC_GET_INFO", 0xC0184E6F, -1, k2_19},
    {"MEM_MC_GET_INFO_V2", 0xC0204E6F, -1, k2_19},
    {"NOTIFICATIONS_INIT_V2", 0x80084E35, -1, k2_19},
    {"NOTIFICATIONS_INIT_WITH_REALLOC_V2", 0x80084E36, -1, k2_19},
    {"DRIVER_INFO_GET", 0x80184E6E, -1, k2_19},
    {"DEVICE_BASIC_INFO", 0x40084E64, -1, k2_19},
    {"PRINTK", 0x40104E71, -1, k2_19},
    {"HOST_DEVICE_ID", 0x80044E72, -1, k2_19},
    {"HOST_DEVICE_ID_TO_RID_MAP", 0xC1044E73, -1, k2_19},
    {"GET_LOGICAL_TO_PHYSICAL_NC_MAP", 0xC0104E78, -1, k2_19},
    {"POD_INFO", 0xC1044E79, -1, k2_19},
    {"POD_STATUS", 0xC10C4E7A, -1, k2_19},
    {"POD_STATUS_V2", 0xC1144E7A, -1, k2_24},
    {"POD_CTRL", 0xC0104E7B, -1, k2_19},
    {"POD_CTRL_V2", 0xC0144E7B, -1, k2_24},
    {"H2T_DMA_ALLOC_QUEUES", 0xC0144E7D, -1, k2_25},
    {"H2T_DMA_FREE_QUEUES", 0xC0084E7E, -1, k2_25},
    {"POWER_PROFILE", 0x40084E7F, -1, k2_25},
    {"METRICS_CTRL", 0x40044E80, -1, k2_25},
    {"THROTTLING_NOTIFICATIONS", 0x40044E82, -1, k2_26},
    {"GET_VA_PLACEMENT", 0x40104E83, -1, k2_26},
    {"GET_PERFORMANCE_PROFILE", 0xC0084E84, -1, k2_27},
    {"AVAILABLE_PERF_PROFILES", 0xC0244E86, -1, k2_27},
    {"SEMAPHORE_INCREMENT", 0x80084E29, -1, k2_19},
};
inline const Form& form(const std::string& name) {
  for (const Form& f : kForms)
    if (name == f.name) return f;
  ADD_FAILURE() << name;
  return kForms[0];
}

// Requests that a driver may lack without a feature bit saying so.
inline const char* const kRemovable[] = {"NOTIFICATIONS_INIT_WITH_REALLOC_V2",
                                         "DRIVER_INFO_GET",
                                         "DEVICE_BASIC_INFO",
                                         "MEM_MC_GET_INFO_V2",
                                         "PRINTK",
                                         "HOST_DEVICE_ID",
                                         "HOST_DEVICE_ID_TO_RID_MAP",
                                         "GET_LOGICAL_TO_PHYSICAL_NC_MAP",
                                         "POD_INFO",
                                         "POD_STATUS_V2",
                                         "POD_CTRL_V2",
                                         "POD_INFO,POD_STATUS,POD_STATUS_V2,POD_CTRL,POD_CTRL_V2",
                                         "H2T_DMA_ALLOC_QUEUES",
                                         "H2T_DMA_FREE_QUEUES",
                                         "POWER_PROFILE",
                                         "METRICS_CTRL",
                                         "THROTTLING_NOTIFICATIONS",
                                         "GET_VA_PLACEMENT",
                                         "GET_PERFORMANCE_PROFILE",
                                         "AVAILABLE_PERF_PROFILES"};

// --- the rules: newest form first. By bit: the first that the driver announces
// is used and no other. Otherwise: the newest is tried once.
struct Rule {
  std::vector<const char*> forms;
  bool by_bit;
  bool in_execution;  // what loading and executing a model does
};
inline const std::vector<Rule> kRules = {
    {{"MEM_ALLOC_V2MT64", "MEM_ALLOC_V2MT", "MEM_ALLOC_V2"}, true, true},
    {{"MEM_BUF_COPY64", "MEM_BUF_COPY"}, true, false},
    {{"MEM_COPY64", "MEM_COPY"}, true, false},
    {{"MEMSET64", "MEMSET"}, true, true},
    {{"PROGRAM_ENGINE_NC64", "PROGRAM_ENGINE_NC"}, true, false},
    {{"DMA_COPY_DESCRIPTORS64", "DMA_COPY_DESCRIPTORS"}, true, false},
    {{"MEM_COPY_ASYNC64", "MEM_COPY_ASYNC", "MEM_COPY64", "MEM_COPY"}, true, true},
    {{"CRWL_NC_RANGE_MARK_EXT0", "CRWL_NC_RANGE_MARK"}, true, true},
    {{"CRWL_NC_RANGE_UNMARK_EXT0", "CRWL_NC_RANGE_UNMARK"}, true, false},
    {{"DMA_QUEUE_INIT_BATCH", "DMA_QUEUE_INIT"}, true, false},
    {{"MEM_MC_GET_INFO_V2", "MEM_MC_GET_INFO"}, false, false},
    {{"NOTIFICATIONS_INIT_WITH_REALLOC_V2", "NOTIFICATIONS_INIT_V2"}, false, true},
    {{"POD_STATUS_V2", "POD_STATUS"}, false, false},
    {{"POD_CTRL_V2", "POD_CTRL"}, false, false},
};

struct Case {
  Release release = k2_27;
  int masked = -1;      // feature bit
  std::string without;  // names of requests

  std::uint64_t features() const {
    return kDrivers[release].features &
           (masked < 0 ? ~std::uint64_t{0} : ~(std::uint64_t{1} << masked));
  }
  // What the driver layer can know of them.
  std::uint64_t reported() const { return has("DRIVER_INFO_GET") ? features() : 0; }
  bool bit(int b) const { return reported() >> b & 1; }
  bool has(const std::string& name) const {
    const Form& f = form(name);
    if (("," + without + ",").find("," + name + ",") != std::string::npos) return false;
    if (f.since > release) return false;
    if (name == "MEM_COPY_ASYNC64" && !(features() >> 1 & 1)) return false;
    return f.bit < 0 || (features() >> f.bit & 1);
  }
  // By what the driver announces.
  bool announced(const std::string& name) const {
    const Form& f = form(name);
    if (name == "MEM_COPY_ASYNC64" && !bit(1)) return false;
    return f.bit < 0 ? has(name) : bit(f.bit);
  }
  bool current() const { return (reported() & 0xFF) == 0xFF && has("MEM_MC_GET_INFO_V2"); }
  std::string mask() const {
    char text[16];
    std::snprintf(text, sizeof text, "0x%llx",
                  static_cast<unsigned long long>(
                      masked < 0 ? 0x1FF : 0x1FF & ~(std::uint64_t{1} << masked)));
    return text;
  }
  std::string name() const {
    return std::string(kDrivers[release].version) + " mask " + mask() + " without [" + without +
           "]";
  }
};

// Every driver with each bit masked, and with each request taken away.
inline std::vector<Case> one_by_one() {
  std::vector<Case> cases;
  for (int release = 0; release < kReleases; ++release) {
    const auto r = static_cast<Release>(release);
    for (int bit = -1; bit <= 8; ++bit) cases.push_back({r, bit, ""});
    for (const char* request : kRemovable) cases.push_back({r, -1, request});
  }
  return cases;
}

// How often each request was sent, and how often it was refused.
struct Trace {
  std::map<std::uint32_t, int> sent, refused;
  explicit Trace(const std::vector<RecordedCall>& calls) {
    for (const RecordedCall& one : calls) {
      if (one.call != "ioctl") continue;
      ++sent[one.argument];
      if (one.result == -EINVAL) ++refused[one.argument];
    }
  }
  int count(const std::string& name) const {
    const auto found = sent.find(form(name).code);
    return found == sent.end() ? 0 : found->second;
  }
};

// The forms in the trace of everything, or of an execution, are those the rules
// name for this driver.
inline void check_forms(const Trace& trace, const Case& at, bool compat, bool execution) {
  std::set<std::string> expected;  // a form may serve two rules
  for (const Rule& rule : kRules) {
    std::string use = rule.forms[0];
    if (compat)
      for (auto f = rule.forms.rbegin(); f != rule.forms.rend(); ++f)
        if (rule.by_bit ? at.announced(*f) : at.has(*f)) use = *f;
    if (compat && !rule.by_bit && !at.has(use)) continue;  // all are gone
    expected.insert(use);
    if (!execution || rule.in_execution) {
      EXPECT_GE(trace.count(use), 1) << use << " is the form to use";
    }
  }
  // A single queue is set up with this one whatever the driver.
  expected.insert("DMA_QUEUE_INIT");
  for (const Rule& rule : kRules)
    for (const char* f : rule.forms) {
      if (expected.count(f) != 0) continue;
      // Found out by trying: once, and once more when probe asked.
      const bool tried = compat && !rule.by_bit && !at.has(f);
      EXPECT_LE(trace.count(f), tried ? 2 : 0) << f << " is not the form to use";
    }
  if (!compat) return;
  // What the driver does not announce is not even tried.
  for (const Form& f : kForms)
    if (f.bit >= 0 && !at.announced(f.name)) {
      EXPECT_EQ(trace.count(f.name), 0) << f.name;
    }
}

class Recorded : public ::testing::Test {
 protected:
  void SetUp() override {
    record_ = ::testing::TempDir() + "ndl-matrix-" + std::to_string(getpid());
    unlink(record_.c_str());
    setenv("OPENNRT_RECORDER_FILE", record_.c_str(), 1);
    setenv("OPENNRT_RECORDER_TARGET", OPENNRT_EMULATOR_LIBRARY, 1);
  }
  void TearDown() override { unlink(record_.c_str()); }
  Trace take() { return Trace(read_recording(record_, &seen_)); }

  std::string record_;
  std::streamoff seen_ = 0;
};

}  // namespace opennrt::test
