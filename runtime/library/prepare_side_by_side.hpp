// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

namespace kiln::detail {

/// Calls `prepare` with every number below `count`, on as many threads as there are cores, the
/// caller's among them; the others take none of the application's signals. All are called even if
/// some throw; then what the first of them threw is thrown.
void prepare_side_by_side(std::size_t count, const std::function<void(std::size_t)>& prepare);

}  // namespace kiln::detail
