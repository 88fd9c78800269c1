// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <numeric>
#include <thread>

#include "lab.h"
#include "ndl-common/requests.h"
#include "port.h"

namespace opennrt::test {
namespace {

using ::testing::HasSubstr;

// What a program does; `bytes` and `value` are what may change.
struct Outcome {
  std::vector<int> results;
  std::vector<uint8_t> data;
  uint8_t first = 0, second = 0;
};

Outcome work(Layer& layer, Driver* driver, uint64_t bytes, uint8_t value) {
  Outcome out;
  uint64_t dev = 0, mem = 0;
  const auto note = [&](int result) { out.results.push_back(result); };
  note(layer.ops->device->open(layer.ctx, 0, &dev, nullptr));
  note(layer.ops->mem->alloc(layer.ctx, dev, bytes, 0, 1, 0, 0, 0, NRTP_MEM_TENSORS_HOST, &mem));
  std::vector<uint8_t> data(200, value);
  note(layer.ops->copy->in(layer.ctx, mem, 0, data.data(), data.size()));
  out.data.resize(200);
  note(layer.ops->copy->out(layer.ctx, mem, 0, out.data.data(), out.data.size()));
  void* va = nullptr;
  note(layer.ops->mem->map(layer.ctx, mem, &va));
  if (va != nullptr) {
    auto* at = static_cast<uint8_t*>(va);
    if (driver) driver->on_sleep = [at, n = 0]() mutable { at[8] = static_cast<uint8_t>(++n); };
    layer.ops->misc->sleep_us(layer.ctx, 1);
    out.first = at[8];
    layer.ops->misc->sleep_us(layer.ctx, 1);
    out.second = at[8];
    if (driver) driver->on_sleep = nullptr;
  }
  note(layer.ops->mem->free(layer.ctx, mem));
  uint64_t none = 0;
  note(layer.ops->device->open(layer.ctx, 9, &none, nullptr));
  note(dev ? layer.ops->device->close(layer.ctx, dev) : 0);
  return out;
}

class Replay : public ::testing::Test {
 protected:
  Replay() : path(scratch.file("r.trace")), port(replay::port_table(1)) {
    host.settings["replay.file"] = path;
  }
  ~Replay() override { detach(); }

  Outcome record(uint64_t bytes = 8192, uint8_t value = 5) {
    Host recording;
    recording.settings["ndl.record"] = path;
    Layer layer(recording, driver.port(), driver.ctx());
    Outcome out = work(layer, &driver, bytes, value);
    layer.detach();
    EXPECT_EQ(driver.open_count(), 0u);
    return out;
  }
  int attach() { return port->attach(&host.table, &ctx); }
  void detach() {
    if (ctx) port->detach(ctx);
    ctx = nullptr;
  }

