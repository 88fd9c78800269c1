// SPDX-License-Identifier: Apache-2.0
//
// Reads what the recording port wrote.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace opennrt::test {

struct RecordedCall {
  std::string call;  // "ioctl", "open", ..
  std::uint32_t argument = 0;
  std::int64_t result = 0;
};

// The calls after *seen bytes of the file; *seen moves to its end.
inline std::vector<RecordedCall> read_recording(const std::string& path, std::streamoff* seen) {
  std::vector<RecordedCall> calls;
  std::ifstream file(path);
  if (!file) return calls;  // nothing yet
  file.seekg(*seen);
  RecordedCall one;
  while (file >> one.call >> one.argument >> one.result) calls.push_back(one);
  file.clear();
  file.seekg(0, std::ios::end);
  *seen = file.tellg();
  return calls;
}

}  // namespace opennrt::test
