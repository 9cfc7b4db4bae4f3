// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/matrix/fragment_layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace kiln::emulated {
namespace {

using enum MatrixRole;

/// Every element `copies` times, and the tables agree with each other.
void expect_covers(const FragmentLayout* layout, int rows, int cols, int registers, int copies,
                   const std::string& name) {
  ASSERT_NE(layout, nullptr) << name;
  EXPECT_EQ(layout->rows, rows) << name;
  EXPECT_EQ(layout->cols, cols) << name;
  EXPECT_EQ(layout->registers, registers) << name;
  EXPECT_EQ(layout->copies, copies) << name;
  std::vector<int> seen(layout->offsets.size() / static_cast<std::size_t>(copies), 0);
  for (int e = 0; e < layout->elements(); ++e) {
    for (int lane = 0; lane < 32; ++lane) {
      const auto [row, col] = layout->at(lane, e);
      ASSERT_LT(row, rows) << name;
      ASSERT_LT(col, cols) << name;
      ASSERT_EQ(layout->offsets[static_cast<std::size_t>(e * 32 + lane)], row * cols + col);
      ++seen[static_cast<std::size_t>(row * cols + col)];
    }
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), copies), rows * cols) << name;
}

struct MmaCase {
  MatrixShape shape;
  int bits;
  int accumulator_bits;
  int a_registers;
  int b_registers;
  int accumulator_registers;
};

// Shapes and counts of registers from the syntax of mma in the PTX ISA.
const MmaCase kMmaCases[] = {
    {{16, 8, 8}, 16, 32, 2, 1, 4},  {{16, 8, 8}, 16, 16, 2, 1, 2},  {{16, 8, 16}, 16, 32, 4, 2, 4},
    {{16, 8, 16}, 16, 16, 4, 2, 2}, {{16, 8, 4}, 32, 32, 2, 1, 4},  {{16, 8, 8}, 32, 32, 4, 2, 4},
    {{16, 8, 32}, 8, 32, 4, 2, 4},  {{16, 8, 16}, 8, 32, 2, 1, 4},  {{16, 8, 32}, 8, 16, 4, 2, 2},
    {{8, 8, 16}, 8, 32, 1, 1, 2},   {{8, 8, 32}, 4, 32, 1, 1, 2},   {{16, 8, 32}, 4, 32, 2, 1, 4},
    {{16, 8, 64}, 4, 32, 4, 2, 4},  {{8, 8, 128}, 1, 32, 1, 1, 2},  {{16, 8, 128}, 1, 32, 2, 1, 4},
    {{16, 8, 256}, 1, 32, 4, 2, 4}, {{8, 8, 4}, 64, 64, 1, 1, 2},   {{16, 8, 4}, 64, 64, 2, 1, 4},
    {{16, 8, 8}, 64, 64, 4, 2, 4},  {{16, 8, 16}, 64, 64, 8, 4, 4},
};

TEST(FragmentLayout, MmaFragmentsCoverTheirMatricesOnce) {
  for (const MmaCase& each : kMmaCases) {
    const auto [m, n, k] = each.shape;
    const std::string name = "m" + std::to_string(m) + "n" + std::to_string(n) + "k" +
                             std::to_string(k) + " of " + std::to_string(each.bits);
    expect_covers(mma_fragment(each.shape, a, each.bits), m, k, each.a_registers, 1, name + " A");
    expect_covers(mma_fragment(each.shape, b, each.bits), k, n, each.b_registers, 1, name + " B");
    expect_covers(mma_fragment(each.shape, accumulator, each.accumulator_bits), m, n,
                  each.accumulator_registers, 1, name + " C");
  }
}

TEST(FragmentLayout, UnknownShapesHaveNoFragment) {
  EXPECT_EQ(mma_fragment({16, 8, 16}, a, 4), nullptr);
  EXPECT_EQ(mma_fragment({16, 16, 16}, a, 16), nullptr);
  EXPECT_EQ(mma_fragment({8, 8, 4}, a, 16), nullptr);
  EXPECT_EQ(wmma_fragment({16, 16, 16}, a, 32, false), nullptr);
  EXPECT_EQ(wmma_fragment({16, 16, 16}, a, 8, true), nullptr);
  EXPECT_EQ(wgmma_accumulator(12, 32), nullptr);
  EXPECT_EQ(wgmma_accumulator(264, 32), nullptr);
  EXPECT_EQ(wgmma_accumulator(0, 32), nullptr);
  EXPECT_EQ(wgmma_a_fragment(64), nullptr);
  EXPECT_EQ(ldmatrix_fragment(3, false), nullptr);
  EXPECT_EQ(mma_fragment({16, 8, 16}, a, 16), mma_fragment({16, 8, 16}, a, 16));
}

