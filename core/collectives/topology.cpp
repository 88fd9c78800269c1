// SPDX-License-Identifier: Apache-2.0
#include "collectives/topology.h"

#include <algorithm>

namespace opennrt::collectives {

Status Topology::set_view(std::int32_t device, std::span<const Place> places,
                          std::span<const std::uint32_t> routing_ids) {
  View view;
  for (const Place& place : places) {
    if (place.host_device < 0 ||
        static_cast<std::uint64_t>(place.host_device) >= routing_ids.size())
      return Status::invalid("host device {} at position {}: {} devices have a routing id",
                             place.host_device, place.position, routing_ids.size());
    const auto id =
        static_cast<std::int32_t>(routing_ids[static_cast<std::size_t>(place.host_device)]);
    if (!view.emplace(place.position, id).second)
      return Status::invalid("position {} is named twice", place.position);
  }
  const std::lock_guard lock(mutex_);
  views_[device] = std::move(view);
  return {};
}

bool Topology::has(std::int32_t device, std::int32_t position) const {
  return routing_id(device, position).has_value();
}

std::optional<std::int32_t> Topology::routing_id(std::int32_t device, std::int32_t position) const {
  const std::lock_guard lock(mutex_);
  const auto view = views_.find(device);
  if (view == views_.end()) return std::nullopt;
  const auto found = view->second.find(position);
  if (found == view->second.end()) return std::nullopt;
  return found->second;
}

std::optional<std::int32_t> Topology::position(std::int32_t device, std::int32_t routing_id) const {
  const std::lock_guard lock(mutex_);
  const auto view = views_.find(device);
  if (view == views_.end()) return std::nullopt;
  const auto found = std::find_if(view->second.begin(), view->second.end(),
                                  [&](const auto& entry) { return entry.second == routing_id; });
  if (found == view->second.end()) return std::nullopt;
  return found->first;
}

void Topology::clear() {
  const std::lock_guard lock(mutex_);
  views_.clear();
}

}  // namespace opennrt::collectives
