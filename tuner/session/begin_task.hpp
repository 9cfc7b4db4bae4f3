// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <future>
#include <system_error>
#include <type_traits>

namespace kiln {

/// Begins `work` on a thread of its own. Where the system has no more threads it is done by whoever
/// asks for its result.
template <class Work>
[[nodiscard]] std::future<std::invoke_result_t<Work>> begin_task(const Work& work) {
  try {
    return std::async(std::launch::async, work);
  } catch (const std::system_error&) {
    return std::async(std::launch::deferred, work);
  }
}

}  // namespace kiln
