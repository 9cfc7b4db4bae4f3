// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// A kernel's parameter for a `map` of its launch: `const __grid_constant__ kiln::TensorMap map`.

namespace kiln {

/// What a bulk copy needs to know of a tensor in global memory and of the box that it moves. The
/// host fills it in; only the copy units read it, through its address.
struct alignas(128) TensorMap {
  unsigned long long opaque[16];
};

}  // namespace kiln
