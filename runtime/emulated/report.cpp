// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/report.hpp"

#include <fmt/format.h>

namespace kiln::emulated {

std::string_view name_of(Finding finding) {
  switch (finding) {
    case Finding::out_of_bounds:
      return "out_of_bounds";
    case Finding::misaligned:
      return "misaligned";
    case Finding::uninitialised:
      return "uninitialised";
    case Finding::race:
      return "race";
    case Finding::missing_wait:
      return "missing_wait";
    case Finding::missing_fence:
      return "missing_fence";
    case Finding::divergent:
      return "divergent";
    case Finding::barrier_mismatch:
      return "barrier_mismatch";
    case Finding::deadlock:
      return "deadlock";
    case Finding::invalid_operand:
      return "invalid_operand";
    case Finding::trap:
      return "trap";
    case Finding::unsupported:
      return "unsupported";
    case Finding::timed_out:
      return "timed_out";
  }
  return "unknown";
}

std::string Report::describe() const {
  return fmt::format("{} at {} in {}, block ({},{},{}), thread ({},{},{}): {}{}", name_of(finding),
                     place, kernel, block[0], block[1], block[2], thread[0], thread[1], thread[2],
                     text, times > 1 ? fmt::format(" ({} times)", times) : std::string());
}

}  // namespace kiln::emulated
