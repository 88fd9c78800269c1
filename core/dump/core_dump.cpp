// SPDX-License-Identifier: Apache-2.0
#include "dump/core_dump.h"

#include <fmt/format.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>

#include "base/text.h"
#include "dump/helper.h"
#include "dump/log_tail.h"
#include "dump/path_template.h"
#include "log/context.h"
#include "log/log.h"
#include "trace/output_file.h"

namespace opennrt::dump {

namespace {

struct Subject {
  bool known = false;
  const char* api = nullptr;
  std::int32_t core = log::kNoCore;
  char name[256] = "";
  std::array<std::uint8_t, 16> uuid{};
};
constinit thread_local Subject t_subject;

struct Active {
  Settings settings;
  Values values;  // what does not change from dump to dump
  bool described = false;
};

struct State {
  std::mutex mutex;  // guards active; held while a dump is taken
  std::unique_ptr<Active> active;
  LogTail tail;
  std::uint64_t dumps = 0;  // of the process
};
State& state() {
  static State* const one = new State;
  return *one;
}
// Looked at first, so that failures without dumps take no lock.
constinit std::atomic<bool> g_on{false};

std::string text_of(const std::array<std::uint8_t, 16>& uuid) {
  std::string out;
  for (const std::uint8_t byte : uuid) out += fmt::format("{:02x}", byte);
  return out;
}

class Dump {
 public:
  Dump(Active& active, LogTail& tail, const Failure& failure, const Subject& subject,
       std::uint64_t number)
      : active_(active), tail_(tail), failure_(failure), subject_(subject), values_(active.values) {
    values_.tid = syscall(SYS_gettid);
    values_.number = number;
    directory_ = expand(active.settings.directory, values_, kMostPathBytes);
    s3_prefix_ = expand(active.settings.s3_prefix, values_, kMostPathBytes);
  }

  void take() {
    if (!directory_.empty()) {
      if (Status made = trace::make_directories(directory_); !made) {
        report(made);
        return;
      }
      report(write_files());
    }
    if (is_executable(active_.settings.helper)) run_helpers();
  }

 private:
  // The failing call waits for them, so together they have one limit.
  void run_helpers() {
    ONRT_LOG(kNrt, kWarn, "core dump: {} runs, for {} ms at most (core_dump.helper_timeout_s)",
             active_.settings.helper, active_.settings.helper_timeout_ms);
    std::vector<std::vector<std::string>> runs;
    for (const std::string& path : files_) runs.push_back({"--runtime-generated", path});
    for (const Core& core : cores()) runs.push_back(arguments(core));
    using Clock = std::chrono::steady_clock;
    const auto until = Clock::now() + std::chrono::milliseconds(active_.settings.helper_timeout_ms);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
      if (left <= 0) {
        report(Status::failure("the limit of {} ms is over, {} of {} runs of {} are left out",
                               active_.settings.helper_timeout_ms, runs.size() - i, runs.size(),
                               active_.settings.helper));
        return;
      }
      report(run_helper(active_.settings.helper, runs[i], static_cast<int>(left)));
    }
  }

  Status write_files() {
    const std::string name = expand("%i-nrt-pid-%p.log", values_, kMostNameBytes);
    const std::string title = fmt::format("{} dump {} of process {}: {} failed with status {}",
                                          date_time_of(time(nullptr)), values_.number, values_.pid,
                                          failure_.api, static_cast<int>(failure_.code));
    ONRT_TRY(append_to_log(directory_, name, tail_.take(title)));
    files_.push_back(directory_ + "/" + name);
    if (!active_.described && active_.settings.describe) {
      const std::string about =
          directory_ + "/" + expand("%i-nrt-pid-%p-info.txt", values_, kMostNameBytes);
      ONRT_TRY(trace::write_file(about, active_.settings.describe(failure_)));
      active_.described = true;
      files_.push_back(about);
    }
    ONRT_LOG(kNrt, kError, "files for support are in {}", directory_);
    return {};
  }

  std::vector<Core> cores() const {
    const auto& all = active_.settings.cores;
    const auto at = static_cast<std::size_t>(subject_.core);
    return subject_.core >= 0 && at < all.size() ? all[at] : std::vector<Core>{};
  }

