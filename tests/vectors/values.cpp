// SPDX-License-Identifier: Apache-2.0
//
// Argument forms of a transcript.
#include <cstring>
#include <stdexcept>

#include "session.h"

namespace opennrt::replay {

namespace {

constexpr std::uint64_t kBadAddress = 0x1000, kKernelAddress = 0xFFFF888000000000;

void put(Buffer& buffer, std::size_t offset, std::uint64_t number, std::size_t bytes) {
  std::memcpy(buffer.data() + offset, &number, bytes);
}

std::shared_ptr<Buffer> pattern_buffer(std::size_t bytes, std::uint32_t s) {
  auto buffer = std::make_shared<Buffer>(bytes);
  for (std::size_t i = 0; i < bytes; ++i) buffer->data()[i] = pattern(i, s);
  return buffer;
}

}  // namespace

std::uint64_t Session::value(Actor& actor, const std::string& text) {
  if (text == "null") return 0;
  if (text == "bad") return kBadAddress;
  if (text == "kern") return kKernelAddress;
  // A name, then + or - a number.
  const std::size_t sign = text.find_first_of("+-", 1);
  const std::string head = text.substr(0, sign);
  std::uint64_t base = 0;
  if (head.starts_with("$pid.")) {
    base = this->actor(head.substr(5)).agent->pid();
  } else if (head.starts_with("$")) {
    const auto it = bound_.find(head.substr(1));
    if (it == bound_.end()) throw NotYet{"nothing is bound to " + head};
    base = it->second;
  } else if (head.starts_with("map:")) {
    const auto it = actor.maps.find(head.substr(4));
    if (it == actor.maps.end()) throw NotYet{"no mapping " + head};
    base = it->second.address;
  } else {
    return static_cast<std::uint64_t>(text[0] == '-'
                                          ? std::stoll(text, nullptr, 0)
                                          : static_cast<long long>(std::stoull(text, nullptr, 0)));
  }
  if (sign == std::string::npos) return base;
  const std::uint64_t delta = std::stoull(text.substr(sign + 1), nullptr, 0);
  return text[sign] == '+' ? base + delta : base - delta;
}

std::shared_ptr<Buffer> Session::make_buffer(Actor& actor, const std::string& text,
                                             std::uint64_t* address) {
  const std::size_t colon = text.find(':');
  const std::string kind = colon == std::string::npos ? "" : text.substr(0, colon);
  const std::string rest = colon == std::string::npos ? "" : text.substr(colon + 1);
  std::shared_ptr<Buffer> buffer;
  if (kind == "pat") {
    const auto parts = split(rest, ':');
    buffer =
        pattern_buffer(std::stoull(parts[0]), static_cast<std::uint32_t>(std::stoul(parts[1])));
  } else if (kind == "out") {
    buffer = std::make_shared<Buffer>(std::stoull(rest), kCanary);
  } else if (kind == "out32") {
    buffer = std::make_shared<Buffer>(4 * std::stoull(rest), kCanary);
  } else if (kind == "chunks") {
    buffer = std::make_shared<Buffer>(24 * std::stoull(rest), kCanary);
  } else if (kind == "st") {
    const auto it = interface_.layouts.find(rest);
    buffer =
        std::make_shared<Buffer>(it == interface_.layouts.end() ? 64 : it->second.bytes, kCanary);
  } else if (kind == "edge") {
    buffer = std::make_shared<Buffer>(std::stoull(rest));
  } else if (kind == "str") {
    buffer = std::make_shared<Buffer>(rest.size() + 1);
    std::memcpy(buffer->data(), rest.data(), rest.size());
  } else if (kind == "le32" || kind == "le64") {
    const std::size_t width = kind == "le32" ? 4 : 8;
    const auto parts = split(rest, ',');
    buffer = std::make_shared<Buffer>(parts.size() * width);
    for (std::size_t i = 0; i < parts.size(); ++i)
      put(*buffer, i * width, value(actor, parts[i]), width);
  } else if (kind == "desc") {
    const auto parts = split(rest, ',');
    buffer = std::make_shared<Buffer>(parts.size() * 16);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto words = split(parts[i], '/');
      put(*buffer, i * 16, value(actor, words[0]), 4);
      std::uint64_t meta = value(actor, words[1]);
      if (meta == kRecordedMeta) {
        deviate("descriptors carry the meta word of a plain copy; the recorded device ignored it");
        meta = kPlainCopyMeta;
      }
      put(*buffer, i * 16 + 4, meta, 4);
      put(*buffer, i * 16 + 8, value(actor, words[2]), 8);
    }
  } else if (kind == "zcb") {
    const auto parts = split(rest, ',');
    buffer = std::make_shared<Buffer>(parts.size() * 40);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto words = split(parts[i], '/');
      const std::uint64_t bytes = value(actor, words[2]);
      auto data = pattern_buffer(bytes, static_cast<std::uint32_t>(value(actor, words[3])));
      auto operation = std::make_shared<Buffer>(24);
      put(*operation, 8, bytes, 8);
      put(*operation, 16, data->address(), 8);
      put(*buffer, i * 40, value(actor, words[0]), 8);
      put(*buffer, i * 40 + 8, value(actor, words[1]), 8);
      put(*buffer, i * 40 + 16, operation->address(), 8);
      put(*buffer, i * 40 + 24, 1, 4);
      keep_.push_back(data);
      keep_.push_back(operation);
    }
  } else {
    *address = value(actor, text);
    return nullptr;
  }
  *address = buffer->address();
  return buffer;
}

