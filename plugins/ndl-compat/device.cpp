// SPDX-License-Identifier: Apache-2.0
//
// Identity, core reservation, scrub, pod state and the kernel log on older
// drivers.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "detect.h"
#include "ndl-common/pod_answers.h"
#include "opennrt/arch.h"

namespace opennrt::ndl::compat {

int read_board_info(Context& ndl, ndl_board_info* out) noexcept {
  if (!is_old(ndl, Op::kBoardInfo)) {
    const int error = ndl.misc_request<kBoardInfo>(*out);
    if (error != -EINVAL) return error;
  }
  uint32_t index = 0;
  if (const int fd = ndl.descriptors.misc(&index); fd < 0) return ndl.open_failed(index, fd);
  ndl_device_info info{};
  if (const int error = ndl.brief_device_request<kDeviceInfo>(index, info)) return error;
  latch(ndl, Op::kBoardInfo);
  *out = {info.arch, info.revision};
  return 0;
}

namespace {

int board_info(void* ctx, uint32_t* out_arch, uint32_t* out_revision) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  if (!out_arch || !out_revision) return -EINVAL;
  ndl_board_info board{};
  if (const int error = read_board_info(*at.ndl, &board)) return error;
  *out_arch = board.arch;
  *out_revision = board.revision;
  return 0;
}

// Every core at its own place.
int nc_map(void* ctx, uint32_t max_entries, uint32_t* out_count, uint32_t* out_pairs) noexcept {
  constexpr int kNotSupported = -524;  // of the driver; the C library has no name for it
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  if (!is_old(*at.ndl, Op::kCoreMap)) {
    const int error = kDeviceOps.nc_map(ctx, max_entries, out_count, out_pairs);
    if (error != -EINVAL && error != kNotSupported) return error;
  }
  if (!out_count || (!out_pairs && max_entries)) return -EINVAL;
  ndl_board_info board{};
  if (const int error = read_board_info(*at.ndl, &board)) return error;
  const nrtp_arch_plugin* arch = arch_table(*at.ndl, board.arch);
  if (!arch || !arch->geometry || !arch->geometry->tpbs) return -EINVAL;
  latch(*at.ndl, Op::kCoreMap);
  *out_count = std::min(max_entries, kMaxCoreMap);
  for (uint32_t i = 0; i < *out_count; ++i) {
    out_pairs[2 * i] = i / arch->geometry->tpbs;
    out_pairs[2 * i + 1] = i % arch->geometry->tpbs;
  }
  return 0;
}

// --- life: the scrub

int scrub_start(void* ctx, uint64_t dev, uint32_t core, uint32_t hbm, uint32_t axi_port,
                uint32_t value) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  bool has = false;
  if (const int error = has_feature(*at.ndl, NRTP_FEATURE_HBM_SCRUB, &has)) return error;
  if (has) return kLifeOps.scrub_start(ctx, dev, core, hbm, axi_port, value);
  latch(*at.ndl, Op::kScrub);
  return 0;
}

int scrub_wait(void* ctx, uint64_t dev, uint32_t core, uint32_t hbm) noexcept {
  const OnDevice at = on_device(ctx, dev);
  if (at.error) return at.error;
  bool has = false;
  if (const int error = has_feature(*at.ndl, NRTP_FEATURE_HBM_SCRUB, &has)) return error;
  return has ? kLifeOps.scrub_wait(ctx, dev, core, hbm) : 0;
}

// --- share: reservation of the first 64 cores

constexpr uint32_t kOldMapCores = 64;

int range_mark(void* ctx, uint32_t count, uint32_t start, uint32_t end, uint32_t* out_max,
               uint64_t out_bitmap[8]) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  bool has = false;
  if (const int error = has_feature(*at.ndl, NRTP_FEATURE_BIG_CORE_MAPS, &has)) return error;
  if (has) return kShareOps.range_mark(ctx, count, start, end, out_max, out_bitmap);
  if (!out_max || !out_bitmap || end >= kOldMapCores) return -EINVAL;
  ndl_core_range64 old{};
  old.count = count;
  old.first = start;
  old.last = end;
  const int error = at.ndl->misc_request<kCoreRangeMark64>(old);
  if (!error || error == -EBUSY) *out_max = old.longest_free;
  if (!error) {
    std::fill_n(out_bitmap, 8, uint64_t{0});
    out_bitmap[0] = old.bitmap;
  }
  return error;
}

int range_unmark(void* ctx, const uint64_t bitmap[8]) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  bool has = false;
  if (const int error = has_feature(*at.ndl, NRTP_FEATURE_BIG_CORE_MAPS, &has)) return error;
  if (has) return kShareOps.range_unmark(ctx, bitmap);
  if (!bitmap || std::any_of(bitmap + 1, bitmap + 8, [](uint64_t word) { return word != 0; }))
    return -EINVAL;
  ndl_core_range64 old{};
  old.bitmap = bitmap[0];
  return at.ndl->misc_request<kCoreRangeUnmark64>(old);
}

