// SPDX-License-Identifier: Apache-2.0
//
// What the driver says about itself, and whether this plugin can drive it.
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "ndl-common/context.h"

namespace opennrt::ndl {
namespace {

constexpr char kVersionFile[] = "/sys/module/neuron/version";
constexpr uint32_t kOldestMajor = 2;
constexpr char kDriverPackage[] = "kernel driver (package aws-neuronx-dkms)";

// Compatibility ids: `own` is what this runtime speaks, `required` the least
// it needs of the driver. A driver accepts min..max.
struct CompatIds {
  uint32_t own, required;
};
constexpr CompatIds ids_of_arch(uint32_t arch) {
  return arch == 2 ? CompatIds{6, 6} : CompatIds{10, 11};
}

// Of the first eight bits, which every driver since 2.24.7.0 reports. Zero copy
// (bit 8) is left out: arch 2 does not have it, and callers have another path.
constexpr const char* kFeatureNames[] = {
    "dma-buf",           "asynchronous copy", "batched queue init", "512-core reservation",
    "memory categories", "HBM scrub",         "64-bit sizes",       "contiguous scratchpad"};

// "2.27.4.0". Parts that are no numbers count as 0, as in "2.27.4.0-dirty" or
// in the "2.x.6781.0" of development builds; a major and a minor must be there.
bool parse_version(const char* text, size_t length, nrtp_ndl_version* out) {
  uint32_t* parts[] = {&out->major, &out->minor, &out->patch, &out->maintenance};
  const char* at = text;
  const char* end = text + length;
  for (size_t i = 0; i < 4; ++i) {
    const auto [next, error] = std::from_chars(at, end, *parts[i]);
    if (error != std::errc{}) return i >= 1 && at != end;
    if (next == end || *next != '.') return i >= 1;
    at = next + 1;
  }
  return true;
}

}  // namespace

int Context::read_version(nrtp_ndl_version* out) const noexcept {
  char text[sizeof out->text] = {};
  const int64_t length = port->read_text(port_ctx, kVersionFile, text, sizeof text - 1);
  if (length == -ENOENT) {
    log.error(
        "%s does not exist: the kernel module is not loaded; run `modprobe neuron`, or "
        "install the %s; in a container the host must have it loaded",
        kVersionFile, kDriverPackage);
    return -ENODEV;
  }
  if (length < 0) {
    const int error = static_cast<int>(length);
    log.error("%s cannot be read (%s): make /sys readable here", kVersionFile,
              ErrnoName(error).text);
    return error;
  }
  size_t n = std::min<size_t>(static_cast<size_t>(length), sizeof text - 1);
  while (n && (text[n - 1] == '\n' || text[n - 1] == ' ' || text[n - 1] == '\0')) --n;
  text[n] = '\0';
  nrtp_ndl_version version{};
  if (!parse_version(text, n, &version)) {
    log.error("%s says \"%s\": not a version number", kVersionFile, text);
    return -EPROTONOSUPPORT;
  }
  std::memcpy(version.text, text, n + 1);
  *out = version;
  return 0;
}

int Context::read_facts(DriverFacts* out) noexcept {
  DriverFacts facts{};
  uint32_t index = 0;
  if (const int fd = descriptors.misc(&index); fd < 0) return open_failed(index, fd);
  ndl_compat_window window{};
  if (const int error = misc_request<kCompatWindow>(window)) {
    log.error("the driver does not tell which runtimes it accepts: %s", ErrnoName(error).text);
    return error;
  }
  facts.window_min = window.min;
  facts.window_max = window.max;
  ndl_driver_info info{};
  const int error = misc_request<kDriverInfo>(info);
  if (!error) {
    facts.arch = info.arch;
    facts.revision = info.revision;
    facts.features = info.features;
  } else if (error == -EINVAL) {
    // The request itself is missing: a driver without the feature word.
    ndl_board_info board{};
    if (!(policy.board_info ? policy.board_info(*this, &board) : misc_request<kBoardInfo>(board))) {
      facts.arch = board.arch;
      facts.revision = board.revision;
    }
  } else {
    log.error("the driver does not tell its features: %s", ErrnoName(error).text);
    return error;
  }
  *out = facts;
  return 0;
}

Context::Missing Context::missing(uint64_t feature_bits) noexcept {
  Missing lacks;
  size_t used = 0;
  const auto add = [&](const char* format, const char* name, uint32_t number) {
    if (used && used + 2 < sizeof lacks.text) {
      std::memcpy(lacks.text + used, ", ", 3);
      used += 2;
    }
    const int n = std::snprintf(lacks.text + used, sizeof lacks.text - used, format, name, number);
    used = std::min(used + static_cast<size_t>(n), sizeof lacks.text - 1);
  };
  for (uint32_t bit = 0; bit < std::size(kFeatureNames); ++bit)
    if (!(feature_bits >> bit & 1)) add("%s (bit %u)", kFeatureNames[bit], bit);
  // Has no bit. No chunk is at this address, so a driver that knows the request
  // finds nothing. A node that cannot be opened now says so when it is used.
  ndl_chunk_info probe_chunk{};
  probe_chunk.pa = UINT64_MAX;
  uint32_t index = 0;
  if (descriptors.misc(&index) >= 0 &&
      brief_device_request<kChunkInfo>(index, probe_chunk) == -EINVAL)
    add("%s (request %u)", find_request(kChunkInfo)->name, request_number(kChunkInfo));
  return lacks;
}

int Context::feature_word(uint64_t* out) noexcept {
  if (!word_known_.load(std::memory_order_acquire)) {
    DriverFacts facts{};
    if (const int error = read_facts(&facts)) return error;
    word_.store(facts.features, std::memory_order_relaxed);
    word_known_.store(true, std::memory_order_release);
  }
  *out = word_.load(std::memory_order_relaxed);
  return 0;
}

void Context::tell_incompatible(const char* text) const noexcept {
  log.warn("%s", text);
  if (const auto callback = soft_incompat.load(std::memory_order_acquire)) callback(text);
}

int Context::probe() noexcept {
  nrtp_ndl_version version{};
  if (const int error = read_version(&version)) return error;
  if (version.major < kOldestMajor) {
    log.error("driver %s is too old: major version %u or later is needed; update the %s",
              version.text, kOldestMajor, kDriverPackage);
    return -EPROTONOSUPPORT;
  }
  DriverFacts facts{};
  if (const int error = read_facts(&facts)) return error;
  const CompatIds ids = ids_of_arch(facts.arch);
  if (ids.own < facts.window_min) {
    log.error(
        "this runtime (package opennrt-ndl, compatibility id %u) is too old for driver %s, "
        "which accepts ids %u to %u: update opennrt-ndl",
        ids.own, version.text, facts.window_min, facts.window_max);
    return -EPROTONOSUPPORT;
  }
  if (ids.required > facts.window_max) {
    log.error(
        "driver %s is too old: it accepts compatibility ids %u to %u, id %u is needed; "
        "update the %s",
        version.text, facts.window_min, facts.window_max, ids.required, kDriverPackage);
    return -EPROTONOSUPPORT;
  }
  const Missing lacks = missing(facts.features);
  if (lacks.any() && !policy.drives_older) {
    log.error(
        "driver %s is too old for %s: it lacks %s; update the %s or use `ndl: compat` or "
        "`ndl: auto`",
        version.text, policy.name, lacks.text, kDriverPackage);
    return -EOPNOTSUPP;
  }
  if (lacks.any()) {
    char text[640];
    std::snprintf(text, sizeof text,
                  "driver %s lacks %s: %s drives it with the older requests it has; the %s that "
                  "has them is 2.24.7.0 or later",
                  version.text, lacks.text, policy.name, kDriverPackage);
    tell_incompatible(text);
  }
  word_.store(facts.features, std::memory_order_relaxed);
  word_known_.store(true, std::memory_order_release);
  features.store(facts.features, std::memory_order_release);
  probed.store(true, std::memory_order_release);
  return 0;
}

}  // namespace opennrt::ndl
