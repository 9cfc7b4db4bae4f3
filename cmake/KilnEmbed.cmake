# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
# Compiles text files into the program.

# kiln_embed(OUTPUT out.cpp FUNCTION name BASE dir FILES a b ...): a C++ source that defines
# `const FileSet& kiln::FUNCTION()`, paths relative to BASE.
function(kiln_embed)
  cmake_parse_arguments(ARG "" "OUTPUT;FUNCTION;BASE" "FILES" ${ARGN})
  add_custom_command(
    OUTPUT ${ARG_OUTPUT}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${ARG_OUTPUT} -DFUNCTION=${ARG_FUNCTION} -DBASE=${ARG_BASE}
            "-DFILES=${ARG_FILES}" -P ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake
    DEPENDS ${ARG_FILES} ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake
    VERBATIM)
endfunction()
