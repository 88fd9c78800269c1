// SPDX-License-Identifier: Apache-2.0
#include "book/errno_status.h"

#include <errno.h>
#include <string.h>

namespace opennrt::book {

Status errno_status(int error, std::string_view what) {
  NRT_STATUS code = NRT_FAILURE;
  if (error == -ENOMEM) code = NRT_RESOURCE;
  if (error == -EINVAL) code = NRT_INVALID;
  if (error == -EBUSY) code = NRT_EXEC_NC_BUSY;
  if (error == -EOWNERDEAD) code = NRT_HW_ERROR;
  char buffer[128];
  return Status::make(code, "{}: {}", what, strerror_r(-error, buffer, sizeof buffer))
      .because(error == -EBUSY ? Cause::kDeviceInUse : Cause::kNone);
}

}  // namespace opennrt::book
