// SPDX-License-Identifier: Apache-2.0
//
// What exists between nrt_init and nrt_close, and the questions about the
// machine that are answered without it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/status.h"
#include "book/devices.h"
#include "book/machine.h"
#include "book/reservation.h"
#include "collectives/communicators.h"
#include "collectives/send_recv.h"
#include "config/config.h"
#include "kmgr/manager.h"
#include "log/kernel_log.h"
#include "nrt/nrt.h"
#include "nrt/nrt_experimental.h"

namespace opennrt::api {

// Members are destroyed last to first: manager, reservation, devices, driver.
// Who calls nrt_init; the strings may be NULL.
struct Framework {
  nrt_framework_type_t type = NRT_FRAMEWORK_TYPE_INVALID;
  const char* version = nullptr;
  const char* fal_version = nullptr;
};

class Session {
 public:
  // Reads the configuration, sets logging up, opens the devices, reserves cores
  // and brings them up. A failure leaves nothing behind.
  static Result<std::unique_ptr<Session>> start(const Framework& framework);
  ~Session();

  kmgr::Manager& manager() { return *manager_; }
  book::Devices& devices() { return *devices_; }
  collectives::Communicators& communicators() { return *communicators_; }
  collectives::SendRecv& send_recv() { return *send_recv_; }
  const book::Driver& driver() const { return *driver_; }
  const book::Machine& machine() const { return machine_; }
  const config::Config& config() const { return *config_; }
  // The implicit asynchronous mode is asked for (exec_callback.h).
  bool implicit_async() const { return !jobs_.empty(); }
  std::uint64_t next_job(std::uint32_t core) { return ++jobs_[core]; }
  // NRT_FAILURE in the implicit asynchronous mode, which excludes nrta_*.
  Status explicit_async() const;
  std::uint32_t visible_cores() const {
    return static_cast<std::uint32_t>(reservation_->logical_cores().size());
  }

 private:
  Session() = default;
  Status open_devices();
  Status check_microcode(const nrt_ucode_info& microcode) const;
  Status bring_up(const Framework& framework);
  void make_collectives();
  void publish() const;

  std::shared_ptr<const config::Config> config_;
  std::unique_ptr<book::Driver> driver_;
  std::optional<log::KernelLogScope> kernel_log_;
  book::Machine machine_;
  std::unique_ptr<book::Devices> devices_;
  std::unique_ptr<book::Reservation> reservation_;
  std::unique_ptr<kmgr::Manager> manager_;
  std::unique_ptr<collectives::Communicators> communicators_;
  std::unique_ptr<collectives::SendRecv> send_recv_;
  std::vector<std::atomic<std::uint64_t>> jobs_;  // of the implicit mode, by logical core
};

// The session of the process; valid while a call is counted in (state.h).
Session& session() noexcept;

NRT_STATUS init(const char* name, const Framework& framework) noexcept;
void close() noexcept;

// Usable in every state. In a forked child they answer what the parent knew.
Status total_cores(std::uint32_t* out);
Status visible_cores(std::uint32_t* out);
Status instance_info(nrt_instance_info_t* out);

// The machine without or with an initialised runtime; gone after `look`.
// NRT_FAILURE in a forked child.
struct MachineView {
  const book::Driver& driver;
  const book::Machine& machine;
  const config::Config& config;
};
Status on_machine(const std::function<Status(const MachineView&)>& look);
// A driver layer of its own beside that of the session, with the session's
// settings or those of now. NRT_FAILURE in a forked child.
struct OwnDriver {
  std::unique_ptr<book::Driver> driver;
  std::uint64_t hbm_bytes = 0;  // of one HBM
};
Result<OwnDriver> own_driver();
// Without the driver: also in a forked child of an initialised process.
Status with_machine(const std::function<Status(const book::Machine&, const config::Config&)>& look);

}  // namespace opennrt::api
