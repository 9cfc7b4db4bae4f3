// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "tests/cli/sandbox.hpp"

namespace kiln::cli {

/// Compares a run (arguments, exit code, both streams) with tests/cli/golden/<name>.txt, paths of
/// the sandbox, digests, identities and dates made equal. With KILN_UPDATE_GOLDEN=1 in the
/// environment the file is written instead.
void expect_golden(const std::string& name, const Sandbox& sandbox, const Run& run);

}  // namespace kiln::cli
