// SPDX-License-Identifier: Apache-2.0
//
// Both driver layers, through their tables, on every driver the software device
// can be, with feature bits and requests taken away one by one: what comes back,
// what is said, which forms of the requests were sent.
#include "ndl_matrix.h"

#include <dlfcn.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cstring>
#include <numeric>

#include "opennrt/ndl.h"

namespace opennrt::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Silicon {
  const char* plugin;
  const char* product;
  std::uint32_t arch, cores;
};
constexpr Silicon kSunda = {"sunda", "trn1.2xlarge", 2, 2};
constexpr Silicon kCayman = {"cayman", "trn2.3xlarge", 3, 8};

template <typename Query>
Query query(const std::string& path, const char* symbol) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  return reinterpret_cast<Query>(dlsym(library, symbol));
}

class Layer {
 public:
  Layer(const std::string& plugin, const Silicon& silicon, const Case& at) {
    settings_ = {{"emulator.product", silicon.product},
                 {"emulator.hbm_bytes", "24M"},
                 {"emulator.host_bytes", "64M"},
                 {"emulator.driver_version", kDrivers[at.release].version},
                 {"emulator.driver_features", at.mask()},
                 {"emulator.driver_without", at.without}};
    host_.size = sizeof host_;
    host_.abi_major = NRTP_ABI_MAJOR;
    host_.abi_minor = NRTP_ABI_MINOR;
    host_.self = this;
    host_.log = [](void* self, std::uint32_t level, const char*, const char* text) {
      auto* layer = static_cast<Layer*>(self);
      if (level > NRTP_LOG_WARN) return;
      (level == NRTP_LOG_ERROR ? layer->errors : layer->warnings).emplace_back(text);
    };
    host_.log_enabled = [](void*, std::uint32_t level, const char*) -> std::uint32_t {
      return level <= NRTP_LOG_WARN;
    };
    host_.alloc = [](void*, std::size_t bytes, std::size_t align) -> void* {
      const std::size_t to = std::max<std::size_t>(align, 16);
      return std::aligned_alloc(to, (bytes + to - 1) / to * to);
    };
    host_.release = [](void*, void* p) { std::free(p); };
    host_.config_get = [](void* self, const char* key, char* buf, std::size_t n) -> int {
      const auto& settings = static_cast<Layer*>(self)->settings_;
      const auto found = settings.find(key);
      if (found == settings.end() || found->second.size() >= n) return NRTP_INVALID;
      std::memcpy(buf, found->second.c_str(), found->second.size() + 1);
      return NRTP_OK;
    };
    host_.now_ns = [](void*) -> std::uint64_t { return 0; };
    host_.fault = [](void*, const char*) { return 0; };
    host_.arch = [](void* self, std::uint32_t) { return static_cast<Layer*>(self)->arch_; };
    host_.arch_of_product = [](void* self, const char*) {
      return static_cast<Layer*>(self)->arch_;
    };
    const std::string dir = OPENNRT_PLUGIN_FOLDER;
    arch_ = query<const nrtp_arch_plugin* (*)(std::uint32_t, std::uint32_t)>(
        dir + "/opennrt-" + silicon.plugin + ".so", "nrtp_arch_query")(1, 0);
    port_ = query<nrtp_port_query_fn>(std::string(OPENNRT_RECORDER_DIR) + "/opennrt-recorder.so",
                                      NRTP_PORT_QUERY_SYMBOL)(1, 0);
    ops = query<nrtp_ndl_query_fn>(dir + "/opennrt-" + plugin + ".so", NRTP_NDL_QUERY_SYMBOL)(1, 0);
    EXPECT_EQ(port_->attach(&host_, &port_ctx_), 0);
    EXPECT_EQ(ops->attach(&host_, port_, port_ctx_, &ctx), 0);
  }
  ~Layer() {
    ops->device->close_all(ctx);
    ops->detach(ctx);
    port_->detach(port_ctx_);
  }
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;

  const nrtp_ndl_ops* ops = nullptr;
  void* ctx = nullptr;
  std::vector<std::string> errors, warnings;

 private:
  std::map<std::string, std::string> settings_;
  nrtp_host host_{};
  const nrtp_arch_plugin* arch_ = nullptr;
  const nrtp_sys_port* port_ = nullptr;
  void* port_ctx_ = nullptr;
};

