// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <numeric>
#include <thread>

#include "lab.h"
#include "ndl-common/record/arguments.h"
#include "ndl-common/record/mappings.h"
#include "ndl-common/record/recorder.h"

namespace opennrt::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using trace::Line;
using trace::Value;

constexpr uint32_t kUnknownCode = 0x4E01 + 0xC0;

class Recording : public ::testing::Test {
 protected:
  Recording() : path(scratch.file("r.trace")) { host.settings["ndl.record"] = path; }

  Scratch scratch;
  std::string path;
  Host host;
  Driver driver;
};

std::string outs_of(const Line& line) {
  std::string text;
  trace::append(&text, line.outs);
  return text;
}
std::string args_of(const Line& line) {
  std::string text;
  trace::append(&text, line.args);
  return text;
}

TEST_F(Recording, OffTheLayerWorksOnThePortItWasGiven) {
  host.settings.clear();
  const nrtp_sys_port* port = driver.port();
  void* ctx = driver.ctx();
  ndl::begin_recording(&host.table, "n", &port, &ctx);
  EXPECT_EQ(port, driver.port());
  EXPECT_EQ(ctx, driver.ctx());
  ndl::end_recording(port, ctx);
  host.settings["ndl.record"] = "";
  ndl::begin_recording(&host.table, "n", &port, &ctx);
  EXPECT_EQ(port, driver.port());
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(Recording, WritesEveryCallByName) {
  {
    Layer layer(host, driver.port(), driver.ctx());
    ASSERT_EQ(layer.result, 0);
    const uint64_t dev = layer.open();
    const uint64_t mem = layer.alloc(dev, 5000);
    void* va = nullptr;
    EXPECT_EQ(layer.ops->mem->map(layer.ctx, mem, &va), 0);
    EXPECT_EQ(layer.ops->mem->unmap(layer.ctx, mem), 0);
    driver.fail(ndl_test::kMemFreeCode, -EBUSY);
    EXPECT_EQ(layer.ops->mem->free(layer.ctx, mem), -EBUSY);
    char product[64];
    EXPECT_EQ(layer.ops->probe->product_name(layer.ctx, product, sizeof product), 0);
    EXPECT_EQ(layer.ops->device->close(layer.ctx, dev), 0);
  }
  EXPECT_EQ(host.log(), "");
  const std::string text = Scratch::read(path);
  EXPECT_THAT(text,
              StartsWith("# opennrt port trace 1 pid=" + std::to_string(getpid()) + " start="));
  EXPECT_THAT(text, HasSubstr(" ndl=\"ndl-kernel\" port=\"fake\" runtime="));
  const trace::Trace recording = trace_of(path);
  ASSERT_EQ(recording.sessions.size(), 1u);
  EXPECT_TRUE(recording.sessions[0].ended);
  EXPECT_FALSE(recording.cut);
  std::vector<std::string> lines;
  for (const Line& line : recording.sessions[0].lines) {
    EXPECT_EQ(line.thread, 0u);
    std::string results = outs_of(line);
    lines.push_back(line.call + " " + args_of(line) + " -> " + std::to_string(line.result) +
                    (results.empty() ? "" : " ") + results);
  }
  EXPECT_THAT(
      lines,
      ElementsAre(
          "open path=\"/dev/neuron0\" flags=2 -> 100",
          "DEVICE_INFO fd=100 -> 0 architecture=3 revision=240 connected_device_count=2 "
          "connected_devices=[1,7,0*6] bar_address=[0x20000000000,0] bar_size=[0x10000000,0]",
          "MEM_ALLOC_V2MT64 fd=100 size=5000 align=0 host_memory=1 dram_channel=0 dram_region=0 "
          "nc_id=0 mem_type=2 -> 0 mem_handle=1",
          "MEM_GET_INFO fd=100 mem_handle=1 -> 0 mmap_offset=0x100000 pa=0x100000",
          "mmap fd=100 bytes=8192 prot=3 offset=0x100000 -> 0 map=1",
          "munmap map=1 bytes=8192 -> 0", "MEM_FREE fd=100 mem_handle=1 -> -16",
          "read_text path=\"/sys/devices/virtual/dmi/id/product_name\" n=128 -> 14 "
          "text=\"trn2.48xlarge\\n\"",
          "close fd=100 -> 0"));
}

TEST_F(Recording, BuffersInAreDigestsAndOutAreKept) {
  std::vector<uint8_t> data(300);
  std::iota(data.begin(), data.end(), uint8_t{1});
  {
    Layer layer(host, driver.port(), driver.ctx());
    const uint64_t dev = layer.open(), mem = layer.alloc(dev, 4096);
    EXPECT_EQ(layer.ops->copy->in(layer.ctx, mem, 0, data.data(), data.size()), 0);
    EXPECT_EQ(layer.ops->copy->in(layer.ctx, mem, 8, data.data(), 4), 0);
    std::vector<uint8_t> back(300);
    EXPECT_EQ(layer.ops->copy->out(layer.ctx, mem, 0, back.data(), back.size()), 0);
    driver.fail(0xC0284E18, -EIO);
    EXPECT_LT(layer.ops->copy->out(layer.ctx, mem, 0, back.data(), back.size()), 0);
  }
  const auto copies = calls(trace_of(path), "MEM_BUF_COPY64");
  ASSERT_EQ(copies.size(), 4u);
  const Value& in = *find(copies[0].args, "buffer");
  EXPECT_EQ(in.keep, Value::Keep::kDigest);
  EXPECT_EQ(in.length, 300u);
  EXPECT_EQ(in.crc, trace::crc32(data.data(), 300));
  EXPECT_EQ(to_text(*find(copies[1].args, "buffer")), "x:01020304");
  EXPECT_EQ(find(copies[2].args, "buffer"), nullptr);
  const Value& out = *find(copies[2].outs, "buffer");
  std::copy_n(data.data(), 4, data.data() + 8);  // the second copy
  EXPECT_EQ(out.keep, Value::Keep::kWhole);
  EXPECT_EQ(out.text, std::string(data.begin(), data.end()));
  EXPECT_EQ(copies[3].result, -EIO);
  EXPECT_EQ(find(copies[3].outs, "buffer"), nullptr);  // nothing was filled
}

TEST_F(Recording, MemoryThatTheDeviceChangesIsSeen) {
  std::string seen;
  {
    Layer layer(host, driver.port(), driver.ctx());
    const uint64_t dev = layer.open(), mem = layer.alloc(dev, 8192);
    void* va = nullptr;
    ASSERT_EQ(layer.ops->mem->map(layer.ctx, mem, &va), 0);
    auto* bytes = static_cast<uint8_t*>(va);
    driver.on_sleep = [&] { bytes[4096] = 0xAB; };
    layer.ops->misc->sleep_us(layer.ctx, 10);
    driver.on_sleep = nullptr;
    layer.ops->misc->sleep_us(layer.ctx, 10);  // nothing new
    driver.on(0x80084E29, 12, [&](void*) {     // SEMAPHORE_INCREMENT
      bytes[0] = 1;
      bytes[1000] = 2;
      return int64_t{0};
    });
    EXPECT_EQ(layer.ops->sync->sem_inc(layer.ctx, dev, 0, 1, 1), 0);
    bytes[8191] = 7;  // the program itself
    EXPECT_EQ(layer.ops->sync->sem_inc(layer.ctx, dev, 0, 1, 1), 0);
    EXPECT_EQ(layer.ops->mem->free(layer.ctx, mem), 0);
  }
  std::vector<std::string> lines;
  const trace::Trace recording = trace_of(path);
  for (const Line& line : recording.sessions[0].lines)
    if (line.is_memory() || line.call == "SEMAPHORE_INCREMENT")
      lines.push_back(line.is_memory() ? args_of(line) : line.call);
  EXPECT_THAT(lines, ElementsAre("seen=\"wait\" map=1 offset=4096 data=x:ab00000000000000",
                                 "SEMAPHORE_INCREMENT",
                                 "seen=\"call\" map=1 offset=0 data=x:0100000000000000",
                                 "seen=\"call\" map=1 offset=1000 data=x:0200000000000000",
                                 "seen=\"before\" map=1 offset=8184 data=x:0000000000000007",
                                 "SEMAPHORE_INCREMENT"));
}

TEST_F(Recording, LargeAndRegisterMappingsAreNotWatched) {
  driver.on(0xC0204E70, 32, [](void* arg) {  // RESOURCE_MMAP_INFO
    ndl_test::put<uint64_t>(arg, 16, 0xABC000);
    ndl_test::put<uint64_t>(arg, 24, 4096);
    return int64_t{0};
  });
  {
    Layer layer(host, driver.port(), driver.ctx());
    const uint64_t dev = layer.open();
    void* va = nullptr;
    EXPECT_EQ(layer.ops->mem->map(layer.ctx, layer.alloc(dev, trace::kMostWatched), &va), 0);
    EXPECT_EQ(layer.ops->mem->map(layer.ctx, layer.alloc(dev, trace::kMostWatched + 4096), &va), 0);
    EXPECT_EQ(layer.ops->mem->map(layer.ctx, layer.alloc(dev, 4096, /*host=*/0), &va), 0);
    uint64_t bytes = 0;
    EXPECT_EQ(layer.ops->reg->map_region(layer.ctx, dev, 0, 0, 0, &va, &bytes), 0);
  }
  std::vector<std::string> outs;
  for (const Line& line : calls(trace_of(path), "mmap")) outs.push_back(outs_of(line));
  EXPECT_THAT(outs,
              ElementsAre("map=1", "map=2 unwatched=1", "map=3 unwatched=1", "map=4 unwatched=1"));
}

TEST(Watching, EndsAtTheSum) {
  constexpr uint64_t kMost = trace::kMostWatchedTogether / trace::kMostWatched;
  constexpr uint64_t kRoom = (kMost + 2) * trace::kMostWatched;
  void* room = ::mmap(nullptr, kRoom, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(room, MAP_FAILED);
  auto* at = static_cast<uint8_t*>(room);
  trace::Mappings mappings;
  bool watched = false;
  const auto add = [&](uint64_t i, trace::Mappings::Watch watch) {
    return mappings.add(at + i * trace::kMostWatched, trace::kMostWatched, watch, &watched);
  };
  using Watch = trace::Mappings::Watch;
  for (uint64_t i = 0; i < kMost; ++i) {
    EXPECT_EQ(add(i, Watch::kAlways), i + 1);
    EXPECT_TRUE(watched);
  }
  add(kMost, Watch::kAlways);
  EXPECT_FALSE(watched);
  EXPECT_EQ(mappings.remove(at), 1u);
  EXPECT_EQ(mappings.remove(at), 0u);
  add(kMost + 1, Watch::kOnce);
  EXPECT_TRUE(watched);
  at[(kMost + 1) * trace::kMostWatched] = 1;
  at[kMost * trace::kMostWatched] = 1;  // not watched
  std::vector<trace::Change> changes;
  mappings.changes(true, &changes);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].map, kMost + 2);
  at[(kMost + 1) * trace::kMostWatched] = 2;  // only what it held at first
  changes.clear();
  mappings.changes(true, &changes);
  EXPECT_TRUE(changes.empty());
  EXPECT_TRUE(mappings.holds(reinterpret_cast<uintptr_t>(at) + trace::kMostWatched, 8));
  EXPECT_FALSE(mappings.holds(reinterpret_cast<uintptr_t>(at) + 8, 8));  // removed
  ::munmap(room, kRoom);
}

