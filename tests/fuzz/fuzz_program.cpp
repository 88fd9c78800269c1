// SPDX-License-Identifier: Apache-2.0
//
// A program of a stranger, loaded and executed on the software device through
// the C ABI. Every call answers with a status it documents, in bounded time and
// memory, and the next good program runs.
#include <sys/stat.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "entries.h"
#include "nrt/nrt.h"
#include "nrt/nrt_experimental.h"
#include "program_case.h"

namespace opennrt::fuzz {
namespace {

// The limit of one execution is 1 s, after the record at work: the largest one
// takes seconds with sanitizers and coverage. The rest is for a busy
// machine.
constexpr double kSlowSeconds = 50;
constexpr std::size_t kMaxTensorBytes = std::size_t{32} << 20;

void fail(const char* what, int status) {
  std::fprintf(stderr, "fuzz_program: %s: status %d\n", what, status);
  std::abort();
}

// A status that the public header names.
NRT_STATUS proper(const char* call, NRT_STATUS status) {
  if (std::strcmp(nrt_get_status_as_str(status), "UNKNOWN") == 0) fail(call, status);
  return status;
}

void expect_ok(const char* call, NRT_STATUS status) {
  if (status != NRT_SUCCESS) fail(call, status);
}

void configure(const Platform& platform) {
  setenv("OPENNRT_DEVICE", "emulator", 1);
  setenv("OPENNRT_EMULATOR_DEVICES", "1", 1);
  setenv("OPENNRT_EMULATOR_THREADS", "1", 1);
  setenv("OPENNRT_EMULATOR_PRODUCT", platform.product, 1);
  setenv("NEURON_LOGICAL_NC_CONFIG", platform.cores == 2 ? "2" : "1", 1);
  setenv("NEURON_RT_NUM_CORES", "1", 1);
  setenv("NEURON_RT_EXEC_TIMEOUT", "1", 1);
  // A quiet run writes nothing; FUZZ_PROGRAM_LOG shows why inputs are refused.
  setenv("NEURON_RT_LOG_LEVEL", std::getenv("FUZZ_PROGRAM_LOG") != nullptr ? "ERROR" : "QUIET", 1);
}

// The device of the process. Changing the product or losing the core needs a
// new one.
class Device {
 public:
  void use(const Platform& platform) {
    if (current_ == &platform) return;
    drop();
    configure(platform);
    expect_ok("nrt_init", nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
    current_ = &platform;
  }
  void drop() {
    if (current_ == nullptr) return;
    nrt_close();
    current_ = nullptr;
  }

 private:
  const Platform* current_ = nullptr;
};

Device& device() {
  static Device* const device = new Device;  // outlives the library's own end
  return *device;
}

// Bytes that are small numbers in most types.
const std::vector<std::uint8_t>& contents(std::size_t size) {
  static auto* const bytes = new std::vector<std::uint8_t>;
  for (std::size_t i = bytes->size(); i < size; ++i)
    bytes->push_back(static_cast<std::uint8_t>(i % 4 == 3 ? 0x3F : i * 37 + i / 251));
  return *bytes;
}

class Tensors {
 public:
  Tensors() {
    expect_ok("nrt_allocate_tensor_set", nrt_allocate_tensor_set(&in_));
    expect_ok("nrt_allocate_tensor_set", nrt_allocate_tensor_set(&out_));
  }
  ~Tensors() {
    for (nrt_tensor_t*& t : tensors_) nrt_tensor_free(&t);
    nrt_destroy_tensor_set(&in_);
    nrt_destroy_tensor_set(&out_);
  }
  Tensors(const Tensors&) = delete;
  Tensors& operator=(const Tensors&) = delete;

  bool add(const nrt_tensor_info_t& info, bool host) {
    if (info.size > kMaxTensorBytes) return false;
    nrt_tensor_t* tensor = nullptr;
    const NRT_STATUS status =
        proper("nrt_tensor_allocate",
               nrt_tensor_allocate(host ? NRT_TENSOR_PLACEMENT_HOST : NRT_TENSOR_PLACEMENT_DEVICE,
                                   0, info.size, info.name, &tensor));
    if (status != NRT_SUCCESS) return false;
    tensors_.push_back(tensor);
    expect_ok("nrt_tensor_write",
              nrt_tensor_write(tensor, contents(info.size).data(), 0, info.size));
    expect_ok("nrt_add_tensor_to_tensor_set",
              nrt_add_tensor_to_tensor_set(info.usage == NRT_TENSOR_USAGE_INPUT ? in_ : out_,
                                           info.name, tensor));
    return true;
  }
  NRT_STATUS execute(nrt_model_t* model) {
    return proper("nrt_execute", nrt_execute(model, in_, out_));
  }
  void read() {
    for (nrt_tensor_t* t : tensors_) {
      std::vector<std::uint8_t> bytes(nrt_tensor_get_size(t));
      expect_ok("nrt_tensor_read", nrt_tensor_read(t, bytes.data(), 0, bytes.size()));
    }
  }

