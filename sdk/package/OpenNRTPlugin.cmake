# SPDX-License-Identifier: Apache-2.0
# For projects outside the source tree; loaded by find_package(OpenNRT).
include(GNUInstallDirs)

# opennrt_add_plugin(NAME KIND arch|ndl|port SOURCES ... MANIFEST file.in)
# The module NAME, which exports nothing but its query function, in
# <build>/plugins beside its manifest, and their installation among the runtime's
# own plugins, component plugin-NAME. The manifest may use @OPENNRT_PLUGIN_FILE@,
# @OPENNRT_PLUGIN_ABI@ and variables of the project.
function(opennrt_add_plugin name)
  cmake_parse_arguments(A "" "KIND;MANIFEST" "SOURCES" ${ARGN})
  if(NOT A_KIND MATCHES "^(arch|ndl|port)$")
    message(FATAL_ERROR "opennrt_add_plugin(${name}): KIND is '${A_KIND}', use arch, ndl or port")
  endif()
  set(OPENNRT_PLUGIN_FILE opennrt-${name}.so)
  set(OPENNRT_PLUGIN_ABI ${OpenNRT_PLUGIN_ABI_MAJOR}.0)
  set(script ${CMAKE_CURRENT_BINARY_DIR}/${name}.map)
  file(CONFIGURE OUTPUT ${script} CONTENT "{ global: nrtp_@A_KIND@_query; local: *; };\n" @ONLY)
  add_library(${name} MODULE ${A_SOURCES})
  set_target_properties(${name} PROPERTIES PREFIX "" OUTPUT_NAME opennrt-${name}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/plugins C_VISIBILITY_PRESET hidden
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_link_libraries(${name} PRIVATE OpenNRT::plugin)
  # Everything a plugin needs of its host arrives through the table.
  target_link_options(${name} PRIVATE -Wl,-z,defs -Wl,-z,now -Wl,--version-script=${script})
  configure_file(${A_MANIFEST} ${CMAKE_BINARY_DIR}/plugins/${name}.plugin.yaml @ONLY)
  install(TARGETS ${name} LIBRARY DESTINATION ${OpenNRT_PLUGIN_DESTINATION} COMPONENT plugin-${name})
  install(FILES ${CMAKE_BINARY_DIR}/plugins/${name}.plugin.yaml DESTINATION ${OpenNRT_PLUGIN_DESTINATION}
          COMPONENT plugin-${name})
endfunction()

# opennrt_add_model(NAME SOURCE file.yaml)
# Assembles <build>/NAME.neff with every build; its path is OPENNRT_MODEL_<NAME>.
function(opennrt_add_model name)
  cmake_parse_arguments(A "" "SOURCE" "" ${ARGN})
  get_filename_component(source ${A_SOURCE} ABSOLUTE)
  set(model ${CMAKE_CURRENT_BINARY_DIR}/${name}.neff)
  add_custom_command(OUTPUT ${model} COMMAND OpenNRT::opennrt-neff build ${source} ${model}
    DEPENDS ${source} COMMENT "Assembling ${name}.neff" VERBATIM)
  add_custom_target(${name}_model ALL DEPENDS ${model})
  set(OPENNRT_MODEL_${name} ${model} PARENT_SCOPE)
endfunction()

# opennrt_plugin_test(TEST... PRODUCT name)
# These tests run on the software device as that product, with the plugins of this
# build before the installed ones.
function(opennrt_plugin_test)
  cmake_parse_arguments(A "" "PRODUCT" "" ${ARGN})
  set_tests_properties(${A_UNPARSED_ARGUMENTS} PROPERTIES ENVIRONMENT
    "OPENNRT_PLUGIN_PATH=${CMAKE_BINARY_DIR}/plugins;OPENNRT_DEVICE=emulator;OPENNRT_EMULATOR_PRODUCT=${A_PRODUCT};OPENNRT_EMULATOR_HBM_BYTES=256M")
endfunction()