TEST(Watching, LargeMappingsAreLookedAtWithTheSmallOnes) {
  constexpr uint64_t kLarge = 2 * trace::kMostSmall;
  std::vector<uint64_t> small(512), large(kLarge / 8);
  using Watch = trace::Mappings::Watch;
  trace::Mappings mappings;
  bool watched = false;
  large[8191] = 1;  // held when mapped
  mappings.add(small.data(), 4096, Watch::kAlways, &watched);
  mappings.add(large.data(), kLarge, Watch::kAlways, &watched);
  std::vector<trace::Change> changes;
  using Places = std::vector<std::pair<uint64_t, uint64_t>>;
  const auto look = [&](bool all) {
    changes.clear();
    mappings.changes(all, &changes);
    Places places;
    for (const trace::Change& change : changes) places.emplace_back(change.map, change.offset);
    std::sort(places.begin(), places.end());
    return places;
  };
  EXPECT_EQ(look(false), (Places{{2, 8191 * 8}}));
  for (uint64_t word : {0, 511, 512, 16383}) large[word] = 5;
  EXPECT_EQ(look(false), Places{});
  small[3] = 1;
  EXPECT_EQ(look(false), (Places{{1, 24}, {2, 0}, {2, 511 * 8}, {2, 16383 * 8}}));
  EXPECT_EQ(changes[2].bytes.size(), 16u);  // 511 and 512 together
  large[100] = 9;
  EXPECT_EQ(look(true), (Places{{2, 800}}));
  EXPECT_EQ(look(true), Places{});
}

