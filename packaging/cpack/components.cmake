# SPDX-License-Identifier: Apache-2.0
# What the packages are: a component is a package opennrt-COMPONENT. Read at
# configure time; what depends on the generator or the version is in generator.cmake.
set(CPACK_PACKAGE_NAME opennrt)
set(CPACK_PACKAGE_VENDOR OpenNRT)
set(CPACK_PACKAGE_CONTACT "${OPENNRT_MAINTAINER}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "open implementation of the Neuron userspace runtime")
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES OFF)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/generator.cmake)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/stage.cmake)
# libnrt.so.1 keeps its symbols.
set(CPACK_OBJCOPY_EXECUTABLE ${CMAKE_CURRENT_LIST_DIR}/objcopy)
set(CPACK_OPENNRT_DEBIAN ${PROJECT_SOURCE_DIR}/packaging/debian)
set(CPACK_OPENNRT_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_OPENNRT_LIBDIR ${CMAKE_INSTALL_LIBDIR})
set(CPACK_OPENNRT_BUILD_LIBRARIES ${OPENNRT_LIB_DIR})
set(CPACK_OPENNRT_PROCESSOR ${CMAKE_SYSTEM_PROCESSOR})

get_property(plugins GLOBAL PROPERTY OPENNRT_ARCH_PLUGINS)
list(TRANSFORM plugins PREPEND plugin-)
set(CPACK_COMPONENTS_ALL core ${plugins} emulator tools dev default)

foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} name)
  set(CPACK_DEBIAN_${name}_PACKAGE_NAME opennrt-${component})
  set(CPACK_DEBIAN_${name}_PACKAGE_SECTION libs)
endforeach()
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)

# describe(COMPONENT summary text): the first line and the text of its description.
macro(describe component summary text)
  string(TOUPPER ${component} name)
  string(STRIP "${text}" lines)
  set(CPACK_DEBIAN_${name}_DESCRIPTION "${summary}\n${lines}")
endmacro()
describe(core "open implementation of the Neuron userspace runtime" [[
libnrt.so.1 loads compiled models (NEFF files) and executes them on Trainium
and Inferentia devices or on a software device. This package holds the
library, the layers that speak to the kernel driver, and the configuration.
.
Each silicon family is a package of its own, opennrt-plugin-NAME; the software
device is opennrt-emulator. The library is in a private directory: programs
find it through LD_LIBRARY_PATH, RUNPATH, or the package opennrt-default.]])
foreach(plugin ${plugins})
  string(REPLACE plugin- "" family ${plugin})
  get_property(products GLOBAL PROPERTY OPENNRT_ARCH_PRODUCTS_${family})
  describe(${plugin} "OpenNRT silicon family ${family}" "
What the OpenNRT runtime and its software device have to know about the silicon
family ${family}: ${products}.")
endforeach()
describe(emulator "software device for the OpenNRT runtime" [[
Runs compiled models on the CPU, under the same driver boundary as real
devices, with the right numbers. Holds the device as a plugin, the daemon that
serves one device to several processes, and what lets unmodified programs see
emulated device files.]])
describe(tools "command line tools of the OpenNRT runtime" [[
The command opennrt: run models, look into them, take them apart and build
them, list settings and plugins, show and replay recordings of driver calls,
watch what processes do on the devices, as text, JSON and for Prometheus.]])
describe(dev "OpenNRT headers for clients and plugins" [[
Headers, pkg-config and CMake files for programs that use the runtime, the
interface that plugins for other silicon are built against, and the conformance
kit for plugins (opennrt conform).]])
describe(default "OpenNRT as the system's libnrt" [[
Adds the private library directory of OpenNRT to the search path of the
dynamic linker, so that every program that asks for libnrt.so.1 gets it.
.
Do not install it where the vendor's library is to be used.]])
