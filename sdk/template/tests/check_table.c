/* SPDX-License-Identifier: Apache-2.0
 *
 * Rules that a table must obey, checked through the table alone. Argument: the
 * plugin. `opennrt plugins` and the conformance kit check more. */
#include <dlfcn.h>
#include <stdio.h>

#include <opennrt/arch.h>

static int failures;
#define CHECK(condition)                                      \
  do {                                                        \
    if (!(condition)) {                                       \
      fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
      ++failures;                                             \
    }                                                         \
  } while (0)

static const nrtp_arch_plugin* arch;
static const nrtp_product* product;

static nrtp_addr_class classify(uint64_t address) {
  nrtp_addr_class c = {.size = sizeof c, .kind = 0xFFFF};
  if (arch->address->classify(product, address, &c) != NRTP_OK) c.kind = 0xFFFF;
  return c;
}

static void check_memory(uint32_t core) {
  const nrtp_arch_geometry* g = arch->geometry;
  const nrtp_arch_address* a = arch->address;
  const uint64_t sbuf = a->local_to_device(product, core, 0);
  nrtp_addr_class c = classify(sbuf + g->sbuf_window_bytes - 1);
  CHECK(c.kind == NRTP_ADDR_SBUF && c.core == core && c.local == g->sbuf_window_bytes - 1 &&
        c.bytes_left == 1);
  c = classify(a->local_to_device(product, core, g->psum_local_base));
  CHECK(c.kind == NRTP_ADDR_PSUM && c.core == core && c.local == 0);
  CHECK(a->bar0_to_device(product, a->local_to_bar0(product, core, 0x3000000)) == sbuf + 0x3000000);
  CHECK(classify(g->hbm[a->default_hbm(product, core)].base).kind == NRTP_ADDR_HBM);
}

/* Events, then the windows of semaphores by operation: none overlaps another. */
static void check_sync(uint32_t core) {
  const nrtp_arch_geometry* g = arch->geometry;
  const nrtp_arch_address* a = arch->address;
  uint64_t begin[5], end[5];
  for (uint32_t i = 0; i < 5; ++i) {
    const uint32_t count = i == 4 ? g->events : g->semaphores;
    for (uint32_t n = 0; n < count; ++n) {
      const nrtp_addr_class c =
          classify(i == 4 ? a->event_addr(product, core, n) : a->sem_addr(product, core, n, i));
      CHECK(c.kind == NRTP_ADDR_SYNC && c.core == core);
      if (n == 0) begin[i] = c.local;
      CHECK(c.local == begin[i] + 4 * n && c.bytes_left >= 4);
    }
    end[i] = begin[i] + 4 * count;
    for (uint32_t other = 0; other < i; ++other)
      CHECK(end[i] <= begin[other] || end[other] <= begin[i]);
  }
  CHECK(a->event_addr(product, core, g->events) == UINT64_MAX);
  for (uint32_t op = NRTP_SEM_READ; op <= NRTP_SEM_DEC; ++op)
    CHECK(a->sem_addr(product, core, g->semaphores, op) == UINT64_MAX);
  for (uint32_t engine = 0; engine < g->engines; ++engine) {
    const nrtp_addr_class c = classify(a->nx_device(product, core, engine));
    CHECK(c.kind == NRTP_ADDR_ENGINE && c.core == core && c.unit == engine);
  }
}

static void check_queues(uint32_t core) {
  const nrtp_arch_dma* d = arch->dma;
  for (uint32_t i = 0; i < arch->geometry->dma_per_core; ++i)
    for (uint32_t queue = 0; queue < arch->geometry->dma_queues_per_engine; ++queue)
      for (uint32_t dir = 0; dir < 2; ++dir) {
        const uint64_t offset = d->queue_reg(queue, dir, NRTP_QREG_TAIL_INC);
        const uint32_t engine = d->core_engine(product, core, i);
        nrtp_addr_class c = classify(d->udma_device(product, engine) + offset);
        CHECK(c.kind == NRTP_ADDR_UDMA && c.unit == engine && c.queue == queue && c.dir == dir);
        c = classify(d->bcast_device(product, core) + offset);
        CHECK(c.kind == NRTP_ADDR_UDMA_BCAST && c.core == core && c.queue == queue && c.dir == dir);
      }
  nrtp_dma_slot slots[64], ring;
  uint32_t n = 64;
  CHECK(d->alloc_class(product, 0, core, slots, &n) == NRTP_OK && n != 0);
  for (uint32_t which = 0; which < NRTP_RING_FETCH + arch->geometry->engines; ++which) {
    CHECK(d->runtime_ring(product, core, which, &ring) == NRTP_OK);
    for (uint32_t i = 0; i < n; ++i) CHECK(slots[i].queue != ring.queue);
  }
}

static void check_steps(uint32_t core) {
  uint8_t records[64 * 512];
  for (uint32_t engine = 0; engine < arch->geometry->engines; ++engine)
    for (uint32_t step = NRTP_STEP_NX_SETUP; step <= NRTP_STEP_MODEL_CONFIG; ++step) {
      const nrtp_ib_env env = {.size = sizeof env,
                               .form = arch->ib->form_default,
                               .product = product,
                               .core = core,
                               .engine = engine,
                               .lnc_size = 1,
                               .sem_first = 3,
                               .sem_last = 40};
      nrtp_ibuf out = {records, sizeof records, 0};
      CHECK(arch->ib->step(step, &env, &out) == NRTP_OK && out.len % 64 == 0);
      for (uint64_t at = 0; at < out.len; at += 64) {
        nrtp_diag why = {.size = sizeof why};
        CHECK(arch->ib->validate_inst(engine, records + at, &why) == NRTP_OK);
      }
    }
  const uint8_t nonsense[64] = {0xFE, 0x10};
  CHECK(arch->ib->validate_inst(0, nonsense, NULL) != NRTP_OK);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  nrtp_arch_query_fn query;
  void* symbol = dlsym(library, NRTP_ARCH_QUERY_SYMBOL);
  memcpy(&query, &symbol, sizeof query);
  if (query == NULL || (arch = query(NRTP_ARCH_ABI_MAJOR, NRTP_ARCH_ABI_MINOR)) == NULL) return 1;
  CHECK(query(NRTP_ARCH_ABI_MAJOR + 1, 0) == NULL);
  for (uint32_t i = 0; i < arch->n_products; ++i) {
    product = (const nrtp_product*)(const void*)((const char*)arch->products +
                                                 (size_t)i * arch->product_stride);
    for (uint32_t core = 0; core < product->cores; ++core) {
      check_memory(core);
      check_sync(core);
      check_queues(core);
      check_steps(core);
    }
    CHECK(arch->address->local_to_device(product, product->cores, 0) == UINT64_MAX);
  }
  return failures != 0;
}
