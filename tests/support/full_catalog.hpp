// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>

namespace kiln::testing {

/// Whether tests of the catalog take all types and many configurations, as those with the label
/// `catalog` do, and not what there is time for whenever something changes.
inline bool full_catalog() {
  return std::getenv("KILN_FULL_CATALOG") != nullptr;  // NOLINT(concurrency-mt-unsafe): no setenv
}

}  // namespace kiln::testing
