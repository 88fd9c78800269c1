// SPDX-License-Identifier: Apache-2.0
#include "plugin/loader.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "log/log.h"
#include "plugin/library.h"
#include "plugin/validate.h"

namespace opennrt::plugin {

namespace {

// What a software device is when several silicon families are installed and no
// product is named.
constexpr std::string_view kUsualProduct = "trn1.2xlarge";

// Identity of the file, so that a replaced library is looked at anew.
std::string file_key(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return path;
  return fmt::format("{}#{}#{}#{}.{}", path, info.st_ino, info.st_size, info.st_mtim.tv_sec,
                     info.st_mtim.tv_nsec);
}

Status check_stated_abi(const Manifest& m, std::uint32_t major) {
  if (m.abi.empty()) return {};
  const std::string stated = m.abi.substr(0, m.abi.find('.'));
  if (stated == std::to_string(major)) return {};
  return Status::invalid(
      "{}: plugin ABI {}, this runtime has {}.{}; install the plugin package "
      "of the same major version",
      m.path, m.abi, major, NRTP_ABI_MINOR);
}

// The query may be anything; an exception of it must not pass.
template <typename Query>
Result<const nrtp_head*> call_query(void* symbol, std::uint32_t major, const std::string& file) {
  const nrtp_head* head = nullptr;
  try {
    head =
        reinterpret_cast<const nrtp_head*>(reinterpret_cast<Query>(symbol)(major, NRTP_ABI_MINOR));
  } catch (...) {
    return Status::invalid("{}: its query function threw an exception", file);
  }
  if (head == nullptr)
    return Status::invalid("{}: does not know host ABI {}.{}", file, major, NRTP_ABI_MINOR);
  return head;
}

// "trn1.2xlarge, trn1.32xlarge"
std::string products_of(const nrtp_arch_plugin& arch) {
  std::string out;
  const char* row = reinterpret_cast<const char*>(arch.products);
  for (std::uint32_t i = 0; i < arch.n_products; ++i, row += arch.product_stride) {
    const auto* p = reinterpret_cast<const nrtp_product*>(row);
    if (p->name != nullptr) out += (out.empty() ? "" : ", ") + std::string(p->name);
  }
  return out.empty() ? "none" : out;
}

// The first one of several devices, which is the server people have; else the
// first one.
std::string usual_product(const nrtp_arch_plugin& arch) {
  const char* row = reinterpret_cast<const char*>(arch.products);
  std::string first;
  for (std::uint32_t i = 0; i < arch.n_products; ++i, row += arch.product_stride) {
    const auto* p = reinterpret_cast<const nrtp_product*>(row);
    if (p->name == nullptr) continue;
    if (p->devices > 1) return p->name;
    if (first.empty()) first = p->name;
  }
  return first;
}

bool sells(const nrtp_arch_plugin& arch, std::string_view product) {
  const char* row = reinterpret_cast<const char*>(arch.products);
  for (std::uint32_t i = 0; i < arch.n_products; ++i, row += arch.product_stride) {
    const auto* p = reinterpret_cast<const nrtp_product*>(row);
    if (p->name != nullptr && product == p->name) return true;
  }
  return false;
}

}  // namespace

Loader::Loader() : host_(*this) {}

Loader& Loader::instance() {
  static Loader* const loader = new Loader;
  return *loader;
}

void Loader::configure(std::shared_ptr<const config::Config> config, const void* code) {
  host_.set_config(config);
  const std::lock_guard lock(mutex_);
  search_ = search_of(*config, code);
  arch_name_ = config->text(config::Key::kPluginsArch);
  if (arch_name_ == "auto") arch_name_.clear();
}

// Requires mutex_.
std::vector<Candidate> Loader::candidates() { return discover(search_); }

// Requires mutex_.
const Loader::Opened& Loader::open(const Manifest& manifest) {
  const std::string key = file_key(manifest.library) + "#" + file_key(manifest.path);
  const auto known = opened_.find(key);
  if (known != opened_.end()) return known->second;
  Opened result;
  auto table = judge(manifest);
  if (table.is_ok())
    result.table = *table;
  else
    result.reason = table.status().message();
  return opened_.emplace(key, std::move(result)).first->second;
}

Result<const void*> Loader::judge(const Manifest& m) {
  const std::string& file = m.library;
  switch (m.kind) {
    case Kind::kArch: {
      ONRT_TRY(check_stated_abi(m, NRTP_ARCH_ABI_MAJOR));
      ONRT_ASSIGN(void* symbol, open_symbol(file, NRTP_ARCH_QUERY_SYMBOL));
      ONRT_ASSIGN(const nrtp_head* head,
                  call_query<nrtp_arch_query_fn>(symbol, NRTP_ARCH_ABI_MAJOR, file));
      ONRT_TRY(check_head(*head, NRTP_KIND_ARCH, NRTP_ARCH_ABI_MAJOR, kArchTableBytes,
                          host()->features, file));
      const auto* table = reinterpret_cast<const nrtp_arch_plugin*>(head);
      ONRT_TRY(check_arch(*table, m.arch_type, file));
      return static_cast<const void*>(table);
    }
    case Kind::kNdl: {
      ONRT_TRY(check_stated_abi(m, NRTP_NDL_ABI_MAJOR));
      ONRT_ASSIGN(void* symbol, open_symbol(file, NRTP_NDL_QUERY_SYMBOL));
      ONRT_ASSIGN(const nrtp_head* head,
                  call_query<nrtp_ndl_query_fn>(symbol, NRTP_NDL_ABI_MAJOR, file));
      ONRT_TRY(check_head(*head, NRTP_KIND_NDL, NRTP_NDL_ABI_MAJOR, kNdlTableBytes,
                          host()->features, file));
      ONRT_ASSIGN(const nrtp_ndl_ops* table,
                  complete_ndl(*reinterpret_cast<const nrtp_ndl_ops*>(head), file));
      return static_cast<const void*>(table);
    }
    case Kind::kPort: {
      ONRT_TRY(check_stated_abi(m, NRTP_PORT_ABI_MAJOR));
      ONRT_ASSIGN(void* symbol, open_symbol(file, NRTP_PORT_QUERY_SYMBOL));
      ONRT_ASSIGN(const nrtp_head* head,
                  call_query<nrtp_port_query_fn>(symbol, NRTP_PORT_ABI_MAJOR, file));
      ONRT_TRY(check_head(*head, NRTP_KIND_PORT, NRTP_PORT_ABI_MAJOR, kPortTableBytes,
                          host()->features, file));
      const auto* table = reinterpret_cast<const nrtp_sys_port*>(head);
      ONRT_TRY(check_port(*table, file));
      return static_cast<const void*>(table);
    }
  }
  return Status::invalid("{}: unknown kind", m.path);
}

// Requires mutex_. `what`: "plugin for arch 2", for the message.
template <typename Accept>
Result<const void*> Loader::first_usable(const char* what, Accept accept, std::string_view remedy) {
  const std::vector<Candidate> all = candidates();
  ONRT_ASSIGN(const std::vector<std::size_t> order, rank(all, accept));
  std::string reasons;
  for (const std::size_t i : order) {
    const Opened& opened = open(all[i].manifest);
    if (opened.table != nullptr) return opened.table;
    ONRT_LOG(kPlugin, kWarn, "plugin refused: {}", opened.reason);
    reasons += (reasons.empty() ? "" : "; ") + opened.reason;
  }
  if (order.empty())  // a manifest that could not be read may be the one that is missed
    for (const Candidate& c : all)
      if (c.verdict == Verdict::kRefused || (c.verdict == Verdict::kDisabled && accept(c.manifest)))
        reasons += (reasons.empty() ? "" : "; ") +
                   (c.verdict == Verdict::kRefused ? c.reason : c.manifest.path + ": " + c.reason);
  // What is missed may be where nobody can look.
  for (const std::string& trouble : troubles(search_))
    reasons += (reasons.empty() ? "" : "; ") + trouble;
  if (!reasons.empty())
    return Status::invalid("no usable {}: {}", what, reasons).because(Cause::kPluginMissing);
  std::string places;
  for (const std::string& d : search_.directories) places += (places.empty() ? "" : ", ") + d;
  return Status::invalid(
             "no {} found in {}; {}install its package or name its directory in "
             "OPENNRT_PLUGIN_PATH",
             what, places, remedy)
      .because(Cause::kPluginMissing);
}

Result<const nrtp_arch_plugin*> Loader::arch(std::uint32_t arch_type) {
  if (arch_type == 0) {
    const std::set<std::uint32_t> present = arch_types();
    if (present.size() > 1) {
      ONRT_LOG(kPlugin, kInfo, "{} arch plugins are installed: {} unless a product is named",
               present.size(), kUsualProduct);
      return arch_of_product(kUsualProduct);
    }
    if (!present.empty()) {
      arch_type = *present.begin();
      ONRT_LOG(kPlugin, kInfo, "only the plugin of arch {} is installed", arch_type);
    }
  }
  const std::lock_guard lock(mutex_);
  const std::string what = arch_type == 0
                               ? std::string("arch plugin")
                               : fmt::format("plugin for arch {}{}{}", arch_type,
                                             arch_name_.empty() ? "" : " named ", arch_name_);
  ONRT_ASSIGN(const void* table, first_usable(what.c_str(), [&](const Manifest& m) {
                return m.kind == Kind::kArch && m.arch_type == arch_type &&
                       (arch_name_.empty() || m.name == arch_name_);
              }));
  return static_cast<const nrtp_arch_plugin*>(table);
}

std::set<std::uint32_t> Loader::arch_types() {
  const std::lock_guard lock(mutex_);
  std::set<std::uint32_t> types;
  for (const Candidate& c : candidates())
    if (c.verdict == Verdict::kUsable && c.manifest.kind == Kind::kArch &&
        (arch_name_.empty() || c.manifest.name == arch_name_))
      types.insert(c.manifest.arch_type);
  return types;
}

std::string Loader::product_of_target(std::string_view target) {
  for (const std::uint32_t type : arch_types()) {
    auto table = arch(type);
    if (!table.is_ok()) continue;
    const char* const* known = (*table)->neff_targets;
    while (*known != nullptr && target != *known) ++known;
    if (*known != nullptr) return usual_product(**table);
  }
  return {};
}

Result<const nrtp_arch_plugin*> Loader::arch_of_product(std::string_view product) {
  std::string seen;
  for (const std::uint32_t type : arch_types()) {
    auto table = arch(type);
    if (table.is_ok() && sells(**table, product)) return *table;
    seen += (seen.empty() ? "" : "; ") +
            (table.is_ok() ? fmt::format("{} lists {}", (*table)->name, products_of(**table))
                           : std::string(table.status().message()));
  }
  return Status::invalid("no arch plugin lists the product '{}': {}", product,
                         seen.empty() ? "none is installed" : seen);
}

Result<const nrtp_ndl_ops*> Loader::ndl(std::string_view name) {
  const std::lock_guard lock(mutex_);
  ONRT_ASSIGN(const void* table, first_usable(fmt::format("driver layer plugin {}", name).c_str(),
                                              [&](const Manifest& m) {
                                                return m.kind == Kind::kNdl && m.name == name;
                                              }));
  return static_cast<const nrtp_ndl_ops*>(table);
}

Result<const nrtp_sys_port*> Loader::port(std::string_view name) {
  const std::lock_guard lock(mutex_);
  // Settings name ports by what they are for, and a name may be misspelt.
  std::string remedy = "use auto, kernel";
  for (const Candidate& c : candidates())
    if (c.verdict == Verdict::kUsable && c.manifest.kind == Kind::kPort)
      remedy += ", " + c.manifest.name;
  ONRT_ASSIGN(const void* table,
              first_usable(
                  fmt::format("port plugin {}", name).c_str(),
                  [&](const Manifest& m) { return m.kind == Kind::kPort && m.name == name; },
                  remedy + ", or "));
  return static_cast<const nrtp_sys_port*>(table);
}

bool Loader::exists(Kind kind, std::string_view name) {
  const std::lock_guard lock(mutex_);
  for (const Candidate& c : candidates())
    if (c.verdict == Verdict::kUsable && c.manifest.kind == kind && c.manifest.name == name)
      return true;
  return false;
}

std::vector<std::string> Loader::arch_names() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  for (const Candidate& c : candidates())
    if (c.verdict == Verdict::kUsable && c.manifest.kind == Kind::kArch)
      out.push_back(c.manifest.name);
  return out;
}

std::vector<Candidate> Loader::list_candidates() {
  const std::lock_guard lock(mutex_);
  std::vector<Candidate> all = candidates();
  for (Candidate& c : all) {
    if (c.verdict != Verdict::kUsable) continue;
    const Opened& opened = open(c.manifest);
    if (opened.table != nullptr) continue;
    c.verdict = Verdict::kRefused;
    c.reason = opened.reason;
  }
  const std::vector<Candidate> judged = all;
  for (std::size_t i = 0; i < judged.size(); ++i) {
    if (judged[i].verdict != Verdict::kUsable) continue;
    const Manifest& mine = judged[i].manifest;
    auto order = rank(judged, [&](const Manifest& m) {
      return m.kind == mine.kind &&
             (m.kind == Kind::kArch ? m.arch_type == mine.arch_type : m.name == mine.name);
    });
    if (!order.is_ok()) {
      all[i].verdict = Verdict::kRefused;
      all[i].reason = order.status().message();
    } else if (order->front() == i) {
      all[i].verdict = Verdict::kSelected;
    } else {
      all[i].verdict = Verdict::kOutranked;
      all[i].reason = "outranked by " + judged[order->front()].manifest.path;
    }
  }
  return all;
}

}  // namespace opennrt::plugin
