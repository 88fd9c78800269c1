// SPDX-License-Identifier: Apache-2.0
//
// Compiled models of the corpus as bases: read where they are when the program
// runs, never stored.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "neff/container.h"
#include "program_case.h"

namespace opennrt::fuzz {
namespace {

struct Model {
  const char* file;
  const char* target;
  unsigned cores;
};
// Small ones of every kind: an execution takes well under a second.
constexpr Model kModels[] = {
    {"vecadd_1tile_sunda", "sunda", 1},        {"vecadd_2tiles_sunda_c", "sunda", 1},
    {"vecadd_1tile_cayman", "cayman", 2},      {"matmul_f16_128x256x128_cayman", "cayman", 2},
    {"transpose1024_cayman_act", "cayman", 2}, {"attention_f32_s512_cayman_base", "cayman", 2},
};

const Platform* find_platform(const Model& model, std::uint32_t lnc) {
  for (const Platform& platform : platforms())
    if (std::string_view(platform.target) == model.target && platform.cores == lnc)
      return &platform;
  return nullptr;
}

bool read_model(const Model& model, const std::string& path, Base& base) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto bytes = testing::as_bytes(text);
  const auto header = neff::read_header(bytes);
  if (!header) return false;
  const auto members =
      neff::unpack(*header, bytes.subspan(neff::kHeaderBytes, header->data_size), 0);
  if (!members) return false;
  members->for_each([&](std::string_view name, const neff::Member& member, bool) {
    if (name.ends_with(".dbg") || name.ends_with(".hlo") || name.ends_with(".pb")) return;
    base.neff.members[std::string(name)] = {reinterpret_cast<const char*>(member.bytes().data()),
                                            member.bytes().size()};
  });
  base.name = model.file;
  base.from_corpus = true;
  base.neff.version_major = header->version_major;
  base.neff.version_minor = header->version_minor;
  base.neff.feature_bits = header->feature_bits;
  base.neff.lnc_size = header->lnc_size;
  const bool bound = (header->feature_bits & neff::kFeatureVnc) != 0;
  base.platform = find_platform(model, bound ? header->lnc_size : model.cores);
  return base.platform != nullptr;
}

}  // namespace

void add_corpus(std::vector<Base>& bases) {
  const std::string folder = std::getenv("OPENNRT_CORPUS");
  for (const Model& model : kModels) {
    Base base;
    if (!read_model(model, folder + "/" + model.file + ".neff", base)) {
      std::fprintf(stderr, "fuzz_program: %s not used\n", model.file);
      continue;
    }
    sort_members(base);
    bases.push_back(std::move(base));
  }
}

}  // namespace opennrt::fuzz
