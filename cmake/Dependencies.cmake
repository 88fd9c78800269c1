# SPDX-License-Identifier: Apache-2.0
# Libraries of the distribution; packaging/quickstart.sh installs them.
find_package(Threads REQUIRED)
find_package(Poco REQUIRED COMPONENTS Foundation Util)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(simdjson REQUIRED)
find_package(ZLIB REQUIRED)
find_program(OPENNRT_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH REQUIRED
             DOC "Python with PyYAML, for generated tables")
if(OPENNRT_TESTS)
  find_package(GTest REQUIRED)
endif()

# fmt and spdlog header-only and hidden, so that no symbol of theirs is shared
# with the process we are loaded into.
add_library(opennrt_fmt INTERFACE)
target_link_libraries(opennrt_fmt INTERFACE fmt::fmt-header-only)

# libarchive as a static library: tar and gzip readers need zlib alone.
find_path(LIBARCHIVE_INCLUDE_DIR archive.h REQUIRED)
find_library(LIBARCHIVE_STATIC NAMES libarchive.a REQUIRED)
add_library(opennrt_archive INTERFACE)
target_include_directories(opennrt_archive SYSTEM INTERFACE ${LIBARCHIVE_INCLUDE_DIR})
target_link_libraries(opennrt_archive INTERFACE ${LIBARCHIVE_STATIC} ZLIB::ZLIB)