  Scratch scratch;
  std::string path;
  Driver driver;
  Host host;
  const nrtp_sys_port* port;
  void* ctx = nullptr;
};

TEST_F(Replay, GivesTheSameAnswers) {
  const Outcome recorded = record();
  ASSERT_EQ(attach(), 0) << host.log();
  Layer layer(host, port, ctx);
  const Outcome replayed = work(layer, nullptr, 8192, 5);
  layer.detach();
  EXPECT_EQ(replayed.results, recorded.results);
  EXPECT_EQ(recorded.results[6], -ENOENT);
  EXPECT_EQ(replayed.data, recorded.data);
  EXPECT_EQ(replayed.data, std::vector<uint8_t>(200, 5));
  EXPECT_EQ(replayed.first, 1);  // one change per wait, as it was
  EXPECT_EQ(replayed.second, 2);
  for (const std::string& error : host.errors())
    EXPECT_THAT(error, HasSubstr("neuron9"));  // the layer's own word about the missing node
}

TEST_F(Replay, AChangedValueIsTheFirstDivergence) {
  record();
  ASSERT_EQ(attach(), 0);
  Layer layer(host, port, ctx);
  const Outcome changed = work(layer, nullptr, 12288, 5);
  EXPECT_EQ(changed.results[1], -EIO);
  layer.ops->device->close_all(layer.ctx);
  EXPECT_THAT(host.log(), HasSubstr(path + ":4: the run leaves the recording after 2 calls: "
                                           "MEM_ALLOC_V2MT64 with other values"));
  EXPECT_THAT(host.log(), HasSubstr(path + ":4:   size: recorded 8192, now 12288"));
  // Said once; all calls fail from then on.
  const std::string log = host.log();
  EXPECT_EQ(log.find("leaves the recording"), log.rfind("leaves the recording"));
  EXPECT_EQ(port->open(ctx, "/dev/neuron0", 0), -EIO);
  EXPECT_EQ(port->close(ctx, 100), -EIO);
  EXPECT_EQ(port->ioctl(ctx, 100, 0x4E01, 0), -EIO);
  EXPECT_EQ(port->exists(ctx, "/dev/neuron0"), -EIO);
  char text[8];
  EXPECT_EQ(port->read_text(ctx, "/sys/x", text, sizeof text), -EIO);
  void* va = nullptr;
  EXPECT_EQ(port->mmap(ctx, 100, 4096, 3, 0, &va), -EIO);
  EXPECT_EQ(port->munmap(ctx, &va, 4096), -EIO);
  EXPECT_EQ(port->control(ctx, "verify", text, sizeof text), -EIO);
  port->sleep_us(ctx, 1000000);  // does not wait that long
  EXPECT_EQ(host.log(), log);
}

TEST_F(Replay, ChangedDataIsToldByItsSum) {
  record();
  ASSERT_EQ(attach(), 0);
  Layer layer(host, port, ctx);
  EXPECT_EQ(work(layer, nullptr, 8192, 6).results[2], -EIO);
  EXPECT_THAT(host.log(), HasSubstr("buffer: recorded d:200:"));
}

TEST_F(Replay, AnotherCallIsToldWithBoth) {
  record();
  ASSERT_EQ(attach(), 0);
  Layer layer(host, port, ctx);
  char product[64];
  EXPECT_EQ(layer.ops->probe->product_name(layer.ctx, product, sizeof product), -EIO);
  EXPECT_THAT(host.log(), HasSubstr(":2: the run leaves the recording after 0 calls: recorded open "
                                    "path=\"/dev/neuron0\" flags=2, now read_text path="));
}

TEST_F(Replay, AskingOnBehindTheEndIsADivergence) {
  record();
  ASSERT_EQ(attach(), 0);
  Layer layer(host, port, ctx);
  work(layer, nullptr, 8192, 5);
  uint64_t dev = 0;
  EXPECT_EQ(layer.ops->device->open(layer.ctx, 0, &dev, nullptr), -EIO);
  EXPECT_THAT(host.log(), HasSubstr("has no further recorded call"));
}

TEST_F(Replay, EachAttachIsReplayedInItsTurn) {
  record(8192);
  record(4096);
  for (const uint64_t bytes : {8192, 4096, 8192}) {  // behind the last comes the first
    ASSERT_EQ(attach(), 0);
    {
      Layer layer(host, port, ctx);
      EXPECT_EQ(work(layer, nullptr, bytes, 5).results[1], 0) << bytes << host.log();
    }
    detach();
  }
  ASSERT_EQ(attach(), 0);
  {
    Layer layer(host, port, ctx);
    EXPECT_EQ(work(layer, nullptr, 4096, 5).results[1], 0) << host.log();
  }
  detach();
  // One port under two attaches of the driver layer, as `ndl: auto` makes them.
  ASSERT_EQ(attach(), 0);
  for (const uint64_t bytes : {8192, 4096}) {
    Layer layer(host, port, ctx);
    EXPECT_EQ(work(layer, nullptr, bytes, 5).results[1], 0) << bytes << host.log();
  }
}

TEST_F(Replay, ThreadsGetTheirParts) {
  constexpr int kThreads = 4;
  const auto run = [&](Layer& layer) {
    const uint64_t dev = layer.open();
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 20; ++i) {
          const uint64_t mem = layer.alloc(dev, (t + 1) * 4096);
          EXPECT_EQ(layer.ops->mem->free(layer.ctx, mem), 0);
          layer.ops->misc->sleep_us(layer.ctx, 1);
        }
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(layer.ops->device->close(layer.ctx, dev), 0);
  };
  {
    Host recording;
    recording.settings["ndl.record"] = path;
    Layer layer(recording, driver.port(), driver.ctx());
    run(layer);
  }
  ASSERT_EQ(attach(), 0);
  Layer layer(host, port, ctx);
  run(layer);
  EXPECT_EQ(host.log(), "");
}

TEST_F(Replay, QuestionsAreAnsweredWithWhatWasSaid) {
  scratch.write("r.trace",
                "# opennrt port trace 1 pid=7\n"
                "1 t0 @0 +0 control request=\"stuck\" -> 3 reply=\"0 1\"\n"
                "2 t0 @0 +0 exists path=\"/a\" -> 1\n"
                "3 t0 @0 +0 control request=\"stuck\" -> 3 reply=\"0 2\"\n"
                "4 t0 @0 +0 control request=\"bad\" -> -22 EINVAL\n");
  ASSERT_EQ(attach(), 0) << host.log();
  char reply[16] = {};
  EXPECT_EQ(port->exists(ctx, "/a"), 1);
  for (const char* want : {"0 1", "0 2", "0 2"}) {
    EXPECT_EQ(port->control(ctx, "stuck", reply, sizeof reply), 3);
    EXPECT_STREQ(reply, want);
  }
  EXPECT_EQ(port->control(ctx, "stuck", reply, 2), 3);
  EXPECT_STREQ(reply, "0");
  EXPECT_EQ(port->control(ctx, "bad", reply, sizeof reply), -EINVAL);
  EXPECT_EQ(port->control(ctx, "never asked", reply, sizeof reply), -EINVAL);
  EXPECT_EQ(host.log(), "");
}

TEST_F(Replay, RequestsThatTheInterfaceDoesNotKnow) {
  scratch.write("r.trace",
                "# opennrt port trace 1 pid=7\n"
                "1 t0 @0 +0 ioctl fd=5 code=0x14ec1 -> 77\n"
                "2 t0 @0 +0 ioctl fd=5 code=0x14ec2 -> 0\n");
  ASSERT_EQ(attach(), 0) << host.log();
  EXPECT_EQ(port->ioctl(ctx, 5, 0x14EC1, 0), 77);
  EXPECT_EQ(port->ioctl(ctx, 5, 0x14EC3, 0), -EIO);
  EXPECT_THAT(host.log(), HasSubstr("code: recorded 0x14ec2, now 0x14ec3"));
}

TEST_F(Replay, DmaBufDescriptorsBelongToThisProcess) {
  scratch.write("r.trace",
                "# opennrt port trace 1 pid=7\n"
                "1 t0 @0 +0 DMABUF_FD fd=5 va=addr size=4096 -> 0 fd=1\n");
  ASSERT_EQ(attach(), 0) << host.log();
  int32_t fd = -1;
  ndl::ndl_dmabuf arg{0x1000, 4096, &fd};
  EXPECT_EQ(port->ioctl(ctx, 5, ndl::kDmabuf, reinterpret_cast<uintptr_t>(&arg)), 0);
  ASSERT_GT(fd, 2);
  EXPECT_EQ(::close(fd), 0);
}

TEST_F(Replay, FilesThatCannotBeReplayed) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "r.trace:1: is empty"},
      {"# opennrt port trace 1 pid=7\n", "holds no call"},
      {"# opennrt port trace 1 pid=7", "holds no call"},
      {"# opennrt port trace 1 pid=7\n1 t0 @0 +0 open path=\"a\" flags=2 -> \n", "r.trace:2: "},
      {"# opennrt port trace 1 pid=7\n2 t0 @0 +0 close fd=1 -> 0\n1 t0 @0 +0 close fd=1 -> 0\n",
       "r.trace:3: sequence 1 behind 2"},
      {"\x7f"
       "ELF",
       "is no port trace"},
  };
  for (const auto& [text, why] : cases) {
    host.lines.clear();
    scratch.write("r.trace", text);
    EXPECT_LT(attach(), 0) << text;
    EXPECT_EQ(ctx, nullptr);
    EXPECT_EQ(host.errors().size(), 1u);
    EXPECT_THAT(host.log(), HasSubstr(why));
  }
  host.lines.clear();
  host.settings["replay.file"] = scratch.file("none");
  EXPECT_EQ(attach(), -ENOENT);
  EXPECT_THAT(host.log(), HasSubstr("none: No such file"));
  host.settings.clear();
  EXPECT_EQ(attach(), -EINVAL);
  EXPECT_THAT(host.log(), HasSubstr("OPENNRT_REPLAY_FILE"));
  EXPECT_EQ(replay::port_table(9), nullptr);
}

