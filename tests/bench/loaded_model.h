// SPDX-License-Identifier: Apache-2.0
//
// Models of the corpus, loaded through the C ABI and ready to execute.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nrt/nrt.h"
#include "nrt/nrt_experimental.h"
#include "support/model_reference.h"

namespace opennrt::bench {

// Of the corpus manifest; ends the program when it is not there.
const test::ModelCase& model_case(const std::string& id);
std::vector<char> read_neff(const test::ModelCase& model);

// The runtime between nrt_init and nrt_close, on the software device that a
// model is for. threads: of one emulated core, 0 = as by default.
class Session {
 public:
  Session(const test::ModelCase& model, int threads);
  ~Session();
  Session(const Session&) = delete;
};

// A model with device tensors. Inputs are ordinary numbers, written piecewise.
class LoadedModel {
 public:
  explicit LoadedModel(const test::ModelCase& model, int core = 0);
  ~LoadedModel();
  LoadedModel(const LoadedModel&) = delete;
  void execute();

 private:
  nrt_model_t* model_ = nullptr;
  nrt_tensor_set_t *in_ = nullptr, *out_ = nullptr;
  std::vector<nrt_tensor_t*> tensors_;
};

}  // namespace opennrt::bench
