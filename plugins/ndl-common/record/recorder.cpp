// SPDX-License-Identifier: Apache-2.0
#include "ndl-common/record/recorder.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <unordered_map>

#include "ndl-common/log.h"
#include "ndl-common/record/arguments.h"
#include "ndl-common/record/file.h"
#include "ndl-common/record/mappings.h"
#include "ndl-common/record/trace.h"

namespace opennrt::ndl {
namespace {

using namespace trace;

constexpr char kSetting[] = "ndl.record";

// All requests but those that only keep books of memory: anything else may start
// the device or wait for it.
bool moves_data(uint32_t request) {
  constexpr uint32_t kBooks[] = {kMemAllocV1, kMemAllocV2,         kMemFree,  kMemGetPa,
                                 kMemGetInfo, kMemGetExtendedInfo, kChunkInfo};
  return std::none_of(std::begin(kBooks), std::end(kBooks), [&](uint32_t book) {
    return request_number(book) == request_number(request);
  });
}

// The lock is never held while the port works.
class Recorder final : UserMemory {
 public:
  Recorder(const nrtp_host* host, const nrtp_sys_port* port, void* port_ctx)
      : port_(port), port_ctx_(port_ctx), log_(host), owner_(getpid()), begin_(Clock::now()) {}

  int begin(const std::string& path, const char* ndl, std::string* error) {
    if (const int bad = file_.open(path, error)) return bad;
    std::string line = kMagic + std::to_string(kVersion) + ' ' + File::owner() +
                       " ndl=" + to_text(Value::of_text(ndl)) +
                       " port=" + to_text(Value::of_text(port_->name ? port_->name : "")) +
                       " runtime=" + to_text(Value::of_text(OPENNRT_VERSION)) + '\n';
    const int bad = file_.write(line);
    if (bad) {
      *error = file_.path() + ": " + std::strerror(-bad);
      file_.close();
    }
    return bad;
  }

  ~Recorder() {
    // A forked child shares the file and says nothing in it.
    if (getpid() != owner_ || !file_.is_open()) return;
    char line[64];
    const int n = std::snprintf(line, sizeof line, "%s lines=%llu\n", kEnd,
                                static_cast<unsigned long long>(sequence_));
    if (const int bad = file_.write({line, static_cast<size_t>(n)})) stop(bad);
  }

  const nrtp_sys_port& port() const { return *port_; }
  void* port_ctx() const { return port_ctx_; }

  int open(const char* path, uint32_t flags) {
    Call call(*this, "open");
    call.arg("path", Value::of_text(path ? path : ""));
    call.arg("flags", Value::of(flags));
    return static_cast<int>(call.run([&] { return port_->open(port_ctx_, path, flags); }));
  }

  int close(int fd) {
    Call call(*this, "close");
    call.arg("fd", Value::of_signed(fd));
    return static_cast<int>(call.run([&] { return port_->close(port_ctx_, fd); }));
  }

  int64_t ioctl(int fd, uint32_t request, uintptr_t arg) {
    const RequestShape* shape = find_shape(request);
    Call call(*this, shape ? shape->name() : "ioctl", !shape || moves_data(request));
    call.arg("fd", Value::of_signed(fd));
    if (shape)
      call.inputs(*shape, arg);
    else
      call.arg("code", Value::of(request));
    return call.run([&] { return port_->ioctl(port_ctx_, fd, request, arg); },
                    [&](int64_t result, Line& line) {
                      if (!shape) return;
                      line.outs = outputs(*shape, arg, result >= 0, *this);
                      if (result >= 0) learn(request_number(shape->code), line);
                    });
  }

  int mmap(int fd, uint64_t bytes, uint32_t prot, uint64_t offset, void** out) {
    Call call(*this, "mmap");
    call.arg("fd", Value::of_signed(fd));
    call.arg("bytes", Value::of(bytes));
    call.arg("prot", Value::of(prot));
    call.arg("offset", Value::of(offset));
    const auto work = [&] { return port_->mmap(port_ctx_, fd, bytes, prot, offset, out); };
    const auto more = [&](int64_t result, Line& line) {
      if (result < 0) return;
      Mappings::Watch watch = Mappings::Watch::kAlways;
      if (stores_.count(offset)) watch = Mappings::Watch::kOnce;
      if (windows_.count(offset) || (prot & NRTP_PROT_READ) == 0) watch = Mappings::Watch::kNever;
      bool watched = false;
      line.outs.emplace_back("map", Value::of(mappings_.add(*out, bytes, watch, &watched)));
      if (!watched) line.outs.emplace_back("unwatched", Value::of(1));
    };
    return static_cast<int>(call.run(work, more, "map"));
  }

