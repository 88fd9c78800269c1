// SPDX-License-Identifier: Apache-2.0
#include "preload/paths.h"

#include <cstring>

namespace opennrt::emu::preload {

namespace {

constexpr std::string_view kNode = "/dev/neuron";
constexpr std::string_view kRoots[] = {"/sys/module/neuron", "/sys/class/neuron_device"};
// One file of another directory: the name of the machine.
constexpr std::string_view kProduct = "/sys/devices/virtual/dmi/id/product_name";
constexpr std::string_view kParents[] = {"/", "/dev", "/sys", "/sys/class", "/sys/module"};

bool below(std::string_view path, std::string_view root) {
  return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
}

// Digits as the driver writes them: no sign, no leading zero.
bool number(std::string_view text, unsigned* out) {
  if (text.empty() || text.size() > 3 || (text.size() > 1 && text[0] == '0')) return false;
  *out = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return false;
    *out = *out * 10 + static_cast<unsigned>(c - '0');
  }
  return true;
}

}  // namespace

Location locate(std::string_view path) {
  Location found;
  if (path.starts_with(kNode) && number(path.substr(kNode.size()), &found.device)) {
    found.place = Place::kDevice;
    return found;
  }
  for (const std::string_view parent : kParents)
    if (path == parent) return {Place::kParent};
  for (const std::string_view root : kRoots)
    if (below(path, root)) return {Place::kAttribute};
  return {path == kProduct ? Place::kAttribute : Place::kElsewhere};
}

bool suspicious(const char* path, bool from_served_directory) {
  if (!plausible(path) || path[0] == '\0') return false;
  if (path[0] != '/')
    return from_served_directory ||
           (std::strstr(path, "..") != nullptr && std::strstr(path, "neuron") != nullptr);
  if (path[1] == '\0' || std::strncmp(path, "/dev", 4) == 0 || std::strncmp(path, "/sys", 4) == 0)
    return true;
  return std::strstr(path, "neuron") != nullptr;
}

bool normalise(std::string_view base, std::string_view path, char (&out)[kPathBytes]) {
  std::size_t length = 0;
  const auto append = [&](std::string_view text) {
    while (!text.empty()) {
      const std::size_t slash = text.find('/');
      const std::string_view part = text.substr(0, slash);
      text.remove_prefix(slash == std::string_view::npos ? text.size() : slash + 1);
      if (part.empty() || part == ".") continue;
      if (part == "..") {
        while (length > 0 && out[--length] != '/') {
        }
        continue;
      }
      if (length + 1 + part.size() + 1 > kPathBytes) return false;
      out[length++] = '/';
      std::memcpy(out + length, part.data(), part.size());
      length += part.size();
    }
    return true;
  };
  if ((path.empty() || path[0] != '/') && !append(base)) return false;
  if (!append(path)) return false;
  if (length == 0) out[length++] = '/';
  out[length] = '\0';
  return true;
}

const char* served_child(std::string_view parent) {
  if (parent == "/dev") return "neuron";
  if (parent == "/sys/class") return "neuron_device";
  if (parent == "/sys/module") return "neuron";
  return nullptr;
}

}  // namespace opennrt::emu::preload
