// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "templates/expression/expression.hpp"
#include "templates/front_matter/front_matter_lines.hpp"
#include "templates/launch/argument_plan.hpp"

namespace kiln {

class Operation;
struct ScratchSpec;

/// What one parameter of a kernel is given, or one member of a struct that it takes by value.
struct ArgumentSpec {
  enum class Kind : std::uint8_t {
    operand,
    float64,
    magnitude,
    before,
    verdict,
    seed,
    workspace,
    scalar,
    number,
    choice,
    structure
  };
  Kind kind = Kind::operand;
  /// Of the operand or scalar, in the operation's order; of a verdict 0 for `wrong`, 1 for
  /// `first_wrong`.
  std::uint16_t index = 0;
  NumberType type = NumberType::s32;  ///< of a number or scalar
  /// Of a number; bytes behind the workspace's start; of a choice the condition.
  std::optional<Expression> value;
  std::vector<ArgumentSpec> members;  ///< of a structure; of a choice the two addresses
  /// Of a scalar that is given in another type: its own, whose value is converted.
  std::optional<NumberType> declared = std::nullopt;
  /// Of the workspace: the scratch array that is meant, which is number `index`, and the type of
  /// its elements, as ScratchSpec has it.
  std::string scratch_name = {}, scratch_type = {};
};

/// Whose arguments a list has.
enum class ArgumentsOf : std::uint8_t { kernel, reference, checker, fill };

/// Reads `args x, y, rows, (float) cols, workspace + 256, {rows, scale}`:
///   an operand           its address
///   x.f64                of a reference, a checker or a fill kernel: the operand as float64
///   y.magnitude          of a reference: what scales the bound
///   y.before             of a checker: what an operand that is updated was before
///   wrong, first_wrong   of a checker: where it counts what is wrong, and says where it is first
///   seed                 of a fill kernel: 64 bits that differ from data set to data set
///   workspace [+ E]      of a kernel: the workspace's address, E bytes on
///   partial              of a kernel: the address of one of the arrays in `scratch`
///   E ? a : b            of a kernel: one of two addresses of these kinds
///   [(type)] a scalar    its value in its type, or converted from that to another
///   [(type)] E           an integer expression over `names`, as int unless a type says otherwise
///   {...}                a struct of such, laid out as C++ does
/// Throws Error(template_) that points at what is wrong.
[[nodiscard]] std::vector<ArgumentSpec> parse_argument_list(
    const FrontMatterLine& line, const Operation& operation, const NameTable& names,
    ArgumentsOf owner, std::span<const ScratchSpec> scratch = {});

/// What a kernel is given that has no list: every operand, then every size as int, then every
/// scalar. `names` must have the sizes.
[[nodiscard]] std::vector<ArgumentSpec> default_argument_list(const Operation& operation,
                                                              const NameTable& names);

/// A list as it is written, with every type that is not int.
[[nodiscard]] std::string argument_text(const std::vector<ArgumentSpec>& list,
                                        const Operation& operation);

/// Lays the arguments out; scratch arrays begin at these offsets in the workspace. `value`
/// evaluates an expression of the list and throws where it is undefined; `refuse` throws with the
/// message that it is given: a number does not fit its type, or all of them take more than 4096
/// bytes.
[[nodiscard]] ArgumentPlan plan_arguments(
    const std::vector<ArgumentSpec>& list,
    const std::function<std::int64_t(const Expression&)>& value,
    const std::function<void(const std::string&)>& refuse,
    std::span<const std::int64_t> scratch_offsets = {});

}  // namespace kiln
