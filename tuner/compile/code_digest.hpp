// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "runtime/compile/code_kind.hpp"
#include "tuner/evaluator.hpp"

namespace kiln {

/// Digest of compiled code, the same for code that differs in nothing but the names of what it
/// defines: a kernel's name holds its whole configuration, so no two candidates have the same
/// bytes. `kernels` are the symbols of those that are launched, in the order of their launches. ""
/// for code that is not understood to its last byte; such code is like no other.
///
/// Of a cubin everything counts: machine code, registers, constants, relocations, what the driver
/// is told. Left out are the names of functions and variables that it defines, where things lie in
/// the file, and the limit of registers that the assembler was given (the number that it came to
/// counts). Of PTX comments, white space, names for debuggers and the folders of files are left
/// out, and how many blocks the assembler was to leave room for: the registers that came of it are
/// noted below. Of PTX that a driver compiles those blocks count, since nobody notes registers.
[[nodiscard]] std::string code_digest(CodeKind kind, std::span<const std::byte> code,
                                      const std::vector<std::string>& kernels);

/// All that the host decides about the runs of a candidate and that differs between candidates:
/// the launches and the workspace of each case, of the problem and of the sizes that are verified
/// beside it. What becomes an argument of a kernel by the configuration belongs here, too;
/// everything else in the arguments follows from the case. Operands and scalars stand here by name,
/// so that the order in which an operation declares them makes no difference.
[[nodiscard]] std::string launch_signature(const EvaluationJob& job, const ProblemCase& tuned);

/// Trial::code_digest of a candidate for `tuned`: code and launches. "" when the code is not
/// understood.
[[nodiscard]] std::string run_digest(CodeKind kind, const EvaluationJob& job,
                                     const ProblemCase& tuned);

}  // namespace kiln
