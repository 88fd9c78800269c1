// SPDX-License-Identifier: Apache-2.0
#include "subject.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string_view>

#include "plugin/library.h"
#include "plugin/validate.h"

namespace opennrt::conform {

namespace {

struct KindFacts {
  std::uint32_t kind;
  const char* symbol;
  std::uint32_t major, table_bytes;
};
constexpr KindFacts kKinds[] = {
    {NRTP_KIND_ARCH, NRTP_ARCH_QUERY_SYMBOL, NRTP_ARCH_ABI_MAJOR, plugin::kArchTableBytes},
    {NRTP_KIND_NDL, NRTP_NDL_QUERY_SYMBOL, NRTP_NDL_ABI_MAJOR, plugin::kNdlTableBytes},
    {NRTP_KIND_PORT, NRTP_PORT_QUERY_SYMBOL, NRTP_PORT_ABI_MAJOR, plugin::kPortTableBytes},
};

const KindFacts* facts_of(std::uint32_t kind) {
  for (const KindFacts& facts : kKinds)
    if (facts.kind == kind) return &facts;
  return nullptr;
}

std::string& chosen() {
  static std::string path;
  return path;
}

}  // namespace

std::uint32_t kind_by_file(const std::string& path) {
  // Of libraries with their debug information, too.
  constexpr std::uintmax_t kMost = std::uintmax_t{512} << 20;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) ||
      std::filesystem::file_size(path, error) > kMost)
    return 0;
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  std::uint32_t found = 0;
  for (const KindFacts& facts : kKinds) {
    // A name of the symbol table ends with a zero, and begins behind one.
    const std::string name = std::string(1, '\0') + facts.symbol + std::string(1, '\0');
    if (bytes.find(name) == bytes.npos) continue;
    if (found != 0) return 0;
    found = facts.kind;
  }
  return found;
}

Subject::Subject(std::string path) : path_(std::move(path)) {
  if (path_.empty()) {
    problem_ = "no plugin is named; use --plugin or OPENNRT_CONFORM_PLUGIN";
    return;
  }
  if (Status status = plugin::check_elf(path_); !status.is_ok()) {
    problem_ = status.message();
    return;
  }
  at("opening the library");
  // A name without a slash would be looked for on the library path.
  const std::string file = path_.find('/') == path_.npos ? "./" + path_ : path_;
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* error = dlerror();
    problem_ = error != nullptr ? error : "dlopen failed";
    return;
  }
  for (const KindFacts& facts : kKinds) {
    void* symbol = dlsym(library, facts.symbol);
    if (symbol == nullptr) continue;
    if (symbol_ != nullptr) {
      problem_ = path_ + ": has the query functions of two kinds";
      symbol_ = nullptr;
      return;
    }
    symbol_ = symbol;
    kind_ = facts.kind;
  }
  if (symbol_ == nullptr) {
    problem_ = path_ + ": has none of " NRTP_ARCH_QUERY_SYMBOL ", " NRTP_NDL_QUERY_SYMBOL
                       ", " NRTP_PORT_QUERY_SYMBOL;
    return;
  }
  at("calling its query function");
  head_ = static_cast<const nrtp_head*>(query(abi_major(), NRTP_ABI_MINOR));
  if (head_ == nullptr)
    problem_ = path_ + ": the query returns NULL for major " + std::to_string(abi_major());
  at("");
}

const void* Subject::query(std::uint32_t host_major, std::uint32_t host_minor) const {
  switch (kind_) {
    case NRTP_KIND_ARCH:
      return reinterpret_cast<nrtp_arch_query_fn>(symbol_)(host_major, host_minor);
    case NRTP_KIND_NDL:
      return reinterpret_cast<nrtp_ndl_query_fn>(symbol_)(host_major, host_minor);
    case NRTP_KIND_PORT:
      return reinterpret_cast<nrtp_port_query_fn>(symbol_)(host_major, host_minor);
    default:
      return nullptr;
  }
}

std::string Subject::query_file() const {
  Dl_info info{};
  return symbol_ != nullptr && dladdr(symbol_, &info) != 0 && info.dli_fname != nullptr
             ? info.dli_fname
             : "";
}