TEST_F(Recording, RequestsThatTheInterfaceDoesNotKnow) {
  const nrtp_sys_port* port = driver.port();
  void* ctx = driver.ctx();
  ndl::begin_recording(&host.table, "n", &port, &ctx);
  ASSERT_NE(port, driver.port());
  const int fd = port->open(ctx, "/dev/neuron0", NRTP_OPEN_READ);
  EXPECT_EQ(port->ioctl(ctx, fd, kUnknownCode, 0), 0);
  EXPECT_EQ(port->open(ctx, "/dev/neuron9", NRTP_OPEN_READ), -ENOENT);
  EXPECT_EQ(port->exists(ctx, "/dev/neuron0"), 1);
  // Not followed, told.
  EXPECT_EQ(port->ioctl(ctx, fd, 0x80084E01, 8), 0);
  EXPECT_EQ(port->close(ctx, fd), 0);
  ndl::end_recording(port, ctx);
  const trace::Trace recording = trace_of(path);
  const auto unknown = calls(recording, "ioctl");
  ASSERT_EQ(unknown.size(), 2u);
  EXPECT_EQ(args_of(unknown[0]), "fd=100 code=20161");
  EXPECT_EQ(calls(recording, "open")[1].result, -ENOENT);
}

TEST_F(Recording, PointersThatLeadNowhereAreNotFollowed) {
  const trace::UserMemory memory;
  const ndl::RequestShape& shape = *ndl::find_shape("MEM_BUF_COPY64");
  ndl::ndl_buf_copy arg{1, reinterpret_cast<void*>(uintptr_t{16}), 100, 0, 1, 0};
  const auto at = reinterpret_cast<uintptr_t>(&arg);
  std::string text;
  trace::append(&text, trace::inputs(shape, at, memory));
  EXPECT_EQ(text, "mem_handle=1 buffer=unreadable:100 size=100 offset=0 copy_to_mem_handle=1");
  arg.bytes = ~uint64_t{0};
  arg.buffer = &arg;
  EXPECT_EQ(to_text(*find(trace::inputs(shape, at, memory), "buffer")),
            "unreadable:18446744073709551615");
  arg.buffer = nullptr;
  EXPECT_EQ(to_text(*find(trace::inputs(shape, at, memory), "buffer")), "null");
  EXPECT_EQ(to_text(trace::inputs(shape, 16, memory)[0].second), "unreadable:40");
  EXPECT_EQ(to_text(trace::inputs(shape, 0, memory)[0].second), "unreadable:40");
}

