# SPDX-License-Identifier: Apache-2.0
# Build conventions: flags, layers, plugins, tests.
include(GNUInstallDirs)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# Build tree = tarball layout: libnrt.so.1 with plugins/ beside it.
set(OPENNRT_LIB_DIR ${CMAKE_BINARY_DIR}/lib)
set(OPENNRT_PLUGIN_DIR ${OPENNRT_LIB_DIR}/plugins)
set(OPENNRT_BIN_DIR ${CMAKE_BINARY_DIR}/bin)

find_program(CCACHE ccache)
if(CCACHE)
  set(launcher ${CCACHE})
  if(NOT DEFINED ENV{CCACHE_SLOPPINESS})  # without it nothing that reads compiled headers is kept
    set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  endif()
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

add_library(opennrt_flags INTERFACE)
target_compile_options(opennrt_flags INTERFACE -Wall -Wextra -Wshadow
                       $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor> -Wno-unused-parameter)
target_compile_options(opennrt_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wold-style-cast>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # libnrt must not make STB_GNU_UNIQUE symbols: they would survive dlclose of
  # a host and clash between copies.
  target_compile_options(opennrt_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fno-gnu-unique>)
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # GCC bug 105651: a literal plus a std::string, inlined, warns of overlap.
    target_compile_options(opennrt_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
  endif()
endif()
if(OPENNRT_WERROR)
  target_compile_options(opennrt_flags INTERFACE -Werror)
endif()

set(OPENNRT_BUILD_SAN none)
if(OPENNRT_SANITIZE STREQUAL "asan")
  set(_san -fsanitize=address)
  set(OPENNRT_BUILD_SAN asan)
elseif(OPENNRT_SANITIZE STREQUAL "ubsan")
  set(_san -fsanitize=undefined -fno-sanitize-recover=undefined)
  set(OPENNRT_BUILD_SAN ubsan)
elseif(OPENNRT_SANITIZE STREQUAL "asan+ubsan")
  set(_san -fsanitize=address,undefined -fno-sanitize-recover=undefined)
  set(OPENNRT_BUILD_SAN asan)
elseif(OPENNRT_SANITIZE STREQUAL "tsan")
  set(_san -fsanitize=thread)
  set(OPENNRT_BUILD_SAN tsan)
elseif(NOT OPENNRT_SANITIZE STREQUAL "none")
  message(FATAL_ERROR "OPENNRT_SANITIZE=${OPENNRT_SANITIZE}: use none, asan, ubsan, asan+ubsan or tsan")
endif()
if(OPENNRT_SANITIZE STREQUAL "none")
  set(OPENNRT_LINK_DEFS -Wl,-z,defs)  # the sanitizer runtimes live in the executable
else()
  set(OPENNRT_LINK_DEFS "")
  # Reports need lines, not types, which cost a quarter of the compile time.
  add_compile_options(${_san} -fno-omit-frame-pointer
    $<IF:$<CXX_COMPILER_ID:Clang>,-gline-tables-only,-g1>)
  add_link_options(${_san})
endif()
if(OPENNRT_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)  # coverage for the fuzz targets
endif()
target_compile_definitions(opennrt_flags INTERFACE
  OPENNRT_VERSION="${PROJECT_VERSION}" OPENNRT_BUILD_SAN="${OPENNRT_BUILD_SAN}" NRTP_BUILD_SAN="${OPENNRT_BUILD_SAN}")

# Directory links beside the tests and tools need no installed libraries.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

# All that a program needs at run time, with the tool and the examples: no tests.
add_custom_target(opennrt_runtime)

# opennrt_layer(NAME SOURCES a.cpp... [DEPS targets...])
# One static library per layer of core/; links only downward (PRIVATE).
function(opennrt_layer name)
  cmake_parse_arguments(A "" "" "SOURCES;DEPS" ${ARGN})
  add_library(opennrt_${name} STATIC ${A_SOURCES})
  target_include_directories(opennrt_${name} PUBLIC ${PROJECT_SOURCE_DIR}/core
    ${PROJECT_SOURCE_DIR}/core/include ${PROJECT_SOURCE_DIR}/sdk/include)
  target_link_libraries(opennrt_${name} PRIVATE opennrt_flags ${A_DEPS})
endfunction()

add_custom_target(opennrt_plugins)

# opennrt_plugin(NAME SOURCES ... [DEPS ...] ENTRY symbol MANIFEST file)
# A module in lib/plugins/ that exports exactly its query symbol, with its manifest.
# COMPONENT: the package it is in, else plugin-NAME.
function(opennrt_plugin name)
  cmake_parse_arguments(A "" "ENTRY;MANIFEST;COMPONENT" "SOURCES;DEPS" ${ARGN})
  if(NOT A_COMPONENT)
    set(A_COMPONENT plugin-${name})
  endif()
  set(target opennrt_plugin_${name})
  add_library(${target} MODULE ${A_SOURCES})
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME "opennrt-${name}"
    LIBRARY_OUTPUT_DIRECTORY ${OPENNRT_PLUGIN_DIR})
  set(script ${CMAKE_CURRENT_BINARY_DIR}/${name}.map)
  file(CONFIGURE OUTPUT ${script} CONTENT "{ global: @A_ENTRY@; local: *; };\n" @ONLY)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/sdk/include
    ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE opennrt_flags ${A_DEPS})
  add_dependencies(opennrt_runtime ${target})
  target_link_options(${target} PRIVATE ${OPENNRT_LINK_DEFS} -Wl,-z,now -Wl,--exclude-libs,ALL
    -Wl,--version-script=${script})
  add_dependencies(opennrt_plugins ${target})
  configure_file(${A_MANIFEST} ${OPENNRT_PLUGIN_DIR}/${name}.plugin.yaml @ONLY)
  install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/opennrt/plugins
          COMPONENT ${A_COMPONENT})
  install(FILES ${OPENNRT_PLUGIN_DIR}/${name}.plugin.yaml
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/opennrt/plugins COMPONENT ${A_COMPONENT})
endfunction()

