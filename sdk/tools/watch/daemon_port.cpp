// SPDX-License-Identifier: Apache-2.0
#include "watch/daemon_port.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>

namespace opennrt::tools {

namespace {

using emu::remote::Client;

Client* watched = nullptr;

Client& from(void* ctx) { return *static_cast<Client*>(ctx); }

constexpr nrtp_sys_port kPort = {
    .head = NRTP_HEAD_INIT(nrtp_sys_port, PORT, OPENNRT_VERSION),
    .name = "emulator",
    .attach =
        [](const nrtp_host*, void** ctx) {
          *ctx = watched;
          return 0;
        },
    .detach = [](void*) {},
    .open = [](void* ctx, const char* path,
               std::uint32_t flags) { return from(ctx).open(path, flags); },
    .close = [](void* ctx, int fd) { return from(ctx).close(fd); },
    .ioctl = [](void* ctx, int fd, std::uint32_t request,
                std::uintptr_t arg) { return from(ctx).ioctl(fd, request, arg); },
    .mmap = [](void* ctx, int fd, std::uint64_t bytes, std::uint32_t prot, std::uint64_t offset,
               void** out) { return from(ctx).mmap(fd, bytes, prot, offset, out); },
    .munmap = [](void* ctx, void* address,
                 std::uint64_t bytes) { return from(ctx).munmap(address, bytes); },
    .exists = [](void* ctx, const char* path) { return from(ctx).exists(path); },
    .read_text = [](void* ctx, const char* path, char* buffer,
                    std::size_t n) { return from(ctx).read_text(path, buffer, n); },
    .now_us =
        [](void*) {
          return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(
                                                std::chrono::steady_clock::now().time_since_epoch())
                                                .count());
        },
    .sleep_us = [](void* ctx, std::uint32_t us) { from(ctx).sleep_us(us); },
    .control = [](void* ctx, const char* request, char* reply, std::size_t n) -> std::int64_t {
      std::string text;
      const int error = from(ctx).control(request, &text);
      if (error < 0) return error;
      if (n != 0) {
        const std::size_t length = std::min(text.size(), n - 1);
        std::memcpy(reply, text.data(), length);
        reply[length] = '\0';
      }
      return static_cast<std::int64_t>(text.size());
    },
};

}  // namespace

const nrtp_sys_port& daemon_port(Client* client) {
  watched = client;
  return kPort;
}

}  // namespace opennrt::tools
