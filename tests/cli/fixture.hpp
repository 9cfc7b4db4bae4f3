// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/cli/sandbox.hpp"

namespace kiln::cli {

/// Fills the sandbox's database with what a tuning run on an imagined GPU of 8 SMs would have left:
/// one f16 problem (64 x 48 x 32 nt) with two good candidates of gemm_tiled, one rejected and one
/// wrong, and one f32 problem that ran out of budget. Identities and times are fixed, template
/// digests are those of the program under test.
void fill_database(const Sandbox& sandbox);

}  // namespace kiln::cli
