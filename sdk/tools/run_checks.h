// SPDX-License-Identifier: Apache-2.0
//
// What opennrt run asks of the software device beyond an execution: checks,
// dumps, comparisons. It is asked through settings of this process and answers in
// files, as the tool is a client of the C ABI only.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compare.h"
#include "run_options.h"
#include "run_report.h"

namespace opennrt::tools {

// nullptr: no dump has the name.
const DumpRequest* find_dump(const RunOptions& options, const std::string& name);

// The file of a comparison. shape: nullptr for any. Throws std::runtime_error.
TypedData read_reference(const CompareRequest& request, nrt_dtype_t dtype, const Shape* shape);

// False: no match. shape: nullptr when it is not known.
bool compare_and_tell(const CompareRequest& request, const TypedData& values,
                      const TypedData& reference, const Shape* shape, RunReport* report);

class RunChecks {
 public:
  RunChecks(const RunOptions& options, RunReport* report) : options_(options), told_(report) {}
  ~RunChecks();
  RunChecks(const RunChecks&) = delete;
  RunChecks& operator=(const RunChecks&) = delete;

  // The device is asked for something.
  bool wanted() const { return options_.verify || !options_.dumps.empty(); }
  // Before nrt_init: settings of this process; dumps of earlier runs go away.
  void request();
  // An input or output of the model: the type of dumps that name none.
  void tensor(const std::string& name, nrt_dtype_t dtype) { tensors_[name] = dtype; }
  // The file is a dump of this run: it is not there yet.
  bool makes(const std::string& path) const;
  // After nrt_close: tells findings, dumps and comparisons of dumps. False: a
  // finding, a dump that was not made, or a mismatch. failed: the run has said
  // already what is wrong, which may be why the device has nothing to say.
  bool finish(bool failed);

 private:
  std::string file_of(const DumpRequest& dump) const;
  bool tell_dump(const DumpRequest& dump, const std::vector<std::string>& report) const;

  nrt_dtype_t type_of(const DumpRequest& dump) const;

  const RunOptions& options_;
  RunReport* const told_;
  std::map<std::string, nrt_dtype_t> tensors_;
  bool checks_anything_ = false;    // by --verify
  std::string directory_, report_;  // temporary
};

}  // namespace opennrt::tools
