// SPDX-License-Identifier: Apache-2.0
#include "npy.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "input_file.h"
#include "neff/memory_limit.h"
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

constexpr unsigned char kMagic[] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

bool ends_with(const std::string& text, const char* suffix) {
  const std::size_t n = std::strlen(suffix);
  return text.size() >= n && text.compare(text.size() - n, n, suffix) == 0;
}

// NumPy has no such type; what holds its elements is void.
bool is_raw(const DtypeRow& row) { return row.descr[1] == 'V'; }

// Elements of raw types are void or unsigned integers of their size, of unknown
// ones of any size. Everything else must be the type itself.
bool holds(const std::string& descr, const DtypeRow& row) {
  if (!is_raw(row)) return descr == row.descr;
  if (descr.size() != 3 || descr[0] == '>' || (descr[1] != 'V' && descr[1] != 'u')) return false;
  return row.dtype == NRT_DTYPE_UNKNOWN ? std::strchr("1248", descr[2]) != nullptr
                                        : descr[2] == row.descr[2];
}

// What would do instead of elements `descr`.
std::string remedy(const DtypeRow& row) {
  const std::string name = row.name;
  if (row.dtype == NRT_DTYPE_UNKNOWN)
    return "the runtime does not know the tensor's type: expected raw elements, for example |u1; "
           "save the bytes, array.view('u1')";
  if (!is_raw(row)) {
    const std::string type = row.descr[0] == '|' ? row.descr + 1 : row.descr;
    return "the tensor is " + name + ": expected " + row.descr + "; convert the values with array" +
           ".astype('" + type + "'), or bits of that type with array.view('" + type + "')";
  }
  const std::string size = std::to_string(row.bytes), order = row.bytes == 1 ? "|" : "<";
  return "the tensor is " + name + ", which NumPy does not have: expected its bits as " + order +
         "u" + size + " or " + order + "V" + size + "; save them with array.view('" +
         (row.bytes == 1 ? "" : "<") + "u" + size + "')" +
         (row.dtype == NRT_DTYPE_BFLOAT16
              ? ", of a float32 array with (array.view('<u4') >> 16).astype('<u2')"
              : "");
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

bool shape_of(const std::string& header, Shape* shape) {
  static constexpr char kKey[] = "'shape': (";
  const std::size_t key = header.find(kKey);
  if (key == std::string::npos) return false;
  shape->clear();
  const char* at = header.c_str() + key + sizeof kKey - 1;
  while (*at != ')') {
    if (*at < '0' || *at > '9') return false;
    char* end = nullptr;
    errno = 0;
    shape->push_back(std::strtoull(at, &end, 10));
    if (errno != 0) return false;
    at = end;
    if (*at == 'L') ++at;  // of Python 2
    if (*at != ',' && *at != ')') return false;
    while (*at == ',' || *at == ' ') ++at;
  }
  return true;
}

struct Header {
  std::string text;
  std::uint64_t data = 0;  // position
};

// The header that the file begins with. False with *error: none that is understood.
bool read_header(const std::string& path, InputFile& file, Header* out, std::string* error) {
  constexpr std::size_t kMostHeader = std::size_t{1} << 20;
  const auto fail = [&](const std::string& why) {
    *error = path + ": " + why;
    return false;
  };
  std::vector<std::byte> head;
  if (!file.read(10, &head, error)) return false;
  if (head.size() < 10 || std::memcmp(head.data(), kMagic, sizeof kMagic) != 0)
    return fail("no NumPy header");
  const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(head[i]); };
  const std::size_t major = byte(6);
  if (major == 2 && !file.read(2, &head, error)) return false;
  if ((major != 1 && major != 2) || head.size() < (major == 1 ? 10 : 12))
    return fail("NumPy format version " + std::to_string(major) + ", known are 1 and 2");
  const std::size_t length = major == 1 ? byte(8) | byte(9) << 8
                                        : byte(8) | byte(9) << 8 | byte(10) << 16 | byte(11) << 24;
  if (length > kMostHeader)
    return fail("a header of " + std::to_string(length) + " bytes; at most " +
                std::to_string(kMostHeader) + " are read");
  std::vector<std::byte> text;
  if (!file.read(length, &text, error)) return false;
  if (text.size() < length) return fail("header is cut off");
  out->text.assign(reinterpret_cast<const char*>(text.data()), length);
  out->data = head.size() + length;
  return true;
}

