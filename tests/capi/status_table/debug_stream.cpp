// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "nrt/ndebug_stream.h"
#include "table.h"

namespace opennrt::status_table {
namespace {

const std::array kProbes = {
    Probe{"nrt_debug_client_connect",
          Guard::kFull,
          [](Objects&) -> int {
            int fd = -1;
            const int status = nrt_debug_client_connect(0, &fd);
            if (status == NRT_SUCCESS) nrt_debug_client_connect_close(fd);
            return status;
          },
          {0},
          {NRT_INVALID}},  // one client per logical core
    Probe{"nrt_debug_client_connect_close",
          Guard::kFullVoid,
          [](Objects&) -> int {
            int fd = -1;
            nrt_debug_client_connect(1, &fd);
            nrt_debug_client_connect_close(fd);
            return kDone;
          },
          {kDone}},
    // No program of these tests sends an event.
    Probe{"nrt_debug_client_read_one_event",
          Guard::kFull,
          [](Objects&) -> int {
            int fd = -1;
            const bool mine = nrt_debug_client_connect(0, &fd) == NRT_SUCCESS;
            ndebug_stream_event_header_t header;
            void* payload = nullptr;
            const int status = nrt_debug_client_read_one_event(fd, &header, &payload);
            if (mine) nrt_debug_client_connect_close(fd);
            return status;
          },
          {NRT_QUEUE_EMPTY},
          {NRT_INVALID}},
};

void streams(Report& r) {
  start(r);
  const int bad = NRT_INVALID;
  int fd = -1, second = -1;
  ndebug_stream_event_header_t header;
  void* payload = nullptr;
  const char* f = "nrt_debug_client_connect";
  r.null(f, 1, {bad}, nrt_debug_client_connect(0, nullptr));
  for (const int core : {-1, 2})
    r.call(f, {bad}, "logical core " + std::to_string(core), nrt_debug_client_connect(core, &fd));
  r.call(f, {NRT_SUCCESS}, "first client", nrt_debug_client_connect(0, &fd));
  r.call(f, {bad}, "second client", nrt_debug_client_connect(0, &second));
  f = "nrt_debug_client_read_one_event";
  r.null(f, 1, {bad}, nrt_debug_client_read_one_event(fd, nullptr, &payload));
  r.null(f, 2, {bad}, nrt_debug_client_read_one_event(fd, &header, nullptr));
  r.call(f, {bad}, "unknown descriptor",
         nrt_debug_client_read_one_event(100'000, &header, &payload));
  r.call(f, {NRT_QUEUE_EMPTY}, "no event", nrt_debug_client_read_one_event(fd, &header, &payload));
  r.call("nrt_debug_client_connect_close", {kDone}, "unknown descriptor",
         (nrt_debug_client_connect_close(100'000), kDone));
  nrt_debug_client_connect_close(fd);
  r.call(f, {bad}, "closed", nrt_debug_client_read_one_event(fd, &header, &payload));
  nrt_close();
}

constexpr std::array kScenes = {Scene{"debug streams", streams}};

}  // namespace

std::span<const Probe> debug_stream_probes() { return kProbes; }
std::span<const Scene> debug_stream_scenes() { return kScenes; }

}  // namespace opennrt::status_table
