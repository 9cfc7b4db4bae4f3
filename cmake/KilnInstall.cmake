# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
# What is installed, the CMake package, the pkg-config file, and the packages that cpack builds.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# libkiln.so has a C++ interface, and until 1.0 a minor version may change its interface.
set_target_properties(kiln_shared PROPERTIES
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  EXPORT_NAME kiln)

install(TARGETS kiln RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS kiln_shared EXPORT kilnTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# Opened by libkiln when an emulated device is asked for; nothing links it.
install(TARGETS kiln_emulator_library
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} NAMELINK_SKIP)
if(TARGET kiln_static)
  install(FILES ${PROJECT_BINARY_DIR}/runtime/libkiln.a DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/templates/include/kiln
                  ${PROJECT_SOURCE_DIR}/runtime/include/kiln
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

# Symbols serve only debuggers, and the build folder keeps them in every other build type.
foreach(target IN ITEMS kiln kiln_shared kiln_emulator_library)
  target_link_options(${target} PRIVATE $<$<CONFIG:Release>:-s>)
endforeach()

# Code that is linked into program and library wants its licence beside them. The texts are those
# from the packages.
foreach(package IN ITEMS libfmt-dev libsqlitecpp-dev libsqlite3-dev nlohmann-json3-dev
                         libcli11-dev libtomlplusplus-dev libxxhash-dev zlib1g-dev)
  set(text /usr/share/doc/${package}/copyright)
  if(EXISTS ${text})
    install(FILES ${text} RENAME ${package}.txt
            DESTINATION ${CMAKE_INSTALL_DOCDIR}/licences)
  else()
    message(STATUS "No licence text of ${package} here: add it to what you distribute")
  endif()
endforeach()

# The program contains its templates; these are for people who write their own.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/templates/kernels/
        DESTINATION ${CMAKE_INSTALL_DATADIR}/kiln/templates)
# Generated from the program's declarations (tools/reference).
set(kiln_reference ${PROJECT_BINARY_DIR}/tools/reference)
install(FILES ${kiln_reference}/kiln.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${kiln_reference}/kiln.bash RENAME kiln
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${kiln_reference}/_kiln DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${kiln_reference}/kiln.fish
        DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/LICENSE
              ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md
              ${PROJECT_SOURCE_DIR}/SECURITY.md ${PROJECT_SOURCE_DIR}/THIRD_PARTY.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
        FILES_MATCHING PATTERN *.md)

set(kiln_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kiln)
install(EXPORT kilnTargets NAMESPACE kiln:: DESTINATION ${kiln_cmake_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/kilnConfig.cmake.in
  ${PROJECT_BINARY_DIR}/kilnConfig.cmake INSTALL_DESTINATION ${kiln_cmake_dir}
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kilnConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/kilnConfig.cmake ${PROJECT_BINARY_DIR}/kilnConfigVersion.cmake
        DESTINATION ${kiln_cmake_dir})

# Relative to the file itself, so that an installed tree can be moved.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
           BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE kiln_pc_prefix)
configure_file(${PROJECT_SOURCE_DIR}/cmake/kiln.pc.in ${PROJECT_BINARY_DIR}/kiln.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/kiln.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(CPACK_GENERATOR TGZ DEB)
set(CPACK_PACKAGE_CONTACT "The Kiln authors")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
include(CPack)
