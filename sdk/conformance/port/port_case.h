// SPDX-License-Identifier: Apache-2.0
//
// Base of the suites for system ports: the port under test, attached.
#pragma once

#include <gtest/gtest.h>

#include "host.h"
#include "subject.h"

namespace opennrt::conform {

class PortCase : public testing::Test {
 protected:
  void SetUp() override;  // skips when the port has no device here to attach to
  void TearDown() override;
  const nrtp_sys_port& port() const { return *port_; }
  void* ctx() const { return ctx_; }

 private:
  const nrtp_sys_port* port_ = nullptr;
  void* ctx_ = nullptr;
};

}  // namespace opennrt::conform
