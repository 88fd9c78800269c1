// SPDX-License-Identifier: Apache-2.0
#include "api/session.h"

#include <string.h>

#include <array>
#include <atomic>
#include <mutex>

#include "api/diagnostics.h"
#include "api/entry.h"
#include "api/microcode.h"
#include "api/state.h"
#include "api/tracing.h"
#include "api/version.h"
#include "log/log.h"
#include "plugin/loader.h"

namespace opennrt::api {

namespace {

constinit std::atomic<Session*> g_session{nullptr};

// Serialises nrt_init, nrt_close and the queries outside INIT. Never taken in a
// forked child.
std::mutex& life_mutex() {
  static std::mutex* const mutex = new std::mutex;
  return *mutex;
}

// What was found out about the machine, for later queries and forked children.
struct Facts {
  std::atomic<bool> counts{false}, instance{false};
  std::atomic<std::uint32_t> total{0}, visible{0};
  nrt_instance_info_t info{};  // written once, before `instance` becomes true
};
constinit Facts g_facts;

void remember_instance(const book::Machine& machine) {
  if (g_facts.instance.load(std::memory_order_acquire)) return;
  g_facts.info = book::instance_info(machine);
  g_facts.instance.store(true, std::memory_order_release);
}

void tell(const std::vector<config::Issue>& issues) {
  for (const config::Issue& issue : issues)
    if (log::enabled(log::Module::kConfig, issue.always ? log::Level::kError : issue.level))
      log::write(log::Module::kConfig, issue.level, "nrt_init", issue.text);
}

// Highest event number in use, plus one; entries of collectives do not count.
std::uint32_t events_needed(const nrtp_arch_sync& sync) {
  constexpr std::array kEntries = {NRTP_SYNC_INF_INIT_START,  NRTP_SYNC_INF_INIT_LAST,
                                   NRTP_SYNC_IOQ_CODE_SWITCH, NRTP_SYNC_ACT_TABLES_LOAD,
                                   NRTP_SYNC_DVE_TABLES_LOAD, NRTP_SYNC_REQUEST_LOAD};
  std::uint32_t needed = 0;
  for (const auto entry : kEntries)
    if (sync.id[entry] != 0xFF) needed = std::max(needed, sync.id[entry] + 1u);
  return needed;
}

// A software device can be any silicon: which setting makes it the model's.
std::string other_silicon(std::string_view target) {
  const std::string product = plugin::Loader::instance().product_of_target(target);
  return product.empty() ? fmt::format("install the arch plugin for {}", target)
                         : fmt::format("set OPENNRT_EMULATOR_PRODUCT={}", product);
}

neff::LoadLimits load_limits(const book::Machine& machine, std::uint32_t lnc_size,
                             std::uint32_t logical_cores) {
  const nrtp_arch_plugin& arch = *machine.arch;
  neff::LoadLimits out;
  for (const char* const* target = arch.neff_targets; *target != nullptr; ++target)
    out.targets.emplace_back(*target);
  out.known_targets = plugin::Loader::instance().arch_names();
  out.running_on = fmt::format("{} ({})", arch.name, machine.product->name);
  out.lnc_size = lnc_size;
  out.visible_cores = logical_cores * lnc_size;
  out.semaphores = arch.geometry->semaphores;
  out.events = arch.geometry->events;
  out.min_runtime_semaphores = arch.sync->id[NRTP_SYNC_RESERVED_SEMAPHORES];
  out.min_runtime_events = events_needed(*arch.sync);
  out.sbuf_partition_stride = arch.geometry->sbuf_partition_stride;
  out.sbuf_partitions = arch.geometry->sbuf_partitions;
  out.sbuf_reservation_required = arch.caps->flag[NRTP_CAP_SBUF_RESERVATION_REQUIRED] != 0;
  return out;
}

std::uint32_t form_of(const std::string& text) {
  if (text == "2.25") return NRTP_FORM_2_25;
  if (text == "2.27") return NRTP_FORM_2_27;
  return text == "2.30" ? NRTP_FORM_2_30 : 0;
}

// A machine looked at without an initialised runtime.
struct Glimpse {
  std::unique_ptr<book::Driver> driver;
  book::Machine machine;
  std::shared_ptr<const config::Config> config;
};

Result<Glimpse> glimpse() {
  Glimpse out;
  config::Loaded loaded =
      config::load({.environment = config::process_environment(), .cores_only = true});
  if (!loaded.status) return std::move(loaded.status).because(Cause::kConfiguration);
  out.config = std::move(loaded.config);
  plugin::Loader& loader = plugin::Loader::instance();
  loader.configure(out.config);
  ONRT_ASSIGN(out.driver, book::Driver::open(loader, *out.config));
  ONRT_ASSIGN(out.machine, book::discover(*out.driver, loader));
  remember_instance(out.machine);
  return out;
}

}  // namespace

Session& session() noexcept { return *g_session.load(std::memory_order_acquire); }

Status Session::explicit_async() const {
  if (!implicit_async()) return {};
  return Status::failure("the explicit asynchronous interface is off: {} is {}; remove it",
                         config_->source(config::Key::kExecImplicitAsyncDepth),
                         config_->number(config::Key::kExecImplicitAsyncDepth));
}

Session::~Session() {
  if (manager_) manager_->async().drain();
  // Tensors use device memory, so they go before the devices.
  kmgr::Tensors::instance().clear();
}

Status Session::blame(Status status) const {
  switch (status.code()) {
    case NRT_INVALID:
    case NRT_INVALID_HANDLE:
    case NRT_QUEUE_FULL:
      return status;
    default:
      break;
  }
  const std::string lost = driver_ ? driver_->lost() : std::string();
  if (lost.empty()) return status;
  const std::string message(status.message());
  if (message.find(lost) != std::string::npos && status.code() == NRT_HW_ERROR) return status;
  return Status::make(NRT_HW_ERROR, "{}; {}", message, lost).because(Cause::kDeviceLost);
}

Result<std::unique_ptr<Session>> Session::start(const Framework& framework) {
  std::unique_ptr<Session> out(new Session);
  config::Loaded loaded = config::load({.environment = config::process_environment()});
  Status logging = log::configure(config::log_settings(*loaded.config));
  know_config(loaded.config);
  tell(loaded.issues);
  if (!loaded.status) return std::move(loaded.status).because(Cause::kConfiguration);
  if (!logging) return std::move(logging).because(Cause::kConfiguration);
  out->config_ = std::move(loaded.config);
  ONRT_LOG(kNrt, kInfo, "{}", kVersionText);
  for (const std::string& line : out->config_->describe()) ONRT_LOG(kConfig, kInfo, "{}", line);
  for (const std::string& line : out->config_->without_effect())
    ONRT_LOG(kConfig, kWarn, "{}", line);
  const nrt_ucode_info microcode = take_microcode();
  if (Status opened = out->open_devices(); !opened) return out->blame(std::move(opened));
  ONRT_TRY(out->check_microcode(microcode));
  if (Status ready = out->bring_up(framework); !ready) return out->blame(std::move(ready));
  out->make_collectives();
  out->publish();
  return out;
}

Status Session::open_devices() {
  plugin::Loader& loader = plugin::Loader::instance();
  loader.configure(config_);
  ONRT_ASSIGN(driver_, book::Driver::open(loader, *config_));
  kernel_log_.emplace(log::KernelLog{driver_->ndl().misc->printk, driver_->ctx()});
  ONRT_ASSIGN(machine_, book::discover(*driver_, loader));
  devices_ = std::make_unique<book::Devices>(*driver_, machine_);
  ONRT_ASSIGN(const book::CoreRequest request, book::core_request(machine_, *config_));
  config::Loaded fitted = config::for_machine(
      *config_, {.arch_type = machine_.arch->arch_type, .lnc_size = request.lnc_size});
  tell(fitted.issues);
  if (!fitted.status) return std::move(fitted.status).because(Cause::kConfiguration);
  config_ = std::move(fitted.config);
  know_config(config_);
  ONRT_ASSIGN(reservation_, book::Reservation::take(*driver_, machine_, request));
  ONRT_LOG(kNrt, kInfo, "{} device(s) of {} ({}), logical cores {} to {} of {}, {} per core",
           machine_.devices.size(), machine_.arch->name, machine_.product->name,
           reservation_->first(), reservation_->first() + visible_cores() - 1, request.total,
           reservation_->lnc_size());
  know_machine(*driver_, machine_, *reservation_);
  return {};
}

// No loader of microcode is published. A software device has no microcode, so
// nothing is lost there.
Status Session::check_microcode(const nrt_ucode_info& microcode) const {
  if (microcode.iram.size == 0) return {};
  if (machine_.platform != NRTP_PLATFORM_SILICON) {
    ONRT_LOG(kNrt, kWarn,
             "microcode of the POOL engines ({} and {} bytes, nrt_set_pool_eng_ucode) is not "
             "used: a software device has none",
             microcode.iram.size, microcode.dram.size);
    return {};
  }
  return Status::invalid(
      "loading microcode of the POOL engines (nrt_set_pool_eng_ucode) is not supported by this "
      "runtime; do not set it");
}

namespace {

nds::Process process_of(const Framework& framework, const config::Config& config) {
  const auto version = [](const char* text) {
    return nds::parse_version(text == nullptr ? std::string_view() : text);
  };
  return {.framework_type = static_cast<std::int8_t>(framework.type),
          .tag = config.text(config::Key::kNdsProcessTag),
          .framework = version(framework.version),
          .fal = version(framework.fal_version),
          .runtime = {.major = kVersionMajor, .minor = kVersionMinor, .build = kVersionPatch}};
}

}  // namespace

Status Session::bring_up(const Framework& framework) {
  using config::Key;
  kmgr::StartOptions options;
  options.bindings = {.host = plugin::Loader::instance().host(),
                      .ndl = &driver_->ndl(),
                      .ndl_ctx = driver_->ctx(),
                      .arch = machine_.arch,
                      .product = machine_.product,
                      .platform = machine_.platform};
  for (const auto& cores : reservation_->logical_cores()) {
    auto& out = options.bring_up.logical_cores.emplace_back();
    for (const book::PhysicalCore& core : cores) out.push_back({core.device, core.core});
  }
  options.bring_up.lnc_size = reservation_->lnc_size();
  options.bring_up.form = form_of(config_->text(Key::kExecRuntimeForm));
  options.bring_up.share_weights = config_->flag(Key::kLoadShareWeights);
  options.bring_up.reset_cores = config_->flag(Key::kCoresResetOnInit);
  options.bring_up.queue_depth = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(config_->number(Key::kExecXuQueueDepth), 63));
  options.bring_up.scratchpad_page_bytes = config_->number(Key::kMemoryScratchpadPageMb) << 20;
  options.bring_up.report_numerical_errors = config_->number(Key::kNumericsErrorVerbosity) != 0;
  options.bring_up.process = process_of(framework, *config_);
  options.limits = load_limits(machine_, reservation_->lnc_size(), visible_cores());
  if (driver_->port_name() == "emulator") options.limits.remedy = other_silicon;
  ONRT_ASSIGN(manager_, kmgr::Manager::start(options));
  if (config_->number(Key::kExecImplicitAsyncDepth) != 0)
    jobs_ = std::vector<std::atomic<std::uint64_t>>(options.bring_up.logical_cores.size());
  return {};
}

