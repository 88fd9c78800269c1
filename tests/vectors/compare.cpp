// SPDX-License-Identifier: Apache-2.0
//
// Recorded outcome against ours.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "session.h"

namespace opennrt::replay {

namespace {

std::mutex report_mutex;  // asynchronous steps report from their own thread

const std::map<std::string, int> kErrno = {{"EPERM", EPERM},
                                           {"ENOENT", ENOENT},
                                           {"EINTR", EINTR},
                                           {"ENXIO", ENXIO},
                                           {"E2BIG", E2BIG},
                                           {"EBADF", EBADF},
                                           {"EAGAIN", EAGAIN},
                                           {"ENOMEM", ENOMEM},
                                           {"EACCES", EACCES},
                                           {"EFAULT", EFAULT},
                                           {"EBUSY", EBUSY},
                                           {"ENODEV", ENODEV},
                                           {"EINVAL", EINVAL},
                                           {"ENOTTY", ENOTTY},
                                           {"EFBIG", EFBIG},
                                           {"ENOSYS", ENOSYS},
                                           {"EBADMSG", EBADMSG},
                                           {"EALREADY", EALREADY},
                                           {"EPROTONOSUPPORT", EPROTONOSUPPORT}};

std::int64_t recorded_result(const YAML::Node& step) {
  const std::int64_t ret = step["ret"].as<std::int64_t>();
  if (ret != -1 || !step["errno"]) return ret;
  const std::string name = step["errno"].as<std::string>();
  const auto it = kErrno.find(name);
  return it != kErrno.end() ? -it->second : -std::stoll(name);
}

std::uint64_t number_at(const std::uint8_t* data, std::size_t bytes) {
  std::uint64_t number = 0;
  std::memcpy(&number, data, std::min<std::size_t>(bytes, 8));
  return number;
}

std::string hexadecimal(std::uint64_t number) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(number));
  return text;
}

}  // namespace

void Session::differ(const std::string& text) {
  std::lock_guard lock(report_mutex);
  report_.differences.push_back(title_ + ": " + text);
}

void Session::deviate(const std::string& text) {
  std::lock_guard lock(report_mutex);
  if (std::find(report_.deviations.begin(), report_.deviations.end(), text) ==
      report_.deviations.end())
    report_.deviations.push_back(text);
}

void Session::check_result(const YAML::Node& step, std::int64_t result) {
  std::int64_t expected = 0;
  if (stated_result(step, result, &expected)) {
    if (result != expected)
      differ("result " + std::to_string(result) + ", the emulator states " +
             std::to_string(expected));
    return;
  }
  if (!step["ret"]) return;
  expected = recorded_result(step);
  if (result != expected)
    differ("result " + std::to_string(result) + ", recorded " + std::to_string(expected));
}

// Host pages are named by first appearance; a name stays with its page as long
// as the chunk lives, and live chunks never share one.
bool Session::same_text(const std::string& expected, const std::string& actual) {
  if (expected == "KPTR" || expected == "FD") return true;
  if (expected.starts_with("pid."))
    return std::to_string(actor(expected.substr(4)).agent->pid()) == actual;
  const std::uint64_t number = std::stoull(actual);
  if (expected == "BAR0") return number != 0;
  if (expected.starts_with("HOST")) {
    if ((number & machine_->facts().host_window_mask) != machine_->facts().host_window)
      return false;
    const std::uint64_t page = number / 4096;
    std::uint64_t& known = host_pages_[expected];
    if (known == 0) {
      known = page;
      return true;
    }
    if (known == page) return true;
    // The name was that of a chunk that is gone; whether a freed page comes
    // back is chance.
    emu::DeviceNode& node = *machine_->node(0);
    std::lock_guard lock(node.mutex);
    if (node.find_chunk(known * 4096)) return false;
    known = page;
    return true;
  }
  const bool negative = expected[0] == '-';
  const std::uint64_t wanted = negative
                                   ? static_cast<std::uint64_t>(std::stoll(expected, nullptr, 0))
                                   : std::stoull(expected, nullptr, 0);
  if (number == wanted) return true;
  return negative && (number == (wanted & 0xFFFFFFFF) || number == (wanted & 0xFF));
}

bool Session::same(const YAML::Node& expected, const std::vector<std::string>& actual) {
  std::vector<std::string> wanted;
  for (const auto& item : expected) {
    const std::string text = item.as<std::string>();
    if (text[0] != '*') {
      wanted.push_back(text);
      continue;
    }
    for (unsigned long n = std::stoul(text.substr(1)); n > 0; --n) wanted.push_back(wanted.back());
  }
  if (wanted.size() > actual.size()) return false;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto a = split(wanted[i], '/'), b = split(actual[i], '/');
    if (a.size() != b.size()) return false;
    for (std::size_t k = 0; k < a.size(); ++k)
      if (!same_text(a[k], b[k])) return false;
  }
  return true;
}

bool Session::same_bytes(const YAML::Node& expected, const Buffer& buffer) {
  if (expected.IsMap()) {
    const std::size_t bytes = expected["bytes"].as<std::size_t>();
    if (bytes != buffer.bytes()) return false;
    char crc[16];
    std::snprintf(crc, sizeof crc, "%08x", crc32(buffer.data(), bytes));
    return expected["crc32"].as<std::string>() == crc &&
           expected["head"].as<std::string>() ==
               hex(buffer.data(), std::min<std::size_t>(bytes, 16));
  }
  const std::string text = expected.as<std::string>();
  if (text == "untouched") return buffer.untouched();
  return text == hex(buffer.data(), buffer.bytes());
}

