// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
/// \file
/// The two functions of libkiln_emulator.so; emulator_library.hpp says what they promise.

#include <string>

#include "kiln/export.hpp"
#include "kiln/version.hpp"
#include "runtime/device.hpp"
#include "runtime/emulated/device/make_device.hpp"

extern "C" {

KILN_API const char* kiln_emulator_version() {
  return KILN_VERSION_STRING;
}

KILN_API kiln::Device* kiln_emulator_open(const std::string* model) {
  return kiln::emulated::make_device(*model).release();
}

}  // extern "C"
