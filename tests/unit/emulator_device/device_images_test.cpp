// SPDX-License-Identifier: Apache-2.0
//
// The records of images that ran on silicon, against the device's decoder: what
// the runtime writes itself must be executable without exception.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "bench.h"
#include "device/address_map.h"
#include "engine/decode.h"
#include "support/ntff.h"

namespace opennrt::emu::test {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> profiles() {
  const char* env = std::getenv("OPENNRT_CORPUS");
  const fs::path corpus = env ? env : OPENNRT_DEFAULT_CORPUS;
  std::vector<fs::path> found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(corpus, error))
    if (entry.path().extension() == ".ntff") found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  return found;
}

class DeviceImages : public Bench {
 protected:
  // Refusal texts by opcode over all images of the instance type.
  void decode_all(const std::string& instance, std::map<int, std::set<std::string>>* refused,
                  std::map<int, std::uint64_t>* seen) {
    const AddressMap map(arch_, product_, *memory_, product_->cores);
    for (const fs::path& path : profiles()) {
      std::ifstream in(path, std::ios::binary);
      const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
      opennrt::test::Ntff ntff;
      std::string error;
      ASSERT_TRUE(opennrt::test::read_ntff(
          {reinterpret_cast<const std::byte*>(bytes.data()), bytes.size()}, ntff, error))
          << path << ": " << error;
      if (ntff.instance_type.rfind(instance, 0) != 0) continue;
      for (const auto& subgraph : ntff.subgraphs)
        for (const auto& [engine, e] : subgraph.engines)
          for (std::size_t at = 0; at + isa::kRecordBytes <= e.image.size();
               at += isa::kRecordBytes) {
            Decoded d;
            std::memcpy(d.raw, e.image.data() + at, sizeof d.raw);
            std::string text;
            ++(*seen)[d.raw[0]];
            const auto generation =
                instance == "trn2" ? isa::Generation::kCayman : isa::Generation::kSunda;
            if (!decode_record({map, 0, static_cast<std::uint32_t>(engine), generation}, &d, &text))
              (*refused)[d.raw[0]].insert(text);
          }
    }
  }
};

TEST_F(DeviceImages, RuntimeRecordsAndVectorAddDecode) {
  if (profiles().empty()) GTEST_SKIP() << "no profiles; set OPENNRT_CORPUS to the corpus folder";
  for (const char* instance : {"trn1", "trn2"}) {
    std::map<int, std::set<std::string>> refused;
    std::map<int, std::uint64_t> seen;
    decode_all(instance, &refused, &seen);
    ASSERT_FALSE(seen.empty()) << instance;
    for (const int opcode :
         {0x23, 0xA0, 0xA1, 0xA2, 0xA4, 0xA5, 0xA6, 0xA9, 0xAA, 0xAB, 0xB1, 0xB8})
      EXPECT_EQ(refused[opcode], std::set<std::string>{}) << instance << " " << std::hex << opcode;
    for (const int opcode : {0xA0, 0xA2, 0xA4, 0xA5, 0xA6, 0xA9, 0xAA, 0xAB, 0xB1})
      EXPECT_GT(seen[opcode], 0u) << instance << " " << std::hex << opcode;
    EXPECT_EQ(refused[0x95], std::set<std::string>{}) << instance;
    EXPECT_EQ(refused[0xB0], std::set<std::string>{}) << instance;
    if (std::string(instance) == "trn2") {
      EXPECT_GT(seen[0xB8], 0u);
    }
    // Operands of other families may lie beyond sunda's partitions.
    if (std::string(instance) != "trn1") continue;
    for (const int opcode : {0x41, 0x46, 0x47, 0x49})
      EXPECT_EQ(refused[opcode], std::set<std::string>{}) << std::hex << opcode;
    for (const auto& [opcode, texts] : refused)
      for (const auto& text : texts)
        EXPECT_NE(text.find("not implemented by the software device"), std::string::npos)
            << std::hex << opcode << ": " << text;
  }
}

}  // namespace
}  // namespace opennrt::emu::test
