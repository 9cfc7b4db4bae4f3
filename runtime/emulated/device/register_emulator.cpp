// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
/// \file
/// In a file of its own: libkiln_emulator.so makes devices and has no open_device().

#include "runtime/emulated/device/make_device.hpp"
#include "runtime/emulator_library.hpp"

namespace kiln::emulated {

void register_emulator() {
  register_emulated_devices(&make_device);
}

}  // namespace kiln::emulated
