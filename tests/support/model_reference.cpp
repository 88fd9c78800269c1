// SPDX-License-Identifier: Apache-2.0
#include "support/model_reference.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <sstream>
#include <stdexcept>

#include "support/hlo_eval.h"

namespace opennrt::test {

namespace {

// Value nearest to x with `fraction` bits after the leading one and smallest
// normal exponent `emin`; values past `max` become infinite.
double nearest(double x, int fraction, int emin, double max) {
  if (x == 0 || !std::isfinite(x)) return x;
  const double unit = std::ldexp(1.0, std::max(std::ilogb(x), emin) - fraction);
  const double q = std::nearbyint(x / unit) * unit;  // ties to even
  return std::fabs(q) > max ? std::copysign(std::numeric_limits<double>::infinity(), x) : q;
}

std::uint16_t half_bits(double x) {
  const double v = nearest(x, 10, -14, 65504);
  const std::uint16_t sign = std::signbit(v) ? 0x8000 : 0;
  if (std::isnan(v)) return 0x7E00;
  if (std::isinf(v)) return static_cast<std::uint16_t>(sign | 0x7C00);
  const double a = std::fabs(v);
  if (a < std::ldexp(1.0, -14))
    return static_cast<std::uint16_t>(sign | static_cast<std::uint16_t>(std::ldexp(a, 24)));
  const int e = std::ilogb(a);
  const auto fraction = static_cast<std::uint16_t>(std::ldexp(a, 10 - e) - 1024);
  return static_cast<std::uint16_t>(sign | (e + 15) << 10 | fraction);
}

double half_value(std::uint16_t h) {
  const int e = h >> 10 & 31, f = h & 1023;
  const double a = e == 31  ? (f != 0 ? std::nan("") : INFINITY)
                   : e == 0 ? std::ldexp(f, -24)
                            : std::ldexp(1024 + f, e - 25);
  return h & 0x8000 ? -a : a;
}

std::vector<double> decoded(const TensorSpec& spec, const TensorBytes& tensors) {
  const std::vector<std::uint8_t>& bytes = tensors.at(spec.name);
  const std::size_t width = element_bytes(spec.type);
  std::vector<double> out(static_cast<std::size_t>(spec.elements()));
  if (bytes.size() != out.size() * width) throw std::runtime_error(spec.name + ": wrong size");
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = decode(spec.type, bytes.data() + i * width);
  return out;
}

// Collects differences. `scale` is what the error is relative to.
class Differences {
 public:
  explicit Differences(const ModelCase& model) : model_(model) {}

  void check(std::size_t index, double got, double want, double scale) {
    ++checked_;
    const double error = std::fabs(got - want);
    const double allowed = model_.max_abs != 0 ? 1.5 * model_.max_abs * std::max(1.0, scale)
                                               : 1.5 * model_.max_rel * std::max(scale, 1e-9);
    if (std::isnan(got) != std::isnan(want) || error > allowed) {
      if (wrong_++ == 0) first_ = line(index, got, want, allowed);
      if (error > worst_) {
        worst_ = error;
        worst_line_ = line(index, got, want, allowed);
      }
    }
  }
  void check_bits(std::size_t index, bool equal, double got, double want) {
    ++checked_;
    if (!equal && wrong_++ == 0) first_ = line(index, got, want, 0);
  }
  std::string text() const {
    if (checked_ == 0) return "nothing was compared";
    if (wrong_ == 0) return {};
    return std::to_string(wrong_) + " of " + std::to_string(checked_) + " values wrong; first " +
           first_ + "; worst " + worst_line_;
  }

