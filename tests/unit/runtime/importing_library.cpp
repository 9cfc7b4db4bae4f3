// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// A library that imports a function, for the test of redirections.
#include <cstdlib>

extern "C" [[gnu::visibility("default")]] const char* ask_environment() {
  return std::getenv("KILN_IMPORT_TEST");
}
