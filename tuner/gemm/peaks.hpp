// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "templates/kernels/common/peak_range.cuh"
#include "tuner/verify/workload.hpp"

namespace kiln {

/// For each operand of an expression the ranges that its numbers may be in: empty unless amax()
/// records there.
using PeakRanges = std::vector<std::vector<epilogue::PeakRange>>;

/// What amax() recorded in one run, copied from the device.
class RecordedPeaks {
 public:
  RecordedPeaks(Device& device, const OperandSet& operands);
  /// The first number that is outside of its range, as a complaint.
  [[nodiscard]] std::optional<std::string> outside(const PeakRanges& ranges) const;
  /// The first that has other bits in `other`, a run of the same problem.
  [[nodiscard]] std::optional<std::string> different(const RecordedPeaks& other) const;

 private:
  struct Operand {
    std::string name;
    std::string direction;  ///< "row", "column", "" for one number in all
    DType type = DType::f32;
    std::vector<std::byte> bytes;  ///< none if it is only read
    [[nodiscard]] std::size_t count() const;
    [[nodiscard]] double at(std::size_t index) const;
    /// "peak, row 3".
    [[nodiscard]] std::string place(std::size_t index) const;
  };
  std::vector<Operand> operands_;
};

/// Whether a kernel that computes in `type` may have recorded that.
[[nodiscard]] bool may_be_recorded(const epilogue::PeakRange& range, double recorded, DType type);
/// "0 recorded, expected 3.1 to 3.2".
[[nodiscard]] std::string peak_text(const epilogue::PeakRange& range, double recorded);

}  // namespace kiln
