// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

/// \file
/// The whole public interface of Kiln.
///
///     kiln::Library library = kiln::Library::open();
///     kiln::Kernel gemm = library.get(kiln::Gemm::of(kiln::DType::f16, 4096, 4096, 4096));
///     gemm.launch(stream, {.a = a, .b = b, .d = d});
///
/// For an operation that a file declares:
///
///     kiln::OperationKernel softmax = library.get(kiln::OperationProblem{
///         "softmax", {{"rows", 1000}, {"cols", 4096}}, {{"x", kiln::DType::f16}, ...}});
///     softmax.launch(stream, {.operands = {x, y}});

#include "kiln/device_memory.hpp"  // IWYU pragma: export
#include "kiln/epilogue.hpp"       // IWYU pragma: export
#include "kiln/error.hpp"          // IWYU pragma: export
#include "kiln/gemm.hpp"           // IWYU pragma: export
#include "kiln/library.hpp"        // IWYU pragma: export
#include "kiln/operation.hpp"      // IWYU pragma: export
#include "kiln/scalar.hpp"         // IWYU pragma: export
#include "kiln/types.hpp"          // IWYU pragma: export
#include "kiln/version.hpp"        // IWYU pragma: export
