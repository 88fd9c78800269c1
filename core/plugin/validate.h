// SPDX-License-Identifier: Apache-2.0
//
// Judging the tables a plugin offers before anything in them is called.
// Each failure is NRT_INVALID and names the file and both sides' numbers.
#pragma once

#include <string>

#include "base/status.h"
#include "opennrt/arch.h"
#include "opennrt/ndl.h"
#include "opennrt/port.h"

namespace opennrt::plugin {

// Bytes of the tables in version 1.0; later minors only append.
inline constexpr std::uint32_t kArchTableBytes =
    offsetof(nrtp_arch_plugin, detach) + sizeof(nrtp_arch_plugin::detach);
inline constexpr std::uint32_t kNdlTableBytes =
    offsetof(nrtp_ndl_ops, misc) + sizeof(nrtp_ndl_ops::misc);
inline constexpr std::uint32_t kPortTableBytes =
    offsetof(nrtp_sys_port, sleep_us) + sizeof(nrtp_sys_port::sleep_us);

Status check_head(const nrtp_head& head, nrtp_kind kind, std::uint32_t major,
                  std::uint32_t table_bytes, std::uint64_t host_features, const std::string& file);
Status check_arch(const nrtp_arch_plugin& table, std::uint32_t manifest_arch_type,
                  const std::string& file);
Status check_port(const nrtp_sys_port& table, const std::string& file);

// A complete table: members the plugin lacks answer -EINVAL. Lives until
// process exit. NRT_INVALID: a mandatory member is missing.
Result<const nrtp_ndl_ops*> complete_ndl(const nrtp_ndl_ops& table, const std::string& file);

}  // namespace opennrt::plugin
