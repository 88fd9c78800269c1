// SPDX-License-Identifier: Apache-2.0
//
// What opennrt run tells on standard output: lines as things happen, or with --json
// one document when all is over.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "compare.h"
#include "run_options.h"

namespace opennrt::tools {

class RunReport {
 public:
  explicit RunReport(const RunOptions& options) : options_(options) {}

  bool json() const { return options_.json; }
  void device(const std::string& arch, int core);
  // Of the JSON only. Empty: not known.
  void product(const std::string& name) { product_ = name; }
  // source: a file or a kind of fill; empty for an output.
  void tensor(const std::string& name, const char* dtype, const Shape& shape, std::size_t bytes,
              const std::string& source);
  void latencies(std::vector<double> microseconds);
  void output(const std::string& name, const std::string& path);
  // path empty: not written, for that reason.
  void dump(const DumpRequest& dump, const std::string& path, const std::string& reason);
  // shape: nullptr when it is not known.
  void comparison(const CompareRequest& request, const Tolerance& tolerance,
                  const Comparison& result, const Shape* shape);
  void findings(std::size_t count);
  void error(const std::string& text);

  // The document, on one line per member.
  std::string document(bool good) const;

 private:
  const RunOptions& options_;
  std::string arch_, product_, error_;
  std::optional<int> core_;
  std::vector<std::string> tensors_, outputs_, dumps_, comparisons_;  // JSON
  std::string latency_ = "null", verify_ = "null";                    // JSON
};

}  // namespace opennrt::tools