/// Compares a layout with the ISA's formulas: (group, thread in group, element) -> (row, col).
template <class Formula>
void expect_formula(const FragmentLayout* layout, int elements, const Formula& formula) {
  ASSERT_NE(layout, nullptr);
  ASSERT_EQ(layout->elements(), elements);
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < elements; ++i) {
      const auto [row, col] = layout->at(lane, i);
      const std::pair<int, int> expected = formula(lane >> 2, lane % 4, i);
      ASSERT_EQ((std::pair<int, int>(row, col)), expected) << "lane " << lane << " element " << i;
    }
  }
}

TEST(FragmentLayout, F16FragmentsFollowTheFormulasOfTheIsa) {
  expect_formula(mma_fragment({16, 8, 16}, a, 16), 8, [](int group, int thread, int i) {
    const bool upper = i < 2 || (i >= 4 && i < 6);
    return std::pair(upper ? group : group + 8, thread * 2 + (i & 1) + (i >= 4 ? 8 : 0));
  });
  expect_formula(mma_fragment({16, 8, 16}, b, 16), 4, [](int group, int thread, int i) {
    return std::pair(thread * 2 + (i & 1) + (i >= 2 ? 8 : 0), group);
  });
  for (const int bits : {16, 32}) {
    expect_formula(mma_fragment({16, 8, 16}, accumulator, bits), 4,
                   [](int group, int thread, int i) {
                     return std::pair(i < 2 ? group : group + 8, thread * 2 + (i & 1));
                   });
  }
  expect_formula(mma_fragment({16, 8, 8}, a, 16), 4, [](int group, int thread, int i) {
    return std::pair(i < 2 ? group : group + 8, thread * 2 + (i & 1));
  });
}

TEST(FragmentLayout, IntegerFragmentsFollowTheFormulasOfTheIsa) {
  expect_formula(mma_fragment({16, 8, 32}, a, 8), 16, [](int group, int thread, int i) {
    const bool upper = i < 4 || (i >= 8 && i < 12);
    return std::pair(upper ? group : group + 8, thread * 4 + (i & 3) + (i < 8 ? 0 : 16));
  });
  expect_formula(mma_fragment({16, 8, 32}, b, 8), 8, [](int group, int thread, int i) {
    return std::pair(thread * 4 + (i & 3) + (i < 4 ? 0 : 16), group);
  });
  expect_formula(mma_fragment({16, 8, 64}, a, 4), 32, [](int group, int thread, int i) {
    const bool upper = i < 8 || (i >= 16 && i < 24);
    return std::pair(upper ? group : group + 8, thread * 8 + (i & 7) + (i < 16 ? 0 : 32));
  });
  expect_formula(mma_fragment({16, 8, 256}, a, 1), 128, [](int group, int thread, int i) {
    const bool upper = i < 32 || (i >= 64 && i < 96);
    return std::pair(upper ? group : group + 8, thread * 32 + (i & 31) + (i < 64 ? 0 : 128));
  });
  expect_formula(mma_fragment({16, 8, 256}, b, 1), 64, [](int group, int thread, int i) {
    return std::pair(thread * 32 + (i & 31) + (i < 32 ? 0 : 128), group);
  });
}

TEST(FragmentLayout, Tf32AndF64FragmentsFollowTheFormulasOfTheIsa) {
  expect_formula(mma_fragment({16, 8, 8}, a, 32), 4, [](int group, int thread, int i) {
    return std::pair(i == 0 || i == 2 ? group : group + 8, i < 2 ? thread : thread + 4);
  });
  expect_formula(mma_fragment({16, 8, 8}, b, 32), 2, [](int group, int thread, int i) {
    return std::pair(i == 0 ? thread : thread + 4, group);
  });
  expect_formula(mma_fragment({16, 8, 16}, a, 64), 8, [](int group, int thread, int i) {
    return std::pair(i % 2 == 0 ? group : group + 8, (i % 2 == 0 ? i * 2 : i * 2 - 2) + thread);
  });
  expect_formula(mma_fragment({16, 8, 16}, b, 64), 4,
                 [](int group, int thread, int i) { return std::pair(thread + i * 4, group); });
  expect_formula(mma_fragment({8, 8, 4}, accumulator, 64), 2, [](int group, int thread, int i) {
    return std::pair(group, thread * 2 + (i & 1));
  });
}

