// SPDX-License-Identifier: Apache-2.0
#include "npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "compare.h"
#include "inspect/request.h"

namespace opennrt::tools {
namespace {

using ::testing::HasSubstr;

class Npy : public ::testing::Test {
 protected:
  void TearDown() override { unlink(path_.c_str()); }

  // A file of format version 1 with this header.
  void write_header(const std::string& header, std::size_t bytes) {
    const std::string text = header + "\n";
    std::ofstream out(path_, std::ios::binary);
    out << std::string("\x93NUMPY\x01\0", 8) << static_cast<char>(text.size() & 0xFF)
        << static_cast<char>(text.size() >> 8) << text << std::string(bytes, '\1');
  }
  void write(const std::string& descr, const std::string& shape, std::size_t bytes) {
    write_header("{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }",
                 bytes);
  }
  // "" when it is accepted.
  std::string read(nrt_dtype_t dtype, const Shape& shape) {
    std::vector<std::byte> data;
    std::string error;
    if (read_array(path_, dtype, &shape, &data, &error)) {
      bytes_ = data.size();
      return "";
    }
    EXPECT_THAT(error, HasSubstr(path_));
    return error;
  }

  const std::string path_ = "/tmp/opennrt-npy-" + std::to_string(getpid()) + ".npy";
  std::size_t bytes_ = 0;
};

TEST_F(Npy, TypesOfNumPyMustBeTheTypeItself) {
  const struct {
    nrt_dtype_t dtype;
    const char* descr;
    std::size_t bytes;
  } kOwn[] = {
      {NRT_DTYPE_FLOAT32, "<f4", 4}, {NRT_DTYPE_FLOAT16, "<f2", 2}, {NRT_DTYPE_INT8, "|i1", 1},
      {NRT_DTYPE_UINT8, "|u1", 1},   {NRT_DTYPE_INT16, "<i2", 2},   {NRT_DTYPE_UINT16, "<u2", 2},
      {NRT_DTYPE_INT32, "<i4", 4},   {NRT_DTYPE_UINT32, "<u4", 4},  {NRT_DTYPE_INT64, "<i8", 8},
      {NRT_DTYPE_UINT64, "<u8", 8},
  };
  for (const auto& mine : kOwn) {
    write(mine.descr, "(2, 3)", 6 * mine.bytes);
    for (const auto& other : kOwn)
      EXPECT_EQ(read(other.dtype, {2, 3}).empty(), mine.dtype == other.dtype)
          << mine.descr << " as " << dtype_name(other.dtype);
    EXPECT_EQ(read(mine.dtype, {2, 3}), "");
    EXPECT_EQ(bytes_, 6 * mine.bytes);
  }
  for (const char* raw : {"|V2", "<V2", ">f2", "|b1", "<c8", "<M8[ns]", "<U2", ""}) {
    write(raw, "(6,)", 12);
    for (const auto& mine : kOwn) EXPECT_NE(read(mine.dtype, {6}), "") << raw;
  }
}

TEST_F(Npy, TypesThatNumPyLacksAreRawElementsOfTheirSize) {
  const auto accepts = [&](nrt_dtype_t dtype, const char* descr) {
    write(descr, "(4,)", 8);
    return read(dtype, {4}).empty();
  };
  for (const char* descr : {"|V2", "<V2", "<u2"})
    EXPECT_TRUE(accepts(NRT_DTYPE_BFLOAT16, descr)) << descr;
  for (const char* descr : {"<f2", "<i2", ">u2", ">V2", "|V1", "|u1", "|V4", "<u4", "<f4", "|V22"})
    EXPECT_FALSE(accepts(NRT_DTYPE_BFLOAT16, descr)) << descr;
  for (const nrt_dtype_t dtype : {NRT_DTYPE_FP8_E3, NRT_DTYPE_FP8_E4, NRT_DTYPE_FP8_E5}) {
    for (const char* descr : {"|V1", "|u1", "<V1"}) EXPECT_TRUE(accepts(dtype, descr)) << descr;
    for (const char* descr : {"|i1", "|V2", "<u2", "<f2", "|b1"})
      EXPECT_FALSE(accepts(dtype, descr)) << descr;
  }
  // The size of unknown elements follows from the bytes.
  for (const char* descr : {"|V1", "|u1", "<u4"}) EXPECT_TRUE(accepts(NRT_DTYPE_UNKNOWN, descr));
  for (const char* descr : {"<f4", "|i1", "|V3"}) EXPECT_FALSE(accepts(NRT_DTYPE_UNKNOWN, descr));
}

TEST_F(Npy, RefusalsNameBothTypesAndWhatWorks) {
  write("<f2", "(4,)", 8);
  const std::string bits = read(NRT_DTYPE_BFLOAT16, {4});
  for (const char* part : {"elements are <f2", "the tensor is bfloat16", "<u2 or <V2",
                           "array.view('<u2')", "(array.view('<u4') >> 16).astype('<u2')"})
    EXPECT_THAT(bits, HasSubstr(part));
  EXPECT_THAT(read(NRT_DTYPE_FP8_E4, {4}), HasSubstr("array.view('u1')"));
  write("|V2", "(4,)", 8);
  const std::string half = read(NRT_DTYPE_FLOAT16, {4});
  for (const char* part : {"elements are |V2", "the tensor is float16: expected <f2",
                           "array.astype('<f2')", "array.view('<f2')"})
    EXPECT_THAT(half, HasSubstr(part));
  write_header("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", 4);
  EXPECT_THAT(read(NRT_DTYPE_FLOAT32, {1}), HasSubstr("structured"));
}

TEST_F(Npy, TheShapeMustBeThatOfTheTensor) {
  write("<f4", "(2, 3)", 24);
  EXPECT_EQ(read(NRT_DTYPE_FLOAT32, {2, 3}), "");
  const std::string error = read(NRT_DTYPE_FLOAT32, {6});
  for (const char* part : {"the shape is (2, 3)", "the tensor's is (6,)", "array.reshape((6,))"})
    EXPECT_THAT(error, HasSubstr(part));
  for (const Shape& other : {Shape{3, 2}, Shape{2, 3, 1}, Shape{1, 2, 3}, Shape{2}, Shape{}})
    EXPECT_NE(read(NRT_DTYPE_FLOAT32, other), "") << shape_text(other);
  write("<f4", "()", 4);
  EXPECT_EQ(read(NRT_DTYPE_FLOAT32, {}), "");
  EXPECT_NE(read(NRT_DTYPE_FLOAT32, {1}), "");
  write("<f4", "(2L, 3L)", 24);  // Python 2
  EXPECT_EQ(read(NRT_DTYPE_FLOAT32, {2, 3}), "");
}

TEST_F(Npy, DamagedHeadersAreRefused) {
  for (const char* shape : {"6", "(", "(6", "(-6,)", "(6;)", "(a,)", "(99999999999999999999,)"}) {
    write("<f4", shape, 24);
    EXPECT_NE(read(NRT_DTYPE_FLOAT32, {6}), "") << shape;
  }
  write_header("{'descr': '<f4', 'fortran_order': False, }", 24);
  EXPECT_THAT(read(NRT_DTYPE_FLOAT32, {6}), HasSubstr("no shape"));
  write_header("{'descr': '<f4', 'fortran_order': True, 'shape': (6,), }", 24);
  EXPECT_THAT(read(NRT_DTYPE_FLOAT32, {6}), HasSubstr("column-major"));
  for (const std::string& text :
       {std::string(), std::string("\x93NUMPY"), std::string("\x93NUMPY\x01\0\xff\xff{", 11),
        std::string("\x93NUMPY\x07\0\x02\0{}", 12)}) {
    std::ofstream(path_, std::ios::binary) << text;
    EXPECT_NE(read(NRT_DTYPE_FLOAT32, {6}), "");
  }
}

TEST_F(Npy, OtherFilesAreBytesOfAnyShape) {
  const std::string raw = path_.substr(0, path_.size() - 4) + ".bin";
  std::ofstream(raw, std::ios::binary) << "12345678";
  std::vector<std::byte> data;
  std::string error;
  const Shape shape{2};
  EXPECT_TRUE(read_array(raw, NRT_DTYPE_BFLOAT16, &shape, &data, &error)) << error;
  EXPECT_EQ(data.size(), 8u);
  unlink(raw.c_str());
}

// A file that claims or holds far more than the array is not read.
TEST_F(Npy, NothingIsReadBeyondTheArray) {
  const auto enlarge = [&](const std::string& path, std::uint64_t bytes) {
    ASSERT_EQ(truncate(path.c_str(), static_cast<off_t>(bytes)), 0) << strerror(errno);
  };
  write("<f4", "(6,)", 24);
  enlarge(path_, std::uint64_t{1} << 40);
  EXPECT_THAT(read(NRT_DTYPE_FLOAT32, {6}), HasSubstr("bytes of elements, its shape has 24"));
  write("<f4", "(1099511627776,)", 4);
  enlarge(path_, std::uint64_t{1} << 42);
  EXPECT_THAT(read(NRT_DTYPE_FLOAT32, {std::uint64_t{1} << 40}), HasSubstr("are read"));
  std::ofstream(path_, std::ios::binary)
      << std::string("\x93NUMPY\x02\0\xff\xff\xff\xff", 12) << "{";
  EXPECT_THAT(read(NRT_DTYPE_FLOAT32, {6}), HasSubstr("a header of 4294967295 bytes"));
  const std::string raw = path_.substr(0, path_.size() - 4) + ".bin";
  std::ofstream(raw) << "1234";
  enlarge(raw, std::uint64_t{1} << 40);
  std::vector<std::byte> data;
  std::string error;
  const Shape shape{2};
  EXPECT_FALSE(read_array(raw, NRT_DTYPE_BFLOAT16, &shape, &data, &error));
  EXPECT_THAT(error, HasSubstr(raw + ": has 1099511627776 bytes; at most 67108864 are read"));
  EXPECT_FALSE(read_array(raw, NRT_DTYPE_UNKNOWN, &shape, &data, &error));
  EXPECT_TRUE(data.empty());
  unlink(raw.c_str());
}

TEST_F(Npy, WhatIsNoFileIsNotWaitedFor) {
  unlink(path_.c_str());
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  EXPECT_THAT(read(NRT_DTYPE_FLOAT32, {6}), HasSubstr("is a pipe"));
  std::vector<std::byte> data;
  std::string error;
  EXPECT_FALSE(read_array("/dev/zero", NRT_DTYPE_FLOAT32, nullptr, &data, &error));
  EXPECT_THAT(error, HasSubstr("/dev/zero: is a device"));
}

// What the tool and the device write can be read again, for every type.
TEST_F(Npy, OwnFilesRoundTrip) {
  for (const char* name :
       {"float32", "float16", "bfloat16", "float32r", "int8", "uint8", "int16", "uint16", "int32",
        "uint32", "int64", "uint64", "float8e3", "float8e4", "float8e5"}) {
    const nrt_dtype_t dtype = dtype_of_name(name);
    for (const std::vector<std::uint32_t>& shape :
         {std::vector<std::uint32_t>{2, 3}, {6}, {1, 6, 1}}) {
      std::string error;
      const std::vector<std::byte> data(6 * dtype_bytes(dtype), std::byte{7});
      ASSERT_TRUE(write_array(path_, dtype, shape, data, &error)) << error;
      EXPECT_EQ(read(dtype, {shape.begin(), shape.end()}), "") << name;
      EXPECT_EQ(bytes_, data.size());
    }
    const emu::DumpType* type = emu::find_dump_type(name);
    if (type == nullptr) continue;  // no dumps of it
    std::ofstream(path_, std::ios::binary)
        << emu::npy_header(*type, {2, 3}) << std::string(6 * type->bytes, '\0');
    EXPECT_EQ(read(dtype, {2, 3}), "") << name;
    TypedData reference;
    std::string error;
    const Shape shape{2, 3};
    EXPECT_TRUE(read_reference(path_, dtype, &shape, &reference, &error)) << error;
    EXPECT_EQ(reference.dtype, dtype);
  }
  // Of unknown types the width is what there is.
  std::string error;
  ASSERT_TRUE(write_array(path_, NRT_DTYPE_UNKNOWN, {2}, std::vector<std::byte>(8), &error));
  EXPECT_EQ(read(NRT_DTYPE_UNKNOWN, {2}), "");
  EXPECT_EQ(bytes_, 8u);
}

TEST_F(Npy, ReferencesOfAnotherShapeAreRefusedWhateverTheirType) {
  write("<f4", "(4,)", 16);
  TypedData out;
  std::string error;
  const Shape flat{4}, square{2, 2};
  EXPECT_TRUE(read_reference(path_, NRT_DTYPE_BFLOAT16, &flat, &out, &error)) << error;
  EXPECT_FALSE(read_reference(path_, NRT_DTYPE_BFLOAT16, &square, &out, &error));
  EXPECT_THAT(error, HasSubstr("the shape is (4,), the tensor's is (2, 2)"));
  EXPECT_TRUE(read_reference(path_, NRT_DTYPE_BFLOAT16, nullptr, &out, &error)) << error;
  write("<f2", "(4,)", 8);
  EXPECT_FALSE(read_reference(path_, NRT_DTYPE_BFLOAT16, &flat, &out, &error));
  EXPECT_THAT(error, HasSubstr("the tensor is bfloat16"));
}

// A limit on the size of files is an error, not a signal.
TEST_F(Npy, FilesBeyondTheLimitOfTheProcessAreAnError) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{64 << 10, 64 << 10};
    setrlimit(RLIMIT_FSIZE, &limit);
    std::string error;
    const auto write = [&](std::uint32_t n) {
      return write_array(path_, NRT_DTYPE_UINT8, {n}, std::vector<std::byte>(n), &error);
    };
    if (!write(60 << 10)) _exit(1);
    if (write(64 << 10)) _exit(2);  // with its header
    _exit(error.find("File too large") != std::string::npos ? 0 : 3);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace opennrt::tools
