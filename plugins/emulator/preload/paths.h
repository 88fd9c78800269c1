// SPDX-License-Identifier: Apache-2.0
//
// Which names belong to the emulated machine. Text only: nothing is looked up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace opennrt::emu::preload {

enum class Place : unsigned char {
  kElsewhere,  // not ours
  kDevice,     // /dev/neuron<N>
  kAttribute,  // a name below one of the served directories of /sys
  kParent,     // a real directory in which served names appear, or one above it
};

// Longest served path with its end, and longest directory a relative one starts
// from that can matter.
inline constexpr std::size_t kPathBytes = 512;

struct Location {
  Place place = Place::kElsewhere;
  unsigned device = 0;  // of kDevice
};

// `path` is absolute and normal: no empty, "." or ".." component.
Location locate(std::string_view path);

// False for a pointer that is none, so that the kernel may refuse it: nothing of a
// process lies below vm.mmap_min_addr or in the kernel's half.
inline bool plausible(const char* path) {
  const auto address = reinterpret_cast<std::uintptr_t>(path);
  return address >= 0x10000 && address < std::uintptr_t{1} << 47;
}

// False for what cannot name anything of ours, whatever the rest of the path
// says; this is all that an unrelated call pays.
bool suspicious(const char* path, bool from_served_directory);

// Joins and normalises without looking at links. False: longer than kPathBytes.
bool normalise(std::string_view base, std::string_view path, char (&out)[kPathBytes]);

// Names that appear in a kParent directory. nullptr past the last; "neuron" in
// /dev stands for the device nodes, which are counted.
const char* served_child(std::string_view parent);

}  // namespace opennrt::emu::preload
