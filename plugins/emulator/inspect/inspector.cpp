// SPDX-License-Identifier: Apache-2.0
#include "inspect/inspector.h"

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "opennrt/isa/records.h"
#include "opennrt/whole_file.hpp"

namespace opennrt::emu {

namespace {

bool take(std::string_view* text, std::uint64_t* value) {
  const char* end = text->data() + text->size();
  const auto [next, ec] = std::from_chars(text->data(), end, *value);
  if (ec != std::errc() || next == text->data()) return false;
  text->remove_prefix(static_cast<std::size_t>(next - text->data()));
  return true;
}
bool take(std::string_view* text, char c) {
  if (text->empty() || text->front() != c) return false;
  text->remove_prefix(1);
  return true;
}

bool write_file(const std::string& path, const std::string& header,
                const std::vector<std::uint8_t>& data, std::string* error) {
  WholeFile file;
  int failure = file.create(path);
  if (failure == 0) failure = file.write(header.data(), header.size());
  if (failure == 0) failure = file.write(data.data(), data.size());
  if (failure == 0) failure = file.commit();
  if (failure != 0) *error = path + ": " + std::strerror(failure);
  return failure == 0;
}

}  // namespace

Inspector::Inspector(const InspectOptions& options, const AddressMap& map, Log log)
    : options_(options), map_(map), log_(std::move(log)), states_(options.items.size()) {}

void Inspector::drop_images(std::uint64_t pa, std::uint64_t bytes) {
  for (auto it = images_.begin(); it != images_.end();) {
    if (it->first >= pa + bytes || pa >= it->first + it->second.bytes) {
      ++it;
      continue;
    }
    const std::uint64_t gone = it->first;
    std::erase_if(watches_, [&](const auto& w) { return w.second.image == gone; });
    it = images_.erase(it);
  }
}

bool Inspector::image(std::uint32_t core, std::uint32_t engine, std::uint32_t subgraph,
                      std::uint64_t pa, std::uint64_t bytes, std::string_view runs) {
  const std::lock_guard lock(mutex_);
  drop_images(pa, bytes);
  images_[pa] = {core, engine, subgraph, bytes};
  while (!runs.empty()) {
    std::uint64_t slot = 0, record = 0, n = 0;
    if (!take(&runs, &slot) || !take(&runs, ':') || !take(&runs, &record) || !take(&runs, ':'))
      return false;
    const bool one_record = take(&runs, 'x');
    if (!take(&runs, &n) || (!runs.empty() && !take(&runs, ' '))) return false;
    for (std::size_t i = 0; i < options_.items.size(); ++i) {
      const Breakpoint& at = options_.items[i].at;
      if (at.engine != engine || at.subgraph != subgraph || at.record < record ||
          at.record >= record + (one_record ? 1 : n))
        continue;
      if (one_record && n == 0) {
        states_[i].failure = "the loader leaves nothing of this record in the image";
        continue;
      }
      // The last slot of the record.
      const std::uint64_t last = one_record ? slot + n - 1 : slot + (at.record - record);
      states_[i].placed = true;
      watches_.emplace(pa + last * isa::kRecordBytes, Watch{.item = i, .image = pa});
    }
  }
  return true;
}

void Inspector::variable(std::uint32_t core, std::uint64_t pa, std::uint64_t bytes,
                         std::string name, ArrayForm form) {
  const std::lock_guard lock(mutex_);
  variables_[{core, std::move(name)}] = {pa, bytes, std::move(form)};
}

bool Inspector::parse_form(std::string_view type, std::string_view dimensions, ArrayForm* out) {
  ArrayForm form;
  form.type = find_dump_type(type);
  if (type.empty() || dimensions.empty()) return false;
  if (dimensions == "-") dimensions = {};
  while (!dimensions.empty()) {
    std::uint64_t n = 0;
    if (!take(&dimensions, &n)) return false;
    form.shape.push_back(n);
    if (!dimensions.empty() && (!take(&dimensions, 'x') || dimensions.empty())) return false;
  }
  *out = form.type ? std::move(form) : ArrayForm{};
  return true;
}

void Inspector::forget(std::uint64_t pa, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  drop_images(pa, bytes);
  std::erase_if(variables_,
                [&](const auto& v) { return v.second.pa >= pa && v.second.pa - pa < bytes; });
}

void Inspector::started(std::uint32_t core, std::uint32_t engine, std::uint64_t pc) {
  const std::lock_guard lock(mutex_);
  auto it = images_.upper_bound(pc);
  if (it == images_.begin()) return;
  Image& image = (--it)->second;
  if (image.core == core && image.engine == engine && pc - it->first < image.bytes)
    ++image.executions;
}

void Inspector::retired(std::uint32_t core, std::uint32_t engine, std::uint64_t pc) {
  const std::lock_guard lock(mutex_);
  const auto [first, last] = watches_.equal_range(pc);
  for (auto it = first; it != last; ++it) {
    Watch& watch = it->second;
    const Breakpoint& at = options_.items[watch.item].at;
    const Image& image = images_.at(watch.image);
    if (states_[watch.item].done || image.core != core || image.engine != engine ||
        image.executions != at.execution)
      continue;
    if (watch.execution != image.executions) {
      watch.execution = image.executions;
      watch.pass = 0;
    }
    if (++watch.pass == at.pass) write(watch.item, core);
  }
}

bool Inspector::looks_after(std::uint64_t pc) const {
  const std::lock_guard lock(mutex_);
  const auto [first, last] = watches_.equal_range(pc);
  for (auto it = first; it != last; ++it)
    if (!states_[it->second.item].done) return true;
  return false;
}

bool Inspector::collect(const Dump& dump, std::uint32_t core, std::vector<std::uint8_t>* data,
                        ArrayForm* form, std::string* error) const {
  form->type = dump.type;
  if (dump.space == Dump::Space::kSbuf || dump.space == Dump::Space::kPsum) {
    const bool sbuf = dump.space == Dump::Space::kSbuf;
    const nrtp_arch_geometry& g = map_.geometry();
    const std::uint64_t partitions = sbuf ? g.sbuf_partitions : g.psum_partitions;
    const std::uint64_t bytes = sbuf ? g.sbuf_partition_bytes : g.psum_partition_bytes;
    const std::uint64_t stride = sbuf ? g.sbuf_partition_stride : g.psum_partition_stride;
    if (dump.first_partition + dump.partitions > partitions ||
        dump.first_byte + dump.bytes > bytes) {
      *error = std::string(sbuf ? "SBUF" : "PSUM") + " has " + std::to_string(partitions) +
               " partitions of " + std::to_string(bytes) + " bytes";
      return false;
    }
    const std::uint8_t* memory = sbuf ? map_.sbuf(core) : map_.psum(core);
    for (std::uint32_t p = 0; p < dump.partitions; ++p) {
      const std::uint8_t* at = memory + (dump.first_partition + p) * stride + dump.first_byte;
      data->insert(data->end(), at, at + dump.bytes);
    }
    form->shape = {dump.partitions, dump.bytes / dump.type->bytes};
    return true;
  }
  Place place{dump.first_byte, dump.bytes, {}};
  if (dump.space == Dump::Space::kVariable) {
    const auto found = variables_.find({core, dump.variable});
    if (found == variables_.end()) {
      *error = "no variable '" + dump.variable +
               "' in device memory (variables in SBUF are dumped with sbuf:)";
      return false;
    }
    place = found->second;
    if (!dump.type_given && place.form.type) form->type = place.form.type;
  }
  const std::uint8_t* memory = map_.memory(place.pa, place.bytes);
  if (!memory) {
    char text[24];
    std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(place.pa));
    *error =
        std::to_string(place.bytes) + " bytes at " + text + " are not all memory of the device";
    return false;
  }
  const std::uint64_t width = form->type->bytes;
  if (place.bytes % width != 0) {
    *error = std::to_string(place.bytes) + " bytes are no whole number of " + form->type->name +
             " elements";
    return false;
  }
  data->assign(memory, memory + place.bytes);
  // The shape of the tensor when its elements are as wide, else flat.
  std::uint64_t elements = 1;
  for (const std::uint64_t n : place.form.shape) elements *= n;
  if (place.form.type && elements * width == place.bytes)
    form->shape = place.form.shape;
  else
    form->shape = {place.bytes / width};
  return true;
}

void Inspector::write(std::size_t index, std::uint32_t core) {
  const InspectItem& item = options_.items[index];
  State& state = states_[index];
  state.done = true;
  state.failure.clear();
  std::vector<std::uint8_t> data;
  ArrayForm form;
  const std::string path = options_.directory + "/" + item.file;
  if (collect(item.what, core, &data, &form, &state.failure))
    write_file(path, path.ends_with(".npy") ? npy_header(*form.type, form.shape) : std::string(),
               data, &state.failure);
  if (!state.failure.empty())
    log_("dump " + item.what_text + " at " + item.at_text + ": " + state.failure);
}

std::vector<std::string> Inspector::outcomes() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const State& s = states_[i];
    const std::string& file = options_.items[i].file;
    if (s.done)
      lines.push_back(s.failure.empty() ? "done " + file : "failed " + file + " " + s.failure);
    else if (!s.failure.empty())
      lines.push_back("unreached " + file + " " + s.failure);
    else
      lines.push_back(
          "unreached " + file + " " +
          (s.placed ? "the program never got there" : "no loaded program has this record"));
  }
  return lines;
}

}  // namespace opennrt::emu
