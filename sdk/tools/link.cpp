// SPDX-License-Identifier: Apache-2.0
//
// opennrt link: links to this runtime in the library directory that some clients
// name in their code, where no library of the vendor is installed.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "command.h"
#include "json_list.h"
#include "nrt/nrt.h"
#include "opennrt/whole_file.hpp"
#include "output.h"

namespace opennrt::tools {

namespace {

namespace fs = std::filesystem;

// Where the published headers and clients expect the vendor's library.
constexpr const char* kDirectory = "/opt/aws/neuron/lib";
constexpr const char* kNames[] = {"libnrt.so.1", "libnrt.so"};
// In a directory that this command made. Its lines: the directories above that it
// made, too.
constexpr const char* kMarker = ".opennrt-link";

struct Options {
  bool json = false, undo = false;
  fs::path directory = kDirectory;
};

CommandLine command_line() {
  return {{.command = "opennrt link",
           .usage = "[options] [DIRECTORY]",
           .header = std::string("For programs with the library's directory in their code: makes "
                                 "DIRECTORY (default ") +
                     kDirectory +
                     ") with links to this runtime. It is refused when DIRECTORY exists. All other "
                     "programs find the runtime through LD_LIBRARY_PATH or the package "
                     "opennrt-default."},
          {Option("undo", "u", "remove what an earlier call made, and nothing else"),
           Option("json", "j",
                  "for programs: {directory, library, made} or {directory, removed}; made and "
                  "removed are lists of paths")}};
}

Options options_of(const Arguments& arguments) {
  Options out;
  out.undo = arguments.has("undo");
  out.json = arguments.has("json");
  arguments.want_words(0, 1);
  if (!arguments.words.empty()) out.directory = arguments.words[0];
  if (out.directory.empty()) throw UsageError("DIRECTORY is empty");
  out.directory = fs::absolute(out.directory).lexically_normal();
  if (!out.directory.has_filename()) out.directory = out.directory.parent_path();
  return out;
}

std::runtime_error failure(const fs::path& path, const std::string& what, int error) {
  return std::runtime_error(path.string() + ": " + what + ": " +
                            std::generic_category().message(error));
}

fs::path own_library() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&nrt_init), &info) == 0 || info.dli_fname == nullptr)
    throw std::runtime_error("the file of the runtime cannot be found");
  return fs::canonical(fs::path(info.dli_fname).parent_path()) / kNames[0];
}

bool is_there(const fs::path& path) { return fs::exists(fs::symlink_status(path)); }

// Made by this command: a directory, no link to one, with the marker.
bool is_ours(const fs::path& directory) {
  return fs::is_directory(fs::symlink_status(directory)) &&
         fs::is_regular_file(fs::symlink_status(directory / kMarker));
}

void write_marker(const fs::path& path, const std::vector<fs::path>& made) {
  std::string text;
  for (const fs::path& directory : made) text += directory.string() + "\n";
  WholeFile file;
  int error = file.create(path.string());
  if (error == 0) error = file.write(text.data(), text.size());
  if (error == 0) error = file.commit();
  if (error != 0) throw failure(path, "cannot write", error);
}