 private:
  static std::string line(std::size_t index, double got, double want, double allowed) {
    std::ostringstream s;
    s.precision(9);
    s << "[" << index << "] " << got << ", expected " << want << " +- " << allowed;
    return s.str();
  }
  const ModelCase& model_;
  std::size_t checked_ = 0, wrong_ = 0;
  double worst_ = -1;
  std::string first_, worst_line_;
};

// --- checks

std::string check_add(const ModelCase& model, const TensorBytes& in, const TensorBytes& out) {
  const std::vector<double> a = decoded(model.inputs[0], in), b = decoded(model.inputs[1], in);
  const TensorSpec& spec = model.outputs[0];
  const std::vector<std::uint8_t>& got = out.at(spec.name);
  const std::size_t width = element_bytes(spec.type);
  Differences d(model);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::uint8_t want[8];
    encode(spec.type, a[i] + b[i], want);
    d.check_bits(i, std::memcmp(want, got.data() + i * width, width) == 0,
                 decode(spec.type, got.data() + i * width), a[i] + b[i]);
  }
  return d.text();
}

std::string check_transpose(const ModelCase& model, const TensorBytes& in, const TensorBytes& out) {
  const TensorSpec& spec = model.inputs[0];
  const std::size_t width = element_bytes(spec.type);
  const auto rows = static_cast<std::size_t>(spec.shape[0]);
  const auto columns = static_cast<std::size_t>(spec.shape[1]);
  const std::uint8_t* from = in.at(spec.name).data();
  const std::uint8_t* to = out.at(model.outputs[0].name).data();
  Differences d(model);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c) {
      const std::uint8_t* want = from + (r * columns + c) * width;
      const std::uint8_t* got = to + (c * rows + r) * width;
      d.check_bits(c * rows + r, std::memcmp(want, got, width) == 0, decode(spec.type, got),
                   decode(spec.type, want));
    }
  return d.text();
}

// 3x3, stride 1, no padding, NCHW, weights [out][in][kh][kw], bias per output
// channel; pooled: then the maximum of each 2x2, floor.
std::string check_conv(const ModelCase& model, const TensorBytes& in, const TensorBytes& out,
                       bool pooled) {
  const TensorSpec& xs = model.input("X");
  const TensorSpec& ws = model.input("W");
  const TensorSpec& ys = model.outputs[0];
  const std::vector<double> x = decoded(xs, in), w = decoded(ws, in),
                            bias = decoded(model.input("bias"), in), y = decoded(ys, out);
  const auto channels = static_cast<std::size_t>(xs.shape[1]);
  const auto height = static_cast<std::size_t>(xs.shape[2]);
  const auto width = static_cast<std::size_t>(xs.shape[3]);
  const auto images = static_cast<std::size_t>(ys.shape[0]);
  const auto outs = static_cast<std::size_t>(ys.shape[1]);
  const auto oh = static_cast<std::size_t>(ys.shape[2]);
  const auto ow = static_cast<std::size_t>(ys.shape[3]);

  // Value and the sum of the absolute products, which bounds the rounding.
  const auto conv = [&](std::size_t n, std::size_t o, std::size_t r, std::size_t c) {
    double sum = bias[o], scale = std::fabs(bias[o]);
    for (std::size_t i = 0; i < channels; ++i)
      for (std::size_t kh = 0; kh < 3; ++kh)
        for (std::size_t kw = 0; kw < 3; ++kw) {
          const double p = x[((n * channels + i) * height + r + kh) * width + c + kw] *
                           w[((o * channels + i) * 3 + kh) * 3 + kw];
          sum += p;
          scale += std::fabs(p);
        }
    return std::pair{sum, scale};
  };
  const auto value = [&](std::size_t n, std::size_t o, std::size_t r, std::size_t c) {
    if (!pooled) return conv(n, o, r, c);
    std::pair<double, double> best{-INFINITY, 0};
    for (const std::size_t dr : {0, 1})
      for (const std::size_t dc : {0, 1}) {
        const auto v = conv(n, o, 2 * r + dr, 2 * c + dc);
        best = {std::max(best.first, v.first), std::max(best.second, v.second)};
      }
    return best;
  };
  Differences d(model);
  const auto check = [&](std::size_t n, std::size_t o, std::size_t r, std::size_t c) {
    const auto [want, scale] = value(n, o, r, c);
    const std::size_t at = ((n * outs + o) * oh + r) * ow + c;
    d.check(at, y[at], want, scale);
  };
  for (const std::size_t n : {std::size_t{0}, images - 1})
    for (const std::size_t o : {std::size_t{0}, outs - 1})
      for (const std::size_t r : {std::size_t{0}, oh - 1})
        for (const std::size_t c : {std::size_t{0}, ow - 1}) check(n, o, r, c);
  std::mt19937_64 random(20260101);
  for (int i = 0; i < 4096; ++i)
    check(random() % images, random() % outs, random() % oh, random() % ow);
  return d.text();
}

