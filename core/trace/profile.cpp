// SPDX-License-Identifier: Apache-2.0
#include "trace/profile.h"

#include <time.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <new>
#include <vector>

#include "log/log.h"
#include "trace/device_profile.h"
#include "trace/recordings.h"
#include "trace/trace.h"

namespace opennrt::trace::profile {

namespace {

// Events of one core that a session keeps.
constexpr std::uint64_t kSessionEvents = 65'536;

struct Books {
  std::map<std::string, std::uint32_t> armed;      // file -> model
  std::map<std::uint32_t, std::uint64_t> running;  // core -> start
  std::map<std::uint64_t, Harvest> harvests;       // by number
  std::uint64_t last_number = 0;
  bool continuous = false;
};

constinit std::mutex g_mutex;  // guards the books
constinit Books* g_books = nullptr;

Books& books() {
  if (g_books == nullptr) g_books = new Books;
  return *g_books;
}

std::string local_time() {
  const time_t now = time(nullptr);
  tm parts{};
  localtime_r(&now, &parts);
  char text[32];
  strftime(text, sizeof text, "%Y%m%d_%H%M%S", &parts);
  return text;
}

}  // namespace

Status arm(std::uint32_t model, const std::string& file) {
  const std::lock_guard lock(g_mutex);
  Books& b = books();
  if (b.continuous)
    return Status::invalid("continuous profiling is on; call nrt_profile_continuous_stop first");
  for (const auto& [name, id] : b.armed)
    if (name == file || id == model)
      return Status::invalid("model {} is already profiled into {}; stop that first", id, name);
  b.armed.emplace(file, model);
  ONRT_LOG(kNrt, kWarn,
           "device profiles (NTFF files) are not supported by this release: {} will not be written "
           "and nrt_profile_stop will say so",
           file);
  return {};
}

Status disarm(const std::string& file) {
  Harvest harvest;
  {
    const std::lock_guard lock(g_mutex);
    if (books().armed.erase(file) == 0)
      return Status::invalid("no profile was started for {}", file);
  }
  return write_device_profile(harvest, file);
}

void forget_model(std::uint32_t model) {
  const std::lock_guard lock(g_mutex);
  if (g_books == nullptr) return;
  std::erase_if(g_books->armed, [&](const auto& entry) { return entry.second == model; });
}

Status start_session(std::uint32_t core) {
  const std::lock_guard lock(g_mutex);
  Books& b = books();
  if (b.running.contains(core))
    return Status::invalid("logical core {} has an active profile session; stop it first", core);
  if (!is_recording(Purpose::kProfile))
    ONRT_TRY(start_recording(Purpose::kProfile, {.events_per_core = kSessionEvents}));
  std::vector<Record> older;  // from before the profile session: not part of it
  ONRT_TRY(fetch(Purpose::kProfile, {.core = core}, older));
  b.running.emplace(core, now_ns());
  return {};
}

Result<std::uint64_t> stop_session(std::uint32_t core) {
  const std::lock_guard lock(g_mutex);
  Books& b = books();
  const auto found = b.running.find(core);
  if (found == b.running.end())
    return Status::invalid("logical core {} has no active profile session", core);
  Harvest harvest{.core = core, .start_ns = found->second, .end_ns = now_ns()};
  ONRT_TRY(fetch(Purpose::kProfile, {.core = core}, harvest.events));
  const std::uint64_t number = ++b.last_number;
  b.harvests.emplace(number, std::move(harvest));
  b.running.erase(found);
  if (b.running.empty()) stop_recording(Purpose::kProfile);
  return number;
}

Status serialize(std::uint64_t session, const std::string& file) {
  const std::lock_guard lock(g_mutex);
  Books& b = books();
  const auto found = b.harvests.find(session);
  if (found == b.harvests.end())
    return Status::invalid("there is no stopped profile session {}", session);
  ONRT_TRY(write_device_profile(found->second, file));
  b.harvests.erase(found);
  return {};
}

Status drop(std::uint64_t session) {
  const std::lock_guard lock(g_mutex);
  if (books().harvests.erase(session) == 0)
    return Status::invalid("there is no stopped profile session {}", session);
  return {};
}

void drop_all(std::uint32_t core) {
  const std::lock_guard lock(g_mutex);
  std::erase_if(books().harvests, [&](const auto& entry) { return entry.second.core == core; });
}

Status start_continuous() {
  const std::lock_guard lock(g_mutex);
  Books& b = books();
  if (b.continuous) return Status::invalid("continuous profiling is already on");
  if (!b.armed.empty())
    return Status::invalid("a profile into {} was started; call nrt_profile_stop first",
                           b.armed.begin()->first);
  b.continuous = true;
  ONRT_LOG(kNrt, kWarn,
           "device profiles (NTFF files) are not supported by this release: "
           "nrt_profile_continuous_save will write nothing and say so");
  return {};
}

Status save_continuous(std::uint32_t core, const std::string& directory) {
  const std::lock_guard lock(g_mutex);
  if (!books().continuous)
    return Status::failure("continuous profiling is off; call nrt_profile_continuous_start first");
  return write_device_profile({.core = core}, fmt::format("{}/model_0_pid_{}_vnc_{}_inst_0_{}.ntff",
                                                          directory, getpid(), core, local_time()));
}

void stop_continuous() {
  const std::lock_guard lock(g_mutex);
  books().continuous = false;
}

void close() {
  const std::lock_guard lock(g_mutex);
  if (g_books == nullptr) return;
  const std::uint64_t last = g_books->last_number;
  *g_books = {};
  g_books->last_number = last;  // numbers of a closed runtime stay unknown
  stop_recording(Purpose::kProfile);
}

// The parent's books are left where they are: nothing of it is released here.
void enter_forked_child() noexcept {
  new (&g_mutex) std::mutex;
  g_books = nullptr;
}

}  // namespace opennrt::trace::profile
