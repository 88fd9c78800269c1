// SPDX-License-Identifier: Apache-2.0
#include "remote/process.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "remote/channel.h"

namespace opennrt::emu::remote {

namespace {

constexpr int kCleanUpTries = 2000;        // milliseconds
constexpr int kFirstDescriptor = 1 << 20;  // as Client::kFirstDescriptor

}  // namespace

ProcessTable::~ProcessTable() {
  for (auto& [pid, process] : processes_)
    if (process->watch >= 0) ::close(process->watch);
}

std::shared_ptr<Process> ProcessTable::find(std::uint32_t pid, std::uint32_t uid,
                                            std::uint64_t start_time, int socket, bool watches,
                                            std::string* error) {
  std::unique_lock lock(mutex_);
  // One that has ended makes room for a new one of its number.
  for (int tries = 0;; ++tries) {
    const auto it = processes_.find(pid);
    if (it == processes_.end() || it->second->client.start_time == start_time) break;
    if (tries == kCleanUpTries) {
      *error = "process " + std::to_string(pid) + " is known with another start time";
      return nullptr;
    }
    lock.unlock();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    lock.lock();
  }
  std::shared_ptr<Process>& place = processes_[pid];
  if (!place) {
    const auto refuse = [&](const std::string& reason) {
      processes_.erase(pid);
      *error = reason;
      return nullptr;
    };
    if (processes_.size() > kProcesses)
      return refuse(std::to_string(kProcesses) +
                    " processes use this software device, the most it serves; end one of them");
    auto made = std::make_shared<Process>();
    made->client = {pid, start_time, uid};
    made->watch = static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(pid), 0));
    if (made->watch < 0)
      return refuse("process " + std::to_string(pid) +
                    " cannot be watched: " + std::strerror(errno));
    // Watched from here on: what /proc says now is about that very process.
    if (process_start_time(static_cast<pid_t>(pid)) != start_time) {
      ::close(made->watch);
      return refuse("process " + std::to_string(pid) + " says it started at tick " +
                    std::to_string(start_time) + ", which /proc denies");
    }
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.u64 = pid;
    if (epoll_ctl(epoll_, EPOLL_CTL_ADD, made->watch, &event) != 0) {
      ::close(made->watch);
      return refuse("no memory to watch process " + std::to_string(pid));
    }
    place = std::move(made);
  }
  std::lock_guard own(place->mutex);
  if (place->dead) {
    *error = "process " + std::to_string(pid) + " has ended";
    return nullptr;
  }
  if (place->connections.size() >= most_connections_) {
    *error = "process " + std::to_string(pid) + " has " +
             std::to_string(place->connections.size()) + " connections, the most is " +
             std::to_string(most_connections_);
    return nullptr;
  }
  place->connections.insert(socket);
  place->user |= !watches;
  return place;
}

// What a kernel does when a process ends: its descriptors are closed in order.
void ProcessTable::release(Process& process) {
  Descriptors mine;
  {
    std::lock_guard own(process.mutex);
    if (process.released) return;
    process.released = true;
    mine.swap(process.descriptors);
  }
  for (const auto& [number, fd] : mine) machine_.close(process.client, fd);
  machine_.forget_mappings(process.client.pid);
  {
    std::lock_guard own(process.mutex);
    process.freed = true;
    if (process.overdue) return;
  }
  dying_.fetch_sub(1, std::memory_order_release);
}

void ProcessTable::drop_if_unused(const std::shared_ptr<Process>& process) {
  bool dead = false;
  {
    std::lock_guard own(process->mutex);
    if (!process->connections.empty()) return;
    dead = process->dead;
  }
  if (dead) release(*process);
  std::lock_guard lock(mutex_);
  std::lock_guard own(process->mutex);
  const auto it = processes_.find(process->client.pid);
  if (it == processes_.end() || it->second != process || !process->connections.empty() ||
      !process->descriptors.empty() || (process->dead && !process->freed) ||
      (!process->dead && process->mappings != 0))
    return;
  ::close(process->watch);  // which ends the watching
  process->watch = -1;
  processes_.erase(it);
}

void ProcessTable::leave(const std::shared_ptr<Process>& process, int socket) {
  {
    std::lock_guard own(process->mutex);
    process->connections.erase(socket);
  }
  drop_if_unused(process);
}

void ProcessTable::died(std::uint32_t pid) {
  std::shared_ptr<Process> process;
  {
    std::lock_guard lock(mutex_);
    const auto it = processes_.find(pid);
    // The word may be about an earlier one of that number.
    if (it == processes_.end()) return;
    pollfd ended{it->second->watch, POLLIN, 0};
    if (poll(&ended, 1, 0) != 1) return;
    process = it->second;
    std::lock_guard own(process->mutex);
    if (process->dead) return;  // another thread has seen it
    process->dead = true;
    // Counted before the watch is gone: one of the two tells settle().
    dying_.fetch_add(1);
    epoll_ctl(epoll_, EPOLL_CTL_DEL, process->watch, nullptr);
    // A child of it may still hold the other end.
    for (const int socket : process->connections) shutdown(socket, SHUT_RDWR);
  }
  machine_.stop_transfers(pid);
  drop_if_unused(process);
}

void ProcessTable::collect() {
  constexpr int kEvents = 16;
  epoll_event events[kEvents];
  const int n = epoll_wait(epoll_, events, kEvents, 0);
  for (int i = 0; i < n; ++i) died(static_cast<std::uint32_t>(events[i].data.u64));
}

