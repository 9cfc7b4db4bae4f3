# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
# Installs into an initially empty folder of the build, and checks that everything is there.

file(REMOVE_RECURSE ${PREFIX} ${WORK})
file(MAKE_DIRECTORY ${WORK})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BINARY_DIR} --prefix ${PREFIX}
                OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
foreach(path IN ITEMS
    bin/kiln include/kiln/kiln.hpp share/kiln/templates/gemm/gemm_naive.cu
    share/kiln/templates/gemm/gemm_naive.hints
    share/man/man1/kiln.1 share/bash-completion/completions/kiln share/zsh/site-functions/_kiln
    share/fish/vendor_completions.d/kiln.fish share/doc/kiln/LICENSE
    share/doc/kiln/SECURITY.md share/doc/kiln/THIRD_PARTY.md share/doc/kiln/licences/libfmt-dev.txt
    share/doc/kiln/licences/libcli11-dev.txt share/doc/kiln/README.md
    share/doc/kiln/docs/reference/library.md
    share/doc/kiln/examples/gemm/CMakeLists.txt share/doc/kiln/examples/gemm_suite.txt)
  if(NOT EXISTS ${PREFIX}/${path})
    message(SEND_ERROR "not installed: ${path}")
  endif()
endforeach()
