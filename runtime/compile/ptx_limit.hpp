// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace kiln {

/// PTX text in which each kernel has a limit of registers per thread, so that the driver's compiler
/// respects it as ptxas respects --maxrregcount. Both ignore the limit for a kernel with
/// __launch_bounds__, which therefore gets none. Precondition: NVRTC made the text.
[[nodiscard]] std::string with_register_limit(std::string_view ptx, int registers);

}  // namespace kiln
