// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

/// \file
/// Which elements of a matrix the lanes of a warp hold in their registers, for the matrix
/// instructions of PTX ISA 9.0. With g = lane / 4 and c = lane % 4, nearly all of them are made of
/// three pieces, in which a 32-bit register holds p = 32 / bits neighbours along K:
///
///        K ->                      N = g ->                  N ->
///     M  +----+----+----+----+   K +----+            M       +------+------+------+------+
///     =  | p elements of c=0..3|   | | p elements    =       | 2 elements of c = 0..3    |
///     g  +----+----+----+----+     v +----+  of c    g       +------+------+------+------+
///        A: 8 x 4p                   B: 4p x 8               accumulators: 8 x 8
///
/// Larger fragments repeat them: A down (row g + 8), then along K; B along K; accumulators down.

namespace kiln::emulated {

enum class MatrixRole : std::uint8_t { a, b, accumulator };  ///< A is M x K, B is K x N

/// Registers of one warp as places in a matrix. Element e of a lane is number
/// e % elements_per_register, from the low bits, of its register e / elements_per_register.
struct FragmentLayout {
  struct Place {
    std::uint16_t row;
    std::uint16_t col;
  };

  int rows = 0;
  int cols = 0;
  int registers = 0;  ///< per lane; of 64 bits for f64, else of 32
  int elements_per_register = 1;
  int copies = 1;  ///< how many registers hold each element: over 1 in some wmma fragments of f16
  /// Element e of `lane` at index e * 32 + lane, as registers lie when a register is 32 lanes.
  std::vector<Place> places;
  /// The same as row * cols + col: the index into a dense row-major matrix.
  std::vector<std::uint16_t> offsets;

  [[nodiscard]] int elements() const { return registers * elements_per_register; }
  [[nodiscard]] Place at(int lane, int element) const {
    return places[static_cast<std::size_t>(element) * 32 + static_cast<std::size_t>(lane)];
  }
};

struct MatrixShape {
  int m = 0;
  int n = 0;
  int k = 0;
  [[nodiscard]] bool operator==(const MatrixShape&) const = default;
};

// Each of these returns null when PTX has no such fragment. Otherwise the layout lives as long as
// the program, so that a decoded instruction can keep its address. The first call makes them all.
// They look through a list: for decoding, not for executing.

/// mma.sync. `bits` are those of one element of that matrix: 1, 4, 8, 16, 32 (tf32), 64, and of an
/// accumulator 16, 32 or 64. The f16 shape m8n8k4 is mma_quad_pair_fragment's.
[[nodiscard]] const FragmentLayout* mma_fragment(const MatrixShape& shape, MatrixRole role,
                                                 int bits);

/// mma.sync.m8n8k4 of f16, which computes four products at once: lanes 4q to 4q+3 and 16+4q to
/// 16+4q+3 hold the matrices of product q. They are stacked: those of q start at row q * rows / 4.
/// `row_major` is .row of A and B (accumulators have one layout), `bits` 16 or 32.
[[nodiscard]] const FragmentLayout* mma_quad_pair_fragment(MatrixRole role, bool row_major,
                                                           int bits);

/// ldmatrix and stmatrix .m8n8 .b16, and movmatrix with one. Matrix i is rows 8i to 8i + 7, whose
/// addresses lanes 8i to 8i + 7 give, and goes to register i. `matrices` is 1, 2 or 4.
[[nodiscard]] const FragmentLayout* ldmatrix_fragment(int matrices, bool transposed);

/// wgmma accumulators of one warp: warp w of the warpgroup holds rows 16 (w % 4) to 16 (w % 4) + 15
/// of the 64. `n` is a multiple of 8 up to 256; `bits` 16 (f16, two to a register) or 32.
[[nodiscard]] const FragmentLayout* wgmma_accumulator(int n, int bits);

/// wgmma's A from registers, rows as above; `bits` 8, 16 or 32 (tf32), K is 32 bytes.
[[nodiscard]] const FragmentLayout* wgmma_a_fragment(int bits);

/// wmma.load, wmma.mma and wmma.store. PTX leaves these open; this is what its compiler makes of
/// them on sm_90: fragments of mma.sync side by side. m16n16 and m32n8 stack A's m16 pieces along M
/// and B's n8 pieces along N; m8n32 computes the transpose, with A as mma's B and B as mma's A.
/// PTX gives A and B of f16 eight registers in every shape; m16n16k16 needs four of them,
/// m8n32k16's A and m32n8k16's B two. The rest repeats the first ones in the same lane, so that
/// whatever a kernel does to all elements alike leaves them equal; wmma.mma reads the first. `bits`
/// are those of an element; bf16 has the layouts of f16 without the repetitions, which `padded`
/// tells: true for f16 A and B only.
[[nodiscard]] const FragmentLayout* wmma_fragment(const MatrixShape& shape, MatrixRole role,
                                                  int bits, bool padded);

}  // namespace kiln::emulated
