// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>

namespace kiln {

/// Calls `work`, and waits for it, on a thread with much more stack than applications give theirs;
/// where the system has no room for that, with less, and in the end on the caller's. `work` gets
/// the bytes that it has. Throws what `work` throws.
void call_on_large_stack(const std::function<void(std::size_t bytes)>& work);

}  // namespace kiln
