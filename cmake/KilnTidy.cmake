# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
# The target `tidy`: clang-tidy over the product's sources. Not part of the build or of the
# default tests, because it takes longer than both.

find_program(KILN_RUN_CLANG_TIDY run-clang-tidy-14)
if(KILN_RUN_CLANG_TIDY)
  # The build's flags are GCC's; clang need not know them all. Needs a build with KILN_UNITY off,
  # whose commands are those of single files.
  add_custom_target(tidy
    COMMAND ${CMAKE_COMMAND} -DFROM=${PROJECT_BINARY_DIR}/compile_commands.json
            -DTO=${PROJECT_BINARY_DIR}/tidy/compile_commands.json
            -P ${PROJECT_SOURCE_DIR}/cmake/TidyCommands.cmake
    COMMAND ${KILN_RUN_CLANG_TIDY} -quiet -p ${PROJECT_BINARY_DIR}/tidy
            -extra-arg=-Wno-unknown-warning-option
            "^${PROJECT_SOURCE_DIR}/(templates|cache|runtime|tuner|tools|examples)/.*\\.cpp$"
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} USES_TERMINAL VERBATIM)
endif()
