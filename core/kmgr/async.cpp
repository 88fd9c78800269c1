// SPDX-License-Identifier: Apache-2.0
#include "kmgr/async.h"

#include <optional>

#include "dump/core_dump.h"
#include "kmgr/manager.h"
#include "log/context.h"
#include "trace/trace.h"

namespace opennrt::kmgr {

namespace {

constexpr std::uint32_t kTransferCapacity = 64;
constexpr std::uint32_t kFirstQueue[kXuTypes] = {0, 2, 3};

// The caller gets the code only, and long after its call.
NRT_STATUS told(const AsyncRequest& r, const Status& status) {
  if (status.is_ok()) return NRT_SUCCESS;
  constexpr const char* kCalls[] = {"nrta_execute_schedule", "nrta_tensor_write",
                                    "nrta_tensor_read", "nrta_tensor_copy", "nrta_cc_schedule"};
  const char* const call = kCalls[static_cast<std::size_t>(r.kind)];
  const NRT_STATUS code = status.code();
  log::api_error(call, nrt_get_status_as_str(code), code, status.message(), status.remedy());
  dump::on_failure({.api = call, .code = code});
  return code;
}

// Runs on the worker of a queue of transfers or collectives.
Status transfer(AsyncRequest& r) {
  switch (r.kind) {
    case AsyncRequest::Kind::kWrite:
      return r.tensor->write(r.in, r.offset, r.bytes);
    case AsyncRequest::Kind::kRead:
      return r.tensor->read(r.out, r.offset, r.bytes);
    case AsyncRequest::Kind::kCopy:
      return r.tensor->copy_from(*r.source, r.source_offset, r.offset, r.bytes);
    case AsyncRequest::Kind::kCollective: {
      const trace::Span run(trace::EventType::kHostCcExec, r.collective->logical_core,
                            {r.collective->stream});
      return r.collective->run();
    }
    case AsyncRequest::Kind::kExecute:
      break;
  }
  return Status::failure("request of kind {}", static_cast<int>(r.kind));
}

Status not_live(const char* name, TensorHandle tensor) {
  return Status::invalid("{} {:#x} is not a live tensor", name, tensor);
}

}  // namespace

AsyncEngine::AsyncEngine(Manager& manager, std::uint32_t logical_cores,
                         std::uint32_t compute_capacity)
    : manager_(manager),
      logical_cores_(logical_cores),
      compute_capacity_(compute_capacity),
      queues_(logical_cores) {}

AsyncEngine::~AsyncEngine() {
  for (auto& core : queues_)
    for (Slot& slot : core) delete slot.load(std::memory_order_acquire);
}

void AsyncEngine::drain() {
  for (auto& core : queues_)
    for (Slot& slot : core)
      if (AsyncQueue* const queue = slot.load(std::memory_order_acquire)) queue->drain("nrt_close");
}

Status AsyncEngine::no_such_core(std::int64_t core) const {
  return Status::invalid("logical core {}: this process has the logical cores 0 to {}", core,
                         logical_cores_ - 1);
}

Result<AsyncEngine::Slot*> AsyncEngine::find(std::uint64_t core, std::uint32_t type,
                                             std::int64_t queue) {
  if (core >= logical_cores_) return no_such_core(static_cast<std::int64_t>(core));
  if (type >= kXuTypes) return Status::invalid("unit type {}, must be 0 to {}", type, kXuTypes - 1);
  if (queue < 0 || queue >= kXuQueues[type])
    return Status::invalid("queue {}: unit {} has {} queue(s)", queue, kXuNames[type],
                           kXuQueues[type]);
  return &queues_[core][kFirstQueue[type] + static_cast<std::uint32_t>(queue)];
}

Result<AsyncQueue*> AsyncEngine::open(std::uint64_t core, XuType type, std::int64_t queue) {
  ONRT_ASSIGN(Slot* const slot, find(core, static_cast<std::uint32_t>(type), queue));
  if (AsyncQueue* const open = slot->load(std::memory_order_acquire)) return open;
  const std::lock_guard lock(mutex_);
  if (AsyncQueue* const open = slot->load(std::memory_order_acquire)) return open;
  const bool compute = type == XuType::kCompute;
  // Linux keeps 15 characters of a thread's name.
  constexpr const char* kNames[kXuTypes] = {"copy", "exec", "coll"};
  const std::string name =
      fmt::format("nrt-{}{}.{}", kNames[static_cast<std::uint32_t>(type)], core, queue);
  const auto logical_core = static_cast<std::uint32_t>(core);
  auto made = std::make_unique<AsyncQueue>(
      name, compute ? compute_capacity_ : kTransferCapacity,
      compute ? AsyncQueue::Run(
                    [this](AsyncRequest& r) { return told(r, manager_.run(*r.model, r.binding)); })
              : AsyncQueue::Run([](AsyncRequest& r) { return told(r, transfer(r)); }),
      [this, logical_core, compute] { return !compute || manager_.is_usable(logical_core); });
  slot->store(made.get(), std::memory_order_release);
  return made.release();
}

template <typename Fill>
Status AsyncEngine::submit(int core, XuType type, int queue, std::uint64_t* sequence, Fill&& fill) {
  if (core < 0) return no_such_core(core);
  ONRT_ASSIGN(AsyncQueue* const to, open(static_cast<std::uint32_t>(core), type, queue));
  ONRT_ASSIGN(const std::uint64_t number, to->submit(std::forward<Fill>(fill)));
  *sequence = Sequence{.core = static_cast<std::uint32_t>(core),
                       .queue = static_cast<std::uint32_t>(queue),
                       .type = static_cast<std::uint32_t>(type),
                       .number = number}
                  .pack();
  return {};
}

Status AsyncEngine::execute(ModelId model, TensorSetHandle inputs, TensorSetHandle outputs,
                            int queue, NRT_STATUS* result, std::uint64_t* sequence) {
  Models::Reference record = manager_.find_model(model);
  if (!record) return Status::make(NRT_INVALID_HANDLE, "model {} is not loaded", model);
  const int core = static_cast<int>(record->model->logical_core());
  std::optional<trace::Span> posted;  // until the request is queued
  return submit(core, XuType::kCompute, queue, sequence, [&](AsyncRequest& r) -> Status {
    ONRT_TRY(r.binding.fill(inputs, outputs, record->program()));
    if (r.binding.any_host_input || r.binding.any_host_output)
      return Status::invalid(
          "model {}: the sets hold host tensors, an asynchronous execution needs device tensors",
          record->program().name);
    ONRT_TRY(r.binding.check_core(record->program(), core));
    r.kind = AsyncRequest::Kind::kExecute;
    r.result = result;
    r.model = std::move(record);
    posted.emplace(trace::EventType::kPostRequest, static_cast<std::uint32_t>(core),
                   trace::Payload{model, r.number});
    return {};
  });
}

Status AsyncEngine::check_transfer(const tdrv::Tensor& tensor, const char* name,
                                   std::uint64_t offset, std::uint64_t bytes, int core) const {
  if (!tensor.has_storage() || !tensor.is_device())
    return Status::invalid("{} {} is no device tensor; asynchronous transfers need one", name,
                           tensor.name());
  if (offset > tensor.size() || bytes > tensor.size() - offset)
    return Status::invalid("{} {}: {} bytes at {}, the tensor has {}", name, tensor.name(), bytes,
                           offset, tensor.size());
  if (!manager_.same_device(static_cast<std::uint32_t>(core),
                            static_cast<std::uint32_t>(tensor.logical_core())))
    return Status::invalid(
        "{} {} is on logical core {}, whose device the DMA engines of logical core {} do not reach",
        name, tensor.name(), tensor.logical_core(), core);
  return {};
}

template <typename Fill>
Status AsyncEngine::transfer_host(TensorHandle tensor, std::uint64_t offset, std::uint64_t bytes,
                                  int core, int queue, NRT_STATUS* result, std::uint64_t* sequence,
                                  Fill&& fill) {
  return submit(core, XuType::kTensorOp, queue, sequence, [&](AsyncRequest& r) -> Status {
    r.tensor = Tensors::instance().pin(tensor);
    if (!r.tensor) return not_live("tensor", tensor);
    ONRT_TRY(check_transfer(*r.tensor, "tensor", offset, bytes, core));
    r.offset = offset;
    r.bytes = bytes;
    r.result = result;
    fill(r);
    return {};
  });
}

Status AsyncEngine::write(TensorHandle tensor, const void* in, std::uint64_t offset,
                          std::uint64_t bytes, int core, int queue, NRT_STATUS* result,
                          std::uint64_t* sequence) {
  return transfer_host(tensor, offset, bytes, core, queue, result, sequence, [in](AsyncRequest& r) {
    r.kind = AsyncRequest::Kind::kWrite;
    r.in = in;
  });
}

Status AsyncEngine::read(TensorHandle tensor, void* out, std::uint64_t offset, std::uint64_t bytes,
                         int core, int queue, NRT_STATUS* result, std::uint64_t* sequence) {
  return transfer_host(tensor, offset, bytes, core, queue, result, sequence,
                       [out](AsyncRequest& r) {
                         r.kind = AsyncRequest::Kind::kRead;
                         r.out = out;
                       });
}

Status AsyncEngine::copy(TensorHandle source, std::uint64_t source_offset, TensorHandle destination,
                         std::uint64_t offset, std::uint64_t bytes, int core, int queue,
                         NRT_STATUS* result, std::uint64_t* sequence) {
  return submit(core, XuType::kTensorOp, queue, sequence, [&](AsyncRequest& r) -> Status {
    r.source = Tensors::instance().pin(source);
    if (!r.source) return not_live("src", source);
    r.tensor = Tensors::instance().pin(destination);
    if (!r.tensor) return not_live("dst", destination);
    ONRT_TRY(check_transfer(*r.source, "src", source_offset, bytes, core));
    ONRT_TRY(check_transfer(*r.tensor, "dst", offset, bytes, core));
    ONRT_ASSIGN(const tdrv::Allocation from, r.source->allocation());
    ONRT_ASSIGN(const tdrv::Allocation to, r.tensor->allocation());
    if (from.hbm != to.hbm)
      return Status::invalid("src {} is in HBM {}, dst {} in HBM {}; both must be in the same one",
                             r.source->name(), from.hbm, r.tensor->name(), to.hbm);
    r.kind = AsyncRequest::Kind::kCopy;
    r.source_offset = source_offset;
    r.offset = offset;
    r.bytes = bytes;
    r.result = result;
    return {};
  });
}

Result<std::uintptr_t> AsyncEngine::prepare(std::unique_ptr<Collective> operation) {
  ONRT_TRY(operation->pin());
  operation->pins.clear();  // taken again when it is queued
  const std::uintptr_t handle = prepared_.insert(operation);
  if (handle == 0)
    return Status::resource("{} collectives are prepared, no more are possible", prepared_.size());
  return handle;
}

Status AsyncEngine::schedule(std::uintptr_t* prepared, int queue, NRT_STATUS* result,
                             std::uint64_t* sequence) {
  std::unique_ptr<Collective> operation = prepared_.remove(*prepared);
  if (!operation) return Status::invalid("{:#x} is not a prepared collective", *prepared);
  const int core = static_cast<int>(operation->logical_core);
  const trace::Span schedule(trace::EventType::kCcSchedule, operation->logical_core,
                             {operation->context_rank, operation->context_ranks});
  Status queued =
      submit(core, XuType::kCollectives, queue, sequence, [&](AsyncRequest& r) -> Status {
        ONRT_TRY(operation->pin());
        operation->stream = static_cast<std::uint32_t>(queue);
        r.kind = AsyncRequest::Kind::kCollective;
        r.result = result;
        r.collective = std::move(operation);
        return {};
      });
  *prepared = 0;
  if (operation) {
    operation->pins.clear();
    *prepared = prepared_.insert(operation);
  }
  return queued;
}

Status AsyncEngine::is_completed(std::uint64_t sequence, bool* completed) {
  const Sequence s = Sequence::unpack(sequence);
  ONRT_ASSIGN(Slot* const slot, find(s.core, s.type, s.queue));
  const AsyncQueue* const queue = slot->load(std::memory_order_acquire);
  const std::uint64_t issued = queue != nullptr ? queue->issued() : 0;
  if (s.number == 0 || s.number > issued)
    return Status::invalid("sequence {:#x}: number {} was never issued, the last one is {}",
                           sequence, s.number, issued);
  *completed = queue->completed() >= s.number;
  return {};
}

Status AsyncEngine::last_completed(std::uint32_t core, std::uint32_t type, int queue,
                                   std::uint64_t* sequence) {
  ONRT_ASSIGN(Slot* const slot, find(core, type, queue));
  const AsyncQueue* const open = slot->load(std::memory_order_acquire);
  *sequence = Sequence{.core = core,
                       .queue = static_cast<std::uint32_t>(queue),
                       .type = type,
                       .number = open != nullptr ? open->completed() : 0}
                  .pack();
  return {};
}

Status AsyncEngine::notify_request(std::uint64_t sequence, int fd) {
  bool completed = false;
  ONRT_TRY(is_completed(sequence, &completed));
  const Sequence s = Sequence::unpack(sequence);
  ONRT_ASSIGN(Slot* const slot, find(s.core, s.type, s.queue));
  return slot->load(std::memory_order_acquire)->notify_request(s.number, fd);
}

Status AsyncEngine::notify_unit(std::uint32_t core, std::uint32_t type, int queue, int fd) {
  ONRT_TRY(find(core, type, queue).status());
  ONRT_ASSIGN(AsyncQueue* const open_queue, open(core, static_cast<XuType>(type), queue));
  return open_queue->notify_all(fd);
}

}  // namespace opennrt::kmgr
