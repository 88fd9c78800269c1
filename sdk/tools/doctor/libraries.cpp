// SPDX-License-Identifier: Apache-2.0
//
// Which libnrt programs get.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "doctor/context.h"

namespace opennrt::tools::doctor {

namespace {

std::string directory_of(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

bool has_directory(const std::vector<std::string>& list, const std::string& directory) {
  return std::any_of(list.begin(), list.end(),
                     [&](const std::string& item) { return same_library(item, directory); });
}

std::string joined(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

// "/x/libnrt.so.1 (offers NRT_2.0.0)"
std::string described(const std::string& path) {
  Linkage linkage;
  std::string error;
  if (!read_library(path, &linkage, &error)) return error;
  return path + " (" +
         (linkage.offers_versions.empty() ? "offers no symbol version"
                                          : "offers " + joined(linkage.offers_versions)) +
         ")";
}

std::vector<std::string> library_path() {
  const char* text = std::getenv("LD_LIBRARY_PATH");
  return search_directories(text != nullptr ? text : "", "");
}

// Whose doing it is that this file is found.
std::string cause(const Program& program, const LoadedLibrary& library) {
  if (library.name.find('/') != library.name.npos) return "it was linked with that path";
  const std::string directory = directory_of(library.path);
  const Linkage& linkage = program.linkage;
  if (linkage.runpath.empty() &&
      has_directory(search_directories(linkage.rpath, program.file), directory))
    return "its RPATH names " + directory + ", which is searched before LD_LIBRARY_PATH";
  if (has_directory(library_path(), directory)) return "LD_LIBRARY_PATH names " + directory;
  if (has_directory(search_directories(linkage.runpath, program.file), directory))
    return "its RUNPATH names " + directory;
  return "the system's linker cache or a library in between leads there";
}

std::string exec_fix(const Context& context) {
  return "opennrt exec -- " + context.request().program[0];
}

void check_linked(Context& context, const Program& program, const LoadOrder& order, Findings& out) {
  const std::string& ours = context.library();
  for (const LoadedLibrary& library : order.libraries) {
    if (!is_libnrt(library.name) && !is_libnrt(library.path)) continue;
    if (library.path.empty()) {
      std::string where = "not in LD_LIBRARY_PATH, not in the linker cache";
      if (!program.linkage.runpath.empty())
        where += ", not in its RUNPATH " + program.linkage.runpath;
      if (!program.linkage.rpath.empty()) where += ", not in its RPATH " + program.linkage.rpath;
      out.push_back({"", program.file, "needs " + library.name + ", which is not found: " + where,
                     exec_fix(context)});
    } else if (!same_library(library.path, ours)) {
      out.push_back(
          {"", program.file,
           "gets another libnrt, " + described(library.path) + ": " + cause(program, library),
           exec_fix(context)});
    }
  }
}

void check_versions(const Program& program, const std::string& ours, Findings& out) {
  Linkage offered;
  std::string error;
  if (!read_library(ours, &offered, &error)) return;
  for (const auto& [file, versions] : program.linkage.requires_versions) {
    if (!is_libnrt(file)) continue;
    for (const std::string& version : versions)
      if (std::find(offered.offers_versions.begin(), offered.offers_versions.end(), version) ==
          offered.offers_versions.end())
        out.push_back({"", program.file,
                       "needs version " + version + " of " + file + "; " + ours + " offers " +
                           joined(offered.offers_versions),
                       "install a release of this runtime that has it"});
  }
}

void check_opened(Context& context, const Program& program, const LoadOrder& order, Findings& out) {
  const std::string& ours = context.library();
  for (const std::string& name : path_names(program.file))
    if (!same_library(name, ours))
      out.push_back({"", program.file,
                     "names " + name + ", which LD_LIBRARY_PATH and LD_PRELOAD do not change",
                     exec_fix(context)});
  const bool linked =
      std::any_of(order.libraries.begin(), order.libraries.end(),
                  [](const LoadedLibrary& l) { return is_libnrt(l.name) || is_libnrt(l.path); });
  if (linked) return;
  const std::string found = found_by_name(program, {}, "libnrt.so.1");
  if (found.empty())
    out.push_back(
        {"", program.file, "opening libnrt.so.1 by its name finds nothing", exec_fix(context)});
  else if (!same_library(found, ours))
    out.push_back({"", program.file, "opening libnrt.so.1 by its name gives " + described(found),
                   exec_fix(context)});
}

// What to do about a file that does not fit.
std::string remedy_for(const std::string& path, const Program& program) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return "name its path";
  if (!S_ISREG(info.st_mode)) return "name the file of a program";
  if (::access(path.c_str(), X_OK) != 0) return "name a program; if this is one: chmod +x " + path;
  if (program.is_static) return "link it dynamically";
  if ((info.st_mode & (S_ISUID | S_ISGID)) != 0) return "run a copy without that right";
  return "name a dynamically linked program for x86-64 and glibc";
}

// A file that a shell would be asked to read, and that holds no text.
bool is_data(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  char head[256];
  in.read(head, sizeof head);
  const auto bytes = static_cast<std::size_t>(in.gcount());
  return !std::string_view(head, bytes).starts_with("#!") && std::memchr(head, 0, bytes) != nullptr;
}

}  // namespace

void check_library(Context& context, Findings& out) {
  const std::string& ours = context.library();
  if (ours.empty()) {
    out.push_back({"", "libnrt.so.1",
                   "not beside this program, in lib or in " OPENNRT_LIBRARY_PLACE,
                   "install opennrt-core, or run the program where it was installed"});
    return;
  }
  Linkage linkage;
  std::string error;
  if (!read_library(ours, &linkage, &error))
    out.push_back({"", ours, error, "install opennrt-core again"});
  const char* preload = std::getenv("LD_PRELOAD");
  std::istringstream preloads(preload != nullptr ? preload : "");
  for (std::string list; std::getline(preloads, list, ':');) {
    std::istringstream words(list);
    for (std::string word; words >> word;)
      if (is_libnrt(word) && !same_library(word, ours))
        out.push_back({"", "LD_PRELOAD", "puts another libnrt first: " + described(word),
                       "unset LD_PRELOAD, or name " + ours});
  }
  // As a program finds it that opens the library by its name.
  Program self;
  if (emu::launcher::inspect(std::filesystem::read_symlink("/proc/self/exe").string(), &self,
                             &error) != emu::launcher::Verdict::kFits)
    return;
  const std::string found = found_by_name(self, {{"LD_PRELOAD", ""}}, "libnrt.so.1");
  if (found.empty() || same_library(found, ours)) return;
  const bool by_variable = has_directory(library_path(), directory_of(found));
  out.push_back({"", by_variable ? "LD_LIBRARY_PATH" : "linker cache",
                 "another libnrt comes first: " + described(found) + "; this one is " + ours,
                 by_variable
                     ? "put " + directory_of(ours) + " in front, or use opennrt exec -- PROGRAM"
                     : "set LD_LIBRARY_PATH=" + directory_of(ours) +
                           ", install opennrt-default, or use opennrt exec -- PROGRAM"});
}

void check_program(Context& context, Findings& out) {
  if (context.request().program.empty() || context.library().empty()) return;
  const std::string& name = context.request().program[0];
  const std::string path = emu::launcher::find_program(name);
  Program program;
  std::string error;
  if (path.empty()) {
    out.push_back({"", name, "not found on PATH", "name its path"});
    return;
  }
  if (emu::launcher::inspect(path, &program, &error) != emu::launcher::Verdict::kFits) {
    if (program.is_static) error = "linked statically: it takes no library from outside";
    out.push_back({"", path, error, remedy_for(path, program)});
    return;
  }
  if (program.file != path && is_data(path)) {
    out.push_back({"", path, "is neither a program nor a script", "name a program"});
    return;
  }
  LoadOrder order;
  if (!load_order(program, {}, &order, &error)) {
    out.push_back({"", program.file, "its loader cannot be asked: " + error,
                   "check that " + program.loader + " exists and runs"});
    return;
  }
  check_linked(context, program, order, out);
  check_versions(program, context.library(), out);
  check_opened(context, program, order, out);
}

}  // namespace opennrt::tools::doctor