void Session::make_collectives() {
  communicators_ = std::make_unique<collectives::Communicators>(visible_cores());
  kmgr::Tensors& tensors = kmgr::Tensors::instance();
  send_recv_ = std::make_unique<collectives::SendRecv>(
      collectives::SendRecv::Options{.first_core = static_cast<std::int32_t>(reservation_->first()),
                                     .cores = static_cast<std::int32_t>(visible_cores())},
      collectives::TensorAccess{
          .look = [&tensors](std::uintptr_t tensor) -> Result<collectives::TensorAccess::Facts> {
            ONRT_ASSIGN(const std::int32_t core, tensors.logical_core(tensor));
            return collectives::TensorAccess::Facts{tensors.size(tensor), core};
          },
          .move =
              [&tensors](std::uintptr_t from, std::uint64_t from_offset, std::uintptr_t to,
                         std::uint64_t to_offset, std::uint64_t bytes) {
                return tensors.move(from, from_offset, to, to_offset, bytes);
              }});
}

void Session::publish() const {
  remember_instance(machine_);
  g_facts.total = machine_.physical_cores() / reservation_->lnc_size();
  g_facts.visible = visible_cores();
  g_facts.counts.store(true, std::memory_order_release);
}

NRT_STATUS init(const char* name, const Framework& framework) noexcept {
  const auto refuse = [name](State now) {
    log_rejection(name, now);
    return rejection(now);
  };
  if (const State now = state(); now == State::kChild || now == State::kClosed) return refuse(now);
  bool refused = false;
  const NRT_STATUS code = run(name, [&]() -> Status {
    const std::lock_guard lock(life_mutex());
    if (state() == State::kClosed) {
      refused = true;
      return {};
    }
    if (state() == State::kInit) {
      ONRT_LOG(kNrt, kInfo, "already initialised");
      return {};
    }
    ONRT_ASSIGN(auto fresh, Session::start(framework));
    if (const int error = install_fork_handler(); error != 0)
      return Status::failure("fork handler: {}", strerror(-error));
    ONRT_TRY(start_tracing(fresh->config(), fresh->visible_cores()));
    g_session.store(fresh.release(), std::memory_order_release);
    set_state(State::kInit);
    return {};
  });
  if (refused) return refuse(State::kClosed);
  if (code == NRT_SUCCESS) log_infodump(log::Level::kInfo, nullptr);
  return code;
}

