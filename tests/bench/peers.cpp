// SPDX-License-Identifier: Apache-2.0
#include "bench/peers.h"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <thread>

namespace opennrt::bench {

namespace {

constexpr int kRowMajor = 101, kPlain = 111, kTransposed = 112;

void* open_one(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return handle;
  return nullptr;
}

template <typename F>
void find(void* handle, const char* name, F* out) {
  if (handle) *out = reinterpret_cast<F>(dlsym(handle, name));
}

}  // namespace

Peers& Peers::get() {
  static Peers peers;
  return peers;
}

Peers::Peers() {
  // A library's threads must not spin while the other side is measured.
  setenv("OMP_WAIT_POLICY", "passive", 0);
  // OpenBLAS takes a CPU that is newer than itself for a very old one.
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    setenv("OPENBLAS_CORETYPE", "SKYLAKEX", 0);
  else if (__builtin_cpu_supports("avx2"))
    setenv("OPENBLAS_CORETYPE", "HASWELL", 0);
#endif
  void* blas = open_one({"libopenblas.so.0", "libopenblas.so"});
  find(blas, "cblas_sgemm", &openblas_);
  find(blas, "openblas_set_num_threads", &openblas_threads_);
  const char* (*core)() = nullptr;
  find(blas, "openblas_get_corename", &core);
  if (core) openblas_core_ = core();
  find(open_one({"libdnnl.so.3", "libdnnl.so.2", "libdnnl.so"}), "dnnl_sgemm", &dnnl_);
  find(open_one({"libxsmm.so.1", "libxsmm.so"}), "libxsmm_sgemm", &xsmm_);
  if (dnnl_) find(open_one({"libgomp.so.1"}), "omp_set_num_threads", &omp_threads_);
  set_threads(1);
}

std::string Peers::found() const {
  std::string have, lack;
  const auto add = [&](bool there, const std::string& name) {
    std::string& list = there ? have : lack;
    list += (list.empty() ? "" : ", ") + name;
  };
  add(openblas_ != nullptr,
      openblas_core_.empty() ? "OpenBLAS" : "OpenBLAS (" + openblas_core_ + ")");
  add(dnnl_ != nullptr, "oneDNN");
  add(xsmm_ != nullptr, "libxsmm");
  return (have.empty() ? "none" : have) + (lack.empty() ? "" : "; not found: " + lack);
}

void Peers::set_threads(int n) const {
  if (openblas_threads_) openblas_threads_(n);
  if (omp_threads_) omp_threads_(n);
}

void Peers::openblas(bool a_transposed, bool b_transposed, int m, int n, int k, float alpha,
                     const float* a, const float* b, float* c) const {
  openblas_(kRowMajor, a_transposed ? kTransposed : kPlain, b_transposed ? kTransposed : kPlain, m,
            n, k, alpha, a, a_transposed ? m : k, b, b_transposed ? k : n, 0, c, n);
}

LargeProduct::LargeProduct()
    : a_(std::size_t{kM} * kK * 4), b_(std::size_t{kK} * kN * 4), c_(std::size_t{kM} * kN * 4) {
  std::fill_n(a_.floats(), std::size_t{kM} * kK, 0.5f);
  std::fill_n(b_.floats(), std::size_t{kK} * kN, 0.25f);
  std::fill_n(c_.floats(), std::size_t{kM} * kN, 0.0f);
  const Peers& peers = Peers::get();
  const float *a = a_.floats(), *b = b_.floats();
  float* c = c_.floats();
  // C of M x N, or its transpose as B' A'; each operand in either order.
  for (const bool swapped : {false, true})
    for (const bool first : {false, true})
      for (const bool second : {false, true}) {
        const int m = swapped ? kN : kM, n = swapped ? kM : kN;
        const float *x = swapped ? b : a, *y = swapped ? a : b;
        const int ldx = first ? m : kK, ldy = second ? kK : n;
        const std::string layout = std::string(swapped ? " transposed result, " : " ") +
                                   (first ? "T" : "N") + (second ? "T" : "N");
        if (peers.openblas_)
          forms_.push_back({"OpenBLAS" + layout,
                            [=, &peers] { peers.openblas(first, second, m, n, kK, 1, x, y, c); }});
        if (peers.dnnl_) {
          // `rows` of the result from row `at`.
          const auto part = [=, &peers](int at, int rows) {
            const std::ptrdiff_t from = first ? at : std::ptrdiff_t{at} * kK;
            peers.dnnl_(first ? 'T' : 'N', second ? 'T' : 'N', rows, n, kK, 1, x + from, ldx, y,
                        ldy, 0, c + std::ptrdiff_t{at} * n, n);
          };
          forms_.push_back({"oneDNN" + layout, [=] { part(0, m); }});
          // Two products of one thread each: more than the library gets out of two.
          if (swapped)
            forms_.push_back({"oneDNN, half a product each," + layout,
                              [=, &peers] {
                                std::thread other([=, &peers] {
                                  peers.set_threads(1);
                                  part(0, m / 2);
                                });
                                peers.set_threads(1);
                                part(m / 2, m - m / 2);
                                other.join();
                                peers.set_threads(2);
                              },
                              2});
        }
        if (peers.xsmm_)
          // Column major: the product of the transposes.
          forms_.push_back({"libxsmm" + layout, [=, &peers] {
                              const float one = 1, zero = 0;
                              const int k = kK;
                              peers.xsmm_(second ? "T" : "N", first ? "T" : "N", &n, &m, &k, &one,
                                          y, &ldy, x, &ldx, &zero, c, &n);
                            }});
      }
}

void LargeProduct::choose(int threads) {
  Peers::get().set_threads(threads);
  double best = 1e30;
  for (std::size_t i = 0; i < forms_.size(); ++i) {
    if (forms_[i].threads != 0 && forms_[i].threads != threads) continue;
    double (*const clock)() = threads == 1 ? process_seconds : wall_seconds;
    double seconds = timed(clock, forms_[i].run);
    if (seconds < 1.3 * best) seconds = std::min(seconds, timed(clock, forms_[i].run));
    if (seconds < best) {
      best = seconds;
      chosen_ = i;
    }
  }
}

AttentionPeer::AttentionPeer(int sequence, int depth)
    : sequence_(sequence),
      depth_(depth),
      q_(std::size_t(sequence) * std::size_t(depth) * 4),
      k_(std::size_t(sequence) * std::size_t(depth) * 4),
      v_(std::size_t(sequence) * std::size_t(depth) * 4),
      scores_(std::size_t(sequence) * std::size_t(sequence) * 4),
      out_(std::size_t(sequence) * std::size_t(depth) * 4) {
  for (int i = 0; i < sequence * depth; ++i) {
    q_.floats()[i] = static_cast<float>(i * 7 % 64) / 64 - 0.5f;
    k_.floats()[i] = static_cast<float>(i * 13 % 64) / 64 - 0.5f;
    v_.floats()[i] = static_cast<float>(i * 5 % 64) / 64 - 0.5f;
  }
}

void AttentionPeer::run() {
  const Peers& peers = Peers::get();
  const int s = sequence_;
  peers.openblas(true, false, s, s, depth_, 1, q_.floats(), k_.floats(), scores_.floats());
  for (int i = 0; i < s; ++i) {
    float* row = scores_.floats() + std::size_t(i) * std::size_t(s);
    float highest = row[0];
    for (int j = 1; j < s; ++j) highest = std::max(highest, row[j]);
    float sum = 0;
    for (int j = 0; j < s; ++j) {
      row[j] = std::exp(row[j] - highest);
      sum += row[j];
    }
    const float scale = 1 / sum;
    for (int j = 0; j < s; ++j) row[j] *= scale;
  }
  peers.openblas(false, true, s, depth_, s, 1, scores_.floats(), v_.floats(), out_.floats());
}

}  // namespace opennrt::bench
