// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>

#include "tests/support/fake_device.hpp"

namespace kiln::testing {

/// Where CUDA has parameters of these types: each aligned to its size.
template <class... Parameters>
[[nodiscard]] FakeParameters parameters_of() {
  FakeParameters parameters;
  const auto place = [&](std::size_t bytes, std::size_t alignment) {
    const std::size_t at = (parameters.bytes + alignment - 1) / alignment * alignment;
    parameters.offsets.push_back(static_cast<std::uint16_t>(at));
    parameters.bytes = at + bytes;
  };
  (place(sizeof(Parameters), alignof(Parameters)), ...);
  return parameters;
}

/// Registers `function(launch, parameters...)` as a kernel that is declared with `Parameters`: of
/// an operation that is not gemm. It reads each where the launch says that it begins.
template <class... Parameters, class Function>
void register_typed(FakeDevice& device, std::string name, Function function) {
  device.register_kernel(
      std::move(name),
      [function](const FakeLaunch& launch) {
        const auto* const arguments = static_cast<const std::byte*>(launch.arguments);
        std::size_t index = 0;
        const auto read = [&]<class Parameter>(Parameter parameter) {
          std::memcpy(&parameter, arguments + launch.parameters[index++], sizeof(parameter));
          return parameter;
        };
        // Braces evaluate from left to right.
        const std::tuple<Parameters...> values{read(Parameters{})...};
        std::apply([&](const auto&... each) { function(launch, each...); }, values);
      },
      parameters_of<Parameters...>());
}

}  // namespace kiln::testing
