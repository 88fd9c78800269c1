// SPDX-License-Identifier: Apache-2.0
//
// Same-named symbols of libraries that the runtime uses internally. Loaded
// RTLD_GLOBAL before the runtime; whoever binds to them aborts.
#include <cstdlib>

#define CLASH(name)                                                                \
  extern "C" __attribute__((visibility("default"))) void name##_impl() asm(#name); \
  void name##_impl() { std::abort(); }

// yaml-cpp 0.7
CLASH(_ZN4YAML4LoadERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE)
CLASH(_ZN4YAML4LoadEPKc)
CLASH(_ZN4YAML8LoadFileERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE)
CLASH(_ZN4YAML6detail9node_data12mark_definedEv)
CLASH(_ZN4YAML6detail6memory11create_nodeEv)
CLASH(_ZN4YAML6detail13memory_holder5mergeERS1_)
// Poco 1.11
CLASH(_ZN4Poco9MD5EngineC1Ev)
CLASH(_ZN4Poco13SHA2Engine256C1Ev)
CLASH(_ZN4Poco4PathC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE)
CLASH(_ZN4Poco13SharedLibraryC1Ev)
// fmt 9
CLASH(
    _ZN3fmt2v97vformatB5cxx11ENS0_17basic_string_viewIcEENS0_17basic_format_argsINS0_20basic_format_contextINS0_8appenderEcEEEE)
CLASH(
    _ZN3fmt2v98vformat_toINS0_8appenderEEET_S3_NS0_17basic_string_viewIcEENS0_17basic_format_argsINS0_20basic_format_contextIS2_cEEEE)
// spdlog 1.10
CLASH(_ZN6spdlog6loggerD1Ev)
CLASH(_ZN6spdlog6logger8log_it_ERKNS_7details7log_msgEbb)
// CBLAS
CLASH(cblas_sgemm)
CLASH(cblas_dgemm)
// zlib and libarchive
CLASH(archive_read_new)
CLASH(MD5Init)