void close() noexcept {
  if (state() != State::kInit) return;
  run("nrt_close", []() -> Status {
    {
      const std::lock_guard lock(life_mutex());
      if (state() != State::kInit) return {};
      stop_tracing();
      set_state(State::kClosed);
    }
    // Queries of other threads are answered meanwhile. The state keeps everybody
    // else out.
    wait_until_left();
    const std::lock_guard lock(life_mutex());
    delete g_session.exchange(nullptr, std::memory_order_acq_rel);
    forget_tracing();
    forget_diagnostics();
    set_state(State::kStart);
    return {};
  });
}

namespace {

// A core count: the one of the initialised runtime (also in a forked child of
// it), else what `look` finds on the machine.
template <typename Look>
Status core_count(const std::atomic<std::uint32_t>& known, std::uint32_t* out, Look look) {
  if (enter() == State::kInit) {
    *out = known;
    leave();
    return {};
  }
  if (state() == State::kChild) {
    if (!g_facts.counts) return Status::failure("nothing is known about the cores in this child");
    *out = known;
    return {};
  }
  const std::lock_guard lock(life_mutex());
  if (state() == State::kInit) {
    *out = known;
    return {};
  }
  // While the runtime is being closed its machine is still there; the settings
  // are those of now.
  if (const Session* closing = g_session.load(std::memory_order_acquire)) {
    const config::Loaded loaded =
        config::load({.environment = config::process_environment(), .cores_only = true});
    if (!loaded.status) return Status(loaded.status.code(), std::string(loaded.status.message()));
    ONRT_ASSIGN(*out, look(closing->machine(), *loaded.config));
    return {};
  }
  ONRT_ASSIGN(const Glimpse found, glimpse());
  ONRT_ASSIGN(*out, look(found.machine, *found.config));
  return {};
}

}  // namespace

