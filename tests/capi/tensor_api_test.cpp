// SPDX-License-Identifier: Apache-2.0
//
// Tensors through the C ABI: batches, slices of slices, re-attached buffers,
// copies, CPU addresses, allocation facts, completion counts.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "support/vecadd_client.h"

namespace opennrt::test {
namespace {

constexpr nrt_tensor_placement_t kPlacements[] = {
    NRT_TENSOR_PLACEMENT_DEVICE, NRT_TENSOR_PLACEMENT_HOST, NRT_TENSOR_PLACEMENT_VIRTUAL};

class TensorApi : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(runtime_.status(), NRT_SUCCESS); }
  void TearDown() override {
    for (nrt_tensor_t*& t : tensors_) nrt_tensor_free(&t);
  }
  nrt_tensor_t* make(std::size_t bytes, nrt_tensor_placement_t placement, int vnc = 0) {
    nrt_tensor_t* t = nullptr;
    EXPECT_EQ(nrt_tensor_allocate(placement, vnc, bytes, "t", &t), NRT_SUCCESS);
    tensors_.push_back(t);
    return t;
  }
  nrt_tensor_t* slice(const nrt_tensor_t* of, std::size_t offset, std::size_t bytes) {
    nrt_tensor_t* t = nullptr;
    EXPECT_EQ(nrt_tensor_allocate_slice(of, offset, bytes, "s", &t), NRT_SUCCESS);
    tensors_.push_back(t);
    return t;
  }
  static std::vector<std::uint8_t> pattern(std::size_t n, unsigned seed) {
    std::vector<std::uint8_t> out(n);
    for (std::size_t i = 0; i < n; ++i)
      out[i] = static_cast<std::uint8_t>((i + seed) * 2654435761u >> 13);
    return out;
  }
  static std::vector<std::uint8_t> read(const nrt_tensor_t* t) {
    std::vector<std::uint8_t> out(nrt_tensor_get_size(t));
    EXPECT_EQ(nrt_tensor_read(t, out.data(), 0, out.size()), NRT_SUCCESS);
    return out;
  }
  Runtime runtime_;
  std::vector<nrt_tensor_t*> tensors_;
};

TEST_F(TensorApi, BatchesMoveEveryRange) {
  for (const bool unchecked : {false, true}) {
    std::vector<nrt_tensor_batch_t> batches;
    std::vector<std::vector<nrt_tensor_batch_op_t>> ops;
    std::vector<std::vector<std::uint8_t>> data;
    constexpr std::size_t kBytes = 70'000;
    std::vector<nrt_tensor_t*> tensors;
    for (const auto placement : kPlacements)
      for (int i = 0; i < 2; ++i) tensors.push_back(make(kBytes, placement));
    tensors.push_back(slice(tensors[0], 100, 1000));  // of a tensor that is in the batch too
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      const std::size_t n = nrt_tensor_get_size(tensors[t]);
      data.push_back(pattern(n, static_cast<unsigned>(t)));
      // Odd cuts, one empty range.
      const std::size_t a = n / 3 | 1, b = n / 2 | 1;
      std::uint8_t* const p = data.back().data();
      ops.push_back({{0, a, p}, {a, b - a, p + a}, {b, 0, nullptr}, {b, n - b, p + b}});
    }
    for (std::size_t t = 0; t < tensors.size(); ++t)
      batches.push_back({tensors[t], ops[t].data(), static_cast<std::uint32_t>(ops[t].size())});
    ASSERT_EQ(nrt_tensor_write_batch(batches.data(), batches.size(), unchecked), NRT_SUCCESS);
    std::copy(data.back().begin(), data.back().end(), data[0].begin() + 100);
    for (std::size_t t = 0; t < tensors.size(); ++t) EXPECT_EQ(read(tensors[t]), data[t]) << t;

    std::vector<std::vector<std::uint8_t>> back;
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      back.emplace_back(data[t].size());
      for (nrt_tensor_batch_op_t& op : ops[t]) op.buffer = back[t].data() + op.offset;
    }
    ASSERT_EQ(nrt_tensor_read_batch(batches.data(), batches.size(), unchecked), NRT_SUCCESS);
    EXPECT_EQ(back, data);
  }
}

