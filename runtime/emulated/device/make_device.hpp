// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "runtime/device.hpp"

namespace kiln::emulated {

/// The emulated GPU of a model ("h200", or the path of a profile), without checks: what
/// open_device() gives for "emulated:`model`". Throws as profile_of() does.
[[nodiscard]] std::unique_ptr<Device> make_device(const std::string& model);

/// Has open_device() make emulated devices in this program, which has linked the emulator. Call it
/// at the start; calling it again changes nothing.
void register_emulator();

}  // namespace kiln::emulated
