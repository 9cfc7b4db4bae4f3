// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cache/exchange/foreign_results.hpp"
#include "cache/records.hpp"

/// \file
/// Trials from results of other autotuners, and back. What a trial has no field for is kept: the
/// file's kernel, problem size, objective and order of tunables in the environment's `policy`, the
/// other fields of a result in the second line of `message`, both as JSON. So a file that was
/// imported can be exported again without a loss.

namespace kiln {

/// The result as a trial of that candidate: provenance `imported`, without a verification. Its
/// median is the time that the file states. Without a time stamp in the file, it has the present
/// date. The id depends only on the content. Not yet checked().
[[nodiscard]] Trial trial_of_foreign(const ForeignResults& file, const ForeignResult& result,
                                     CandidateKey key);

/// What two imports of one result have in common, whatever the date: a digest.
[[nodiscard]] std::string content_of_import(const Trial& trial);

/// Trials of one problem, device and template as a file; `names` is the order of the tunables if
/// the trials do not know it. The format of what was not imported is `kernel_tuner`.
[[nodiscard]] ForeignResults foreign_of_trials(std::span<const Trial> trials,
                                               const std::vector<std::string>& names);

/// A value of a tunable in a file: a number, a boolean for the names `true` and `false`, or a text.
[[nodiscard]] ForeignValue foreign_value_of(std::int64_t value);

}  // namespace kiln
