// SPDX-License-Identifier: Apache-2.0
//
// opennrt-emud itself: who starts it, when it ends, what it refuses.
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "lab.h"

namespace opennrt::emu::remote::test {

namespace {

class Daemon : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("OPENNRT_EMUD", OPENNRT_EMUD_PATH, 1);
    setenv("OPENNRT_PLUGIN_PATH", OPENNRT_PLUGINS, 1);
    setenv("OPENNRT_EMULATOR_IDLE_EXIT_S", "1", 1);
    setenv("OPENNRT_EMULATOR_HBM_BYTES", "2G", 1);
    setenv("OPENNRT_EMULATOR_HOST_BYTES", "256M", 1);
  }
  void TearDown() override {
    for (const std::uint32_t pid : started) kill(static_cast<pid_t>(pid), SIGKILL);
  }
  std::string socket() const { return directory.file("machine/emud.sock"); }
  std::unique_ptr<Client> attach(std::string* error, std::vector<Setting> settings = {}) {
    Options o;
    o.socket = socket();
    o.settings = std::move(settings);
    auto client = Client::attach(o, error);
    if (client) started.push_back(client->daemon_pid());
    return client;
  }
  static bool lives(std::uint32_t pid) { return kill(static_cast<pid_t>(pid), 0) == 0; }
  static std::string link(std::uint32_t pid, const char* name) {
    std::error_code ignored;
    return std::filesystem::read_symlink("/proc/" + std::to_string(pid) + "/" + name, ignored)
        .string();
  }

  Directory directory;
  std::vector<std::uint32_t> started;
};

// Of one that is stopped everybody hears in time, and what to do.
TEST_F(Daemon, OneThatIsStopped) {
  std::string error;
  auto client = attach(&error);
  ASSERT_TRUE(client) << error;
  const std::uint32_t pid = client->daemon_pid();
  Options o;
  o.socket = socket();
  o.start = false;
  o.patience_ms = 500;
  const auto program = Client::attach(o, &error);
  o.watch = true;
  const auto watcher = Client::attach(o, &error);
  ASSERT_TRUE(program && watcher) << error;
  EXPECT_EQ(watcher->exists("/dev/neuron0"), 1);
  ASSERT_EQ(kill(static_cast<pid_t>(pid), SIGSTOP), 0);
  ASSERT_TRUE(soon([&] { return process_state(static_cast<pid_t>(pid)) == 'T'; }));

  const std::string number = std::to_string(pid);
  const std::string said = "opennrt-emud (pid " + number +
                           ") is stopped and has not answered for 0.5 s; kill -CONT " + number +
                           " lets it go on, kill -9 " + number + " ends it";
  EXPECT_FALSE(Client::attach(o, &error));
  EXPECT_EQ(error, said);
  // A watcher waits once, whatever it asks then.
  char text[64];
  std::string reply;
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(watcher->read_text("/sys/module/neuron/version", text, sizeof text), kDaemonGone);
    ASSERT_EQ(watcher->control("owners", &reply), kDaemonGone);
    ASSERT_EQ(watcher->exists("/dev/neuron0"), kDaemonGone);
  }
  EXPECT_EQ(watcher->lost(), said);
  EXPECT_EQ(program->exists("/dev/neuron0"), kDaemonGone);
  EXPECT_EQ(program->lost(), said);

  ASSERT_EQ(kill(static_cast<pid_t>(pid), SIGCONT), 0);
  EXPECT_EQ(watcher->exists("/dev/neuron0"), kDaemonGone);
  EXPECT_EQ(program->exists("/dev/neuron0"), 1);
  const auto next = Client::attach(o, &error);
  ASSERT_TRUE(next) << error;
  EXPECT_EQ(next->exists("/dev/neuron0"), 1);
  EXPECT_EQ(next->lost(), "");
}

