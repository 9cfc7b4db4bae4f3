// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kiln/gemm.hpp"
#include "templates/kernels/common/gemm_args.cuh"
#include "tuner/device_buffer.hpp"
#include "tuner/support_kernels.hpp"

namespace kiln {

/// A matrix in memory: `rows` rows of `ld` elements, the first `cols` of which count. It
/// ends with the last element that counts, as an application's may. An element is what memory has
/// as one: a byte of packed values.
struct MatrixShape {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t ld = 0;
  DType type = DType::f32;
  int alignment = 16;     ///< of the address, bytes
  bool recorded = false;  ///< amax() of an expression writes it, and its data is 0 before a run
  [[nodiscard]] std::int64_t elements() const {
    return rows == 0 || cols == 0 ? 0 : (rows - 1) * ld + cols;
  }
  [[nodiscard]] std::int64_t bytes() const { return elements() * size_bytes(type); }
};

/// Operand shapes of a normalised problem.
struct GemmShapes {
  MatrixShape a, b, c, d;
  std::vector<MatrixShape> epilogue;  ///< operands of the expression, in its order
};
[[nodiscard]] GemmShapes shapes_of(const Gemm& gemm);

/// The data that inputs are filled with.
enum class DataKind : std::uint8_t { integer, normal };

/// How operands are filled: equal recipes give equal bytes.
struct FillRecipe {
  DataKind kind = DataKind::normal;
  std::uint64_t seed = 1;
  int integer_range = 2;  ///< integers of [-range, range], unsigned types [0, range]
};

/// Memory and data of one operand.
class Matrix {
 public:
  Matrix() = default;
  Matrix(MemoryLedger& ledger, const MatrixShape& shape, const std::string& purpose)
      : shape_(shape), buffer_(ledger, shape.bytes(), shape.alignment, purpose) {}
  [[nodiscard]] const MatrixShape& shape() const { return shape_; }
  [[nodiscard]] GuardedBuffer& buffer() { return buffer_; }
  [[nodiscard]] const GuardedBuffer& buffer() const { return buffer_; }
  [[nodiscard]] DevicePtr data() const { return buffer_.data(); }
  [[nodiscard]] bool is_empty() const { return shape_.elements() == 0; }

 private:
  MatrixShape shape_;
  GuardedBuffer buffer_;
};

/// Device memory for one run of a problem. C is absent if the problem never reads it.
class OperandSet {
 public:
  OperandSet() = default;
  OperandSet(MemoryLedger& ledger, const Gemm& gemm, const std::string& purpose);
  /// What the constructor takes from the ledger.
  [[nodiscard]] static std::int64_t footprint_bytes(const Gemm& gemm);
  /// Bytes that one run touches.
  [[nodiscard]] static std::int64_t touched_bytes(const Gemm& gemm);

  /// Fills all inputs; NaN goes into their leading-dimension padding. What amax() records is reset.
  void fill_inputs(SupportKernels& kernels, const FillRecipe& recipe);
  /// Operands without elements are null, which applications may pass as well.
  [[nodiscard]] GemmArgs arguments(double alpha, double beta, DevicePtr workspace) const;

  [[nodiscard]] const Gemm& gemm() const { return gemm_; }
  [[nodiscard]] bool has_c() const { return gemm_.reads_c; }
  Matrix a, b, c, d;
  std::vector<Matrix> epilogue;  ///< operands of the expression, in its order
  void reset_peaks();

 private:
  Gemm gemm_;
};

/// The slot of the first operand of an epilogue.
inline constexpr int kFirstEpilogueSlot = 3;
/// The arguments that fill operand `slot` (0 A, 1 B, 2 C, then the epilogue's) of that shape at
/// `data`.
[[nodiscard]] FillArgs fill_arguments(const MatrixShape& shape, DevicePtr data, int slot,
                                      const FillRecipe& recipe);

/// Operand sets that consecutive timed runs walk through, so that each run finds its operands
/// outside the L2. Set 0 belongs to the verifier; the others are made here.
class RotatingSets {
 public:
  /// As many sets as make the footprint exceed `footprint_bytes`, within the ledger and kMaxSets.
  RotatingSets(MemoryLedger& ledger, SupportKernels& kernels, OperandSet& first,
               std::int64_t footprint_bytes, std::uint64_t seed);
  [[nodiscard]] int count() const { return static_cast<int>(others_.size()) + 1; }
  [[nodiscard]] const OperandSet& set(int run) const;

 private:
  static constexpr int kMaxSets = 256;
  OperandSet& first_;
  std::vector<OperandSet> others_;
};

}  // namespace kiln
