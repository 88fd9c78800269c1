// SPDX-License-Identifier: Apache-2.0
#include "trace/inspect.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "log/log.h"
#include "trace/device_profile.h"
#include "trace/host_sampler.h"
#include "trace/inspect_worker.h"
#include "trace/json.h"
#include "trace/output_file.h"
#include "trace/recordings.h"
#include "trace/trace.h"

namespace opennrt::trace::inspect {

namespace {

constexpr std::array<Activity, 4> kActivities = {{{"system_profile", kSystemProfile},
                                                  {"device_profile", kDeviceProfile},
                                                  {"host_memory", kHostMemory},
                                                  {"cpu_util", kCpuUtil}}};
constexpr std::string_view kDefaultDirectory = "./output";
constexpr std::string_view kDiscard = "/dev/null";
// Reserved: where failing runs are kept until the runtime is closed.
constexpr std::string_view kSalvage = "./tmp";

std::string directory_name(std::string_view output_dir, std::uint64_t begin_ns) {
  // The instance of a machine without one is "local".
  return fmt::format("{}/local_pid_{}/{}", output_dir.empty() ? kDefaultDirectory : output_dir,
                     getpid(), begin_ns);
}

// Everything of one session. Ended once, by the worker or by stop().
class Session {
 public:
  Session(const Options& options, std::uint64_t begin_ns)
      : options_(options),
        discard_(options.output_dir == kDiscard),
        directory_(directory_name(options.output_dir, begin_ns)) {}

  Status start() {
    if (!discard_) {
      if (Status made = make_directories(directory_); !made)
        return Status(made.code(),
                      fmt::format("{}; name another place in inspect.output_dir "
                                  "(NEURON_RT_INSPECT_OUTPUT_DIR) or in the options of the call",
                                  made.message()));
    }
    if (has(kSystemProfile)) ONRT_TRY(start_recording(Purpose::kInspect, options_.capture));
    if (samples()) sampler_.sample(now_ns());
    Status started = worker_.start([this] { sample(); }, [this] { finish(); }, samples());
    if (!started) stop_recording(Purpose::kInspect);
    return started;
  }
  Status stop() {
    worker_.stop();
    finish();
    return Status(status_code_, status_text_);
  }
  const std::string& directory() const { return directory_; }
  // The files are written, or were tried to be.
  bool finished() const { return finished_.load(std::memory_order_acquire); }
  bool writes() const { return !discard_ && !finished(); }

 private:
  bool has(std::uint32_t activity) const { return (options_.activities & activity) != 0; }
  bool samples() const { return has(kHostMemory) || has(kCpuUtil); }

  void sample() {
    const std::lock_guard lock(mutex_);
    if (!finished_.load(std::memory_order_relaxed)) sampler_.sample(now_ns());
  }

  void finish() {
    const std::lock_guard lock(mutex_);
    if (finished_.exchange(true)) return;
    Status status;
    try {
      status = write();
    } catch (const std::bad_alloc&) {
      status = Status::resource("no memory to write the files of the inspection");
    }
    status_code_ = status.code();
    status_text_ = status.message();
  }

  Status write() {
    const std::unique_ptr<Capture> capture = stop_recording(Purpose::kInspect);
    if (discard_) return {};
    Status first;
    const auto keep = [&](Status s) {
      if (first.is_ok()) first = std::move(s);
    };
    if (capture) keep(write_events(*capture));
    if (samples()) sampler_.sample(now_ns());
    if (has(kCpuUtil)) keep(write_file(directory_ + "/cpu_util.json", sampler_.cpu_json()));
    if (has(kHostMemory)) keep(write_file(directory_ + "/host_mem.json", sampler_.memory_json()));
    ONRT_LOG(kNrt, kInfo, "inspection written to {}", directory_);
    return first;
  }

  Status write_events(Capture& capture) const {
    std::vector<Record> records;
    capture.drain({}, records);
    TextBlock text;
    ONRT_TRY(append_json(records, text));
    if (capture.lost() != 0)
      ONRT_LOG(kNrt, kWarn, "inspection: {} events were overwritten; {} fit per core",
               capture.lost(), capture.options().events_per_core);
    ONRT_TRY(write_file(directory_ + "/interned_strings.json", interned_json()));
    return write_file(directory_ + "/sys_trace.json", text.view());
  }

