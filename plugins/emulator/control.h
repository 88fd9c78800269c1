// SPDX-License-Identifier: Apache-2.0
//
// The control channel of the software device (nrtp_sys_port.control): what the
// runtime asks beyond the driver's interface.
//
//   describe <device> <core>           engines that stand inside a program or have failed
//   stuck                              "1 <n>": no engine of the cores that the process has
//                                      reserved and no DMA queue can go on, else "0 <n>";
//                                      n grows while their programs get on
//   verify                             the checks that are on, as emulator.verify takes them
//   name <device> <pa> <bytes> <text>  what findings call a range
//   forget <device> <pa> <bytes>       names, variables and images that start in the range
//   ignore <device> <pa> <bytes>       accesses there are not checked
//   expect <device> <pa> <bytes>       from now on the bytes count as not written
//   missing <device> <pa> <bytes>      offset of the first byte not written since, or "none"
//   findings <device>                  number of findings so far
//   finding <device>                   the runtime found something itself: one more
//   engine <device> <core> <engine>    program counter (hex) of an engine inside a program
//                                      and what it waits for; empty: stopped
//   backing <address>                  where the byte behind a CPU address of this process lies
//                                      in the descriptor that DMABUF_FD gives for it
//   holders <device>                   processes attached to it, one "<pid> <command>" a line
//   owners                             reserved cores of all devices, one
//                                      "<device> <core> <pid> <command>" a line
//   inspect                            "1": emulator.inspect asks for dumps, else "0"
//   variable <device> <core> <pa> <bytes> <name>
//   tensor <device> <core> <pa> <bytes> <type> <dimensions> <name>
//                                      a variable of a known form, "float32" "4x1000"
//   memory                             bytes of one HBM channel
//   image <device> <core> <engine> <subgraph> <pa> <bytes> <runs>
//                                      see Inspector::image
//
// Numbers are decimal or 0x hexadecimal; a device is its index.
#pragma once

#include <cstdint>
#include <string>

namespace opennrt::emu {

class Machine;

// 0 or -errno. pid: of the process that asks.
int control(Machine& machine, const char* request, std::string* reply, std::uint32_t pid);

// What was found and dumped, one line each: "findings N", then per item of
// emulator.inspect "done FILE", "failed FILE REASON" or "unreached FILE REASON".
std::string report_text(Machine& machine);

}  // namespace opennrt::emu
