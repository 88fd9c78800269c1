// SPDX-License-Identifier: Apache-2.0
#include "control.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <optional>
#include <string_view>

#include "driver/machine.h"
#include "inspect/inspector.h"
#include "verify/verifier.h"

namespace opennrt::emu {

namespace {

// Splits off the next word.
std::string_view take_word(std::string_view* text) {
  const std::size_t start = std::min(text->find_first_not_of(' '), text->size());
  const std::size_t end = std::min(text->find(' ', start), text->size());
  const std::string_view word = text->substr(start, end - start);
  text->remove_prefix(std::min(end + 1, text->size()));
  return word;
}

std::optional<std::uint64_t> take_number(std::string_view* text) {
  std::string_view word = take_word(text);
  int base = 10;
  if (word.substr(0, 2) == "0x") {
    word.remove_prefix(2);
    base = 16;
  }
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
  if (word.empty() || error != std::errc() || end != word.data() + word.size()) return {};
  return value;
}

std::string describe_checks(const VerifyOptions& o) {
  std::string text;
  const auto add = [&text](const std::string& item) { text += (text.empty() ? "" : ",") + item; };
  if (o.poison) add("poison");
  if (o.races) add("races");
  if (o.coverage) add("coverage");
  if (o.bounds) add("bounds");
  if (o.order_seed) add("order=" + std::to_string(*o.order_seed));
  return text.empty() ? "none" : text;
}

struct Target {
  Device* device = nullptr;
  std::uint64_t pa = 0, bytes = 0;
  const std::uint8_t* host = nullptr;
};

// "<device> <pa> <bytes>". 0 or -errno.
int take_target(Machine& machine, std::string_view* text, Target* out) {
  const auto device = take_number(text), pa = take_number(text), bytes = take_number(text);
  if (!device || !pa || !bytes) return -EINVAL;
  DeviceNode* node = machine.node(static_cast<std::uint32_t>(*device));
  if (!node || *device > UINT32_MAX) return -ENODEV;
  *out = {node->device.get(), *pa, *bytes, node->device->memory_at(*pa, *bytes)};
  return out->host ? 0 : -EFAULT;
}

DeviceNode* take_node(Machine& machine, std::string_view* text, int* error) {
  const auto device = take_number(text);
  *error = device ? -ENODEV : -EINVAL;
  return device && *device <= UINT32_MAX ? machine.node(static_cast<std::uint32_t>(*device))
                                         : nullptr;
}

// "<device> <core> <engine>". 0 or -errno.
int describe_engine(Machine& machine, std::string_view text, std::string* reply) {
  int error = 0;
  DeviceNode* node = take_node(machine, &text, &error);
  if (!node) return error;
  const auto core = take_number(&text), engine = take_number(&text);
  if (!core || !engine) return -EINVAL;
  if (*core >= machine.cores() || *engine >= machine.geometry().engines) return -ENODEV;
  std::uint64_t program_counter = 0;
  const std::string state = node->device->describe_engine(
      static_cast<std::uint32_t>(*core), static_cast<std::uint32_t>(*engine), &program_counter);
  if (!state.empty()) *reply = hex(program_counter) + " " + state;
  return 0;
}

// What a process was started as, for people.
std::string command_of(std::uint32_t pid) {
  constexpr std::size_t kMost = 160;
  std::string text;
  for (const char* file : {"cmdline", "comm"}) {
    const std::string path = "/proc/" + std::to_string(pid) + "/" + file;
    std::FILE* stream = std::fopen(path.c_str(), "re");
    if (!stream) continue;
    text.resize(kMost);
    text.resize(std::fread(text.data(), 1, text.size(), stream));
    std::fclose(stream);
    for (char& c : text)
      if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
    text.erase(text.find_last_not_of(' ') + 1);
    if (!text.empty()) return text;
  }
  return "(ended)";
}

int list_holders(Machine& machine, std::string_view text, std::string* reply) {
  int error = 0;
  DeviceNode* node = take_node(machine, &text, &error);
  if (!node) return error;
  for (const std::uint32_t pid : machine.attached(*node))
    *reply += std::to_string(pid) + " " + command_of(pid) + "\n";
  return 0;
}

int list_owners(Machine& machine, std::string* reply) {
  std::uint32_t index = 0;
  for (const std::uint32_t pid : machine.core_owners()) {
    const std::uint32_t core = index++;
    if (pid != 0)
      *reply += std::to_string(core / machine.cores()) + " " +
                std::to_string(core % machine.cores()) + " " + std::to_string(pid) + " " +
                command_of(pid) + "\n";
  }
  return 0;
}

// "variable", "tensor" and "image" for the inspector. 0 or -errno.
int tell_inspector(Machine& machine, std::string_view command, std::string_view text) {
  const bool image = command == "image";
  int error = 0;
  DeviceNode* node = take_node(machine, &text, &error);
  if (!node) return error;
  const auto core = take_number(&text);
  const auto engine = image ? take_number(&text) : 0, subgraph = image ? take_number(&text) : 0;
  const auto pa = take_number(&text), bytes = take_number(&text);
  if (!core || !engine || !subgraph || !pa || !bytes) return -EINVAL;
  ArrayForm form;
  if (command == "tensor") {
    const std::string_view type = take_word(&text), dimensions = take_word(&text);
    if (!Inspector::parse_form(type, dimensions, &form)) return -EINVAL;
  }
  if (*core >= machine.cores() || *engine >= machine.geometry().engines) return -ENODEV;
  Inspector* inspector = node->device->inspector();
  if (!inspector) return 0;
  const auto c = static_cast<std::uint32_t>(*core);
  if (!image) {
    inspector->variable(c, *pa, *bytes, std::string(text), std::move(form));
    return 0;
  }
  const bool good = inspector->image(c, static_cast<std::uint32_t>(*engine),
                                     static_cast<std::uint32_t>(*subgraph), *pa, *bytes, text);
  return good ? 0 : -EINVAL;
}

}  // namespace

std::string report_text(Machine& machine) {
  std::uint64_t findings = 0;
  std::string lines;
  for (std::uint32_t d = 0; d < machine.devices(); ++d) {
    Device& device = *machine.node(d)->device;
    if (device.verifier()) findings += device.verifier()->findings();
    // Programs run on any device; the first word of a dump that was made counts.
    if (device.inspector())
      for (const std::string& line : device.inspector()->outcomes()) lines += line + "\n";
  }
  return "findings " + std::to_string(findings) + "\n" + lines;
}

int control(Machine& machine, const char* request, std::string* reply, std::uint32_t pid) {
  if (!request) return -EINVAL;
  std::string_view text(request);
  const std::string_view command = take_word(&text);
  reply->clear();
  if (command == "stuck") {
    *reply = (machine.stuck(pid) ? "1 " : "0 ") + std::to_string(machine.progress(pid));
    return 0;
  }
  if (command == "verify") {
    *reply = describe_checks(machine.config().verify);
    return 0;
  }
  if (command == "inspect") {
    *reply = machine.config().inspect.items.empty() ? "0" : "1";
    return 0;
  }
  if (command == "backing") {
    const auto address = take_number(&text);
    if (!address) return -EINVAL;
    Machine::Mapping mapping;
    if (!machine.find_mapping(pid, *address, &mapping)) return -ENXIO;
    *reply = std::to_string(mapping.memory_offset + (*address - mapping.address));
    return 0;
  }
  if (command == "holders") return list_holders(machine, text, reply);
  if (command == "owners") return list_owners(machine, reply);
  if (command == "engine") return describe_engine(machine, text, reply);
  if (command == "image" || command == "variable" || command == "tensor")
    return tell_inspector(machine, command, text);
  if (command == "memory") {
    *reply = std::to_string(machine.node(0)->memory->hbm(0).bytes());
    return 0;
  }
  if (command == "describe" || command == "findings" || command == "finding") {
    const auto device = take_number(&text);
    if (!device) return -EINVAL;
    DeviceNode* node =
        *device > UINT32_MAX ? nullptr : machine.node(static_cast<std::uint32_t>(*device));
    if (!node) return -ENODEV;
    Verifier* verifier = node->device->verifier();
    if (command == "finding") {
      if (verifier) verifier->count_finding();
      return 0;
    }
    if (command == "findings") {
      *reply = std::to_string(verifier ? verifier->findings() : 0);
      return 0;
    }
    const auto core = take_number(&text);
    if (!core) return -EINVAL;
    if (*core >= machine.cores()) return -ENODEV;
    *reply = node->device->describe(static_cast<std::uint32_t>(*core));
    return 0;
  }
  Target target;
  if (command != "name" && command != "forget" && command != "expect" && command != "ignore" &&
      command != "missing")
    return -EINVAL;
  if (const int r = take_target(machine, &text, &target)) return r;
  if (Inspector* inspector = target.device->inspector(); inspector && command == "forget")
    inspector->forget(target.pa, target.bytes);
  Verifier* verifier = target.device->verifier();
  if (!verifier) return 0;
  if (command == "name") {
    verifier->name_range(target.pa, target.bytes, std::string(text));
  } else if (command == "forget") {
    verifier->forget_names(target.pa, target.bytes);
  } else if (command == "ignore") {
    verifier->ignore_range(target.pa, target.bytes);
  } else if (command == "expect") {
    verifier->never_written(target.host, target.bytes);
  } else {
    const std::uint64_t first = verifier->first_unwritten(target.host, target.bytes);
    *reply = first == target.bytes ? "none" : std::to_string(first);
  }
  return 0;
}

}  // namespace opennrt::emu
