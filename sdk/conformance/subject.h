// SPDX-License-Identifier: Apache-2.0
//
// The plugin under test, seen by a case: a file, opened as the runtime opens it, and
// the table its query returned. One per process; it is never closed.
//
// A case belongs to a fixture of its kind (arch/arch_case.h, ndl/ndl_case.h,
// port/port_case.h), which fails it when there is no table, and to a rule in
// rules.yaml. It may use what the ABI headers promise and nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opennrt/arch.h"
#include "opennrt/ndl.h"
#include "opennrt/port.h"

namespace opennrt::conform {

// Kind of the query function, from the file's text; 0: none or several. Opens nothing.
std::uint32_t kind_by_file(const std::string& path);

class Subject {
 public:
  // Opens the file. What goes wrong is in problem().
  explicit Subject(std::string path);

  const std::string& path() const { return path_; }
  // Empty, or why there is no table to look at. Later members are null then.
  const std::string& problem() const { return problem_; }
  std::uint32_t kind() const { return kind_; }  // enum nrtp_kind; 0: not known
  const nrtp_head* head() const { return head_; }

  // nullptr unless it is of that kind, and the table is as long as that of 1.0.
  const nrtp_arch_plugin* arch() const;
  const nrtp_ndl_ops* ndl() const;
  const nrtp_sys_port* port() const;

  // The query function with other versions.
  const void* query(std::uint32_t host_major, std::uint32_t host_minor) const;
  // File that the query function is in, as the loader sees it.
  std::string query_file() const;
  const char* query_symbol() const;
  std::uint32_t abi_major() const;    // of the kind, of this kit
  std::uint32_t table_bytes() const;  // in version 1.0
  const char* name() const;           // of the table; "" when it has none

  // What the table offers beyond the mandatory: "fabric", "control", ... Names are those
  // that rules need.
  std::vector<std::string> capabilities() const;

 private:
  std::string path_, problem_;
  std::uint32_t kind_ = 0;
  void* symbol_ = nullptr;
  const nrtp_head* head_ = nullptr;
};

// From --plugin or OPENNRT_CONFORM_PLUGIN; opened at first use.
const Subject& subject();
void set_subject(std::string path);
const std::string& subject_path();  // opens nothing

// For the report of a case that ends badly: what it is at ("product trn1.2xlarge").
void at(const std::string& what);

}  // namespace opennrt::conform
