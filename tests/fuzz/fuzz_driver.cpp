// SPDX-License-Identifier: Apache-2.0
//
// The surface of the emulated driver: an input is a machine and a list of calls
// of up to four processes. Whatever they do, the books of the driver must add up,
// and when all of them are gone the machine must be as it was.
//
//   byte 0      silicon, devices, in-place memory, size of the channels
//   byte 1      driver release
//   then calls: an operation, then what it takes; what is missing reads as 0
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>

#include "cayman/table.h"
#include "device/device.h"
#include "driver/abi.h"
#include "driver/request.h"
#include "entries.h"
#include "sunda/table.h"
#include "support/arena_memory.h"
#include "support/driver_books.h"

namespace opennrt::fuzz {

namespace {

using namespace emu;

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::size_t kClients = 4, kArena = 1 << 18, kInner = 1 << 15;
constexpr std::uint32_t kFirstPid = 100;
constexpr std::size_t kMostCalls = 400;
constexpr std::size_t kCheckEvery = 32;

enum Operation : std::uint8_t {
  kOpen,
  kClose,
  kDuplicate,
  kExit,
  kRequest,
  kMap,
  kUnmap,
  kReadText,
  kWriteText,
  kAllocate,
  kFree,
  kCopy,
  kAsync,
  kAsyncWait,
  kNotify,
  kRing,
  kStart,
  kMark,
  kUnmark,
  kLock,
  kStore,
  kReset,
  kBars,
  kQuery,
  kFillUp,
  kOperations
};

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  bool empty() const { return at_ >= size_; }
  std::uint8_t byte() { return at_ < size_ ? data_[at_++] : 0; }
  std::uint32_t word() {
    std::uint32_t value = 0;
    for (int i = 0; i < 4; ++i) value = value << 8 | byte();
    return value;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_, at_ = 0;
};

struct Opened {
  std::uint32_t device = 0;
  bool device_lane = false;
  std::shared_ptr<int> file;  // shared by duplicates
};

struct View {
  std::size_t client = 0;
  void* address = nullptr;
  std::uint64_t bytes = 0;
};

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "fuzz_driver: %s\n", what.c_str());
  std::abort();
}

const nrtp_product* product_named(const nrtp_arch_plugin& arch, const std::string& name) {
  for (std::uint32_t i = 0; i < arch.n_products; ++i) {
    const auto* p = reinterpret_cast<const nrtp_product*>(
        reinterpret_cast<const char*>(arch.products) + std::size_t{i} * arch.product_stride);
    if (name == p->name) return p;
  }
  return nullptr;
}

class World {
 public:
  explicit World(Input& in) : in_(in), memory_(kArena) {
    const std::uint8_t shape = in.byte();
    MachineConfig config;
    config.arch = shape & 1 ? &cayman::plugin() : &sunda::plugin();
    config.product = product_named(*config.arch, shape & 1 ? "trn2.3xlarge" : "trn1.2xlarge");
    config.devices = 1 + (shape >> 1 & 1);
    // A channel of more than 1 GiB has a pool for small requests.
    config.hbm_bytes = shape & 4 ? 1056 * kMiB : 48 * kMiB;
    config.host_bytes = 48 * kMiB;
    config.memory_limit = 96 * kMiB;
    config.make_device = &Device::create;
    config.reader_patience = config.writer_patience = config.init_patience =
        std::chrono::milliseconds(0);
    config.driver = &kDriverPresets[in.byte() % std::size(kDriverPresets)];
    memory_.set_in_place((shape & 8) != 0);
    std::string error;
    machine_ = Machine::create(config, &error);
    if (!machine_) fail(error);
    for (std::uint32_t i = 0; i < kClients; ++i) clients_[i].pid = kFirstPid + i;
    handles_.fill(0);
    places_.fill(0);
  }

  void run() {
    for (std::size_t calls = 0; calls < kMostCalls && !in_.empty(); ++calls) {
      call(static_cast<Operation>(in_.byte() % kOperations));
      if (calls % kCheckEvery == 0) check(MachineBooks::check(*machine_));
    }
    check(MachineBooks::check(*machine_));
    for (std::size_t c = 0; c < kClients; ++c) leave(c);
    check(MachineBooks::check_idle(*machine_));
    for (std::uint32_t d = 0; d < machine_->devices(); ++d) {
      const std::string path = device_path(d) + "/reset";
      if (machine_->write_text(path.c_str(), "1") != 1)
        fail("a reset of an idle device is refused");
      if (const int fd = open(0, d, 2); fd < 0) fail("an idle device does not open");
    }
    leave(0);
    check(MachineBooks::check_fresh(*machine_));
  }

