// SPDX-License-Identifier: Apache-2.0
#include "engine/own_instruction.h"

#include <cstring>

#include "engine/sequencer.h"
#include "verify/verifier.h"

namespace opennrt::emu {

namespace {

const nrtp_arch_semantics* semantics_of(const nrtp_arch_plugin& arch) {
  return NRTP_HAS(nrtp_arch_plugin, &arch, semantics) ? arch.semantics : nullptr;
}

// One execution; `self` of the view.
struct Execution {
  Sequencer& sequencer;
  std::string reason;

  const AddressMap& map() const { return sequencer.bus().map(); }

  // Host pointer to a range of one partition of SBUF or PSUM; nullptr: it is
  // outside, or leaves what the partition has.
  std::uint8_t* local(std::uint64_t address, std::uint64_t bytes, bool write) {
    const nrtp_arch_geometry& g = map().geometry();
    const bool psum =
        address >= g.psum_local_base && address - g.psum_local_base < g.psum_window_bytes;
    if (!psum && address >= g.sbuf_window_bytes) return nullptr;
    const std::uint64_t offset = psum ? address - g.psum_local_base : address;
    const std::uint64_t stride = psum ? g.psum_partition_stride : g.sbuf_partition_stride;
    const std::uint64_t usable = psum ? g.psum_partition_bytes : g.sbuf_partition_bytes;
    const std::uint32_t partitions = psum ? g.psum_partitions : g.sbuf_partitions;
    const std::uint64_t inside = offset % stride;
    if (offset / stride >= partitions || inside > usable || bytes > usable - inside) return nullptr;
    std::uint8_t* const at =
        (psum ? map().psum(sequencer.core()) : map().sbuf(sequencer.core())) + offset;
    if (Verifier* v = sequencer.verifier()) {
      const std::uint64_t pa =
          map().arch().address->local_to_device(map().product(), sequencer.core(), address);
      v->access(sequencer.origin(), write ? "destination" : "source", pa, at, bytes, write);
    }
    return at;
  }
};

Execution& of(void* self) { return *static_cast<Execution*>(self); }

int read_local(void* self, std::uint64_t local, void* out, std::uint64_t bytes) {
  const std::uint8_t* from = of(self).local(local, bytes, false);
  if (!from) return NRTP_INVALID;
  std::memcpy(out, from, bytes);
  return NRTP_OK;
}

int write_local(void* self, std::uint64_t local, const void* in, std::uint64_t bytes) {
  std::uint8_t* to = of(self).local(local, bytes, true);
  if (!to) return NRTP_INVALID;
  std::memcpy(to, in, bytes);
  return NRTP_OK;
}

int read_device(void* self, std::uint64_t address, void* out, std::uint64_t bytes) {
  Sequencer& s = of(self).sequencer;
  return s.bus().bus_read(address, out, bytes, s.origin()) ? NRTP_OK : NRTP_INVALID;
}

int write_device(void* self, std::uint64_t address, const void* in, std::uint64_t bytes) {
  Sequencer& s = of(self).sequencer;
  return s.bus().bus_write(address, in, bytes, s.origin()) ? NRTP_OK : NRTP_INVALID;
}

int read_register(void* self, std::uint32_t number, std::uint32_t* out) {
  if (number >= Sequencer::kRegisters || out == nullptr) return NRTP_INVALID;
  *out = *of(self).sequencer.reg(number);
  return NRTP_OK;
}

int write_register(void* self, std::uint32_t number, std::uint32_t value) {
  if (number >= Sequencer::kRegisters) return NRTP_INVALID;
  *of(self).sequencer.reg(number) = value;
  return NRTP_OK;
}

void explain(void* self, const char* message) {
  constexpr std::size_t kLongest = 256;
  if (message != nullptr) of(self).reason.assign(message, ::strnlen(message, kLongest));
}

}  // namespace

bool claimed(const nrtp_arch_plugin& arch, std::uint32_t engine, std::uint8_t opcode) {
  const nrtp_arch_semantics* own = semantics_of(arch);
  return own && own->claims && own->execute && own->claims(engine, opcode) != 0;
}

Outcome execute_own(Sequencer& s, const Decoded& d) {
  Execution execution{s, {}};
  const nrtp_engine_view view{.size = sizeof view,
                              .core = s.core(),
                              .engine = s.engine(),
                              .reserved = 0,
                              .product = execution.map().product(),
                              .self = &execution,
                              .read_local = read_local,
                              .write_local = write_local,
                              .read_device = read_device,
                              .write_device = write_device,
                              .read_register = read_register,
                              .write_register = write_register,
                              .explain = explain};
  const nrtp_arch_plugin& arch = execution.map().arch();
  const int status = semantics_of(arch)->execute(s.engine(), d.raw, &view);
  if (status == NRTP_OK) return Outcome::kNext;
  if (execution.reason.empty()) execution.reason = "status " + std::to_string(status);
  return s.fail(d.raw[0], std::string("arch ") + arch.name + ": " + execution.reason);
}

}  // namespace opennrt::emu
