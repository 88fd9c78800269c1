// SPDX-License-Identifier: Apache-2.0
#include "kmgr/tensors.h"

#include <algorithm>
#include <optional>

#include "trace/trace.h"

namespace opennrt::kmgr {

namespace {

auto position(const std::vector<TensorSet::Entry>& entries, std::string_view name) {
  return std::lower_bound(
      entries.begin(), entries.end(), name,
      [](const TensorSet::Entry& e, std::string_view n) { return std::string_view(e.name) < n; });
}

std::uint32_t core_of(const tdrv::Tensor& tensor) {
  return trace::core_or_first(tensor.logical_core());
}

}  // namespace

void TensorSet::put(std::string_view name, TensorHandle tensor) {
  const auto at = position(entries_, name);
  if (at != entries_.end() && at->name == name)
    entries_[static_cast<std::size_t>(at - entries_.begin())].tensor = tensor;
  else
    entries_.insert(at, {std::string(name), tensor});
}

TensorHandle TensorSet::get(std::string_view name) const {
  const auto at = position(entries_, name);
  return at != entries_.end() && at->name == name ? at->tensor : 0;
}

Tensors& Tensors::instance() {
  static Tensors* const tensors = new Tensors;
  return *tensors;
}

Result<Tensors::Pin> Tensors::checked(TensorHandle tensor, std::string_view what) const {
  if (Pin found = tensors_.pin(tensor)) return found;
  return Status::invalid("{} {:#x} is not a live tensor", what, tensor);
}

Result<TensorHandle> Tensors::add(std::unique_ptr<tdrv::Tensor> tensor) {
  tdrv::Tensor* const added = tensor.get();
  const TensorHandle handle = tensors_.insert(tensor);
  if (handle == 0)
    return Status::resource("{} tensors exist, no more are possible", tensors_.size());
  added->trace_id = handle;
  return handle;
}

Result<TensorHandle> Tensors::allocate_empty(std::string_view name) {
  ONRT_ASSIGN(auto tensor, tdrv::make_empty_tensor(name));
  return add(std::move(tensor));
}

Status Tensors::attach(TensorHandle tensor, void* buffer, std::uint64_t bytes) {
  ONRT_ASSIGN(const Pin t, checked(tensor, "tensor"));
  return t->attach(buffer, bytes);
}

Result<TensorHandle> Tensors::slice(TensorHandle source, std::uint64_t offset, std::uint64_t bytes,
                                    std::string_view name) {
  ONRT_ASSIGN(const Pin t, checked(source, "tensor_source"));
  if (!t->has_storage())
    return Status::invalid("tensor {} has no storage, a slice of it is impossible", t->name());
  if (bytes == 0 || offset > t->size() || bytes > t->size() - offset)
    return Status::invalid("slice of {} bytes at {}: tensor {} has {} bytes", bytes, offset,
                           t->name(), t->size());
  ONRT_ASSIGN(auto view, t->slice(offset, bytes, name));
  return add(std::move(view));
}

void Tensors::free(TensorHandle tensor) {
  std::optional<trace::Span> span;
  if (trace::wanted(trace::EventType::kTensorFree))
    if (const Pin t = tensors_.pin(tensor))
      span.emplace(trace::EventType::kTensorFree, trace::core_or_first(t->logical_core()),
                   trace::Payload{tensor, t->size(), 1});
  tensors_.remove(tensor);
}

Status Tensors::read(TensorHandle tensor, void* out, std::uint64_t offset, std::uint64_t bytes) {
  ONRT_ASSIGN(const Pin t, checked(tensor, "tensor"));
  const trace::Span span(trace::EventType::kTensorRead, core_of(*t), {tensor, bytes});
  return t->read(out, offset, bytes);
}

Status Tensors::write(TensorHandle tensor, const void* in, std::uint64_t offset,
                      std::uint64_t bytes) {
  ONRT_ASSIGN(const Pin t, checked(tensor, "tensor"));
  const trace::Span span(trace::EventType::kTensorWrite, core_of(*t), {tensor, bytes});
  return t->write(in, offset, bytes);
}

Status Tensors::set(TensorHandle tensor, std::uint8_t value, std::uint64_t offset,
                    std::uint64_t bytes) {
  ONRT_ASSIGN(const Pin t, checked(tensor, "tensor"));
  const trace::Span span(trace::EventType::kTensorWrite, core_of(*t), {tensor, bytes});
  return t->set(value, offset, bytes);
}

Status Tensors::copy(TensorHandle source, std::uint64_t source_offset, TensorHandle destination,
                     std::uint64_t offset, std::uint64_t bytes) {
  ONRT_ASSIGN(const Pin from, checked(source, "src"));
  ONRT_ASSIGN(const Pin to, checked(destination, "dst"));
  const trace::Span reading(trace::EventType::kTensorRead, core_of(*from), {source, bytes});
  const trace::Span writing(trace::EventType::kTensorWrite, core_of(*to), {destination, bytes});
  return to->copy_from(*from, source_offset, offset, bytes);
}

Status Tensors::move(TensorHandle source, std::uint64_t source_offset, TensorHandle destination,
                     std::uint64_t offset, std::uint64_t bytes) {
  ONRT_ASSIGN(const Pin from, checked(source, "source"));
  ONRT_ASSIGN(const Pin to, checked(destination, "destination"));
  Status direct = to->copy_from(*from, source_offset, offset, bytes);
  if (direct.is_ok() || !from->is_device() || !to->is_device()) return direct;
  constexpr std::uint64_t kChunk = 1 << 20;
  std::vector<std::byte> chunk(static_cast<std::size_t>(std::min(bytes, kChunk)));
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t n = std::min(bytes - done, kChunk);
    ONRT_TRY(from->read(chunk.data(), source_offset + done, n));
    ONRT_TRY(to->write(chunk.data(), offset + done, n));
    done += n;
  }
  return {};
}

