// SPDX-License-Identifier: Apache-2.0
//
// Steps: locks, reservations, data stores, states of cores.
#include "sequence.h"

namespace opennrt::sequences {

void Sequence::lock(std::uint32_t pid, int fd) {
  static constexpr std::uint32_t kCodes[] = {emu::abi::kCrwlReaderEnter, emu::abi::kCrwlReaderExit,
                                             emu::abi::kCrwlWriterEnter,
                                             emu::abi::kCrwlWriterDowngrade};
  const int what = static_cast<int>(below(4));
  emu::abi::Crwl a;
  a.nc_id = below(20) == 0 ? 8 : static_cast<std::uint32_t>(below(2));
  const std::uint32_t uuid = 1 + static_cast<std::uint32_t>(below(2));
  std::memset(a.uuid.value, static_cast<int>(uuid), sizeof a.uuid.value);
  const std::int64_t r = send(pid, fd, kCodes[what], a);
  say() << pid << " fd " << fd << " CRWL " << what << " core " << a.nc_id << " uuid " << uuid
        << " = " << r;
  note();
  int expected = model_.enter(pid, fd, Model::kDeviceLane, Model::kOpen);
  if (expected == 0) expected = model_.lock(pid, fd, what, a.nc_id, uuid);
  same("CRWL", expected, r);
}

void Sequence::mark(std::uint32_t pid, int fd) {
  emu::abi::CrwlNcMapExt a;
  int expected = model_.enter(pid, fd, Model::kBothLanes, Model::kOpen);
  if (below(3) == 0) {
    std::array<std::uint64_t, 8> bitmap{};
    bitmap[0] = random_();
    bitmap[7] = random_();
    std::copy(bitmap.begin(), bitmap.end(), a.bitmap);
    const std::int64_t r = send(pid, fd, emu::abi::kCrwlNcRangeUnmarkExt0, a);
    say() << pid << " fd " << fd << " unmark = " << r;
    note();
    if (expected == 0) model_.unmark(pid, fd, bitmap);
    same("CRWL_NC_RANGE_UNMARK", expected, r);
    return;
  }
  a.nc_count = static_cast<std::uint32_t>(below(5));
  a.start_nc_index = static_cast<std::uint32_t>(below(10));
  a.end_nc_index = a.start_nc_index + static_cast<std::uint32_t>(below(12));
  switch (below(20)) {
    case 0:
      a.end_nc_index = a.start_nc_index - 1;
      break;
    case 1:
      a.end_nc_index = 512;
      break;
    case 2:
      a.start_nc_index = 505, a.end_nc_index = 511;
      break;
    default:
      break;
  }
  // What a count of 0 finds without a free core is not described.
  if (a.nc_count == 0 && expected == 0 && a.end_nc_index < 512 &&
      !model_.range_has_free(fd, a.start_nc_index, a.end_nc_index))
    a.nc_count = 1;
  const emu::abi::CrwlNcMapExt asked = a;
  const std::int64_t r = send(pid, fd, emu::abi::kCrwlNcRangeMarkExt0, a);
  say() << pid << " fd " << fd << " mark " << asked.nc_count << " in " << asked.start_nc_index
        << ".." << asked.end_nc_index << " = " << r;
  note();
  std::uint32_t max = 0;
  std::array<std::uint64_t, 8> bitmap{};
  if (expected == 0)
    expected = model_.mark(pid, fd, asked.nc_count, asked.start_nc_index, asked.end_nc_index, &max,
                           &bitmap);
  same("CRWL_NC_RANGE_MARK", expected, r);
  if (r == 0 || r == -EBUSY) same("max_nc_available", max, a.max_nc_available);
  for (std::size_t i = 0; r == 0 && i < 8; ++i) same("bitmap", bitmap[i], a.bitmap[i]);
}

void Sequence::store(std::uint32_t pid, int fd) {
  emu::abi::DsInfo a;
  a.pid = below(2) ? 0 : static_cast<std::int32_t>(any_pid());
  const bool acquire = below(3) != 0;
  const std::int32_t which = a.pid;
  const std::int64_t r =
      send(pid, fd, acquire ? emu::abi::kAcquireNeuronDs : emu::abi::kReleaseNeuronDs, a);
  say() << pid << " fd " << fd << (acquire ? " acquire" : " release") << " store of " << which
        << " = " << r;
  note();
  int expected = model_.enter(pid, fd, Model::kDeviceLane, Model::kOpen);
  Store* slot = nullptr;
  if (expected == 0 && acquire) expected = model_.store_acquire(pid, fd, which, &slot);
  if (expected == 0 && !acquire) model_.store_release(pid, fd, which);
  same("data store", expected, r);
  if (r != 0 || !acquire) return;
  same("store size", 262144, a.size);
  if (slot->cookie == 0) {
    for (const Store& other : model_.device(fd).stores)
      if (other.cookie == a.mmap_offset) differ("two stores in one place");
    slot->cookie = a.mmap_offset;
  }
  same("store cookie", slot->cookie, a.mmap_offset);
  count(pid, fd, *slot);
}

// Counts in a store, and asks the statistics for it. Places of the counters as
// the description of the store gives them.
void Sequence::count(std::uint32_t pid, int fd, Store& store) {
  const auto core = static_cast<std::uint32_t>(below(model_.family().cores));
  const std::uint32_t counter = pick({1u, 30u, 31u, 40u});
  const std::size_t word = core > 3        ? 7248 + 96 * (core - 4) + counter
                           : counter <= 30 ? 32 + 31 * core + counter
                                           : 6992 + 64 * core + (counter - 31);
  void* address = nullptr;
  const bool write = model_.file(fd).writable;
  const int r = machine_->mmap(client(pid), fd, 262144, write ? 3 : 1, store.cookie, &address);
  ++requests_;
  same("mmap of a store", model_.file(fd).readable ? 0 : -EACCES, r);
  if (r != 0) return;
  if (write) {
    const std::uint64_t more = 1 + below(1000);
    static_cast<std::uint64_t*>(address)[word] += more;
    store.counters[core << 8 | counter] += more;
    say() << pid << " counts " << more << " at core " << core << " counter " << counter;
    note();
  }
  same("munmap of a store", 0, machine_->munmap(client(pid), address, 262144));
  static const std::map<std::uint32_t, const char*> kNames = {{1, "success"},
                                                              {30, "oob_error"},
                                                              {31, "hw_collectives_error"},
                                                              {40, "hw_repairable_hbm_ue_error"}};
  const std::string path = "/sys/class/neuron_device/neuron" +
                           std::to_string(model_.file(fd).device) + "/neuron_core" +
                           std::to_string(core) + "/stats/status/" + kNames.at(counter) + "/";
  for (const bool total : {false, true}) {
    char text[32] = {};
    const std::int64_t n =
        machine_->read_text((path + (total ? "total" : "present")).c_str(), text, sizeof text - 1);
    if (n < 2) differ("no statistics in " + path);
    const DeviceModel& d = model_.device(fd);
    same("statistics",
         total ? Model::total(d, core << 8 | counter) : Model::present(d, core << 8 | counter),
         std::strtoull(text, nullptr, 10));
  }
}

void Sequence::state(std::uint32_t pid, int fd) {
  int expected = model_.enter(pid, fd, Model::kDeviceLane, Model::kOpen);
  switch (below(3)) {
    case 0: {
      emu::abi::CinitSet a;
      a.nc_id = below(16) == 0 ? 8 : static_cast<std::uint32_t>(below(2));
      a.state = static_cast<std::uint32_t>(below(5));
      const std::uint32_t wanted = a.state;
      const std::int64_t r = send(pid, fd, emu::abi::kCinitSetState, a);
      say() << pid << " fd " << fd << " CINIT core " << a.nc_id << " to " << wanted << " = " << r;
      note();
      std::uint32_t now = 0;
      if (expected == 0) expected = model_.init_state(fd, a.nc_id, wanted, &now);
      same("CINIT_SET_STATE", expected, r);
      if (r == 0) same("new_state", now, a.new_state);
      return;
    }
    case 1: {
      emu::abi::DeviceReset a;
      a.nc_map = pick({0u, 1u, 2u, 3u, 0xFFu, UINT32_MAX, 0x100u});
      const std::uint32_t map = a.nc_map;
      const std::int64_t r = send(pid, fd, emu::abi::kNcReset, a);
      say() << pid << " fd " << fd << " NC_RESET " << map << " = " << r;
      note();
      if (expected == 0) expected = model_.reset(pid, fd, map);
      same("NC_RESET", expected, r);
      if (r == 0) same("request_id", pid, a.request_id);
      return;
    }
    default: {
      emu::abi::DeviceReady a;
      a.request_id = any_pid();
      const std::int64_t r = send(pid, fd, emu::abi::kNcResetReady, a);
      say() << pid << " fd " << fd << " NC_RESET_READY " << a.request_id << " = " << r;
      note();
      same("NC_RESET_READY", expected, r);
      if (r == 0) same("result", model_.ready(fd, a.request_id), a.result);
    }
  }
}

}  // namespace opennrt::sequences