# Poco's users define what features.h then redefines, and clang wants to have known
# that when it compiled the headers. gcc wants the opposite.
function(opennrt_with_definitions_of_poco target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_definitions(${target} PRIVATE
      $<TARGET_PROPERTY:Poco::Foundation,INTERFACE_COMPILE_DEFINITIONS>)
  endif()
endfunction()

# The headers that every test reads, compiled once. An executable, because the
# code of executables is compiled otherwise than that of libraries.
function(opennrt_tests_headers)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/tests_headers.cpp CONTENT "int main() {}\n")
  add_executable(tests_headers ${CMAKE_BINARY_DIR}/tests_headers.cpp)
  target_link_libraries(tests_headers PRIVATE opennrt_flags GTest::gmock)
  opennrt_with_definitions_of_poco(tests_headers)
  target_compile_options(tests_headers PRIVATE ${OPENNRT_TEST_OPTIONS})
  target_precompile_headers(tests_headers PRIVATE <gmock/gmock.h> <gtest/gtest.h> <algorithm>
    <chrono> <filesystem> <fstream> <functional> <map> <memory> <mutex> <string> <thread> <vector>)
endfunction()

# What is tested is optimised, its tests need not be. Definitions of a library
# that a test links may forbid the compiled headers; they are read then.
set(OPENNRT_TEST_OPTIONS $<$<CONFIG:Release>:-O0>)
set(CMAKE_PCH_WARN_INVALID OFF)

# opennrt_test(NAME LABELS label... SOURCES ... [DEPS ...] [ARGS ...] [TIMEOUT s])
function(opennrt_test name)
  cmake_parse_arguments(A "" "TIMEOUT" "SOURCES;DEPS;LABELS;ARGS;ENV" ${ARGN})
  add_executable(${name} ${A_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests
    ${PROJECT_SOURCE_DIR}/core ${PROJECT_SOURCE_DIR}/core/include ${PROJECT_SOURCE_DIR}/sdk/include)
  target_link_libraries(${name} PRIVATE opennrt_flags ${A_DEPS} GTest::gmock GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${OPENNRT_BIN_DIR}/tests)
  if(NOT "corpus" IN_LIST A_LABELS)  # those evaluate whole models in double precision
    target_compile_options(${name} PRIVATE ${OPENNRT_TEST_OPTIONS})
    if(NOT TARGET tests_headers)
      opennrt_tests_headers()
    endif()
    target_precompile_headers(${name} REUSE_FROM tests_headers)
  endif()
  add_test(NAME ${name} COMMAND ${name} ${A_ARGS})
  foreach(label ${A_LABELS})  # tests_<label> builds what the label needs
    if(NOT TARGET tests_${label})
      add_custom_target(tests_${label})
      add_dependencies(tests_${label} opennrt_plugins opennrt_examples)
    endif()
    add_dependencies(tests_${label} ${name})
  endforeach()
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT 300)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${A_LABELS}" TIMEOUT ${A_TIMEOUT}
    ENVIRONMENT "${A_ENV}")
endfunction()

# The standard headers, read once for all libraries of DIRECTORY and below it that
# have no headers of their own. Not in the presets for development, where a missing
# #include is to be noticed, and not with gcc, which then warns of these headers.
function(opennrt_precompile directory)
  if(NOT TARGET libraries_headers)
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/libraries_headers.cpp CONTENT "\n")
    add_library(libraries_headers OBJECT ${CMAKE_BINARY_DIR}/libraries_headers.cpp)
    target_link_libraries(libraries_headers PRIVATE opennrt_flags opennrt_fmt)
    opennrt_with_definitions_of_poco(libraries_headers)
    target_precompile_headers(libraries_headers PRIVATE <algorithm> <array> <atomic> <chrono>
      <condition_variable> <filesystem> <fstream> <functional> <map> <memory> <mutex> <optional>
      <set> <sstream> <string> <thread> <unordered_map> <vector> <fmt/format.h>)
  endif()
  get_property(targets DIRECTORY ${directory} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target ${targets})
    get_target_property(type ${target} TYPE)
    get_target_property(sources ${target} SOURCES)
    get_target_property(own ${target} PRECOMPILE_HEADERS)
    if(NOT own AND type MATCHES "^(STATIC|SHARED|MODULE|OBJECT)_LIBRARY$" AND sources MATCHES "\\.cpp(;|$)")
      target_precompile_headers(${target} REUSE_FROM libraries_headers)
    endif()
  endforeach()
  get_property(below DIRECTORY ${directory} PROPERTY SUBDIRECTORIES)
  foreach(subdirectory ${below})
    opennrt_precompile(${subdirectory})
  endforeach()
endfunction()
