// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/device.hpp"

/// \file
/// The emulated GPU is no part of the runtime. A program that links it registers a function that
/// makes such devices; for all others open_device() opens libkiln_emulator.so.

namespace kiln {

/// Makes the device that a spec names behind "emulated:" ("h200"). Throws as open_device() does.
using EmulatedDeviceFactory = std::unique_ptr<Device> (*)(const std::string& model);

/// From now on open_device() asks `factory` for emulated devices; null: nobody. Thread-safe.
void register_emulated_devices(EmulatedDeviceFactory factory);

/// What open_device() does for "emulated:`model`": asks the factory that was registered, else the
/// library. Throws Error(device) that says where it looked when there is neither.
[[nodiscard]] std::unique_ptr<Device> open_emulated_device(const std::string& model);

/// The files that may be the library: beside this program or library, then wherever the loader
/// looks (LD_LIBRARY_PATH, ld.so.conf).
[[nodiscard]] std::vector<std::string> emulator_library_files();

/// Opens a device by the first of `files` that loads and is of this version of Kiln; it stays
/// loaded. The library shows two functions of C:
///     const char* kiln_emulator_version();             // KILN_VERSION_STRING of its build
///     kiln::Device* kiln_emulator_open(const std::string* model);  // the caller deletes it
/// Throws Error(device) that says what was wrong with each, and what the second function throws.
[[nodiscard]] std::unique_ptr<Device> open_with_library(const std::vector<std::string>& files,
                                                        const std::string& model);

}  // namespace kiln
