// SPDX-License-Identifier: Apache-2.0
//
// The mathematical functions behind the activation codes, evaluated in double
// precision and rounded once. Used where a program brings no tables; a device
// that has them differs by up to 5e-5 relative.
#include <cmath>
#include <limits>
#include <numbers>

#include "compute/activation_function.h"

namespace opennrt::emu {

namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

template <double (*Function)(double)>
float rounded(float x) {
  return static_cast<float>(Function(x));
}

double logistic(double x) { return 1 / (1 + std::exp(-x)); }
double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::numbers::sqrt2); }
double normal_pdf(double x) {
  return std::exp(-0.5 * x * x) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
}
// x * gate(x) where the gate may vanish: 0 * infinity is 0 in the limit.
double gated(double x, double gate) { return gate == 0 ? 0 : x * gate; }

double softplus(double x) { return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x))); }
double mish(double x) { return gated(x, std::tanh(softplus(x))); }
double gelu(double x) { return gated(x, normal_cdf(x)); }
double gelu_tanh(double x) {
  const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return gated(x, logistic(2 * inner));
}
double gelu_sigmoid(double x) { return gated(x, logistic(1.702 * x)); }
double silu(double x) { return gated(x, logistic(x)); }
double derivative_erf(double x) { return 2 * std::numbers::inv_sqrtpi * std::exp(-x * x); }
double derivative_gelu(double x) { return normal_cdf(x) + gated(x, normal_pdf(x)); }
double derivative_silu(double x) {
  const double s = logistic(x);
  return s + gated(x, s * (1 - s));
}
double derivative_gelu_sigmoid(double x) {
  const double s = logistic(1.702 * x);
  return s + gated(x, 1.702 * s * (1 - s));
}
double reciprocal_sqrt(double x) { return 1 / std::sqrt(x); }
double abs_reciprocal_sqrt(double x) { return 1 / std::sqrt(std::fabs(x)); }
double reciprocal(double x) { return 1 / x; }
double exponential(double x) { return std::exp(x); }
double square_root(double x) { return std::sqrt(x); }
double logarithm(double x) { return std::log(x); }
double hyperbolic_tangent(double x) { return std::tanh(x); }
double sine(double x) { return std::sin(x); }
double error_function(double x) { return std::erf(x); }
double arc_tangent(double x) { return std::atan(x); }

float relu(float x) { return x != x ? kNan : (x > 0 ? x : 0.0f); }
float leaky_relu(float x) { return x != x ? kNan : (x > 0 ? x : x * 0.01f + 0.0f); }
// Compiled programs' tables give the derivatives 1 at zero.
float derivative_identity(float x) { return x != x ? kNan : 1.0f; }
float derivative_relu(float x) { return x != x ? kNan : (x >= 0 ? 1.0f : 0.0f); }
float derivative_leaky_relu(float x) { return x != x ? kNan : (x >= 0 ? 1.0f : 0.01f); }
float square(float x) { return x * x; }
float sign(float x) { return x != x ? kNan : (x > 0 ? 1.0f : (x < 0 ? -1.0f : 0.0f)); }
float absolute(float x) { return x != x ? kNan : std::fabs(x); }
float is_finite(float x) { return std::isfinite(x) ? 1.0f : 0.0f; }
float zero(float) { return 0.0f; }

struct Entry {
  std::uint32_t code;
  bool fixed;  // exact on the silicon too
  ActivationFunction::Kind kind;
  ActivationFunction::Exact exact;
};
using Kind = ActivationFunction::Kind;

constexpr Entry kEntries[] = {
    {1, true, Kind::kIdentity, nullptr},
    {2, true, Kind::kExact, relu},
    {3, true, Kind::kExact, leaky_relu},
    {4, true, Kind::kParametric, nullptr},
    {5, false, Kind::kExact, rounded<logistic>},
    {6, false, Kind::kExact, rounded<hyperbolic_tangent>},
    {7, false, Kind::kExact, rounded<exponential>},
    {8, false, Kind::kExact, rounded<square_root>},
    {9, false, Kind::kExact, rounded<softplus>},
    {10, false, Kind::kExact, rounded<logarithm>},
    {11, true, Kind::kExact, derivative_identity},
    {12, true, Kind::kExact, derivative_relu},
    {13, true, Kind::kExact, derivative_leaky_relu},
    {19, false, Kind::kExact, rounded<sine>},
    {21, false, Kind::kExact, rounded<error_function>},
    {22, false, Kind::kExact, rounded<derivative_erf>},
    {23, false, Kind::kExact, rounded<gelu>},
    {24, false, Kind::kExact, rounded<mish>},
    {25, false, Kind::kExact, rounded<gelu_tanh>},
    {26, false, Kind::kExact, rounded<gelu_sigmoid>},
    {28, false, Kind::kExact, rounded<arc_tangent>},
    {29, false, Kind::kExact, rounded<reciprocal_sqrt>},
    {30, true, Kind::kExact, square},
    {31, true, Kind::kExact, sign},
    {32, false, Kind::kExact, rounded<derivative_gelu>},
    {33, true, Kind::kExact, absolute},
    {34, false, Kind::kExact, rounded<abs_reciprocal_sqrt>},
    {35, true, Kind::kExact, is_finite},
    {36, false, Kind::kExact, rounded<silu>},
    {37, false, Kind::kExact, rounded<derivative_silu>},
    {38, false, Kind::kExact, rounded<derivative_gelu_sigmoid>},
    {128, true, Kind::kIdentity, nullptr},
    {129, false, Kind::kExact, rounded<reciprocal>},
    {130, true, Kind::kExact, zero},
};

const Entry* find(std::uint32_t code) {
  for (const Entry& e : kEntries)
    if (e.code == code) return &e;
  return nullptr;
}

}  // namespace

bool ActivationFunction::make_exact(std::uint32_t code) {
  const Entry* e = find(code);
  if (!e) return false;
  kind = e->kind;
  exact = e->exact;
  return true;
}

bool activation_is_fixed(std::uint32_t code) {
  const Entry* e = find(code);
  return e && e->fixed;
}

}  // namespace opennrt::emu