  std::vector<std::string> arguments(const Core& core) const {
    std::vector<std::string> out = {"--neff-name",
                                    subject_.name,
                                    "--neff-uuid",
                                    text_of(subject_.uuid),
                                    "--date-time",
                                    values_.date_time,
                                    "--pid",
                                    std::to_string(values_.pid),
                                    "--tid",
                                    std::to_string(values_.tid),
                                    "--log-id",
                                    std::to_string(values_.number),
                                    "--instance-id",
                                    values_.instance_id,
                                    "--cluster-id",
                                    values_.cluster_id,
                                    "--error-location",
                                    failure_.api,
                                    "--error-code",
                                    std::to_string(static_cast<int>(failure_.code)),
                                    "--local-output-dir",
                                    directory_};
    if (!s3_prefix_.empty()) out.insert(out.end(), {"--s3-output-prefix", s3_prefix_});
    out.insert(out.end(), {"--device-id", std::to_string(core.device), "--core-id",
                           std::to_string(core.core)});
    return out;
  }

  static void report(const Status& status) {
    if (!status) ONRT_LOG(kNrt, kError, "core dump: {}", status.message());
  }

  Active& active_;
  LogTail& tail_;
  const Failure& failure_;
  const Subject& subject_;
  Values values_;
  std::string directory_, s3_prefix_;
  std::vector<std::string> files_;
};

}  // namespace

void open(Settings settings) {
  const bool helper = is_executable(settings.helper);
  if (settings.helper_given && !helper)
    ONRT_LOG(kNrt, kError, "core_dump.helper {} is no executable file, it will not run",
             printable(settings.helper));
  if (!settings.s3_prefix.empty() && !helper)
    ONRT_LOG(kNrt, kWarn, "core_dump.s3_prefix has no effect without core_dump.helper");
  if (settings.directory.empty() && settings.s3_prefix.empty()) return;
  if (!helper && (!settings.directory_given || settings.directory.empty())) return;
  auto fresh = std::make_unique<Active>();
  fresh->values.pid = getpid();
  fresh->values.date_time = date_time_of(time(nullptr));
  fresh->values.instance_id = component(settings.instance_id, fresh->values.instance_id);
  fresh->values.cluster_id = component(settings.cluster_id, fresh->values.cluster_id);
  fresh->settings = std::move(settings);
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.active = std::move(fresh);
  g_on.store(true, std::memory_order_release);
}

void close() {
  if (!g_on.exchange(false)) return;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  s.active.reset();
}

void enter_forked_child() noexcept { g_on.store(false, std::memory_order_relaxed); }

bool deserves_dump(NRT_STATUS code) noexcept {
  switch (code) {
    case NRT_FAILURE:
    case NRT_RESOURCE:
    case NRT_TIMEOUT:
    case NRT_HW_ERROR:
    case NRT_EXEC_COMPLETED_WITH_ERR:
    case NRT_EXEC_OOB:
    case NRT_EXEC_HW_ERR_COLLECTIVES:
    case NRT_EXEC_HW_ERR_HBM_UE:
    case NRT_EXEC_HW_ERR_NC_UE:
    case NRT_EXEC_HW_ERR_DMA_ABORT:
    case NRT_EXEC_SW_NQ_OVERFLOW:
    case NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE:
    case NRT_NETWORK_PROXY_FAILURE:
      return true;
    // 1003 leaves results; 101 follows from a failure that was dumped.
    default:
      return false;
  }
}

void blame(std::int32_t core, std::string_view neff_name,
           const std::array<std::uint8_t, 16>& neff_uuid) noexcept {
  Subject& s = t_subject;
  s.known = true;
  s.api = log::current_api();
  s.core = core;
  const std::size_t n = std::min(neff_name.size(), sizeof s.name - 1);
  std::copy_n(neff_name.data(), n, s.name);
  s.name[n] = '\0';
  s.uuid = neff_uuid;
}

void on_failure(const Failure& failure) noexcept {
  if (!g_on.load(std::memory_order_acquire) || !deserves_dump(failure.code)) return;
  Subject subject;
  if (t_subject.known && t_subject.api == log::current_api()) subject = t_subject;
  t_subject.known = false;
  try {
    State& s = state();
    const std::lock_guard lock(s.mutex);
    if (s.active) Dump(*s.active, s.tail, failure, subject, ++s.dumps).take();
  } catch (...) {  // out of memory: the failure itself was told
  }
}

}  // namespace opennrt::dump
