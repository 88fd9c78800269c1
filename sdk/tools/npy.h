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

// The whole file. Returns false with a message naming the file.
bool read_file(const std::string& path, std::vector<std::byte>* out, std::string* error);
// Contents of a .npy file (data only, elements must be of this type) or of any
// other file, whole. Returns false with a message naming the file.
bool read_array(const std::string& path, nrt_dtype_t dtype, std::vector<std::byte>* out,
                std::string* error);

// Writes data as .npy with the dtype and shape, or raw when the name does not
// end in ".npy". Leaves no half file behind.
bool write_array(const std::string& path, nrt_dtype_t dtype,
                 const std::vector<std::uint32_t>& shape, const std::vector<std::byte>& data,
                 std::string* error);

}  // namespace opennrt::tools