TEST_F(Replay, HostileLinesHarmNothing) {
  record();
  // A change outside its mapping, of no mapping, of no bytes; a text longer than its room.
  scratch.write("r.trace",
                "# opennrt port trace 1 pid=7\n"
                "1 t0 @0 +0 mmap fd=5 bytes=4096 prot=3 offset=0 -> 0 map=1\n"
                "2 t0 @0 +0 mem seen=\"map\" map=1 offset=4095 data=x:0102\n"
                "2 t0 @0 +0 mem seen=\"map\" map=1 offset=18446744073709551615 data=x:0102\n"
                "2 t0 @0 +0 mem seen=\"map\" map=9 offset=0 data=x:01\n"
                "2 t0 @0 +0 mem seen=\"map\" map=1 offset=0 data=7\n"
                "2 t0 @0 +0 mem seen=7 map=1 offset=1 data=x:55\n"
                "3 t0 @0 +0 mem\n"
                "4 t0 @0 +0 read_text path=\"a\" n=2 -> 999 text=\"123456\"\n"
                "5 t0 @0 +0 read_text path=\"a\" n=2 -> 999\n"
                "6 t0 @0 +0 mmap fd=5 bytes=18446744073709551615 prot=3 offset=0 -> 0 map=2\n"
                "7 t0 @0 +0 MEM_GET_PA fd=5 mem_handle=1 -> 0 pa=[1,2,3]\n");
  ASSERT_EQ(attach(), 0) << host.log();
  void* va = nullptr;
  ASSERT_EQ(port->mmap(ctx, 5, 4096, 3, 0, &va), 0);
  EXPECT_EQ(static_cast<uint8_t*>(va)[4095], 0);
  EXPECT_EQ(static_cast<uint8_t*>(va)[1], 0x55);
  char text[3] = {'x', 'x', 'x'};
  EXPECT_EQ(port->read_text(ctx, "a", text, 2), 2);
  EXPECT_EQ(text[2], 'x');
  EXPECT_EQ(port->read_text(ctx, "a", text, 2), 0);
  void* huge = nullptr;
  EXPECT_EQ(port->mmap(ctx, 5, ~uint64_t{0}, 3, 0, &huge), -ENOMEM);
  uint64_t pa = 0;
  ndl::ndl_mem_pa arg{1, &pa};
  EXPECT_EQ(port->ioctl(ctx, 5, ndl::kMemGetPa, reinterpret_cast<uintptr_t>(&arg)), -EIO);
  EXPECT_THAT(host.log(), HasSubstr("r.trace:12: the run leaves the recording"));
  EXPECT_THAT(host.log(), HasSubstr("MEM_GET_PA cannot be answered: pa does not fit"));
  EXPECT_EQ(pa, 0u);
}

