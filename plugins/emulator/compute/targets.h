// SPDX-License-Identifier: Apache-2.0
//
// Element loops are compiled for the baseline CPU and for AVX2 (with F16C), and
// chosen once at run time. A file of loops is included between the marks once
// per target, in a namespace of its own; it must not use lambdas (they do not
// take the target). Both forms give the same bits: no contraction, no
// reassociation, lanes fixed in the source.
#pragma once

#if defined(__x86_64__)
#define OPENNRT_HAS_AVX2_TARGET 1
#if defined(__clang__)
#define OPENNRT_BEGIN_AVX2 \
  _Pragma("clang attribute push(__attribute__((target(\"avx2,f16c\"))), apply_to = function)")
#define OPENNRT_END_AVX2 _Pragma("clang attribute pop")
#else
#define OPENNRT_BEGIN_AVX2 _Pragma("GCC push_options") _Pragma("GCC target(\"avx2,f16c\")")
#define OPENNRT_END_AVX2 _Pragma("GCC pop_options")
#endif
#else
#define OPENNRT_HAS_AVX2_TARGET 0
#endif

namespace opennrt::emu {

// Whether this CPU runs the AVX2 form.
inline bool use_avx2() {
#if OPENNRT_HAS_AVX2_TARGET
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("f16c");
#else
  return false;
#endif
}

}  // namespace opennrt::emu
