// SPDX-License-Identifier: Apache-2.0
//
// The machine served by opennrt-emud.
#include <cerrno>
#include <cstring>
#include <memory>

#include "preload/backend.h"
#include "remote/client.h"

namespace opennrt::emu::preload {

namespace {

// No exception leaves: the callers are C functions of somebody's program.
template <typename F>
auto guarded(F f) noexcept -> decltype(f()) {
  // Results carry their error; a program's errno changes by a failure only.
  const int before = errno;
  decltype(f()) result;
  try {
    result = f();
  } catch (...) {
    result = static_cast<decltype(f())>(-ENOMEM);
  }
  errno = before;
  return result;
}

class Remote final : public Backend {
 public:
  explicit Remote(std::unique_ptr<remote::Client> client) : client_(std::move(client)) {}

  int open(const char* path, std::uint32_t access) override {
    return guarded([&] { return client_->open(path, access); });
  }
  int close(int descriptor) override {
    return guarded([&] { return client_->close(descriptor); });
  }
  int duplicate(int descriptor) override {
    return guarded([&] { return client_->duplicate(descriptor); });
  }
  std::int64_t ioctl(int descriptor, std::uint32_t request, std::uint64_t argument) override {
    return guarded([&] { return client_->ioctl(descriptor, request, argument); });
  }
  int mmap(int descriptor, std::uint64_t bytes, std::uint32_t prot, std::uint64_t offset,
           void* address, void** out) override {
    return guarded([&] { return client_->mmap(descriptor, bytes, prot, offset, out, address); });
  }
  int munmap(void* address, std::uint64_t bytes) override {
    return guarded([&] { return client_->munmap(address, bytes); });
  }
  std::int64_t read_text(const char* path, char* buffer, std::size_t bytes) override {
    return guarded([&] { return client_->read_text(path, buffer, bytes); });
  }
  std::int64_t write_text(const char* path, const char* text, std::size_t bytes) override {
    return guarded([&] { return client_->write_text(path, std::string_view(text, bytes)); });
  }
  int prepare(Handover* out) override {
    return guarded([&] {
      remote::ForkToken token;
      const int result = client_->fork_prepare(&token);
      std::memcpy(out->id, token.id, sizeof out->id);
      out->hold = token.hold;
      return result;
    });
  }
  int adopt(const Handover& handover) override {
    return guarded([&] { return client_->adopt(token_of(handover)); });
  }
  void cancel(const Handover& handover) override {
    guarded([&] { return client_->cancel(token_of(handover)), 0; });
  }

 private:
  static remote::ForkToken token_of(const Handover& handover) {
    remote::ForkToken token;
    std::memcpy(token.id, handover.id, sizeof token.id);
    token.hold = handover.hold;
    return token;
  }

  std::unique_ptr<remote::Client> client_;
};

}  // namespace

Backend* connect_backend(const char* socket, std::string* error) {
  remote::Options options;
  options.socket = socket;
  options.start = false;
  std::unique_ptr<remote::Client> client = remote::Client::attach(options, error);
  return client ? new Remote(std::move(client)) : nullptr;
}

}  // namespace opennrt::emu::preload