// --- pod

constexpr uint32_t kSingleNode = 4;  // state of a machine that is in no pod

// Neither argument nor state decides about these answers, so -EINVAL means that
// the request is missing.
int pod_info(void* ctx, uint32_t* out_type, uint32_t* out_size) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  if (!out_type || !out_size) return -EINVAL;
  if (!is_old(*at.ndl, Op::kPodInfo)) {
    const int error = kPodOps.info(ctx, out_type, out_size);
    if (error != -EINVAL) return error;
  }
  latch(*at.ndl, Op::kPodInfo);
  *out_type = *out_size = 0;
  return 0;
}

int read_pod_status(void* ctx, ndl_pod_status* out) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  *out = {};
  if (!is_old(*at.ndl, Op::kPodStatus) && !is_old(*at.ndl, Op::kNoPod)) {
    out->v1.bytes = sizeof *out;
    const int error = at.ndl->misc_request<kPodStatus>(*out);
    if (error != -EINVAL) return error;
    *out = {};
  }
  if (!is_old(*at.ndl, Op::kNoPod)) {
    out->v1.bytes = sizeof out->v1;
    const int error = at.ndl->misc_request<kPodStatusV1>(out->v1);
    if (!error) latch(*at.ndl, Op::kPodStatus);
    if (error != -EINVAL) return error;
    *out = {};
  }
  latch(*at.ndl, Op::kNoPod);
  out->v1.state = kSingleNode;
  out->v1.node_id = -1;
  return 0;
}

using Pod = PodAnswers<read_pod_status>;

int pod_ctrl(void* ctx, uint32_t ctrl, uint32_t mode, uint32_t timeout,
             uint32_t* out_state) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  if (!is_old(*at.ndl, Op::kPodControl) && !is_old(*at.ndl, Op::kNoPod)) {
    const int error = kPodOps.ctrl(ctx, ctrl, mode, timeout, out_state);
    if (error != -EINVAL) return error;
  }
  if (mode != 0) return -EINVAL;  // the older request has no mode
  if (!is_old(*at.ndl, Op::kNoPod)) {
    ndl_pod_ctrl_v1 old{};
    old.bytes = sizeof old;
    old.ctrl = ctrl;
    old.timeout = timeout;
    const int error = at.ndl->misc_request<kPodCtrlV1>(old);
    if (!error) latch(*at.ndl, Op::kPodControl);
    if (!error && out_state) *out_state = old.state;
    if (error != -EINVAL) return error;
    // The control may be one the driver does not know; the state has none.
    ndl_pod_status status;
    if (const int refused = read_pod_status(ctx, &status)) return refused;
    if (!is_old(*at.ndl, Op::kNoPod)) return -EINVAL;
  }
  if (out_state) *out_state = kSingleNode;
  return 0;
}

// --- misc

int printk(void* ctx, const char* text, uint32_t bytes, uint32_t action) noexcept {
  const OnContext at = on_context(ctx);
  if (at.error) return at.error;
  if (!text) return -EINVAL;
  if (!bytes || text[bytes - 1] != '\0') return -EBADMSG;
  if (is_old(*at.ndl, Op::kPrintk)) return 0;
  const int error = kMiscOps.printk(ctx, text, bytes, action);
  if (error != -EINVAL) return error;
  latch(*at.ndl, Op::kPrintk);
  return 0;
}

}  // namespace

nrtp_ndl_device device_ops() noexcept {
  nrtp_ndl_device group = kDeviceOps;
  group.board_info = board_info;
  group.nc_map = nc_map;
  return group;
}

nrtp_ndl_life life_ops() noexcept {
  nrtp_ndl_life group = kLifeOps;
  group.scrub_start = scrub_start;
  group.scrub_wait = scrub_wait;
  return group;
}

nrtp_ndl_share share_ops() noexcept {
  nrtp_ndl_share group = kShareOps;
  group.range_mark = range_mark;
  group.range_unmark = range_unmark;
  return group;
}

nrtp_ndl_pod pod_ops() noexcept {
  nrtp_ndl_pod group = kPodOps;
  group.info = pod_info;
  group.election_state = Pod::election_state;
  group.mapping_info = Pod::mapping_info;
  group.status = Pod::status;
  group.ctrl = pod_ctrl;
  return group;
}

nrtp_ndl_misc misc_ops() noexcept {
  nrtp_ndl_misc group = kMiscOps;
  group.printk = printk;
  return group;
}

}  // namespace opennrt::ndl::compat
