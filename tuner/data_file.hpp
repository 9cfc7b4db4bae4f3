// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "runtime/device.hpp"
#include "templates/operation/operation.hpp"
#include "tuner/problem_case.hpp"

namespace kiln {

/// `--data points=FILE`: data for one operand; with an empty path the operand gets generated data
/// though its declaration names a file.
struct GivenData {
  std::string operand;
  std::string path;
};

/// Finds the files that the operation's declaration names and those that are given in their place,
/// reads all of them once, and notes what they are in the case. A file is in NumPy's format (.npy:
/// versions 1 to 3, little endian, C order), or has nothing but the elements. Throws Error(usage)
/// for a file that cannot be read, or whose type, shape or size is not the operand's.
void attach_data(const Operation& operation, const std::vector<GivenData>& given, ProblemCase& one);

/// "points=0123456789abcdef0123456789abcdef": which data the case has from files; "" if it has
/// none.
[[nodiscard]] std::string data_text(const ProblemCase& one);

/// Copies the file of an operand to where it lies on the device, as its shape says; what is between
/// rows gets a NaN of every floating-point type. Throws Error(usage) if the file is not as it was
/// when it was attached.
void load_data(Device& device, const OperandPlan& plan, DevicePtr to);

}  // namespace kiln
