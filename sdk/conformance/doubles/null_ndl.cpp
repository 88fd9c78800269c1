// SPDX-License-Identifier: Apache-2.0
//
// A driver layer without a driver: one or more imaginary devices of arch 256.
// Settings (plugins.settings.double.*): devices, taken (cores of other
// processes, from 0), probe (errno to fail with), product.
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "opennrt/ndl.h"

#if defined(UNBOUND)
extern "C" int opennrt_test_symbol_that_nobody_has(void);
#endif

namespace {

struct Context {
  const nrtp_host* host;
  uint64_t marked;
};

int setting(void* ctx, const char* key, int fallback) {
  char text[32];
  const nrtp_host* host = static_cast<Context*>(ctx)->host;
  return host->config_get(host->self, key, text, sizeof text) == NRTP_OK ? atoi(text) : fallback;
}

int devices(void* ctx) { return setting(ctx, "plugins.settings.double.devices", 1); }

int attach(const nrtp_host* host, const nrtp_sys_port*, void*, void** out) {
  *out = new Context{host, 0};
  return 0;
}
void detach(void* ctx) { delete static_cast<Context*>(ctx); }
uint64_t caps(void*) { return 0xFF; }

int probe(void* ctx) { return -setting(ctx, "plugins.settings.double.probe", 0); }
int get_version(void*, nrtp_ndl_version*) { return -EINVAL; }
int get_compatible_version(void*, uint32_t*, uint32_t*) { return -EINVAL; }
int feature_supported(void*, uint32_t, uint32_t*) { return -EINVAL; }
int register_soft_incompat(void*, void (*)(const char*)) { return 0; }
int product_name(void* ctx, char* buf, size_t n) {
  const nrtp_host* host = static_cast<Context*>(ctx)->host;
  return host->config_get(host->self, "plugins.settings.double.product", buf, n) == NRTP_OK
             ? 0
             : -ENOENT;
}

int available(void* ctx, int32_t* out, uint32_t n) {
  const int count = devices(ctx);
  for (int i = 0; i < count && i < static_cast<int>(n); ++i) out[i] = i;
  return count;
}
int open_device(void*, uint32_t, uint64_t*, nrtp_ndl_device_info*) { return -EINVAL; }
int close_device(void*, uint64_t) { return 0; }
int board_info(void*, uint32_t* arch, uint32_t* revision) {
  *arch = 256;
  *revision = 240;
  return 0;
}
void close_all(void*) {}

int range_mark(void* ctx, uint32_t count, uint32_t start, uint32_t end, uint32_t* longest,
               uint64_t out[8]) {
  auto* c = static_cast<Context*>(ctx);
  const auto taken = static_cast<uint32_t>(setting(ctx, "plugins.settings.double.taken", 0));
  const uint32_t first = start > taken ? start : taken;
  *longest = end + 1 > first ? end + 1 - first : 0;
  if (count > *longest) return -EBUSY;
  memset(out, 0, 8 * sizeof *out);
  for (uint32_t i = first; i < first + count; ++i) out[i / 64] |= 1ull << (i % 64);
  c->marked += count;
  return 0;
}
int range_unmark(void*, const uint64_t[8]) { return 0; }

int reg(void*, uint64_t, const uint64_t*, uint32_t, uint32_t*) { return -EINVAL; }
int reg_write(void*, uint64_t, const uint64_t*, uint32_t, const uint32_t*) { return -EINVAL; }
int mem_alloc(void*, uint64_t, uint64_t, uint64_t, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t,
              uint64_t*) {
  return -ENOMEM;
}
int mem_free(void*, uint64_t) { return 0; }
int mem_pa(void*, uint64_t, uint64_t*) { return -EINVAL; }
int mem_map(void*, uint64_t, void**) { return -EINVAL; }
int copy_in(void*, uint64_t, uint64_t, const void*, uint64_t) { return -EINVAL; }
int copy_out(void*, uint64_t, uint64_t, void*, uint64_t) { return -EINVAL; }
int copy_async(void*, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, int32_t*) {
  return -EINVAL;
}
int copy_wait(void*, uint64_t, int32_t) { return -EINVAL; }
int queue_init(void*, uint64_t, const nrtp_ndl_queue*) { return -EINVAL; }
int queue_start(void*, uint64_t, uint32_t, uint32_t, uint32_t, uint32_t) { return -EINVAL; }
int sem(void*, uint64_t, uint32_t, uint32_t, uint32_t) { return -EINVAL; }
int sem_read(void*, uint64_t, uint32_t, uint32_t, uint32_t*) { return -EINVAL; }
int nq_init(void*, uint64_t, const nrtp_ndl_nq_config*, uint64_t*) { return -EINVAL; }
int reset(void*, uint64_t, uint32_t, uint32_t*) { return -EINVAL; }
int ready(void*, uint64_t, uint32_t, uint32_t*) { return -EINVAL; }
uint64_t now_us(void*) { return 0; }
void sleep_us(void*, uint32_t) {}

constexpr nrtp_ndl_probe kProbe = {sizeof kProbe,
                                   0,
                                   probe,
                                   get_version,
                                   get_compatible_version,
                                   feature_supported,
                                   register_soft_incompat,
                                   product_name};
const nrtp_ndl_device kDevice = [] {
  nrtp_ndl_device d{};
  d.size = sizeof d;
  d.available = available;
  d.open = open_device;
  d.close = close_device;
  d.board_info = board_info;
  d.close_all = close_all;
  return d;
}();
const nrtp_ndl_reg kReg = {sizeof kReg, 0, reg, reg_write, nullptr, nullptr, nullptr};
const nrtp_ndl_mem kMem = [] {
  nrtp_ndl_mem m{};
  m.size = sizeof m;
  m.alloc = mem_alloc;
  m.free = mem_free;
  m.get_pa = mem_pa;
  m.map = mem_map;
  m.unmap = mem_free;
  return m;
}();
const nrtp_ndl_copy kCopy = [] {
  nrtp_ndl_copy c{};
  c.size = sizeof c;
  c.in = copy_in;
  c.out = copy_out;
  c.copy_async = copy_async;
  c.copy_wait = copy_wait;
  return c;
}();
const nrtp_ndl_dma kDma = [] {
  nrtp_ndl_dma d{};
  d.size = sizeof d;
  d.queue_init = queue_init;
  d.queue_start = queue_start;
  return d;
}();
const nrtp_ndl_sync kSync = {sizeof kSync, 0,
#if defined(MISSING_MEMBER)
                             nullptr,
#else
                             sem,
#endif
                             sem,          sem_read, sem, sem_read, sem};
const nrtp_ndl_nq kNq = [] {
  nrtp_ndl_nq q{};
#if defined(SHORT_GROUP)
  q.size = offsetof(nrtp_ndl_nq, map);
#else
  q.size = sizeof q;
#endif
  q.init = nq_init;
  q.map = mem_map;
  return q;
}();
const nrtp_ndl_life kLife = [] {
  nrtp_ndl_life l{};
  l.size = sizeof l;
  l.reset = reset;
  l.ready = ready;
  return l;
}();
const nrtp_ndl_share kShare = [] {
  nrtp_ndl_share s{};
  s.size = sizeof s;
  s.range_mark = range_mark;
  s.range_unmark = range_unmark;
  return s;
}();
const nrtp_ndl_misc kMisc = [] {
  nrtp_ndl_misc m{};
  m.size = sizeof m;
  m.now_us = now_us;
  m.sleep_us = sleep_us;
  return m;
}();

nrtp_ndl_ops make_table() {
  nrtp_ndl_ops t{};
  t.head = NRTP_HEAD_INIT(nrtp_ndl_ops, NDL, "1.0");
#if defined(OTHER_SANITIZER)
  t.head.build = "san=memory;version=1.0";
#elif defined(TRUNCATED_TABLE)
  t.head.size = offsetof(nrtp_ndl_ops, misc);
#elif defined(OTHER_MAJOR)
  t.head.abi_major = 2;
#elif defined(NEWER_MINOR)
  t.head.abi_minor = 7;
  t.head.size = sizeof t + 64;
#elif defined(NEEDS_NEWER_HOST)
  t.head.host_minor_min = 9;
#elif defined(NEEDS_FEATURE)
  t.head.host_features_required = 0x10;
#elif defined(WRONG_MAGIC)
  t.head.magic = 0x12345678;
#elif defined(WRONG_KIND)
  t.head.kind = NRTP_KIND_PORT;
#endif
  t.name = "double";
  t.attach = attach;
  t.detach = detach;
  t.caps = caps;
  t.probe = &kProbe;
  t.device = &kDevice;
  t.reg = &kReg;
  t.mem = &kMem;
  t.copy = &kCopy;
  t.dma = &kDma;
  t.sync = &kSync;
  t.nq = &kNq;
  t.life = &kLife;
  t.share = &kShare;
  t.pod = nullptr;  // optional as a whole
  t.misc = &kMisc;
  return t;
}

const nrtp_ndl_ops kTable = make_table();

}  // namespace

#if defined(NO_SYMBOL)
#define nrtp_ndl_query nrtp_ndl_query_misspelt
#endif

extern "C" NRTP_EXPORT const nrtp_ndl_ops* nrtp_ndl_query(uint32_t host_major, uint32_t) {
#if defined(UNBOUND)
  if (opennrt_test_symbol_that_nobody_has() != 0) return nullptr;
#elif defined(THROWING)
  throw 1;
#elif defined(RETURNS_NULL)
  return nullptr;
#endif
  return host_major == NRTP_NDL_ABI_MAJOR ? &kTable : nullptr;
}
