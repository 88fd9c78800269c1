// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>

#include "agent.h"

namespace opennrt::replay {

namespace {

class LocalAgent final : public Agent {
 public:
  LocalAgent(emu::Machine& machine, std::uint32_t pid) : machine_(machine), memory_(getpid()) {
    client_.pid = pid;
  }
  std::uint32_t pid() const override { return client_.pid; }
  int open(const std::string& path, std::uint32_t flags) override {
    const int fd = machine_.open(client_, path.c_str(), flags);
    if (fd >= 0) descriptors_.push_back(fd);
    return fd;
  }
  int close(int fd) override {
    std::erase(descriptors_, fd);
    return machine_.close(client_, fd);
  }
  int duplicate(int fd) override {
    const int copy = machine_.duplicate(fd);
    if (copy >= 0) descriptors_.push_back(copy);
    return copy;
  }
  std::int64_t ioctl(int fd, std::uint32_t request, std::uint64_t arg) override {
    return machine_.ioctl(client_, memory_, fd, request, arg);
  }
  int mmap(int fd, std::uint64_t bytes, std::uint32_t prot, std::uint64_t offset,
           std::uint64_t* address) override {
    void* out = nullptr;
    const int result = machine_.mmap(client_, fd, bytes, prot, offset, &out);
    *address = reinterpret_cast<std::uintptr_t>(out);
    if (result == 0) maps_.emplace_back(*address, bytes);
    return result;
  }
  int munmap(std::uint64_t address, std::uint64_t bytes) override {
    std::erase(maps_, std::pair(address, bytes));
    return machine_.munmap(client_, reinterpret_cast<void*>(address), bytes);
  }
  int load(std::uint64_t address, void* out, std::size_t bytes) override {
    return memory_.read(address, out, bytes);
  }
  int store(std::uint64_t address, const void* in, std::size_t bytes) override {
    return memory_.write(address, in, bytes);
  }
  std::int64_t read_text(const std::string& path, char* out, std::size_t bytes) override {
    return machine_.read_text(path.c_str(), out, bytes);
  }
  std::int64_t write_text(const std::string& path, const std::string& text) override {
    return machine_.write_text(path.c_str(), text);
  }
  std::unique_ptr<Agent> fork(std::uint32_t pid, std::vector<int>* descriptors) override {
    auto child = std::make_unique<LocalAgent>(machine_, pid);
    for (int& fd : *descriptors) child->descriptors_.push_back(fd = machine_.duplicate(fd));
    return child;
  }
  void end() override {
    for (const int fd : descriptors_) machine_.close(client_, fd);
    descriptors_.clear();
    for (const auto& [address, bytes] : maps_)
      machine_.munmap(client_, reinterpret_cast<void*>(address), bytes);
    maps_.clear();
  }

 private:
  emu::Machine& machine_;
  emu::CheckedMemory memory_;
  emu::Client client_;
  std::vector<int> descriptors_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> maps_;
};

class LocalTransport final : public Transport {
 public:
  explicit LocalTransport(emu::Machine& machine) : machine_(machine) {}
  std::unique_ptr<Agent> start(std::uint32_t pid) override {
    return std::make_unique<LocalAgent>(machine_, pid);
  }

 private:
  emu::Machine& machine_;
};

}  // namespace

std::unique_ptr<Transport> make_local(emu::Machine& machine) {
  return std::make_unique<LocalTransport>(machine);
}

}  // namespace opennrt::replay