// Number of operations that ndl-compat finds out about by trying.
std::size_t latched(const Case& at, const Silicon& silicon) {
  std::size_t n = 0;
  for (const char* request :
       {"MEM_MC_GET_INFO_V2", "NOTIFICATIONS_INIT_WITH_REALLOC_V2", "DEVICE_BASIC_INFO", "PRINTK",
        "POD_INFO", "POD_STATUS_V2", "H2T_DMA_ALLOC_QUEUES", "GET_VA_PLACEMENT"})
    n += !at.has(request);
  n += !at.has("POD_CTRL_V2") && at.has("POD_CTRL");
  n += !at.has("GET_LOGICAL_TO_PHYSICAL_NC_MAP") || silicon.arch == 2;
  n += !at.bit(5);
  if (at.bit(8) && silicon.arch == 2) n += 2;  // zero copy, batches
  return n;
}

class OnEveryDriver : public Recorded {
 protected:
  void run(const std::string& plugin, const Silicon& silicon, const Case& at) {
    SCOPED_TRACE(plugin + " on " + silicon.plugin + ", " + at.name());
    const bool compat = plugin == "ndl-compat";
    take();
    {
      Layer layer(plugin, silicon, at);
      const int probed = layer.ops->probe->probe(layer.ctx);
      if (!compat && !at.current()) {
        refused(layer, probed, at);
        return;
      }
      ASSERT_EQ(probed, 0);
      EXPECT_TRUE(layer.errors.empty()) << layer.errors[0];
      EXPECT_EQ(layer.warnings.size(), compat && !at.current() ? 1u : 0u);
      operate(layer, silicon, at, compat);
      if (HasFatalFailure()) return;
      if (compat) {
        EXPECT_EQ(layer.warnings.size(), (at.current() ? 0u : 1u) + latched(at, silicon))
            << ::testing::PrintToString(layer.warnings);
      } else {
        EXPECT_TRUE(layer.warnings.empty()) << layer.warnings[0];
      }
    }
    check_forms(take(), at, compat, false);
  }

  // The one line names everything that is missing, and what to do.
  void refused(const Layer& layer, int probed, const Case& at) {
    EXPECT_EQ(probed, -EOPNOTSUPP);
    ASSERT_EQ(layer.errors.size(), 1u);
    const std::string& line = layer.errors[0];
    for (int bit = 0; bit < 8; ++bit)
      EXPECT_EQ(line.find("(bit " + std::to_string(bit) + ")") != std::string::npos, !at.bit(bit))
          << line;
    EXPECT_EQ(line.find("MEM_MC_GET_INFO_V2") != std::string::npos, !at.has("MEM_MC_GET_INFO_V2"))
        << line;
    for (const char* word : {"too old", "aws-neuronx-dkms", "`ndl: compat`", "`ndl: auto`"})
      EXPECT_THAT(line, HasSubstr(word));
    EXPECT_THAT(layer.warnings, IsEmpty());
  }