TEST_F(Replay, ARecordingCutByACrashReplaysUpToItsEnd) {
  record();
  std::string text = Scratch::read(path);
  scratch.write("r.trace", text.substr(0, text.find(" MEM_GET_INFO ") + 10));
  ASSERT_EQ(attach(), 0) << host.log();
  Layer layer(host, port, ctx);
  const Outcome replayed = work(layer, nullptr, 8192, 5);
  EXPECT_EQ(replayed.data, std::vector<uint8_t>(200, 5));
  EXPECT_EQ(replayed.results[4], -EIO);
}

TEST_F(Replay, ABufferThatWasCutIsTold) {
  record();
  std::string text = Scratch::read(path);
  const auto at = text.find(" buffer=b:200:");
  ASSERT_NE(at, text.npos);
  const auto body = text.find(':', at + 14) + 1, end = text.find('\n', at);
  scratch.write("r.trace", text.substr(0, at) + " buffer=cut:200:00000000:AAAA" + text.substr(end));
  ASSERT_GT(end, body);
  ASSERT_EQ(attach(), 0) << host.log();
  Layer layer(host, port, ctx);
  EXPECT_EQ(work(layer, nullptr, 8192, 5).results[3], -EIO);
  EXPECT_THAT(host.log(), HasSubstr("buffer was recorded in part: 3 of 200 bytes"));
}

}  // namespace
}  // namespace opennrt::test
