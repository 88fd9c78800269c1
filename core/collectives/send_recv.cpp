// SPDX-License-Identifier: Apache-2.0
#include "collectives/send_recv.h"

#include <algorithm>
#include <atomic>

#include "collectives/local_address.h"
#include "collectives/unsupported.h"

namespace opennrt::collectives {

namespace {

std::size_t index_of(SendRecv::Role role) { return static_cast<std::size_t>(role); }

}  // namespace

Status SendRecv::check_core(int core) const {
  if (core < 0 || core >= kCores)
    return Status::failure("logical core {} of the host: must be 0 to {}", core, kCores - 1);
  return {};
}

Status SendRecv::check_open(int core) const {
  ONRT_TRY(check_core(core));
  if (cores_[static_cast<std::size_t>(core)].state != State::kOpen)
    return Status::failure("logical core {} of the host: call nrt_async_sendrecv_init first", core);
  return {};
}

Status SendRecv::open(int core) {
  ONRT_TRY(check_core(core));
  if (core < options_.first_core || core >= options_.first_core + options_.cores)
    return Status::failure("logical core {} of the host: this process has {} to {}", core,
                           options_.first_core, options_.first_core + options_.cores - 1);
  const std::lock_guard lock(mutex_);
  Core& mine = cores_[static_cast<std::size_t>(core)];
  if (mine.state == State::kOpen)
    return Status::failure("logical core {} of the host is initialised already", core);
  if (mine.state == State::kBroken)
    return Status::failure("logical core {} of the host: its last close failed", core);
  mine.state = State::kOpen;
  return {};
}

Status SendRecv::close(int core) {
  const std::lock_guard lock(mutex_);
  ONRT_TRY(check_open(core));
  Core& mine = cores_[static_cast<std::size_t>(core)];
  std::size_t unconnected = 0, in_flight = 0;
  for (const std::uintptr_t handle : mine.communicators) {
    const std::unique_ptr<Communicator> communicator = communicators_.remove(handle);
    if (!communicator->was_connected) ++unconnected;
    for (const std::uintptr_t request : communicator->requests) {
      const auto gone = requests_.remove(request);
      if (!gone->done && gone->error.empty()) ++in_flight;
    }
    Link& link = *communicator->link;
    link.ends[index_of(communicator->role)] = 0;
    link.posted[index_of(communicator->role)].clear();
    // Nobody will serve what the other end has posted.
    if (communicator->was_connected) {
      auto& theirs = link.posted[1 - index_of(communicator->role)];
      for (const std::uintptr_t request : theirs)
        if (Request* r = requests_.find(request)) r->error = "the other end has been closed";
      theirs.clear();
    }
  }
  mine.communicators.clear();
  mine.state = unconnected + in_flight == 0 ? State::kClosed : State::kBroken;
  if (mine.state == State::kClosed) return {};
  return Status::failure(
      "logical core {} of the host: {} communicators were not connected and {} requests under way",
      core, unconnected, in_flight);
}

// Two communicators of one key in opposite roles meet, in the order they came.
Status SendRecv::join(Communicator& communicator, std::uintptr_t handle) {
  const std::size_t mine = index_of(communicator.role);
  for (const std::uintptr_t other :
       cores_[static_cast<std::size_t>(communicator.peer)].communicators) {
    Communicator& theirs = *communicators_.find(other);
    if (theirs.peer != communicator.core || theirs.role == communicator.role ||
        theirs.was_connected)
      continue;
    communicator.link = theirs.link;
    communicator.link->ends[mine] = handle;
    communicator.was_connected = theirs.was_connected = true;
    return {};
  }
  communicator.link = std::make_shared<Link>();
  communicator.link->ends[mine] = handle;
  return {};
}

Result<std::uintptr_t> SendRecv::connect(Role role, const std::string& peer_ip, int peer,
                                         int core) {
  ONRT_TRY(check_core(peer));
  const Address address = classify_address(peer_ip);
  const std::lock_guard lock(mutex_);
  ONRT_TRY(check_open(core));
  if (address == Address::kInvalid)
    return Status::failure("peer_ip '{}' is no IP address", peer_ip);
  if (address == Address::kRemote || peer < options_.first_core ||
      peer >= options_.first_core + options_.cores)
    return unsupported(kOtherProcesses)
        .with_context(fmt::format("logical core {} at {}", peer, peer_ip));
  Core& mine = cores_[static_cast<std::size_t>(core)];
  if (mine.communicators.size() >= kCommunicators)
    return Status::resource(
        "logical core {} of the host has {} communicators, no more are possible", core,
        kCommunicators);
  auto made = std::make_unique<Communicator>();
  made->role = role;
  made->core = core;
  made->peer = peer;
  made->started = Clock::now();
  const std::uintptr_t handle = communicators_.insert(made);
  if (handle == 0) return Status::resource("no more communicators are possible");
  Communicator& communicator = *communicators_.find(handle);
  ONRT_TRY(join(communicator, handle));
  mine.communicators.push_back(handle);
  return handle;
}

Result<bool> SendRecv::connected(std::uintptr_t handle) {
  const std::lock_guard lock(mutex_);
  const Communicator* communicator = communicators_.find(handle);
  if (communicator == nullptr)
    return Status::make(NRT_INVALID_HANDLE, "{:#x} is no communicator", handle);
  if (communicator->was_connected) {
    if (!communicator->link->complete())
      return Status::failure("logical core {} of the host has closed its end", communicator->peer);
    return true;
  }
  if (Clock::now() - communicator->started > options_.connect_timeout)
    return Status::make(NRT_TIMEOUT, "logical core {} of the host did not connect within {} ms",
                        communicator->peer, options_.connect_timeout.count());
  return false;
}

Result<std::uintptr_t> SendRecv::post(Role role, std::uintptr_t handle, std::uintptr_t tensor,
                                      std::uint64_t offset, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  Communicator* const communicator = communicators_.find(handle);
  if (communicator == nullptr)
    return Status::make(NRT_INVALID_HANDLE, "{:#x} is no communicator", handle);
  if (communicator->role != role)
    return Status::failure("the communicator is the {} end",
                           communicator->role == Role::kSender ? "sending" : "receiving");
  if (!communicator->was_connected)
    return Status::make(NRT_INVALID_HANDLE, "the communicator is not connected");
  if (!communicator->link->complete())
    return Status::failure("logical core {} of the host has closed its end", communicator->peer);
  Result<TensorAccess::Facts> facts = tensors_.look(tensor);
  if (!facts) return Status::failure("{}", facts.status().message());
  if (facts->logical_core < 0 || facts->logical_core + options_.first_core != communicator->core)
    return Status::failure("the tensor is not in the device memory of logical core {} of the host",
                           communicator->core);
  if (offset > facts->bytes || bytes > facts->bytes - offset)
    return Status::failure("range [{}, +{}) is outside the {} bytes of the tensor", offset, bytes,
                           facts->bytes);
  const auto pending = std::count_if(communicator->requests.begin(), communicator->requests.end(),
                                     [this](std::uintptr_t r) { return !requests_.find(r)->done; });
  if (pending >= kPending)
    return Status::resource("{} requests are pending, no more are possible", pending);
  auto made = std::make_unique<Request>();
  made->communicator = handle;
  made->tensor = tensor;
  made->offset = offset;
  made->bytes = bytes;
  made->posted = Clock::now();
  const std::uintptr_t request = requests_.insert(made);
  if (request == 0) return Status::resource("no more requests are possible");
  communicator->requests.push_back(request);
  communicator->link->posted[index_of(role)].push_back(request);
  return request;
}

void SendRecv::serve(Link& link) {
  auto& sends = link.posted[index_of(Role::kSender)];
  auto& receives = link.posted[index_of(Role::kReceiver)];
  while (!sends.empty() && !receives.empty()) {
    Request& from = *requests_.find(sends.front());
    Request& to = *requests_.find(receives.front());
    sends.pop_front();
    receives.pop_front();
    Status moved;
    if (from.bytes > to.bytes)
      moved =
          Status::failure("a message of {} bytes came for a buffer of {}", from.bytes, to.bytes);
    else if (from.bytes != 0)
      moved = tensors_.move(from.tensor, from.offset, to.tensor, to.offset, from.bytes);
    for (Request* request : {&from, &to}) {
      request->done = moved.is_ok();
      request->moved = from.bytes;
      if (!moved) request->error = std::string(moved.message());
    }
  }
}

Result<SendRecv::Progress> SendRecv::test(std::uintptr_t handle) {
  const std::lock_guard lock(mutex_);
  Request* const request = requests_.find(handle);
  if (request == nullptr) return Status::make(NRT_INVALID_HANDLE, "{:#x} is no request", handle);
  Communicator& communicator = *communicators_.find(request->communicator);
  if (!request->done && request->error.empty()) serve(*communicator.link);
  if (!request->error.empty()) return Status::failure("{}", request->error);
  if (!request->done) {
    if (Clock::now() - request->posted <= options_.transfer_timeout) return Progress{};
    return Status::make(NRT_TIMEOUT, "logical core {} of the host did not take part within {} ms",
                        communicator.peer, options_.transfer_timeout.count());
  }
  const Progress progress{.done = true, .bytes = request->moved};
  std::erase(communicator.requests, handle);
  requests_.remove(handle);
  return progress;
}

// A transfer is over when its request is done; the fence orders what the CPU
// wrote for the device.
Status SendRecv::flush(int core) {
  const std::lock_guard lock(mutex_);
  ONRT_TRY(check_open(core));
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return {};
}

}  // namespace opennrt::collectives
