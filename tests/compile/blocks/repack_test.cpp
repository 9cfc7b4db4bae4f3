// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Repacked operands: every element is where the kernel that multiplies them expects it, rows are
// filled up with zeros to their 16 bytes, and nothing else of the workspace is touched.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "tests/compile/blocks/block_test.hpp"

namespace kiln::testing {
namespace {

const char* const kRepackKernel = R"(
#include <cuda_fp16.h>
#define KILN_USES_F16 1
#include "lib/repack.cuh"

namespace kiln {

template <RepackPlan kPlan, class T>
__global__ void repack_both(const GemmArgs args) {
  repack_operands<kPlan, 256, T, T, float>(args, 3);
}

/// Where the kernel that multiplies looks for the operands, in bytes from the workspace's start,
/// and their leading dimensions.
template <RepackPlan kPlan, class T>
__global__ void places(const GemmArgs args) {
  const GemmArgs packed = with_packed_operands<kPlan, T, float>(args, 3);
  const auto start = reinterpret_cast<unsigned long long>(args.workspace);
  double* to = static_cast<double*>(args.d);
  to[0] = static_cast<double>(reinterpret_cast<unsigned long long>(packed.a) - start);
  to[1] = static_cast<double>(packed.lda);
  to[2] = static_cast<double>(reinterpret_cast<unsigned long long>(packed.b) - start);
  to[3] = static_cast<double>(packed.ldb);
}

}  // namespace kiln
)";

struct RepackCase {
  DType type;
  bool k_major_a;
  bool k_major_b;
  int aligned;  ///< elements, of both operands
  int m;
  int n;
  int k;
};

class Repack : public BlockTest {
 protected:
  void check(const RepackCase& one) {
    const std::string type = one.type == DType::s8    ? "signed char"
                             : one.type == DType::f32 ? "float"
                                                      : "__half";
    const bool turns = one.type != DType::f16;
    const std::string arguments =
        fmt::format("<kiln::RepackPlan{{true, true, {}, {}, {}, {}, {}}}, {}>", one.k_major_a,
                    one.k_major_b, one.aligned, one.aligned, turns, type);
    load(kRepackKernel, {"kiln::repack_both" + arguments, "kiln::places" + arguments});
    if (HasFatalFailure()) return;
    bytes_ = static_cast<int>(size_bytes(one.type));
    vec_ = 16 / bytes_;
    GemmArgs args{};
    args.m = one.m;
    args.n = one.n;
    args.k = one.k;
    const bool packed_along_a = one.k_major_a || turns;
    const bool packed_along_b = one.k_major_b || turns;
    args.lda = odd_multiple(one.k_major_a ? one.k : one.m, one.aligned);
    args.ldb = odd_multiple(one.k_major_b ? one.k : one.n, one.aligned);
    args.a = matrix(one.type, one.m, one.k, static_cast<int>(args.lda), !one.k_major_a);
    args.b = matrix(one.type, one.n, one.k, static_cast<int>(args.ldb), !one.k_major_b, -1.0);
    // Three parts of D, whose rows take whole vectors, come first.
    const int parts = 3 * one.m * round_up(one.n, 4) * 4;
    const int chunks_a = chunks(packed_along_a, one.m, one.k);
    const int chunks_b = chunks(packed_along_b, one.n, one.k);
    const int bytes = parts + 16 * (chunks_a + chunks_b);
    args.workspace = poisoned(static_cast<std::size_t>(bytes) + 64);
    args.d = fresh(4 * sizeof(double));
    const auto blocks = static_cast<unsigned>((chunks_a + 1023) / 1024 + (chunks_b + 1023) / 1024);
    run(0, {{blocks, 1, 1}, {256, 1, 1}, {1, 1, 1}, 0}, args);
    run(1, {{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, 0}, args);

    const auto ld_a = round_up(packed_along_a ? one.k : one.m, 8 * vec_);
    const auto ld_b = round_up(packed_along_b ? one.k : one.n, 8 * vec_);
    EXPECT_EQ(
        values(DType::f64, args.d, 4),
        (std::vector<double>{1.0 * parts, 1.0 * ld_a, 1.0 * parts + 16.0 * chunks_a, 1.0 * ld_b}));
    const auto count = static_cast<std::size_t>(bytes + 64) / static_cast<std::size_t>(bytes_);
    const std::vector<double> got = values(one.type, args.workspace, count);
    std::vector<double> wanted(count, got.front());  // poison
    put(wanted, parts / bytes_, ld_a, packed_along_a, one.m, one.k, 1.0);
    put(wanted, (parts + 16 * chunks_a) / bytes_, ld_b, packed_along_b, one.n, one.k, -1.0);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(got[i], wanted[i]) << "element " << i;
  }

 private:
  static int round_up(int value, int unit) { return (value + unit - 1) / unit * unit; }
  /// A leading dimension that is aligned to so many elements, and to nothing more.
  static int odd_multiple(int length, int unit) {
    const int ld = round_up(length, unit);
    return ld / unit % 2 == 0 ? ld + unit : ld;
  }
  [[nodiscard]] int chunks(bool along, int across, int depth) const {
    return along ? across * (round_up(depth, 8 * vec_) / vec_)
                 : depth * (round_up(across, 8 * vec_) / vec_);
  }
  static void put(std::vector<double>& to, int first, int ld, bool along, int across, int depth,
                  double scale) {
    const int rows = along ? across : depth;
    const int cols = along ? depth : across;
    for (int row = 0; row < rows; ++row) {
      for (int col = 0; col < ld; ++col) {
        const double value = along ? number_at(row, col) : number_at(col, row);
        to.at(static_cast<std::size_t>(first + row * ld + col)) = col < cols ? value * scale : 0.0;
      }
    }
  }

  int bytes_ = 0;
  int vec_ = 0;
};

TEST_F(Repack, RowsOfHalfwordsWhereverTheyBegin) {
  check({DType::f16, true, false, 1, 37, 45, 301});
  check({DType::f16, false, true, 1, 301, 9, 7});
}

TEST_F(Repack, RowsThatStartOnWords) {
  check({DType::f16, true, true, 2, 5, 130, 66});
  check({DType::f16, true, false, 4, 131, 20, 100});
}

TEST_F(Repack, OneElement) {
  check({DType::f16, true, true, 1, 1, 1, 1});
  check({DType::s8, false, false, 1, 1, 1, 1});
}

TEST_F(Repack, RowsOfBytesAndWordsEndUpAlongK) {
  check({DType::s8, false, false, 1, 131, 200, 333});
  check({DType::f32, false, false, 1, 131, 70, 201});
  check({DType::f32, true, false, 4, 67, 64, 128});
  check({DType::s8, true, false, 4, 67, 64, 128});
}

}  // namespace
}  // namespace kiln::testing
