// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/support/fake_device.hpp"

namespace kiln::testing {

/// Any gemm template, computed by plain loops in float64 (integers: 64 bits) and rounded once to
/// the output's type. Types come from the template arguments of the launch's name, storage from
/// `k_major_a` and `k_major_b` of its configuration. Obeys kBehaveWrongResult,
/// kBehaveUnstable and kBehaveWritesOutside.
void host_gemm(const FakeLaunch& launch);

/// The kernels of templates/kernels/support/verify.cu under their names.
void register_verification_kernels(FakeDevice& device);

}  // namespace kiln::testing