TEST_F(Recording, BuffersInsideBatches) {
  const trace::UserMemory memory;
  const ndl::RequestShape& shape = *ndl::find_shape("MEM_BUF_ZEROCOPY64_BATCHES");
  char one[3] = {1, 2, 3}, two[2] = {4, 5};
  const ndl::ndl_zerocopy_op ops[2] = {{0, 3, one}, {16, 2, two}};
  const ndl::ndl_zerocopy_batch batch{9, 0, ops, 2, 0, 0, &one};
  ndl::ndl_zerocopy_batches arg{5, &batch, 1, /*to_device=*/1, 0, -1, 0, 0};
  const auto at = reinterpret_cast<uintptr_t>(&arg);
  const auto text = [](const trace::Fields& fields) {
    std::string out;
    trace::append(&out, fields);
    return out;
  };
  EXPECT_EQ(text(trace::inputs(shape, at, memory)),
            "sequence_num=5 batches_ptr=[{mem_handle=9 mem_handle_offset=0 ops_ptr=[{offset=0 "
            "size=3 buffer=x:010203},{offset=16 size=2 buffer=x:0405}] num_ops=2 "
            "bar4_wr_threshold=0 flags=0 context=addr}] num_batches=1 is_copy_to_device=1 "
            "h2t_qid=-1 flags=0");
  EXPECT_EQ(text(trace::outputs(shape, at, true, memory)), "");
  // From the device: kept, and written back.
  arg.to_device = 0;
  const trace::Fields outs = trace::outputs(shape, at, true, memory);
  EXPECT_EQ(text(outs), "batches_ptr=[{ops_ptr=[{buffer=x:010203},{buffer=x:0405}]}]");
  std::memset(one, 0, sizeof one);
  std::memset(two, 0, sizeof two);
  std::string error;
  EXPECT_EQ(trace::store(shape, at, outs, memory, &error), 0) << error;
  EXPECT_THAT(one, ElementsAre(1, 2, 3));
  EXPECT_THAT(two, ElementsAre(4, 5));
  EXPECT_EQ(trace::store(shape, at, trace::outputs(shape, at, false, memory), memory, &error), 0);
}

