// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Property tests draw the same cases in every run, unless RC_PARAMS asks for others.

#include <stdlib.h>

namespace {

[[maybe_unused]] const int kSeeded = setenv("RC_PARAMS", "seed=20260101", 0);

}  // namespace