// q, k, v are [d][s]; out[s][d] = softmax over keys of (q^T k) times v^T. The
// programs of the corpus do not scale the scores. The allowed error is that of
// uniform inputs, whose scores sum 128 products of 1/4 on average; it grows with
// the size of those sums, as the rounding of the scores does.
std::string check_attention(const ModelCase& model, const TensorBytes& in, const TensorBytes& out) {
  const TensorSpec& spec = model.input("q_ref");
  const std::vector<double> q = decoded(spec, in), k = decoded(model.input("k_ref"), in),
                            v = decoded(model.input("v_ref"), in),
                            y = decoded(model.outputs[0], out);
  const auto depth = static_cast<std::size_t>(spec.shape[0]);
  const auto length = static_cast<std::size_t>(spec.shape[1]);
  Differences d(model);
  std::vector<double> score(length), size(length);
  double largest_v = 0;
  for (const double e : v) largest_v = std::max(largest_v, std::fabs(e));
  for (std::size_t s = 0; s < length; ++s) {
    std::fill(score.begin(), score.end(), 0.0);
    std::fill(size.begin(), size.end(), 0.0);
    for (std::size_t e = 0; e < depth; ++e)
      for (std::size_t t = 0; t < length; ++t) {
        const double p = q[e * length + s] * k[e * length + t];
        score[t] += p;
        size[t] += std::fabs(p);
      }
    const double condition = std::max(1.0, *std::max_element(size.begin(), size.end()) / 32);
    const double top = *std::max_element(score.begin(), score.end());
    double total = 0;
    for (double& p : score) total += p = std::exp(p - top);
    for (std::size_t e = 0; e < depth; ++e) {
      double value = 0;
      for (std::size_t t = 0; t < length; ++t) value += score[t] / total * v[e * length + t];
      d.check(s * depth + e, y[s * depth + e], value, std::max(1.0, largest_v) * condition);
    }
  }
  return d.text();
}

std::string check_matmul(const ModelCase& model, const TensorBytes& in, const TensorBytes& out) {
  const TensorSpec& xs = model.input("x");
  const std::vector<double> x = decoded(xs, in), y = decoded(model.input("y"), in),
                            z = decoded(model.outputs[0], out);
  const auto m = static_cast<std::size_t>(xs.shape[0]), k = static_cast<std::size_t>(xs.shape[1]);
  const std::size_t n = y.size() / k;
  Differences d(model);
  for (std::size_t r = 0; r < m; ++r)
    for (std::size_t c = 0; c < n; ++c) {
      double sum = 0, scale = 0;
      for (std::size_t i = 0; i < k; ++i) {
        sum += x[r * k + i] * y[i * n + c];
        scale += std::fabs(x[r * k + i] * y[i * n + c]);
      }
      d.check(r * n + c, z[r * n + c], sum, scale);
    }
  return d.text();
}