bool Session::same_output(const std::string& name, const YAML::Node& expected,
                          const Request& request, const Outcome& outcome, std::string* actual) {
  constexpr std::size_t kHeader = 16, kApp = 152;
  const Buffer& argument = *outcome.argument;
  const auto numbers = [&](const std::uint8_t* data, std::size_t width, std::size_t n) {
    std::vector<std::string> list;
    for (std::size_t i = 0; i < n; ++i) {
      list.push_back(std::to_string(number_at(data + i * width, width)));
      *actual += hexadecimal(number_at(data + i * width, width)) + " ";
    }
    if (expected.IsSequence()) return same(expected, list);
    return same_text(expected.as<std::string>(), list.at(0));
  };
  if (name == "value" && request.layout.empty())
    return numbers(argument.data(), argument.bytes(), 1);

  const std::size_t dot = name.find('.');
  if (dot != std::string::npos && name.starts_with("app")) {
    const std::uint8_t* app =
        argument.data() + kHeader + kApp * std::stoul(name.substr(3, dot - 3));
    const std::string field_name = name.substr(dot + 1);
    if (field_name.starts_with("uuid")) {
      const std::string text = hex(app + 5 + 32 * std::stoul(field_name.substr(4)), 32);
      *actual = text;
      return text == expected.as<std::string>();
    }
    const Field* field = interface_.layouts.at("neuron_app_info").find(field_name);
    return numbers(app + field->offset, field->bytes, 1);
  }
  if (dot != std::string::npos) {
    const std::string pointer = name.substr(0, dot);
    const auto inner = outcome.inner.find(pointer);
    if (inner == outcome.inner.end()) return false;
    const Layout& layout = interface_.layouts.at(pointer == "state" ? "neuron_dma_eng_state"
                                                                    : "neuron_dma_queue_state");
    const Field* field = layout.find(name.substr(dot + 1));
    return numbers(inner->second->data() + field->offset, field->bytes, 1);
  }
  if (request.layout.empty()) throw NotYet{"output " + name + " of " + request.name};
  const Field* field = interface_.layouts.at(request.layout).find(name);
  if (!field) throw NotYet{"output " + name + " of " + request.name};
  if (!field->pointer) {
    const std::size_t n = expected.IsSequence() ? field->elements : 1;
    return numbers(argument.data() + field->offset, field->bytes / field->elements, n);
  }
  const auto inner = outcome.inner.find(name);
  if (inner == outcome.inner.end()) return false;
  const Buffer& buffer = *inner->second;
  if (expected.IsSequence()) {
    const bool records =
        expected.size() && expected[0].as<std::string>().find('/') != std::string::npos;
    if (!records) return numbers(buffer.data(), 4, buffer.bytes() / 4);
    const bool chunks = request.name == "DUMP_MEM_CHUNKS";
    const std::size_t bytes = chunks ? 24 : 16;
    std::vector<std::string> list;
    for (std::size_t i = 0; i + bytes <= buffer.bytes(); i += bytes) {
      const std::uint8_t* p = buffer.data() + i;
      const std::size_t second = chunks ? 8 : 4;
      std::uint64_t word = number_at(p + second, chunks ? 8 : 4);
      if (!chunks && word == kPlainCopyMeta) word = kRecordedMeta;
      list.push_back(std::to_string(number_at(p, second)) + "/" + std::to_string(word) + "/" +
                     std::to_string(number_at(p + (chunks ? 16 : 8), chunks ? 4 : 8)));
      *actual += list.back() + " ";
    }
    return same(expected, list);
  }
  const bool bytes = name == "buffer" || name == "data" || expected.IsMap() ||
                     expected.as<std::string>() == "untouched";
  if (!bytes) return numbers(buffer.data(), name == "fd" ? 4 : 8, 1);
  *actual = hex(buffer.data(), std::min<std::size_t>(buffer.bytes(), 16)) + "..";
  return same_bytes(expected, buffer);
}

void Session::check_outputs(Actor&, const YAML::Node& step, const Request& request,
                            const Outcome& outcome) {
  for (const auto& item : step["out"]) {
    const std::string name = item.first.as<std::string>();
    std::string actual;
    if (same_output(name, item.second, request, outcome, &actual)) continue;
    if (stated_output(step, name, actual)) continue;
    differ(name + " is " + actual + ", recorded " + YAML::Dump(item.second));
  }
  // A failing request changes only what is listed.
  if (outcome.result >= 0 || request.layout.empty()) return;
  for (const Field& field : interface_.layouts.at(request.layout).fields) {
    if (step["out"] && step["out"][field.name]) continue;
    if (std::memcmp(outcome.before.data() + field.offset, outcome.argument->data() + field.offset,
                    field.bytes) != 0)
      differ("the failing request changed " + field.name);
  }
}

void Session::bind(const YAML::Node& step, const Request& request, const Outcome& outcome) {
  for (const auto& item : step["bind"]) {
    const Field* field = interface_.layouts.at(request.layout).find(item.second.as<std::string>());
    if (!field) throw NotYet{"bind of " + item.second.as<std::string>()};
    const std::uint8_t* data = outcome.argument->data() + field->offset;
    std::size_t bytes = field->bytes / field->elements;
    if (field->pointer) {
      const auto inner = outcome.inner.find(field->name);
      if (inner == outcome.inner.end()) continue;
      data = inner->second->data();
      bytes = 8;
    }
    bound_[item.first.as<std::string>()] = number_at(data, bytes);
  }
}

}  // namespace opennrt::replay
