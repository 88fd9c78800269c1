// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <cstring>
#include <vector>

#include "entries.h"
#include "ndl-common/record/arguments.h"
#include "ndl-common/record/trace.h"
#include "player.h"

namespace opennrt::fuzz {

namespace {

using trace::Line;

std::string text_of(const Line& line, const char* name) {
  const trace::Value* value = find(line.args, name);
  return value && value->kind == trace::Value::Kind::kText ? value->text : "";
}

// Outputs into an argument that leads to memory of ours, with guards behind it.
void answer(const Line& line, const trace::UserMemory& memory) {
  const ndl::RequestShape* shape = ndl::find_shape(line.call.c_str());
  if (!shape) return;
  constexpr std::size_t kRoom = 4096;
  std::vector<std::uint8_t> target(kRoom + 64, 0xEE), arg(shape->arg_bytes() + kRoom);
  const auto set = [&](const ndl::Spot& spot, std::uint64_t value) {
    std::memcpy(arg.data() + spot.offset, &value, spot.element_bytes);
  };
  for (const ndl::Field& field : shape->fields) {
    if (field.extent.count.bytes != 0) set(field.extent.count, 3);
    // An argument of structs that lead on is left without them.
    const bool leads_on =
        field.kind == ndl::FieldKind::kStructs && std::string_view(field.name) == "batches_ptr";
    if (leads_elsewhere(field.kind) && !leads_on)
      set(field.spot, reinterpret_cast<std::uintptr_t>(target.data()));
  }
  std::string error;
  trace::store(*shape, reinterpret_cast<std::uintptr_t>(arg.data()), line.outs, memory, &error);
  for (std::size_t i = kRoom; i < target.size(); ++i)
    if (target[i] != 0xEE) std::abort();
}

void ask(replay::Player& player, const Line& line) {
  const auto number = [&](const char* name) { return trace::number_of(line.args, name); };
  char text[64];
  void* va = nullptr;
  if (line.call == "open") {
    player.open(text_of(line, "path").c_str(), static_cast<std::uint32_t>(number("flags")));
  } else if (line.call == "close") {
    player.close(static_cast<int>(number("fd")));
  } else if (line.call == "exists") {
    player.exists(text_of(line, "path").c_str());
  } else if (line.call == "read_text") {
    if (player.read_text(text_of(line, "path").c_str(), text, sizeof text) > 64) std::abort();
  } else if (line.call == "control") {
    player.control(text_of(line, "request").c_str(), text, sizeof text);
  } else if (line.call == "ioctl") {
    player.ioctl(static_cast<int>(number("fd")), static_cast<std::uint32_t>(number("code")), 0);
  } else if (line.call == "mmap") {
    if (player.mmap(static_cast<int>(number("fd")), number("bytes"),
                    static_cast<std::uint32_t>(number("prot")), number("offset"), &va) >= 0)
      player.munmap(va, number("bytes"));
  }
  player.sleep_us(0);
}

}  // namespace

void fuzz_port_trace(const std::uint8_t* data, std::size_t size) {
  trace::Trace recording;
  std::string error;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (trace::parse_trace(text, "f", &recording, &error) != 0) {
    if (error.empty()) std::abort();
    return;
  }
  if (recording.sessions.empty()) return;
  const trace::UserMemory memory;
  for (const trace::Session& session : recording.sessions)
    for (const Line& line : session.lines) {
      Line again;
      const std::string shown = to_text(line);
      if (!trace::parse_line(shown, &again, &error) || to_text(again) != shown) std::abort();
      answer(line, memory);
    }
  nrtp_host host{};
  host.log = [](void*, std::uint32_t, const char*, const char*) {};
  const trace::Trace asked = recording;
  replay::Player player(&host, "f", std::move(recording), 0);
  for (const trace::Session& session : asked.sessions)
    for (const Line& line : session.lines) ask(player, line);
}

std::vector<std::string> seeds_port_trace() {
  const std::string header = "# opennrt port trace 1 pid=7 start=9 ndl=\"n\" port=\"p\"\n";
  return {
      header +
          "1 t0 @0 +1 open path=\"/dev/neuron0\" flags=2 -> 3\n"
          "2 t0 @2 +1 mmap fd=3 bytes=4096 prot=3 offset=0x1000 -> 0 map=1\n"
          "3 t0 @3 +0 mem seen=\"map\" map=1 offset=8 data=x:0102\n"
          "4 t1 @4 +1 exists path=\"/a\" -> 1\n"
          "5 t0 @5 +0 mem seen=\"wait\" map=1 offset=4088 data=x:0102030405060708\n"
          "6 t0 @6 +1 munmap map=1 bytes=4096 -> 0\n"
          "7 t0 @7 +1 control request=\"stuck\" -> 3 reply=\"0 1\"\n"
          "8 t0 @8 +1 read_text path=\"/v\" n=64 -> 4 text=\"2.27\"\n"
          "# end lines=8\n",
      header +
          "1 t0 @0 +1 DEVICE_INFO fd=3 -> 0 architecture=3 connected_devices=[1,7,0*6]\n"
          "2 t0 @0 +1 MEM_BUF_COPY64 fd=3 mem_handle=1 size=3 offset=0 copy_to_mem_handle=0 -> 0 "
          "buffer=x:010203\n"
          "3 t0 @0 +1 DMA_QUEUE_GET_STATE fd=3 eng_id=0 qid=1 -> 0 tx=[{hw_status=1 length=9}] "
          "rx=[{base_addr=0x10000}]\n"
          "4 t0 @0 +1 MEM_FREE fd=3 mem_handle=1 -> -22 EINVAL\n" +
          header + "1 t0 @0 +0 ioctl fd=1 code=5 -> 0\n2 t0 @0 +0 close fd=1 -> 0",
  };
}

}  // namespace opennrt::fuzz