void ProcessTable::settle(Process& caller) {
  constexpr int kTries = 2000;
  constexpr std::chrono::microseconds kPause{100};
  collect();
  for (int i = 0; i < kTries && dying_.load(std::memory_order_acquire) != 0; ++i) {
    {
      std::lock_guard own(caller.mutex);
      if (caller.dead) return;  // others wait for its release
    }
    std::this_thread::sleep_for(kPause);
  }
  if (dying_.load(std::memory_order_acquire) == 0) return;
  // They have had their time, once for all requests.
  std::lock_guard lock(mutex_);
  for (const auto& [pid, process] : processes_) {
    std::lock_guard own(process->mutex);
    if (!process->dead || process->freed || process->overdue) continue;
    process->overdue = true;
    dying_.fetch_sub(1, std::memory_order_release);
  }
}

std::size_t ProcessTable::size() {
  std::lock_guard lock(mutex_);
  return processes_.size();
}

bool ProcessTable::any_user() {
  std::lock_guard lock(mutex_);
  return std::any_of(processes_.begin(), processes_.end(), [](const auto& entry) {
    std::lock_guard own(entry.second->mutex);
    return entry.second->user;
  });
}

bool ProcessTable::knows(std::uint32_t pid) {
  std::lock_guard lock(mutex_);
  return processes_.count(pid) != 0;
}

void ProcessTable::close_connections() {
  std::lock_guard lock(mutex_);
  for (const auto& [pid, p] : processes_) {
    std::lock_guard own(p->mutex);
    for (const int socket : p->connections) shutdown(socket, SHUT_RDWR);
  }
}

// The process' mutex is held.
int ProcessTable::add(Process& process, int machine_fd) {
  int number = kFirstDescriptor;
  for (const auto& [used, fd] : process.descriptors) {
    if (used != number) break;
    ++number;
  }
  process.descriptors[number] = machine_fd;
  return number;
}

int ProcessTable::descriptor(Process& process, int fd) {
  std::lock_guard own(process.mutex);
  const auto it = process.descriptors.find(fd);
  return it == process.descriptors.end() ? -EBADF : it->second;
}

int ProcessTable::open(Process& process, const char* path, std::uint32_t flags) {
  {
    std::lock_guard own(process.mutex);
    if (process.descriptors.size() >= kDescriptorsOfProcess) return -EMFILE;
  }
  const int fd = machine_.open(process.client, path, flags);
  if (fd < 0) return fd;
  std::lock_guard own(process.mutex);
  return add(process, fd);
}

int ProcessTable::duplicate(Process& process, int fd) {
  std::lock_guard own(process.mutex);
  const auto it = process.descriptors.find(fd);
  if (it == process.descriptors.end()) return -EBADF;
  if (process.descriptors.size() >= kDescriptorsOfProcess) return -EMFILE;
  const int copy = machine_.duplicate(it->second);
  return copy < 0 ? copy : add(process, copy);
}

int ProcessTable::close(Process& process, int fd) {
  int mine = -1;
  {
    std::lock_guard own(process.mutex);
    const auto it = process.descriptors.find(fd);
    if (it == process.descriptors.end()) return -EBADF;
    mine = it->second;
    process.descriptors.erase(it);
  }
  return machine_.close(process.client, mine);
}

std::shared_ptr<Inheritance> ProcessTable::prepare(const std::shared_ptr<Process>& parent,
                                                   int* error) {
  auto made = std::make_shared<Inheritance>();
  made->parent = parent;
  *error = -EAGAIN;
  if (getrandom(made->id, sizeof made->id, 0) != sizeof made->id) return nullptr;
  std::lock_guard lock(mutex_);
  std::lock_guard own(parent->mutex);
  if (parent->forks >= kForksOfProcess) return nullptr;
  for (const auto& [number, fd] : parent->descriptors) {
    const int copy = machine_.duplicate(fd);
    if (copy >= 0) {
      made->descriptors[number] = copy;
      continue;
    }
    // The driver has no more; a close by nobody detaches nobody.
    for (const auto& [n, done] : made->descriptors) machine_.close({}, done);
    *error = copy;
    return nullptr;
  }
  ++parent->forks;
  waiting_.push_back(made);
  *error = 0;
  return made;
}

void ProcessTable::give_up(const std::shared_ptr<Inheritance>& inheritance) {
  Descriptors left;
  {
    std::lock_guard lock(mutex_);
    std::erase(waiting_, inheritance);
    left.swap(inheritance->descriptors);
    std::lock_guard own(inheritance->parent->mutex);
    --inheritance->parent->forks;
  }
  for (const auto& [number, fd] : left) machine_.close({}, fd);
}

int ProcessTable::adopt(Process& child, const std::uint64_t id[2]) {
  std::lock_guard lock(mutex_);
  for (const auto& i : waiting_) {
    if (i->id[0] != id[0] || i->id[1] != id[1] || i->taken) continue;
    std::lock_guard own(child.mutex);
    if (child.client.pid == i->parent->client.pid || !child.descriptors.empty()) return -EINVAL;
    child.descriptors.swap(i->descriptors);
    i->taken = true;
    return 0;
  }
  return -ENOENT;
}

}  // namespace opennrt::emu::remote
