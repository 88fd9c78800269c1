// SPDX-License-Identifier: Apache-2.0
//
// Inputs for the models of the corpus and what their outputs must be, computed
// in double precision from the mathematical definition alone.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace opennrt::test {

enum class ElementType : std::uint8_t { kFloat32, kFloat16, kBfloat16 };
ElementType element_type(const std::string& name);  // "float32", ...
std::size_t element_bytes(ElementType type);
// Round to nearest, ties to even.
void encode(ElementType type, double value, void* to);
double decode(ElementType type, const void* from);

struct TensorSpec {
  std::string name;
  ElementType type = ElementType::kFloat32;
  std::vector<std::int64_t> shape;
  std::int64_t elements() const;
};

// One model of the manifest.
struct ModelCase {
  std::string id, file, target, check;
  std::uint32_t lnc = 1;
  std::vector<TensorSpec> inputs, outputs;
  // Allowed error: both 0 = bit exact.
  double max_rel = 0, max_abs = 0;
  const TensorSpec& input(const std::string& name) const;
};
std::vector<ModelCase> read_manifest(const std::string& path);

enum class InputKind : std::uint8_t {
  kUniform,  // [0, 1)
  kSigned,   // normal, with zeros, denormals and large values between
  kPeaked,   // attention: one key dominates each row
  kFlat      // attention: all keys nearly alike
};

// Element bits of every input, by name.
using TensorBytes = std::map<std::string, std::vector<std::uint8_t>>;
TensorBytes make_inputs(const ModelCase& model, InputKind kind, std::uint64_t seed);

// Compares outputs with the reference; empty text: good, else the first and
// the worst difference. `corpus` is the folder of the model's companion files.
std::string check_outputs(const ModelCase& model, const TensorBytes& inputs,
                          const TensorBytes& outputs, const std::string& corpus);

}  // namespace opennrt::test