const char* Subject::query_symbol() const {
  const KindFacts* facts = facts_of(kind_);
  return facts != nullptr ? facts->symbol : "";
}
std::uint32_t Subject::abi_major() const {
  const KindFacts* facts = facts_of(kind_);
  return facts != nullptr ? facts->major : 0;
}
std::uint32_t Subject::table_bytes() const {
  const KindFacts* facts = facts_of(kind_);
  return facts != nullptr ? facts->table_bytes : 0;
}

const nrtp_arch_plugin* Subject::arch() const {
  const bool whole = kind_ == NRTP_KIND_ARCH && head_ != nullptr && head_->size >= table_bytes();
  return whole ? reinterpret_cast<const nrtp_arch_plugin*>(head_) : nullptr;
}
const nrtp_ndl_ops* Subject::ndl() const {
  const bool whole = kind_ == NRTP_KIND_NDL && head_ != nullptr && head_->size >= table_bytes();
  return whole ? reinterpret_cast<const nrtp_ndl_ops*>(head_) : nullptr;
}
const nrtp_sys_port* Subject::port() const {
  const bool whole = kind_ == NRTP_KIND_PORT && head_ != nullptr && head_->size >= table_bytes();
  return whole ? reinterpret_cast<const nrtp_sys_port*>(head_) : nullptr;
}

const char* Subject::name() const {
  const char* text = arch() != nullptr   ? arch()->name
                     : ndl() != nullptr  ? ndl()->name
                     : port() != nullptr ? port()->name
                                         : nullptr;
  return text != nullptr ? text : "";
}

namespace {

void offer(std::vector<std::string>* out, const char* name, bool there) {
  if (there) out->emplace_back(name);
}

#define HAS(T, table, member) (NRTP_HAS(T, table, member) && (table)->member != nullptr)

void offers_of(const nrtp_arch_plugin& t, std::vector<std::string>* out) {
  offer(out, "hal", t.hal != nullptr);
  offer(out, "fetch_start", t.hal != nullptr && HAS(nrtp_arch_hal, t.hal, fetch_start));
  offer(out, "fabric", t.fabric != nullptr);
  offer(out, "timing", t.timing != nullptr);
  offer(out, "semantics", t.semantics != nullptr);
  offer(out, "driver", HAS(nrtp_arch_plugin, &t, driver));
  const bool ib = t.ib != nullptr;
  offer(out, "validator",
        ib && HAS(nrtp_arch_ib, t.ib, validate_inst) && HAS(nrtp_arch_ib, t.ib, validate_image));
  offer(out, "lower_pseudo", ib && HAS(nrtp_arch_ib, t.ib, lower_pseudo));
  offer(out, "default_dve", t.tables != nullptr && HAS(nrtp_arch_tables, t.tables, default_dve));
  offer(out, "topsp", t.geometry != nullptr && t.geometry->topsps != 0);
}

void offers_of(const nrtp_ndl_ops& t, std::vector<std::string>* out) {
  offer(out, "pod", t.pod != nullptr);
  offer(out, "batch", t.copy != nullptr && HAS(nrtp_ndl_copy, t.copy, batch));
  offer(
      out, "zero_copy",
      t.copy != nullptr && HAS(nrtp_ndl_copy, t.copy, zc_in) && HAS(nrtp_ndl_copy, t.copy, zc_out));
  offer(out, "copy", t.copy != nullptr && HAS(nrtp_ndl_copy, t.copy, copy));
  offer(out, "set", t.copy != nullptr && HAS(nrtp_ndl_copy, t.copy, set));
  offer(out, "control", t.misc != nullptr && HAS(nrtp_ndl_misc, t.misc, control));
}

void offers_of(const nrtp_sys_port& t, std::vector<std::string>* out) {
  offer(out, "control", HAS(nrtp_sys_port, &t, control));
}

#undef HAS

}  // namespace

std::vector<std::string> Subject::capabilities() const {
  std::vector<std::string> out;
  if (arch() != nullptr) offers_of(*arch(), &out);
  if (ndl() != nullptr) offers_of(*ndl(), &out);
  if (port() != nullptr) offers_of(*port(), &out);
  return out;
}

const Subject& subject() {
  static const Subject opened(subject_path());
  return opened;
}

const std::string& subject_path() {
  if (chosen().empty())
    if (const char* path = std::getenv("OPENNRT_CONFORM_PLUGIN")) chosen() = path;
  return chosen();
}

void set_subject(std::string path) { chosen() = std::move(path); }

}  // namespace opennrt::conform