Status on_machine(const std::function<Status(const MachineView&)>& look) {
  const auto with_session = [&look](const Session& s) -> Status {
    return look({s.driver(), s.machine(), s.config()});
  };
  {
    const Entry entry;
    if (entry) return with_session(session());
    if (entry.seen() == State::kChild)
      return Status::failure("the devices cannot be asked in a forked child");
  }
  const std::lock_guard lock(life_mutex());
  // Initialised meanwhile, or being closed; nobody can go on while the lock is held.
  if (const Session* s = g_session.load(std::memory_order_acquire)) return with_session(*s);
  ONRT_ASSIGN(const Glimpse found, glimpse());
  return look({*found.driver, found.machine, *found.config});
}

Result<OwnDriver> own_driver() {
  const auto like = [](const Session& s) -> Result<OwnDriver> {
    OwnDriver out;
    ONRT_ASSIGN(out.driver, book::Driver::open(plugin::Loader::instance(), s.config()));
    out.hbm_bytes = s.machine().product->hbm_channel_bytes;
    return out;
  };
  {
    const Entry entry;
    if (entry) return like(session());
    if (entry.seen() == State::kChild)
      return Status::failure("the devices cannot be opened in a forked child");
  }
  const std::lock_guard lock(life_mutex());
  if (const Session* s = g_session.load(std::memory_order_acquire)) return like(*s);
  ONRT_ASSIGN(Glimpse found, glimpse());
  return OwnDriver{std::move(found.driver), found.machine.product->hbm_channel_bytes};
}

Status with_machine(
    const std::function<Status(const book::Machine&, const config::Config&)>& look) {
  if (state() != State::kChild)
    return on_machine([&look](const MachineView& view) { return look(view.machine, view.config); });
  // Nothing of the parent is released here, so its session can be read.
  const Session* inherited = g_session.load(std::memory_order_acquire);
  if (inherited == nullptr)
    return Status::failure("nothing is known about the machine in this child");
  return look(inherited->machine(), inherited->config());
}

Status total_cores(std::uint32_t* out) {
  return core_count(
      g_facts.total, out,
      [](const book::Machine& machine, const config::Config& config) -> Result<std::uint32_t> {
        ONRT_ASSIGN(const std::uint32_t lnc, book::lnc_size(machine, config));
        return machine.physical_cores() / lnc;
      });
}

Status visible_cores(std::uint32_t* out) {
  return core_count(
      g_facts.visible, out,
      [](const book::Machine& machine, const config::Config& config) -> Result<std::uint32_t> {
        ONRT_ASSIGN(const book::CoreRequest request, book::core_request(machine, config));
        return request.count;
      });
}

Status instance_info(nrt_instance_info_t* out) {
  if (!g_facts.instance.load(std::memory_order_acquire)) {
    if (state() == State::kChild)
      return Status::failure("nothing is known about the machine in this child");
    const std::lock_guard lock(life_mutex());
    if (!g_facts.instance.load(std::memory_order_acquire)) {
      ONRT_ASSIGN(const Glimpse found, glimpse());
    }
  }
  *out = g_facts.info;
  return {};
}

}  // namespace opennrt::api
