// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// What the reference says of a number that an expression's amax() records, shared by host and
/// device. No header is included: NVRTC resolves none.

namespace kiln::epilogue {

/// What a right kernel may have recorded: no less than `least`, no more than `most`. Both are NaN
/// if one of the elements is.
struct PeakRange {
  double least = 0.0;
  double most = 0.0;
};

}  // namespace kiln::epilogue
