// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/adopt/python.hpp"

namespace kiln::tools {

/// A tunable of a T1 file. In this header, a `place` says where something is in that file, for
/// messages: "space.json: ConfigurationSpace.TuningParameters[0].Values".
struct SpaceParameter {
  std::string name, place;
  std::vector<PythonValue> values;   ///< without repeats, in the order of the file
  std::optional<PythonValue> usual;  ///< the default, if the file says it
};

/// An expression of a T1 file.
struct SpaceExpression {
  std::string text, place;
  PythonNode node;
};

/// An argument of the kernel.
struct SpaceArgument {
  enum class Memory : std::uint8_t { scalar, vector, local, symbol };
  std::string name, place, type;
  Memory memory = Memory::vector;
  std::string role;                  ///< "in", "out", "inout"; "" if the file does not say it
  std::optional<std::int64_t> size;  ///< elements of an array
  std::string fill;                  ///< FillType, or ""
  std::optional<PythonValue> value;  ///< FillValue
};

/// How a result is compared with the reference.
struct SpaceTolerance {
  std::string target, method;
  std::optional<double> threshold;
};

/// What a T1 file of Kernel Tuner or KTT says of a search space and a kernel.
struct SpaceFile {
  std::string file;  ///< its name, for messages
  std::string kernel, kernel_file;
  std::vector<SpaceParameter> parameters;
  std::vector<SpaceExpression> conditions;
  /// Of the grid in blocks, or in threads; without those that the file lacks.
  std::array<std::optional<SpaceExpression>, 3> global, local;
  bool is_global_in_threads = false;
  std::optional<SpaceExpression> shared_memory;  ///< bytes
  std::vector<std::string> compiler_options;
  std::vector<SpaceArgument> arguments;
  std::vector<SpaceTolerance> tolerances;
};

/// Reads a T1 file. Throws Error(usage) with file, line and column where it is no JSON, and with
/// the path of the member where a member is missing, has another type, or cannot be evaluated.
[[nodiscard]] SpaceFile read_space_file(const std::string& file, std::string_view json);

}  // namespace kiln::tools
