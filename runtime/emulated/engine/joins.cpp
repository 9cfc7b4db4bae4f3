// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/engine/joins.hpp"

#include <algorithm>

namespace kiln::emulated {

int Joins::make(std::uint32_t pc, int parent, LaneMask expected) {
  const auto free =
      std::find_if(joins_.begin(), joins_.end(), [](const Join& j) { return !j.used; });
  const Join join{pc, parent, expected, 0, true};
  if (free != joins_.end()) {
    *free = join;
    return static_cast<int>(free - joins_.begin());
  }
  joins_.push_back(join);
  return static_cast<int>(joins_.size()) - 1;
}

void Joins::drop(int join, LaneMask lanes) {
  Join& from = at(join);
  from.expected &= ~lanes;
  from.arrived &= ~lanes;
}

bool Joins::close_if_complete(int join, LaneMask& met) {
  Join& complete = at(join);
  if (!complete.used || complete.arrived != complete.expected) return false;
  complete.used = false;
  met = complete.arrived;
  return true;
}

int Joins::common(int left, int right) const {
  std::vector<int> above;
  for (int join = left; join >= 0; join = parent(join)) above.push_back(join);
  for (int join = right; join >= 0; join = parent(join)) {
    if (std::find(above.begin(), above.end(), join) != above.end()) return join;
  }
  return kNone;
}

}  // namespace kiln::emulated
