// SPDX-License-Identifier: Apache-2.0
#include "neff/dtype.h"

namespace opennrt::neff {
namespace {

struct DmaRow {
  std::string_view name;
  DmaDtype dtype;
};

// Packed types move as integers of the same width.
constexpr DmaRow kDmaDtypes[] = {
    {"uint8", {3, 1}},
    {"float32", {10, 4}},
    {"float16", {7, 2}},
    {"bfloat16", {6, 2}},
    {"int8", {2, 1}},
    {"float32r", {11, 4}},
    {"uint16", {5, 2}},
    {"uint32", {9, 4}},
    {"uint64", {1, 8}},
    {"int16", {4, 2}},
    {"int32", {8, 4}},
    {"int64", {12, 8}},
    {"float8e3", {13, 1}},
    {"float8e4", {14, 1}},
    {"float8_e4m3fn", {14, 1}},
    {"float8e5", {15, 1}},
    {"float8_e4m3fn_x4", {9, 4}},
    {"float8_e5m2_x4", {9, 4}},
    {"float4_e2m1fn_x4", {5, 2}},
};

struct TensorRow {
  std::string_view name;
  TensorDtype dtype;
};

constexpr TensorRow kTensorDtypes[] = {
    {"float32", {NRT_DTYPE_FLOAT32, 4}},   {"float16", {NRT_DTYPE_FLOAT16, 2}},
    {"bfloat16", {NRT_DTYPE_BFLOAT16, 2}}, {"int8", {NRT_DTYPE_INT8, 1}},
    {"uint8", {NRT_DTYPE_UINT8, 1}},       {"int16", {NRT_DTYPE_INT16, 2}},
    {"uint16", {NRT_DTYPE_UINT16, 2}},     {"int32", {NRT_DTYPE_INT32, 4}},
    {"uint32", {NRT_DTYPE_UINT32, 4}},     {"int64", {NRT_DTYPE_INT64, 8}},
    {"uint64", {NRT_DTYPE_UINT64, 8}},
};

}  // namespace

std::optional<DmaDtype> dma_dtype(std::string_view name) {
  for (const DmaRow& row : kDmaDtypes)
    if (row.name == name) return row.dtype;
  return std::nullopt;
}

TensorDtype tensor_dtype(std::string_view name) {
  for (const TensorRow& row : kTensorDtypes)
    if (row.name == name) return row.dtype;
  return {NRT_DTYPE_UNKNOWN, 1};
}

std::string_view tensor_dtype_name(nrt_dtype_t dtype) {
  for (const TensorRow& row : kTensorDtypes)
    if (row.dtype.dtype == dtype) return row.name;
  return "unknown";
}

}  // namespace opennrt::neff