TEST_F(TensorApi, WrongBatchMovesNothing) {
  nrt_tensor_t* good = make(64, NRT_TENSOR_PLACEMENT_DEVICE);
  nrt_tensor_t* other = make(64, NRT_TENSOR_PLACEMENT_VIRTUAL);
  nrt_tensor_t* dead = make(64, NRT_TENSOR_PLACEMENT_VIRTUAL);
  nrt_tensor_t* stale = dead;
  nrt_tensor_free(&dead);
  tensors_.pop_back();
  nrt_tensor_t* empty = nullptr;
  ASSERT_EQ(nrt_tensor_allocate_empty("e", &empty), NRT_SUCCESS);
  tensors_.push_back(empty);
  ASSERT_EQ(nrt_tensor_memset(good, 0, 0x11, 64), NRT_SUCCESS);
  std::array<std::uint8_t, 128> buffer{};
  const nrt_tensor_batch_op_t fine{0, 64, buffer.data()};
  const nrt_tensor_batch_op_t wrong_ops[] = {{0, 65, buffer.data()},
                                             {64, 1, buffer.data()},
                                             {~0ull, 2, buffer.data()},
                                             {1, ~0ull, buffer.data()},
                                             {0, 1, nullptr}};
  for (const nrt_tensor_batch_op_t& wrong : wrong_ops) {
    const nrt_tensor_batch_t batches[] = {{good, &fine, 1}, {other, &wrong, 1}};
    EXPECT_EQ(nrt_tensor_write_batch(batches, 2, false), NRT_INVALID);
    EXPECT_EQ(nrt_tensor_write_batch(batches, 2, true), NRT_INVALID);
    EXPECT_EQ(nrt_tensor_read_batch(batches, 2, false), NRT_INVALID);
  }
  for (nrt_tensor_t* wrong : {static_cast<nrt_tensor_t*>(nullptr), stale, empty}) {
    const nrt_tensor_batch_t batches[] = {{good, &fine, 1}, {wrong, &fine, 1}};
    EXPECT_EQ(nrt_tensor_write_batch(batches, 2, false), NRT_INVALID);
  }
  const nrt_tensor_batch_t no_ops[] = {{good, &fine, 1}, {other, nullptr, 1}};
  EXPECT_EQ(nrt_tensor_write_batch(no_ops, 2, false), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_write_batch(nullptr, 1, false), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_write_batch(no_ops, ~0ull, false), NRT_INVALID);
  EXPECT_EQ(read(good), std::vector<std::uint8_t>(64, 0x11));
  EXPECT_EQ(nrt_tensor_write_batch(nullptr, 0, false), NRT_SUCCESS);
  const nrt_tensor_batch_t nothing[] = {{other, nullptr, 0}};
  EXPECT_EQ(nrt_tensor_write_batch(nothing, 1, false), NRT_SUCCESS);
}

TEST_F(TensorApi, SlicesOfSlicesKeepTheStorage) {
  for (const auto placement : kPlacements) {
    nrt_tensor_t* whole = make(1000, placement);
    const auto data = pattern(1000, 7);
    ASSERT_EQ(nrt_tensor_write(whole, data.data(), 0, 1000), NRT_SUCCESS);
    nrt_tensor_t* middle = slice(whole, 100, 500);
    nrt_tensor_t* inner = slice(middle, 50, 10);
    EXPECT_EQ(read(inner), std::vector<std::uint8_t>(data.begin() + 150, data.begin() + 160));
    nrt_tensor_t* out = nullptr;
    EXPECT_EQ(nrt_tensor_allocate_slice(middle, 491, 10, "x", &out), NRT_INVALID);
    EXPECT_EQ(nrt_tensor_allocate_slice(inner, 0, 11, "x", &out), NRT_INVALID);
    EXPECT_EQ(out, nullptr);
    // The storage lives as long as the last view.
    nrt_tensor_free(&whole);
    nrt_tensor_free(&middle);
    EXPECT_EQ(whole, nullptr);
    EXPECT_EQ(read(inner), std::vector<std::uint8_t>(data.begin() + 150, data.begin() + 160));
    nrt_tensor_free(&inner);
    tensors_.clear();
  }
}

