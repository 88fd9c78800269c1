// SPDX-License-Identifier: Apache-2.0
#include "link/libraries.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>

namespace opennrt::tools {

namespace {

constexpr int kLoaderMs = 20'000;
constexpr std::size_t kMostOutput = 1 << 20;
constexpr std::size_t kMostSearched = std::size_t{64} << 20;  // of a file, for names

std::vector<std::string> environment_with(const Variables& variables) {
  std::vector<std::string> out;
  for (char** item = environ; item != nullptr && *item != nullptr; ++item) {
    const std::string text = *item;
    if (!variables.contains(text.substr(0, text.find('=')))) out.push_back(text);
  }
  for (const auto& [name, value] : variables)
    if (!value.empty()) out.push_back(name + "=" + value);
  return out;
}

std::vector<char*> pointers(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

// Everything until the end of the pipe or the time; false: it took too long.
bool read_all(int fd, std::string* out) {
  char block[65536];
  for (;;) {
    pollfd wait{fd, POLLIN, 0};
    const int ready = ::poll(&wait, 1, kLoaderMs);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    const ssize_t n = ::read(fd, block, sizeof block);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return true;
    if (out->size() < kMostOutput) out->append(block, static_cast<std::size_t>(n));
  }
}

// Standard output and error of a program. False with *error.
bool output_of(std::vector<std::string> words, const Variables& variables, std::string* out,
               std::string* error) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    *error = std::strerror(errno);
    return false;
  }
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&files, ends[1], 1);
  posix_spawn_file_actions_adddup2(&files, ends[1], 2);
  std::vector<std::string> environment = environment_with(variables);
  pid_t pid = -1;
  const int failed = ::posix_spawn(&pid, words[0].c_str(), &files, nullptr, pointers(words).data(),
                                   pointers(environment).data());
  posix_spawn_file_actions_destroy(&files);
  ::close(ends[1]);
  if (failed != 0) {
    ::close(ends[0]);
    *error = words[0] + ": " + std::strerror(failed);
    return false;
  }
  const bool whole = read_all(ends[0], out);
  ::close(ends[0]);
  if (!whole) ::kill(pid, SIGKILL);
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (!whole) *error = words[0] + " does not answer";
  return whole;
}

std::string base_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

// "name => path (0x...)", "path (0x...)", "name => not found"; anything else is no
// library.
bool read_line(const std::string& line, LoadedLibrary* out) {
  if (line.empty() || line[0] != '\t') return false;
  const std::size_t address = line.rfind(" (0x");
  const std::size_t arrow = line.find(" => ");
  if (arrow != std::string::npos) {
    out->name = line.substr(1, arrow - 1);
    if (address != std::string::npos && address > arrow)
      out->path = line.substr(arrow + 4, address - arrow - 4);
    return address != std::string::npos || line.find("not found", arrow) != std::string::npos;
  }
  if (address == std::string::npos) return false;
  out->name = out->path = line.substr(1, address - 1);
  return true;
}

// "ERROR: ld.so: object 'NAME' from LD_PRELOAD cannot be preloaded (...): ignored."
// and the like of LD_AUDIT; empty: something else.
std::string ignored_object(const std::string& line) {
  constexpr std::string_view kBegin = "ERROR: ld.so: object '", kEnd = "ignored.";
  if (!line.starts_with(kBegin) || !line.ends_with(kEnd)) return "";
  const std::size_t end =
      std::min(line.find("' from LD_", kBegin.size()), line.find("' cannot be ", kBegin.size()));
  return end == std::string::npos ? "" : line.substr(kBegin.size(), end - kBegin.size());
}

}  // namespace

std::string beside_own_library(const char* name) {
  std::error_code code;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", code);
  const std::filesystem::path base = self.parent_path().parent_path();
  for (const char* place : {"lib", OPENNRT_LIBRARY_PLACE}) {
    const std::filesystem::path path = base / place / name;
    if (std::filesystem::exists(path, code)) return path.string();
  }
  return "";
}

std::string own_library() { return beside_own_library("libnrt.so.1"); }

bool is_libnrt(const std::string& name) {
  const std::string file = base_name(name);
  return file == "libnrt.so" || file == "libnrt.so.1" || file.starts_with("libnrt.so.1.");
}

bool same_file(const std::string& a, const std::string& b) {
  std::error_code code;
  return std::filesystem::equivalent(a, b, code) && !code;
}

