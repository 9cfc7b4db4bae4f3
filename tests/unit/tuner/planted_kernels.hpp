// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/support/fake_device.hpp"
#include "tuner/evaluator.hpp"
#include "tuner/gemm/case.hpp"

namespace kiln::testing {

/// Gemm kernels of the fake device with one fault each, by name: what a template author might get
/// wrong. `right` has none. `sleeps_forever`, `prints_forever`, `aborts`, `segfaults`, `exits`,
/// `is_killed`, `is_killed_once` (by SIGKILL; it makes the folder KILN_TEST_MARK then) and `prints`
/// are for worker processes.
void register_planted_kernels(FakeDevice& device);

/// A small fake device with the planted kernels: its L2 is small, so that few operand sets
/// rotate.
[[nodiscard]] std::unique_ptr<FakeDevice> make_planted_device(FakeDeviceOptions options = {});

/// Kernel `name` for the types and storage of `gemm`, as a name expression.
[[nodiscard]] std::string kernel_name(const std::string& name, const Gemm& gemm);

/// A set-up for the fake device. The verification cases are given, [0] the tuned one.
[[nodiscard]] EvaluationSetup planted_setup(const std::vector<GemmCase>& cases);
/// The usual one: a small f32 problem that reads C, and a ragged one with padded rows.
[[nodiscard]] std::vector<GemmCase> planted_cases();

/// A job of one launch of kernel `name` for every case of `setup`.
[[nodiscard]] EvaluationJob planted_job(const EvaluationSetup& setup, const std::string& name,
                                        double time_ns = 0.0,
                                        std::string_view behaviour = kBehaveOk);

}  // namespace kiln::testing