  const Options options_;
  const bool discard_;
  const std::string directory_;
  std::mutex mutex_;  // guards the sampler and the end
  HostSampler sampler_;
  std::atomic<bool> finished_{false};
  NRT_STATUS status_code_ = NRT_SUCCESS;
  std::string status_text_;
  Worker worker_;
};

constinit std::mutex g_mutex;  // guards the session and the time
constinit Session* g_session = nullptr;
constinit std::atomic<bool> g_running{false};
constinit std::uint64_t g_begin_ns = 0;  // of the running or latest session
constinit bool g_handlers = false;

// The parent's session stays its own and is not released here.
void in_child() {
  new (&g_mutex) std::mutex;
  g_session = nullptr;
  g_running.store(false, std::memory_order_relaxed);
  g_begin_ns = 0;
  forget_signals();
}

void at_exit() {
  if (Status s = stop(); !s) ONRT_LOG(kNrt, kError, "inspection at exit: {}", s.message());
}

Status install_handlers() {
  if (g_handlers) return {};
  if (pthread_atfork(nullptr, nullptr, &in_child) != 0 || atexit(&at_exit) != 0)
    return Status::resource("no memory for exit handlers");
  g_handlers = true;
  return {};
}

Status check(const Options& options) {
  if ((options.activities & kDeviceProfile) != 0 && options.device_mode != DeviceMode::kDisabled)
    return device_profiles_missing(
        fmt::format("device profile mode {}", static_cast<std::uint32_t>(options.device_mode)));
  if (options.enable_on_fail)
    return device_profiles_missing("keeping a device profile of a failing execution");
  namespace fs = std::filesystem;
  if (!options.output_dir.empty() &&
      fs::path(options.output_dir).lexically_normal() == fs::path(kSalvage).lexically_normal())
    return Status::invalid("the output directory {} is reserved; choose another",
                           options.output_dir);
  return {};
}

}  // namespace

std::uint32_t activity_of(std::string_view name) {
  if (name == "all") return kAllActivities;
  for (const Activity& a : kActivities)
    if (a.name == name) return a.bit;
  return 0;
}

std::span<const Activity> activities() { return kActivities; }

Status begin(const Options& options) {
  ONRT_TRY(check(options));
  const std::lock_guard lock(g_mutex);
  if (g_session != nullptr && !g_session->finished())
    return Status::invalid("an inspection is running; call nrt_inspect_stop first");
  delete std::exchange(g_session, nullptr);  // ended by a signal
  ONRT_TRY(install_handlers());
  const std::uint64_t begin_ns = now_ns();
  auto session = std::make_unique<Session>(options, begin_ns);
  ONRT_TRY(session->start());
  g_session = session.release();
  g_begin_ns = begin_ns;
  g_running.store(true, std::memory_order_release);
  ONRT_LOG(kNrt, kInfo, "inspection {} runs, files go to {}", options.session_id,
           g_session->directory());
  return {};
}

Status stop() {
  const std::lock_guard lock(g_mutex);
  const std::unique_ptr<Session> session(g_session);
  g_session = nullptr;
  g_running.store(false, std::memory_order_release);
  return session ? session->stop() : Status();
}

bool is_running() noexcept { return g_running.load(std::memory_order_relaxed); }

std::string session_directory(std::string_view output_dir) {
  const std::lock_guard lock(g_mutex);
  return directory_name(output_dir, g_begin_ns != 0 ? g_begin_ns : now_ns());
}

void keep_model_file(std::span<const std::byte> neff, std::span<const std::byte> uuid,
                     std::uint32_t core) {
  if (!is_running()) return;
  const std::lock_guard lock(g_mutex);
  if (g_session == nullptr || !g_session->writes()) return;
  std::string hash;
  for (const std::byte b : uuid) hash += fmt::format("{:02x}", static_cast<unsigned>(b));
  const std::string path =
      fmt::format("{}/neff_{}_vnc_{}.neff", g_session->directory(), hash, core);
  if (std::error_code ignored; std::filesystem::exists(path, ignored)) return;
  const std::string_view text(reinterpret_cast<const char*>(neff.data()), neff.size());
  if (Status s = write_file(path, text); !s) ONRT_LOG(kNrt, kError, "inspection: {}", s.message());
}

}  // namespace opennrt::trace::inspect