bool same_library(const std::string& a, const std::string& b) {
  if (same_file(a, b)) return true;
  std::error_code code;
  const auto size = std::filesystem::file_size(a, code);
  if (code || size != std::filesystem::file_size(b, code) || code) return false;
  std::ifstream left(a, std::ios::binary), right(b, std::ios::binary);
  using Bytes = std::istreambuf_iterator<char>;
  return left && right && std::equal(Bytes(left), Bytes(), Bytes(right));
}

bool load_order(const Program& program, const Variables& variables, LoadOrder* out,
                std::string* error) {
  *out = LoadOrder{};
  // What ldd(1) does. It goes on where something is missing, which --list does not.
  Variables with = variables;
  with["LD_TRACE_LOADED_OBJECTS"] = "1";
  for (const char* name : {"LD_WARN", "LD_VERBOSE", "LD_DEBUG", "LD_BIND_NOW"}) with[name] = "";
  std::string text;
  if (!output_of({program.loader, program.file}, with, &text, error)) return false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    LoadedLibrary library;
    if (read_line(line, &library))
      out->libraries.push_back(std::move(library));
    else if (const std::string object = ignored_object(line); !object.empty())
      out->ignored.push_back(object);
    else if (!line.empty() && out->trouble.size() < 1000)
      out->trouble += (out->trouble.empty() ? "" : "; ") + line;
  }
  return true;
}

std::string found_by_name(const Program& program, const Variables& variables,
                          const std::string& name) {
  Variables with = variables;
  const auto preload = with.find("LD_PRELOAD");
  const char* present = std::getenv("LD_PRELOAD");
  const std::string before = preload != with.end() ? preload->second
                             : present != nullptr  ? present
                                                   : "";
  with["LD_PRELOAD"] = before.empty() ? name : before + ":" + name;
  LoadOrder order;
  std::string error;
  if (!load_order(program, with, &order, &error)) return "";
  for (const LoadedLibrary& library : order.libraries)
    if (base_name(library.name) == name || base_name(library.path) == name) return library.path;
  if (std::find(order.ignored.begin(), order.ignored.end(), name) != order.ignored.end()) return "";
  // It is a library that was there already, under another name.
  for (const LoadedLibrary& library : order.libraries)
    if (is_libnrt(library.path)) return library.path;
  return "";
}

std::vector<std::string> path_names(const std::string& file) {
  constexpr char kName[] = "libnrt.so";
  std::set<std::string> names;
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info{};
  if (fd < 0 || ::fstat(fd, &info) != 0 || info.st_size <= 0) {
    if (fd >= 0) ::close(fd);
    return {};
  }
  const auto bytes = std::min(static_cast<std::size_t>(info.st_size), kMostSearched);
  void* map = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  ::close(fd);
  if (map == MAP_FAILED) return {};
  const char* const begin = static_cast<const char*>(map);
  const char* const end = begin + bytes;
  const auto printable = [](char c) { return std::isgraph(static_cast<unsigned char>(c)) != 0; };
  for (const char* at = begin; at < end;) {
    const auto* hit = static_cast<const char*>(
        ::memmem(at, static_cast<std::size_t>(end - at), kName, sizeof kName - 1));
    if (hit == nullptr) break;
    const char *first = hit, *last = hit;
    while (first > begin && printable(first[-1])) --first;
    while (last < end && printable(*last)) ++last;
    const std::string text(first, last);
    if (text.find('/') != std::string::npos && is_libnrt(text)) names.insert(text);
    at = last;
  }
  ::munmap(map, bytes);
  return {names.begin(), names.end()};
}

std::vector<std::string> search_directories(const std::string& path_list, const std::string& file) {
  std::vector<std::string> out;
  const std::string origin = std::filesystem::path(file).parent_path().string();
  std::istringstream items(path_list);
  for (std::string item; std::getline(items, item, ':');) {
    for (const std::string word : {"${ORIGIN}", "$ORIGIN"})
      if (const std::size_t at = item.find(word); at != std::string::npos)
        item.replace(at, word.size(), origin);
    if (!item.empty()) out.push_back(item);
  }
  return out;
}

std::string in_front(const std::string& file, const char* variable, const char* separator) {
  const char* present = std::getenv(variable);
  return present != nullptr && *present != '\0' ? file + separator + present : file;
}

}  // namespace opennrt::tools