  void operate(Layer& layer, const Silicon& silicon, const Case& at, bool compat) {
    const nrtp_ndl_ops& ops = *layer.ops;
    void* ctx = layer.ctx;
    // An operation whose request has no other form, or whose plugin has none.
    const auto alone = [&](const char* request) { return at.has(request) ? 0 : -EINVAL; };
    const auto or_older = [&](const char* request) { return compat ? 0 : alone(request); };
    std::uint32_t value = 0, second = 0;
    ASSERT_EQ(ops.device->board_info(ctx, &value, &second), or_older("DEVICE_BASIC_INFO"));
    if (compat || at.has("DEVICE_BASIC_INFO")) {
      EXPECT_EQ(value, silicon.arch);
      EXPECT_EQ(second, 240u);
    }
    std::uint64_t dev = 0;
    ASSERT_EQ(ops.device->open(ctx, 0, &dev, nullptr), 0);

    // Memory and copies.
    std::uint64_t a = 0, b = 0, on_host = 0;
    ASSERT_EQ(ops.mem->alloc(ctx, dev, 65536, 0, 0, 0, 0, 1, 9, &a), 0);
    ASSERT_EQ(ops.mem->alloc(ctx, dev, 65536, 0, 0, 1, 0, 1, 10, &b), 0);
    ASSERT_EQ(ops.mem->alloc(ctx, dev, 65536, 0, 1, 0, 0, 1, 2, &on_host), 0);
    std::vector<std::uint8_t> pattern(20000), back(20000);
    std::iota(pattern.begin(), pattern.end(), std::uint8_t{7});
    const auto holds = [&](std::uint64_t mem, std::uint64_t offset) {
      std::fill(back.begin(), back.end(), std::uint8_t{0});
      EXPECT_EQ(ops.copy->out(ctx, mem, offset, back.data(), back.size()), 0);
      return back == pattern;
    };
    EXPECT_EQ(ops.copy->in(ctx, a, 100, pattern.data(), pattern.size()), 0);
    EXPECT_TRUE(holds(a, 100));
    EXPECT_EQ(ops.copy->copy(ctx, a, b, 100, 4000, pattern.size()), 0);
    EXPECT_TRUE(holds(b, 4000));
    EXPECT_EQ(ops.copy->set(ctx, b, 3000, 0x5A, 10), 0);
    std::uint8_t around[12] = {};
    EXPECT_EQ(ops.copy->out(ctx, b, 2999, around, sizeof around), 0);
    EXPECT_EQ(around[1], 0x5A);
    EXPECT_EQ(around[10], 0x5A);
    EXPECT_NE(around[11], 0x5A);
    std::int32_t wait = -1;
    EXPECT_EQ(ops.copy->copy_async(ctx, a, on_host, 100, 0, 10000, 0, &wait), 0);
    EXPECT_EQ(ops.copy->copy_async(ctx, a, on_host, 10100, 10000, 10000, 0, &wait), 0);
    EXPECT_EQ(wait, !compat || at.bit(1) ? 2 : 0);
    EXPECT_EQ(ops.copy->copy_wait(ctx, on_host, wait), 0);
    EXPECT_TRUE(holds(on_host, 0));

    const int zero_copy =
        compat || (at.has("MEM_BUF_ZEROCOPY64") && silicon.arch > 2) ? 0 : -EINVAL;
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(ops.copy->zc_in(ctx, a, 8000, pattern.data(), pattern.size(), -1, 0), zero_copy);
      if (zero_copy == 0) {
        EXPECT_TRUE(holds(a, 8000));
      }
      std::fill(back.begin(), back.end(), std::uint8_t{0});
      EXPECT_EQ(ops.copy->zc_out(ctx, b, 4000, back.data(), back.size(), -1), zero_copy);
      EXPECT_EQ(back == pattern, zero_copy == 0);
      const nrtp_copy_op pieces[] = {{0, 12000, pattern.data()},
                                     {12000, 8000, pattern.data() + 12000}};
      const nrtp_copy_batch batch = {b, 30000, pieces, 2, 0};
      EXPECT_EQ(ops.copy->batch(ctx, dev, &batch, 1, 0, -1), zero_copy);
      if (zero_copy == 0) {
        EXPECT_TRUE(holds(b, 30000));
      }
    }
    EXPECT_EQ(
        ops.copy->program_engine(ctx, dev, 0, silicon.arch == 2 ? 0xFFFC0000000 : 0x2000000000,
                                 pattern.data(), 0, 256),
        0);

    // Look-ups.
    std::uint64_t pa = 0, cookie = 0, bytes = 0, handle = 9;
    EXPECT_EQ(ops.mem->get_pa(ctx, a, &pa), 0);
    EXPECT_EQ(ops.mem->mc_info(ctx, dev, pa + 5, &cookie, &bytes, &handle), 0);
    EXPECT_EQ(cookie, pa);
    EXPECT_EQ(bytes, 65536u);
    EXPECT_EQ(handle != 0, at.has("MEM_MC_GET_INFO_V2"));
    EXPECT_EQ(ops.mem->mc_info(ctx, dev, pa + 5, &cookie, &bytes, &handle), 0);
    void* va = nullptr;
    ASSERT_EQ(ops.mem->map(ctx, b, &va), 0);
    EXPECT_EQ(static_cast<const std::uint8_t*>(va)[3005], 0x5A);
    std::int32_t device = 9, hbm = 9;
    EXPECT_EQ(ops.mem->va_placement(ctx, static_cast<char*>(va) + 9, &device, &hbm),
              or_older("GET_VA_PLACEMENT"));
    if (compat || at.has("GET_VA_PLACEMENT")) {
      EXPECT_EQ(device, 0);
      EXPECT_EQ(hbm, 1);
    }
    int fd = -1;
    EXPECT_EQ(ops.mem->dmabuf_fd(ctx, reinterpret_cast<std::uintptr_t>(va), 4096, &fd),
              at.bit(0) ? 0 : -EINVAL);
    if (fd >= 0) close(fd);
    std::uint64_t piece = 0;
    EXPECT_EQ(ops.mem->alloc_contig(ctx, dev, 65536, 0, 0, &piece), at.bit(7) ? 0 : -EINVAL);
    nrtp_ndl_copy_buf buffer{};
    EXPECT_EQ(ops.mem->copy_buf(ctx, dev, 0, &buffer), 0);
    std::uint32_t chunks = 0;
    EXPECT_EQ(ops.mem->dump(ctx, dev, 0, nullptr, &chunks), -EAGAIN);
    EXPECT_GE(chunks, 2u);
    std::vector<std::uint8_t> apps(16 + 16 * 152);
    EXPECT_EQ(ops.device->apps_info(ctx, dev, apps.data(), 16, 15), 0);
    void* window = nullptr;
    EXPECT_EQ(ops.reg->hbm_va(ctx, dev, 0, &window, &bytes),
              silicon.arch > 2 && at.release >= k2_20 ? 0 : -ENOENT);
    EXPECT_EQ(ops.reg->map_region(ctx, dev, 0, 0, 2, &window, &bytes), 0);
    EXPECT_EQ(bytes, 0x2000000u);
    EXPECT_EQ(std::memcmp(window, pattern.data(), 256), 0) << "the engine's memory";
    std::uint64_t address = 0;
    EXPECT_EQ(ops.reg->hw_counters(ctx, dev, &address, 1, &value), 0);

