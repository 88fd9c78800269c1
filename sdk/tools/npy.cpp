// SPDX-License-Identifier: Apache-2.0
#include "npy.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "opennrt/whole_file.hpp"

namespace opennrt::tools {

namespace {

struct DtypeRow {
  nrt_dtype_t dtype;
  const char* name;
  const char* descr;  // NumPy type text
  std::size_t bytes;
};

constexpr DtypeRow kDtypes[] = {
    {NRT_DTYPE_FLOAT32, "float32", "<f4", 4},   {NRT_DTYPE_FLOAT16, "float16", "<f2", 2},
    {NRT_DTYPE_BFLOAT16, "bfloat16", "<V2", 2}, {NRT_DTYPE_FP32R, "float32r", "<f4", 4},
    {NRT_DTYPE_INT8, "int8", "|i1", 1},         {NRT_DTYPE_UINT8, "uint8", "|u1", 1},
    {NRT_DTYPE_INT16, "int16", "<i2", 2},       {NRT_DTYPE_UINT16, "uint16", "<u2", 2},
    {NRT_DTYPE_INT32, "int32", "<i4", 4},       {NRT_DTYPE_UINT32, "uint32", "<u4", 4},
    {NRT_DTYPE_INT64, "int64", "<i8", 8},       {NRT_DTYPE_UINT64, "uint64", "<u8", 8},
    {NRT_DTYPE_FP8_E3, "float8e3", "|V1", 1},   {NRT_DTYPE_FP8_E4, "float8e4", "|V1", 1},
    {NRT_DTYPE_FP8_E5, "float8e5", "|V1", 1},   {NRT_DTYPE_UNKNOWN, "unknown", "|V1", 1},
};

const DtypeRow& row_of(nrt_dtype_t dtype) {
  for (const DtypeRow& row : kDtypes)
    if (row.dtype == dtype) return row;
  return kDtypes[std::size(kDtypes) - 1];
}

struct FileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, FileCloser>;

constexpr unsigned char kMagic[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

bool ends_with(const std::string& text, const char* suffix) {
  const std::size_t n = std::strlen(suffix);
  return text.size() >= n && text.compare(text.size() - n, n, suffix) == 0;
}

// NumPy has no bfloat16 and no float8: such arrays are stored as void or as
// integers of the width. Everything else must be the type itself.
bool holds(const std::string& descr, const DtypeRow& row) {
  if (descr == row.descr || row.dtype == NRT_DTYPE_UNKNOWN) return true;
  if (descr.size() < 3 || descr[0] == '>' || descr.substr(2) != std::to_string(row.bytes))
    return false;
  return descr[1] == 'V' || row.descr[1] == 'V';
}

// Text of 'descr' in a header, empty for structured types.
std::string descr_of(const std::string& header) {
  static constexpr char kKey[] = "'descr': '";
  const std::size_t key = header.find(kKey);
  if (key == std::string::npos) return "";
  const std::size_t start = key + sizeof kKey - 1;
  const std::size_t end = header.find('\'', start);
  return end == std::string::npos ? "" : header.substr(start, end - start);
}

// Position of the data in a .npy file, 0 when the header is not understood or
// the elements are of another type.
std::size_t npy_data_offset(const std::vector<std::byte>& file, nrt_dtype_t dtype,
                            std::string* why) {
  if (file.size() < 10 || std::memcmp(file.data(), kMagic, sizeof kMagic) != 0) {
    *why = "no NumPy header";
    return 0;
  }
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(file[i]); };
  const std::size_t major = byte(6);
  const std::size_t prefix = major == 1 ? 10 : 12;
  if ((major != 1 && major != 2) || file.size() < prefix) {
    *why = "NumPy format version " + std::to_string(major) + ", known are 1 and 2";
    return 0;
  }
  const std::size_t header = major == 1 ? byte(8) | byte(9) << 8
                                        : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  if (header > file.size() - prefix) {
    *why = "header is cut off";
    return 0;
  }
  const std::string text(reinterpret_cast<const char*>(file.data()) + prefix, header);
  if (text.find("'fortran_order': True") != std::string::npos) {
    *why = "column-major arrays are not supported, save it with order='C'";
    return 0;
  }
  const std::string descr = descr_of(text);
  const DtypeRow& row = row_of(dtype);
  if (!holds(descr, row)) {
    *why = "elements are " + (descr.empty() ? "structured" : descr) + ", the tensor is " +
           row.name + " (" + row.descr + "): convert the array with astype";
    return 0;
  }
  return prefix + header;
}

std::string npy_header(nrt_dtype_t dtype, const std::vector<std::uint32_t>& shape) {
  std::string text =
      std::string("{'descr': '") + row_of(dtype).descr + "', 'fortran_order': False, 'shape': (";
  for (std::uint32_t n : shape) text += std::to_string(n) + ", ";
  text += "), }";
  const std::size_t unpadded = 10 + text.size() + 1;
  text.append((64 - unpadded % 64) % 64, ' ');
  text += '\n';
  std::string header(reinterpret_cast<const char*>(kMagic), sizeof kMagic);
  header += '\x01';
  header += '\x00';
  header += static_cast<char>(text.size() & 0xFF);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

}  // namespace

std::size_t dtype_bytes(nrt_dtype_t dtype) { return row_of(dtype).bytes; }
const char* dtype_name(nrt_dtype_t dtype) { return row_of(dtype).name; }

nrt_dtype_t dtype_of_name(const std::string& name) {
  for (const DtypeRow& row : kDtypes)
    if (name == row.name) return row.dtype;
  return NRT_DTYPE_UNKNOWN;
}

bool read_file(const std::string& path, std::vector<std::byte>* out, std::string* error) {
  File file(std::fopen(path.c_str(), "rb"));
  if (!file) {
    *error = path + ": " + std::strerror(errno);
    return false;
  }
  out->clear();
  std::byte chunk[1 << 16];
  for (std::size_t n; (n = std::fread(chunk, 1, sizeof chunk, file.get())) > 0;)
    out->insert(out->end(), chunk, chunk + n);
  if (std::ferror(file.get()) != 0) {
    *error = path + ": " + std::strerror(errno);
    return false;
  }
  return true;
}

bool read_array(const std::string& path, nrt_dtype_t dtype, std::vector<std::byte>* out,
                std::string* error) {
  if (!read_file(path, out, error)) return false;
  if (!ends_with(path, ".npy")) return true;
  std::string why;
  const std::size_t offset = npy_data_offset(*out, dtype, &why);
  if (offset == 0) {
    *error = path + ": " + why;
    return false;
  }
  out->erase(out->begin(), out->begin() + static_cast<std::ptrdiff_t>(offset));
  return true;
}

bool write_array(const std::string& path, nrt_dtype_t dtype,
                 const std::vector<std::uint32_t>& shape, const std::vector<std::byte>& data,
                 std::string* error) {
  const std::string header = ends_with(path, ".npy") ? npy_header(dtype, shape) : std::string();
  WholeFile file;
  int failure = file.create(path, WholeFile::Pipes::kAllow);
  if (failure == 0) failure = file.write(header.data(), header.size());
  if (failure == 0) failure = file.write(data.data(), data.size());
  if (failure == 0) failure = file.commit();
  if (failure != 0) {
    *error = path + ": " + std::strerror(failure);
    return false;
  }
  return true;
}

}  // namespace opennrt::tools