 private:
  nrt_tensor_set_t *in_ = nullptr, *out_ = nullptr;
  std::vector<nrt_tensor_t*> tensors_;
};

bool add_tensors(nrt_model_t* model, bool host, Tensors& tensors) {
  nrt_tensor_info_array_t* info = nullptr;
  expect_ok("nrt_get_model_tensor_info", nrt_get_model_tensor_info(model, &info));
  bool all = info->tensor_count <= 64;
  for (std::uint64_t i = 0; all && i < info->tensor_count; ++i)
    all = tensors.add(info->tensor_array[i], host);
  expect_ok("nrt_free_model_tensor_info", nrt_free_model_tensor_info(info));
  return all;
}

NRT_STATUS execute(nrt_model_t* model, std::uint8_t options) {
  Tensors tensors;
  if (!add_tensors(model, (options & kOptionHostTensors) != 0, tensors)) return NRT_RESOURCE;
  NRT_STATUS status = tensors.execute(model);
  if (status == NRT_SUCCESS && (options & kOptionTwice) != 0) status = tensors.execute(model);
  if (status == NRT_SUCCESS) tensors.read();
  return status;
}

NRT_STATUS load_and_execute(const std::string& neff, std::uint8_t options) {
  nrt_model_t* model = nullptr;
  NRT_STATUS status = proper("nrt_load", nrt_load(neff.data(), neff.size(), 0, 1, &model));
  if (status != NRT_SUCCESS) {
    if (model != nullptr) fail("nrt_load left a model", status);
    return status;
  }
  status = execute(model, options);
  // A program may have damaged what the core does between programs.
  if (proper("nrt_unload", nrt_unload(model)) != NRT_SUCCESS) device().drop();
  return status;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int run_program(const Case& c) {
  const Base& base = base_of(c);
  const std::string neff = build_case(base, c);
  if (const char* file = std::getenv("FUZZ_PROGRAM_SAVE"); file != nullptr)
    if (std::FILE* f = std::fopen(file, "wb")) {
      std::fwrite(neff.data(), 1, neff.size(), f);
      std::fclose(f);
    }
  device().use(*base.platform);
  const auto begin = std::chrono::steady_clock::now();
  const NRT_STATUS status = load_and_execute(neff, c.options);
  const double seconds = seconds_since(begin);
  if (seconds > kSlowSeconds) {
    std::fprintf(stderr, "fuzz_program: %s took %.1f s\n", base.name.c_str(), seconds);
    fail("an execution outlasted its limit", status);
  }
  // A failed execution may have cost the core.
  if (status != NRT_SUCCESS && status != NRT_INVALID && status != NRT_RESOURCE &&
      status != NRT_UNSUPPORTED_NEFF_VERSION)
    device().drop();
  return status;
}

void fuzz_program(const std::uint8_t* data, std::size_t size) {
  const Case c = decode_case(std::span(data, size));
  const int status = run_program(c);
  if (c.edits.empty() && status != NRT_SUCCESS) {
    std::fprintf(stderr, "fuzz_program: %s\n", base_of(c).name.c_str());
    fail("a valid program failed", status);
  }
}

std::string mutate_program(const std::string& input, std::uint32_t number) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(input.data());
  Case c = decode_case(std::span(bytes, input.size()));
  for (std::uint32_t i = 0; i < 1 + number % 4; ++i) c = mutate_case(c, number * 4 + i);
  return encode_case(c);
}

std::vector<std::string> seeds_program() {
  std::vector<std::string> seeds;
  std::size_t corpus = 0;
  for (std::size_t i = 0; i < bases().size(); ++i) {
    Case c;
    c.base = static_cast<std::uint8_t>(is_corpus(bases()[i]) ? kFirstCorpusBase + (corpus++) : i);
    c.options = static_cast<std::uint8_t>(i % 4);
    seeds.push_back(encode_case(c));
  }
  return seeds;
}

}  // namespace opennrt::fuzz