TEST_F(Daemon, StartsOnDemandAndEndsWhenIdle) {
  std::string error;
  auto client = attach(&error);
  ASSERT_TRUE(client) << error;
  const std::uint32_t pid = client->daemon_pid();
  EXPECT_NE(pid, static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(client->exists("/dev/neuron0"), 1);
  struct stat info{};
  ASSERT_EQ(stat(directory.file("machine").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  ASSERT_EQ(stat(socket().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0177, 0u);
  // It is nobody's child, in no directory of ours, in a session of its own.
  EXPECT_EQ(link(pid, "cwd"), "/");
  EXPECT_NE(getsid(static_cast<pid_t>(pid)), getsid(0));
  EXPECT_EQ(waitpid(static_cast<pid_t>(pid), nullptr, WNOHANG), -1);
  const std::string fds = "/proc/" + std::to_string(pid) + "/fd";
  for (const auto& entry : std::filesystem::directory_iterator(fds)) {
    std::error_code ignored;
    const std::string what = std::filesystem::read_symlink(entry, ignored).string();
    EXPECT_TRUE(what.find("pipe:") == std::string::npos) << what;
  }
  // A second client, the same machine.
  auto second = attach(&error);
  ASSERT_TRUE(second) << error;
  EXPECT_EQ(second->daemon_pid(), pid);
  client.reset();
  second.reset();
  EXPECT_TRUE(soon([&] { return !std::filesystem::exists(socket()); }));
  EXPECT_TRUE(soon([&] { return !lives(pid) || link(pid, "exe").empty(); }));
  // And again.
  client = attach(&error);
  ASSERT_TRUE(client) << error;
  EXPECT_NE(client->daemon_pid(), pid);
}

// Who only looks keeps it from nothing; whoever uses it does.
TEST_F(Daemon, WatchersDoNotKeepAnIdleOne) {
  std::string error;
  auto user = attach(&error);
  ASSERT_TRUE(user) << error;
  const std::uint32_t pid = user->daemon_pid();
  // In a process of its own: this one is a user.
  int line[2];
  ASSERT_EQ(pipe(line), 0);
  const pid_t watcher = fork();
  if (watcher == 0) {
    ::close(line[0]);
    Options o;
    o.socket = socket();
    o.start = false;
    o.watch = true;
    std::string refused;
    const auto client = Client::attach(o, &refused);
    if (!client || client->exists("/dev/neuron0") != 1) _exit(1);
    if (write(line[1], "!", 1) != 1) _exit(2);
    // It has a thread with a connection, and a device open, until the end.
    const int fd = client->open("/dev/neuron0", 2);
    while (client->exists("/dev/neuron0") == 1) usleep(50'000);
    _exit(fd >= 0 && !client->lost().empty() ? 0 : 3);
  }
  ::close(line[1]);
  char ready = 0;
  ASSERT_EQ(read(line[0], &ready, 1), 1);
  ::close(line[0]);
  usleep(1'500'000);  // longer than it may be idle
  EXPECT_TRUE(lives(pid));
  user.reset();
  int status = 0;
  ASSERT_EQ(waitpid(watcher, &status, 0), watcher);
  EXPECT_EQ(status, 0);
  EXPECT_FALSE(std::filesystem::exists(socket()));
}

TEST_F(Daemon, ASocketThatNobodyServesIsReplaced) {
  ASSERT_TRUE(std::filesystem::create_directory(directory.file("machine")));
  const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, socket().c_str());
  ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  close(fd);
  std::string error;
  auto client = attach(&error);
  ASSERT_TRUE(client) << error;
  EXPECT_EQ(client->exists("/dev/neuron0"), 1);
}

TEST_F(Daemon, AFileThatIsNoSocketIsKept) {
  ASSERT_TRUE(std::filesystem::create_directory(directory.file("machine")));
  std::ofstream(socket()) << "somebody's work";
  std::string error;
  EXPECT_FALSE(attach(&error));
  EXPECT_NE(error.find(socket() + " exists and is no socket"), std::string::npos) << error;
  std::string text;
  std::getline(std::ifstream(socket()) >> std::ws, text);
  EXPECT_EQ(text, "somebody's work");
}

TEST_F(Daemon, AKilledOneIsReplacedAndItsClientsAreTold) {
  std::string error;
  auto client = attach(&error);
  ASSERT_TRUE(client) << error;
  const int fd = client->open("/dev/neuron0", 2);
  ASSERT_GE(fd, 0);
  std::uint64_t handle = 0;
  ASSERT_EQ(alloc(*client, fd, kMiB, &handle), 0);
  void* view = nullptr;
  ASSERT_EQ(client->mmap(fd, kMiB, 3, pa_of(*client, fd, handle), &view), 0);
  static_cast<int*>(view)[9] = 99;
  kill(static_cast<pid_t>(client->daemon_pid()), SIGKILL);
  EXPECT_EQ(alloc(*client, fd, 4096, &handle), kDaemonGone);
  EXPECT_EQ(client->open("/dev/neuron0", 2), kDaemonGone);
  EXPECT_NE(client->lost().find("pid " + std::to_string(client->daemon_pid())), std::string::npos);
  EXPECT_EQ(static_cast<int*>(view)[9], 99);
  client->sleep_us(100);
  EXPECT_EQ(client->munmap(view, kMiB), 0);
  std::thread([&] { EXPECT_EQ(client->exists("/dev/neuron0"), kDaemonGone); }).join();
  auto next = attach(&error);
  ASSERT_TRUE(next) << error;
  EXPECT_NE(next->daemon_pid(), client->daemon_pid());
  EXPECT_EQ(client->exists("/dev/neuron0"), kDaemonGone) << "it spoke to another machine";
}

TEST_F(Daemon, ASignalIsNamed) {
  std::string error;
  auto client = attach(&error);
  ASSERT_TRUE(client) << error;
  kill(static_cast<pid_t>(client->daemon_pid()), SIGSEGV);
  ASSERT_TRUE(soon([&] { return client->exists("/dev/neuron0") == kDaemonGone; }));
  EXPECT_NE(client->lost().find("signal 11"), std::string::npos) << client->lost();
  client = attach(&error);
  ASSERT_TRUE(client) << error;
  kill(static_cast<pid_t>(client->daemon_pid()), SIGTERM);
  ASSERT_TRUE(soon([&] { return client->exists("/dev/neuron0") == kDaemonGone; }));
  EXPECT_NE(client->lost().find("told to end"), std::string::npos) << client->lost();
}

TEST_F(Daemon, ManyProcessesThatStartItGetOne) {
  int pids[2];
  ASSERT_EQ(pipe(pids), 0);
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      std::string error;
      Options o;
      o.socket = socket();
      auto client = Client::attach(o, &error);
      if (!client) std::fprintf(stderr, "%s\n", error.c_str());
      const std::uint32_t pid = client ? client->daemon_pid() : 0;
      [[maybe_unused]] const ssize_t n = write(pids[1], &pid, sizeof pid);
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      _exit(client ? 0 : 1);
    }
    children.push_back(child);
  }
  for (int i = 0; i < 8; ++i) {
    std::uint32_t pid = 0;
    ASSERT_EQ(read(pids[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
    EXPECT_NE(pid, 0u);
    started.push_back(pid);
    EXPECT_EQ(pid, started.front());
  }
  for (const pid_t child : children) waitpid(child, nullptr, 0);
  close(pids[0]);
  close(pids[1]);
}

TEST_F(Daemon, ItsErrorIsTheClients) {
  std::string error;
  EXPECT_FALSE(attach(&error, {{"emulator.product", "no-such-product"}}));
  EXPECT_NE(error.find("no-such-product"), std::string::npos) << error;
  EXPECT_FALSE(attach(&error, {{"emulator.devices", "99"}}));
  EXPECT_NE(error.find("99"), std::string::npos) << error;
  setenv("OPENNRT_EMUD", "/nowhere/opennrt-emud", 1);
  EXPECT_FALSE(attach(&error));
  EXPECT_NE(error.find("/nowhere/opennrt-emud"), std::string::npos) << error;
  setenv("OPENNRT_EMUD", "/bin/true", 1);
  EXPECT_FALSE(attach(&error));
  EXPECT_NE(error.find("/bin/true"), std::string::npos) << error;
}

TEST_F(Daemon, PlacesThatCannotBeUsed) {
  std::string error;
  Options o;
  o.socket = directory.file("a/b/c.sock");
  EXPECT_FALSE(Client::attach(o, &error));
  EXPECT_NE(error.find(directory.file("a/b")), std::string::npos) << error;
  EXPECT_NE(error.find("emulator.socket"), std::string::npos) << error;
  o.socket = directory.file("x") + std::string(200, 'x');
  EXPECT_FALSE(Client::attach(o, &error));
  EXPECT_NE(error.find("107"), std::string::npos) << error;
  ASSERT_TRUE(std::filesystem::create_directory(directory.file("open")));
  ASSERT_EQ(chmod(directory.file("open").c_str(), 0777), 0);
  o.socket = directory.file("open/c.sock");
  EXPECT_FALSE(Client::attach(o, &error));
  EXPECT_NE(error.find("0700"), std::string::npos) << error;
  std::ofstream(directory.file("file")) << "x";
  o.socket = directory.file("file/c.sock");
  EXPECT_FALSE(Client::attach(o, &error));
}

TEST_F(Daemon, TwoNeverServeOneSocket) {
  std::string error;
  auto client = attach(&error);
  ASSERT_TRUE(client) << error;
  // The lock is what counts, not the socket.
  ASSERT_EQ(unlink(socket().c_str()), 0);
  const std::string command = std::string(OPENNRT_EMUD_PATH) + " --socket " + socket() + " 2>&1";
  FILE* out = popen(command.c_str(), "r");
  char text[512] = {};
  ASSERT_GT(fread(text, 1, sizeof text - 1, out), 0u);
  EXPECT_NE(pclose(out), 0);
  EXPECT_NE(std::string(text).find("another one serves"), std::string::npos) << text;
  EXPECT_EQ(client->exists("/dev/neuron0"), 1);
}

TEST_F(Daemon, ARunningMachineIsComparedWithWhatIsAsked) {
  std::string error;
  auto client = attach(&error, {{"emulator.devices", "2"}});
  ASSERT_TRUE(client) << error;
  EXPECT_EQ(client->exists("/dev/neuron1"), 1);
  EXPECT_FALSE(attach(&error, {{"emulator.devices", "3"}}));
  EXPECT_NE(error.find("emulator.devices 2, this process asks for 3"), std::string::npos) << error;
  EXPECT_NE(error.find("pid " + std::to_string(client->daemon_pid())), std::string::npos) << error;
}

// A socket unit of a service manager: this process made the socket, the daemon is
// started when somebody has connected.
class Activated : public Daemon {
 protected:
  void SetUp() override {
    Daemon::SetUp();
    ASSERT_TRUE(std::filesystem::create_directory(directory.file("machine")));
    ASSERT_EQ(chmod(directory.file("machine").c_str(), 0700), 0);
  }
  void TearDown() override {
    Daemon::TearDown();
    for (const pid_t pid : children) waitpid(pid, nullptr, 0);
    close(listener);
  }
  void make_socket(int type) {
    listener = ::socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, socket().c_str());
    ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(listen(listener, 8), 0);
  }
  // Starts the daemon as a service manager does; its standard error goes to *out.
  pid_t start(const std::string& count = "1", const std::string& more = "", int* out = nullptr) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const pid_t pid = fork();
    if (pid == 0) {
      dup2(ends[1], STDERR_FILENO);
      dup2(listener, 3);
      fcntl(3, F_SETFD, 0);  // also where it is that number already
      const std::string line =
          "LISTEN_PID=$$ LISTEN_FDS=" + count + " exec " OPENNRT_EMUD_PATH " " + more;
      execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      _exit(127);
    }
    close(ends[1]);
    if (out)
      *out = ends[0];
    else
      close(ends[0]);
    children.push_back(pid);
    started.push_back(static_cast<std::uint32_t>(pid));
    return pid;
  }
  std::string refusal(const std::string& count, const std::string& more = "") {
    int out = -1, status = 0;
    waitpid(start(count, more, &out), &status, 0);
    children.pop_back();
    started.pop_back();
    char text[1024] = {};
    EXPECT_GE(read(out, text, sizeof text - 1), 0);
    close(out);
    return WIFEXITED(status) && WEXITSTATUS(status) == 1 ? text : "no refusal";
  }
  std::unique_ptr<Client> connect(std::string* error) {
    Options o;
    o.socket = socket();
    o.start = false;
    return Client::attach(o, error);
  }

  int listener = -1;
  std::vector<pid_t> children;
};

TEST_F(Activated, WhoConnectsBeforeItRunsAndAfterIsServed) {
  make_socket(SOCK_SEQPACKET);
  for (int life = 0; life < 2; ++life) {
    std::string error, later;
    std::unique_ptr<Client> first;
    std::thread waits([&] { first = connect(&error); });
    // Connected, unanswered: the socket is readable for the one who listens.
    pollfd queue{listener, POLLIN, 0};
    ASSERT_EQ(poll(&queue, 1, 10'000), 1);
    const pid_t pid = start();
    waits.join();
    ASSERT_TRUE(first) << error;
    EXPECT_EQ(first->daemon_pid(), static_cast<std::uint32_t>(pid));
    EXPECT_EQ(first->exists("/dev/neuron0"), 1);
    // Another connection of the same process, then another client.
    std::thread([&] { EXPECT_EQ(first->exists("/dev/neuron0"), 1); }).join();
    auto second = connect(&later);
    ASSERT_TRUE(second) << later;
    EXPECT_EQ(second->daemon_pid(), static_cast<std::uint32_t>(pid));
    first.reset();
    second.reset();
    // Idle: it ends and leaves the socket to the one who made it.
    int status = -1;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
    children.clear();
    started.clear();
    EXPECT_TRUE(std::filesystem::is_socket(socket()));
  }
}

TEST_F(Activated, ItsDeathIsNoticedThoughTheSocketStays) {
  make_socket(SOCK_SEQPACKET);
  const pid_t pid = start();
  std::string error;
  auto client = connect(&error);
  ASSERT_TRUE(client) << error;
  kill(pid, SIGKILL);
  EXPECT_EQ(client->exists("/dev/neuron0"), kDaemonGone);
}

TEST_F(Activated, WhatCannotBeServedIsRefused) {
  make_socket(SOCK_STREAM);
  EXPECT_NE(refusal("1").find("ListenSequentialPacket="), std::string::npos);
  close(listener);
  std::filesystem::remove(socket());
  make_socket(SOCK_SEQPACKET);
  EXPECT_NE(refusal("2").find("LISTEN_FDS=2"), std::string::npos);
  EXPECT_NE(refusal("1", "--socket /nowhere/x.sock").find(socket()), std::string::npos);
}

// Memory and descriptors of the daemon after many processes.
TEST_F(Daemon, StaysTheSameSize) {
  // AddressSanitizer would keep what was freed, which is no growth of the daemon.
  setenv("ASAN_OPTIONS",
         "quarantine_size_mb=1:thread_local_quarantine_size_kb=64:detect_stack_use_after_return=0",
         1);
  std::string error;
  auto client = attach(&error);
  ASSERT_TRUE(client) << error;
  const std::string proc = "/proc/" + std::to_string(client->daemon_pid());
  const auto descriptors = [&] {
    std::size_t n = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(proc + "/fd"))
      ++n;
    return n;
  };
  const auto anonymous_kb = [&] {
    std::ifstream file(proc + "/status");
    for (std::string line; std::getline(file, line);)
      if (line.starts_with("RssAnon:")) return std::stoul(line.substr(8));
    return 0ul;
  };
  const auto round = [&](int n) {
    for (int i = 0; i < n; ++i) {
      const pid_t pid = fork();
      if (pid == 0) {
        std::string ignored;
        Options o;
        o.socket = socket();
        o.start = false;
        auto mine = Client::attach(o, &ignored);
        const int fd = mine ? mine->open("/dev/neuron0", 2) : -1;
        std::uint64_t handle = 0;
        if (fd >= 0) alloc(*mine, fd, 4 * kMiB, &handle);
        std::vector<char> bytes(kMiB);
        if (handle) copy(*mine, fd, handle, bytes.data(), bytes.size(), 0, true);
        kill(getpid(), SIGKILL);
      }
      waitpid(pid, nullptr, 0);
    }
    std::string holders;
    return soon([&] { return client->control("holders 0", &holders) == 0 && holders.empty(); });
  };
  ASSERT_TRUE(round(50));
  const std::size_t fds = descriptors();
  const unsigned long kb = anonymous_kb();
  ASSERT_TRUE(round(300));
  EXPECT_TRUE(soon([&] { return descriptors() <= fds; })) << descriptors() << " from " << fds;
  EXPECT_LT(anonymous_kb(), kb + 2048);
}

}  // namespace

}  // namespace opennrt::emu::remote::test
