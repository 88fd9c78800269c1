// SPDX-License-Identifier: Apache-2.0
#include "port/port_case.h"

#include <cerrno>

namespace opennrt::conform {

void PortCase::SetUp() {
  const Subject& s = subject();
  if (s.problem().empty() && s.kind() != NRTP_KIND_PORT) GTEST_SKIP() << "no system port";
  ASSERT_EQ(s.problem(), "");
  ASSERT_NE(s.port(), nullptr) << s.path() << ": the table is shorter than that of 1.0";
  const nrtp_sys_port& p = *s.port();
  ASSERT_TRUE(p.attach != nullptr && p.detach != nullptr) << "(rule any.head.accepted)";
  at("attach");
  void* ctx = nullptr;
  const int status = p.attach(TestHost::instance().table(), &ctx);
  std::string log;
  for (const std::string& line : TestHost::instance().take_log()) log += "; " + line;
  // A port says that its device or its recording is not here; any other refusal, or one
  // without a reason, is a fault.
  const bool absent = status == -ENOENT || status == -ENODEV || status == -EINVAL;
  if (absent && !log.empty()) GTEST_SKIP() << "the port does not attach here: " << status << log;
  ASSERT_EQ(status, 0) << log;
  port_ = &p;
  ctx_ = ctx;
  at("");
}

void PortCase::TearDown() {
  if (port_ != nullptr) port_->detach(ctx_);
}

}  // namespace opennrt::conform