TEST_F(TensorApi, AttachReplacesTheStorage) {
  std::vector<std::uint8_t> one(100, 1), two(50, 2);
  nrt_tensor_t* t = make(64, NRT_TENSOR_PLACEMENT_DEVICE);
  ASSERT_EQ(nrt_tensor_memset(t, 0, 9, 64), NRT_SUCCESS);
  nrt_tensor_t* old = slice(t, 0, 64);  // keeps what it was made of
  int core = 5;
  EXPECT_EQ(nrt_tensor_get_lnc_index(t, &core), NRT_SUCCESS);
  EXPECT_EQ(core, 0);
  ASSERT_EQ(nrt_tensor_attach_buffer(t, one.data(), one.size()), NRT_SUCCESS);
  EXPECT_EQ(nrt_tensor_get_size(t), 100u);
  EXPECT_EQ(nrt_tensor_get_va(t), one.data());
  EXPECT_EQ(nrt_tensor_get_lnc_index(t, &core), NRT_SUCCESS);
  EXPECT_EQ(core, -1);
  EXPECT_EQ(read(t), one);
  ASSERT_EQ(nrt_tensor_attach_buffer(t, two.data(), two.size()), NRT_SUCCESS);
  EXPECT_EQ(nrt_tensor_get_size(t), 50u);
  EXPECT_EQ(read(t), two);
  const std::uint8_t byte = 7;
  ASSERT_EQ(nrt_tensor_write(t, &byte, 49, 1), NRT_SUCCESS);
  EXPECT_EQ(two[49], 7);
  EXPECT_EQ(one[49], 1);
  EXPECT_EQ(read(old), std::vector<std::uint8_t>(64, 9));
  EXPECT_EQ(nrt_tensor_attach_buffer(t, nullptr, 1), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_attach_buffer(t, one.data(), 0), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_attach_buffer(nullptr, one.data(), 1), NRT_INVALID);
}

// Every pair of placements, and the same storage with overlapping ranges.
TEST_F(TensorApi, CopiesBetweenAllPlacements) {
  const auto data = pattern(5000, 3);
  for (const auto from : kPlacements)
    for (const auto to : kPlacements) {
      nrt_tensor_t* a = make(5000, from);
      nrt_tensor_t* b = make(6000, to);
      ASSERT_EQ(nrt_tensor_write(a, data.data(), 0, 5000), NRT_SUCCESS);
      ASSERT_EQ(nrt_tensor_memset(b, 0, 0xEE, 6000), NRT_SUCCESS);
      ASSERT_EQ(nrt_tensor_copy(a, 11, b, 997, 4001), NRT_SUCCESS);
      std::vector<std::uint8_t> want(6000, 0xEE);
      std::copy_n(data.begin() + 11, 4001, want.begin() + 997);
      EXPECT_EQ(read(b), want) << from << " to " << to;
      EXPECT_EQ(nrt_tensor_copy(a, 1, b, 0, 5000), NRT_INVALID);
      EXPECT_EQ(nrt_tensor_copy(a, 0, b, 5999, 2), NRT_INVALID);
      EXPECT_EQ(nrt_tensor_copy(a, ~0ull, b, 0, 2), NRT_INVALID);
      EXPECT_EQ(nrt_tensor_copy(a, 5000, b, 6000, 0), NRT_SUCCESS);
    }
  for (const auto placement : kPlacements) {
    nrt_tensor_t* t = make(5000, placement);
    ASSERT_EQ(nrt_tensor_write(t, data.data(), 0, 5000), NRT_SUCCESS);
    ASSERT_EQ(nrt_tensor_copy(t, 0, t, 1, 4999), NRT_SUCCESS);
    std::vector<std::uint8_t> want(data);
    std::copy_backward(data.begin(), data.end() - 1, want.end());
    EXPECT_EQ(read(t), want);
  }
  EXPECT_EQ(nrt_tensor_copy(nullptr, 0, tensors_[0], 0, 1), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_copy(tensors_[0], 0, nullptr, 0, 1), NRT_INVALID);
}

// Device memory of another HBM is out of reach of one transfer; the host is not.
TEST_F(TensorApi, CopiesAcrossCoresAreThoseOfOneHbm) {
  nrt_tensor_t* a = make(4096, NRT_TENSOR_PLACEMENT_DEVICE, 0);
  nrt_tensor_t* b = make(4096, NRT_TENSOR_PLACEMENT_DEVICE, 1);
  nrt_tensor_t* host = make(4096, NRT_TENSOR_PLACEMENT_VIRTUAL, -1);
  nrt_tensor_device_allocation_info_t at_a{}, at_b{};
  ASSERT_EQ(nrt_tensor_get_device_allocation_info(a, &at_a), NRT_SUCCESS);
  ASSERT_EQ(nrt_tensor_get_device_allocation_info(b, &at_b), NRT_SUCCESS);
  const auto data = pattern(4096, 5);
  ASSERT_EQ(nrt_tensor_write(a, data.data(), 0, 4096), NRT_SUCCESS);
  const NRT_STATUS direct = nrt_tensor_copy(a, 0, b, 0, 4096);
  EXPECT_EQ(direct, at_a.hbm_index == at_b.hbm_index ? NRT_SUCCESS : NRT_INVALID);
  ASSERT_EQ(nrt_tensor_copy(a, 0, host, 0, 4096), NRT_SUCCESS);
  ASSERT_EQ(nrt_tensor_copy(host, 0, b, 0, 4096), NRT_SUCCESS);
  EXPECT_EQ(read(b), data);
}

