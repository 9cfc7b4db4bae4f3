# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
# Options, warnings, sanitizers, and the one function that makes a library of a folder.

option(KILN_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(KILN_WERROR "Treat warnings in Kiln's own code as errors" ${PROJECT_IS_TOP_LEVEL})
set(KILN_SANITIZE "" CACHE STRING "Sanitizers for everything: 'address,undefined' or 'thread'")
option(KILN_COVERAGE "Instrument for gcov" OFF)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

add_library(kiln_flags INTERFACE)
target_compile_options(kiln_flags INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion)
if(KILN_WERROR)
  target_compile_options(kiln_flags INTERFACE -Werror)
endif()
if(KILN_SANITIZE)
  add_compile_options(-fsanitize=${KILN_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${KILN_SANITIZE})
endif()
if(KILN_COVERAGE)
  add_compile_options(--coverage)
  add_link_options(--coverage)
endif()

# kiln_library(name SOURCES a.cpp ... LINKS target ... PRIVATE_LINKS target ...)
function(kiln_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC
    ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/runtime/include)
  target_link_libraries(${name} PUBLIC ${ARG_LINKS} PRIVATE kiln_flags ${ARG_PRIVATE_LINKS})
endfunction()

# kiln_test(name SOURCES ... LINKS ... [LABELS ...] [TIMEOUT s]): one GoogleTest program
function(kiln_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LINKS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} kiln_flags GTest::gtest_main GTest::gmock)
  target_compile_definitions(${name} PRIVATE KILN_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                             KILN_BINARY_DIR="${PROJECT_BINARY_DIR}")
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} SKIP_RETURN_CODE 77)
  if(ARG_LABELS)
    set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}")
  endif()
endfunction()
