# SPDX-License-Identifier: Apache-2.0
# Libraries of the distribution; packaging/quickstart.sh installs them.
find_package(Threads REQUIRED)
find_package(Poco REQUIRED COMPONENTS Foundation Net Util)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(simdjson REQUIRED)
find_package(ZLIB REQUIRED)
find_program(OPENNRT_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED
             DOC "Python with PyYAML, for generated tables")
find_package(GTest REQUIRED)  # of the conformance kit, too

# yaml-cpp inside libnrt: static and hidden where that links, so that another
# yaml-cpp in the process cannot take its place. The distribution's archive is
# position independent except for references to C++ library data, hence
# opennrt_static_cxx. Sanitizers need the shared C++ library.
find_library(YAML_CPP_STATIC NAMES libyaml-cpp.a)
add_library(opennrt_yaml INTERFACE)
add_library(opennrt_static_cxx INTERFACE)
if(YAML_CPP_STATIC AND OPENNRT_SANITIZE STREQUAL "none" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_link_libraries(opennrt_yaml INTERFACE ${YAML_CPP_STATIC})
  target_link_options(opennrt_static_cxx INTERFACE -static-libstdc++ -static-libgcc)
  target_sources(opennrt_static_cxx INTERFACE ${PROJECT_SOURCE_DIR}/core/base/single_threaded.c)
else()
  target_link_libraries(opennrt_yaml INTERFACE yaml-cpp)
endif()

# Digests of the NEFF container.
find_path(LIBMD_INCLUDE_DIR md5.h REQUIRED)
find_library(LIBMD_STATIC NAMES libmd.a REQUIRED)
add_library(opennrt_md INTERFACE)
target_include_directories(opennrt_md SYSTEM INTERFACE ${LIBMD_INCLUDE_DIR})
target_link_libraries(opennrt_md INTERFACE ${LIBMD_STATIC})

# fmt compiled into us and hidden, so that no symbol of it is shared with the
# process we are loaded into.
get_target_property(FMT_INCLUDE_DIRS fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
add_library(opennrt_fmt STATIC ${PROJECT_SOURCE_DIR}/core/base/fmt.cpp)
target_include_directories(opennrt_fmt SYSTEM PUBLIC ${FMT_INCLUDE_DIRS})

# libarchive as a static library: tar and gzip readers need zlib alone.
find_path(LIBARCHIVE_INCLUDE_DIR archive.h REQUIRED)
find_library(LIBARCHIVE_STATIC NAMES libarchive.a REQUIRED)
add_library(opennrt_archive INTERFACE)
target_include_directories(opennrt_archive SYSTEM INTERFACE ${LIBARCHIVE_INCLUDE_DIR})
target_link_libraries(opennrt_archive INTERFACE ${LIBARCHIVE_STATIC} ZLIB::ZLIB)
