// SPDX-License-Identifier: Apache-2.0
#include "trace/debug_stream.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <deque>
#include <map>
#include <mutex>
#include <new>

#include "trace/event.h"

namespace opennrt::trace::debug_stream {

namespace {

struct Block {
  Header header;
  void* payload = nullptr;
};

struct Stream {
  std::uint32_t core = 0;
  std::uint64_t capacity = 0;
  std::deque<Block> events;
};
using Streams = std::map<int, Stream>;  // by descriptor

constinit std::mutex g_mutex;  // guards the streams
constinit Streams* g_streams = nullptr;
constinit std::array<std::atomic<bool>, kMaxCores> g_clients{};

Streams& streams() {
  if (g_streams == nullptr) g_streams = new Streams;
  return *g_streams;
}

void end(Streams::iterator stream) {
  for (const Block& block : stream->second.events) std::free(block.payload);
  g_clients[stream->second.core].store(false, std::memory_order_relaxed);
  ::close(stream->first);
  streams().erase(stream);
}

}  // namespace

Result<int> connect(std::uint32_t core, std::uint64_t capacity) {
  if (core >= kMaxCores)
    return Status::invalid("logical core {}: the limit is {}", core, kMaxCores - 1);
  const std::lock_guard lock(g_mutex);
  for (const auto& [fd, stream] : streams())
    if (stream.core == core)
      return Status::invalid("logical core {} has a debug client (descriptor {}); close it first",
                             core, fd);
  const int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
  if (fd < 0) return Status::resource("no descriptor for a debug stream: {}", strerror(errno));
  streams()[fd] = {.core = core, .capacity = capacity, .events = {}};
  g_clients[core].store(true, std::memory_order_relaxed);
  return fd;
}

Status read(int fd, Header& header, void** payload) {
  const std::lock_guard lock(g_mutex);
  const auto found = streams().find(fd);
  if (found == streams().end()) return Status::invalid("descriptor {} is no debug stream", fd);
  std::deque<Block>& events = found->second.events;
  if (events.empty()) return Status::make(NRT_QUEUE_EMPTY, "no event is queued");
  header = events.front().header;
  *payload = events.front().payload;
  events.pop_front();
  std::uint64_t one = 0;
  [[maybe_unused]] const ssize_t n = ::read(fd, &one, sizeof one);
  return {};
}

bool close(int fd) {
  const std::lock_guard lock(g_mutex);
  const auto found = streams().find(fd);
  if (found == streams().end()) return false;
  end(found);
  return true;
}

void close_all() {
  const std::lock_guard lock(g_mutex);
  while (!streams().empty()) end(streams().begin());
}

bool has_client(std::uint32_t core) noexcept {
  return core < kMaxCores && g_clients[core].load(std::memory_order_relaxed);
}

void publish(std::uint32_t core, std::uint32_t type,
             std::span<const std::span<const std::byte>> parts) noexcept {
  if (!has_client(core)) return;
  std::size_t bytes = 0;
  for (const auto& part : parts) bytes += part.size();
  char* const payload = static_cast<char*>(std::malloc(bytes != 0 ? bytes : 1));
  if (payload == nullptr) return;
  std::size_t at = 0;
  for (const auto& part : parts) {
    if (!part.empty()) memcpy(payload + at, part.data(), part.size());
    at += part.size();
  }
  try {
    const std::lock_guard lock(g_mutex);
    for (auto& [fd, stream] : streams()) {
      if (stream.core != core || stream.events.size() >= stream.capacity) continue;
      stream.events.push_back({{.bytes = bytes, .type = type}, payload});
      const std::uint64_t one = 1;
      [[maybe_unused]] const ssize_t n = ::write(fd, &one, sizeof one);
      return;
    }
  } catch (const std::bad_alloc&) {  // dropped like any other
  }
  std::free(payload);
}

// The parent's streams stay its own; only the descriptors are shared.
void enter_forked_child() noexcept {
  new (&g_mutex) std::mutex;
  g_streams = nullptr;
  for (auto& client : g_clients) client.store(false, std::memory_order_relaxed);
}

}  // namespace opennrt::trace::debug_stream
