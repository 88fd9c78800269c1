// SPDX-License-Identifier: Apache-2.0
#include <errno.h>

#include <array>
#include <cstring>

#include "nrt/nrt_experimental.h"
#include "support/neff_builder.h"
#include "table.h"

namespace opennrt::status_table {
namespace {

const std::vector<char>& vecadd() {
  static const std::vector<char>* const neff =
      new std::vector<char>(file_bytes(neff_path("vecadd")));
  return *neff;
}

int load(const void* bytes, std::size_t size, int vnc, int count) {
  nrt_model_t* model = nullptr;
  const NRT_STATUS status = nrt_load(bytes, size, vnc, count, &model);
  if (status == NRT_SUCCESS) nrt_unload(model);
  return status;
}

int load_collectives(std::uint32_t id, std::uint32_t ranks) {
  nrt_model_t* model = nullptr;
  const NRT_STATUS status =
      nrt_load_collectives(vecadd().data(), vecadd().size(), 0, 1, id, ranks, &model);
  if (status == NRT_SUCCESS) nrt_unload(model);
  return status;
}

int load_sample(const testing::NeffBuilder& sample) {
  const std::string neff = sample.build();
  return load(neff.data(), neff.size(), 0, 1);
}

const std::array kProbes = {
    Probe{"nrt_load", Guard::kFull,
          [](Objects&) { return load(vecadd().data(), vecadd().size(), 0, 1); }},
    Probe{"nrt_load_collectives", Guard::kFull, [](Objects&) { return load_collectives(0, 1); }},
    Probe{"nrt_unload", Guard::kFull,
          [](Objects&) -> int {
            nrt_model_t* model = nullptr;
            nrt_load(vecadd().data(), vecadd().size(), 0, 1, &model);
            return nrt_unload(model);
          }},
    Probe{"nrt_get_model_info", Guard::kFull,
          [](Objects& o) -> int {
            nrt_model_info_t info;
            std::size_t n = 0;
            return nrt_get_model_info(o.model, &info, sizeof info, &n);
          }},
    Probe{"nrt_get_model_tensor_info", Guard::kFull,
          [](Objects& o) -> int {
            nrt_tensor_info_array_t* info = nullptr;
            const NRT_STATUS status = nrt_get_model_tensor_info(o.model, &info);
            if (status == NRT_SUCCESS) nrt_free_model_tensor_info(info);
            return status;
          }},
    Probe{"nrt_free_model_tensor_info", Guard::kFull,
          [](Objects& o) -> int {
            nrt_tensor_info_array_t* info = nullptr;
            nrt_get_model_tensor_info(o.model, &info);
            return nrt_free_model_tensor_info(info);
          }},
    Probe{"nrt_get_model_vnc_count",
          Guard::kNone,
          [](Objects& o) -> int {
            std::uint32_t n = 0;
            return nrt_get_model_vnc_count(o.model, &n);
          },
          {0},
          {},
          {NRT_INVALID}},
    Probe{"nrt_get_model_nc_count",
          Guard::kNone,
          [](Objects& o) -> int {
            std::uint32_t n = 0;
            return nrt_get_model_nc_count(o.model, &n);
          },
          {0},
          {},
          {NRT_INVALID}},
    Probe{"nrt_get_model_instance_count",
          Guard::kNone,
          [](Objects& o) -> int {
            std::uint32_t n = 0;
            return nrt_get_model_instance_count(o.model, &n);
          },
          {0},
          {},
          {NRT_INVALID}},
};

void loads(Report& r) {
  start(r);
  const char* const f = "nrt_load";
  const void* const bytes = vecadd().data();
  const std::size_t size = vecadd().size();
  nrt_model_t* model = nullptr;
  r.null(f, 0, {NRT_INVALID}, load(nullptr, size, 0, 1));
  r.null(f, 4, {NRT_INVALID}, nrt_load(bytes, size, 0, 1, nullptr));
  r.call(f, {NRT_INVALID}, "size 0", load(bytes, 0, 0, 1));
  r.call(f, {NRT_INVALID}, "half of a file", load(bytes, size / 2, 0, 1));
  r.call(f, {NRT_INVALID}, "no model", load("x", 1, 0, 1));
  for (const int vnc : {2, -2, 1 << 30})
    r.call(f, {NRT_INVALID}, "logical core " + std::to_string(vnc), load(bytes, size, vnc, 1));
  for (const int n : {0, 2, -2})
    r.call(f, {NRT_INVALID}, "vnc_count " + std::to_string(n), load(bytes, size, 0, n));
  r.call(f, {NRT_SUCCESS}, "vnc_count -1", load(bytes, size, 0, -1));
  r.call(f, {NRT_SUCCESS}, "logical core -1", load(bytes, size, -1, 1));
  testing::NeffBuilder sample = testing::sample_neff();
  sample.version_major = 99;
  r.call(f, {NRT_UNSUPPORTED_NEFF_VERSION}, "version 99", load_sample(sample));
  sample = testing::sample_neff();
  sample.version_major = 2;
  sample.feature_bits = 1ull << 62;
  r.call(f, {NRT_UNSUPPORTED_NEFF_VERSION}, "unknown feature", load_sample(sample));
  r.call(f, {NRT_INVALID}, "built for other silicon", load_sample(testing::sample_neff("cayman")));
  r.call(f, {NRT_INVALID}, "two cores per logical core",
         load_sample(testing::sample_neff("sunda", 2)));
  faults().fail("MEM_ALLOC", ENOMEM, 0);
  r.call(f, {NRT_RESOURCE}, "device memory exhausted", load(bytes, size, 0, 1));
  r.call("nrt_load_collectives", {NRT_RESOURCE}, "device memory exhausted", load_collectives(0, 1));
  faults().clear();
  if (NoMemory::possible()) {
    r.call(f, {NRT_RESOURCE}, "host memory exhausted",
           OPENNRT_WITHOUT_MEMORY(nrt_load(bytes, size, 0, 1, &model)));
    r.call("nrt_load_collectives", {NRT_RESOURCE}, "host memory exhausted",
           OPENNRT_WITHOUT_MEMORY(nrt_load_collectives(bytes, size, 0, 1, 0, 1, &model)));
  }
  r.call(f, {NRT_SUCCESS}, "after failures", load(bytes, size, 0, 1));
  nrt_close();
  setenv("NEURON_RT_VISIBLE_CORES", "0", 1);
  start(r);
  r.call(f, {NRT_LOAD_NOT_ENOUGH_NC}, "two cores needed, one visible",
         load_sample(testing::sample_neff("sunda", 2)));
  nrt_close();
  unsetenv("NEURON_RT_VISIBLE_CORES");
}

void loads_of_ranks(Report& r) {
  start(r);
  const char* const f = "nrt_load_collectives";
  const void* const bytes = vecadd().data();
  const std::size_t size = vecadd().size();
  nrt_model_t* model = nullptr;
  r.null(f, 0, {NRT_INVALID}, nrt_load_collectives(nullptr, size, 0, 1, 0, 1, &model));
  r.null(f, 6, {NRT_INVALID}, nrt_load_collectives(bytes, size, 0, 1, 0, 1, nullptr));
  r.call(f, {NRT_INVALID}, "size 0", nrt_load_collectives(bytes, 0, 0, 1, 0, 1, &model));
  r.call(f, {NRT_INVALID}, "logical core 9", nrt_load_collectives(bytes, size, 9, 1, 0, 1, &model));
  r.call(f, {NRT_INVALID}, "rank 1 of 1", load_collectives(1, 1));
  r.call(f, {NRT_INVALID}, "no ranks", load_collectives(0, 0));
  r.call(f, {NRT_FAILURE}, "ranks that do not meet", load_collectives(0, 2));
  testing::NeffBuilder sample = testing::sample_neff();
  sample.version_major = 99;
  const std::string neff = sample.build();
  r.call(f, {NRT_UNSUPPORTED_NEFF_VERSION}, "version 99",
         nrt_load_collectives(neff.data(), neff.size(), 0, 1, 0, 1, &model));
  nrt_close();
  setenv("NEURON_RT_VISIBLE_CORES", "0", 1);
  start(r);
  const std::string two = testing::sample_neff("sunda", 2).build();
  r.call(f, {NRT_LOAD_NOT_ENOUGH_NC}, "two cores needed, one visible",
         nrt_load_collectives(two.data(), two.size(), 0, 1, 0, 1, &model));
  nrt_close();
}

void models(Report& r) {
  start(r);
  nrt_model_t* const model = load_vecadd(r);
  nrt_model_info_t info;
  std::size_t n = 0;
  nrt_tensor_info_array_t* tensors = nullptr;
  r.null("nrt_get_model_info", 0, {NRT_INVALID}, nrt_get_model_info(nullptr, &info, 4, &n));
  r.null("nrt_get_model_info", 1, {NRT_INVALID}, nrt_get_model_info(model, nullptr, 4, &n));
  r.null("nrt_get_model_info", 3, {NRT_INVALID}, nrt_get_model_info(model, &info, 4, nullptr));
  r.null("nrt_get_model_tensor_info", 0, {NRT_INVALID},
         nrt_get_model_tensor_info(nullptr, &tensors));
  r.null("nrt_get_model_tensor_info", 1, {NRT_INVALID}, nrt_get_model_tensor_info(model, nullptr));
  r.null("nrt_free_model_tensor_info", 0, {NRT_SUCCESS}, nrt_free_model_tensor_info(nullptr));
  if (NoMemory::possible())
    r.call("nrt_get_model_tensor_info", {NRT_RESOURCE}, "host memory exhausted",
           OPENNRT_WITHOUT_MEMORY(nrt_get_model_tensor_info(model, &tensors)));
  std::uint32_t count = 0;
  r.null("nrt_get_model_vnc_count", 0, {NRT_INVALID}, nrt_get_model_vnc_count(nullptr, &count));
  r.null("nrt_get_model_vnc_count", 1, {NRT_INVALID}, nrt_get_model_vnc_count(model, nullptr));
  r.null("nrt_get_model_nc_count", 0, {NRT_INVALID}, nrt_get_model_nc_count(nullptr, &count));
  r.null("nrt_get_model_nc_count", 1, {NRT_INVALID}, nrt_get_model_nc_count(model, nullptr));
  r.null("nrt_get_model_instance_count", 0, {NRT_INVALID},
         nrt_get_model_instance_count(nullptr, &count));
  r.null("nrt_get_model_instance_count", 1, {NRT_INVALID},
         nrt_get_model_instance_count(model, nullptr));
  r.null("nrt_unload", 0, {NRT_INVALID}, nrt_unload(nullptr));
  r.call("nrt_unload", {NRT_SUCCESS}, "loaded", nrt_unload(model));
  r.call("nrt_unload", {NRT_INVALID_HANDLE}, "unloaded", nrt_unload(model));
  r.call("nrt_get_model_info", {NRT_INVALID_HANDLE}, "unloaded",
         nrt_get_model_info(model, &info, 4, &n));
  r.call("nrt_get_model_tensor_info", {NRT_INVALID_HANDLE}, "unloaded",
         nrt_get_model_tensor_info(model, &tensors));
  int other = 0;  // no handle at all
  auto* const foreign = reinterpret_cast<nrt_model_t*>(&other);
  r.call("nrt_unload", {NRT_INVALID_HANDLE}, "foreign pointer", nrt_unload(foreign));
  r.call("nrt_get_model_info", {NRT_INVALID_HANDLE}, "foreign pointer",
         nrt_get_model_info(foreign, &info, 4, &n));
  nrt_close();
}

constexpr std::array kScenes = {Scene{"nrt_load", loads},
                                Scene{"nrt_load_collectives", loads_of_ranks},
                                Scene{"models", models}};

}  // namespace

std::span<const Probe> models_probes() { return kProbes; }
std::span<const Scene> models_scenes() { return kScenes; }

}  // namespace opennrt::status_table
