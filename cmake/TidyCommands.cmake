# SPDX-FileCopyrightText: 2026 The Kiln authors
# SPDX-License-Identifier: Apache-2.0
# Copies the build's commands from FROM to TO without options that only GCC knows, which clang
# reports as errors. Run with `cmake -P`.

file(READ ${FROM} commands)
string(REPLACE " -fno-gnu-unique" "" commands "${commands}")
file(WRITE ${TO} "${commands}")
