// SPDX-License-Identifier: Apache-2.0
//
// Identity, versions, topology, pod, log: requests that answer from tables.
#include <algorithm>
#include <cstring>
#include <string>

#include "driver/operations.h"
#include "opennrt/plugin.h"

namespace opennrt::emu {

namespace {

constexpr std::uint32_t kPodSingleNode = 4;  // pod state of a standalone board
constexpr std::uint32_t kMapEntries = 128;   // logical core map
constexpr std::uint32_t kFirstSlot = 2;      // PCI slot of routing id 0

}  // namespace

std::int64_t do_nothing(Call&) { return 0; }
std::int64_t refuse_notty(Call&) { return -ENOTTY; }
std::int64_t refuse_failed(Call&) { return kFailed; }
std::int64_t refuse_unsupported(Call&) { return kNotSupported; }

std::int64_t reply_one_byte(Call& call) {
  const std::uint8_t one = 1;
  return call.reply(one);
}

std::int64_t device_info(Call& call) {
  abi::DeviceInfo info;
  info.architecture = call.machine.config().arch->arch_type;
  info.revision = call.machine.geometry().emulator_revision;
  const auto others = connected_devices(*call.machine.config().arch, *call.machine.config().product,
                                        call.machine.devices(), call.node.index);
  info.connected_device_count = static_cast<std::uint32_t>(others.size());
  std::copy(others.begin(), others.end(), info.connected_devices);
  info.bar_address[0] = kBar0Base;
  info.bar_size[0] = call.machine.facts().bar0_bytes;
  return call.reply(info);
}

std::int64_t device_basic_info(Call& call) {
  abi::DeviceBasicInfo info;
  info.architecture = call.machine.config().arch->arch_type;
  info.revision = call.machine.geometry().emulator_revision;
  return call.reply(info);
}

std::int64_t driver_info_get(Call& call) {
  abi::DeviceDriverInfo info;
  info.architecture = call.machine.config().arch->arch_type;
  info.revision = call.machine.geometry().emulator_revision;
  info.size = sizeof info;
  info.feature_flags1 = call.machine.features();
  return call.reply(info);
}

std::int64_t compatible_version(Call& call) {
  abi::CompatibleVersion version;
  version.max = call.machine.facts().compat_max;
  version.min = call.machine.facts().compat_min;
  return call.reply(version);
}

std::int64_t device_app_pid(Call& call) {
  std::uint32_t pid = 0;
  {
    std::lock_guard lock(call.node.mutex);
    pid = call.node.attached[0].pid;
  }
  return call.reply(pid);
}

std::int64_t device_bdf(Call& call) {
  abi::DeviceBdf bdf;
  bdf.slot = static_cast<std::uint8_t>(kFirstSlot + call.node.routing_id);
  return call.reply(bdf);
}

std::int64_t device_bdf_ext(Call& call, abi::DeviceBdfExt& bdf) {
  // Counted from the device whose node is open, so that a container that sees
  // a later device as its first still counts from 0.
  const std::uint64_t index = std::uint64_t{bdf.nd_index} + call.node.index;
  const DeviceNode* node = index < call.machine.devices()
                               ? call.machine.node(static_cast<std::uint32_t>(index))
                               : nullptr;
  if (!node) return -EINVAL;
  bdf.domain = 0;
  bdf.bus_number = 0;
  bdf.slot = static_cast<std::uint8_t>(kFirstSlot + node->routing_id);
  bdf.func = 0;
  return call.reply(bdf);
}

std::int64_t host_device_id(Call& call) {
  abi::HostDeviceId id;
  id.host_device_id = call.node.index;
  return call.reply(id);
}

std::int64_t rid_map(Call& call) {
  abi::HostDeviceIdToRidMap map;
  map.count = call.machine.devices();
  for (std::uint32_t i = 0; i < map.count; ++i)
    map.host_did_to_rid_map[i] = call.machine.node(i)->routing_id;
  return call.reply(map);
}

std::int64_t core_map(Call& call) {
  // Position of a logical core on its device by bits 0 and 2 of the index.
  static constexpr std::uint8_t kRows[4][8] = {{4, 5, 6, 7, 2, 3, 0, 1},
                                               {2, 3, 0, 1, 4, 5, 6, 7},
                                               {0, 1, 2, 3, 6, 7, 4, 5},
                                               {6, 7, 4, 5, 0, 1, 2, 3}};
  if (!call.machine.facts().nc_map_query) return kNotSupported;
  abi::GetLogicalToPhysicalNcMap query;
  if (call.memory.read(call.arg, &query, sizeof query) != 0) return -EFAULT;
  if (query.max_map_entries > kMapEntries || query.mapping_version != 0) return -EINVAL;
  std::uint32_t words[1 + 2 * kMapEntries];
  words[0] = query.max_map_entries;
  for (std::uint32_t n = 0; n < query.max_map_entries; ++n) {
    const std::uint32_t device = n / 8;
    words[1 + 2 * n] = device;
    words[2 + 2 * n] = kRows[(device & 1) | ((device >> 2 & 1) << 1)][n % 8];
  }
  return call.memory.write(query.map, words, (1 + 2 * query.max_map_entries) * sizeof words[0]);
}

std::int64_t pod_info(Call& call, abi::PodInfo& pod) {
  if (pod.sz != sizeof pod) return -EINVAL;
  pod = abi::PodInfo{};
  pod.sz = sizeof pod;
  return call.reply(pod);
}

std::int64_t pod_status(Call& call, abi::PodStatus& pod) {
  if (pod.sz != sizeof pod) return -EINVAL;
  pod = abi::PodStatus{};
  pod.sz = sizeof pod;
  pod.state = kPodSingleNode;
  pod.node_id = -1;
  return call.reply(pod);
}

std::int64_t pod_status_v2(Call& call, abi::PodStatusV2& pod) {
  if (pod.v1.sz != sizeof pod) return -EINVAL;
  pod = abi::PodStatusV2{};
  pod.v1.sz = sizeof pod;
  pod.v1.state = kPodSingleNode;
  pod.v1.node_id = -1;
  return call.reply(pod);
}

std::int64_t pod_ctrl(Call& call, abi::PodCtrl& pod) {
  if (pod.sz != sizeof pod) return -EINVAL;
  if (call.machine.facts().single_node_pod) pod.state = kPodSingleNode;
  return call.reply(pod);
}

std::int64_t pod_ctrl_v2(Call& call, abi::PodCtrlV2& pod) {
  if (pod.v1.sz != sizeof pod) return -EINVAL;
  if (call.machine.facts().single_node_pod) pod.v1.state = kPodSingleNode;
  return call.reply(pod);
}

std::int64_t print_text(Call& call, abi::Printk& text) {
  constexpr std::uint32_t kMax = 512;
  if (text.size > kMax) return -EFAULT;
  char buffer[kMax];
  if (call.memory.read(text.buffer, buffer, text.size) != 0) return -EFAULT;
  if (text.size == 0 || buffer[text.size - 1] != '\0') return -EBADMSG;
  call.machine.log(NRTP_LOG_INFO, "driver log, pid %u: %s", call.client.pid, buffer);
  return 0;
}

std::int64_t dump_pid_state(Call& call, abi::NcPidStateDump& dump) {
  constexpr std::uint32_t kCores = 512;
  if (dump.nc_id >= kCores) return -ENOENT;
  call.machine.log(NRTP_LOG_INFO, "state of core %u asked for by pid %u", dump.nc_id,
                   call.client.pid);
  return 0;
}

std::int64_t post_metric(Call& call, abi::PostMetric& metric) {
  constexpr std::uint32_t kMax = 128;
  if (metric.data_size > kMax) return -E2BIG;
  char dropped[kMax];
  return call.memory.read(metric.data, dropped, metric.data_size);
}

std::int64_t power_profile_set(Call& call, abi::PowerProfile& profile) {
  if (profile.sz != sizeof profile) return -ENXIO;
  return profile.ctrl == 0 && call.machine.facts().power_profiles ? 0 : kNotSupported;
}

std::int64_t power_profile_get(Call& call, abi::PowerProfile& profile) {
  if (profile.sz != sizeof profile) return -ENXIO;
  if (profile.ctrl != 1) return kNotSupported;
  profile.profile = 0;
  return call.reply(profile);
}

std::int64_t power_profile_list(Call& call, abi::AvailablePerfProfiles& profiles) {
  profiles.num_profiles = 1;
  std::memset(profiles.bitmap, 0, sizeof profiles.bitmap);
  profiles.bitmap[0] = 1;
  return call.reply(profiles);
}

std::int64_t metrics_ctrl(Call&, abi::MetricsCtrl&) { return 0; }
std::int64_t throttling_notifications(Call&, abi::ThrottlingNotifications&) { return 0; }

std::int64_t apps_info(Call& call, abi::GetAppsInfo& query) {
  constexpr std::uint16_t kLocks = 1, kMemory = 2;
  abi::AppInfo apps[kMaxAttached] = {};
  std::uint32_t count = 0;
  {
    std::lock_guard lock(call.node.mutex);
    for (const Attach& slot : call.node.attached) {
      if (slot.count == 0 || count >= query.capacity) continue;
      abi::AppInfo& app = apps[count++];
      app.pid = static_cast<std::int32_t>(slot.pid);
      for (std::uint32_t nc = 0; nc < 4 && (query.apps_info_flags & kLocks); ++nc) {
        const CoreLock& held = call.node.locks[nc];
        if (held.writer_pid != slot.pid || !(held.writing || held.readers)) continue;
        app.nc_lock_map |= static_cast<std::uint8_t>(1u << nc);
        app.uuid_data[nc] = held.uuid;
      }
      if (!(query.apps_info_flags & kMemory)) continue;
      for (const auto& [pa, chunk] : call.node.chunks)
        if (chunk->owner == slot.pid)
          (chunk->host() ? app.host_mem_size : app.device_mem_size) += chunk->bytes;
    }
  }
  query.size = count;
  if (int r = call.memory.write(call.arg, &query, sizeof query)) return r;
  return call.memory.write(call.arg + sizeof query, apps, count * sizeof apps[0]);
}

}  // namespace opennrt::emu
