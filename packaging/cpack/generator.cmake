# SPDX-License-Identifier: Apache-2.0
# Read by cpack for each generator, when the version is known.
set(version ${CPACK_PACKAGE_VERSION})

if(CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
  set(CPACK_DEB_COMPONENT_INSTALL ON)
  set(CPACK_COMPONENTS_GROUPING IGNORE)
  set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
  set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own, it would come first
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${CPACK_OPENNRT_BUILD_LIBRARIES})
  set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

  foreach(component ${CPACK_COMPONENTS_ALL})
    string(TOUPPER ${component} name)
    if(NOT component STREQUAL "default")
      set(CPACK_DEBIAN_${name}_DEBUGINFO_PACKAGE ON)
    endif()
    if(component MATCHES "^plugin-")
      # Any core of the same major; the loader judges the rest.
      set(CPACK_DEBIAN_${name}_PACKAGE_DEPENDS opennrt-plugin-abi-1)
    endif()
  endforeach()

  # The driver layers are part of the core package, which is of no use without one.
  set(CPACK_DEBIAN_CORE_PACKAGE_PROVIDES "opennrt-plugin-abi-1, opennrt-ndl (= ${version})")
  set(CPACK_DEBIAN_CORE_PACKAGE_SUGGESTS "opennrt-emulator, opennrt-tools")
  set(CPACK_DEBIAN_CORE_PACKAGE_CONTROL_EXTRA ${CPACK_OPENNRT_DEBIAN}/core/conffiles)

  set(CPACK_DEBIAN_EMULATOR_PACKAGE_DEPENDS opennrt-plugin-abi-1)

  # It contains parts of the library, of the same version therefore.
  set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "opennrt-core (= ${version})")
  set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION utils)
  set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS opennrt-emulator)

  set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "opennrt-core (= ${version})")
  set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
  # The conformance kit is a part of the command, and tries plugins on the device.
  set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS "opennrt-tools, opennrt-emulator")

  set(CPACK_DEBIAN_DEFAULT_PACKAGE_DEPENDS opennrt-core)
  set(CPACK_DEBIAN_DEFAULT_PACKAGE_CONTROL_EXTRA
      ${CPACK_OPENNRT_DEBIAN}/default/postinst ${CPACK_OPENNRT_DEBIAN}/default/postrm)
else()
  # One tree that runs from wherever it is unpacked.
  set(CPACK_MONOLITHIC_INSTALL ON)
  set(CPACK_PACKAGE_FILE_NAME opennrt-${version}-linux-${CPACK_OPENNRT_PROCESSOR})
endif()
