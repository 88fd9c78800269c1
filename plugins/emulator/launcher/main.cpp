// SPDX-License-Identifier: Apache-2.0
//
// opennrt-emu, which `opennrt emu` runs: an unmodified program with an emulated
// machine.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "launcher/elf.h"
#include "launcher/launch.h"
#include "launcher/options.h"
#include "launcher/tree.h"
#include "opennrt/whole_file.hpp"
#include "preload/session.h"
#include "remote/client.h"

namespace {

using namespace opennrt::emu;
using namespace opennrt::emu::launcher;

constexpr int kEndMs = 5000;  // a daemon that was told to end

void say(const std::string& text) { std::fprintf(stderr, "opennrt emu: %s\n", text.c_str()); }

// The library beside the build's or the package's programs; empty: none.
std::string find_library() {
  std::error_code code;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", code);
  const std::filesystem::path base = self.parent_path().parent_path();
  for (const char* place : {"lib", OPENNRT_LIBRARY_PLACE}) {
    const std::filesystem::path path = base / place / "libopennrt-emu-preload.so";
    if (std::filesystem::exists(path, code)) return path.string();
  }
  return "";
}

// A directory of the launch for this user only; empty: *error.
std::string make_directory(std::string* error) {
  const char* temporary = std::getenv("TMPDIR");
  std::string name =
      std::string(temporary && *temporary == '/' ? temporary : "/tmp") + "/opennrt-emu-XXXXXX";
  if (::mkdtemp(name.data())) return name;
  *error = name + ": " + std::strerror(errno);
  return "";
}

// The loader's list: sanitizer runtimes insist on being first, others follow us.
std::string preload_list(const std::string& library, const Program& program) {
  std::string list;
  for (const std::string& name : program.linkage.needed)
    for (const char* first : {"libasan.", "libtsan.", "liblsan.", "libhwasan.", "libclang_rt."})
      if (name.starts_with(first)) list += name + ":";
  list += library;
  if (const char* before = std::getenv("LD_PRELOAD"); before && *before)
    list += std::string(":") + before;
  return list;
}

void copy_log(const std::string& from, const std::string& to) {
  std::FILE* log = std::fopen(from.c_str(), "re");
  std::string text;
  if (log) {
    char block[65536];
    for (std::size_t n; (n = std::fread(block, 1, sizeof block, log)) > 0;) text.append(block, n);
    std::fclose(log);
  }
  opennrt::WholeFile file;
  int error = file.create(to, opennrt::WholeFile::Pipes::kAllow);
  if (error == 0) error = file.write(text.data(), text.size());
  if (error == 0) error = file.commit();
  if (error != 0) say("--log " + to + ": " + std::strerror(error));
}

class Machine {
 public:
  ~Machine() {
    if (!directory_.empty()) remove_tree(directory_);
  }
  // False with *error.
  bool start(const Options& options, std::string* error) {
    directory_ = make_directory(error);
    if (directory_.empty()) return false;
    remote_.socket = options.shared ? remote::default_socket() : directory_ + "/emud.sock";
    for (const auto& setting : options.settings) remote_.settings.push_back(setting);
    client_ = remote::Client::attach(remote_, error);
    if (!client_) return false;
    return make_tree(
        tree(), [&](const std::string& name) { return client_->exists(name.c_str()) == 1; }, error);
  }
  std::string tree() const { return directory_ + "/tree"; }
  const std::string& socket() const { return remote_.socket; }
  const std::string& directory() const { return directory_; }
  const std::string& log_path() const { return client_->log_path(); }

  // In a forked process: a connection of its own keeps the machine alive.
  bool keep() {
    std::string error;
    remote_.start = false;
    std::unique_ptr<remote::Client> mine = remote::Client::attach(remote_, &error);
    if (!mine) return false;
    client_.release();  // the parent's
    client_ = std::move(mine);
    return true;
  }
  void leave() { directory_.clear(); }  // to the process that stays
  // A machine of this launch ends with it; its log is complete then.
  void end(bool shared) {
    if (shared) return;
    const auto daemon = static_cast<pid_t>(client_->daemon_pid());
    const int process = static_cast<int>(::syscall(SYS_pidfd_open, daemon, 0));
    if (process < 0) return;
    ::syscall(SYS_pidfd_send_signal, process, SIGTERM, nullptr, 0);
    pollfd gone{process, POLLIN, 0};
    ::poll(&gone, 1, kEndMs);
    ::close(process);
  }

 private:
  std::string directory_;
  remote::Options remote_;
  std::unique_ptr<remote::Client> client_;
};

int launch(const Options& options) {
  const std::string& name = options.program[0];
  const std::string path = find_program(name);
  if (path.empty()) {
    say(name + ": not found");
    return kNotFound;
  }
  Program program;
  std::string reason;
  const Verdict verdict = inspect(path, &program, &reason);
  if (verdict != Verdict::kFits) {
    say(reason);
    return verdict == Verdict::kMissing ? kNotFound : kCannotRun;
  }
  std::string library = find_library();
  if (library.empty()) {
    say("libopennrt-emu-preload.so is not installed beside this program");
    return kCannotStart;
  }
  Machine machine;
  std::string error;
  if (!machine.start(options, &error)) {
    say(error);
    return kCannotStart;
  }
  // The loader splits its list at blanks and colons.
  if (library.find_first_of(": ") != std::string::npos) {
    const std::string link = machine.directory() + "/preload.so";
    if (::symlink(library.c_str(), link.c_str()) != 0) {
      say(link + ": " + std::strerror(errno));
      return kCannotStart;
    }
    library = link;
  }
  Launch start;
  start.path = path;
  start.arguments = options.program;
  start.environment = {{"LD_PRELOAD", preload_list(library, program)},
                       {preload::kTreeVariable, machine.tree()},
                       {preload::kSocketVariable, machine.socket()},
                       {preload::kLibraryVariable, library}};
  start.guard = options.guard;
  start.stay = [&] { return machine.keep(); };
  bool last = true;
  const int code = run(start, &last);
  if (!last) {
    machine.leave();
    return code;
  }
  const std::string log = machine.log_path();
  machine.end(options.shared);
  if (!options.log.empty()) copy_log(log, options.log);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    Options options;
    std::string error;
    if (!parse(std::vector<std::string>(argv + 1, argv + argc), &options, &error)) {
      say(error);
      std::fprintf(stderr, "opennrt emu --help lists the options\n");
      return 2;
    }
    if (options.help) {
      std::fputs(kHelp, stdout);
      return std::fflush(stdout) == 0 ? 0 : 1;
    }
    return launch(options);
  } catch (const std::exception& e) {
    say(e.what());
    return kCannotStart;
  }
}