std::uint64_t Tensors::size(TensorHandle tensor) const {
  const Pin t = tensors_.pin(tensor);
  return t ? t->size() : 0;
}

void* Tensors::va(TensorHandle tensor) {
  const Pin t = tensors_.pin(tensor);
  return t && t->has_storage() ? t->va() : nullptr;
}

Result<tdrv::Allocation> Tensors::allocation(TensorHandle tensor) const {
  ONRT_ASSIGN(const Pin t, checked(tensor, "tensor"));
  return t->allocation();
}

Result<std::int32_t> Tensors::logical_core(TensorHandle tensor) const {
  ONRT_ASSIGN(const Pin t, checked(tensor, "tensor"));
  return t->logical_core();
}

Result<std::uint64_t> Tensors::completions(TensorHandle tensor) const {
  ONRT_ASSIGN(const Pin t, checked(tensor, "output_tensor"));
  return t->completions.get();
}

Status Tensors::reset_completions(TensorHandle tensor) {
  ONRT_ASSIGN(const Pin t, checked(tensor, "output_tensor"));
  t->completions.reset();
  return {};
}

Result<TensorSetHandle> Tensors::allocate_set() {
  auto set = std::make_unique<TensorSet>();
  const TensorSetHandle handle = sets_.insert(set);
  if (handle == 0)
    return Status::resource("{} tensor sets exist, no more are possible", sets_.size());
  return handle;
}

void Tensors::free_set(TensorSetHandle set) { sets_.remove(set); }

Status Tensors::add_to_set(TensorSetHandle set, std::string_view name, TensorHandle tensor) {
  const SetPin s = sets_.pin(set);
  if (!s) return Status::invalid("tensor_set {:#x} is not a live tensor set", set);
  ONRT_ASSIGN([[maybe_unused]] const Pin t, checked(tensor, "tensor"));
  s->put(name, tensor);
  return {};
}

Result<TensorHandle> Tensors::get_from_set(TensorSetHandle set, std::string_view name) const {
  const SetPin s = sets_.pin(set);
  if (!s) return Status::invalid("tensor_set {:#x} is not a live tensor set", set);
  const TensorHandle tensor = s->get(name);
  if (tensor == 0) return Status::failure("the tensor set has no tensor named {}", name);
  return tensor;
}

void Tensors::clear() {
  sets_.remove_all();
  tensors_.remove_all();
}

}  // namespace opennrt::kmgr
