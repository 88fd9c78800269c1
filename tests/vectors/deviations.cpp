// SPDX-License-Identifier: Apache-2.0
//
// Where the emulated driver answers otherwise than the recorded one, and what
// it must answer then. Everything not listed here is compared as recorded.
#include <cerrno>
#include <set>

#include "session.h"

namespace opennrt::replay {

namespace {

std::string input(const YAML::Node& step, const char* name) {
  return step["in"] && step["in"][name] ? step["in"][name].as<std::string>() : "";
}

std::uint64_t number(const std::string& text) {
  return text.empty() || text[0] == '$' ? 0 : std::stoull(text, nullptr, 0);
}

bool bad_pointer(const YAML::Node& step) {
  if (!step["in"]) return false;
  for (const auto& item : step["in"]) {
    const std::string text = item.second.as<std::string>();
    if (text == "bad" || text == "null" || text == "kern" || text.starts_with("edge:")) return true;
  }
  return false;
}

// What the emulator answers where the recorded kernel was lost.
const std::map<std::string, std::int64_t> kKernelFaults = {
    {"fault_bar_read_range", -EINVAL}, {"fault_bar_tail", -EINVAL},          {"fault_ds_bitmap", 0},
    {"fault_fork_alloc", -EACCES},     {"fault_queue_state_range", -EINVAL}, {"fault_rx_zero", -1},
    {"fault_start_no_ring", -EINVAL}};

bool recorded_ok(const YAML::Node& step) { return step["ret"] && step["ret"].as<int>() == 0; }

}  // namespace

bool Session::stated_result(const YAML::Node& step, std::int64_t result, std::int64_t* expected) {
  const std::string what = step["do"].as<std::string>();
  if (step["result"]) {
    const auto it = kKernelFaults.find(scenario_);
    if (it == kKernelFaults.end()) throw NotYet{"kernel fault without a stated answer"};
    deviate("kernel fault: the emulator answers " + std::to_string(it->second));
    *expected = it->second;
    return true;
  }
  const std::uint64_t size = number(input(step, "size")), offset = number(input(step, "offset"));
  if (what == "MEM_BUF_COPY64" && recorded_ok(step) && offset + size < offset) {
    deviate("a range that wraps at 2^64 is refused by every version");
    *expected = -EINVAL;
    return true;
  }
  if (what == "MEM_BUF_COPY64" && recorded_ok(step) && size >> 32) {
    // Moving all bytes runs past the small buffer of the recording.
    deviate("copies of 4 GiB and more move all bytes");
    *expected = -EFAULT;
    return true;
  }
  // The three requests that answer -EACCES for a bad argument do so here too.
  if (step["ret"] && step["ret"].as<int>() > 0 && bad_pointer(step)) {
    if (what == "ioctl" && number(input(step, "code")) == 0xC0284E7C) {
      deviate("zero copy of 40 bytes is not emulated");
      *expected = -EINVAL;
    } else {
      deviate("bad pointers give -EFAULT, not a positive residue");
      *expected = -EFAULT;
    }
    return true;
  }
  if (what == "GET_LOGICAL_TO_PHYSICAL_NC_MAP" && !step["in"] && step["ret"] &&
      step["ret"].as<int>() > 0) {
    deviate("recorded without a buffer for the map; the replay passes one");
    *expected = 0;
    return true;
  }
  // Later drivers have the longer form, which is emulated.
  if (scenario_ == "fault_zero_copy" && what == "MEM_BUF_ZEROCOPY64" && recorded_ok(step) &&
      driver_.starts_with("2.24")) {
    deviate("zero copy of 40 bytes is not emulated");
    *expected = -EINVAL;
    return true;
  }
  if ((what == "SEMAPHORE_READ" || what == "SEMAPHORE_WRITE") && recorded_ok(step) &&
      number(input(step, "semaphore_index")) > 0xFFFF) {
    deviate("semaphore indexes above 16 bits are refused, not cut");
    *expected = -EINVAL;
    return true;
  }
  if (what == "THROTTLING_NOTIFICATIONS" && step["errno"] &&
      step["errno"].as<std::string>() == "524") {
    deviate("throttling notifications are accepted whatever the firmware");
    *expected = 0;
    return true;
  }
  if (what == "mmap" && recorded_ok(step) && result == -EPERM && !must_map(step)) {
    deviate("raw BAR 4 maps of privileged callers and register maps are refused");
    *expected = -EPERM;
    return true;
  }
  return false;
}

// A whole chunk, or a window that is memory.
bool Session::must_map(const YAML::Node& step) {
  Actor& who = actor(step["who"].as<std::string>());
  const std::uint64_t offset = value(who, input(step, "off"));
  const std::uint64_t bytes = (value(who, input(step, "size")) + 4095) / 4096 * 4096;
  for (const nrtp_driver_map& special : machine_->facts().special)
    if (special.device == offset && special.bytes == bytes && special.resource == NRTP_DRIVER_SBUF)
      return true;
  emu::DeviceNode& node = *machine_->node(0);
  std::lock_guard lock(node.mutex);
  const emu::Chunk* chunk = node.find_chunk(offset);
  return chunk && chunk->pa == offset && chunk->bytes == bytes;
}

bool Session::stated_output(const YAML::Node& step, const std::string& name, const std::string&) {
  const std::string what = step["do"].as<std::string>();
  if (name == "revision") {
    deviate("the revision is that of a software device");
    return true;
  }
  std::int64_t unused = 0;
  if (what == "MEM_BUF_COPY64" && name == "buffer") {
    if (stated_result(step, 0, &unused) || scenario_ == "fault_bounds_wrap_copy") return true;
    if (scenario_ == "zero_size_dma") {
      deviate("copies of no bytes move nothing");
      return true;
    }
  }
  if (what == "SEMAPHORE_READ" && number(input(step, "semaphore_index")) > 0xFFFF) return true;
  // Registers whose content the recorded hardware made up.
  const std::string address = input(step, "address");
  if (what == "BAR_READ" && (address.find("0x30fa0038") != std::string::npos ||
                             address.find("0x6c84038") != std::string::npos)) {
    deviate("content of firmware memory belongs to the recorded device");
    return true;
  }
  if (scenario_ == "notification_registers" && what == "BAR_READ" && index_ == 22) {
    deviate("a reset clears the head register too");
    return true;
  }
  static const std::set<std::string> kPointers = {"tx.head_pointer", "tx.tail_pointer",
                                                  "rx.head_pointer", "rx.tail_pointer"};
  if (scenario_ == "hbm_scrub" && kPointers.count(name)) {
    deviate("a scrub moves no descriptors");
    return true;
  }
  return false;
}

}  // namespace opennrt::replay