TEST_F(Recording, WhatDoesNotFitTheArgumentIsNotWritten) {
  const trace::UserMemory memory;
  const auto refused = [&](const char* name, auto& arg, const std::string& outs) {
    trace::Reader reader(outs);
    trace::Fields fields;
    EXPECT_TRUE(reader.fields(&fields)) << reader.error();
    std::string error;
    const auto before = arg;
    EXPECT_EQ(trace::store(*ndl::find_shape(name), reinterpret_cast<uintptr_t>(&arg), fields,
                           memory, &error),
              -EINVAL)
        << outs;
    EXPECT_EQ(std::memcmp(&before, &arg, sizeof arg), 0) << outs;
    return error;
  };
  char buffer[4] = {};
  ndl::ndl_buf_copy copy{1, buffer, 4, 0, 0, 0};
  EXPECT_THAT(refused("MEM_BUF_COPY64", copy, "buffer=x:0102030405"), HasSubstr("room for 4"));
  EXPECT_THAT(refused("MEM_BUF_COPY64", copy, "buffer=7"), HasSubstr("no bytes"));
  EXPECT_THAT(refused("MEM_BUF_COPY64", copy, "buffer=cut:99:00000000:AAAA"),
              HasSubstr("3 of 99 bytes"));
  EXPECT_THAT(refused("MEM_BUF_COPY64", copy, "size=9"), HasSubstr("size is nothing"));
  EXPECT_THAT(refused("MEM_BUF_COPY64", copy, "nothing=9"), HasSubstr("nothing is no field"));
  copy.to_device = 1;
  EXPECT_THAT(refused("MEM_BUF_COPY64", copy, "buffer=x:01"), HasSubstr("nothing that the driver"));
  copy = {1, nullptr, 4, 0, 0, 0};
  EXPECT_THAT(refused("MEM_BUF_COPY64", copy, "buffer=x:01"), HasSubstr("leads nowhere"));
  ndl::ndl_device_info info{};
  EXPECT_THAT(refused("DEVICE_INFO", info, "connected_devices=[1*9]"), HasSubstr("does not fit"));
  EXPECT_THAT(refused("DEVICE_INFO", info, "connected_devices=[x:00]"), HasSubstr("no numbers"));
  EXPECT_THAT(refused("DEVICE_INFO", info, "architecture=\"3\""), HasSubstr("does not fit"));
  const ndl::ndl_zerocopy_batch batch{};
  ndl::ndl_zerocopy_batches batches{0, &batch, 1, 0, 0, 0, 0, 0};
  EXPECT_THAT(refused("MEM_BUF_ZEROCOPY64_BATCHES", batches, "batches_ptr=x:ff"),
              HasSubstr("does not fit"));
  EXPECT_THAT(refused("MEM_BUF_ZEROCOPY64_BATCHES", batches, "batches_ptr=[{mem_handle=3}]"),
              HasSubstr("mem_handle is nothing"));
  EXPECT_THAT(refused("MEM_BUF_ZEROCOPY64_BATCHES", batches, "batches_ptr=[{},{}]"),
              HasSubstr("does not fit"));
  std::string error;
  copy = {1, reinterpret_cast<void*>(uintptr_t{16}), 4, 0, 0, 0};
  EXPECT_EQ(trace::store(*ndl::find_shape("MEM_BUF_COPY64"), reinterpret_cast<uintptr_t>(&copy),
                         {{"buffer", Value::of_bytes("ab", 2, 0)}}, memory, &error),
            -EFAULT);
}

