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
// In a directory that this command made. Its lines: the directories above that were
// not there before.
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

std::runtime_error failure(const fs::path& path, const std::string& what, int error) {
  return std::runtime_error(path.string() + ": " + what + ": " +
                            std::generic_category().message(error));
}

// Without links and dots in what is above the last name, which may be a link itself.
fs::path resolved(const fs::path& path) {
  fs::path whole = fs::absolute(path);
  if (!whole.has_filename()) whole = whole.parent_path();
  const bool dots = whole.filename() == "." || whole.filename() == "..";
  std::error_code error;
  const fs::path above = fs::weakly_canonical(dots ? whole : whole.parent_path(), error);
  if (error) throw failure(whole, "cannot be resolved", error.value());
  return dots ? above : above / whole.filename();
}

Options options_of(const Arguments& arguments) {
  Options out;
  out.undo = arguments.has("undo");
  out.json = arguments.has("json");
  arguments.want_words(0, 1);
  if (!arguments.words.empty()) out.directory = arguments.words[0];
  if (out.directory.empty()) throw UsageError("DIRECTORY is empty");
  out.directory = resolved(out.directory);
  // The marker has a path a line.
  if (out.directory.string().find('\n') != std::string::npos)
    throw UsageError("DIRECTORY has a line break in its path");
  return out;
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
// links or not at all. Others may do the same at the same time.
class Unfinished {
 public:
  explicit Unfinished(const fs::path& directory) : directory_(directory) {}
  ~Unfinished() {
    std::error_code ignored;
    if (!beside_.empty()) fs::remove_all(beside_, ignored);
    if (done_) return;
    for (auto p = made_.rbegin(); p != made_.rend(); ++p) rmdir(p->c_str());
  }
  // False: somebody else was faster, and what is there now is theirs.
  bool make(const fs::path& library) {
    make_room();
    for (const char* link : kNames) fs::create_symlink(library, beside_ / link);
    write_marker(beside_ / kMarker, missing_);
    if (chmod(beside_.c_str(), 0755) != 0) throw failure(beside_, "chmod", errno);
    if (renameat2(AT_FDCWD, beside_.c_str(), AT_FDCWD, directory_.c_str(), RENAME_NOREPLACE) != 0) {
      if (errno == EEXIST) return leave_to_others();
      throw failure(directory_, "cannot be made", errno);
    }
    beside_.clear();
    done_ = true;
    made_.push_back(directory_);
    for (const char* link : kNames) made_.push_back(directory_ / link);
    return true;
  }
  const std::vector<fs::path>& made() const { return made_; }

 private:
  // Whoever made the links takes away what this call made for them.
  bool leave_to_others() {
    std::string lines;
    for (const fs::path& p : made_) lines += p.string() + "\n";
    const int fd =
        ::open((directory_ / kMarker).c_str(), O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return false;  // the directory is none of ours
    const bool told = ::write(fd, lines.data(), lines.size()) == static_cast<ssize_t>(lines.size());
    ::close(fd);
    done_ = told;
    return false;
  }
  // The directories above, and one in the last of them. What is made here may be
  // taken away by a call that failed.
  void make_room() {
    constexpr int kMostTries = 100;
    const fs::path above = directory_.parent_path();
    for (int tries = 1;; ++tries) {
      std::vector<fs::path> wanted;  // the uppermost first
      for (fs::path p = above; !is_there(p); p = p.parent_path()) wanted.insert(wanted.begin(), p);
      for (const fs::path& p : wanted) remember(missing_, p);
      fs::path at = above;
      int error = 0;
      for (auto p = wanted.begin(); p != wanted.end() && error == 0; ++p) {
        if (mkdir(p->c_str(), 0755) == 0)
          remember(made_, *p);
        else if (errno != EEXIST)
          error = errno, at = *p;
      }
      if (error == 0) {
        std::string name = (above / ".opennrt-link-XXXXXX").string();
        if (mkdtemp(name.data()) != nullptr) {
          beside_ = name;
          return;
        }
        error = errno;
      }
      if (error == ENOENT && tries < kMostTries) continue;
      throw at == above && is_there(above) ? failure(above, "cannot make a directory in it", error)
                                           : failure(at, "cannot be made", error);
    }
  }
  static void remember(std::vector<fs::path>& list, const fs::path& path) {
    if (std::find(list.begin(), list.end(), path) == list.end()) list.push_back(path);
  }

  const fs::path directory_;
  // Directories above: that were not there, and that this call made.
  std::vector<fs::path> missing_, made_;
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

// The directory is there: it has these links, or nothing is changed.
int found(const Options& options, const fs::path& library) {
  const fs::path& directory = options.directory;
  if (!is_ours(directory)) {
    const bool library_there = is_there(directory / kNames[0]) || is_there(directory / kNames[1]);
    throw std::runtime_error(directory.string() +
                             (library_there ? " holds a libnrt already" : " exists already") +
                             "; nothing is changed. Programs find this runtime first with "
                             "LD_LIBRARY_PATH=" +
                             library.parent_path().string());
  }
  for (const char* name : kNames) {
    std::error_code error;
    const fs::path link = directory / name, target = fs::read_symlink(link, error);
    if (target != library)
      throw std::runtime_error(link.string() +
                               (target.empty() ? " is missing" : " links to " + target.string()) +
                               ", not to this runtime, " + library.string() +
                               "; first: opennrt link --undo " + directory.string());
  }
  tell_link(options, library, {});
  return kDone;
}

int link(const Options& options) {
  const fs::path library = own_library();
  if (is_there(options.directory)) return found(options, library);
  Unfinished work(options.directory);
  if (!work.make(library)) return found(options, library);
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
