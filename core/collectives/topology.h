// SPDX-License-Identifier: Apache-2.0
//
// Topology as a collectives library numbers it: a position stands for a device
// of the host, a routing id for its place in the network of devices. Every
// local device has its own view.
//
// Threading: every member may be called from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "base/status.h"

namespace opennrt::collectives {

class Topology {
 public:
  struct Place {
    std::int32_t position = 0;
    std::int32_t host_device = 0;
  };
  // Replaces the view of the device. routing_ids: by host device number.
  // NRT_INVALID: a position twice, or a host device without routing id; the old
  // view stays.
  Status set_view(std::int32_t device, std::span<const Place> places,
                  std::span<const std::uint32_t> routing_ids);

  bool has(std::int32_t device, std::int32_t position) const;
  std::optional<std::int32_t> routing_id(std::int32_t device, std::int32_t position) const;
  std::optional<std::int32_t> position(std::int32_t device, std::int32_t routing_id) const;

  void clear();

 private:
  using View = std::map<std::int32_t, std::int32_t>;  // position -> routing id
  mutable std::mutex mutex_;
  std::map<std::int32_t, View> views_;  // by device
};

}  // namespace opennrt::collectives