// Every request with a struct: what is read from a filled argument can be
// written into an empty one.
TEST_F(Recording, OutputsOfEveryRequestGoRoundTrip) {
  const trace::UserMemory memory;
  size_t fields = 0;
  for (const ndl::RequestShape& shape : ndl::request_shapes()) {
    SCOPED_TRACE(shape.name());
    if (shape.code == ndl::kZerocopyBatches) continue;  // has its own test
    std::vector<uint8_t> target(4096), filled(shape.arg_bytes() + 4096), empty(filled.size());
    std::iota(filled.begin(), filled.end(), uint8_t{1});
    for (const ndl::Field& field : shape.fields) {
      const auto set = [&](const ndl::Spot& spot, uint64_t value) {
        for (auto* argument : {&filled, &empty})
          std::memcpy(argument->data() + spot.offset, &value, spot.element_bytes);
      };
      if (ndl::leads_elsewhere(field.kind))
        set(field.spot, reinterpret_cast<uintptr_t>(&target[0]));
      if (field.extent.count.bytes) set(field.extent.count, 2);
      if (field.direction.bytes) set(field.direction, 0);
    }
    std::iota(target.begin(), target.end(), uint8_t{3});
    const auto outs =
        trace::outputs(shape, reinterpret_cast<uintptr_t>(filled.data()), true, memory);
    std::fill(target.begin(), target.end(), uint8_t{0});
    std::string error;
    EXPECT_EQ(trace::store(shape, reinterpret_cast<uintptr_t>(empty.data()), outs, memory, &error),
              0)
        << error;
    const auto again =
        trace::outputs(shape, reinterpret_cast<uintptr_t>(empty.data()), true, memory);
    EXPECT_THAT(trace::differences(nullptr, outs, again), ::testing::IsEmpty());
    fields += outs.size();
  }
  EXPECT_GT(fields, 90u);
}

TEST_F(Recording, FilesThatCannotBeWrittenAreReportedOnce) {
  const std::string cases[] = {scratch.file("none/r.trace"), scratch.file("."), "/dev/full"};
  for (const std::string& bad : cases) {
    SCOPED_TRACE(bad);
    host.lines.clear();
    host.settings["ndl.record"] = bad;
    Layer layer(host, driver.port(), driver.ctx());
    ASSERT_EQ(layer.result, 0);
    const uint64_t dev = layer.open();
    layer.alloc(dev, 4096);
    layer.detach();
    EXPECT_EQ(host.errors().size(), 1u) << host.log();
    EXPECT_THAT(host.log(), HasSubstr("ndl.record: " + bad));
  }
  host.lines.clear();
  host.settings["ndl.record"] = std::string(5000, 'x');
  Layer layer(host, driver.port(), driver.ctx());
  EXPECT_EQ(layer.result, 0);
  EXPECT_THAT(host.log(), HasSubstr("too long"));
}

TEST_F(Recording, AFullDiskEndsTheFileWithAWholeLine) {
  rlimit old{};
  getrlimit(RLIMIT_FSIZE, &old);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{600, old.rlim_max};
  {
    Layer layer(host, driver.port(), driver.ctx());
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const uint64_t dev = layer.open();
    for (int i = 0; i < 20; ++i) layer.alloc(dev, 4096);
    setrlimit(RLIMIT_FSIZE, &old);
  }
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(host.errors().size(), 1u) << host.log();
  EXPECT_THAT(host.log(), HasSubstr("the recording ends here, the run goes on"));
  const std::string text = Scratch::read(path);
  EXPECT_LE(text.size(), 600u);
  EXPECT_EQ(text.back(), '\n');
  EXPECT_FALSE(trace_of(path).cut);
  EXPECT_FALSE(trace_of(path).sessions[0].ended);
}