// Everything under another name first, so that the directory is there with all its
// links or not at all.
class Unfinished {
 public:
  explicit Unfinished(const fs::path& directory) {
    for (fs::path p = directory.parent_path(); !is_there(p); p = p.parent_path())
      made_.insert(made_.begin(), p);
  }
  ~Unfinished() {
    if (done_) return;
    std::error_code ignored;
    if (!beside_.empty()) fs::remove_all(beside_, ignored);
    for (auto p = made_.rbegin(); p != made_.rend(); ++p) rmdir(p->c_str());
  }
  void make(const fs::path& directory, const fs::path& library) {
    for (const fs::path& p : made_)
      if (mkdir(p.c_str(), 0755) != 0) throw failure(p, "cannot be made", errno);
    std::string name = (directory.parent_path() / ".opennrt-link-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw failure(directory.parent_path(), "cannot make a directory in it", errno);
    beside_ = name;
    for (const char* link : kNames) fs::create_symlink(library, beside_ / link);
    write_marker(beside_ / kMarker, made_);
    if (chmod(beside_.c_str(), 0755) != 0) throw failure(beside_, "chmod", errno);
    if (renameat2(AT_FDCWD, beside_.c_str(), AT_FDCWD, directory.c_str(), RENAME_NOREPLACE) != 0)
      throw failure(directory, "cannot be made", errno);
    done_ = true;
    made_.push_back(directory);
    for (const char* link : kNames) made_.push_back(directory / link);
  }
  const std::vector<fs::path>& made() const { return made_; }

 private:
  std::vector<fs::path> made_;  // the uppermost first
  fs::path beside_;
  bool done_ = false;
};

std::string json_list(const std::vector<fs::path>& paths) {
  JsonList list('[');
  for (const fs::path& path : paths) list.add(json_string(path.string()));
  return list.close();
}

void tell_link(const Options& options, const fs::path& library, const std::vector<fs::path>& made) {
  if (options.json)
    print(JsonList('{')
              .add("directory", json_string(options.directory.string()))
              .add("library", json_string(library.string()))
              .add("made", json_list(made))
              .close() +
          "\n");
  else
    print(options.directory.string() + " links to " + library.string() +
          (made.empty() ? " already\n" : "\n"));
}

int link(const Options& options) {
  const fs::path& directory = options.directory;
  const fs::path library = own_library();
  if (is_ours(directory)) {
    std::error_code error;
    const fs::path target = fs::read_symlink(directory / kNames[0], error);
    if (target == library) {
      tell_link(options, library, {});
      return kDone;
    }
    throw std::runtime_error(directory.string() + " links to " + target.string() +
                             ", not to this runtime, " + library.string() +
                             "; first: opennrt link --undo " + directory.string());
  }
  if (is_there(directory)) {
    const bool library_there = is_there(directory / kNames[0]) || is_there(directory / kNames[1]);
    throw std::runtime_error(directory.string() +
                             (library_there ? " holds a libnrt already" : " exists already") +
                             "; nothing is changed. Programs find this runtime first with "
                             "LD_LIBRARY_PATH=" +
                             library.parent_path().string());
  }
  Unfinished work(directory);
  work.make(directory, library);
  tell_link(options, library, work.made());
  return kDone;
}

int undo(const Options& options) {
  const fs::path& directory = options.directory;
  if (!is_ours(directory))
    throw std::runtime_error(
        directory.string() +
        (is_there(directory) ? " was not made by opennrt link" : " does not exist") +
        "; nothing is changed");
  const std::set<std::string> ours = {kNames[0], kNames[1], kMarker};
  for (const fs::directory_entry& entry : fs::directory_iterator(directory)) {
    const bool link = entry.is_symlink() || entry.path().filename() == kMarker;
    if (!link || ours.count(entry.path().filename()) == 0)
      throw std::runtime_error(entry.path().string() +
                               " was not made by opennrt link; nothing is changed");
  }
  std::vector<fs::path> made;
  std::ifstream marker(directory / kMarker);
  for (std::string line; std::getline(marker, line);) made.emplace_back(line);
  std::vector<fs::path> removed;
  for (const char* name : kNames)
    if (fs::remove(directory / name)) removed.push_back(directory / name);
  fs::remove(directory / kMarker);
  if (rmdir(directory.c_str()) != 0) throw failure(directory, "cannot be removed", errno);
  removed.push_back(directory);
  // Only what is above and has become empty, whatever the marker says.
  for (fs::path p = directory.parent_path();
       std::find(made.begin(), made.end(), p) != made.end() && rmdir(p.c_str()) == 0;
       p = p.parent_path())
    removed.push_back(p);
  if (options.json)
    print(JsonList('{')
              .add("directory", json_string(directory.string()))
              .add("removed", json_list(removed))
              .close() +
          "\n");
  else
    print(directory.string() + " is removed\n");
  return kDone;
}

}  // namespace

int link_command(const Words& words) {
  return command_line().run(words, [](const Arguments& arguments) {
    const Options options = options_of(arguments);
    return options.undo ? undo(options) : link(options);
  });
}

}  // namespace opennrt::tools
