// SPDX-License-Identifier: Apache-2.0
//
// Whoever breaks the rules of the protocol loses a connection, and nobody else
// anything.
#include <sys/resource.h>

#include "lab.h"

namespace opennrt::emu::remote::test {

namespace {

class Protocol : public RemoteTest {
 protected:
  int raw() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, directory.file("socket").c_str());
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    const timeval patience{20, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return fd;
  }
  static Head hello_head() {
    Head head{.kind = Kind::kHello};
    head.arg[0] = kHelloMagic;
    head.arg[1] = kProtocol;
    head.arg[2] = process_start_time(getpid());
    head.arg[3] = static_cast<std::uint64_t>(getpid());
    return head;
  }
  static std::string hello_payload(const std::string& settings = "",
                                   const char* version = OPENNRT_VERSION) {
    Hello hello;
    std::strncpy(hello.version, version, sizeof hello.version - 1);
    return std::string(reinterpret_cast<const char*>(&hello), sizeof hello) + settings;
  }
  // Answer to a hello: kind and text.
  std::pair<Kind, std::string> greet(const Head& head, const std::string& payload) {
    Channel c(raw());
    EXPECT_EQ(c.send(head, payload.data(), payload.size()), 0);
    Message m;
    if (c.receive(&m, false) != 0) return {Kind::kReply, "closed"};
    return {m.head.kind, std::string(reinterpret_cast<const char*>(m.payload), m.head.bytes)};
  }
  std::unique_ptr<Channel> welcome() {
    auto c = std::make_unique<Channel>(raw());
    const std::string payload = hello_payload();
    EXPECT_EQ(c->send(hello_head(), payload.data(), payload.size()), 0);
    Message m;
    EXPECT_EQ(c->receive(&m, false), 0);
    EXPECT_EQ(m.head.kind, Kind::kWelcome);
    return c;
  }
  std::int64_t request(Channel& c, Head head, const std::string& payload = "") {
    EXPECT_EQ(c.send(head, payload.data(), payload.size()), 0);
    Message m;
    const int r = c.receive(&m, false);
    return r ? r : m.head.kind == Kind::kReply ? m.head.result : -9999;
  }
  int open(Channel& c) {
    Head head{.kind = Kind::kOpen};
    head.arg[0] = 2;
    return static_cast<int>(request(c, head, "/dev/neuron0"));
  }
  // Somebody who keeps the rules is served.
  void still_serves() {
    auto client = attach();
    ASSERT_TRUE(client);
    const int fd = client->open("/dev/neuron0", 2);
    ASSERT_GE(fd, 0);
    std::uint64_t handle = 0;
    EXPECT_EQ(alloc(*client, fd, 4096, &handle), 0);
    EXPECT_EQ(client->close(fd), 0);
  }
  void all_gone() {
    EXPECT_TRUE(soon([&] { return server->processes().size() == 0; }));
    const Books b = books();
    EXPECT_EQ(b.attached, 0u);
    EXPECT_EQ(b.descriptors, 0u);
  }
};

TEST_F(Protocol, OtherVersionsAreRefusedWithBoth) {
  Head other = hello_head();
  other.arg[1] = kProtocol + 1;
  auto [kind, text] = greet(other, hello_payload());
  EXPECT_EQ(kind, Kind::kRefused);
  EXPECT_NE(text.find("protocol " + std::to_string(kProtocol)), std::string::npos) << text;
  EXPECT_NE(text.find("protocol " + std::to_string(kProtocol + 1)), std::string::npos) << text;
  std::tie(kind, text) = greet(hello_head(), hello_payload("", "9.8.7"));
  EXPECT_EQ(kind, Kind::kRefused);
  EXPECT_NE(text.find("9.8.7"), std::string::npos) << text;
  EXPECT_NE(text.find(OPENNRT_VERSION), std::string::npos) << text;
}

TEST_F(Protocol, WrongHellosAreRefused) {
  Head head = hello_head();
  head.arg[0] = 1;
  EXPECT_EQ(greet(head, hello_payload()).first, Kind::kRefused);
  head = hello_head();
  head.arg[2] += 1;  // another start time
  EXPECT_EQ(greet(head, hello_payload()).first, Kind::kRefused);
  head = hello_head();
  head.arg[3] = 1;  // in its own name space it would be another number
  const auto [kind, text] = greet(head, hello_payload());
  EXPECT_EQ(kind, Kind::kRefused);
  EXPECT_NE(text.find("pid namespace"), std::string::npos) << text;
  EXPECT_EQ(greet(hello_head(), "short").first, Kind::kRefused);
  head = hello_head();
  head.kind = Kind::kOpen;
  EXPECT_EQ(greet(head, hello_payload()).first, Kind::kRefused);
  EXPECT_EQ(greet(hello_head(), hello_payload("no value\n")).first, Kind::kRefused);
  still_serves();
}

TEST_F(Protocol, PacketsThatAreNoMessages) {
  std::vector<std::string> packets = {"", "x", std::string(47, 'x'), std::string(1000, '\xff')};
  Head lie{.kind = Kind::kOpen};
  lie.bytes = 100;  // of which none come
  packets.emplace_back(reinterpret_cast<const char*>(&lie), sizeof lie);
  lie.bytes = 1;
  packets.emplace_back(std::string(reinterpret_cast<const char*>(&lie), sizeof lie) + "four");
  lie.bytes = UINT32_MAX;
  packets.emplace_back(reinterpret_cast<const char*>(&lie), sizeof lie);
  Head large{.kind = Kind::kOpen};
  large.bytes = kMaxPayload + 1;
  packets.emplace_back(std::string(reinterpret_cast<const char*>(&large), sizeof large) +
                       std::string(kMaxPayload + 1, 'y'));
  for (const bool greeted : {false, true})
    for (const std::string& packet : packets) {
      auto c = greeted ? welcome() : std::make_unique<Channel>(raw());
      ASSERT_GE(send(c->fd(), packet.data(), packet.size(), MSG_NOSIGNAL), 0);
      Message m;
      const int r = c->receive(&m, false);
      EXPECT_TRUE(r == -EPIPE || (r == 0 && m.head.kind == Kind::kRefused)) << packet.size();
    }
  still_serves();
  all_gone();
}

TEST_F(Protocol, KindsThatNobodyMaySend) {
  for (const std::uint32_t kind : {0u, 1u, 14u, 50u, 100u, 102u, 103u, 105u, 106u, ~0u}) {
    auto c = welcome();
    Head head;
    head.kind = static_cast<Kind>(kind);
    EXPECT_EQ(request(*c, head), -EPIPE) << kind;
  }
  still_serves();
}

TEST_F(Protocol, DescriptorsOfOthersAndOfNobody) {
  auto theirs = attach();
  const int fd = theirs->open("/dev/neuron0", 2);
  ASSERT_GE(fd, 0);
  const pid_t pid = spawn([&] {
    auto mine = attach();
    abi::Semaphore s;
    for (const int number : {fd, fd + 1, 0, -1, INT32_MAX, fd - 1}) {
      void* out = nullptr;
      if (mine->ioctl(number, abi::kSemaphoreRead, reinterpret_cast<std::uintptr_t>(&s)) != -EBADF)
        return 1;
      if (mine->close(number) != -EBADF) return 2;
      if (mine->duplicate(number) != -EBADF) return 3;
      if (mine->mmap(number, 4096, 3, 0, &out) != -EBADF) return 4;
    }
    // The same number is another descriptor in another process.
    if (mine->open("/dev/neuron0", 1) != fd) return 5;
    return mine->close(fd) == 0 ? 0 : 6;
  });
  EXPECT_EQ(wait_for(pid), 0);
  abi::Semaphore s;
  EXPECT_EQ(theirs->ioctl(fd, abi::kSemaphoreRead, reinterpret_cast<std::uintptr_t>(&s)), 0);
  auto c = welcome();
  Head wide{.kind = Kind::kClose};
  wide.arg[0] = (std::uint64_t{1} << 32) + static_cast<std::uint64_t>(fd);
  EXPECT_EQ(request(*c, wide), -EBADF);
}

TEST_F(Protocol, AFloodOfDescriptorsEndsAtALimit) {
  const pid_t pid = spawn([&] {
    auto mine = attach();
    int last = 0, opened = 0;
    while ((last = mine->open("/dev/neuron0", 1)) >= 0 && opened < 100'000) ++opened;
    if (last != -EMFILE || opened != static_cast<int>(kDescriptorsOfProcess)) return 1;
    return mine->duplicate(Client::kFirstDescriptor) == -EMFILE ? 0 : 2;
  });
  EXPECT_EQ(wait_for(pid), 0);
  EXPECT_TRUE(soon([&] { return server->processes().size() == 0; }));
  still_serves();
}

TEST_F(Protocol, AFloodOfForksEndsAtALimit) {
  auto client = attach();
  ASSERT_GE(client->open("/dev/neuron0", 2), 0);
  std::vector<ForkToken> tokens;
  int r = 0;
  for (std::size_t i = 0; i < 2 * kForksOfProcess && r == 0; ++i) {
    ForkToken token;
    r = client->fork_prepare(&token);
    if (r == 0) tokens.push_back(token);
  }
  EXPECT_EQ(r, -EAGAIN);
  EXPECT_EQ(tokens.size(), kForksOfProcess);
  for (const ForkToken& token : tokens) client->cancel(token);
  client.reset();
  ForkToken token;
  client = attach();
  EXPECT_TRUE(soon([&] {
    const bool good = client->fork_prepare(&token) == 0;
    if (good) client->cancel(token);
    return good;
  }));
}

// An answer that is none, in the middle of a request that holds memory.
// As many connections as descriptors allow: one more is told so, one process leaves
// room for others, and all is well when they have gone.
TEST_F(Protocol, AFloodOfConnectionsIsRefusedWithTheReason) {
  stop();
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = 512;  // for 128 connections
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  start({});
  {
    std::vector<std::unique_ptr<Channel>> mine;
    for (int i = 0; i < 32; ++i) mine.push_back(welcome());
    const auto [kind, text] = greet(hello_head(), hello_payload());
    EXPECT_EQ(kind, Kind::kRefused);
    EXPECT_NE(text.find("has 32 connections, the most is 32"), std::string::npos) << text;
    for (int i = 32; i < 128; ++i) mine.push_back(std::make_unique<Channel>(raw()));
    std::string error;
    EXPECT_TRUE(soon([&] {
      return !Client::attach(options(), &error) &&
             error.find("has 128 connections, the most it may have") != std::string::npos;
    })) << error;
  }
  EXPECT_TRUE(soon([&] {
    std::string error;
    return Client::attach(options(), &error) != nullptr;
  }));
  still_serves();
  stop();
  setrlimit(RLIMIT_NOFILE, &before);
}

TEST_F(Protocol, WrongAnswersInTheMiddleOfARequest) {
  for (int way = 0; way < 6; ++way) {
    auto c = welcome();
    const int fd = open(*c);
    ASSERT_GE(fd, 0);
    abi::MemAllocV2MemType64 a;
    a.size = 4096;
    a.mem_type = 9;
    a.mem_handle = 0x7000'0000;
    Head head{.kind = Kind::kIoctl};
    head.arg[0] = static_cast<std::uint64_t>(fd);
    head.arg[1] = abi::kMemAllocV2mt64;
    head.arg[2] = 0x7100'0000;
    ASSERT_EQ(c->send(head, &a, sizeof a), 0);
    Message m;
    ASSERT_EQ(c->receive(&m, false), 0);
    ASSERT_EQ(m.head.kind, Kind::kUserWrite);
    Head back{.kind = Kind::kUserData};
    switch (way) {
      case 0:  // half of it is missing
        c->close();
        break;
      case 1:  // another request, as a second thread on the same connection would
        back = head;
        ASSERT_EQ(c->send(back, &a, sizeof a), 0);
        break;
      case 2:
        back.kind = Kind::kReply;
        ASSERT_EQ(c->send(back), 0);
        break;
      case 3:
        ASSERT_EQ(send(c->fd(), "x", 1, MSG_NOSIGNAL), 1);
        break;
      case 4:
        back.result = -EFAULT;  // an honest one
        ASSERT_EQ(c->send(back), 0);
        ASSERT_EQ(c->receive(&m, false), 0);
        EXPECT_EQ(m.head.result, -EFAULT);
        break;
      default:
        ASSERT_EQ(c->send(back), 0);
        ASSERT_EQ(c->receive(&m, false), 0);
        EXPECT_EQ(m.head.result, 0);
    }
    if (way < 4) {
      // The chunk is gone, and the connection with it.
      EXPECT_TRUE(soon([&] { return books().chunks == 0; })) << way;
    }
    // This process lives on, so its descriptor does too: close it.
    auto again = attach();
    EXPECT_EQ(again->close(fd), 0);
  }
  all_gone();
}

// Answers to a question about memory: too short, too long, too many.
TEST_F(Protocol, WrongBytesOfMemory) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{8}, kMaxPayload}) {
    auto c = welcome();
    const int fd = open(*c);
    Head head{.kind = Kind::kIoctl};
    head.arg[0] = static_cast<std::uint64_t>(fd);
    head.arg[1] = abi::kMemGetPa;
    head.arg[2] = 0x7100'0000;
    ASSERT_EQ(c->send(head), 0);  // without its argument, which is asked for then
    Message m;
    ASSERT_EQ(c->receive(&m, false), 0);
    ASSERT_EQ(m.head.kind, Kind::kUserRead);
    const std::vector<char> data(bytes);
    ASSERT_EQ(c->send(Head{.kind = Kind::kUserData}, data.data(), bytes), 0);
    ASSERT_EQ(c->receive(&m, false), 0);
    EXPECT_EQ(m.head.kind, Kind::kReply);
    EXPECT_EQ(m.head.result, -EFAULT);
    Head close_it{.kind = Kind::kClose};
    close_it.arg[0] = static_cast<std::uint64_t>(fd);
    EXPECT_EQ(request(*c, close_it), 0);
  }
}