TEST(FragmentLayout, QuadPairsHoldFourProducts) {
  for (const bool row_major : {false, true}) {
    expect_covers(mma_quad_pair_fragment(a, row_major, 16), 32, 4, 2, 1, "A");
    expect_covers(mma_quad_pair_fragment(b, row_major, 16), 16, 8, 2, 1, "B");
    expect_covers(mma_quad_pair_fragment(accumulator, row_major, 16), 32, 8, 4, 1, "f16");
    expect_covers(mma_quad_pair_fragment(accumulator, row_major, 32), 32, 8, 8, 1, "f32");
  }
  // Lane 21 is lane 1 of the upper half of product 1.
  const auto at = [](const FragmentLayout* layout, int i) {
    return std::pair<int, int>(layout->at(21, i).row, layout->at(21, i).col);
  };
  EXPECT_EQ(at(mma_quad_pair_fragment(a, true, 16), 2), std::pair(8 + 1 + 4, 2));
  EXPECT_EQ(at(mma_quad_pair_fragment(a, false, 16), 2), std::pair(8 + 2 + 4, 1));
  EXPECT_EQ(at(mma_quad_pair_fragment(b, true, 16), 3), std::pair(4 + 1, 7));
  EXPECT_EQ(at(mma_quad_pair_fragment(b, false, 16), 3), std::pair(4 + 3, 5));
  EXPECT_EQ(at(mma_quad_pair_fragment(accumulator, true, 16), 6), std::pair(8 + 5, 6));
  EXPECT_EQ(at(mma_quad_pair_fragment(accumulator, true, 32), 6), std::pair(8 + 1 + 2 + 4, 4));
}

TEST(FragmentLayout, LdmatrixGivesAFragmentsAndTransposes) {
  for (const int matrices : {1, 2, 4}) {
    for (const bool transposed : {false, true}) {
      expect_covers(ldmatrix_fragment(matrices, transposed), 8 * matrices, 8, matrices, 1, "x");
    }
  }
  // Four matrices in the order (0,0), (8,0), (0,8), (8,8) are an A fragment of m16n8k16.
  const FragmentLayout* loaded = ldmatrix_fragment(4, false);
  const FragmentLayout* wanted = mma_fragment({16, 8, 16}, a, 16);
  const FragmentLayout* turned = ldmatrix_fragment(4, true);
  for (int lane = 0; lane < 32; ++lane) {
    for (int e = 0; e < 8; ++e) {
      const auto [row, col] = loaded->at(lane, e);
      const int matrix = row / 8;
      EXPECT_EQ(wanted->at(lane, e).row, row % 8 + matrix % 2 * 8);
      EXPECT_EQ(wanted->at(lane, e).col, col + matrix / 2 * 8);
      EXPECT_EQ(turned->at(lane, e).row, matrix * 8 + col);
      EXPECT_EQ(turned->at(lane, e).col, row % 8);
    }
  }
}

TEST(FragmentLayout, WgmmaFragmentsAreWarpsOfSixteenRows) {
  for (int n = 8; n <= 256; n += 8) {
    expect_covers(wgmma_accumulator(n, 32), 16, n, n / 2, 1, "f32");
    expect_covers(wgmma_accumulator(n, 16), 16, n, n / 4, 1, "f16");
    // "row = groupID, +8 for i % 4 >= 2; col = 8 * (i / 4) + threadID_in_group * 2 + (i & 1)"
    for (const int bits : {16, 32}) {
      expect_formula(wgmma_accumulator(n, bits), n / 2, [](int group, int thread, int i) {
        return std::pair(group + (i % 4 < 2 ? 0 : 8), 8 * (i / 4) + thread * 2 + (i & 1));
      });
    }
  }
  expect_covers(wgmma_a_fragment(16), 16, 16, 4, 1, "f16");
  expect_covers(wgmma_a_fragment(8), 16, 32, 4, 1, "s8");
  expect_covers(wgmma_a_fragment(32), 16, 8, 4, 1, "tf32");
  EXPECT_EQ(wgmma_a_fragment(16)->offsets, mma_fragment({16, 8, 16}, a, 16)->offsets);
  EXPECT_EQ(wgmma_a_fragment(8)->offsets, mma_fragment({16, 8, 32}, a, 8)->offsets);
  EXPECT_EQ(wgmma_a_fragment(32)->offsets, mma_fragment({16, 8, 8}, a, 32)->offsets);
}

