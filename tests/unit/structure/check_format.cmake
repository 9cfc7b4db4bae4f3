# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
# Fails on a source file that clang-format 14 would change. Other versions format differently, so
# without that version the test is skipped.

if(NOT CLANG_FORMAT)
  message("skipped: clang-format-14 is not installed")
  return()
endif()
set(sources "")
foreach(folder IN ITEMS templates cache runtime tuner tools tests examples cmake)
  foreach(ending IN ITEMS hpp cpp h cuh cu)
    file(GLOB_RECURSE found ${ROOT}/${folder}/*.${ending})
    list(APPEND sources ${found})
  endforeach()
endforeach()
# Files that tests expect byte for byte are data.
list(FILTER sources EXCLUDE REGEX "/tests/(data|.*/data|.*/golden)/")
execute_process(COMMAND ${CLANG_FORMAT} --dry-run --Werror --style=file ${sources}
                RESULT_VARIABLE result ERROR_VARIABLE complaints)
if(NOT result EQUAL 0)
  string(REGEX MATCHALL "[^\n]*error: [^\n]*" lines "${complaints}")
  list(JOIN lines "\n" text)
  message(FATAL_ERROR "${text}\nRun clang-format-14 -i on these files.")
endif()
