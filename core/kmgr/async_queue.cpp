// SPDX-License-Identifier: Apache-2.0
#include "kmgr/async_queue.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <string_view>
#include <system_error>

#include "log/log.h"

namespace opennrt::kmgr {

namespace {

// A full counter is as good as a raised one, and writing to it would block.
void raise(int fd) {
  pollfd writable{.fd = fd, .events = POLLOUT, .revents = 0};
  if (poll(&writable, 1, 0) != 1) return;
  const std::uint64_t one = 1;
  ssize_t n = 0;
  do n = write(fd, &one, sizeof one);
  while (n < 0 && errno == EINTR);
}

// Anything else could block a worker, or raise SIGPIPE in the caller.
bool is_eventfd(int fd) {
  char target[32];
  const std::string link = fmt::format("/proc/self/fd/{}", fd);
  const ssize_t n = readlink(link.c_str(), target, sizeof target);
  return n > 0 && std::string_view(target, static_cast<std::size_t>(n)) == "anon_inode:[eventfd]";
}

Result<int> duplicate(int fd) {
  if (fcntl(fd, F_GETFD) >= 0 && !is_eventfd(fd))
    return Status::invalid("file descriptor {} is no eventfd; make one with eventfd(2)", fd);
  const int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  if (copy >= 0) return copy;
  return Status::make(errno == EBADF ? NRT_INVALID : NRT_RESOURCE, "file descriptor {}: {}", fd,
                      strerror(errno));
}

// Signals go to the threads of the program, never to ours.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &old_, nullptr); }

 private:
  sigset_t old_;
};

}  // namespace

AsyncQueue::AsyncQueue(std::string name, std::uint32_t capacity, Run run, Usable usable)
    : name_(std::move(name)), run_(std::move(run)), usable_(std::move(usable)), slots_(capacity) {
  events_.reserve(capacity);
}

AsyncQueue::~AsyncQueue() {
  drain("nrt_close");
  if (worker_.joinable()) {
    posted_.fetch_or(kStop, std::memory_order_release);
    posted_.notify_one();
    worker_.join();
  }
  for (const Event& e : events_) close(e.fd);
  if (every_ >= 0) close(every_);
}

Status AsyncQueue::admit() {
  if (!usable_())
    return Status::make(NRT_EXEC_UNIT_UNRECOVERABLE,
                        "{} is in an unknown state after an earlier failure; call nrt_close and "
                        "nrt_init to reset it",
                        name_);
  // Callers poll a full queue, so its message is short enough to stay cheap.
  if (issued_ - completed_.load(std::memory_order_acquire) >= slots_.size())
    return {NRT_QUEUE_FULL, {}};
  if (worker_.joinable()) return {};
  const BlockedSignals blocked;
  try {
    worker_ = std::thread([this] { work(); });
  } catch (const std::system_error& e) {
    return Status::resource("{}: starting its thread: {}", name_, e.what());
  }
  pthread_setname_np(worker_.native_handle(), name_.c_str());
  return {};
}

Result<std::uint64_t> AsyncQueue::post() {
  posted_.store(++issued_, std::memory_order_release);
  posted_.notify_one();
  return issued_;
}

void AsyncQueue::work() {
  for (std::uint64_t next = 1;; ++next) {
    std::uint64_t posted = posted_.load(std::memory_order_acquire);
    while ((posted & ~kStop) < next) {
      if ((posted & kStop) != 0) return;
      posted_.wait(posted, std::memory_order_acquire);
      posted = posted_.load(std::memory_order_acquire);
    }
    AsyncRequest& request = slot(next);
    *request.result = run_(request);
    // Who unloads the model or frees a tensor, which waits for the request, sees
    // the result; who sees the number sees it and the data.
    request.release();
    completed_.store(next, std::memory_order_seq_cst);
    if (has_events_.load(std::memory_order_seq_cst)) signal(next);
  }
}

// A registration that looks at completed_ before it is in the list is in the
// list before the worker looks for it, or sees the number: both orders are
// sequentially consistent.
void AsyncQueue::signal(std::uint64_t number) {
  const std::lock_guard lock(event_mutex_);
  std::erase_if(events_, [&](const Event& e) {
    if (e.number > number) return false;
    raise(e.fd);
    close(e.fd);
    return true;
  });
  if (every_ >= 0) raise(every_);
  has_events_.store(every_ >= 0 || !events_.empty(), std::memory_order_seq_cst);
}

Status AsyncQueue::notify_request(std::uint64_t number, int fd) {
  const std::lock_guard lock(event_mutex_);
  if (fd < 0) {
    std::erase_if(events_, [&](const Event& e) {
      if (e.number == number) close(e.fd);
      return e.number == number;
    });
    has_events_.store(every_ >= 0 || !events_.empty(), std::memory_order_seq_cst);
    return {};
  }
  ONRT_ASSIGN(const int copy, duplicate(fd));
  events_.push_back({number, copy});
  has_events_.store(true, std::memory_order_seq_cst);
  if (completed_.load(std::memory_order_seq_cst) >= number) {
    raise(copy);
    close(copy);
    events_.pop_back();
    has_events_.store(every_ >= 0 || !events_.empty(), std::memory_order_seq_cst);
  }
  return {};
}

Status AsyncQueue::notify_all(int fd) {
  const std::lock_guard lock(event_mutex_);
  int copy = -1;
  if (fd >= 0) {
    ONRT_ASSIGN(copy, duplicate(fd));
  }
  if (every_ >= 0) close(every_);
  every_ = copy;
  has_events_.store(every_ >= 0 || !events_.empty(), std::memory_order_seq_cst);
  return {};
}

void AsyncQueue::drain(const char* what) {
  constexpr auto kPoll = std::chrono::microseconds(100);
  constexpr std::uint64_t kPollsPerWarning = 1'200'000;  // 120 s
  const std::uint64_t until = issued();
  for (std::uint64_t polls = 1; completed() < until; ++polls) {
    std::this_thread::sleep_for(kPoll);
    if (polls % kPollsPerWarning == 0)
      ONRT_LOG(kKmgr, kWarn, "{} waits for {} queued request(s) of {}", what, until - completed(),
               name_);
  }
}

}  // namespace opennrt::kmgr