  int munmap(void* address, uint64_t bytes) {
    Call call(*this, "munmap");
    uint64_t number = 0;
    {
      const std::lock_guard guard(lock_);  // not looked at any more from here on
      number = mappings_.remove(address);
    }
    call.arg("map", Value::of(number));
    call.arg("bytes", Value::of(bytes));
    return static_cast<int>(call.run([&] { return port_->munmap(port_ctx_, address, bytes); }));
  }

  int exists(const char* path) {
    Call call(*this, "exists");
    call.arg("path", Value::of_text(path ? path : ""));
    return static_cast<int>(call.run([&] { return port_->exists(port_ctx_, path); }));
  }

  int64_t read_text(const char* path, char* buffer, size_t n) {
    Call call(*this, "read_text");
    call.arg("path", Value::of_text(path ? path : ""));
    call.arg("n", Value::of(n));
    return call.run([&] { return port_->read_text(port_ctx_, path, buffer, n); },
                    [&](int64_t result, Line& line) {
                      if (result <= 0 || !buffer) return;
                      const size_t got = std::min(n, static_cast<size_t>(result));
                      line.outs.emplace_back("text", Value::of_text({buffer, got}));
                    });
  }

  int64_t control(const char* request, char* reply, size_t n) {
    Call call(*this, "control");
    call.arg("request", Value::of_text(request ? request : ""));
    return call.run([&] { return port_->control(port_ctx_, request, reply, n); },
                    [&](int64_t result, Line& line) {
                      if (result >= 0 && reply && n != 0)
                        line.outs.emplace_back("reply", Value::of_text({reply, strnlen(reply, n)}));
                    });
  }

