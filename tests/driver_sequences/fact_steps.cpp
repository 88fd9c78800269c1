// SPDX-License-Identifier: Apache-2.0
//
// Steps: lists and facts of the machine.
#include "sequence.h"

namespace opennrt::sequences {

// Lists of chunks and of processes.
void Sequence::list(std::uint32_t pid, int fd) {
  int expected = model_.enter(pid, fd, Model::kDeviceLane, Model::kOpen);
  if (below(2)) {
    struct {
      emu::abi::GetAppsInfo head;
      emu::abi::AppInfo app[16];
    } a;
    a.head.apps_info_flags = 2;
    a.head.capacity = 16;
    const std::int64_t r = send(pid, fd, emu::abi::kDeviceGetAllAppsInfo, a);
    say() << pid << " fd " << fd << " DEVICE_GET_ALL_APPS_INFO = " << r;
    note();
    same("DEVICE_GET_ALL_APPS_INFO", expected, r);
    if (r != 0) return;
    const DeviceModel& d = model_.device(fd);
    same("processes", d.attached.size(), a.head.size);
    for (std::uint32_t i = 0; i < a.head.size; ++i) {
      const auto app = static_cast<std::uint32_t>(a.app[i].pid);
      if (!d.attached.count(app)) differ("an unattached process is listed");
      std::uint64_t host = 0, device = 0;
      for (const auto& [handle, block] : d.blocks)
        if (block.owner == app) (block.host ? host : device) += block.bytes;
      same("host memory of a process", host, a.app[i].host_mem_size);
      same("device memory of a process", device, a.app[i].device_mem_size);
    }
    return;
  }
  emu::abi::DumpMemChunks a;
  a.hbm_index = static_cast<std::uint32_t>(below(2));
  a.num_entries_in = below(3) == 0 ? 0 : 1000;
  a.data = memory_.base() + kData;
  const std::int64_t r = send(pid, fd, emu::abi::kDumpMemChunks, a);
  say() << pid << " fd " << fd << " DUMP_MEM_CHUNKS " << a.hbm_index << " = " << r;
  note();
  std::map<std::uint64_t, const Block*> there;
  if (expected == 0) {
    for (const auto& [handle, block] : model_.device(fd).blocks)
      if (!block.host && block.channel == a.hbm_index) there[block.pa] = &block;
    if (a.num_entries_in < there.size() + 1) expected = -EAGAIN;
  }
  same("DUMP_MEM_CHUNKS", expected, r);
  if (r != 0 && r != -EAGAIN) return;
  same("chunks", there.size() + 1, a.num_entries_out);  // and the firmware's
  for (std::uint32_t i = 0; r == 0 && i < a.num_entries_out; ++i) {
    emu::abi::MemChunkInfo info;
    std::memcpy(&info, memory_.at(kData + i * sizeof info), sizeof info);
    const auto it = there.find(info.pa);
    if (it == there.end()) {
      same("firmware area", model_.family().channel_base[a.hbm_index], info.pa);
      continue;
    }
    same("size of a chunk", it->second->bytes, info.size);
    same("type of a chunk", it->second->type, info.mem_type);
  }
}

void Sequence::facts(std::uint32_t pid, int fd) {
  const int device = model_.enter(pid, fd, Model::kDeviceLane, Model::kOpen);
  const int both = model_.enter(pid, fd, Model::kBothLanes, Model::kOpen);
  switch (below(6)) {
    case 0: {
      emu::abi::Printk a;
      a.buffer = memory_.base() + kData;
      a.size = static_cast<std::uint32_t>(pick({0, 1, 5, 512, 513}));
      std::memset(memory_.at(kData), 'x', 600);
      const bool ends = below(2);
      if (ends && a.size) memory_.at(kData)[a.size - 1] = 0;
      const std::int64_t r = send(pid, fd, emu::abi::kPrintk, a);
      say() << pid << " fd " << fd << " PRINTK " << a.size << (ends ? "" : " open") << " = " << r;
      note();
      same("PRINTK", both ? both : a.size > 512 ? -EFAULT : a.size == 0 || !ends ? -EBADMSG : 0, r);
      return;
    }
    case 1: {
      emu::abi::DeviceBdfExt a;
      a.nd_index = static_cast<std::uint32_t>(below(3));
      const std::int64_t r = send(pid, fd, emu::abi::kDeviceBdfExt, a);
      say() << pid << " fd " << fd << " DEVICE_BDF_EXT " << a.nd_index << " = " << r;
      note();
      const bool there = both == 0 && model_.file(fd).device + a.nd_index < devices_;
      same("DEVICE_BDF_EXT", both ? both : there ? 0 : -EINVAL, r);
      return;
    }
    case 2: {
      emu::abi::PostMetric a;
      a.data = memory_.base() + kData;
      a.data_size = static_cast<std::uint32_t>(pick({0, 128, 129}));
      const std::int64_t r = send(pid, fd, emu::abi::kPostMetric, a);
      say() << pid << " fd " << fd << " POST_METRIC " << a.data_size << " = " << r;
      note();
      const int gate = model_.enter(pid, fd, Model::kDeviceLane, Model::kAttached);
      same("POST_METRIC", gate ? gate : a.data_size > 128 ? -E2BIG : 0, r);
      return;
    }
    case 3: {
      emu::abi::PodStatusV2 a;
      a.v1.sz = below(2) ? sizeof a : 4;
      const std::uint32_t size = a.v1.sz;
      const std::int64_t r = send(pid, fd, emu::abi::kPodStatusV2, a);
      say() << pid << " fd " << fd << " POD_STATUS_V2 = " << r;
      note();
      same("POD_STATUS_V2", both ? both : size == sizeof a ? 0 : -EINVAL, r);
      if (r == 0) same("pod state", 4, a.v1.state);
      if (r == 0) same("pod node", -1, a.v1.node_id);
      return;
    }
    case 4: {
      emu::abi::HostDeviceId a;
      const std::int64_t r = send(pid, fd, emu::abi::kHostDeviceId, a);
      say() << pid << " fd " << fd << " HOST_DEVICE_ID = " << r;
      note();
      same("HOST_DEVICE_ID", device, r);
      if (r == 0) same("device id", model_.file(fd).device, a.host_device_id);
      return;
    }
    default: {
      std::uint64_t nothing = 0;
      const std::int64_t r = send(pid, fd, 0x80084EFFu, nothing);
      say() << pid << " fd " << fd << " unknown request = " << r;
      note();
      same("unknown request", both == -EBADF ? -EBADF : -EINVAL, r);
    }
  }
}

}  // namespace opennrt::sequences