// A process that never reads its answers holds its own thread only, and ends.
TEST_F(Protocol, SomebodyWhoNeverReads) {
  const pid_t pid = spawn([&] {
    auto c = welcome();
    const std::string command(1000, 'x');
    for (;;)
      if (send(c->fd(), command.data(), 0, MSG_DONTWAIT | MSG_NOSIGNAL) < 0) break;
    Head head{.kind = Kind::kReadText};
    head.arg[0] = kMaxPayload;
    const std::string path = "/sys/module/neuron/version";
    auto d = welcome();
    for (int i = 0; i < 100'000; ++i) {
      Head h = head;
      h.bytes = static_cast<std::uint32_t>(path.size());
      std::string packet(reinterpret_cast<const char*>(&h), sizeof h);
      packet += path;
      if (send(d->fd(), packet.data(), packet.size(), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) break;
    }
    pause();
    return 0;
  });
  ASSERT_TRUE(soon([&] { return server->processes().knows(static_cast<std::uint32_t>(pid)); }));
  still_serves();
  kill(pid, SIGKILL);
  wait_for(pid);
  EXPECT_TRUE(soon([&] { return server->processes().size() == 0; }));
  still_serves();
}

TEST_F(Protocol, DescriptorsThatNobodyAskedFor) {
  auto c = welcome();
  for (int i = 0; i < 20; ++i) {
    const int mine = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    ASSERT_EQ(c->send(Head{.kind = Kind::kExists}, "/dev/neuron0", 12, mine), 0);
    ::close(mine);
    Message m;
    ASSERT_EQ(c->receive(&m, false), 0);
    EXPECT_EQ(m.head.result, 1);
  }
  std::size_t open_files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++open_files;
  EXPECT_LT(open_files, 100u);
}

TEST_F(Protocol, OddPathsAndTexts) {
  auto c = welcome();
  EXPECT_EQ(request(*c, Head{.kind = Kind::kOpen}, std::string(5000, 'a')), -ENAMETOOLONG);
  EXPECT_EQ(request(*c, Head{.kind = Kind::kOpen}, std::string("/dev/neuron0\0x", 14)),
            0 + (1 << 20));
  EXPECT_EQ(request(*c, Head{.kind = Kind::kExists}, ""), 0);
  Head text{.kind = Kind::kWriteText};
  text.arg[0] = 100;  // longer than what comes
  EXPECT_EQ(request(*c, text, "/x"), -EINVAL);
  EXPECT_EQ(request(*c, Head{.kind = Kind::kControl}, std::string(60000, ' ')), -EINVAL);
  EXPECT_EQ(request(*c, Head{.kind = Kind::kControl}, "name 0 0 18446744073709551615 x"), -EFAULT);
  Head adopt{.kind = Kind::kAdopt};
  EXPECT_EQ(request(*c, adopt), -ENOENT);
}

class Settings : public RemoteTest {
 protected:
  void SetUp() override {}
};

TEST_F(Settings, AnotherMachineIsRefusedWithBothValues) {
  start({{"emulator.devices", "2"}, {"emulator.hbm_bytes", ""}});
  const auto attach_with = [&](std::vector<Setting> settings, std::string* error) {
    Options o = options();
    o.settings = std::move(settings);
    return Client::attach(o, error);
  };
  std::string error;
  EXPECT_TRUE(attach_with({{"emulator.devices", "2"}}, &error)) << error;
  EXPECT_TRUE(attach_with({}, &error)) << error;
  EXPECT_FALSE(attach_with({{"emulator.devices", "4"}}, &error));
  for (const char* part : {"emulator.devices", " 2,", " 4;", "emulator.socket"})
    EXPECT_NE(error.find(part), std::string::npos) << part << " in " << error;
  EXPECT_FALSE(attach_with({{"emulator.hbm_bytes", "1024"}}, &error));
  EXPECT_NE(error.find("unset"), std::string::npos) << error;
  EXPECT_FALSE(attach_with({{"emulator.nonsense", "1"}}, &error));
  EXPECT_NE(error.find("emulator.nonsense"), std::string::npos) << error;
  EXPECT_FALSE(attach_with({{"emulator.devices", std::string(70'000, '1')}}, &error));
}

// Who has made the socket and says nothing, and one whose queue is full. Nobody is
// told to end what is no daemon of ours.
TEST_F(Settings, WhoNeverAnswers) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, directory.file("socket").c_str(), sizeof address.sun_path - 1);
  const int listener = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listener, 1), 0);
  Options o = options();
  o.patience_ms = 100;
  std::string error;
  EXPECT_FALSE(Client::attach(o, &error));
  EXPECT_EQ(error, "the daemon behind " + directory.file("socket") +
                       " does not answer: Connection timed out");
  EXPECT_TRUE(soon([&] {
    return !Client::attach(o, &error) && error.find(" takes no connection; ") != std::string::npos;
  })) << error;
  ::close(listener);
}

}  // namespace

}  // namespace opennrt::emu::remote::test