Outcome Session::call(Actor& actor, const YAML::Node& step, const Request& request,
                      std::map<std::string, std::string> fields) {
  constexpr std::size_t kAppBytes = 152, kEntryBytes = 48, kEntries = 8;
  Outcome outcome;
  std::size_t bytes = request.arg_bytes;
  const bool apps = request.name == "DEVICE_GET_ALL_APPS_INFO";
  if (apps && fields.count("capacity")) bytes += kAppBytes * std::stoul(fields["capacity"]);
  outcome.argument = std::make_shared<Buffer>(bytes);
  Buffer& argument = *outcome.argument;

  if (!request.layout.empty()) {
    const Layout& layout = interface_.layouts.at(request.layout);
    for (const Field& field : layout.fields) {
      const auto it = fields.find(field.name);
      const std::size_t width = field.elements ? field.bytes / field.elements : field.bytes;
      if (field.pointer) {
        std::uint64_t address = 0;
        std::shared_ptr<Buffer> inner;
        if (it != fields.end()) {
          inner = make_buffer(actor, it->second, &address);
        } else if (field.output) {
          inner = std::make_shared<Buffer>(64);
          address = inner->address();
        }
        if (inner) outcome.inner[field.name] = inner;
        put(argument, field.offset, address, 8);
      } else if (it != fields.end() && it->second.starts_with("rep:")) {
        std::memset(argument.data() + field.offset,
                    static_cast<int>(std::stoul(it->second.substr(4), nullptr, 16)), field.bytes);
      } else if (it != fields.end() && width <= 8) {
        put(argument, field.offset, value(actor, it->second), width);
      }
    }
    for (const auto& [name, text] : fields) {
      if (!name.starts_with("entry")) continue;
      const std::size_t base = kEntries + kEntryBytes * std::stoul(name.substr(5));
      const auto words = split(text, '/');
      for (std::size_t i = 0; i < 4; ++i) put(argument, base + 4 * i, value(actor, words[i]), 4);
      for (std::size_t i = 4; i < words.size() && i < 7; ++i)
        put(argument, base + 16 + 8 * (i - 4), value(actor, words[i]), 8);
    }
  }
  outcome.before.assign(argument.data(), argument.data() + argument.bytes());
  std::uint64_t address = request.none ? 0 : argument.address();
  if (fields.count("arg")) address = value(actor, fields["arg"]);
  outcome.result =
      actor.agent->ioctl(descriptor(actor, step["fd"].as<std::string>()), request.code, address);
  return outcome;
}

}  // namespace opennrt::replay