    // Queues.
    std::uint64_t tx = 0, rx = 0, nq = 0;
    ASSERT_EQ(ops.mem->alloc(ctx, dev, 4096, 0, 0, 0, 0, 0, 18, &tx), 0);
    ASSERT_EQ(ops.mem->alloc(ctx, dev, 4096, 0, 0, 0, 0, 0, 18, &rx), 0);
    const nrtp_ndl_queue queues[] = {{3, 1, 64, 128, tx, rx}, {3, 2, 96, 32, tx, rx}};
    EXPECT_EQ(ops.dma->queue_init_batch(ctx, dev, queues, 2), 0);
    nrtp_ndl_queue_state tx_state{}, rx_state{};
    EXPECT_EQ(ops.dma->queue_state(ctx, dev, 3, 2, &tx_state, &rx_state), 0);
    EXPECT_EQ(tx_state.length, 96u);
    EXPECT_EQ(rx_state.length, 32u);
    EXPECT_EQ(ops.dma->queue_init(ctx, dev, &queues[0]), 0);
    std::uint8_t descriptors[32] = {64, 0, 0, 0}, read_back[32] = {};
    EXPECT_EQ(ops.dma->desc_write(ctx, tx, descriptors, 32, 2, 0), 0);
    EXPECT_EQ(ops.copy->out(ctx, tx, 32, read_back, 32), 0);
    EXPECT_EQ(std::memcmp(descriptors, read_back, 32), 0);
    nrtp_ndl_nq_config config{};
    config.size = sizeof config;
    config.nq_type = 1;
    config.bytes = 16384;
    config.host_memory = 1;
    for (int i = 0; i < 2; ++i) {
      const int made = ops.nq->init(ctx, dev, &config, &nq);
      EXPECT_EQ(made, or_older("NOTIFICATIONS_INIT_WITH_REALLOC_V2"));
      if (made != 0) continue;
      EXPECT_EQ(ops.nq->map(ctx, nq, &window), 0);
      EXPECT_EQ(ops.nq->destroy(ctx, nq), 0);
    }
    std::uint32_t copies = 0, services = 9, queue = 9;
    EXPECT_EQ(ops.dma->h2t_alloc(ctx, dev, 1, 1, 0, &copies, &services, &queue),
              or_older("H2T_DMA_ALLOC_QUEUES"));
    if (compat || at.has("H2T_DMA_ALLOC_QUEUES")) {
      EXPECT_EQ(queue, silicon.arch == 2 ? 0u : 1u);
      EXPECT_EQ(services, 0u);
      EXPECT_EQ(copies & (copies - 1), 0u);
      EXPECT_NE(copies, 0u);
      const bool forgotten = compat && !at.has("H2T_DMA_ALLOC_QUEUES");
      EXPECT_EQ(ops.dma->h2t_free(ctx, dev, 1, copies),
                forgotten ? 0 : alone("H2T_DMA_FREE_QUEUES"));
    }

