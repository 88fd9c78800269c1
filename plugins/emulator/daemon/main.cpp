// SPDX-License-Identifier: Apache-2.0
//
// opennrt-emud: one software device for all processes of a user. Processes with
// emulator.scope: machine start it; it ends when nobody uses it any more.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <string>

#include "config/config.h"
#include "device/device.h"
#include "log/log.h"
#include "plugin/loader.h"
#include "port_config.h"
#include "remote/server.h"
#include "remote/spawn.h"
#include "report.h"

namespace {

using namespace opennrt;

constexpr int kUsage = 2;

emu::remote::Server* running = nullptr;
emu::remote::SharedPage* last_words = nullptr;

void on_end(int) {
  if (running) running->stop();
}

// Tells the processes what ended the daemon, then ends by it.
void on_crash(int signal) {
  if (last_words) __atomic_store_n(&last_words->end_signal, signal, __ATOMIC_RELEASE);
  ::signal(signal, SIG_DFL);
  raise(signal);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  sigaction(signal, &action, nullptr);
}

struct Arguments {
  std::string socket;
  std::string plugins;  // one more directory of plugins
  int report = -1;      // descriptor for "ready", "busy" or an error
};

bool parse(int argc, char** argv, Arguments* out) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i], value = argv[i + 1];
    if (option == "--socket") {
      out->socket = value;
    } else if (option == "--plugins") {
      out->plugins = value;
    } else if (option == "--report-fd") {
      const auto [end, error] =
          std::from_chars(value.data(), value.data() + value.size(), out->report);
      if (error != std::errc() || *end != '\0' || out->report < 0) return false;
    } else {
      return false;
    }
  }
  return argc % 2 == 1;
}

// A descriptor per connection: the usual soft limit is for a few processes only.
void raise_descriptor_limit() {
  rlimit limit{};
  constexpr rlim_t kWanted = 8192;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kWanted) return;
  limit.rlim_cur = limit.rlim_max < kWanted ? limit.rlim_max : kWanted;
  setrlimit(RLIMIT_NOFILE, &limit);
}

// One word for whoever waits for the start.
class Report {
 public:
  explicit Report(int fd) : fd_(fd) {
    if (fd_ >= 0) fcntl(fd_, F_SETFD, FD_CLOEXEC);
  }
  ~Report() {
    if (fd_ >= 0) ::close(fd_);
  }
  int say(const std::string& text, int exit_code) {
    if (fd_ >= 0) {
      [[maybe_unused]] const ssize_t n = write(fd_, text.data(), text.size());
      ::close(fd_);
      fd_ = -1;
    } else if (exit_code != 0) {
      std::fprintf(stderr, "opennrt-emud: %s\n", text.c_str());
    }
    return exit_code;
  }
  bool asked() const { return fd_ >= 0; }

 private:
  int fd_;
};

// Lines of the daemon go to a file beside the socket. False: there is none.
bool open_log(const std::string& path) {
  const int fd =
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
  struct stat info{};
  const bool good = fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  if (good) dup2(fd, STDERR_FILENO);
  if (fd >= 0) close(fd);
  return good;
}

// Plugins are beside the library that started this program, or where they are
// installed or built together with it.
void find_plugins(const std::string& told) {
  std::error_code error;
  const std::filesystem::path here =
      std::filesystem::read_symlink("/proc/self/exe", error).parent_path();
  const char* given = secure_getenv("OPENNRT_PLUGIN_PATH");
  std::string all = given ? given : "";
  for (const std::string& directory :
       {told, (here / OPENNRT_PLUGINS_FROM_BIN).string(), (here / "../lib/plugins").string()})
    if (!directory.empty() && std::filesystem::is_directory(directory, error))
      all += (all.empty() ? "" : ":") + directory;
  setenv("OPENNRT_PLUGIN_PATH", all.c_str(), 1);
}

