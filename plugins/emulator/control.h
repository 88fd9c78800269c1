// SPDX-License-Identifier: Apache-2.0
//
// The control channel of the software device (nrtp_sys_port.control): what the
// runtime asks beyond the driver's interface.
//
//   describe <device> <core>           engines that stand inside a program or have failed
//   stuck                              "1 <n>": no engine and no DMA queue can go on, else
//                                      "0 <n>"; n grows while programs get on
//   verify                             the checks that are on, as emulator.verify takes them
//   name <device> <pa> <bytes> <text>  what findings call a range
//   forget <device> <pa> <bytes>       names that start in the range
//   expect <device> <pa> <bytes>       from now on the bytes count as not written
//   missing <device> <pa> <bytes>      offset of the first byte not written since, or "none"
//   findings <device>                  number of findings so far
//
// Numbers are decimal or 0x hexadecimal; a device is its index.
#pragma once

#include <string>

namespace opennrt::emu {

class Machine;

// 0 or -errno.
int control(Machine& machine, const char* request, std::string* reply);

}  // namespace opennrt::emu
