// SPDX-License-Identifier: Apache-2.0
//
// What exists between nrt_init and nrt_close, and the questions about the
// machine that are answered without it.
#pragma once

#include <memory>

#include "base/status.h"
#include "book/machine.h"
#include "book/reservation.h"
#include "config/config.h"
#include "kmgr/manager.h"
#include "nrt/nrt.h"

namespace opennrt::api {

// Members are destroyed last to first: manager, reservation, driver.
class Session {
 public:
  // Reads the configuration, sets logging up, opens the devices, reserves cores
  // and brings them up. A failure leaves nothing behind.
  static Result<std::unique_ptr<Session>> start();
  ~Session();

  kmgr::Manager& manager() { return *manager_; }
  const config::Config& config() const { return *config_; }
  // NRT_FAILURE in the implicit asynchronous mode, which excludes nrta_*.
  Status explicit_async() const;
  std::uint32_t visible_cores() const {
    return static_cast<std::uint32_t>(reservation_->logical_cores().size());
  }

 private:
  Session() = default;
  Status open_devices();
  Status bring_up();
  void publish() const;

  std::shared_ptr<const config::Config> config_;
  std::unique_ptr<book::Driver> driver_;
  book::Machine machine_;
  std::unique_ptr<book::Reservation> reservation_;
  std::unique_ptr<kmgr::Manager> manager_;
};

// The session of the process; valid while a call is counted in (state.h).
Session& session() noexcept;

NRT_STATUS init(const char* name) noexcept;
void close() noexcept;

// Usable in every state. In a forked child they answer what the parent knew.
Status total_cores(std::uint32_t* out);
Status visible_cores(std::uint32_t* out);
Status instance_info(nrt_instance_info_t* out);

}  // namespace opennrt::api
