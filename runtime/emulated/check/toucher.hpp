// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "runtime/emulated/decode/access.hpp"
#include "runtime/emulated/decode/program.hpp"

namespace kiln::emulated {

class Warp;

/// Who touches memory: a lane of a warp, or the asynchronous proxy for it.
struct Toucher {
  Warp* warp = nullptr;
  const Instr* instr = nullptr;
  int lane = 0;
  LaneMask lanes = 1;  ///< all that touch the same bytes at once; `lane` is the first
  bool async = false;
  bool reads = false;
  bool writes = false;
  bool synchronises = false;  ///< races with no other access that does, too
  /// Volatile, and several lanes do it at once: what they hope for is that their warp runs in
  /// lockstep, which no GPU since Volta promises.
  bool lockstep = false;
  const WarpAccess* access = nullptr;  ///< null: of the asynchronous proxy
  /// Of the operation that begins with this access and ends later; 0: the access ends at once.
  std::uint64_t token = 0;
};

/// Whether a lane's store writes what is there or, if `other` is not -1, what that lane of the same
/// instruction writes.
[[nodiscard]] bool writes_alike(Warp& warp, const Instr& instr, const WarpAccess& access, int lane,
                                int other);

}  // namespace kiln::emulated
