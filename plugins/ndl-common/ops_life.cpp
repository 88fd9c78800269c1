// SPDX-License-Identifier: Apache-2.0
//
// Reset, init state, scrub, and what processes share: data stores, core locks
// and reservations.
#include <algorithm>
#include <cerrno>

#include "ndl-common/ops.h"

namespace opennrt::ndl {
namespace {

int reset(void* ctx, uint64_t dev, uint32_t core_mask, uint32_t* out_request) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (!out_request) return -EINVAL;
  ndl_core_reset arg{core_mask, 0};
  if (const int error = at.cached_request<kCoreReset>(arg)) return error;
  *out_request = arg.request_id;
  return 0;
}

int ready(void* ctx, uint64_t dev, uint32_t request, uint32_t* out_ready) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (!out_ready) return -EINVAL;
  ndl_core_ready arg{request, -1};
  if (const int error = at.cached_request<kCoreReady>(arg)) return error;
  *out_ready = arg.result == 0;  // the driver says 0 for good
  return 0;
}

int nc_state(void* ctx, uint64_t dev, uint32_t core, uint32_t state, uint32_t* out_state) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (!out_state) return -EINVAL;
  ndl_core_init_state arg{core, state, 0};
  if (const int error = at.request<kCoreInitState>(arg)) return error;
  *out_state = arg.new_state;
  return 0;
}

int started_count(void* ctx, uint64_t dev, uint32_t core, uint64_t* out) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (!out) return -EINVAL;
  ndl_started_count arg{};
  arg.core = core;
  if (const int error = at.request<kStartedCount>(arg)) return error;
  *out = arg.started_count;
  return 0;
}

int scrub_start(void* ctx, uint64_t dev, uint32_t core, uint32_t hbm, uint32_t axi_port,
                uint32_t value) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  ndl_scrub_start arg{core, hbm, axi_port, value};
  return at.request<kScrubStart>(arg);
}

int scrub_wait(void* ctx, uint64_t dev, uint32_t core, uint32_t hbm) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  ndl_scrub_wait arg{core, hbm};
  return at.request<kScrubWait>(arg);
}

// --- share

int nds_open(void* ctx, uint64_t dev, int32_t pid, void** out_va, uint64_t* out_bytes) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (!out_va || !out_bytes) return -EINVAL;
  return at.ndl->open_data_store(*at.device, pid, out_va, out_bytes);
}

int nds_close(void* ctx, uint64_t dev, int32_t pid, void* va, uint64_t bytes) noexcept {
  const OnDevice at = on_device(ctx, dev);
  return at.error ? at.error : at.ndl->close_data_store(*at.device, pid, va, bytes);
}

// -EALREADY from writer_enter: this process wrote the uuid last; the lock is held.
template <uint32_t kCode>
int core_lock(void* ctx, uint64_t dev, uint32_t core, const nrtp_uuid* uuid) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  if (!uuid) return -EINVAL;
  ndl_core_lock arg{};
  arg.core = core;
  std::copy_n(uuid->bytes, sizeof arg.uuid.bytes, arg.uuid.bytes);
  return at.request<kCode>(arg);
}

int range_mark(void* ctx, uint32_t count, uint32_t start, uint32_t end, uint32_t* out_max,
               uint64_t out_bitmap[8]) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  if (!out_max || !out_bitmap) return -EINVAL;
  ndl_core_range512 arg{};
  arg.count = count;
  arg.first = start;
  arg.last = end;
  const int error = at.ndl->misc_request<kCoreRangeMark>(arg);
  if (!error || error == -EBUSY) *out_max = arg.longest_free;
  if (!error) std::copy_n(arg.bitmap, 8, out_bitmap);
  return error;
}

int range_unmark(void* ctx, const uint64_t bitmap[8]) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  if (!bitmap) return -EINVAL;
  ndl_core_range512 arg{};
  std::copy_n(bitmap, 8, arg.bitmap);
  return at.ndl->misc_request<kCoreRangeUnmark>(arg);
}

}  // namespace

constexpr nrtp_ndl_life kLifeOps = {
    .size = sizeof(nrtp_ndl_life),
    .reserved = 0,
    .reset = reset,
    .ready = ready,
    .nc_state = nc_state,
    .started_count = started_count,
    .scrub_start = scrub_start,
    .scrub_wait = scrub_wait,
};

constexpr nrtp_ndl_share kShareOps = {
    .size = sizeof(nrtp_ndl_share),
    .reserved = 0,
    .nds_open = nds_open,
    .nds_close = nds_close,
    .reader_enter = core_lock<kCoreReaderEnter>,
    .reader_exit = core_lock<kCoreReaderExit>,
    .writer_enter = core_lock<kCoreWriterEnter>,
    .writer_downgrade = core_lock<kCoreWriterDowngrade>,
    .range_mark = range_mark,
    .range_unmark = range_unmark,
};

}  // namespace opennrt::ndl
