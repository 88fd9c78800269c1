// SPDX-License-Identifier: Apache-2.0
#include "csr_regions.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "arch-common/udma.h"
#include "layout.h"

namespace opennrt::sunda {
namespace {

struct Window {
  std::uint64_t bar0 = 0, device = 0, bytes = 0;
  std::array<char, 24> name{};
};

// "prefix" + number + "suffix" + number; a number of -1 is left out.
constexpr std::array<char, 24> make_name(std::string_view prefix, int first,
                                         std::string_view suffix = "", int second = -1) {
  std::array<char, 24> out{};
  std::size_t n = 0;
  const auto text = [&](std::string_view s) {
    for (char c : s) out[n++] = c;
  };
  const auto number = [&](int value) {
    if (value < 0) return;
    if (value >= 10) out[n++] = static_cast<char>('0' + value / 10);
    out[n++] = static_cast<char>('0' + value % 10);
  };
  text(prefix);
  number(first);
  text(suffix);
  number(second);
  return out;
}

// Per core: tile, 16 engines with two windows each, tpb_top, tpb_csr, notific,
// broadcast, host engine with two windows. Then TopSPs (two windows), misc RAM.
constexpr std::size_t kWindows = kCores * (1 + 2 * kDmaPerCore + 6) + 2 * kTopsps + 1;

constexpr std::array<Window, kWindows> make_windows() {
  std::array<Window, kWindows> out{};
  std::size_t n = 0;
  const auto add = [&](std::uint64_t bar0, std::uint64_t device, std::uint64_t bytes,
                       std::array<char, 24> name) { out[n++] = {bar0, device, bytes, name}; };
  const auto add_apb = [&](std::uint64_t apb, std::uint64_t bytes, std::array<char, 24> name) {
    add(kApbBar0 + apb, kApbDevice + apb, bytes, name);
  };
  for (std::uint32_t c = 0; c < kCores; ++c) {
    const int core = static_cast<int>(c);
    const std::uint64_t base = c * kCoreApbStride;
    add(kTpbBar0 + c * kTpbStride, kTpbDevice + c * kTpbStride, kTpbStride, make_name("tpb", core));
    for (std::uint32_t j = 0; j < kDmaPerCore; ++j) {
      const int engine = static_cast<int>(c * kDmaPerCore + j);
      add_apb(base + j * kUdmaStride, kUdmaStride, make_name("udma", engine));
      add_apb(base + kSdmaApb + j * kSdmaStride, kSdmaStride, make_name("sdma", engine));
    }
    add_apb(base + kTpbTopApb, kTpbTopBytes, make_name("tpb", core, "_top"));
    add_apb(base + kTpbCsrApb, kTpbCsrBytes, make_name("tpb", core, "_csr"));
    add_apb(base + kTpbNotificApb, kTpbNotificBytes, make_name("tpb", core, "_notific"));
    add_apb(base + kBroadcastApb, arch_common::kUdmaWindowBytes,
            make_name("tpb", core, "_udma_broadcast"));
    const int host = static_cast<int>(kFirstHostEngine + c);
    add_apb(kHostUdmaApb[c], kUdmaStride, make_name("udma", host));
    add_apb(kHostSdmaApb[c], kSdmaStride, make_name("sdma", host));
  }
  for (std::uint32_t i = 0; i < kTopsps; ++i) {
    const int id = static_cast<int>(i);
    add(kTopspBar0 + i * kTopspStride, kTopspDevice + i * kTopspStride, kTopspStride,
        make_name("topsp", id));
    add_apb(kTopspApb + i * kTopspApbStride, kTopspApbStride, make_name("topsp", id, "_apb"));
  }
  add_apb(kMiscRamApb, kMiscRamBytes, make_name("misc_ram", -1));
  std::sort(out.begin(), out.end(),
            [](const Window& a, const Window& b) { return a.bar0 < b.bar0; });
  return out;
}

constexpr std::array<Window, kWindows> kWindowTable = make_windows();

constexpr bool disjoint() {
  for (std::size_t i = 1; i < kWindowTable.size(); ++i) {
    const Window& before = kWindowTable[i - 1];
    if (before.bar0 + before.bytes > kWindowTable[i].bar0) return false;
  }
  return true;
}
static_assert(disjoint());

constexpr std::array<nrtp_csr_region, kWindows> make_regions() {
  std::array<nrtp_csr_region, kWindows> out{};
  for (std::size_t i = 0; i < kWindows; ++i) {
    const Window& w = kWindowTable[i];
    out[i] = {w.bar0, w.device, w.bytes, w.name.data()};
  }
  return out;
}

constexpr std::array<nrtp_csr_region, kWindows> kRegions = make_regions();

}  // namespace

const nrtp_csr_region* csr_regions(const nrtp_product* product, std::uint32_t* out_n) {
  if (out_n == nullptr) return nullptr;
  *out_n = product != nullptr ? static_cast<std::uint32_t>(kRegions.size()) : 0;
  return product != nullptr ? kRegions.data() : nullptr;
}

}  // namespace opennrt::sunda
