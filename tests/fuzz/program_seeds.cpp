// SPDX-License-Identifier: Apache-2.0
//
// The programs that edits start from: one per silicon and family of
// instructions, with almost every form of transfer.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "opennrt/isa/codec.h"
#include "program_case.h"

namespace opennrt::fuzz {
namespace {

using isa::Generation;

constexpr Platform kPlatformTable[] = {
    {"sunda", "trn1.2xlarge", 1, Generation::kSunda},
    {"cayman", "trn2.3xlarge", 1, Generation::kCayman},
    {"cayman", "trn2.3xlarge", 2, Generation::kCayman},
    {"mariana", "trn3-gen2-server", 2, Generation::kMariana},
};

constexpr std::uint8_t kAll = 7, kSunda = 1, kFromCayman = 6, kMariana = 4;
constexpr std::uint8_t kPe = 0, kAct = 1, kPool = 2, kDve = 3, kSp = 4;

// One valid record; the group says in which program it runs.
struct Line {
  const char* group;
  std::uint8_t engine, generations;
  const char* text;
};

constexpr Line kLines[] = {
#include "program_lines.inc"
};

std::string assemble(const char* text, Generation generation) {
  std::string error;
  const auto record = isa::assemble(text, generation, &error);
  if (!record) {
    std::fprintf(stderr, "fuzz_program: %s: %s\n", text, error.c_str());
    std::abort();
  }
  return {reinterpret_cast<const char*>(record->data()), record->size()};
}

// The sample is made for the loader; the device knows one ring instance of a
// queue set.
void make_runnable(testing::NeffBuilder& neff, bool sunda, unsigned cores) {
  for (unsigned core = 0; core < cores; ++core) {
    const std::string dir = fmt::format("sg{:02}/", core);
    std::string& pool = neff.members[dir + "Pool.json"];
    pool.replace(pool.find(R"(,
 {"id": 3)"),
                 std::string::npos, "]}");
    if (sunda) neff.replace(dir + "def.json", "dge-table", "list");
    neff.replace(dir + "SP.json",
                 R"("event": 20, "remote_semaphores": [33], "function_start": "f0")",
                 R"("semaphore": 10)");
    neff.replace(dir + "def.json", R"(,
    "queue_instances": ["qPoolIO0_a"])",
                 "");
  }
}

// Edits find programs by their number, which therefore must not depend on the
// machine: generated ones first.
void add_generated(std::vector<Base>& all) {
  std::vector<std::string> groups;
  for (const Line& line : kLines)
    if (groups.empty() || groups.back() != line.group) groups.push_back(line.group);
  for (const Platform& platform : platforms()) {
    for (const std::string& group : groups) {
      Base base;
      base.name = fmt::format("{}/lnc{}/{}", platform.target, platform.cores, group);
      base.platform = &platform;
      base.neff = testing::sample_neff(platform.target, platform.cores);
      make_runnable(base.neff, platform.generation == Generation::kSunda, platform.cores);
      bool any = false;
      for (unsigned core = 0; core < platform.cores; ++core) {
        const std::string dir = fmt::format("sg{:02}/", core);
        constexpr const char* kStreams[] = {"PE.bin", "Activation.bin", "Pool.bin", "DVE.bin",
                                            "SP.bin"};
        for (const Line& line : kLines) {
          if (line.group != group ||
              (line.generations & isa::generation_bit(platform.generation)) == 0)
            continue;
          any = true;
          base.neff.members[dir + kStreams[line.engine]] +=
              assemble(line.text, platform.generation);
        }
      }
      if (!any) continue;
      sort_members(base);
      all.push_back(std::move(base));
    }
  }
}

}  // namespace

std::span<const Platform> platforms() { return kPlatformTable; }

const std::vector<Example>& examples(Generation generation) {
  static const auto* const all = [] {
    auto* lists = new std::array<std::vector<Example>, isa::kGenerations>;
    for (unsigned g = 0; g < isa::kGenerations; ++g)
      for (const Line& line : kLines) {
        if ((line.generations >> g & 1) == 0) continue;
        Example& e = (*lists)[g].emplace_back();
        e.engine = line.engine;
        const std::string record = assemble(line.text, static_cast<Generation>(g));
        std::copy(record.begin(), record.end(), e.record.begin());
      }
    return lists;
  }();
  return (*all)[static_cast<unsigned>(generation)];
}

const std::vector<Base>& bases() {
  static const auto* const all = [] {
    auto* list = new std::vector<Base>;
    add_generated(*list);
    if (std::getenv("OPENNRT_CORPUS") != nullptr) add_corpus(*list);
    return list;
  }();
  return *all;
}

const Base& base_of(const Case& c) {
  const std::vector<Base>& all = bases();
  const auto corpus = std::ranges::find_if(all, is_corpus);
  const auto generated = static_cast<std::size_t>(corpus - all.begin());
  if (c.base < kFirstCorpusBase || corpus == all.end()) return all[c.base % generated];
  return all[generated + (c.base - kFirstCorpusBase) % (all.size() - generated)];
}

bool is_corpus(const Base& base) { return base.from_corpus; }

}  // namespace opennrt::fuzz
