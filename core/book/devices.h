// SPDX-License-Identifier: Apache-2.0
//
// Questions about devices that need an open one: numbers, HBM mappings, shared
// descriptors, the network card nearby. Devices are opened at the first
// question and closed with this object.
//
// Threading: every member may be called from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "book/machine.h"

namespace opennrt::book {

class Devices {
 public:
  Devices(const Driver& driver, const Machine& machine) : driver_(driver), machine_(machine) {}
  ~Devices();
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;

  // NRT_INVALID in all of them: no device of that number.
  Result<std::uint32_t> host_id(std::int64_t device);
  // Routing ids by host device number.
  Result<std::vector<std::uint32_t>> routing_ids() const;

  struct HbmMapping {
    void* va = nullptr;
    std::uint64_t bytes = 0;
  };
  // NRT_INVALID_HANDLE: no such HBM. NRT_INVALID: the driver does not map it as
  // a whole.
  Result<HbmMapping> map_hbm(std::int64_t device, std::int64_t hbm);
  // The HBM mapped by map_hbm around the address.
  struct MappedHbm {
    HbmMapping mapping;
    std::uint32_t device = 0;
  };
  std::optional<MappedHbm> hbm_at(const void* address);

  // Descriptor of the device memory that is mapped at va. NRT_INVALID: the
  // driver has none to give. NRT_RESOURCE: out of memory or descriptors.
  Result<int> dmabuf(const void* va, std::uint64_t bytes) const;
  // Where va lies in the descriptor of the mapping that begins at `begin`: a
  // software device shares its whole memory.
  std::uint64_t offset_in_dmabuf(const void* begin, const void* va) const;

  Result<nrtp_ndl_bdf> pci_address(std::int64_t device) const;
  // PCI address of the network card with the shortest way to the device.
  // NRT_FAILURE: there is none.
  Result<std::string> network_card(std::uint32_t device) const;

 private:
  Status check(std::int64_t device) const;
  Result<std::uint64_t> opened(std::int64_t device);

  const Driver& driver_;
  const Machine& machine_;
  std::mutex mutex_;  // guards the two below; open and close of a device
  std::map<std::uint32_t, std::uint64_t> open_;
  std::vector<MappedHbm> mapped_;
};

// The EFA card below `pci_directory` (/sys/bus/pci/devices) that shares the
// longest part of its bus path with the device; empty: no card.
std::string nearest_card(const std::string& pci_directory, const std::string& device);
std::string text_of(const nrtp_ndl_bdf& address);  // "0000:00:1e.0"

}  // namespace opennrt::book
