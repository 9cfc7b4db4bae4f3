// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/emulated/matrix/fragment_layout.hpp"
#include "runtime/emulated/matrix/matrix_elements.hpp"

namespace kiln::emulated {

class Block;
class Warp;
struct Instr;
struct SharedRun;

/// A decoded wgmma.mma_async. Instr::rows are the registers of D, then those of A if it comes from
/// registers; row `a` is A's descriptor otherwise, row `b` that of B, row `c` scale-d.
struct WgmmaDetail {
  int n = 8;
  int k = 16;  ///< 32 bytes of elements
  MatrixType a_type = MatrixType::f16;
  MatrixType b_type = MatrixType::f16;
  MatrixType d_type = MatrixType::f32;
  const FragmentLayout* d_layout = nullptr;
  const FragmentLayout* a_layout = nullptr;  ///< null: A lies in shared memory
  bool a_along_m = false;                    ///< neighbours in memory along M instead of K
  bool b_along_n = false;
  bool negates = false;    ///< imm-scale-a times imm-scale-b is -1
  bool saturates = false;  ///< integers
  bool bits = false;       ///< elements are bits; the types say u8, which hold eight of them
};

/// Rows of A that one warp multiplies.
inline constexpr int kWgmmaRows = 16;
/// Bits are multiplied as 256 of them; everything else has this many bytes along K.
inline constexpr int kWgmmaBytes = 32;

/// A matrix in shared memory: `minor` rows or columns of 32 bytes along K.
struct WgmmaTile {
  std::uint64_t descriptor = 0;
  MatrixType type = MatrixType::f16;
  int first = 0;  ///< along M or N
  int count = 8;
  bool along_k = true;  ///< neighbours in memory along K
};

/// The 16-byte chunks of a tile, for checks. Ends the launch if one lies outside shared memory or
/// the descriptor is none.
[[nodiscard]] std::vector<SharedRun> tile_chunks(Warp& warp, const Instr& instr,
                                                 const WgmmaTile& tile);
/// Elements as a dense matrix: count x K (for A) or, `transposed`, K x count (for B). It stays
/// valid until the next tile is read on this host thread with the same `transposed`. T is float or
/// std::int32_t; bits come as bytes.
template <class T>
[[nodiscard]] const T* read_tile(Warp& warp, const Instr& instr, const WgmmaTile& tile,
                                 bool transposed);

}  // namespace kiln::emulated
