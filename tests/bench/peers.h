// SPDX-License-Identifier: Apache-2.0
//
// Libraries for matrix products that are compared with: OpenBLAS, oneDNN and
// libxsmm, opened at run time if they are installed. The project does not depend
// on them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/measure.h"

namespace opennrt::bench {

class Peers {
 public:
  // Opened at the first call, one thread each.
  static Peers& get();

  bool any() const { return openblas_ || dnnl_ || xsmm_; }
  // "OpenBLAS (SkylakeX), oneDNN; not found: libxsmm".
  std::string found() const;
  void set_threads(int n) const;

  // C[m][n] = alpha * op(A) * op(B), rows contiguous. Transposed: stored as its
  // transpose. nullptr-like when OpenBLAS is absent: see has_openblas().
  bool has_openblas() const { return openblas_ != nullptr; }
  void openblas(bool a_transposed, bool b_transposed, int m, int n, int k, float alpha,
                const float* a, const float* b, float* c) const;

 private:
  friend class LargeProduct;
  using Blas = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int,
                        float, float*, int);
  using Dnnl = int (*)(char, char, std::int64_t, std::int64_t, std::int64_t, float, const float*,
                       std::int64_t, const float*, std::int64_t, float, float*, std::int64_t);
  using Xsmm = void (*)(const char*, const char*, const int*, const int*, const int*, const float*,
                        const float*, const int*, const float*, const int*, const float*, float*,
                        const int*);
  Peers();
  Blas openblas_ = nullptr;
  Dnnl dnnl_ = nullptr;
  Xsmm xsmm_ = nullptr;
  void (*openblas_threads_)(int) = nullptr;
  void (*omp_threads_)(int) = nullptr;
  std::string openblas_core_;
};

// One FP32 product with as many multiply-adds as the convolutions of the corpus:
// M 256, N 49284, K 2304, by the fastest library in its fastest layout.
class LargeProduct {
 public:
  static constexpr int kM = 256, kN = 49284, kK = 2304;
  static constexpr double kFlops = 2.0 * kM * kN * kK;

  LargeProduct();
  // Tries every library and layout twice, keeps the fastest.
  void choose(int threads);
  void run() const { forms_[chosen_].run(); }
  const std::string& name() const { return forms_[chosen_].name; }

 private:
  struct Form {
    std::string name;
    std::function<void()> run;
    int threads = 0;  // for which it is made; 0: any number
  };
  HugeBuffer a_, b_, c_;
  std::vector<Form> forms_;
  std::size_t chosen_ = 0;
};

// softmax(Q K^T * scale) V by OpenBLAS with a plain softmax between, `queries` x
// `depth` each. Operands as the models have them: depth x sequence, element
// [d][s]; the result is [s][d].
class AttentionPeer {
 public:
  AttentionPeer(int sequence, int depth);
  void run();

 private:
  int sequence_, depth_;
  HugeBuffer q_, k_, v_, scores_, out_;
};

}  // namespace opennrt::bench
