// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "kiln/error.hpp"
#include "runtime/cuda/cuda_device.hpp"
#include "runtime/cuda/device_info.hpp"
#include "runtime/device.hpp"
#include "runtime/emulator_library.hpp"

namespace kiln {
namespace {

constexpr std::string_view kEmulatedPrefix = "emulated:";

}  // namespace

bool names_emulated_device(std::string_view spec) {
  return spec.starts_with(kEmulatedPrefix);
}

std::unique_ptr<Device> open_device(const std::string& spec) {
  if (names_emulated_device(spec)) {
    return open_emulated_device(spec.substr(kEmulatedPrefix.size()));
  }
  const auto ordinal = parse_device_spec(spec);
  if (!ordinal) {
    throw Error(ErrorKind::usage,
                fmt::format("device '{}' is unknown. Next: write cuda:0 (or 0) for a GPU, or "
                            "emulated:h200 for a GPU that this machine's CPU emulates",
                            spec));
  }
  return std::make_unique<CudaDevice>(*ordinal);
}

}  // namespace kiln
