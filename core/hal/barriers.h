// SPDX-License-Identifier: Apache-2.0
//
// Fences and the publication of descriptors in ring memory mapped into the
// process. C++ fences: one instruction on x86-64 and correct elsewhere.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace opennrt::hal {

// Between CPU and device, all accesses.
inline void al_data_memory_barrier() { std::atomic_thread_fence(std::memory_order_seq_cst); }
// Between CPU and device memory mapped here.
inline void al_local_data_memory_barrier() { std::atomic_thread_fence(std::memory_order_seq_cst); }
inline void al_local_write_memory_barrier() { std::atomic_thread_fence(std::memory_order_release); }
// Between CPUs.
inline void al_smp_data_memory_barrier() { std::atomic_thread_fence(std::memory_order_seq_cst); }
inline void al_smp_read_memory_barrier() { std::atomic_thread_fence(std::memory_order_acquire); }

// Publishes one 16-byte descriptor with one store: the device never sees half
// of it. dst is 16-byte aligned.
inline void al_copy_descriptor(void* dst, const void* src) {
#if defined(__SSE2__)
  _mm_store_si128(static_cast<__m128i*>(dst), _mm_loadu_si128(static_cast<const __m128i*>(src)));
#else
  // The word with length, ring id and flags goes last.
  std::memcpy(static_cast<char*>(dst) + 4, static_cast<const char*>(src) + 4, 12);
  al_local_write_memory_barrier();
  std::memcpy(dst, src, 4);
#endif
}

}  // namespace opennrt::hal
