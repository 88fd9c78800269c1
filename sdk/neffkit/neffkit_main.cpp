// SPDX-License-Identifier: Apache-2.0
//
// opennrt-neff: builds a NEFF from a source file; shows instruction streams.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "opennrt/neffkit/neffkit.h"

namespace {

using opennrt::isa::Generation;

constexpr const char* kUsage =
    "usage: opennrt-neff build SOURCE.yaml OUTPUT.neff\n"
    "       opennrt-neff disassemble TARGET STREAM.bin   (TARGET: sunda, cayman, mariana)\n";

bool read_file(const char* path, std::string* out) {
  std::ifstream in(path, std::ios::binary);
  out->assign(std::istreambuf_iterator<char>(in), {});
  if (!in.is_open() || in.bad()) {
    std::fprintf(stderr, "opennrt-neff: cannot read %s: %s\n", path, std::strerror(errno));
    return false;
  }
  return true;
}

int build(const char* source, const char* output) {
  std::string text;
  if (!read_file(source, &text)) return 1;
  std::vector<std::uint8_t> neff;
  std::string error;
  if (!opennrt::neffkit::build_neff(text, source, &neff, &error)) {
    std::fprintf(stderr, "%s\n", error.c_str());
    return 1;
  }
  std::ofstream out(output, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(neff.data()), static_cast<std::streamsize>(neff.size()));
  out.close();
  if (!out) {
    std::fprintf(stderr, "opennrt-neff: cannot write %s: %s\n", output, std::strerror(errno));
    return 1;
  }
  return 0;
}

int disassemble(Generation target, const char* path) {
  std::string stream;
  if (!read_file(path, &stream)) return 1;
  opennrt::isa::RecordBytes record{};
  for (std::size_t at = 0; at + record.size() <= stream.size(); at += record.size()) {
    std::memcpy(record.data(), stream.data() + at, record.size());
    std::printf("%s\n", opennrt::isa::disassemble(record, target).c_str());
  }
  if (stream.size() % record.size() != 0) {
    std::fprintf(stderr, "opennrt-neff: %s ends inside a record: %zu bytes are no multiple of 64\n",
                 path, stream.size());
    return 1;
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "build") == 0) return build(argv[2], argv[3]);
  if (argc == 4 && std::strcmp(argv[1], "disassemble") == 0) {
    if (const auto target = opennrt::isa::find_generation(argv[2])) {
      return disassemble(*target, argv[3]);
    }
  }
  const bool help = argc == 2 && std::strcmp(argv[1], "--help") == 0;
  std::fputs(kUsage, help ? stdout : stderr);
  return help ? 0 : 2;
}
