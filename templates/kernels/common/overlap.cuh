// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// Launches that overlap (programmatic dependent launch, compute capability 9.0 and newer). Blocks
/// of a launch begin as those of the one before leave their multiprocessors, instead of when the
/// last of these has ended:
///
///     launch 1   |####### blocks #######|..| the last ones
///     launch 2                          |i| wait |####### blocks #######|
///
/// What needs no memory (i: barriers, addresses, tensor maps) is done while launch 1 still runs.
/// For launches that say `overlap`.

#include "common/annotations.cuh"

namespace kiln {

/// Waits until the launch before this one on the stream, if it may still run, has ended and what it
/// wrote can be read. Every thread calls it, before it touches global memory and before it exits.
/// Nothing on devices without overlap.
KILN_DEVICE void wait_for_previous_launch() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// The blocks of the launch behind this one may begin once every block of this one came here, or
/// exited. Best when little is left to do: where they begin first, they crowd.
KILN_DEVICE void let_next_launch_begin() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

}  // namespace kiln
