// SPDX-License-Identifier: Apache-2.0
#include "exec/choose.h"

#include <filesystem>
#include <string_view>

namespace opennrt::tools {

namespace {

constexpr char kRedirectFile[] = "libopennrt-redirect.so";
constexpr const char* kNames[] = {"nothing", "library-path", "preload", "redirect"};

// What the ways put in front of it.
bool is_own(const std::string& object) {
  return object == own_library() || object == beside_own_library(kRedirectFile);
}

// What is between the program and this library; empty: nothing. linked: becomes
// true when it is loaded because something needs it.
std::string obstacle(const Program& program, const Variables& variables, const std::string& ours,
                     bool* linked) {
  LoadOrder order;
  std::string error;
  if (!load_order(program, variables, &order, &error)) return error;
  const auto preloaded = [&](const LoadedLibrary& library) {
    return variables.contains("LD_PRELOAD") && library.path == ours;
  };
  for (const LoadedLibrary& library : order.libraries) {
    if (!is_libnrt(library.name) && !is_libnrt(library.path)) continue;
    if (preloaded(library)) continue;
    *linked = true;
    if (library.path.empty()) return library.name + " is not found";
    if (!same_file(library.path, ours)) return "it gets " + library.path;
  }
  for (const std::string& object : order.ignored)
    if (is_own(object)) return "the loader ignores " + object;
  return order.trouble;
}

// What a program that opens the library itself may open instead.
std::string opened_instead(const Program& program, const Variables& variables, Way way,
                           const std::string& ours) {
  if (way == Way::kRedirect) return "";
  for (const std::string& name : path_names(program.file))
    if (!same_file(name, ours)) return "it may open " + name;
  // An RPATH is searched before LD_LIBRARY_PATH.
  const Linkage& linkage = program.linkage;
  if (linkage.runpath.empty())
    for (const std::string& directory : search_directories(linkage.rpath, program.file))
      for (const char* name : {"/libnrt.so.1", "/libnrt.so"}) {
        std::error_code code;
        const std::string path = directory + name;
        if (std::filesystem::exists(path, code) && !same_file(path, ours))
          return "its RPATH leads to " + path;
      }
  for (const char* name : {"libnrt.so.1", "libnrt.so"}) {
    const std::string found = found_by_name(program, variables, name);
    // Not every installation has the name for linking.
    if (found.empty() && name == std::string_view("libnrt.so")) continue;
    if (found.empty()) return std::string(name) + " is not found";
    if (!same_file(found, ours)) return "opening " + std::string(name) + " gives " + found;
  }
  return "";
}

// Why the program does not get this library in that way; empty: it does.
std::string trouble_with(const Program& program, const Choice& choice, bool* linked) {
  const std::string ours = own_library();
  std::string trouble = obstacle(program, choice.variables, ours, linked);
  if (trouble.empty() && (!*linked || !path_names(program.file).empty()))
    trouble = opened_instead(program, choice.variables, choice.way, ours);
  return trouble;
}

}  // namespace

const char* way_name(Way way) { return kNames[static_cast<std::size_t>(way)]; }

std::optional<Way> find_way(const std::string& name) {
  for (const Way way : {Way::kNothing, Way::kLibraryPath, Way::kPreload, Way::kRedirect})
    if (name == way_name(way)) return way;
  return std::nullopt;
}

namespace {

bool make_choice(Way way, Choice* out, std::string* error) {
  const std::string ours = own_library();
  if (ours.empty()) {
    *error = "libnrt.so.1 is not beside this program (package opennrt-core)";
    return false;
  }
  *out = Choice{};
  out->way = way;
  const std::string directory = std::filesystem::path(ours).parent_path().string();
  switch (way) {
    case Way::kNothing:
      return true;
    case Way::kLibraryPath:
      out->variables["LD_LIBRARY_PATH"] = in_front(directory, "LD_LIBRARY_PATH", ":");
      return true;
    case Way::kPreload:
      out->variables["LD_PRELOAD"] = in_front(ours, "LD_PRELOAD", ":");
      return true;
    case Way::kRedirect: {
      const std::string redirect = beside_own_library(kRedirectFile);
      if (redirect.empty()) {
        *error = std::string(kRedirectFile) + " is not beside " + ours;
        return false;
      }
      out->variables["LD_AUDIT"] = in_front(redirect, "LD_AUDIT", ":");
      return true;
    }
  }
  return false;
}

}  // namespace

bool choose(const Program& program, Choice* out, std::string* error) {
  std::string reason;
  bool linked = false;
  for (const Way way : {Way::kNothing, Way::kLibraryPath, Way::kPreload, Way::kRedirect}) {
    if (!make_choice(way, out, error)) return false;
    const std::string trouble = trouble_with(program, *out, &linked);
    if (trouble.empty()) {
      out->reason = reason;
      return true;
    }
    if (reason.empty()) reason = trouble;
    *error = trouble;
  }
  return false;
}

bool choose(const Program& program, Way way, Choice* out, std::string* error) {
  if (!make_choice(way, out, error)) return false;
  // Whoever sets nothing claims that the program finds it.
  bool linked = false;
  if (way == Way::kNothing) *error = trouble_with(program, *out, &linked);
  return way != Way::kNothing || error->empty();
}

}  // namespace opennrt::tools