// The block's source graph takes its weights in their plain order; the compiled
// program takes them split over partitions (p), column blocks (j) and cores
// (h): index 128 j + p of the hidden dimension, index 96 h + k of the
// intermediate one.
std::string check_moe(const ModelCase& model, const TensorBytes& in, const TensorBytes& out,
                      const std::string& corpus) {
  constexpr std::int64_t kHidden = 2048, kExperts = 128, kInner = 192;
  std::vector<HloValue> p(5);
  p[0] = {{1, 1, kHidden}, decoded(model.input("input0"), in), {}};
  const std::vector<double> router = decoded(model.input("input1"), in);
  p[1].dims = {kExperts, kHidden};
  p[1].data.resize(router.size());
  for (std::int64_t q = 0; q < 128; ++q)
    for (std::int64_t j = 0; j < 16; ++j)
      for (std::int64_t e = 0; e < kExperts; ++e)
        p[1].data[static_cast<std::size_t>(e * kHidden + 128 * j + q)] =
            router[static_cast<std::size_t>((q * 16 + j) * kExperts + e)];
  const std::vector<double> norm = decoded(model.input("input2"), in);
  p[2].dims = {kHidden};
  p[2].data.resize(norm.size());
  for (std::int64_t q = 0; q < 128; ++q)
    for (std::int64_t j = 0; j < 16; ++j)
      p[2].data[static_cast<std::size_t>(128 * j + q)] = norm[static_cast<std::size_t>(q * 16 + j)];
  p[3] = {{kExperts, kInner, kHidden}, decoded(model.input("input3"), in), {}};
  const std::vector<double> gate_up = decoded(model.input("input4"), in);
  p[4].dims = {kExperts, kHidden, 2 * kInner};
  p[4].data.resize(gate_up.size());
  std::size_t at = 0;
  for (std::int64_t e = 0; e < kExperts; ++e)
    for (std::int64_t h = 0; h < 2; ++h)
      for (std::int64_t q = 0; q < 128; ++q)
        for (std::int64_t j = 0; j < 16; ++j)
          for (std::int64_t g = 0; g < 2; ++g)
            for (std::int64_t k = 0; k < 96; ++k)
              p[4].data[static_cast<std::size_t>((e * kHidden + 128 * j + q) * 2 * kInner +
                                                 g * kInner + h * 96 + k)] = gate_up[at++];
  std::ifstream file(corpus + "/moe_bf16_mariana.hlo.textproto");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.empty()) return "the model's graph is missing";
  const HloValue want = evaluate_hlo(text, std::move(p)).tuple.at(0);
  const std::vector<double> got = decoded(model.outputs[0], out);
  // About ten roundings to bfloat16 between input and output.
  double largest = 0;
  for (const double x : want.data) largest = std::max(largest, std::fabs(x));
  ModelCase loose = model;
  loose.max_rel = 10 * std::ldexp(1.0, -9) / 1.5;
  Differences d(loose);
  for (std::size_t i = 0; i < got.size(); ++i) d.check(i, got[i], want.data.at(i), largest);
  return d.text();
}

}  // namespace

ElementType element_type(const std::string& name) {
  if (name == "float32") return ElementType::kFloat32;
  if (name == "float16") return ElementType::kFloat16;
  if (name == "bfloat16") return ElementType::kBfloat16;
  throw std::runtime_error("element type " + name);
}
std::size_t element_bytes(ElementType type) { return type == ElementType::kFloat32 ? 4 : 2; }

void encode(ElementType type, double value, void* to) {
  if (type == ElementType::kFloat32) {
    const auto f = static_cast<float>(value);
    std::memcpy(to, &f, 4);
  } else if (type == ElementType::kFloat16) {
    const std::uint16_t h = half_bits(value);
    std::memcpy(to, &h, 2);
  } else {
    const double v = nearest(value, 7, -126, 0x1.FEp127);
    const auto h =
        static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(static_cast<float>(v)) >> 16);
    std::memcpy(to, &h, 2);
  }
}

double decode(ElementType type, const void* from) {
  if (type == ElementType::kFloat32) {
    float f;
    std::memcpy(&f, from, 4);
    return f;
  }
  std::uint16_t h;
  std::memcpy(&h, from, 2);
  if (type == ElementType::kFloat16) return half_value(h);
  return std::bit_cast<float>(std::uint32_t{h} << 16);
}

std::int64_t TensorSpec::elements() const {
  std::int64_t n = 1;
  for (const std::int64_t d : shape) n *= d;
  return n;
}

const TensorSpec& ModelCase::input(const std::string& name) const {
  for (const TensorSpec& t : inputs)
    if (t.name == name) return t;
  throw std::runtime_error(id + " has no input " + name);
}

