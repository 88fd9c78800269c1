// SPDX-License-Identifier: Apache-2.0
//
// The tensors of one execution in the model's order. The vectors keep their
// capacity, so that a binding that is used again allocates nothing.
#pragma once

#include <vector>

#include "base/status.h"
#include "kmgr/tensors.h"
#include "neff/program.h"
#include "tdrv/tdrv.h"

namespace opennrt::kmgr {

// Counts an output tensor at once when the program says that it is finished.
struct Binding final : tdrv::ExecutionListener {
  std::vector<tdrv::Tensor*> inputs, outputs;            // nullptr in place of a host tensor
  std::vector<tdrv::Tensor*> host_inputs, host_outputs;  // nullptr in place of a device tensor
  std::vector<Tensors::Pin> pins;                        // of all
  std::vector<bool> finished;                            // outputs counted during the run
  bool any_host_input = false, any_host_output = false;

  // NRT_INVALID: a set is none, or the input set has another number of tensors
  // than the model has inputs. NRT_EXEC_BAD_INPUT: a tensor is missing, without
  // storage or too small.
  Status fill(TensorSetHandle input_set, TensorSetHandle output_set, const neff::Program& program);
  // NRT_EXEC_BAD_INPUT: a device tensor is on another logical core.
  Status check_core(const neff::Program& program, std::int32_t logical_core) const;
  void clear() { pins.clear(); }

  // Those in host memory are finished when they have been copied.
  void output_finished(std::size_t output) override;
  // The run is over and has left results.
  void count_the_rest();
};

}  // namespace opennrt::kmgr
