// SPDX-License-Identifier: Apache-2.0
#include "remote/spawn.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <climits>
#include <cstring>

namespace opennrt::emu::remote {

namespace {

constexpr const char* kName = "opennrt-emud";
constexpr int kReportFd = 3;

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool runs(const std::string& path) { return access(path.c_str(), X_OK) == 0; }

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

// File that holds this code, with its links followed.
std::string own_file() {
  Dl_info info{};
  char buffer[PATH_MAX];
  if (dladdr(reinterpret_cast<void*>(&own_file), &info) && info.dli_fname &&
      std::strchr(info.dli_fname, '/') && realpath(info.dli_fname, buffer))
    return buffer;
  return realpath("/proc/self/exe", buffer) ? buffer : "";
}

std::string variable_of(const std::string& key) {
  std::string name = "OPENNRT_";
  for (const char c : key)
    name += c == '.' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

// Where the manifests of plugins are, when this code is one of them or lies beside
// their directory.
std::string plugin_directory() {
  const std::string directory = directory_of(own_file());
  if (exists(directory + "/emulator.plugin.yaml")) return directory;
  return exists(directory + "/plugins") ? directory + "/plugins" : "";
}

// This process' variables, with the settings put in as such.
std::vector<std::string> environment_for(const Options& options) {
  std::vector<std::string> out;
  for (char** item = environ; item && *item; ++item) {
    const std::string_view text(*item);
    const std::string_view name = text.substr(0, text.find('='));
    bool ours = name == "LD_PRELOAD";  // meant for this program
    for (const Setting& s : options.settings) ours = ours || name == variable_of(s.first);
    if (!ours) out.emplace_back(text);
  }
  for (const Setting& s : options.settings)
    if (!s.second.empty()) out.push_back(variable_of(s.first) + "=" + s.second);
  return out;
}

struct FileActions {
  posix_spawn_file_actions_t actions;
  FileActions() { posix_spawn_file_actions_init(&actions); }
  ~FileActions() { posix_spawn_file_actions_destroy(&actions); }
};
struct Attributes {
  posix_spawnattr_t attributes;
  Attributes() { posix_spawnattr_init(&attributes); }
  ~Attributes() { posix_spawnattr_destroy(&attributes); }
};

int spawn(const std::string& daemon, const std::string& socket, const Options& options, int report,
          pid_t* pid) {
  FileActions files;
  for (int fd = 0; fd < kReportFd; ++fd)
    posix_spawn_file_actions_addopen(&files.actions, fd, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&files.actions, report, kReportFd);
  posix_spawn_file_actions_addclosefrom_np(&files.actions, kReportFd + 1);
  Attributes how;
  sigset_t all, none;
  sigfillset(&all);
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&how.attributes, &all);
  posix_spawnattr_setsigmask(&how.attributes, &none);
  posix_spawnattr_setflags(&how.attributes,
                           POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  std::vector<std::string> words = {daemon, "--socket", socket, "--report-fd",
                                    std::to_string(kReportFd)};
  if (const std::string plugins = plugin_directory(); !plugins.empty()) {
    words.push_back("--plugins");
    words.push_back(plugins);
  }
  std::vector<std::string> variables = environment_for(options);
  std::vector<char*> argv, envp;
  for (std::string& word : words) argv.push_back(word.data());
  for (std::string& variable : variables) envp.push_back(variable.data());
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  return posix_spawn(pid, daemon.c_str(), &files.actions, &how.attributes, argv.data(),
                     envp.data());
}

}  // namespace

std::string default_socket() {
  const char* directory = secure_getenv("XDG_RUNTIME_DIR");
  if (directory && *directory == '/') return std::string(directory) + "/opennrt/emud.sock";
  return "/run/opennrt/emud.sock";
}

std::string find_daemon() {
  const char* given = secure_getenv("OPENNRT_EMUD");
  if (given && *given) return given;
  std::string directory = directory_of(own_file());
  // /usr/lib/<triplet>/opennrt/plugins is the deepest place.
  for (int level = 0; level < 6 && directory.size() > 1; ++level) {
    for (const char* below : {"/", "/bin/"})
      if (const std::string path = directory + below + kName; runs(path)) return path;
    directory = directory_of(directory);
  }
  return "";
}

bool socket_address(const std::string& path, sockaddr_un* out, std::string* error) {
  *out = {};
  out->sun_family = AF_UNIX;
  if (path.size() >= sizeof out->sun_path) {
    *error = "emulator.socket " + path + " has " + std::to_string(path.size()) +
             " characters, a socket's path has at most " + std::to_string(sizeof out->sun_path - 1);
    return false;
  }
  std::memcpy(out->sun_path, path.c_str(), path.size() + 1);
  return true;
}

bool prepare_directory(const std::string& socket, std::string* error) {
  const std::string directory = directory_of(socket);
  if (mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    *error = "directory " + directory +
             " of the software device's socket cannot be created: " + std::strerror(errno) +
             "; set emulator.socket (OPENNRT_EMULATOR_SOCKET) to a path of your own, or "
             "XDG_RUNTIME_DIR";
    return false;
  }
  struct stat info{};
  if (stat(directory.c_str(), &info) != 0 || !S_ISDIR(info.st_mode)) {
    *error = directory + " is no directory; set emulator.socket to a path in one of your own";
    return false;
  }
  // In a sticky directory like /tmp nobody replaces what is another's.
  const bool sticky = (info.st_mode & S_ISVTX) != 0;
  const bool foreign = info.st_uid != geteuid() && info.st_uid != 0;
  if (foreign || ((info.st_mode & (S_IWGRP | S_IWOTH)) && !sticky)) {
    *error = "directory " + directory +
             " of the software device's socket can be changed by other "
             "users; make it yours with mode 0700, or set emulator.socket to another place";
    return false;
  }
  return true;
}

Started start_daemon(const Options& options, const std::string& socket, std::string* error) {
  const std::string daemon = options.daemon.empty() ? find_daemon() : options.daemon;
  if (daemon.empty()) {
    *error = std::string(kName) +
             " is not installed beside this library; install it or name it with OPENNRT_EMUD";
    return Started::kFailed;
  }
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    *error = std::string("pipe for ") + kName + ": " + std::strerror(errno);
    return Started::kFailed;
  }
  // Above the numbers that the child's descriptors get.
  const int report = fcntl(ends[1], F_DUPFD_CLOEXEC, 10);
  close(ends[1]);
  pid_t pid = -1;
  const int failed = report < 0 ? errno : spawn(daemon, socket, options, report, &pid);
  if (report >= 0) close(report);
  if (failed != 0) {
    close(ends[0]);
    *error = daemon + " cannot be started: " + std::strerror(failed);
    return Started::kFailed;
  }
  std::string text;
  bool late = false;
  for (char buffer[512];;) {
    pollfd wait{ends[0], POLLIN, 0};
    const int ready = poll(&wait, 1, static_cast<int>(options.start_timeout_ms));
    if (ready < 0 && errno == EINTR) continue;
    late = ready == 0;
    if (ready <= 0) break;
    const ssize_t n = read(ends[0], buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    text.append(buffer, static_cast<std::size_t>(n));
  }
  close(ends[0]);
  // The process that was started only starts the daemon and is gone soon.
  if (late) kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (text == "ready") return Started::kReady;
  if (text == "busy") return Started::kBusy;
  if (late)
    *error = daemon + " was not ready within " + std::to_string(options.start_timeout_ms) + " ms";
  else if (text.empty())
    *error =
        daemon + " ended before it was ready" +
        (WIFSIGNALED(status) ? ", by signal " + std::to_string(WTERMSIG(status)) : std::string());
  else
    *error = text;
  return Started::kFailed;
}

}  // namespace opennrt::emu::remote
