// SPDX-License-Identifier: Apache-2.0
#include "port.h"

#include <sys/stat.h>

#include <cerrno>
#include <new>
#include <string>

#include "player.h"

namespace opennrt::replay {

namespace {

constexpr char kSetting[] = "replay.file";

// A process that attached several times recorded several parts; the next attach
// goes on with the part behind the last one.
struct Position {
  std::mutex lock;
  std::string path;
  timespec changed{};
  std::size_t next = 0;
} g_position;

struct Port {
  const nrtp_host* host;
  std::string path;
  timespec changed{};
  std::unique_ptr<Player> player;
};

template <typename F>
auto guarded(F f) -> decltype(f()) {
  try {
    return f();
  } catch (const std::bad_alloc&) {
    return static_cast<decltype(f())>(-ENOMEM);
  } catch (...) {
    return static_cast<decltype(f())>(-EIO);
  }
}

Player& player(void* ctx) { return *static_cast<Port*>(ctx)->player; }

int attach(const nrtp_host* host, void** ctx) {
  return guarded([&] {
    const auto refuse = [&](int error, const std::string& text) {
      host->log(host->self, NRTP_LOG_ERROR, "RPLAY", text.c_str());
      return error;
    };
    std::string path(4096, '\0');
    if (host->config_get(host->self, kSetting, path.data(), path.size()) != NRTP_OK ||
        path[0] == '\0')
      return refuse(-EINVAL,
                    "device: replay answers from a recording: name one in replay.file "
                    "(OPENNRT_REPLAY_FILE); ndl.record (OPENNRT_NDL_RECORD) makes one");
    path = path.c_str();
    auto port = std::make_unique<Port>();
    port->host = host;
    port->path = path;
    struct stat info{};
    if (stat(path.c_str(), &info) == 0) port->changed = info.st_mtim;
    trace::Trace recording;
    std::string error;
    if (const int bad = trace::read_trace(path, &recording, &error))
      return refuse(bad, "replay.file: " + error);
    if (recording.sessions.empty() || recording.sessions[0].lines.empty())
      return refuse(-EINVAL, "replay.file: " + path + ": holds no call");
    const std::lock_guard guard(g_position.lock);
    const bool same = g_position.path == path &&
                      g_position.changed.tv_sec == port->changed.tv_sec &&
                      g_position.changed.tv_nsec == port->changed.tv_nsec;
    const std::size_t begin =
        same && g_position.next < recording.sessions.size() ? g_position.next : 0;
    port->player = std::make_unique<Player>(host, path, std::move(recording), begin);
    *ctx = port.release();
    return 0;
  });
}

void detach(void* ctx) {
  auto* port = static_cast<Port*>(ctx);
  if (!port) return;
  guarded([&] {
    const std::lock_guard guard(g_position.lock);
    g_position.path = port->path;
    g_position.changed = port->changed;
    g_position.next = port->player->session() + 1;
    if (g_position.next >= port->player->sessions()) g_position.next = 0;
    return 0;
  });
  delete port;
}

constexpr nrtp_sys_port kPort = {
    .head = NRTP_HEAD_INIT(nrtp_sys_port, PORT, OPENNRT_VERSION),
    .name = "replay",
    .attach = attach,
    .detach = detach,
    .open =
        [](void* ctx, const char* path, std::uint32_t flags) {
          return guarded([&] { return player(ctx).open(path, flags); });
        },
    .close = [](void* ctx, int fd) { return guarded([&] { return player(ctx).close(fd); }); },
    .ioctl =
        [](void* ctx, int fd, std::uint32_t request, std::uintptr_t arg) {
          return guarded([&] { return player(ctx).ioctl(fd, request, arg); });
        },
    .mmap =
        [](void* ctx, int fd, std::uint64_t bytes, std::uint32_t prot, std::uint64_t offset,
           void** out) {
          return guarded([&] { return player(ctx).mmap(fd, bytes, prot, offset, out); });
        },
    .munmap =
        [](void* ctx, void* address, std::uint64_t bytes) {
          return guarded([&] { return player(ctx).munmap(address, bytes); });
        },
    .exists = [](void* ctx,
                 const char* path) { return guarded([&] { return player(ctx).exists(path); }); },
    .read_text =
        [](void* ctx, const char* path, char* buffer, std::size_t n) {
          return guarded([&] { return player(ctx).read_text(path, buffer, n); });
        },
    .now_us =
        [](void* ctx) {
          const nrtp_host* host = static_cast<Port*>(ctx)->host;
          return host->now_ns(host->self) / 1000;
        },
    .sleep_us =
        [](void* ctx, std::uint32_t us) {
          guarded([&] {
            player(ctx).sleep_us(us);
            return 0;
          });
        },
    .control =
        [](void* ctx, const char* request, char* reply, std::size_t n) {
          return guarded([&] { return player(ctx).control(request, reply, n); });
        },
};

}  // namespace

const nrtp_sys_port* port_table(std::uint32_t host_major) {
  return host_major == NRTP_ABI_MAJOR ? &kPort : nullptr;
}

}  // namespace opennrt::replay
