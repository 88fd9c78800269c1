// SPDX-License-Identifier: Apache-2.0
#include "watch/source.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "ndl-common/request_device.h"
#include "plugin/libc_port/libc_port.h"
#include "watch/daemon_port.h"

namespace opennrt::tools {

namespace {

constexpr std::uint32_t kMostProcesses = 16;  // that the driver attaches to a device

double seconds(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

void add_text(std::string* to, const std::string& text) { *to += (to->empty() ? "" : "; ") + text; }

ProcessSample& process_of(long pid, Sample* out) {
  for (ProcessSample& p : out->processes)
    if (p.pid == pid) return p;
  ProcessSample made;
  made.pid = pid;
  made.cpu = read_process(pid);
  made.started = made.cpu ? made.cpu->started : 0;
  made.command = command_line(pid);
  out->processes.push_back(std::move(made));
  return out->processes.back();
}

}  // namespace

std::uint32_t lnc_of(const std::vector<DeviceStore>& stores) {
  std::size_t most = 0;
  for (const DeviceStore& d : stores) {
    std::map<std::uint32_t, std::set<std::uint32_t>> cores;  // by model
    for (const nds::ModelReading& m : d.store.models) cores[m.model_id].insert(m.core);
    for (const auto& [id, of_model] : cores) most = std::max(most, of_model.size());
  }
  return static_cast<std::uint32_t>(most);
}

Source::~Source() { drop(); }

void Source::drop() {
  driver_.reset();
  client_.reset();
}

int Source::connect(Sample* out) {
  if (driver_ != nullptr) return 0;
  const nrtp_sys_port& port =
      client_ != nullptr ? daemon_port(client_.get()) : *plugin::libc_port();
  auto driver = book::Driver::open_on(port, here_.loader(), here_.config());
  if (!driver.is_ok()) {
    out->error = driver.status().message();
    return -EIO;
  }
  driver_ = *std::move(driver);
  // No descriptor stays open between samples.
  driver_->ndl().device->close_all(driver_->ctx());
  return 0;
}

void Source::read_one(std::uint32_t index, std::uint64_t dev, std::int32_t pid, Sample* out) {
  const nrtp_ndl_share& share = *driver_->ndl().share;
  void* data = nullptr;
  std::uint64_t bytes = 0;
  int error = share.nds_open(driver_->ctx(), dev, pid, &data, &bytes);
  if (error == -ENOENT) return;  // another program that watches, or one that has just begun
  if (error != 0) {
    add_text(&process_of(pid, out).error,
             "device " + std::to_string(index) +
                 ": its data store cannot be opened: " + strerror(-error));
    return;
  }
  nds::StoreReading reading = nds::read_store(data, static_cast<std::size_t>(bytes));
  const std::string reason = nds::reason_of(reading, static_cast<std::size_t>(bytes));
  share.nds_close(driver_->ctx(), dev, pid, data, bytes);
  // Had it ended meanwhile, another process might have got the place.
  error = share.nds_open(driver_->ctx(), dev, pid, &data, &bytes);
  if (error != 0) return;
  share.nds_close(driver_->ctx(), dev, pid, data, bytes);
  if (!read_process(pid) && reading.readable != nds::Readable::kYes) return;
  ProcessSample& process = process_of(pid, out);
  if (reason.empty()) {
    process.stores.push_back({.device = index, .store = std::move(reading)});
    const nds::StoreReading& store = process.stores.back().store;
    if (store.damaged_models != 0)
      add_text(&process.error, "device " + std::to_string(index) + ": " +
                                   std::to_string(store.damaged_models) +
                                   " damaged model records are left out");
  } else {
    add_text(&process.error, "device " + std::to_string(index) + ": " + reason);
  }
}

int Source::read_stores(std::uint32_t index, std::uint64_t dev, Sample* out) {
  struct {
    ndl::ndl_apps_info header;
    ndl::ndl_app_info apps[kMostProcesses];
  } all{};
  static_assert(sizeof all == sizeof all.header + sizeof all.apps);
  const nrtp_ndl_ops& ndl = driver_->ndl();
  const int error = ndl.device->apps_info(driver_->ctx(), dev, &all, kMostProcesses, 0);
  if (error != 0) return error;
  const std::uint32_t count = std::min(all.header.count, kMostProcesses);
  for (std::uint32_t i = 0; i < count; ++i)
    if (all.apps[i].pid > 0 && all.apps[i].pid != ::getpid())
      read_one(index, dev, all.apps[i].pid, out);
  return 0;
}

int Source::read_device(const Device& device, Sample* out) {
  const nrtp_ndl_ops& ndl = driver_->ndl();
  std::uint64_t dev = 0;
  int error = ndl.device->open(driver_->ctx(), device.index, &dev, nullptr);
  if (error == 0) {
    error = read_stores(device.index, dev, out);
    ndl.device->close(driver_->ctx(), dev);
  }
  if (error == -EBUSY)
    add_text(&out->error, "device " + std::to_string(device.index) +
                              ": as many processes have it open as the driver allows");
  else if (error != 0 && error != -EOWNERDEAD)
    add_text(&out->error,
             "device " + std::to_string(device.index) + " cannot be asked: " + strerror(-error));
  return error;
}

// Who has cores and no store shows that it is there.
void Source::add_owners(Sample* out) {
  for (const Device& device : out->machine.devices)
    for (const Core& core : device.cores) {
      if (!core.holder || core.holder->pid == ::getpid()) continue;
      ProcessSample& process = process_of(core.holder->pid, out);
      if (process.stores.empty() && process.error.empty())
        process.error = "it has cores and no data store: it is starting or ending";
    }
}

void Source::finish(Sample* out) {
  std::sort(out->processes.begin(), out->processes.end(),
            [](const ProcessSample& a, const ProcessSample& b) { return a.pid < b.pid; });
  std::map<long, Known> known;
  for (ProcessSample& p : out->processes) {
    Known& k = known[p.pid];
    k.started = p.started;
    k.lnc = lnc_of(p.stores);
    const auto before = known_.find(p.pid);
    if (k.lnc == 0 && before != known_.end() && before->second.started == p.started)
      k.lnc = before->second.lnc;
    p.lnc = k.lnc != 0 ? k.lnc : out->machine.lnc.value_or(1);
  }
  known_ = std::move(known);
}

Sample Source::take() {
  Sample out;
  if (client_ != nullptr && !client_->lost().empty()) drop();
  out.machine = collect_devices(here_, &client_);
  if (client_ != nullptr && !client_->lost().empty()) drop();
  out.system = read_system();
  const bool there = !out.machine.served_by.empty() && !out.machine.devices.empty();
  if (there && connect(&out) == 0) {
    for (const Device& device : out.machine.devices) {
      // A software device knows who has it open.
      if (client_ != nullptr && device.processes.empty()) continue;
      if (read_device(device, &out) != -EOWNERDEAD) continue;
      const std::string lost = client_ != nullptr ? client_->lost() : "";
      drop();
      out.machine = Listing();
      out.machine.reason = "the software device is lost" + (lost.empty() ? "" : ": " + lost);
      out.processes.clear();
      out.error.clear();
      break;
    }
  }
  if (there) add_owners(&out);
  finish(&out);
  out.at_s = seconds(CLOCK_MONOTONIC);
  out.wall_s = seconds(CLOCK_REALTIME);
  return out;
}

}  // namespace opennrt::tools