  void sleep_us(uint32_t us) {
    port_->sleep_us(port_ctx_, us);
    const std::lock_guard guard(lock_);
    if (!file_.is_open()) return;
    try {
      note_changes("wait", false);
    } catch (const std::bad_alloc&) {
      stop(-ENOMEM);
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  // One call on its way. Building the line never fails the call: out of memory
  // ends the recording.
  class Call {
   public:
    // `moves`: whether the call may move data.
    Call(Recorder& recorder, const char* name, bool moves = false)
        : recorder_(recorder), moves_(moves) {
      guarded([&] {
        line_.call = name;
        const std::lock_guard guard(recorder.lock_);
        if (recorder.file_.is_open()) recorder.note_changes("before", moves);
      });
    }
    void arg(const char* name, Value value) {
      guarded([&] { line_.args.emplace_back(name, std::move(value)); });
    }
    void inputs(const RequestShape& shape, uint64_t arg) {
      guarded([&] {
        const std::lock_guard guard(recorder_.lock_);
        if (!recorder_.file_.is_open()) return;
        for (auto& field : trace::inputs(shape, arg, recorder_))
          line_.args.push_back(std::move(field));
      });
    }
    // Calls the port; `more` adds what it gave, under the lock.
    template <typename Work, typename More>
    int64_t run(Work work, More more, const char* seen = "call") {
      line_.at_us = recorder_.now();
      const int64_t result = work();
      line_.took_us = recorder_.now() - line_.at_us;
      line_.answered = true;
      line_.result = result;
      guarded([&] {
        const std::lock_guard guard(recorder_.lock_);
        more(result, line_);
        if (!recorder_.file_.is_open()) return;
        line_.thread = recorder_.thread();
        line_.sequence = ++recorder_.sequence_;
        recorder_.write(to_text(line_));
        recorder_.note_changes(seen, moves_);
      });
      return result;
    }
    template <typename Work>
    int64_t run(Work work) {
      return run(work, [](int64_t, Line&) {});
    }

   private:
    template <typename Work>
    void guarded(Work work) {
      try {
        work();
      } catch (const std::bad_alloc&) {
        const std::lock_guard guard(recorder_.lock_);
        recorder_.stop(-ENOMEM);
      }
    }
    Recorder& recorder_;
    const bool moves_;
    Line line_;
  };

  bool mapped(uint64_t address, uint64_t bytes) const override {
    return mappings_.holds(address, bytes);
  }

  uint64_t now() const {
    return static_cast<uint64_t>(
        std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begin_).count());
  }

  // --- under the lock

  uint32_t thread() {
    return threads_.try_emplace(gettid(), static_cast<uint32_t>(threads_.size())).first->second;
  }

  void note_changes(const char* seen, bool all) {
    changes_.clear();
    mappings_.changes(all, &changes_);
    if (changes_.empty()) return;
    Line line;
    line.call = "mem";
    line.thread = thread();
    line.sequence = ++sequence_;
    line.at_us = now();
    for (const Change& change : changes_) {
      line.args.clear();
      line.args.emplace_back("seen", Value::of_text(seen));
      line.args.emplace_back("map", Value::of(change.map));
      line.args.emplace_back("offset", Value::of(change.offset));
      line.args.emplace_back("data",
                             Value::of_bytes(change.bytes.data(), change.bytes.size(), kMostKept));
      write(to_text(line));
    }
  }

  // What mappings of these offsets are.
  void learn(uint32_t number, const Line& line) {
    const auto in = [&](const char* name) { return number_of(line.args, name); };
    const auto out = [&](const char* name) { return number_of(line.outs, name); };
    if (number == request_number(kResourceInfo)) {
      windows_.insert(out("offset"));
    } else if (number == request_number(kDataStoreAcquire)) {
      stores_.insert(out("mmap_offset"));
    } else if (number == request_number(kMemAllocV2) || number == request_number(kMemAllocV1)) {
      if (in("host_memory") == 0) device_memory_.insert(out("mem_handle"));
    } else if (number == request_number(kMemFree)) {
      device_memory_.erase(in("mem_handle"));
    } else if (number == request_number(kMemGetInfo)) {
      // Reads through the bus window are slow, and the runtime copies by request.
      if (device_memory_.count(in("mem_handle")))
        windows_.insert(out("mmap_offset"));
      else
        windows_.erase(out("mmap_offset"));
    }
  }

  void write(const std::string& line) {
    if (!file_.is_open()) return;
    if (const int bad = file_.write(line + '\n')) stop(bad);
  }

  void stop(int error) {
    if (!file_.is_open()) return;
    log_.error("%s: %s: %s; the recording ends here, the run goes on", kSetting,
               file_.path().c_str(), std::strerror(-error));
    file_.close();
  }

  const nrtp_sys_port* const port_;
  void* const port_ctx_;
  const Log log_;
  const pid_t owner_;
  const Clock::time_point begin_;
  std::mutex lock_;  // guards all below
  File file_;
  uint64_t sequence_ = 0;
  std::unordered_map<pid_t, uint32_t> threads_;  // by gettid: not used again soon
  Mappings mappings_;
  std::vector<Change> changes_;
  std::set<uint64_t> windows_, stores_, device_memory_;
};

Recorder& self(void* ctx) { return *static_cast<Recorder*>(ctx); }

constexpr nrtp_sys_port kWithControl = {
    .head = NRTP_HEAD_INIT(nrtp_sys_port, PORT, OPENNRT_VERSION),
    .name = "recorder",
    .attach = [](const nrtp_host*, void**) { return -EINVAL; },  // only begin_recording makes one
    .detach = [](void*) {},
    .open = [](void* ctx, const char* path, uint32_t flags) { return self(ctx).open(path, flags); },
    .close = [](void* ctx, int fd) { return self(ctx).close(fd); },
    .ioctl = [](void* ctx, int fd, uint32_t request,
                uintptr_t arg) { return self(ctx).ioctl(fd, request, arg); },
    .mmap = [](void* ctx, int fd, uint64_t bytes, uint32_t prot, uint64_t offset,
               void** out) { return self(ctx).mmap(fd, bytes, prot, offset, out); },
    .munmap = [](void* ctx, void* address,
                 uint64_t bytes) { return self(ctx).munmap(address, bytes); },
    .exists = [](void* ctx, const char* path) { return self(ctx).exists(path); },
    .read_text = [](void* ctx, const char* path, char* buffer,
                    size_t n) { return self(ctx).read_text(path, buffer, n); },
    .now_us = [](void* ctx) { return self(ctx).port().now_us(self(ctx).port_ctx()); },
    .sleep_us = [](void* ctx, uint32_t us) { self(ctx).sleep_us(us); },
    .control = [](void* ctx, const char* request, char* reply,
                  size_t n) { return self(ctx).control(request, reply, n); },
};
constexpr nrtp_sys_port kWithoutControl = [] {
  nrtp_sys_port table = kWithControl;
  table.control = nullptr;
  return table;
}();

}  // namespace

void begin_recording(const nrtp_host* host, const char* ndl, const nrtp_sys_port** port,
                     void** port_ctx) noexcept {
  char path[4096];
  if (!host->config_get) return;
  const int got = host->config_get(host->self, kSetting, path, sizeof path);
  if (got == NRTP_RESOURCE) {
    Log(host).error("%s: the name of the file is too long; nothing is recorded", kSetting);
    return;
  }
  if (got != NRTP_OK || path[0] == '\0') return;
  try {
    auto recorder = std::make_unique<Recorder>(host, *port, *port_ctx);
    std::string error;
    if (recorder->begin(path, ndl, &error)) {
      Log(host).error("%s: %s; nothing is recorded", kSetting, error.c_str());
      return;
    }
    const bool control = NRTP_HAS(nrtp_sys_port, *port, control) && (*port)->control;
    *port = control ? &kWithControl : &kWithoutControl;
    *port_ctx = recorder.release();
  } catch (const std::bad_alloc&) {
    Log(host).error("%s: out of memory; nothing is recorded", kSetting);
  }
}

void end_recording(const nrtp_sys_port* port, void* port_ctx) noexcept {
  if (port == &kWithControl || port == &kWithoutControl) delete static_cast<Recorder*>(port_ctx);
}

}  // namespace opennrt::ndl
