// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "templates/catalog.hpp"

namespace kiln::testing {

/// The defaults of a built-in template's tunables, valid or not, but for these.
[[nodiscard]] inline Config built_in_config(const char* name, const Config& others) {
  Config config;
  for (const Tunable& tunable : Catalog::builtin().at(name).space_spec().tunables) {
    config.set(tunable.name, others.find(tunable.name).value_or(tunable.default_value));
  }
  return config;
}

}  // namespace kiln::testing