TEST_F(Recording, FilesOfOthersAreLeftAlone) {
  scratch.write("r.trace", "my thesis\n");
  Layer layer(host, driver.port(), driver.ctx());
  layer.open();
  layer.detach();
  EXPECT_THAT(host.log(), HasSubstr("exists and is no recording"));
  EXPECT_EQ(Scratch::read(path), "my thesis\n");
  // A recording of another process is replaced.
  scratch.write("r.trace", "# opennrt port trace 1 pid=1 start=1 ndl=\"old\"\n");
  Layer second(host, driver.port(), driver.ctx());
  second.detach();
  EXPECT_THAT(Scratch::read(path), ::testing::Not(HasSubstr("old")));
}

TEST_F(Recording, SecondAttachOfAProcessGoesOnInTheFile) {
  for (int i = 0; i < 2; ++i) {
    Layer layer(host, driver.port(), driver.ctx());
    layer.open();
  }
  const trace::Trace recording = trace_of(path);
  ASSERT_EQ(recording.sessions.size(), 2u);
  EXPECT_EQ(calls(recording, "open", 0).size(), 1u);
  EXPECT_EQ(calls(recording, "open", 1).size(), 1u);
}

TEST_F(Recording, TwoAtOnceNeedTwoFiles) {
  Layer first(host, driver.port(), driver.ctx());
  Layer second(host, driver.port(), driver.ctx());
  EXPECT_THAT(host.log(), HasSubstr("%p in its name"));
  host.lines.clear();
  host.settings["ndl.record"] = scratch.file("%p.trace");
  Layer third(host, driver.port(), driver.ctx());
  third.detach();
  EXPECT_EQ(host.log(), "");
  EXPECT_TRUE(std::filesystem::exists(scratch.file(std::to_string(getpid()) + ".trace")));
}

TEST_F(Recording, AProcessThatDiesLeavesWhatItDid) {
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    Layer layer(host, driver.port(), driver.ctx());
    uint64_t dev = 0;
    layer.ops->device->open(layer.ctx, 0, &dev, nullptr);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  const trace::Trace recording = trace_of(path);
  ASSERT_EQ(recording.sessions.size(), 1u);
  EXPECT_FALSE(recording.sessions[0].ended);
  EXPECT_EQ(calls(recording, "DEVICE_INFO").size(), 1u);
}

TEST_F(Recording, AForkedChildWritesNothing) {
  auto layer = std::make_unique<Layer>(host, driver.port(), driver.ctx());
  layer->open();
  const std::string before = Scratch::read(path);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    layer->detach();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Scratch::read(path), before);
  layer.reset();
  EXPECT_TRUE(trace_of(path).sessions[0].ended);
}

TEST_F(Recording, ThreadsWriteWholeLines) {
  constexpr int kThreads = 6, kRounds = 40;
  {
    Layer layer(host, driver.port(), driver.ctx());
    const uint64_t dev = layer.open(), shared = layer.alloc(dev, 4096);
    void* va = nullptr;
    ASSERT_EQ(layer.ops->mem->map(layer.ctx, shared, &va), 0);
    auto* words = static_cast<uint32_t*>(va);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < kRounds; ++i) {
          const uint64_t mem = layer.alloc(dev, 4096);
          words[t] = static_cast<uint32_t>(i);  // while others look at it
          layer.ops->misc->sleep_us(layer.ctx, 1);
          void* own = nullptr;
          EXPECT_EQ(layer.ops->mem->map(layer.ctx, mem, &own), 0);
          EXPECT_EQ(layer.ops->mem->free(layer.ctx, mem), 0);
        }
      });
    for (std::thread& thread : threads) thread.join();
  }
  const trace::Trace recording = trace_of(path);
  std::map<uint32_t, int> per_thread;
  for (const Line& line : calls(recording, "MEM_FREE")) ++per_thread[line.thread];
  int whole = 0;
  for (const auto& [thread, count] : per_thread) whole += count >= kRounds;
  EXPECT_EQ(whole, kThreads);
}

}  // namespace
}  // namespace opennrt::test
