// SPDX-License-Identifier: Apache-2.0
#include "book/driver.h"

#include <errno.h>
#include <string.h>

#include "book/errno_status.h"
#include "log/log.h"
#include "plugin/libc_port/libc_port.h"

namespace opennrt::book {

namespace {

constexpr char kModuleDirectory[] = "/sys/module/neuron";

bool any_node(const nrtp_sys_port& port, void* ctx) {
  for (std::uint32_t i = 0; i < NRTP_MAX_DEVICES; ++i)
    if (port.exists(ctx, fmt::format("/dev/neuron{}", i).c_str()) == 1) return true;
  return false;
}

// What the plugin said, else the text of its errno.
std::string reason(const plugin::CapturedErrors& errors, int error) {
  return errors.empty() ? std::string(strerror(error < 0 ? -error : EIO)) : errors.text();
}

// The plugin goes on in spite of what it said.
void tell(const plugin::CapturedErrors& errors) {
  if (!errors.empty()) ONRT_LOG(kNrt, kError, "{}", errors.text());
}

// The configuration's short names of the two plugins of this project.
std::string ndl_plugin_name(const std::string& name) {
  if (name == "kernel" || name == "auto") return "ndl-kernel";
  return name == "compat" ? "ndl-compat" : name;
}

}  // namespace

Driver::~Driver() {
  detach_ndl();
  if (port_ != nullptr) port_->detach(port_ctx_);  // a failed attach leaves none
}

void Driver::detach_ndl() {
  if (ndl_ == nullptr) return;
  ndl_->device->close_all(ndl_ctx_);
  ndl_->detach(ndl_ctx_);
  ndl_ = nullptr;
}

Status Driver::attach_port(plugin::Loader& loader, const config::Config& config) {
  const std::string& device = config.text(config::Key::kDevice);
  std::string name = device;
  if (device == "auto" || device == "kernel") {
    port_ = plugin::libc_port();
    if (const int error = port_->attach(loader.host(), &port_ctx_); error != 0) {
      port_ = nullptr;
      return errno_status(error, "attaching the kernel port");
    }
    if (device == "kernel" || any_node(*port_, port_ctx_)) {
      kernel_ = true;
      port_name_ = "kernel";
      return {};
    }
    port_->detach(port_ctx_);
    port_ = nullptr;
    port_ctx_ = nullptr;
    ONRT_LOG(kNrt, kInfo,
             "no /dev/neuron* node: programs run on the software device (device: emulator)");
    name = "emulator";
  }
  auto port = loader.port(name);
  if (!port.is_ok())
    return std::move(port).status().with_context(
        device == "auto" ? "no /dev/neuron* node, and no software device either"
                         : config.assignment(config::Key::kDevice));
  // Said here once, with all products there are.
  const std::string& product = config.text(config::Key::kEmulatorProduct);
  if (name == "emulator" && product != "auto") {
    auto known = loader.arch_of_product(product);
    if (!known.is_ok())
      return std::move(known).status().with_context(config.source(config::Key::kEmulatorProduct));
  }
  const plugin::CapturedErrors errors;
  if (const int error = (*port)->attach(loader.host(), &port_ctx_); error != 0)
    return Status::invalid("device {}: {}", name, reason(errors, error));
  tell(errors);
  port_ = *port;
  port_name_ = name;
  return {};
}

std::string Driver::ask(const std::string& request) const {
  if (ndl_ == nullptr || ndl_->misc == nullptr || ndl_->misc->control == nullptr) return {};
  std::string reply(4096, '\0');
  const std::int64_t length =
      ndl_->misc->control(ndl_ctx_, request.c_str(), reply.data(), reply.size());
  if (length < 0) return {};
  reply.resize(std::min(static_cast<std::size_t>(length), reply.size() - 1));
  return reply;
}

Status Driver::attach_ndl(plugin::Loader& loader, std::string_view name) {
  auto table = loader.ndl(name);
  if (!table.is_ok()) return std::move(table).status();
  const plugin::CapturedErrors errors;
  if (const int error = (*table)->attach(loader.host(), port_, port_ctx_, &ndl_ctx_); error != 0)
    return Status::invalid("attaching {}: {}", name, reason(errors, error));
  tell(errors);
  ndl_ = *table;
  return {};
}

// A software device that other processes share has ended; the port knows which.
Status Driver::device_lost() const {
  const std::string who = lost();
  return errno_status(-EOWNERDEAD, who.empty() ? "the software device is lost"
                                               : "the software device is lost: " + who);
}

// The three reasons why the kernel shows no device.
Status Driver::no_device() const {
  if (!kernel_) return Status::invalid("device {} reports no device", port_name_);
  if (port_->exists(port_ctx_, kModuleDirectory) != 1)
    return Status::invalid(
        "the kernel driver is not loaded ({} is missing); load it (modprobe neuron), or set "
        "device: emulator to run on the software device",
        kModuleDirectory);
  return Status::invalid(
      "the kernel driver is loaded but there is no /dev/neuron* node; pass the nodes into this "
      "container or check the driver's log, or set device: emulator to run on the software device");
}

Status Driver::find_devices() {
  const plugin::CapturedErrors errors;
  std::int32_t indexes[NRTP_MAX_DEVICES];
  const int n = ndl_->device->available(ndl_ctx_, indexes, NRTP_MAX_DEVICES);
  if (n == -EOWNERDEAD) return device_lost();
  if (n < 0) return Status::invalid("devices cannot be listed: {}", reason(errors, n));
  return n == 0 ? no_device().because(Cause::kNoDevice) : Status();
}

Status Driver::probe(int* out_error) {
  const plugin::CapturedErrors errors;
  const int error = *out_error = ndl_->probe->probe(ndl_ctx_);
  if (error == 0) return {};
  if (error == -EOWNERDEAD) return device_lost();
  if (error == -EACCES || error == -EPERM)
    return Status::invalid(
               "permission denied on the /dev/neuron* nodes; add this user to their group or "
               "change their mode")
        .because(Cause::kNoDevice);
  return Status::invalid("{} cannot drive this driver: {}", ndl_->name, reason(errors, error));
}

Status Driver::choose_ndl(plugin::Loader& loader, const std::string& choice) {
  constexpr char kCompat[] = "ndl-compat";
  ONRT_TRY(attach_ndl(loader, ndl_plugin_name(choice)));
  ONRT_TRY(find_devices());
  int error = 0;
  Status probed = probe(&error);
  // Too old for the plugin, but not for the runtime.
  if (choice != "auto" || error != -EOPNOTSUPP) return probed;
  if (!loader.exists(plugin::Kind::kNdl, kCompat))
    return std::move(probed).with_context(
        "the plugin ndl-compat, which drives older drivers, is not installed (package "
        "opennrt-ndl)");
  detach_ndl();
  ONRT_TRY(attach_ndl(loader, kCompat));
  return probe(&error);
}

Result<std::unique_ptr<Driver>> Driver::open(plugin::Loader& loader, const config::Config& config) {
  std::unique_ptr<Driver> driver(new Driver);
  ONRT_TRY(driver->attach_port(loader, config));
  const std::string& choice = config.text(config::Key::kNdl);
  ONRT_TRY(driver->choose_ndl(loader, choice));
  return driver;
}

Result<std::unique_ptr<Driver>> Driver::open_on(const nrtp_sys_port& port, plugin::Loader& loader,
                                                const config::Config& config) {
  std::unique_ptr<Driver> driver(new Driver);
  if (const int error = port.attach(loader.host(), &driver->port_ctx_); error != 0)
    return errno_status(error, std::string("attaching the port ") + port.name);
  driver->port_ = &port;
  driver->kernel_ = &port == plugin::libc_port();
  driver->port_name_ = driver->kernel_ ? "kernel" : port.name;
  ONRT_TRY(driver->choose_ndl(loader, config.text(config::Key::kNdl)));
  return driver;
}

}  // namespace opennrt::book