 private:
  static std::string device_path(std::uint32_t device) {
    return "/sys/class/neuron_device/neuron" + std::to_string(device);
  }
  void check(const std::string& wrong) {
    if (!wrong.empty()) fail(wrong);
    for (std::uint32_t d = 0; d < machine_->devices(); ++d) {
      std::map<std::uint32_t, std::uint32_t> attached;
      for (const Attach& slot : machine_->node(d)->attached)
        if (slot.count) attached[slot.pid] = slot.count;
      if (attached != attached_[d]) fail("the attach counts of device " + std::to_string(d));
    }
  }

  // --- processes and descriptors --------------------------------------------
  std::size_t client() { return in_.byte() % kClients; }
  // A live descriptor mostly, whoever opened it.
  int descriptor() {
    const std::uint8_t which = in_.byte();
    if (files_.empty() || which == 0xFF) return static_cast<int>(which) - 1;
    auto it = files_.begin();
    std::advance(it, which % files_.size());
    return it->first;
  }
  int open(std::size_t c, std::uint32_t device, std::uint32_t flags) {
    const int fd =
        machine_->open(clients_[c], ("/dev/neuron" + std::to_string(device)).c_str(), flags);
    if (fd < 0) return fd;
    if (device >= machine_->devices()) fail("a device that is not there opens");
    const bool device_lane = (flags & 1) == 0;
    if (!files_.emplace(fd, Opened{device, device_lane, std::make_shared<int>(0)}).second)
      fail("a descriptor is handed out twice");
    owner_[fd] = c;
    if (device_lane) ++attached_[device][clients_[c].pid];
    return fd;
  }
  void close(std::size_t c, int fd) {
    const int result = machine_->close(clients_[c], fd);
    const auto it = files_.find(fd);
    if (it == files_.end()) {
      if (result != -EBADF) fail("a descriptor that is not open closes");
      return;
    }
    if (result != 0) fail("close of an open descriptor fails");
    const Opened gone = it->second;
    files_.erase(it);
    owner_.erase(fd);
    if (!gone.device_lane) return;
    auto& counts = attached_[gone.device];
    if (const auto slot = counts.find(clients_[c].pid); slot != counts.end() && --slot->second == 0)
      counts.erase(slot);
    for (const auto& [other, file] : files_)
      if (file.device_lane && file.device == gone.device) return;
    counts.clear();  // nobody has the device open
  }
  // The process ends: its descriptors close, its mappings go.
  void leave(std::size_t c) {
    for (auto it = owner_.begin(); it != owner_.end();) {
      const auto [fd, who] = *it++;
      if (who == c) close(c, fd);
    }
    for (auto it = views_.begin(); it != views_.end();) {
      if (it->client != c) {
        ++it;
        continue;
      }
      if (machine_->munmap(clients_[c], it->address, it->bytes) != 0) fail("munmap of a mapping");
      it = views_.erase(it);
    }
  }

  // --- values ----------------------------------------------------------------
  std::uint64_t handle() { return handles_[in_.byte() % handles_.size()]; }
  std::uint64_t place() { return places_[in_.byte() % places_.size()]; }
  std::uint64_t pointer() {
    const std::uint8_t which = in_.byte();
    if (which == 0xFF) return memory_.base() + kArena - 8;  // runs out of the arena
    return memory_.base() + kInner + std::uint64_t{which} * 512;
  }
  std::uint64_t size() {
    static constexpr std::uint64_t kSizes[] = {0,
                                               1,
                                               4095,
                                               4096,
                                               4097,
                                               8192,
                                               65536,
                                               65537,
                                               1 << 19,
                                               (1 << 19) + 4096,
                                               kMiB,
                                               2 * kMiB,
                                               4 * kMiB,
                                               8 * kMiB,
                                               32 * kMiB,
                                               262144,
                                               1ull << 31,
                                               1ull << 32,
                                               INT64_MAX,
                                               UINT64_MAX,
                                               UINT64_MAX - 4095,
                                               133169152,
                                               133169153};
    return kSizes[in_.byte() % std::size(kSizes)];
  }
  std::uint64_t any() {
    switch (in_.byte() % 8) {
      case 0:
        return in_.byte();
      case 1:
        return handle();
      case 2:
        return place();
      case 3:
        return pointer();
      case 4:
        return size();
      case 5:
        return in_.word();
      case 6:
        return kFirstPid + in_.byte() % kClients;
      default:
        return std::uint64_t{in_.word()} << 32 | in_.byte();
    }
  }
  std::int64_t request(std::size_t c, int fd, std::uint32_t code) {
    return machine_->ioctl(clients_[c], memory_, fd, code, memory_.base());
  }
  template <typename T>
  std::int64_t send(std::uint32_t code, T& argument) {
    const std::size_t c = client();
    const int fd = descriptor();
    std::memcpy(memory_.at(0), &argument, sizeof argument);
    const std::int64_t result = request(c, fd, code);
    std::memcpy(&argument, memory_.at(0), sizeof argument);
    return result;
  }
  void keep(std::uint64_t handle) { handles_[next_handle_++ % handles_.size()] = handle; }

