// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/check/toucher.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "runtime/emulated/memory/memory_operands.hpp"

namespace kiln::emulated {

bool writes_alike(Warp& warp, const Instr& instr, const WarpAccess& access, int lane, int other) {
  const std::vector<std::byte> value = stored_value(warp, instr, lane);
  if (value.empty()) return false;
  // Of lanes that store at once none has yet.
  if (other >= 0 && (access.lanes >> other & 1U) != 0 &&
      access.address[other] == access.address[lane]) {
    return value == stored_value(warp, instr, other);
  }
  return std::equal(value.begin(), value.end(), access.host[lane]);
}

}  // namespace kiln::emulated
