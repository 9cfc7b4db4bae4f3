// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string_view>

#include "kiln/error.hpp"
#include "runtime/cuda/cuda_device.hpp"
#include "runtime/cuda/device_info.hpp"
#include "runtime/device.hpp"
#include "runtime/emulated/emulated_device.hpp"

namespace kiln {

std::unique_ptr<Device> open_device(const std::string& spec) {
  constexpr std::string_view kEmulated = "emulated:";
  if (spec.starts_with(kEmulated)) {
    return std::make_unique<EmulatedDevice>(spec.substr(kEmulated.size()));
  }
  const auto ordinal = parse_device_spec(spec);
  if (!ordinal) {
    throw Error(
        ErrorKind::usage,
        fmt::format("device '{}' is not understood: write cuda:0 or 0, or emulated:h200 for "
                    "a GPU that is emulated",
                    spec));
  }
  return std::make_unique<CudaDevice>(*ordinal);
}

}  // namespace kiln
