// SPDX-License-Identifier: Apache-2.0
#include "tdrv/software_device.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "neff/dtype.h"

namespace opennrt::tdrv {

SoftwareDevice::SoftwareDevice(const Bindings& bindings) {
  if (bindings.platform != NRTP_PLATFORM_EMULATOR || bindings.ndl == nullptr ||
      bindings.ndl->misc == nullptr)
    return;
  control_ = bindings.ndl->misc->control;
  ctx_ = bindings.ndl_ctx;
  const std::optional<std::string> checks = ask("verify");
  if (!checks) {
    control_ = nullptr;  // a port without the channel
    return;
  }
  checks_ = *checks != "none";
  inspects_ = ask("inspect") == "1";
  coverage_ = checks->find("coverage") != std::string::npos;
}

std::optional<std::string> SoftwareDevice::ask(const std::string& request) const {
  if (control_ == nullptr) return std::nullopt;
  std::string reply(4096, '\0');
  const std::int64_t length = control_(ctx_, request.c_str(), reply.data(), reply.size());
  if (length < 0) return std::nullopt;
  reply.resize(std::min(static_cast<std::size_t>(length), reply.size() - 1));
  return reply;
}

SoftwareDevice::Motion SoftwareDevice::motion() const {
  Motion motion;
  const std::optional<std::string> reply = ask("stuck");
  if (!reply) motion.lost = ask("lost").value_or("");
  if (!reply || reply->size() < 3) return motion;
  motion.stuck = reply->front() == '1';
  std::from_chars(reply->data() + 2, reply->data() + reply->size(), motion.progress);
  return motion;
}

std::string SoftwareDevice::holders(std::uint32_t device) const {
  std::string out;
  std::string text = ask(fmt::format("holders {}", device)).value_or("");
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    const std::size_t space = line.find(' ');
    if (space != std::string::npos)
      out += fmt::format("{}pid {} ({})", out.empty() ? "" : ", ", line.substr(0, space),
                         line.substr(space + 1));
    at = end + 1;
  }
  return out;
}

std::string SoftwareDevice::describe(std::uint32_t device, std::uint32_t core) const {
  return ask(fmt::format("describe {} {}", device, core)).value_or("");
}

std::optional<SoftwareDevice::Standing> SoftwareDevice::standing(std::uint32_t device,
                                                                 std::uint32_t core,
                                                                 std::uint32_t engine) const {
  const std::optional<std::string> reply =
      ask(fmt::format("engine {} {} {}", device, core, engine));
  if (!reply || reply->size() < 3) return std::nullopt;
  Standing out;
  const char* const end = reply->data() + reply->size();
  const auto [next, error] = std::from_chars(reply->data() + 2, end, out.program_counter, 16);
  if (error != std::errc() || next == end) return std::nullopt;
  out.state.assign(next + 1, end);
  return out;
}

void SoftwareDevice::count_finding(std::uint32_t device) const {
  if (checks_) ask(fmt::format("finding {}", device));
}

std::optional<std::uint64_t> SoftwareDevice::hbm_channel_bytes() const {
  const std::optional<std::string> reply = ask("memory");
  std::uint64_t bytes = 0;
  if (!reply ||
      std::from_chars(reply->data(), reply->data() + reply->size(), bytes).ec != std::errc())
    return std::nullopt;
  return bytes;
}

void SoftwareDevice::variable(std::uint32_t device, std::uint32_t core, std::uint64_t address,
                              std::uint64_t bytes, std::string_view name) const {
  if (inspects_) ask(fmt::format("variable {} {} {:#x} {} {}", device, core, address, bytes, name));
}

void SoftwareDevice::tensor(std::uint32_t device, std::uint32_t core, std::uint64_t address,
                            const neff::TensorInfo& info) const {
  if (!inspects_) return;
  ask(fmt::format("tensor {} {} {:#x} {} {} {} {}", device, core, address, info.size,
                  neff::tensor_dtype_name(info.dtype),
                  info.shape.empty() ? "-" : fmt::format("{}", fmt::join(info.shape, "x")),
                  info.name));
}

void SoftwareDevice::image(std::uint32_t device, std::uint32_t core, std::uint32_t engine,
                           std::size_t subgraph, std::uint64_t address, std::uint64_t bytes,
                           std::string_view runs) const {
  if (inspects_)
    ask(fmt::format("image {} {} {} {} {:#x} {} {}", device, core, engine, subgraph, address, bytes,
                    runs));
}

void SoftwareDevice::name(std::uint32_t device, std::uint64_t address, std::uint64_t bytes,
                          std::string_view text) const {
  if (checks_ && bytes != 0) ask(fmt::format("name {} {:#x} {} {}", device, address, bytes, text));
}

void SoftwareDevice::forget(std::uint32_t device, std::uint64_t address,
                            std::uint64_t bytes) const {
  if ((checks_ || inspects_) && bytes != 0)
    ask(fmt::format("forget {} {:#x} {}", device, address, bytes));
}

void SoftwareDevice::ignore(std::uint32_t device, std::uint64_t address,
                            std::uint64_t bytes) const {
  if (checks_ && bytes != 0) ask(fmt::format("ignore {} {:#x} {}", device, address, bytes));
}

void SoftwareDevice::expect_written(std::uint32_t device, std::uint64_t address,
                                    std::uint64_t bytes) const {
  if (coverage_) ask(fmt::format("expect {} {:#x} {}", device, address, bytes));
}

std::optional<std::uint64_t> SoftwareDevice::first_unwritten(std::uint32_t device,
                                                             std::uint64_t address,
                                                             std::uint64_t bytes) const {
  if (!coverage_) return std::nullopt;
  const std::optional<std::string> reply =
      ask(fmt::format("missing {} {:#x} {}", device, address, bytes));
  std::uint64_t offset = 0;
  if (!reply ||
      std::from_chars(reply->data(), reply->data() + reply->size(), offset).ec != std::errc())
    return std::nullopt;
  return offset;
}

}  // namespace opennrt::tdrv