std::vector<ModelCase> read_manifest(const std::string& path) {
  std::vector<ModelCase> out;
  for (const YAML::Node& m : YAML::LoadFile(path)["models"]) {
    ModelCase c;
    c.id = m["id"].as<std::string>();
    c.file = m["file"].as<std::string>();
    c.target = m["target"].as<std::string>();
    c.check = m["check"].as<std::string>();
    c.lnc = m["lnc"].as<std::uint32_t>();
    if (c.check == "reject") continue;
    if (m["tolerance"].IsMap()) {
      if (m["tolerance"]["max_rel"]) c.max_rel = m["tolerance"]["max_rel"].as<double>();
      if (m["tolerance"]["max_abs"]) c.max_abs = m["tolerance"]["max_abs"].as<double>();
    }
    for (const char* side : {"inputs", "outputs"})
      for (const auto& t : m[side]) {
        TensorSpec spec{t.first.as<std::string>(),
                        element_type(t.second["dtype"].as<std::string>()),
                        t.second["shape"].as<std::vector<std::int64_t>>()};
        (side[0] == 'i' ? c.inputs : c.outputs).push_back(std::move(spec));
      }
    out.push_back(std::move(c));
  }
  return out;
}

TensorBytes make_inputs(const ModelCase& model, InputKind kind, std::uint64_t seed) {
  TensorBytes out;
  for (const TensorSpec& t : model.inputs) {
    std::uint64_t mixed = seed;
    for (const char c : t.name) mixed = mixed * 1099511628211ull + static_cast<unsigned char>(c);
    std::mt19937_64 random(mixed);
    std::uniform_real_distribution<double> uniform(0, 1);
    std::normal_distribution<double> normal(0, 1);
    const std::size_t width = element_bytes(t.type);
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(t.elements()) * width);
    const double denormal = t.type == ElementType::kFloat16 ? 0x1p-20 : 0x1p-130;
    // Sums of products stay inside the range of FP16.
    const double large = model.check == "add" || model.check == "transpose" ? 0x1p60 : 30;
    const auto columns = static_cast<std::size_t>(t.shape.back());
    for (std::size_t i = 0; i < bytes.size() / width; ++i) {
      double value = 0;
      switch (kind) {
        case InputKind::kUniform:
          value = uniform(random);
          break;
        case InputKind::kSigned:
          value = normal(random);
          // Denormals are rare, as CPUs take very long over them.
          if (const std::uint64_t dice = random() % 4096; dice < 192)
            value = dice == 0    ? value * denormal
                    : dice < 64  ? 0.0
                    : dice < 128 ? value * large
                                 : -0.0;
          break;
        case InputKind::kPeaked:
          // Column s of q and k is large in one element that they share.
          value = 0.1 * normal(random);
          if (t.name != "v_ref" &&
              i / columns == i % columns % static_cast<std::size_t>(t.shape[0]))
            value += 6;
          break;
        case InputKind::kFlat:
          value = t.name == "v_ref" ? normal(random) : 0.25 + 1e-3 * normal(random);
          break;
      }
      if (model.check == "moe" && kind == InputKind::kSigned) value *= 0.1;
      encode(t.type, value, bytes.data() + i * width);
    }
    out[t.name] = std::move(bytes);
  }
  return out;
}

std::string check_outputs(const ModelCase& model, const TensorBytes& inputs,
                          const TensorBytes& outputs, const std::string& corpus) {
  if (model.check == "add") return check_add(model, inputs, outputs);
  if (model.check == "transpose") return check_transpose(model, inputs, outputs);
  if (model.check == "conv2d") return check_conv(model, inputs, outputs, false);
  if (model.check == "conv2d+maxpool2") return check_conv(model, inputs, outputs, true);
  if (model.check == "attention") return check_attention(model, inputs, outputs);
  if (model.check == "matmul") return check_matmul(model, inputs, outputs);
  if (model.check == "moe") return check_moe(model, inputs, outputs, corpus);
  return "unknown check " + model.check;
}

}  // namespace opennrt::test
