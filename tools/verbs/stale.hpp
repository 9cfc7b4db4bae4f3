// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "cache/store/store.hpp"
#include "runtime/device.hpp"
#include "templates/catalog.hpp"
#include "tools/suite.hpp"

namespace kiln::tools {

/// The problems whose best known kernel on that device is of a template that has changed since, or
/// was judged by what has, and was not tuned again, and those of which all failed then: what an
/// upgrade of Kiln, of a template or of an operation leaves behind.
[[nodiscard]] std::vector<SuiteLine> stale_problems(const TuningStore& store,
                                                    const DeviceInfo& device,
                                                    const Catalog& catalog);

}  // namespace kiln::tools
