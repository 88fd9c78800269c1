// SPDX-License-Identifier: Apache-2.0
//
// What emulator.inspect asks for, as text and in parts. Depends on nothing, so
// that tools can check what they pass on.
//
//   break  [sgNN/]ENGINE:RECORD[@EXECUTION[.PASS]]
//          after record RECORD (from 1, as `opennrt neff disasm` counts) of the
//          engine's stream in subgraph NN (default 0); in the EXECUTION-th run of
//          the loaded model (default 1) the PASS-th time it is reached (default 1)
//   dump   sbuf:PARTITIONS:BYTES:DTYPE   psum:PARTITIONS:BYTES:DTYPE
//          var:NAME[:DTYPE]              hbm:ADDRESS:BYTES[:DTYPE]
//          PARTITIONS, BYTES of sbuf and psum: N, FIRST-LAST or FIRST+COUNT;
//          BYTES of hbm: a count. Without DTYPE: the type of an input or output, if
//          it is in the list, else uint8.
//   item   "BREAK DUMP FILE", in each word %XX for ' ', ',' and '%'
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace opennrt::emu {

struct Breakpoint {
  std::uint32_t subgraph = 0, engine = 0;
  std::uint32_t record = 0;  // from 1
  std::uint32_t execution = 1, pass = 1;
};

struct DumpType {
  const char* name;   // "float32"
  const char* numpy;  // "<f4"; NumPy has no bfloat16: "<V2"
  std::uint32_t bytes;
};
const DumpType* find_dump_type(std::string_view name);

struct Dump {
  enum class Space : std::uint8_t { kSbuf, kPsum, kVariable, kHbm };
  Space space = Space::kSbuf;
  std::uint32_t first_partition = 0, partitions = 1;
  std::uint64_t first_byte = 0;  // of a partition; kHbm: device address
  std::uint64_t bytes = 0;       // of a partition; kVariable: 0, all of it
  std::string variable;
  const DumpType* type = nullptr;
  bool type_given = false;
};

struct InspectItem {
  Breakpoint at;
  Dump what;
  std::string at_text, what_text;
  std::string file;  // name inside the directory; raw unless it ends in .npy
};

// False: *error names what is wrong and what is expected.
bool parse_break(std::string_view text, Breakpoint* out, std::string* error);
bool parse_dump(std::string_view text, Dump* out, std::string* error);
bool parse_item(std::string_view text, InspectItem* out, std::string* error);
// Items separated by commas; empty ones are skipped.
bool parse_inspect(std::string_view text, std::vector<InspectItem>* out, std::string* error);

// The item as parse_item reads it.
std::string inspect_item(const std::string& at, const std::string& what, const std::string& file);

// Header of a .npy file of this shape (format version 1).
std::string npy_header(const DumpType& type, const std::vector<std::uint64_t>& shape);

}  // namespace opennrt::emu
