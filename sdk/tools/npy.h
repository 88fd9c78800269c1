// SPDX-License-Identifier: Apache-2.0
//
// NumPy array files (format versions 1 and 2) and raw files, as tensor
// contents. Every file is written to a temporary name and renamed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "nrt/nrt.h"

namespace opennrt::tools {

// Bytes per element; 0 for an unknown type.
std::size_t dtype_bytes(nrt_dtype_t dtype);
// "float32", "bfloat16", ...
const char* dtype_name(nrt_dtype_t dtype);
// NRT_DTYPE_UNKNOWN: no such name.
nrt_dtype_t dtype_of_name(const std::string& name);

// By its name.
bool is_npy(const std::string& path);
using Shape = std::vector<std::uint64_t>;
// "(4, 1000)", as NumPy writes it.
std::string shape_text(const Shape& shape);

// Contents of a .npy file, data only, or of any other file, whole. A .npy file
// must hold exactly this type, or for types that NumPy does not have (bfloat16,
// float8, unknown) raw elements of their size: 'V2' or 'u2'; and this shape.
// shape: nullptr for any. No file that holds more than the array is read. Returns false
// with a message naming the file.
bool read_array(const std::string& path, nrt_dtype_t dtype, const Shape* shape,
                std::vector<std::byte>* out, std::string* error);
// Shape in the header of a .npy file. False: not understood.
bool read_shape(const std::string& path, Shape* shape);

// Writes data as .npy with the dtype and shape, or raw when the name does not
// end in ".npy". Elements of types that NumPy does not have are void. Leaves no half file behind.
bool write_array(const std::string& path, nrt_dtype_t dtype,
                 const std::vector<std::uint32_t>& shape, const std::vector<std::byte>& data,
                 std::string* error);

}  // namespace opennrt::tools
