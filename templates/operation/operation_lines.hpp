// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "templates/expression/expression.hpp"
#include "templates/front_matter/front_matter.hpp"
#include "templates/operation/operation.hpp"

namespace kiln {

/// The keys that a statement of a declaration can begin with.
[[nodiscard]] const std::vector<std::string>& declaration_keys();

// Single lines of an operation's declaration. All throw Error(template_) at what is wrong.

/// The whole of a part as a 64-bit integer.
[[nodiscard]] std::int64_t parse_integer_part(const FrontMatterLine& line, TextPart part);
/// Part of a part, without the spaces around it.
[[nodiscard]] TextPart inner_part(TextPart whole, std::string_view inner);

/// `m`, `m 0..4096`, `ldx = cols`; `names` are those that a default may mention.
[[nodiscard]] SizeSpec parse_size(const FrontMatterLine& line, const NameTable& names);
/// `align_a 1 2 4 8 16`.
[[nodiscard]] TraitSpec parse_trait(const FrontMatterLine& line);
/// The element types behind the slot in `x f32 f16 bf16`.
[[nodiscard]] std::vector<DType> parse_slot_types(const FrontMatterLine& line);
/// What a `metric` line may mention of a run, in the order in which Operation::metric() adds them.
inline constexpr std::array<std::string_view, 4> kMetricFigures{"time_ns", "time_s", "energy_j",
                                                                "power_w"};
/// `points_per_s = points / time_s`, of an operation whose names are complete.
[[nodiscard]] MetricSpec parse_metric(const FrontMatterLine& line, const Operation& operation);
/// `scale f32 = 1`.
[[nodiscard]] ScalarSpec parse_scalar(const FrontMatterLine& line);
/// `normal`, `integers 0 (n - 1)` and so on.
[[nodiscard]] FillSpec parse_fill(const FrontMatterLine& line, TextPart part,
                                  const NameTable& names);
/// The path in `file points.npy`.
[[nodiscard]] std::string parse_fill_file(const FrontMatterLine& line, TextPart part);
/// `y exact`, `y bound 16 of f32`, `y within 1e-5 1e-6`, `y checker`, of an operation with its
/// operands.
[[nodiscard]] RightSpec parse_right(const FrontMatterLine& line, const Operation& operation);
/// `rows=7 cols=33`, of an operation with its sizes: all of them, those that have a default with
/// that unless it is given.
[[nodiscard]] std::vector<NamedValue> parse_ragged(const FrontMatterLine& line,
                                                   const Operation& operation);

}  // namespace kiln
