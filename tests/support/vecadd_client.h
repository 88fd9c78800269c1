// SPDX-License-Identifier: Apache-2.0
//
// A vector-add model loaded through the C ABI, with its tensors; used by tests
// that run real or assembled vector-add programs.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "nrt/nrt.h"
#include "nrt/nrt_experimental.h"

namespace opennrt::test {

inline std::vector<char> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// nrt_init on construction, nrt_close on destruction.
class Runtime {
 public:
  Runtime() { status_ = nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""); }
  ~Runtime() { nrt_close(); }
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  NRT_STATUS status() const { return status_; }

 private:
  NRT_STATUS status_;
};

class VecAddModel {
 public:
  explicit VecAddModel(const std::vector<char>& neff, int vnc = 0) {
    status_ = nrt_load(neff.data(), neff.size(), vnc, -1, &model_);
    if (status_ != NRT_SUCCESS) return;
    nrt_tensor_info_array_t* info = nullptr;
    status_ = nrt_get_model_tensor_info(model_, &info);
    if (status_ != NRT_SUCCESS) return;
    for (std::uint64_t i = 0; i < info->tensor_count; ++i) {
      const nrt_tensor_info_t& t = info->tensor_array[i];
      (t.usage == NRT_TENSOR_USAGE_INPUT ? inputs_ : outputs_).push_back(t.name);
      bytes_ = t.size;
    }
    nrt_free_model_tensor_info(info);
  }
  ~VecAddModel() {
    if (model_ != nullptr) nrt_unload(model_);
  }
  VecAddModel(const VecAddModel&) = delete;
  VecAddModel& operator=(const VecAddModel&) = delete;

  NRT_STATUS status() const { return status_; }
  nrt_model_t* get() const { return model_; }
  const std::vector<std::string>& inputs() const { return inputs_; }
  const std::vector<std::string>& outputs() const { return outputs_; }
  std::size_t bytes() const { return bytes_; }  // of every tensor

 private:
  NRT_STATUS status_;
  nrt_model_t* model_ = nullptr;
  std::vector<std::string> inputs_, outputs_;
  std::size_t bytes_ = 0;
};

// One set of tensors of a vector-add model, inputs random over many magnitudes.
class VecAddTensors {
 public:
  VecAddTensors(const VecAddModel& model, std::uint64_t seed,
                nrt_tensor_placement_t placement = NRT_TENSOR_PLACEMENT_DEVICE, int vnc = 0)
      : model_(model), a_(model.bytes() / 4), b_(model.bytes() / 4) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
    for (std::vector<float>* v : {&a_, &b_})
      for (float& x : *v) x = std::ldexp(uniform(random), static_cast<int>(random() % 40) - 20);
    EXPECT_EQ(nrt_allocate_tensor_set(&in_), NRT_SUCCESS);
    EXPECT_EQ(nrt_allocate_tensor_set(&out_), NRT_SUCCESS);
    add(in_, model.inputs().at(0), placement, vnc, a_.data());
    add(in_, model.inputs().at(1), placement, vnc, b_.data());
    add(out_, model.outputs().at(0), placement, vnc, nullptr);
  }
  ~VecAddTensors() {
    for (nrt_tensor_t*& t : tensors_) nrt_tensor_free(&t);
    nrt_destroy_tensor_set(&in_);
    nrt_destroy_tensor_set(&out_);
  }
  VecAddTensors(const VecAddTensors&) = delete;
  VecAddTensors& operator=(const VecAddTensors&) = delete;

  nrt_tensor_set_t* in() const { return in_; }
  nrt_tensor_set_t* out() const { return out_; }
  nrt_tensor_t* output() const { return tensors_.at(2); }
  NRT_STATUS execute() { return nrt_execute(model_.get(), in_, out_); }
  void poison_output() {
    EXPECT_EQ(nrt_tensor_memset(tensors_.at(2), 0, 0xA5, model_.bytes()), NRT_SUCCESS);
  }
  // Number of output elements that are not exactly a + b.
  std::size_t wrong() {
    std::vector<float> got(a_.size());
    EXPECT_EQ(nrt_tensor_read(tensors_.at(2), got.data(), 0, model_.bytes()), NRT_SUCCESS);
    std::size_t count = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      const float want =
          static_cast<float>(static_cast<double>(a_[i]) + static_cast<double>(b_[i]));
      count += std::memcmp(&got[i], &want, 4) != 0;
    }
    return count;
  }

 private:
  void add(nrt_tensor_set_t* set, const std::string& name, nrt_tensor_placement_t placement,
           int vnc, const float* data) {
    nrt_tensor_t* t = nullptr;
    ASSERT_EQ(nrt_tensor_allocate(placement, vnc, model_.bytes(), name.c_str(), &t), NRT_SUCCESS);
    tensors_.push_back(t);
    if (data != nullptr) {
      ASSERT_EQ(nrt_tensor_write(t, data, 0, model_.bytes()), NRT_SUCCESS);
    }
    ASSERT_EQ(nrt_add_tensor_to_tensor_set(set, name.c_str(), t), NRT_SUCCESS);
  }

  const VecAddModel& model_;
  std::vector<float> a_, b_;
  nrt_tensor_set_t* in_ = nullptr;
  nrt_tensor_set_t* out_ = nullptr;
  std::vector<nrt_tensor_t*> tensors_;
};

}  // namespace opennrt::test
