// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0

/// \file
/// Names that libraries inside Kiln also use. Linking succeeds, and Kiln works, only if Kiln
/// keeps its own to itself: any call to these would end here.

#include <cstdlib>

extern "C" {
[[noreturn]] void sqlite3_open_v2() {
  std::abort();
}
[[noreturn]] void sqlite3_step() {
  std::abort();
}
[[noreturn]] void cudaGetDeviceCount() {
  std::abort();
}
}
