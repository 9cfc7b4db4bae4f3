// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

namespace kiln::emulated {

class Warp;
struct Instr;

/// The wgmma instructions of one warpgroup. Each is for all four warps (.sync.aligned), so all of
/// them have to execute the same ones in the same order; one that a warp leaves out, or has another
/// in the place of, is reported as divergent, once for the warpgroup.
class WgmmaSequence {
 public:
  static constexpr std::size_t kWarps = 4;

  /// The warp comes to the instruction.
  void execute(Warp& warp, const Instr& instr);
  /// No thread of the warp is left, or it waits for ever: what others have executed and it has not
  /// will never be executed by it.
  void abandon(Warp& warp);

 private:
  struct Step {
    const Instr* instr = nullptr;
    Warp* warp = nullptr;  ///< the first that executed it
  };
  void report(const Step& step, const Warp& other, const std::string& why);
  void forget_common(Warp& warp);

  std::deque<Step> steps_;   ///< those that not all warps have come to
  std::uint64_t first_ = 0;  ///< number of the first of them
  std::array<std::uint64_t, kWarps> executed_{};
  bool reported_ = false;
};

}  // namespace kiln::emulated