// Bytes of an array; the largest number when there is no such number.
std::uint64_t bytes_of(const Shape& shape, std::uint64_t element) {
  std::uint64_t bytes = element;
  for (const std::uint64_t n : shape)
    if (__builtin_mul_overflow(bytes, n, &bytes)) return std::numeric_limits<std::uint64_t>::max();
  return bytes;
}

// A size that is wrong is the caller's to tell, as long as it does no harm.
constexpr std::uint64_t kSmall = std::uint64_t{64} << 20;

// That fit here beside what they are compared with.
std::uint64_t most_bytes() { return neff::memory_limit_bytes() / 2; }

// "" or why the array is not one of the type and shape.
std::string mismatch(const std::string& header, nrt_dtype_t dtype, const Shape* expected) {
  const std::string descr = descr_of(header);
  const DtypeRow& row = row_of(dtype);
  if (!holds(descr, row))
    return "elements are " + (descr.empty() ? "structured" : descr) + ", " + remedy(row);
  Shape shape;
  if (!shape_of(header, &shape)) return "the header has no shape that is understood";
  if (expected != nullptr && shape != *expected) {
    const std::string wanted = shape_text(*expected);
    return "the shape is " + shape_text(shape) + ", the tensor's is " + wanted +
           "; save it with array.reshape(" + wanted + ")";
  }
  if (header.find("'fortran_order': True") != std::string::npos)
    return "column-major arrays are not supported, save it with order='C'";
  return "";
}

std::string npy_header(nrt_dtype_t dtype, const std::vector<std::uint32_t>& shape,
                       std::size_t bytes) {
  std::string descr = row_of(dtype).descr;
  if (dtype == NRT_DTYPE_UNKNOWN) {
    // As many bytes per element as there are.
    std::size_t elements = 1;
    for (const std::uint32_t n : shape) elements *= n;
    if (elements != 0 && bytes % elements == 0) descr = "|V" + std::to_string(bytes / elements);
  }
  std::string text = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " +
                     shape_text({shape.begin(), shape.end()}) + ", }";
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

bool is_npy(const std::string& path) { return ends_with(path, ".npy"); }

std::string shape_text(const Shape& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

bool read_shape(const std::string& path, Shape* shape) {
  InputFile file;
  std::string ignored;
  Header header;
  return file.open(path, &ignored) && read_header(path, file, &header, &ignored) &&
         shape_of(header.text, shape);
}

bool read_array(const std::string& path, nrt_dtype_t dtype, const Shape* shape,
                std::vector<std::byte>* out, std::string* error) {
  const auto fail = [&](const std::string& why) {
    *error = path + ": " + why;
    return false;
  };
  out->clear();
  InputFile file;
  if (!file.open(path, error)) return false;
  if (!is_npy(path)) {
    const std::uint64_t needed = shape != nullptr && dtype != NRT_DTYPE_UNKNOWN
                                     ? std::max(bytes_of(*shape, row_of(dtype).bytes), kSmall)
                                     : most_bytes();
    return file.read_rest(std::min(needed, most_bytes()), out, error);
  }
  Header header;
  if (!read_header(path, file, &header, error)) return false;
  if (const std::string why = mismatch(header.text, dtype, shape); !why.empty()) return fail(why);
  // Understood, as they match.
  Shape own;
  const char width = descr_of(header.text).back();
  shape_of(header.text, &own);
  const std::uint64_t needed = bytes_of(own, static_cast<std::uint64_t>(width - '0'));
  const std::uint64_t held = file.size() - std::min(file.size(), header.data);
  if (held > std::max(needed, kSmall))
    return fail("holds " + std::to_string(held) + " bytes of elements, its shape has " +
                std::to_string(needed));
  return file.read_rest(header.data + std::min(std::max(needed, kSmall), most_bytes()), out, error);
}

bool write_array(const std::string& path, nrt_dtype_t dtype,
                 const std::vector<std::uint32_t>& shape, const std::vector<std::byte>& data,
                 std::string* error) {
  const std::string header =
      ends_with(path, ".npy") ? npy_header(dtype, shape, data.size()) : std::string();
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
