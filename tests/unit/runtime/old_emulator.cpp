// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

/// \file
/// A libkiln_emulator.so of another version: it must not be asked for a device.

#include <cstdlib>

#include "kiln/export.hpp"

extern "C" {
KILN_API const char* kiln_emulator_version() {
  return "0.0.1";
}
[[noreturn]] KILN_API void* kiln_emulator_open(const void* /*model*/) {
  std::abort();
}
}
