# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
# Options, language settings, warnings, sanitizers, and the functions that make libraries and tests.

option(KILN_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(KILN_INSTALL "Make install rules and packages" ${PROJECT_IS_TOP_LEVEL})
option(KILN_WERROR "Treat warnings in Kiln's own code as errors" OFF)
option(KILN_COVERAGE "Instrument for gcov" OFF)
set(KILN_QUICK_FLAGS "" CACHE STRING
    "Flags for what takes long to compile and little to run: the tests and the command line")
set(KILN_SANITIZE "" CACHE STRING "Sanitizers for everything: 'address,undefined' or 'thread'")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(KILN_CCACHE ccache)
  if(KILN_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${KILN_CCACHE})
  endif()
endif()

# Most of the time that a file takes is its headers' and their templates', which files that are
# compiled together share. A compiler cache does better with one file at a time.
set(together OFF)
if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(together ON)
endif()
option(KILN_UNITY "Compile several source files at a time" ${together})

# kiln_compile_together(target files): so many at a time; fewer where helpers of the same name stand
# in many files of a target.
function(kiln_compile_together name files)
  if(KILN_UNITY)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${files})
  endif()
endfunction()

add_library(kiln_flags INTERFACE)
# GCC 12 has two false positives when it optimises: -Wrestrict for "text" + std::string, and
# -Wmaybe-uninitialized for a std::optional that contains a container.
target_compile_options(kiln_flags INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
# Unique symbols stay visible to every other library of a process, and keep libkiln.so from being
# unloaded.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_compile_options(-fno-gnu-unique)
endif()
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
# Each function is a section, so that the shared libraries contain what they use, however many files
# were compiled together.
function(kiln_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}
    ${PROJECT_SOURCE_DIR}/templates/include ${PROJECT_SOURCE_DIR}/runtime/include)
  target_link_libraries(${name} PUBLIC ${ARG_LINKS} PRIVATE kiln_flags ${ARG_PRIVATE_LINKS})
  target_compile_options(${name} PRIVATE -ffunction-sections -fdata-sections)
  kiln_compile_together(${name} 16)
endfunction()

# kiln_precompile(target header ...): headers that every file of a target includes, parsed once. A
# compiler cache does better without.
function(kiln_precompile name)
  if(NOT CMAKE_CXX_COMPILER_LAUNCHER)
    target_precompile_headers(${name} PRIVATE ${ARGN})
  endif()
endfunction()

# kiln_test_options(name): the options that a test program is compiled with.
function(kiln_test_options name)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE kiln_flags GTest::gtest_main GTest::gmock)
  target_compile_options(${name} PRIVATE ${KILN_QUICK_FLAGS})
  target_compile_definitions(${name} PRIVATE KILN_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                             KILN_BINARY_DIR="${PROJECT_BINARY_DIR}")
endfunction()

# kiln_test(name SOURCES ... LINKS ... [LABELS ...] [TIMEOUT s] [WHOLE]): one GoogleTest program.
# Each of its tests is a test of its own for ctest, so that they run in parallel and a skipped one
# is counted as such. WHOLE runs the program as one test, for suites that share a costly fixture.
function(kiln_test name)
  cmake_parse_arguments(ARG "WHOLE" "TIMEOUT" "SOURCES;LINKS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINKS})
  kiln_test_options(${name})
  kiln_compile_together(${name} 16)
  if(TARGET kiln_test_headers)
    target_precompile_headers(${name} REUSE_FROM kiln_test_headers)
  # With a precompiled header GCC 12 forgets which parts are the library's own, and then has false
  # warnings about its strings.
    if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      target_compile_options(${name} PRIVATE -Wno-array-bounds -Wno-stringop-overflow
                                             -Wno-stringop-overread)
    endif()
  endif()
  # Property tests of every folder draw the same cases in every run.
  if("rapidcheck" IN_LIST ARG_LINKS)
    target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support/rapidcheck_seed.cpp)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  # Two tests on one GPU would disturb each other's times and memory.
  set(lock "")
  if("gpu" IN_LIST ARG_LABELS)
    set(lock RESOURCE_LOCK gpu)
  endif()
  if(ARG_WHOLE)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT} SKIP_RETURN_CODE 77
                                            LABELS "${ARG_LABELS}" ${lock})
  else()
  # Two levels of generated scripts come between here and the property, each of which would
  # split a list.
    string(REPLACE ";" "\\\\;" labels "${ARG_LABELS}")
    gtest_discover_tests(${name} TEST_PREFIX ${name}. DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
                         NO_PRETTY_VALUES
                         PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${labels}" ${lock})
  endif()
endfunction()
