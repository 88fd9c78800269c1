// SPDX-License-Identifier: Apache-2.0
#include "bench/loaded_model.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "support/model_client.h"

namespace opennrt::bench {

namespace {

[[noreturn]] void fail(const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  std::exit(2);
}

void require(NRT_STATUS status, const char* what) {
  if (status != NRT_SUCCESS)
    fail(std::string(what) + " failed with status " + std::to_string(static_cast<int>(status)));
}
#define REQUIRE(call) require((call), #call)

// Uniform in [0, 1) with few bits, so that every type holds it exactly.
void write_input(nrt_tensor_t* tensor, const test::TensorSpec& spec) {
  const std::size_t bytes = test::element_bytes(spec.type);
  constexpr std::size_t kElements = 1 << 16;
  std::vector<std::uint8_t> piece(kElements * bytes);
  std::uint32_t random = 1;
  for (std::size_t i = 0; i < kElements; ++i) {
    random = random * 1664525 + 1013904223;
    test::encode(spec.type, (random >> 25) / 128.0, piece.data() + i * bytes);
  }
  const auto total = static_cast<std::size_t>(spec.elements());
  for (std::size_t done = 0; done < total; done += kElements)
    REQUIRE(nrt_tensor_write(tensor, piece.data(), done * bytes,
                             std::min(kElements, total - done) * bytes));
}

}  // namespace

const test::ModelCase& model_case(const std::string& id) {
  if (!test::have_corpus())
    fail("the models are not at " + test::corpus_file("") + "; set OPENNRT_CORPUS");
  static const std::vector<test::ModelCase> cases =
      test::read_manifest(test::corpus_file("manifest.yaml"));
  for (const test::ModelCase& m : cases)
    if (m.id == id) return m;
  fail("the corpus has no model " + id);
}

std::vector<char> read_neff(const test::ModelCase& model) {
  std::ifstream file(test::corpus_file(model.file), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Session::Session(const test::ModelCase& model, int threads) {
  test::select_product(model);
  setenv("OPENNRT_EMULATOR_THREADS", std::to_string(threads).c_str(), 1);
  REQUIRE(nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""));
}
Session::~Session() { nrt_close(); }

LoadedModel::LoadedModel(const test::ModelCase& model, int core) {
  {
    const std::vector<char> neff = read_neff(model);
    REQUIRE(nrt_load(neff.data(), neff.size(), core, -1, &model_));
  }
  REQUIRE(nrt_allocate_tensor_set(&in_));
  REQUIRE(nrt_allocate_tensor_set(&out_));
  const auto add = [&](const test::TensorSpec& t, nrt_tensor_set_t* set) {
    nrt_tensor_t* tensor = nullptr;
    const std::size_t bytes = static_cast<std::size_t>(t.elements()) * test::element_bytes(t.type);
    REQUIRE(nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, core, bytes, t.name.c_str(), &tensor));
    tensors_.push_back(tensor);
    REQUIRE(nrt_add_tensor_to_tensor_set(set, t.name.c_str(), tensor));
    return tensor;
  };
  for (const test::TensorSpec& t : model.inputs) write_input(add(t, in_), t);
  for (const test::TensorSpec& t : model.outputs) add(t, out_);
}

LoadedModel::~LoadedModel() {
  for (nrt_tensor_t*& t : tensors_) nrt_tensor_free(&t);
  nrt_destroy_tensor_set(&in_);
  nrt_destroy_tensor_set(&out_);
  nrt_unload(model_);
}

void LoadedModel::execute() { REQUIRE(nrt_execute(model_, in_, out_)); }

}  // namespace opennrt::bench
