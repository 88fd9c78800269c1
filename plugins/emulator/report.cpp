// SPDX-License-Identifier: Apache-2.0
#include "report.h"

#include <cstring>
#include <string>

#include "control.h"
#include "driver/machine.h"
#include "opennrt/whole_file.hpp"

namespace opennrt::emu {

void write_report(Machine& machine, const nrtp_host* host) {
  const std::string& path = machine.config().report;
  if (path.empty()) return;
  const std::string text = report_text(machine);
  WholeFile file;
  int error = file.create(path);
  if (error == 0) error = file.write(text.data(), text.size());
  if (error == 0) error = file.commit();
  if (error == 0) return;
  const std::string message = "emulator.report " + path + ": " + std::strerror(error);
  host->log(host->self, NRTP_LOG_ERROR, "EMU", message.c_str());
}

}  // namespace opennrt::emu
