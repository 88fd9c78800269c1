// SPDX-License-Identifier: Apache-2.0
//
// A C++ client: handles that free themselves, statuses as exceptions, and
// requests that run while the caller does something else. A request is a
// schedule call; the unit's eventfd tells when requests have completed.
//
//   raii_async MODEL.neff      (adds two float32 vectors)
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "nrt/nrt.h"
#include "nrt/nrt_async.h"
#include "nrt/nrt_experimental.h"

namespace {

class Error : public std::runtime_error {
 public:
  Error(NRT_STATUS status, const char* what)
      : std::runtime_error(std::string(what) + ": status " + std::to_string(status)),
        status_(status) {}
  NRT_STATUS status() const { return status_; }

 private:
  NRT_STATUS status_;
};

void check(NRT_STATUS status, const char* what) {
  if (status != NRT_SUCCESS) throw Error(status, what);
}

class Runtime {
 public:
  Runtime() { check(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), "nrt_init"); }
  ~Runtime() { nrt_close(); }
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
};

class Tensor {
 public:
  explicit Tensor(const nrt_tensor_info_t& info) : bytes_(info.size) {
    check(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, info.size, info.name, &handle_),
          "nrt_tensor_allocate");
  }
  Tensor(Tensor&& other) noexcept
      : handle_(std::exchange(other.handle_, nullptr)), bytes_(other.bytes_) {}
  Tensor& operator=(Tensor&&) = delete;
  ~Tensor() { nrt_tensor_free(&handle_); }

  nrt_tensor_t* get() const { return handle_; }
  std::size_t bytes() const { return bytes_; }

 private:
  nrt_tensor_t* handle_ = nullptr;
  std::size_t bytes_;
};

class TensorSet {
 public:
  TensorSet() { check(nrt_allocate_tensor_set(&handle_), "nrt_allocate_tensor_set"); }
  TensorSet(TensorSet&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  TensorSet& operator=(TensorSet&&) = delete;
  ~TensorSet() { nrt_destroy_tensor_set(&handle_); }

  void add(const char* name, const Tensor& tensor) {
    check(nrt_add_tensor_to_tensor_set(handle_, name, tensor.get()),
          "nrt_add_tensor_to_tensor_set");
  }
  nrt_tensor_set_t* get() const { return handle_; }

 private:
  nrt_tensor_set_t* handle_ = nullptr;
};

class Model {
 public:
  explicit Model(const std::vector<char>& neff) {
    check(nrt_load(neff.data(), neff.size(), 0, -1, &handle_), "nrt_load");
    nrt_tensor_info_array_t* found = nullptr;
    const NRT_STATUS status = nrt_get_model_tensor_info(handle_, &found);
    if (status == NRT_SUCCESS)
      tensors_.assign(found->tensor_array, found->tensor_array + found->tensor_count);
    nrt_free_model_tensor_info(found);
    if (status != NRT_SUCCESS) nrt_unload(handle_);
    check(status, "nrt_get_model_tensor_info");
  }
  ~Model() { nrt_unload(handle_); }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  nrt_model_t* get() const { return handle_; }
  const std::vector<nrt_tensor_info_t>& tensors() const { return tensors_; }  // shapes are gone

 private:
  nrt_model_t* handle_ = nullptr;
  std::vector<nrt_tensor_info_t> tensors_;
};

// One queue of one unit of logical core 0, with the eventfd that counts its completions.
class Queue {
 public:
  Queue(nrta_xu_t unit, int queue) : unit_(unit), queue_(queue), event_(eventfd(0, EFD_CLOEXEC)) {
    if (event_ < 0) throw std::runtime_error("eventfd");
    check(nrta_event_register_xu_completion(0, unit, queue, event_),
          "nrta_event_register_xu_completion");
  }
  ~Queue() {
    nrta_event_register_xu_completion(0, unit_, queue_, -1);
    close(event_);
  }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  int number() const { return queue_; }
  nrta_seq_t last_completed() const {
    nrta_seq_t last = 0;
    check(nrta_get_sequence(0, unit_, queue_, &last), "nrta_get_sequence");
    return last;
  }