  void call(Operation operation);
  void any_request();
  void allocate();
  void map();

  Input& in_;
  ArenaMemory memory_;
  std::unique_ptr<Machine> machine_;
  std::array<Client, kClients> clients_;
  std::map<int, Opened> files_;
  std::map<int, std::size_t> owner_;
  std::array<std::map<std::uint32_t, std::uint32_t>, 2> attached_;
  std::vector<View> views_;
  std::array<std::uint64_t, 16> handles_, places_;
  std::size_t next_handle_ = 0, next_place_ = 0;
};

// Every request with an argument of values that mean something to some field.
void World::any_request() {
  const auto table = request_table();
  const RequestEntry& entry = table[in_.byte() % table.size()];
  const std::size_t c = client();
  const int fd = descriptor();
  for (std::size_t at = 0; at < 128; at += 8) {
    const std::uint8_t kind = in_.byte();
    std::uint64_t value = kind % 4 == 0 ? any() : 0;
    if (kind % 4 == 1) value = in_.byte() | std::uint64_t{in_.byte()} << 32;
    if (kind % 4 == 2) value = (any() & UINT32_MAX) | any() << 32;
    std::memcpy(memory_.at(at), &value, sizeof value);
  }
  // As much as a ring can take would be moved at once.
  if (entry.code == abi::kDmaQueueCopyStart)
    for (const std::size_t at : {8u, 12u})
      memory_.at(at)[1] = memory_.at(at)[2] = memory_.at(at)[3] = 0;
  if (entry.code == abi::kDmaQueueInitBatch) memory_.at(0)[1] &= 1;
  const bool bad = in_.byte() == 0xFF;
  const std::int64_t result =
      machine_->ioctl(clients_[c], memory_, fd, entry.code, bad ? 0x1000 : memory_.base());
  if (result < -4095) fail(std::string(entry.name) + " returns " + std::to_string(result));
  // Descriptors of memory leave the driver.
  if (entry.code == abi::kDmabufFd && result == 0 && !bad) {
    std::uint64_t where = 0;
    int given = -1;
    std::memcpy(&where, memory_.at(16), sizeof where);
    if (memory_.read(where, &given, sizeof given) == 0) ::close(given);
  }
}

void World::allocate() {
  abi::MemAllocV2MemType64 a;
  const std::uint8_t form = in_.byte();
  a.size = size();
  a.host_memory = form & 1;
  a.mem_type = form & 2 ? 19 : in_.byte() % 22;
  a.dram_channel = in_.byte() % 5;
  a.nc_id = form & 4 ? in_.byte() : 0;
  if (form & 8) a.align = size();
  a.mem_handle = form & 16 ? pointer() : memory_.base() + kInner;
  if (send(abi::kMemAllocV2mt64, a) != 0) return;
  std::uint64_t handle = 0;
  (void)memory_.read(a.mem_handle, &handle, sizeof handle);
  keep(handle);
  abi::MemGetPa where;
  where.mem_handle = handle;
  where.pa = memory_.base() + kInner;
  if (send(abi::kMemGetPa, where) == 0)
    (void)memory_.read(where.pa, &places_[next_place_++ % places_.size()], sizeof(std::uint64_t));
}

void World::map() {
  const std::size_t c = client();
  const int fd = descriptor();
  void* address = nullptr;
  const std::uint64_t bytes = in_.byte() & 1 ? size() : std::uint64_t{in_.byte()} * 4096;
  const std::uint32_t prot = in_.byte() & 3;
  const std::uint64_t offset = in_.byte() & 1 ? any() : place();
  if (machine_->mmap(clients_[c], fd, bytes, prot, offset, &address) != 0) return;
  views_.push_back({c, address, bytes});
  // What can be written can be written.
  if (prot == 3 && in_.byte() & 1) {
    abi::MemGetMcMmapInfoV2 info;
    info.pa = offset;
    if (send(abi::kMemMcGetInfoV2, info) == 0) keep(info.mem_handle);
  }
}

