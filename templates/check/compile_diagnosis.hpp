// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "templates/kernel_template.hpp"
#include "templates/operation/operation.hpp"

namespace kiln {

/// The log of a compiler that refused a rendered kernel of the template. If the cause is that
/// code and front matter disagree (the order of the config struct's fields, the kernel's name, the
/// number of its template parameters), a header that NVRTC does not have, a name whose header is
/// not included, or code for the host, an explanation comes first, with the template's file and
/// line and what to change.
[[nodiscard]] std::string explain_compile_log(const KernelTemplate& kernel_template,
                                              std::string_view log);
/// The same of the reference and the checker that an operation's file has: names whose header is
/// not included, and code for the host.
[[nodiscard]] std::string explain_compile_log(const Operation& operation, std::string_view log);

/// Why a compiled kernel cannot take the arguments of its launch, with file, line and what to
/// change; "" if nothing is wrong. `lowered_names` are its kernels as the compiler mangled them.
/// With a problem, pointers are compared with the types of its operands as well.
[[nodiscard]] std::string why_wrong_parameters(const KernelTemplate& kernel_template,
                                               const std::vector<std::string>& lowered_names,
                                               const Problem* problem = nullptr);

}  // namespace kiln