TEST(FragmentLayout, WmmaFragmentsHaveTheRegistersOfTheIsa) {
  struct Case {
    MatrixShape shape;
    int bits;
    bool padded;
    int a_registers, b_registers;
    int a_copies, b_copies;
  };
  const Case cases[] = {
      {{16, 16, 16}, 16, true, 8, 8, 2, 2}, {{8, 32, 16}, 16, true, 8, 8, 4, 1},
      {{32, 8, 16}, 16, true, 8, 8, 1, 4},  {{16, 16, 16}, 16, false, 4, 4, 1, 1},
      {{8, 32, 16}, 16, false, 2, 8, 1, 1}, {{32, 8, 16}, 16, false, 8, 2, 1, 1},
      {{16, 16, 16}, 8, false, 2, 2, 1, 1}, {{8, 32, 16}, 8, false, 1, 4, 1, 1},
      {{32, 8, 16}, 8, false, 4, 1, 1, 1},  {{16, 16, 8}, 32, false, 4, 4, 1, 1},
      {{8, 8, 4}, 64, false, 1, 1, 1, 1},   {{8, 8, 32}, 4, false, 1, 1, 1, 1},
      {{8, 8, 128}, 1, false, 1, 1, 1, 1},
  };
  for (const Case& each : cases) {
    const auto [m, n, k] = each.shape;
    const std::string name = std::to_string(m) + "x" + std::to_string(n) + "x" + std::to_string(k) +
                             " of " + std::to_string(each.bits);
    expect_covers(wmma_fragment(each.shape, a, each.bits, each.padded), m, k, each.a_registers,
                  each.a_copies, name + " A");
    expect_covers(wmma_fragment(each.shape, b, each.bits, each.padded), k, n, each.b_registers,
                  each.b_copies, name + " B");
    const int bits = each.bits == 64 ? 64 : 32;
    expect_covers(wmma_fragment(each.shape, accumulator, bits, false), m, n, m * n / 32, 1, name);
  }
  for (const MatrixShape& shape : {MatrixShape{16, 16, 16}, {8, 32, 16}, {32, 8, 16}}) {
    expect_covers(wmma_fragment(shape, accumulator, 16, false), shape.m, shape.n, 4, 1, "f16");
  }
}

// What the compiler makes of these for sm_90, read from its machine code.
TEST(FragmentLayout, WmmaIsMmaSideBySide) {
  const auto place = [](const FragmentLayout* layout, int lane, int e) {
    return std::pair<int, int>(layout->at(lane, e).row, layout->at(lane, e).col);
  };
  const int lane = 14;  // group 3, thread 2
  // m16n16k16: two m16n8k16; B and the accumulators of columns 0 to 7 come first.
  EXPECT_EQ(wmma_fragment({16, 16, 16}, a, 16, false)->offsets,
            mma_fragment({16, 8, 16}, a, 16)->offsets);
  EXPECT_EQ(place(wmma_fragment({16, 16, 16}, b, 16, false), lane, 3), std::pair(8 + 5, 3));
  EXPECT_EQ(place(wmma_fragment({16, 16, 16}, b, 16, false), lane, 5), std::pair(5, 8 + 3));
  EXPECT_EQ(place(wmma_fragment({16, 16, 16}, accumulator, 32, false), lane, 3), std::pair(11, 5));
  EXPECT_EQ(place(wmma_fragment({16, 16, 16}, accumulator, 32, false), lane, 4), std::pair(3, 12));
  // m32n8k16: rows 16 to 31 are a second m16n8k16 with the same B.
  EXPECT_EQ(place(wmma_fragment({32, 8, 16}, a, 16, true), lane, 7), std::pair(8 + 3, 8 + 5));
  EXPECT_EQ(place(wmma_fragment({32, 8, 16}, a, 16, true), lane, 8), std::pair(16 + 3, 4));
  EXPECT_EQ(place(wmma_fragment({32, 8, 16}, accumulator, 32, false), lane, 5), std::pair(19, 5));
  // m8n32k16 is the transpose of m32n8k16.
  EXPECT_EQ(place(wmma_fragment({8, 32, 16}, a, 16, true), lane, 2), std::pair(3, 8 + 4));
  EXPECT_EQ(place(wmma_fragment({8, 32, 16}, b, 16, true), lane, 8), std::pair(4, 16 + 3));
  EXPECT_EQ(place(wmma_fragment({8, 32, 16}, accumulator, 32, false), lane, 1), std::pair(5, 3));
  EXPECT_EQ(place(wmma_fragment({8, 32, 16}, accumulator, 32, false), lane, 2), std::pair(4, 11));
  EXPECT_EQ(place(wmma_fragment({8, 32, 16}, accumulator, 16, false), lane, 2), std::pair(4, 11));
  EXPECT_EQ(place(wmma_fragment({8, 32, 16}, b, 8, false), lane, 4), std::pair(8, 8 + 3));
  // Repetitions lie in the lane of the original.
  const FragmentLayout* padded = wmma_fragment({8, 32, 16}, a, 16, true);
  for (int e = 4; e < 16; ++e) EXPECT_EQ(place(padded, lane, e), place(padded, lane, e % 4));
}

}  // namespace
}  // namespace kiln::emulated