void World::call(Operation operation) {
  switch (operation) {
    case kOpen: {
      const std::size_t c = client();
      const std::uint8_t how = in_.byte();
      (void)open(c, how >> 2 & 3, how & 3);
      return;
    }
    case kClose: {
      const std::size_t c = client();
      close(c, descriptor());
      return;
    }
    case kDuplicate: {
      const std::size_t c = client();
      const int fd = descriptor();
      const int copy = machine_->duplicate(fd);
      if (copy < 0) return;
      const auto it = files_.find(fd);
      if (it == files_.end()) fail("a descriptor that is not open is duplicated");
      files_[copy] = it->second;
      owner_[copy] = c;
      return;
    }
    case kExit:
      leave(client());
      return;
    case kRequest:
      any_request();
      return;
    case kMap:
      map();
      return;
    case kUnmap: {
      const std::uint8_t which = in_.byte();
      if (views_.empty()) return;
      const View view = views_[which % views_.size()];
      if (in_.byte() == 0xFF) {
        if (machine_->munmap(clients_[view.client], view.address, view.bytes + 4096) == 0)
          fail("munmap of a part");
        return;
      }
      if (machine_->munmap(clients_[view.client], view.address, view.bytes) != 0)
        fail("munmap of a mapping");
      views_.erase(views_.begin() + which % views_.size());
      return;
    }
    case kReadText:
    case kWriteText: {
      static constexpr const char* kFiles[] = {
          "/core_count",
          "/reset",
          "/connected_devices",
          "/stats/memory_usage/host_mem/tensors/peak",
          "/neuron_core1/stats/status/success/total",
          "/neuron_core9/stats/status/success/total",
          "/neuron_core0/stats/memory_usage/device_mem/tensors/total",
          "/neuron_core0/stats/other_info/flop_count",
          "/neuron_core0/stats",
          "",
          "/neuron_core"};
      const std::string path = device_path(in_.byte() % 3) + kFiles[in_.byte() % std::size(kFiles)];
      if (operation == kWriteText) {
        (void)machine_->write_text(path.c_str(), "1");
        return;
      }
      char text[64];
      const std::size_t room = in_.byte() % sizeof text;
      const std::int64_t n = machine_->read_text(path.c_str(), text, room);
      if (n > static_cast<std::int64_t>(room)) fail("more text than there is room");
      if ((machine_->exists(path.c_str()) == 1) != (n >= 0)) fail("text of " + path);
      return;
    }
    case kAllocate:
      allocate();
      return;
    case kFree: {
      abi::MemFree a;
      a.mem_handle = handle();
      (void)send(abi::kMemFree, a);
      return;
    }
    case kCopy: {
      const std::uint8_t what = in_.byte();
      const std::uint64_t bytes = what & 8 ? size() : in_.byte();
      const std::uint64_t offset = what & 16 ? size() : 0;
      if (what % 3 == 0) {
        abi::MemBufCopy64 a;
        a.mem_handle = handle();
        a.buffer = pointer();
        a.size = bytes;
        a.offset = offset;
        a.copy_to_mem_handle = what >> 5 & 1;
        (void)send(abi::kMemBufCopy64, a);
      } else if (what % 3 == 1) {
        abi::MemCopy64 a;
        a.src_mem_handle = handle();
        a.dst_mem_handle = handle();
        a.size = bytes;
        a.src_offset = offset;
        (void)send(abi::kMemCopy64, a);
      } else {
        abi::MemBufCopy64zc a;
        a.mem_handle = handle();
        a.buffer = pointer();
        a.size = bytes;
        a.offset = offset;
        a.is_copy_to_device = what >> 5 & 1;
        a.bar4_wr_threshold = what & 64 ? 8192 : 0;
        a.h2t_qid = static_cast<std::int32_t>(in_.byte() % 18) - 1;
        (void)send(abi::kMemBufZerocopy64, a);
      }
      return;
    }
    case kAsync: {
      abi::MemCopyAsync64 a;
      a.src_mem_handle = handle();
      a.dst_mem_handle = handle();
      a.size = in_.byte();
      a.pwait_handle = static_cast<std::uint32_t>(in_.byte() % 5) - 1;
      (void)send(abi::kMemCopyAsync64, a);
      return;
    }
    case kAsyncWait: {
      abi::MemCopyAsyncWait a;
      a.src_mem_handle = handle();
      a.dst_mem_handle = handle();
      a.pwait_handle = in_.byte() % 4;
      (void)send(abi::kMemCopyAsyncWait, a);
      return;
    }
    case kNotify: {
      abi::NotificationsInitWithReallocV2 a;
      const std::uint8_t form = in_.byte();
      a.nq_dev_type = form & 1;
      a.nq_dev_id = in_.byte() % 18;
      a.nq_type = in_.byte() % 7;
      a.engine_index = in_.byte() % 18;
      a.size = form & 2 ? static_cast<std::uint32_t>(size()) : 4096u << (form >> 5);
      a.on_host_memory = form >> 2 & 1;
      a.dram_channel = in_.byte() % 5;
      a.force_alloc_mem = form >> 3 & 1;
      if (send(abi::kNotificationsInitWithReallocV2, a) == 0) keep(a.mem_handle);
      return;
    }
    case kRing: {
      abi::DmaQueueInit a;
      a.eng_id = in_.byte();
      a.qid = in_.byte() % 17;
      a.tx_desc_count = in_.byte() & 1 ? 64 : in_.word();
      a.rx_desc_count = in_.byte() & 1 ? 64 : in_.word();
      a.tx_handle = handle();
      a.rx_handle = handle();
      (void)send(abi::kDmaQueueInit, a);
      return;
    }
    case kStart: {
      abi::DmaQueueCopyStart a;
      a.eng_id = in_.byte();
      a.qid = in_.byte() % 17;
      a.tx_desc_count = in_.byte() % 66;
      a.rx_desc_count = in_.byte() % 66;
      (void)send(abi::kDmaQueueCopyStart, a);
      return;
    }
    case kMark: {
      abi::CrwlNcMapExt a;
      a.nc_count = in_.byte() % 24;
      a.start_nc_index = in_.byte() % 24;
      a.end_nc_index = a.start_nc_index + in_.byte() % 32;
      if (in_.byte() == 0xFF) a.end_nc_index = in_.word();
      (void)send(abi::kCrwlNcRangeMarkExt0, a);
      return;
    }
    case kUnmark: {
      abi::CrwlNcMapExt a;
      for (auto& word : a.bitmap) word = any();
      if (send(abi::kCrwlNcRangeUnmarkExt0, a) > 0) fail("unmark");
      return;
    }
    case kLock: {
      static constexpr std::uint32_t kCodes[] = {abi::kCrwlReaderEnter, abi::kCrwlReaderExit,
                                                 abi::kCrwlWriterEnter, abi::kCrwlWriterDowngrade};
      abi::Crwl a;
      a.nc_id = in_.byte() % 9;
      a.uuid.value[0] = in_.byte() & 1;
      (void)send(kCodes[in_.byte() % 4], a);
      return;
    }
    case kStore: {
      abi::DsInfo a;
      const std::uint8_t form = in_.byte();
      a.pid = form & 1 ? static_cast<std::int32_t>(kFirstPid + form % kClients) : 0;
      if (send(form & 2 ? abi::kReleaseNeuronDs : abi::kAcquireNeuronDs, a) == 0 && !(form & 2))
        places_[next_place_++ % places_.size()] = a.mmap_offset;
      return;
    }
    case kReset: {
      abi::DeviceReset a;
      a.nc_map = in_.byte() & 1 ? in_.word() : in_.byte();
      (void)send(abi::kNcReset, a);
      abi::DeviceReady ready;
      ready.request_id = kFirstPid + in_.byte() % kClients;
      if (in_.byte() & 1) (void)send(abi::kNcResetReady, ready);
      return;
    }
    case kBars: {
      abi::BarRw a;
      a.count = in_.byte() % 110;
      a.bar = in_.byte() % 3;
      a.address = pointer();
      a.data = pointer();
      const std::uint64_t address = (std::uint64_t{in_.byte()} << 24 | in_.word() >> 8) & ~3ull;
      std::memcpy(memory_.at(kInner), &address, sizeof address);
      (void)send(in_.byte() & 1 ? abi::kBarWrite : abi::kBarRead, a);
      return;
    }
    case kQuery: {
      abi::GetAppsInfo apps;
      apps.apps_info_flags = in_.byte();
      apps.capacity = in_.byte();
      (void)send(abi::kDeviceGetAllAppsInfo, apps);
      abi::DumpMemChunks dump;
      dump.hbm_index = in_.byte() % 6;
      dump.num_entries_in = in_.byte();
      dump.data = pointer();
      (void)send(abi::kDumpMemChunks, dump);
      return;
    }
    case kFillUp: {
      // Until no descriptor is left, then some go again.
      const std::size_t c = client();
      int last = 0;
      if (in_.byte() != 0xA5) return;
      while ((last = open(c, 0, 1)) >= 0) continue;
      if (last != -EMFILE || MachineBooks::free_descriptors(*machine_) != 0)
        fail("descriptors end with " + std::to_string(last));
      if (open((c + 1) % kClients, 0, 2) != -EMFILE) fail("one descriptor more");
      leave(c);
      return;
    }
    case kOperations:
      return;
  }
}

}  // namespace

