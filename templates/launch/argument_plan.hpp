// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kiln/scalar.hpp"
#include "templates/operation/number_type.hpp"

namespace kiln {

/// A place in the argument that is known only at a launch.
struct ArgumentPatch {
  enum class Source : std::uint8_t {
    operand,    ///< its address; null if it is left out
    float64,    ///< the address of an operand as float64 (references only)
    magnitude,  ///< the address of what scales an output's bound (references only)
    before,     ///< the address of what an operand was that is updated (checkers only)
    verdict,    ///< the address of the number of what is wrong, or of the first (checkers only)
    workspace,  ///< the workspace's address, or null if there is none
    scalar,     ///< its value, rounded to `declared` if it has one, then to `type`
    seed,       ///< of the data (fill kernels only)
  };
  Source source = Source::operand;
  NumberType type = NumberType::f64;  ///< of a scalar
  /// As in ArgumentSpec; of a scratch array in the workspace its number, from 1 on.
  std::uint16_t index = 0;
  std::uint16_t at = 0;     ///< byte offset in the argument
  std::int64_t offset = 0;  ///< bytes added to the workspace's address
  /// Of a scalar that its kernel takes in another type: its own.
  std::optional<NumberType> declared = std::nullopt;
  friend bool operator==(const ArgumentPatch&, const ArgumentPatch&) = default;
};

/// Of all parameters of a kernel, as CUDA has it.
inline constexpr std::size_t kMostArgumentBytes = 4096;

/// What a launch passes to its kernel: all parameters in one piece of memory, each aligned to its
/// size as CUDA lays parameters out. Numbers are in it, addresses and scalars come at the launch.
struct ArgumentPlan {
  std::vector<std::uint8_t> image;
  /// Byte offset of each parameter. Empty: all of it is one struct, which the problem decides.
  std::vector<std::uint16_t> parameters;
  std::vector<ArgumentPatch> patches;
  friend bool operator==(const ArgumentPlan&, const ArgumentPlan&) = default;
};

/// What the patches of a plan are filled with.
struct ArgumentValues {
  std::span<const std::uintptr_t> operands;    ///< in the operation's order
  std::span<const std::uintptr_t> float64;     ///< likewise; empty: none is asked for
  std::span<const std::uintptr_t> magnitudes;  ///< likewise
  std::span<const Scalar> scalars;
  std::uintptr_t workspace = 0;
  std::span<const std::uintptr_t> before = {};  ///< by operand
  std::uintptr_t verdict = 0;                   ///< of two unsigned long long
  /// Where scratch arrays are that lie outside of the workspace; empty: all are in it.
  std::span<const std::uintptr_t> scratch = {};
  std::uint64_t seed = 0;
};

/// Copies the image to `to`, which has room for it, and fills the patches in. Neither locks nor
/// allocates. Precondition: `values` has every index that the plan mentions.
void fill_argument(const ArgumentPlan& plan, const ArgumentValues& values, void* to) noexcept;

}  // namespace kiln
