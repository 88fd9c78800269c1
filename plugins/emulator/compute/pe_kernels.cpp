// SPDX-License-Identifier: Apache-2.0
#include "compute/pe_kernels.h"

#include <array>

namespace opennrt::emu {

extern const PeKernels kPeKernelsPortable;
#if defined(__x86_64__)
extern const PeKernels kPeKernelsAvx2, kPeKernelsAvx512;
#endif

namespace {

struct Usable {
  std::array<const PeKernels*, 3> sets{};
  std::size_t count = 0;
};

Usable probe() {
  Usable u;
  u.sets[u.count++] = &kPeKernelsPortable;
#if defined(__x86_64__)
  // What the files are compiled with; see CMakeLists.txt.
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                    __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                    __builtin_cpu_supports("f16c") && __builtin_cpu_supports("aes") &&
                    __builtin_cpu_supports("pclmul");
  if (avx2) u.sets[u.count++] = &kPeKernelsAvx2;
  if (avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    u.sets[u.count++] = &kPeKernelsAvx512;
#endif
  return u;
}

const Usable& usable() {
  static const Usable u = probe();
  return u;
}

}  // namespace

const PeKernels& pe_kernels() { return *usable().sets[usable().count - 1]; }

std::span<const PeKernels* const> usable_pe_kernels() {
  return {usable().sets.data(), usable().count};
}

}  // namespace opennrt::emu
