// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "kiln/library.hpp"
#include "runtime/library/library_state.hpp"
#include "tests/support/fake_compiler.hpp"
#include "tests/support/fake_device.hpp"
#include "tests/support/row_sums.hpp"
#include "tests/support/toy_templates.hpp"

namespace kiln::testing {

/// Accepts launches and drops them, so that only the library's own share remains.
class IdleDevice : public FakeDevice {
 public:
  [[nodiscard]] DeviceStatus launch(const LaunchRequest&, void*) noexcept override { return {}; }
};

/// A library on such a device, the same at each call. It knows the operation row_sums.
inline const Library& idle_library() {
  static const Library instance = [] {
    const TempFolder folder;
    detail::LibraryParts parts;
    parts.catalog = row_sums_catalog(folder.path().string());
    auto device = std::make_unique<IdleDevice>();
    register_row_sums(*device);
    parts.device = std::move(device);
    parts.compiler = {
        [] { return std::make_unique<FakeCompiler>(); },
        [](const CompileRequest& request) { return FakeCompiler().options_text(request); }};
    return detail::LibraryState::make_library(std::move(parts));
  }();
  return instance;
}

}  // namespace kiln::testing
