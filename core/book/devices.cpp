// SPDX-License-Identifier: Apache-2.0
#include "book/devices.h"

#include <errno.h>
#include <string.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

#include "book/errno_status.h"

namespace opennrt::book {

namespace {

constexpr char kPciDirectory[] = "/sys/bus/pci/devices";
// Vendor Amazon, devices EFA (public PCI id registry).
constexpr char kCardVendor[] = "0x1d0f", kCardDevicePrefix[] = "0xefa";

bool means_no_such_feature(int rc) {
  return rc == -EINVAL || rc == -ENOENT || rc == -EOPNOTSUPP || rc == -ENOTTY || rc == -ENOSYS ||
         rc == -EPROTONOSUPPORT;
}

std::string first_word(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string word;
  in >> word;
  return word;
}

std::size_t common_parts(const std::filesystem::path& a, const std::filesystem::path& b) {
  const auto end = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(std::distance(a.begin(), end.first));
}

}  // namespace

Devices::~Devices() {
  for (const auto& [index, dev] : open_) driver_.ndl().device->close(driver_.ctx(), dev);
}

Status Devices::check(std::int64_t device) const {
  if (device >= 0 && std::find(machine_.devices.begin(), machine_.devices.end(),
                               static_cast<std::uint64_t>(device)) != machine_.devices.end())
    return {};
  return Status::invalid("device {}: this machine has {} devices, {} to {}", device,
                         machine_.devices.size(), machine_.devices.front(),
                         machine_.devices.back());
}

Result<std::uint64_t> Devices::opened(std::int64_t device) {
  ONRT_TRY(check(device));
  const auto index = static_cast<std::uint32_t>(device);
  if (const auto found = open_.find(index); found != open_.end()) return found->second;
  std::uint64_t dev = 0;
  if (const int rc = driver_.ndl().device->open(driver_.ctx(), index, &dev, nullptr); rc != 0)
    return errno_status(rc, fmt::format("opening device {}", index));
  open_.emplace(index, dev);
  return dev;
}

Result<std::uint32_t> Devices::host_id(std::int64_t device) {
  const std::lock_guard lock(mutex_);
  ONRT_ASSIGN(const std::uint64_t dev, opened(device));
  std::uint32_t id = 0;
  if (const int rc = driver_.ndl().device->host_device_id(driver_.ctx(), dev, &id); rc != 0)
    return errno_status(rc, fmt::format("host number of device {}", device));
  return id;
}

Result<std::vector<std::uint32_t>> Devices::routing_ids() const {
  std::vector<std::uint32_t> ids(NRTP_MAX_DEVICES);
  std::uint32_t count = NRTP_MAX_DEVICES;
  if (const int rc = driver_.ndl().device->rid_map(driver_.ctx(), &count, ids.data()); rc != 0)
    return errno_status(rc, "routing ids");
  ids.resize(std::min(count, NRTP_MAX_DEVICES));
  return ids;
}

Result<Devices::HbmMapping> Devices::map_hbm(std::int64_t device, std::int64_t hbm) {
  ONRT_TRY(check(device));
  if (hbm < 0) return Status::invalid("hbm_idx is {}", hbm);
  if (hbm >= machine_.arch->geometry->n_hbm)
    return Status::make(NRT_INVALID_HANDLE, "HBM {}: device {} has {}", hbm, device,
                        machine_.arch->geometry->n_hbm);
  const std::lock_guard lock(mutex_);
  ONRT_ASSIGN(const std::uint64_t dev, opened(device));
  HbmMapping out;
  const int rc = driver_.ndl().reg->hbm_va(driver_.ctx(), dev, static_cast<std::uint32_t>(hbm),
                                           &out.va, &out.bytes);
  if (means_no_such_feature(rc))
    return Status::invalid("HBM {} of device {}: the driver does not map it as a whole", hbm,
                           device);
  if (rc != 0)
    return Status::failure("mapping HBM {} of device {}: {}", hbm, device, strerror(-rc));
  const bool known = std::any_of(mapped_.begin(), mapped_.end(),
                                 [&](const MappedHbm& m) { return m.mapping.va == out.va; });
  if (!known) mapped_.push_back({out, static_cast<std::uint32_t>(device)});
  return out;
}

std::optional<Devices::MappedHbm> Devices::hbm_at(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const std::lock_guard lock(mutex_);
  for (const MappedHbm& m : mapped_)
    if (at - reinterpret_cast<std::uintptr_t>(m.mapping.va) < m.mapping.bytes) return m;
  return std::nullopt;
}

Result<int> Devices::dmabuf(const void* va, std::uint64_t bytes) const {
  int fd = -1;
  const int rc =
      driver_.ndl().mem->dmabuf_fd(driver_.ctx(), reinterpret_cast<std::uintptr_t>(va), bytes, &fd);
  if (rc == 0) return fd;
  if (means_no_such_feature(rc))
    return Status::invalid("the driver gives no dma-buf of this memory: {}", strerror(-rc));
  if (rc == -ENOMEM || rc == -EMFILE || rc == -ENFILE)
    return Status::resource("no dma-buf: {}", strerror(-rc));
  return Status::failure("no dma-buf: {}", strerror(-rc));
}

std::uint64_t Devices::offset_in_dmabuf(const void* begin, const void* va) const {
  const auto distance =
      reinterpret_cast<std::uintptr_t>(va) - reinterpret_cast<std::uintptr_t>(begin);
  const std::string request = fmt::format("backing {:#x}", reinterpret_cast<std::uintptr_t>(va));
  char reply[32];
  const std::int64_t n =
      driver_.ndl().misc->control(driver_.ctx(), request.c_str(), reply, sizeof reply);
  if (n <= 0) return distance;  // silicon: the descriptor begins where the memory does
  std::uint64_t offset = 0;
  const auto parsed = std::from_chars(reply, reply + n, offset);
  return parsed.ec == std::errc() ? offset : distance;
}

Result<nrtp_ndl_bdf> Devices::pci_address(std::int64_t device) const {
  ONRT_TRY(check(device));
  const auto index = static_cast<std::uint32_t>(device);
  nrtp_ndl_bdf out{};
  int rc = driver_.ndl().device->bdf_ext(driver_.ctx(), index, &out);
  if (means_no_such_feature(rc)) rc = driver_.ndl().device->bdf(driver_.ctx(), index, &out);
  if (rc != 0) return errno_status(rc, fmt::format("PCI address of device {}", device));
  return out;
}

Result<std::string> Devices::network_card(std::uint32_t device) const {
  if (driver_.port_name() != "kernel")
    return Status::failure("device {} is no PCI device, no network card is next to it", device);
  ONRT_ASSIGN(const nrtp_ndl_bdf address, pci_address(device));
  std::string card = nearest_card(kPciDirectory, text_of(address));
  if (card.empty()) return Status::failure("this machine has no EFA network card");
  return card;
}

std::string nearest_card(const std::string& pci_directory, const std::string& device) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path from = fs::canonical(fs::path(pci_directory) / device, error);
  if (error) return {};
  std::string best;
  std::size_t best_parts = 0;
  for (const fs::directory_entry& entry : fs::directory_iterator(pci_directory, error)) {
    if (first_word(entry.path() / "vendor") != kCardVendor) continue;
    if (!first_word(entry.path() / "device").starts_with(kCardDevicePrefix)) continue;
    std::error_code gone;
    const fs::path there = fs::canonical(entry.path(), gone);
    if (gone) continue;
    const std::string name = entry.path().filename();
    const std::size_t parts = common_parts(from, there);
    if (best.empty() || parts > best_parts || (parts == best_parts && name < best)) {
      best = name;
      best_parts = parts;
    }
  }
  return best;
}

std::string text_of(const nrtp_ndl_bdf& a) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", a.domain, a.bus, a.slot, a.function);
}

}  // namespace opennrt::book