  // Waits, without spinning, until the request and with it all earlier ones of
  // the queue have completed.
  void wait(nrta_seq_t sequence) {
    for (;;) {
      if (last_completed() >= sequence) return;  // ids of one unit compare as integers
      pollfd event{.fd = event_, .events = POLLIN, .revents = 0};
      if (poll(&event, 1, 30'000) != 1) throw std::runtime_error("no completion in 30 s");
      std::uint64_t count = 0;
      if (read(event_, &count, sizeof count) != sizeof count) throw std::runtime_error("read");
      completions_ += count;
    }
  }
  std::uint64_t completions() {  // counted by the eventfd so far
    pollfd event{.fd = event_, .events = POLLIN, .revents = 0};
    std::uint64_t count = 0;
    if (poll(&event, 1, 0) == 1 && read(event_, &count, sizeof count) == sizeof count)
      completions_ += count;
    return completions_;
  }

 private:
  const nrta_xu_t unit_;
  const int queue_;
  const int event_;
  std::uint64_t completions_ = 0;
};

// Something scheduled: its status is there once it has completed. It stays where it is.
struct Request {
  NRT_STATUS status = NRT_FAILURE;
  nrta_seq_t sequence = 0;
};

// One addition: tensors, numbers, and the requests that lead to its result.
struct Job {
  explicit Job(const Model& model, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> uniform(-1e6f, 1e6f);
    for (const nrt_tensor_info_t& info : model.tensors()) {
      tensors.emplace_back(info);
      (info.usage == NRT_TENSOR_USAGE_INPUT ? inputs : outputs).add(info.name, tensors.back());
      auto& v = values.emplace_back(info.size / sizeof(float));
      for (float& x : v) x = uniform(random);
    }
  }
  std::size_t wrong() const {
    std::size_t n = 0;
    for (std::size_t i = 0; i < values[2].size(); ++i)
      n += values[2][i] != values[0][i] + values[1][i];
    return n;
  }

  std::vector<Tensor> tensors;
  std::vector<std::vector<float>> values;  // two inputs, then the result
  TensorSet inputs, outputs;
  Request writes[2], execution, reading;
};

// A full queue is no failure: once its next request has completed there is room.
template <typename Schedule>
unsigned schedule_when_possible(Queue& queue, Schedule&& schedule) {
  for (unsigned full = 0;; ++full) {
    const NRT_STATUS status = schedule();
    if (status == NRT_SUCCESS) return full;
    if (status != NRT_QUEUE_FULL) check(status, "schedule");
    queue.wait(queue.last_completed() + 1);
  }
}

// More executions than a queue holds, with transfers beside them.
std::size_t add_many(const Model& model) {
  constexpr unsigned kJobs = 20;
  Queue compute(NRTA_XU_COMPUTE, 0), in(NRTA_XU_TENSOR_OP, 0), out(NRTA_XU_TENSOR_OP, 1);
  std::deque<Job> jobs;
  for (unsigned i = 0; i < kJobs; ++i) {
    Job& job = jobs.emplace_back(model, i);
    for (int k = 0; k < 2; ++k)
      schedule_when_possible(in, [&] {
        return nrta_tensor_write(job.tensors[k].get(), job.values[k].data(), 0,
                                 job.tensors[k].bytes(), 0, in.number(), &job.writes[k].status,
                                 &job.writes[k].sequence);
      });
    in.wait(job.writes[1].sequence);  // nothing orders a transfer before an execution
  }
  unsigned full = 0;
  for (Job& job : jobs)
    full += schedule_when_possible(compute, [&] {
      return nrta_execute_schedule(model.get(), job.inputs.get(), job.outputs.get(),
                                   compute.number(), &job.execution.status,
                                   &job.execution.sequence);
    });
  std::size_t wrong = 0;
  for (Job& job : jobs) {
    compute.wait(job.execution.sequence);
    check(job.execution.status, "execution");
    check(nrta_tensor_read(job.values[2].data(), job.tensors[2].get(), 0, job.tensors[2].bytes(), 0,
                           out.number(), &job.reading.status, &job.reading.sequence),
          "nrta_tensor_read");
    out.wait(job.reading.sequence);
    check(job.reading.status, "reading");
    wrong += job.wrong();
  }
  const nrta_seq_t number = NRTA_SEQ_GET_SEQ_NUM(jobs.back().execution.sequence);
  if (number != kJobs || compute.completions() != kJobs)
    throw std::runtime_error("lost or unknown completions");
  std::printf("%u executions, queue found full %u times, %zu wrong sums\n", kJobs, full, wrong);
  return wrong;
}

template <typename Call>
void expect(NRT_STATUS want, const char* what, Call&& call) {
  NRT_STATUS got = NRT_SUCCESS;
  try {
    check(call(), what);
  } catch (const Error& e) {
    got = e.status();
  }
  if (got != want)
    throw std::runtime_error(std::string(what) + ": status " + std::to_string(got) + ", expected " +
                             std::to_string(want));
}

// What is wrong is said by the schedule call, and the request's status stays as it is.
void errors(const Model& model) {
  Job job(model, 99);
  Request r;
  nrt_tensor_t* const tensor = job.tensors[0].get();
  float value = 0;
  expect(NRT_INVALID, "queue 1 of compute", [&] {
    return nrta_execute_schedule(model.get(), job.inputs.get(), job.outputs.get(), 1, &r.status,
                                 &r.sequence);
  });
  expect(NRT_EXEC_BAD_INPUT, "set without the model's output", [&] {
    return nrta_execute_schedule(model.get(), job.inputs.get(), job.inputs.get(), 0, &r.status,
                                 &r.sequence);
  });
  expect(NRT_INVALID, "range behind the tensor", [&] {
    return nrta_tensor_write(tensor, &value, job.tensors[0].bytes(), 4, 0, 0, &r.status,
                             &r.sequence);
  });
  expect(NRT_INVALID, "no place for the status",
         [&] { return nrta_tensor_read(&value, tensor, 0, 4, 0, 0, nullptr, &r.sequence); });
  expect(NRT_INVALID, "number that was never given out", [&] {
    bool done = false;
    return nrta_is_completed(NRTA_SEQ_NUM_MAX, &done);
  });
  if (r.status != NRT_FAILURE || r.sequence != 0)
    throw std::runtime_error("a refused request wrote its status or number");
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s MODEL.neff\n", argv[0]);
    return 2;
  }
  std::ifstream file(argv[1], std::ios::binary);
  const std::vector<char> neff{std::istreambuf_iterator<char>(file), {}};
  const Runtime runtime;
  const Model model(neff);
  if (model.tensors().size() != 3) throw std::runtime_error("the model does not add two vectors");
  errors(model);
  return add_many(model) == 0 ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "%s\n", e.what());
  return 1;
}
