// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "tuner/session/context.hpp"
#include "tuner/session/search_space.hpp"

namespace kiln {

/// Candidates of the space that another autotuner found fastest for the problem: at most `most`,
/// those from a GPU with the session's name first, then by their time there.
[[nodiscard]] std::vector<Candidate> imported_candidates(const SessionContext& context,
                                                         const SearchSpace& space,
                                                         std::size_t most);

}  // namespace kiln