TEST_F(TensorApi, AllocationInfoIsThatOfTheView) {
  nrt_tensor_t* whole = make(10'000, NRT_TENSOR_PLACEMENT_DEVICE);
  nrt_tensor_t* part = slice(whole, 1234, 10);
  nrt_tensor_device_allocation_info_t w{}, p{};
  ASSERT_EQ(nrt_tensor_get_device_allocation_info(whole, &w), NRT_SUCCESS);
  ASSERT_EQ(nrt_tensor_get_device_allocation_info(part, &p), NRT_SUCCESS);
  EXPECT_EQ(p.physical_address, w.physical_address + 1234);
  EXPECT_EQ(w.size, 10'000u);
  EXPECT_EQ(p.size, 10'000u);
  EXPECT_EQ(p.hbm_index, w.hbm_index);
  EXPECT_NE(w.physical_address, 0u);
  for (const auto placement : {NRT_TENSOR_PLACEMENT_HOST, NRT_TENSOR_PLACEMENT_VIRTUAL})
    EXPECT_EQ(nrt_tensor_get_device_allocation_info(make(8, placement), &p), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_get_device_allocation_info(nullptr, &p), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_get_device_allocation_info(whole, nullptr), NRT_INVALID);
  int core = 0;
  EXPECT_EQ(nrt_tensor_get_lnc_index(nullptr, &core), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_get_lnc_index(whole, nullptr), NRT_INVALID);
}

// The CPU sees device memory at the address, and the device sees its stores.
TEST_F(TensorApi, DeviceTensorsHaveAnAddressForTheCpu) {
  nrt_tensor_t* t = make(1 << 20, NRT_TENSOR_PLACEMENT_DEVICE);
  auto* va = static_cast<std::uint8_t*>(nrt_tensor_get_va(t));
  ASSERT_NE(va, nullptr);
  const auto data = pattern(1 << 20, 1);
  ASSERT_EQ(nrt_tensor_write(t, data.data(), 0, data.size()), NRT_SUCCESS);
  EXPECT_EQ(std::memcmp(va, data.data(), data.size()), 0);
  const auto more = pattern(5000, 2);
  ASSERT_EQ(nrt_memcpy_to_device(va + 777, more.data(), more.size()), NRT_SUCCESS);
  std::vector<std::uint8_t> got(more.size());
  ASSERT_EQ(nrt_tensor_read(t, got.data(), 777, got.size()), NRT_SUCCESS);
  EXPECT_EQ(got, more);
  EXPECT_EQ(nrt_tensor_get_va(slice(t, 100, 10)), va + 100);
  EXPECT_EQ(nrt_memcpy_to_device(va, nullptr, 0), NRT_SUCCESS);
  EXPECT_EQ(nrt_memcpy_to_device(va, nullptr, 1), NRT_INVALID);
  EXPECT_EQ(nrt_memcpy_to_device(nullptr, more.data(), 1), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_get_va(nullptr), nullptr);
}

TEST_F(TensorApi, CompletionsCountPerView) {
  VecAddModel model(read_file(OPENNRT_VECADD_NEFF));
  ASSERT_EQ(model.status(), NRT_SUCCESS);
  VecAddTensors tensors(model, 1);
  nrt_tensor_t* out = tensors.output();
  nrt_tensor_t* view = slice(out, 0, 4);
  EXPECT_EQ(nrt_tensor_check_output_completion(out, 0, 0), NRT_SUCCESS);
  EXPECT_EQ(nrt_tensor_check_output_completion(out, 0, 1), NRT_TIMEOUT);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(tensors.execute(), NRT_SUCCESS);
  EXPECT_EQ(nrt_tensor_check_output_completion(out, 0, 3), NRT_SUCCESS);
  EXPECT_EQ(nrt_tensor_check_output_completion(out, 1000, 4), NRT_TIMEOUT);
  EXPECT_EQ(nrt_tensor_check_output_completion(view, 0, 1), NRT_TIMEOUT);
  ASSERT_EQ(nrt_tensor_reset_output_completion(out), NRT_SUCCESS);
  EXPECT_EQ(nrt_tensor_check_output_completion(out, 0, 1), NRT_TIMEOUT);
  std::thread late([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(tensors.execute(), NRT_SUCCESS);
  });
  EXPECT_EQ(nrt_tensor_check_output_completion(out, -1, 1), NRT_SUCCESS);
  late.join();
  EXPECT_EQ(nrt_tensor_check_output_completion(nullptr, 0, 0), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_reset_output_completion(nullptr), NRT_INVALID);
}

// Host tensors are copied back first; then they count.
TEST_F(TensorApi, CompletionsCountForHostTensors) {
  VecAddModel model(read_file(OPENNRT_VECADD_NEFF));
  ASSERT_EQ(model.status(), NRT_SUCCESS);
  VecAddTensors tensors(model, 2, NRT_TENSOR_PLACEMENT_VIRTUAL, -1);
  ASSERT_EQ(tensors.execute(), NRT_SUCCESS);
  EXPECT_EQ(nrt_tensor_check_output_completion(tensors.output(), 0, 1), NRT_SUCCESS);
  EXPECT_EQ(nrt_tensor_check_output_completion(tensors.output(), 0, 2), NRT_TIMEOUT);
}

TEST_F(TensorApi, WaiterDoesNotHoldTheTensorOrTheRuntime) {
  nrt_tensor_t* t = make(8, NRT_TENSOR_PLACEMENT_DEVICE);
  nrt_tensor_t* kept = t;
  std::atomic<NRT_STATUS> freed{NRT_SUCCESS}, closed{NRT_SUCCESS};
  std::thread first([&] { freed = nrt_tensor_check_output_completion(kept, -1, 1); });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  nrt_tensor_free(&t);
  first.join();
  EXPECT_EQ(freed, NRT_INVALID);
  nrt_tensor_t* u = make(8, NRT_TENSOR_PLACEMENT_DEVICE);
  std::thread second([&] { closed = nrt_tensor_check_output_completion(u, -1, 1); });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  nrt_close();
  second.join();
  EXPECT_EQ(closed, NRT_INVALID);
  tensors_.clear();
}

TEST_F(TensorApi, BatchesFromManyThreads) {
  nrt_tensor_t* shared = make(8 * 4096, NRT_TENSOR_PLACEMENT_DEVICE);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (unsigned n = 0; n < 8; ++n)
    threads.emplace_back([&, n] {
      for (unsigned round = 0; round < 20; ++round) {
        auto data = pattern(4096, n * 100 + round);
        std::vector<std::uint8_t> back(4096);
        nrt_tensor_batch_op_t op{n * 4096ull, 4096, data.data()};
        const nrt_tensor_batch_t batch{shared, &op, 1};
        if (nrt_tensor_write_batch(&batch, 1, round % 2 != 0) != NRT_SUCCESS) ++wrong;
        op.buffer = back.data();
        if (nrt_tensor_read_batch(&batch, 1, round % 2 != 0) != NRT_SUCCESS || back != data)
          ++wrong;
      }
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

// Outside of INIT no argument is looked at.
TEST(TensorApiStates, BeforeInit) {
  int core = 0;
  EXPECT_EQ(nrt_tensor_read_batch(nullptr, 1, false), NRT_UNINITIALIZED);
  EXPECT_EQ(nrt_tensor_write_batch(nullptr, 1, true), NRT_UNINITIALIZED);
  EXPECT_EQ(nrt_tensor_get_device_allocation_info(nullptr, nullptr), NRT_UNINITIALIZED);
  EXPECT_EQ(nrt_tensor_get_lnc_index(nullptr, &core), NRT_UNINITIALIZED);
  char byte = 0;
  auto* const foreign = reinterpret_cast<nrt_tensor_t*>(&byte);
  EXPECT_EQ(nrt_tensor_check_output_completion(foreign, 0, 0), NRT_INVALID);
  EXPECT_EQ(nrt_tensor_reset_output_completion(foreign), NRT_INVALID);
  const char source = 3;
  EXPECT_EQ(nrt_memcpy_to_device(&byte, &source, 1), NRT_SUCCESS);
  EXPECT_EQ(byte, 3);
}

}  // namespace
}  // namespace opennrt::test