    // What processes share, identity, pod.
    std::uint64_t bitmap[8] = {};
    EXPECT_EQ(ops.share->range_mark(ctx, 2, 0, silicon.cores - 1, &value, bitmap), 0);
    EXPECT_EQ(bitmap[0], 3u);
    EXPECT_EQ(ops.share->range_unmark(ctx, bitmap), 0);
    std::uint32_t count = 0, pairs[16] = {}, map[64] = {};
    const int mapped = ops.device->nc_map(ctx, 8, &count, pairs);
    const bool has_map = at.has("GET_LOGICAL_TO_PHYSICAL_NC_MAP");
    EXPECT_EQ(mapped, compat ? 0 : !has_map ? -EINVAL : silicon.arch == 2 ? -524 : 0);
    if (mapped == 0) {
      EXPECT_EQ(count, 8u);
      const bool of_driver = has_map && silicon.arch > 2;
      EXPECT_EQ(pairs[1], of_driver ? 4u : 0u);
      EXPECT_EQ(pairs[15], of_driver ? 1u : 7u % silicon.cores);
      EXPECT_EQ(pairs[14], of_driver ? 0u : 7u / silicon.cores);
    }
    count = 64;
    EXPECT_EQ(ops.device->host_device_id(ctx, dev, &value), alone("HOST_DEVICE_ID"));
    EXPECT_EQ(ops.device->rid_map(ctx, &count, map), alone("HOST_DEVICE_ID_TO_RID_MAP"));
    std::uint32_t state = 9, type = 9, size = 9, mode = 9, modes = 9;
    std::int32_t node = 9;
    EXPECT_EQ(ops.pod->info(ctx, &type, &size), or_older("POD_INFO"));
    for (int i = 0; i < 2; ++i)
      EXPECT_EQ(ops.pod->status(ctx, nullptr, &state, &type, &size, &node, &mode, &modes),
                or_older("POD_STATUS_V2"));
    if (compat || at.has("POD_STATUS_V2")) {
      EXPECT_EQ(state, 4u);
      EXPECT_EQ(node, -1);
      EXPECT_EQ(mode, 0u);
    }
    for (int i = 0; i < 2; ++i)
      EXPECT_EQ(ops.pod->ctrl(ctx, 1, 0, 1, &state), or_older("POD_CTRL_V2"));
    for (int i = 0; i < 2; ++i) EXPECT_EQ(ops.misc->printk(ctx, "x", 2, 0), or_older("PRINTK"));
    EXPECT_EQ(ops.misc->metrics(ctx, dev, 1), alone("METRICS_CTRL"));
    EXPECT_EQ(ops.misc->profile_set(ctx, dev, 0) == -EINVAL, !at.has("POWER_PROFILE"));
    EXPECT_EQ(ops.misc->throttling(ctx, dev, 1) == -EINVAL, !at.has("THROTTLING_NOTIFICATIONS"));
    EXPECT_EQ(ops.misc->profile_get(ctx, dev, &value) == -EINVAL,
              !at.has("GET_PERFORMANCE_PROFILE"));
    std::uint8_t profiles[32];
    EXPECT_EQ(ops.misc->profile_list(ctx, dev, profiles, sizeof profiles) == -EINVAL,
              !at.has("AVAILABLE_PERF_PROFILES"));

    // The scrub takes everything on its HBM.
    EXPECT_EQ(ops.life->scrub_start(ctx, dev, 0, 1, 0, 0), 0);
    EXPECT_EQ(ops.life->scrub_wait(ctx, dev, 0, 1), 0);
    EXPECT_EQ(static_cast<const std::uint8_t*>(va)[3005], at.bit(5) ? 0 : 0x5A);
    EXPECT_EQ(ops.device->close(ctx, dev), 0);
  }
};

TEST_F(OnEveryDriver, KernelOnSunda) {
  for (const Case& at : one_by_one()) run("ndl-kernel", kSunda, at);
}
TEST_F(OnEveryDriver, KernelOnCayman) {
  for (const Case& at : one_by_one()) run("ndl-kernel", kCayman, at);
}
TEST_F(OnEveryDriver, CompatOnSunda) {
  for (const Case& at : one_by_one()) run("ndl-compat", kSunda, at);
}
TEST_F(OnEveryDriver, CompatOnCayman) {
  for (const Case& at : one_by_one()) run("ndl-compat", kCayman, at);
}
// Two things at once missing, on the newest driver.
TEST_F(OnEveryDriver, BitsAndRequestsTogether) {
  for (int bit = 0; bit <= 8; ++bit)
    for (const char* request : kRemovable)
      for (const char* plugin : {"ndl-kernel", "ndl-compat"})
        run(plugin, kCayman, {k2_27, bit, request});
}

}  // namespace
}  // namespace opennrt::test
