// SPDX-License-Identifier: Apache-2.0
//
// Four producers on two cores: transfers on queues of their own, executions on
// the shared compute queues. Order of the sequences, exact results, full queues
// tried again, no completion lost. ASYNC_REQUESTS: requests of a producer.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <thread>

#include "nrt/nrt_async.h"
#include "support/vecadd_client.h"

namespace opennrt::test {
namespace {

constexpr int kProducers = 4, kCores = 2;
constexpr std::size_t kWindow = 64;  // requests a producer has in flight at most
constexpr int kTransfersPerExecution = 64;
constexpr NRT_STATUS kUntouched = static_cast<NRT_STATUS>(0x5A5A);

int requests() {
  const char* text = std::getenv("ASYNC_REQUESTS");
  return text != nullptr ? std::atoi(text) : 2000;
}

void wait_for(nrta_seq_t sequence) {
  bool done = false;
  while (!done) {
    ASSERT_EQ(nrta_is_completed(sequence, &done), NRT_SUCCESS);
    if (!done) std::this_thread::yield();
  }
}

// Writes numbers and reads each back on one queue, which keeps their order; now
// and then an execution on the compute queue of its core.
class Producer {
 public:
  Producer(int index, const VecAddModel& model)
      : core_(index % kCores),
        queue_(index / kCores),
        model_(model),
        tensors_(model, static_cast<std::uint64_t>(index), NRT_TENSOR_PLACEMENT_DEVICE,
                 index % kCores) {
    EXPECT_EQ(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, core_, 8, "cell", &cell_),
              NRT_SUCCESS);
  }
  ~Producer() { nrt_tensor_free(&cell_); }

  void run(int count) {
    for (int i = 0; i < count; i += 2) {
      Place& place = places_[static_cast<std::size_t>(i / 2) % kWindow];
      settle(place);
      place.written = static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15u + 1;
      place.read = 0;
      place.status[0] = place.status[1] = kUntouched;
      nrta_seq_t write = 0;
      submit([&] {
        return nrta_tensor_write(cell_, &place.written, 0, 8, core_, queue_, &place.status[0],
                                 &write);
      });
      submit([&] {
        return nrta_tensor_read(&place.read, cell_, 0, 8, core_, queue_, &place.status[1],
                                &place.sequence);
      });
      wrong_ += write <= last_ || place.sequence != write + 1;
      last_ = place.sequence;
      if (i % kTransfersPerExecution == 0) execute();
    }
    for (Place& place : places_) settle(place);
    execute();
    wrong_ += static_cast<int>(tensors_.wrong());
  }
  int wrong() const { return wrong_; }
  nrta_seq_t last() const { return last_; }
  int full() const { return full_; }

 private:
  struct Place {
    nrta_seq_t sequence = 0;
    std::uint64_t written = 0, read = 0;
    NRT_STATUS status[2];
  };

  template <typename Call>
  void submit(Call call) {
    NRT_STATUS status;
    while ((status = call()) == NRT_QUEUE_FULL) {
      ++full_;
      std::this_thread::yield();
    }
    wrong_ += status != NRT_SUCCESS;
  }
  void settle(Place& place) {
    if (place.sequence == 0) return;
    wait_for(place.sequence);
    wrong_ += place.status[0] != NRT_SUCCESS || place.status[1] != NRT_SUCCESS ||
              place.read != place.written;
    place.sequence = 0;
  }
  void execute() {
    NRT_STATUS status = kUntouched;
    nrta_seq_t sequence = 0;
    submit([&] {
      return nrta_execute_schedule(model_.get(), tensors_.in(), tensors_.out(), 0, &status,
                                   &sequence);
    });
    wait_for(sequence);
    wrong_ += status != NRT_SUCCESS;
  }

  const int core_, queue_;
  const VecAddModel& model_;
  VecAddTensors tensors_;
  nrt_tensor_t* cell_ = nullptr;
  std::array<Place, kWindow> places_{};
  nrta_seq_t last_ = 0;
  int wrong_ = 0, full_ = 0;
};

TEST(AsyncLoad, ProducersOverTwoCores) {
  const std::vector<char> neff = read_file(OPENNRT_VECADD_NEFF);
  Runtime runtime;
  ASSERT_EQ(runtime.status(), NRT_SUCCESS);
  const VecAddModel models[kCores] = {VecAddModel(neff, 0), VecAddModel(neff, 1)};
  for (const VecAddModel& m : models) ASSERT_EQ(m.status(), NRT_SUCCESS);
  std::vector<std::unique_ptr<Producer>> producers;
  for (int p = 0; p < kProducers; ++p)
    producers.push_back(std::make_unique<Producer>(p, models[p % kCores]));
  std::vector<std::thread> threads;
  for (auto& p : producers) threads.emplace_back([&p] { p->run(requests()); });
  for (std::thread& t : threads) t.join();
  for (int p = 0; p < kProducers; ++p) {
    EXPECT_EQ(producers[static_cast<std::size_t>(p)]->wrong(), 0) << "producer " << p;
    // Every request of the producer's own queue is complete, and there are no others.
    nrta_seq_t last = 0;
    ASSERT_EQ(nrta_get_sequence(static_cast<std::uint32_t>(p % kCores), NRTA_XU_TENSOR_OP,
                                p / kCores, &last),
              NRT_SUCCESS);
    EXPECT_EQ(last, producers[static_cast<std::size_t>(p)]->last());
    EXPECT_EQ(NRTA_SEQ_GET_SEQ_NUM(last), static_cast<std::uint64_t>((requests() + 1) / 2 * 2));
  }
}

}  // namespace
}  // namespace opennrt::test
