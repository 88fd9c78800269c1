// SPDX-License-Identifier: Apache-2.0
#include "trace/debug_stream.h"

#include "api/entry.h"
#include "nrt/ndebug_stream.h"

using namespace opennrt;
using namespace opennrt::api;
namespace stream = opennrt::trace::debug_stream;

extern "C" {

NRT_STATUS nrt_debug_client_connect(int logical_nc_idx, int* stream_fd) {
  return guarded(__func__, [&](Session& s) -> Status {
    ONRT_TRY(require(stream_fd, "stream_fd"));
    if (logical_nc_idx < 0 || static_cast<std::uint32_t>(logical_nc_idx) >= s.visible_cores())
      return Status::invalid("logical_nc_idx is {}, this process has the logical cores 0 to {}",
                             logical_nc_idx, s.visible_cores() - 1);
    ONRT_ASSIGN(*stream_fd,
                stream::connect(static_cast<std::uint32_t>(logical_nc_idx),
                                s.config().number(config::Key::kDebugStreamRingEvents)));
    return {};
  });
}

void nrt_debug_client_connect_close(int stream_fd) {
  const Entry entry;
  if (entry) stream::close(stream_fd);
}

NRT_STATUS nrt_debug_client_read_one_event(int stream_fd, ndebug_stream_event_header_t* header,
                                           void** payload) {
  bool empty = false;  // what a client polls for: no line in the log
  const NRT_STATUS code = guarded(__func__, [&](Session&) -> Status {
    ONRT_TRY(require(header, "header"));
    ONRT_TRY(require(payload, "payload"));
    stream::Header event;
    Status status = stream::read(stream_fd, event, payload);
    empty = status.code() == NRT_QUEUE_EMPTY;
    if (empty) return {};
    ONRT_TRY(std::move(status));
    *header = {};
    header->data_size = event.bytes;
    header->type = event.type;
    return {};
  });
  return empty ? NRT_QUEUE_EMPTY : code;
}

}  // extern "C"
