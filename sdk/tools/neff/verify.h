// SPDX-License-Identifier: Apache-2.0
//
// Checks of a model without a device. A finding names the member, the record
// (counted from 1) and what is wrong.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "neff/model.h"

namespace opennrt::tools {

enum class Severity { kError, kWarning };

struct Finding {
  Severity severity = Severity::kError;
  std::string member;  // or "header", or the name of a queue inside its definition
  std::optional<std::uint64_t> record;
  std::string text;
};

// Keeps the first `limit` findings and counts all.
class Findings {
 public:
  explicit Findings(std::size_t limit) : limit_(limit) {}
  void error(std::string member, std::optional<std::uint64_t> record, std::string text) {
    add({Severity::kError, std::move(member), record, std::move(text)});
  }
  void warn(std::string member, std::optional<std::uint64_t> record, std::string text) {
    add({Severity::kWarning, std::move(member), record, std::move(text)});
  }
  const std::vector<Finding>& kept() const { return kept_; }
  std::uint64_t errors() const { return errors_; }
  std::uint64_t warnings() const { return warnings_; }

 private:
  void add(Finding finding) {
    ++(finding.severity == Severity::kError ? errors_ : warnings_);
    if (limit_ == 0 || kept_.size() < limit_) kept_.push_back(std::move(finding));
  }
  std::size_t limit_;
  std::vector<Finding> kept_;
  std::uint64_t errors_ = 0, warnings_ = 0;
};

// All checks; loads the model.
void verify_model(Model& model, Findings& findings);

// The parts. The model is loaded.
void verify_records(const Model& model, const neff::Subgraph& graph, Findings& findings);
void verify_queues(const Model& model, const neff::Subgraph& graph, Findings& findings);
void verify_waits(const Model& model, Findings& findings);
void verify_members(const Model& model, Findings& findings);

}  // namespace opennrt::tools
