// SPDX-License-Identifier: Apache-2.0
//
// Runs one model of the corpus through the C ABI.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "nrt/nrt.h"
#include "nrt/nrt_experimental.h"
#include "support/model_reference.h"

namespace opennrt::test {

inline std::string corpus_file(const std::string& name) {
  const char* folder = std::getenv("OPENNRT_CORPUS");
  return std::string(folder != nullptr ? folder : OPENNRT_DEFAULT_CORPUS) + "/" + name;
}
inline bool have_corpus() { return access(corpus_file("manifest.yaml").c_str(), R_OK) == 0; }

// Configures the software device for a model; before nrt_init.
inline void select_product(const ModelCase& model) {
  setenv("OPENNRT_DEVICE", "emulator", 1);
  setenv("OPENNRT_EMULATOR_PRODUCT",
         model.target == "sunda"    ? "trn1.2xlarge"
         : model.target == "cayman" ? "trn2.3xlarge"
                                    : "trn3-gen2-server",
         1);
  setenv("OPENNRT_EMULATOR_DEVICES", "1", 1);
}

// Loads the model, executes it `executions` times on device tensors and reads
// the outputs. Outputs hold a pattern before, so that a byte never written shows.
inline NRT_STATUS run_model(const ModelCase& model, const TensorBytes& inputs, TensorBytes* outputs,
                            int executions = 1) {
  NRT_STATUS status = nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "");
  if (status != NRT_SUCCESS) return status;
  nrt_model_t* loaded = nullptr;
  nrt_tensor_set_t *in = nullptr, *out = nullptr;
  std::vector<nrt_tensor_t*> tensors;
  const auto note = [&status](NRT_STATUS s) {
    if (status == NRT_SUCCESS) status = s;
    return s == NRT_SUCCESS;
  };
  {
    std::ifstream file(corpus_file(model.file), std::ios::binary);
    const std::vector<char> neff{std::istreambuf_iterator<char>(file), {}};
    note(nrt_load(neff.data(), neff.size(), 0, -1, &loaded));
  }
  note(nrt_allocate_tensor_set(&in));
  note(nrt_allocate_tensor_set(&out));
  const auto add = [&](const TensorSpec& t, nrt_tensor_set_t* set, const std::uint8_t* data) {
    const std::size_t bytes = static_cast<std::size_t>(t.elements()) * element_bytes(t.type);
    nrt_tensor_t* tensor = nullptr;
    if (!note(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, bytes, t.name.c_str(), &tensor)))
      return;
    tensors.push_back(tensor);
    note(data != nullptr ? nrt_tensor_write(tensor, data, 0, bytes)
                         : nrt_tensor_memset(tensor, 0, 0xA5, bytes));
    note(nrt_add_tensor_to_tensor_set(set, t.name.c_str(), tensor));
  };
  for (const TensorSpec& t : model.inputs) add(t, in, inputs.at(t.name).data());
  for (const TensorSpec& t : model.outputs) add(t, out, nullptr);
  for (int i = 0; i < executions && status == NRT_SUCCESS; ++i) note(nrt_execute(loaded, in, out));
  if (status == NRT_SUCCESS)
    for (std::size_t i = 0; i < model.outputs.size(); ++i) {
      const TensorSpec& t = model.outputs[i];
      std::vector<std::uint8_t>& bytes = (*outputs)[t.name];
      bytes.resize(static_cast<std::size_t>(t.elements()) * element_bytes(t.type));
      note(nrt_tensor_read(tensors[model.inputs.size() + i], bytes.data(), 0, bytes.size()));
    }
  for (nrt_tensor_t*& t : tensors) nrt_tensor_free(&t);
  if (in != nullptr) nrt_destroy_tensor_set(&in);
  if (out != nullptr) nrt_destroy_tensor_set(&out);
  if (loaded != nullptr) note(nrt_unload(loaded));
  nrt_close();
  return status;
}

}  // namespace opennrt::test