void fuzz_driver(const std::uint8_t* data, std::size_t size) {
  Input in(data, size);
  World world(in);
  world.run();
}

namespace {

// Bytes of calls; clients and descriptors are 0 unless given.
std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text += static_cast<char>(value);
  return text;
}

std::string open_call(int client, int device, int flags) {
  return bytes({kOpen, client, device << 2 | flags});
}

}  // namespace

std::vector<std::string> seeds_driver() {
  const std::string two = open_call(0, 0, 2) + open_call(1, 0, 2);
  // form, size, type, channel; who and descriptor of the request; of the query.
  const std::string alloc = bytes({kAllocate, 0, 5, 9, 0, 0, 0, 0, 0});
  const std::string host = bytes({kAllocate, 1, 6, 2, 0, 0, 0, 0, 0});
  std::vector<std::string> seeds;
  for (int shape = 0; shape < 16; shape += 3) {
    const std::string head = bytes({shape, shape});
    seeds.push_back(head + two + alloc + host + bytes({kCopy, 0, 64, 0, 0, 0, 0}) +
                    bytes({kFree, 0, 0, 0}) + bytes({kFree, 1, 1, 1}) + bytes({kExit, 0}));
    seeds.push_back(head + two + host + bytes({kMap, 0, 0, 0, 16, 3, 0, 0, 1, 0, 0}) +
                    bytes({kFree, 0, 0, 0}) + host + bytes({kUnmap, 0, 0}) +
                    bytes({kStore, 0, 0, 0}) + bytes({kStore, 2, 0, 0}) + bytes({kExit, 1}));
    seeds.push_back(head + two + bytes({kDuplicate, 1, 0}) + alloc + bytes({kClose, 0, 0}) +
                    bytes({kClose, 1, 0}) + bytes({kReadText, 0, 1, 63}) +
                    bytes({kWriteText, 0, 1}) + open_call(2, 0, 0) +
                    bytes({kNotify, 4, 0, 1, 0, 0, 0, 0}) + bytes({kReset, 0, 1, 0, 0, 0, 1}));
    seeds.push_back(head + two + open_call(0, 0, 1) + bytes({kMark, 2, 0, 3, 0, 0, 2}) +
                    bytes({kMark, 1, 0, 7, 0, 1, 2}) + bytes({kLock, 0, 0, 2, 0, 0}) +
                    bytes({kLock, 0, 0, 3, 0, 0}) + bytes({kLock, 0, 0, 0, 0, 0}) + host + host +
                    bytes({kAsync, 0, 1, 64, 0, 0, 0}) + bytes({kAsync, 0, 1, 64, 2, 0, 0}) +
                    bytes({kAsyncWait, 0, 1, 2, 0, 0}) + bytes({kExit, 0}));
    seeds.push_back(head + two + host + bytes({kRing, 1, 2, 1, 1, 0, 0, 0, 0}) +
                    bytes({kStart, 1, 2, 1, 1, 0, 0}) + bytes({kBars, 3, 0, 0, 1, 0, 0, 0, 0}) +
                    bytes({kQuery, 3, 8, 0, 0, 0, 40, 2, 0, 0}) +
                    (shape == 3 ? bytes({kFillUp, 3, 0xA5}) : ""));
    std::string requests = head + two;
    for (int r = 0; r < 90; ++r)
      requests += bytes({kRequest, r, 0, 0, 0, 1, 0, 0, 3, 3, 0, 0, 2, 4, 5, 3, 3, 1, 0, 3, 3});
    seeds.push_back(requests);
  }
  return seeds;
}

}  // namespace opennrt::fuzz