// Socket activation as sd_listen_fds(3) describes it: *fd is the socket passed to
// this process, -1 without one. False: what was passed cannot be served.
bool passed_socket(Arguments* arguments, int* fd, std::string* error) {
  constexpr int kFirst = 3;
  const char* pid = std::getenv("LISTEN_PID");
  const char* count = std::getenv("LISTEN_FDS");
  *fd = -1;
  if (!pid || !count || std::to_string(getpid()) != pid) return true;
  const std::string sockets = count;
  for (const char* name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) unsetenv(name);
  if (sockets == "0") return true;
  sockaddr_un address{};
  socklen_t size = sizeof address - 1;  // the path keeps its end
  int type = 0, listens = 0;
  socklen_t of_int = sizeof type;
  if (sockets != "1" || getsockname(kFirst, reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      address.sun_family != AF_UNIX || address.sun_path[0] == '\0' ||
      getsockopt(kFirst, SOL_SOCKET, SO_TYPE, &type, &of_int) != 0 || type != SOCK_SEQPACKET ||
      getsockopt(kFirst, SOL_SOCKET, SO_ACCEPTCONN, &listens, &of_int) != 0 || listens == 0) {
    *error = "LISTEN_FDS=" + sockets +
             ": expected one listening local socket with a path "
             "(ListenSequentialPacket= of a systemd socket unit)";
    return false;
  }
  if (!arguments->socket.empty() && arguments->socket != address.sun_path) {
    *error = "--socket " + arguments->socket + ", but the socket passed is " + address.sun_path;
    return false;
  }
  arguments->socket = address.sun_path;
  fcntl(kFirst, F_SETFD, FD_CLOEXEC);
  fcntl(kFirst, F_SETFL, O_RDWR | O_NONBLOCK);
  *fd = kFirst;
  return true;
}

int serve(const Arguments& arguments, int listener, Report& report) {
  raise_descriptor_limit();
  find_plugins(arguments.plugins);
  const config::Loaded loaded = config::load({.environment = config::process_environment()});
  if (!loaded.status.is_ok()) return report.say(std::string(loaded.status.message()), 1);
  plugin::Loader& loader = plugin::Loader::instance();
  loader.configure(loaded.config);
  const nrtp_host* host = loader.host();

  std::string error;
  emu::remote::ServerOptions options;
  options.socket = arguments.socket;
  options.listener = listener;
  if (options.socket.empty()) {
    emu::remote::Options client;
    if (!emu::read_remote_options(host, &client, &error)) return report.say(error, 1);
    options.socket = client.socket.empty() ? emu::remote::default_socket() : client.socket;
  }
  if (!emu::read_idle_exit(host, &options.idle_exit_s, &error)) return report.say(error, 1);
  if (!emu::remote::prepare_directory(options.socket, &error)) return report.say(error, 1);
  emu::remote::SocketLock lock;
  if (!lock.take(options.socket, &error)) {
    if (!error.empty()) return report.say(error, 1);
    return report.say(report.asked() ? "busy" : "another one serves " + options.socket, 1);
  }
  options.log = options.socket + ".log";
  if (report.asked() && !open_log(options.log)) options.log = "not kept";
  if (const Status logging = log::configure(config::log_settings(*loaded.config)); !logging.is_ok())
    return report.say(std::string(logging.message()), 1);

  emu::MachineConfig machine_config;
  machine_config.make_device = &emu::Device::create;
  options.settings = emu::machine_settings(host);
  options.plain_number = emu::plain_number;
  std::unique_ptr<emu::Machine> machine;
  {
    plugin::CapturedErrors captured;
    if (emu::read_machine_config(host, &machine_config, &error)) {
      // The working directory is left below.
      for (std::string* path : {&machine_config.report, &machine_config.inspect.directory})
        if (!path->empty()) *path = std::filesystem::absolute(*path).string();
      if (machine_config.inspect.directory.empty() && !machine_config.inspect.items.empty())
        machine_config.inspect.directory = std::filesystem::current_path().string();
      machine = emu::Machine::create(machine_config, &error);
    }
    if (!captured.empty()) error += (error.empty() ? "" : "; ") + captured.text();
  }
  if (!machine) return report.say(error, 1);
  if (chdir("/") != 0) return report.say(std::string("chdir /: ") + std::strerror(errno), 1);

  std::string reason;
  {
    emu::remote::Server server(*machine, std::move(options));
    running = &server;
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) handle(signal, on_end);
    if (!server.listen(&error)) {
      running = nullptr;
      return report.say(error, 1);
    }
    last_words = server.page();
    for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) handle(signal, on_crash);
    report.say("ready", 0);
    reason = server.run();
    std::strncpy(last_words->end_reason, reason.c_str(), sizeof last_words->end_reason - 1);
    __atomic_store_n(&last_words->end_signal, -1, __ATOMIC_RELEASE);
    for (const int signal : {SIGTERM, SIGINT, SIGHUP}) handle(signal, SIG_IGN);
    running = nullptr;
    last_words = nullptr;
  }
  emu::write_report(*machine, host);
  host->log(host->self, NRTP_LOG_INFO, "EMU", ("opennrt-emud ends: " + reason).c_str());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  const bool help =
      argc == 2 && (std::string_view(argv[1]) == "--help" || std::string_view(argv[1]) == "-h");
  if (help || !parse(argc, argv, &arguments)) {
    std::fprintf(
        help ? stdout : stderr,
        "usage: opennrt-emud [--socket PATH]\n"
        "Serves one software device to all processes of this user that set emulator.scope:\n"
        "machine (OPENNRT_EMULATOR_SCOPE=machine). They start it when they need it; it ends\n"
        "after emulator.idle_exit_s seconds without one. The emulator.* settings say which\n"
        "device. PATH: of the socket, else emulator.socket. A service manager may pass the\n"
        "listening socket instead (systemd: opennrt-emud.socket).\n");
    return help ? 0 : kUsage;
  }
  ::signal(SIGPIPE, SIG_IGN);
  Report report(arguments.report);
  // Whoever started this waits for the word, not for this process: its child is
  // nobody's.
  if (report.asked()) {
    const pid_t child = fork();
    if (child < 0) return report.say(std::string("fork: ") + std::strerror(errno), 1);
    if (child > 0) _exit(0);
  }
  try {
    int listener = -1;
    std::string error;
    if (!report.asked() && !passed_socket(&arguments, &listener, &error))
      return report.say(error, 1);
    return serve(arguments, listener, report);
  } catch (const std::exception& e) {
    return report.say(e.what(), 1);
  }
}
