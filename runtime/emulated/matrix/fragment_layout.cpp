// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/emulated/matrix/fragment_layout.hpp"

#include <algorithm>
#include <utility>

#include "runtime/emulated/decode/program.hpp"

namespace kiln::emulated {
namespace {

using Place = FragmentLayout::Place;

/// A layout from a function (lane, register, number in the register) -> {row, col}.
template <class PlaceOf>
FragmentLayout make(int rows, int cols, int registers, int elements_per_register,
                    const PlaceOf& place_of) {
  FragmentLayout layout;
  layout.rows = rows;
  layout.cols = cols;
  layout.registers = registers;
  layout.elements_per_register = elements_per_register;
  layout.copies = registers * elements_per_register * kLanes / (rows * cols);
  for (int e = 0; e < layout.elements(); ++e) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const std::pair<int, int> place =
          place_of(lane, e / elements_per_register, e % elements_per_register);
      layout.places.push_back(
          {static_cast<std::uint16_t>(place.first), static_cast<std::uint16_t>(place.second)});
      layout.offsets.push_back(static_cast<std::uint16_t>(place.first * cols + place.second));
    }
  }
  return layout;
}

constexpr int packed(int bits) {
  return bits >= 32 ? 1 : 32 / bits;
}

/// A of mma.sync: registers go down the groups of eight rows first, then along K.
FragmentLayout a_fragment(int m, int k, int bits) {
  const int p = packed(bits);
  const int down = m / 8;
  return make(m, k, down * (k / (4 * p)), p, [p, down](int lane, int r, int i) {
    return std::pair(lane / 4 + 8 * (r % down), r / down * 4 * p + lane % 4 * p + i);
  });
}

FragmentLayout b_fragment(int k, int bits) {
  const int p = packed(bits);
  return make(k, 8, k / (4 * p), p, [p](int lane, int r, int i) {
    return std::pair(r * 4 * p + lane % 4 * p + i, lane / 4);
  });
}

/// m x n accumulators as columns of m x 8 pieces. Two neighbours in a row follow each other, in one
/// register if they are 16-bit; then come rows, then pieces.
FragmentLayout accumulators(int m, int n, int bits) {
  const int p = bits == 16 ? 2 : 1;
  const int down = m / 8;
  return make(m, n, down * (n / 8) * 2 / p, p, [p, down](int lane, int r, int i) {
    const int e = r * p + i;
    const int pair = e / 2;
    return std::pair(lane / 4 + 8 * (pair % down), pair / down * 8 + lane % 4 * 2 + e % 2);
  });
}

FragmentLayout transposed(const FragmentLayout& of) {
  return make(of.cols, of.rows, of.registers, of.elements_per_register,
              [&of](int lane, int r, int i) {
                const Place place = of.at(lane, r * of.elements_per_register + i);
                return std::pair<int, int>(place.col, place.row);
              });
}

/// `count` fragments below each other, the registers of the first in front.
FragmentLayout stacked(const FragmentLayout& of, int count) {
  return make(of.rows * count, of.cols, of.registers * count, of.elements_per_register,
              [&of](int lane, int r, int i) {
                const Place place = of.at(lane, r % of.registers * of.elements_per_register + i);
                return std::pair<int, int>(place.row + r / of.registers * of.rows, place.col);
              });
}

/// The same elements again until there are `registers`.
FragmentLayout repeated(const FragmentLayout& of, int registers) {
  return make(of.rows, of.cols, registers, of.elements_per_register, [&of](int lane, int r, int i) {
    const Place place = of.at(lane, r % of.registers * of.elements_per_register + i);
    return std::pair<int, int>(place.row, place.col);
  });
}

/// "Matrix Fragments for mma.m8n8k4 with .f16": `high` lanes hold the second four rows or columns.
FragmentLayout quad_pair(MatrixRole role, bool row_major, int bits) {
  const auto product = [](int lane) { return lane % 16 / 4; };
  const auto high = [](int lane) { return lane / 16 * 4; };
  if (role == MatrixRole::a) {
    return make(32, 4, 2, 2, [=](int lane, int r, int i) {
      const int e = r * 2 + i;
      const int row = row_major ? lane % 4 : e;
      return std::pair(product(lane) * 8 + row + high(lane), row_major ? e : lane % 4);
    });
  }
  if (role == MatrixRole::b) {
    return make(16, 8, 2, 2, [=](int lane, int r, int i) {
      const int e = r * 2 + i;
      const int row = row_major ? lane % 4 : e;
      return std::pair(product(lane) * 4 + row, (row_major ? e : lane % 4) + high(lane));
    });
  }
  if (bits == 16) {
    return make(32, 8, 4, 2, [=](int lane, int r, int i) {
      return std::pair(product(lane) * 8 + lane % 4 + high(lane), r * 2 + i);
    });
  }
  return make(32, 8, 8, 1, [=](int lane, int r, int) {
    return std::pair(product(lane) * 8 + (lane & 1) + (r & 2) + high(lane),
                     (r & 4) + (lane & 2) + (r & 1));
  });
}

FragmentLayout ldmatrix(int matrices, bool transpose) {
  return make(8 * matrices, 8, matrices, 2, [transpose](int lane, int r, int i) {
    const int across = lane % 4 * 2 + i;
    return transpose ? std::pair(8 * r + across, lane / 4) : std::pair(8 * r + lane / 4, across);
  });
}

FragmentLayout wmma(const MatrixShape& shape, MatrixRole role, int bits, bool padded) {
  const bool swapped = shape.m == 8 && shape.n == 32;
  FragmentLayout layout;
  if (role == MatrixRole::accumulator) {
    // m32n8 is two m16n8 below each other; m16n16 is two of them beside each other.
    if (swapped) {
      layout = transposed(stacked(accumulators(16, 8, bits), 2));
    } else if (shape.m == 32) {
      layout = stacked(accumulators(16, 8, bits), 2);
    } else {
      layout = accumulators(shape.m, shape.n, bits);
    }
  } else {
    const bool mma_a = (role == MatrixRole::a) != swapped;
    const int length = role == MatrixRole::a ? shape.m : shape.n;  // along M or N
    if (mma_a) {
      layout = stacked(a_fragment(std::min(length, 16), shape.k, bits), std::max(1, length / 16));
      if (swapped) layout = transposed(layout);
    } else {
      // Stacking goes along rows, so that B is stacked as its transpose, N x K.
      layout = stacked(transposed(b_fragment(shape.k, bits)), length / 8);
      if (!swapped) layout = transposed(layout);
    }
  }
  return padded ? repeated(layout, 8) : layout;
}

enum class LayoutFamily : std::uint8_t { mma, quad_pair, ldmatrix, wgmma, wmma };

struct Key {
  LayoutFamily family;
  MatrixShape shape;  ///< n alone for wgmma accumulators, m alone for ldmatrix (matrices)
  MatrixRole role;
  int bits;
  bool option;  ///< row_major, transposed, padded
  [[nodiscard]] bool operator==(const Key&) const = default;
};

struct Entry {
  Key key;
  FragmentLayout layout;
};

void add_mma(std::vector<Entry>& all) {
  struct Rule {
    MatrixShape shape;
    int bits;
    std::vector<int> accumulator_bits;
  };
  const Rule rules[] = {
      {{16, 8, 8}, 16, {16, 32}}, {{16, 8, 16}, 16, {16, 32}}, {{16, 8, 4}, 32, {32}},
      {{16, 8, 8}, 32, {32}},     {{16, 8, 16}, 8, {16, 32}},  {{16, 8, 32}, 8, {16, 32}},
      {{8, 8, 16}, 8, {32}},      {{8, 8, 32}, 4, {32}},       {{16, 8, 32}, 4, {32}},
      {{16, 8, 64}, 4, {32}},     {{8, 8, 128}, 1, {32}},      {{16, 8, 128}, 1, {32}},
      {{16, 8, 256}, 1, {32}},    {{8, 8, 4}, 64, {64}},       {{16, 8, 4}, 64, {64}},
      {{16, 8, 8}, 64, {64}},     {{16, 8, 16}, 64, {64}},
  };
  const auto add = [&all](const MatrixShape& shape, MatrixRole role, int bits,
                          FragmentLayout layout) {
    const Key key{LayoutFamily::mma, shape, role, bits, false};
    const bool known =
        std::any_of(all.begin(), all.end(), [&](const Entry& entry) { return entry.key == key; });
    if (!known) all.push_back({key, std::move(layout)});
  };
  for (const Rule& rule : rules) {
    const auto& [m, n, k] = rule.shape;
    add(rule.shape, MatrixRole::a, rule.bits, a_fragment(m, k, rule.bits));
    add(rule.shape, MatrixRole::b, rule.bits, b_fragment(k, rule.bits));
    for (const int bits : rule.accumulator_bits) {
      add(rule.shape, MatrixRole::accumulator, bits, accumulators(m, n, bits));
    }
  }
}

void add_wmma(std::vector<Entry>& all) {
  struct Rule {
    std::vector<MatrixShape> shapes;
    int bits;
    std::vector<int> accumulator_bits;
  };
  const std::vector<MatrixShape> deep{{16, 16, 16}, {8, 32, 16}, {32, 8, 16}};
  const Rule rules[] = {{deep, 16, {16, 32}},    {deep, 8, {}},           {{{16, 16, 8}}, 32, {32}},
                        {{{8, 8, 4}}, 64, {64}}, {{{8, 8, 32}}, 4, {32}}, {{{8, 8, 128}}, 1, {32}}};
  for (const Rule& rule : rules) {
    for (const MatrixShape& shape : rule.shapes) {
      const auto add = [&](MatrixRole role, int bits, bool padded) {
        all.push_back(
            {{LayoutFamily::wmma, shape, role, bits, padded}, wmma(shape, role, bits, padded)});
      };
      for (const MatrixRole role : {MatrixRole::a, MatrixRole::b}) {
        add(role, rule.bits, false);
        if (rule.bits == 16) add(role, rule.bits, true);
      }
      for (const int bits : rule.accumulator_bits) add(MatrixRole::accumulator, bits, false);
    }
  }
}

std::vector<Entry> make_all() {
  std::vector<Entry> all;
  add_mma(all);
  add_wmma(all);
  for (const bool option : {false, true}) {
    for (const MatrixRole role : {MatrixRole::a, MatrixRole::b}) {
      all.push_back(
          {{LayoutFamily::quad_pair, {8, 8, 4}, role, 16, option}, quad_pair(role, option, 16)});
    }
    for (const int matrices : {1, 2, 4}) {
      all.push_back({{LayoutFamily::ldmatrix, {matrices, 0, 0}, MatrixRole::a, 16, option},
                     ldmatrix(matrices, option)});
    }
  }
  const MatrixRole accumulator = MatrixRole::accumulator;
  for (const int bits : {16, 32}) {
    all.push_back({{LayoutFamily::quad_pair, {8, 8, 4}, accumulator, bits, false},
                   quad_pair(accumulator, false, bits)});
    for (int n = 8; n <= 256; n += 8) {
      all.push_back(
          {{LayoutFamily::wgmma, {0, n, 0}, accumulator, bits, false}, accumulators(16, n, bits)});
    }
  }
  for (const int bits : {8, 16, 32}) {
    all.push_back({{LayoutFamily::wgmma, {0, 0, 0}, MatrixRole::a, bits, false},
                   a_fragment(16, 256 / bits, bits)});
  }
  return all;
}

const FragmentLayout* find(const Key& key) {
  static const std::vector<Entry> all = make_all();
  const auto found =
      std::find_if(all.begin(), all.end(), [&key](const Entry& entry) { return entry.key == key; });
  return found == all.end() ? nullptr : &found->layout;
}

}  // namespace

const FragmentLayout* mma_fragment(const MatrixShape& shape, MatrixRole role, int bits) {
  return find({LayoutFamily::mma, shape, role, bits, false});
}

const FragmentLayout* mma_quad_pair_fragment(MatrixRole role, bool row_major, int bits) {
  const bool option = row_major && role != MatrixRole::accumulator;
  return find({LayoutFamily::quad_pair, {8, 8, 4}, role, bits, option});
}

const FragmentLayout* ldmatrix_fragment(int matrices, bool transposed) {
  return find({LayoutFamily::ldmatrix, {matrices, 0, 0}, MatrixRole::a, 16, transposed});
}

const FragmentLayout* wgmma_accumulator(int n, int bits) {
  return find({LayoutFamily::wgmma, {0, n, 0}, MatrixRole::accumulator, bits, false});
}

const FragmentLayout* wgmma_a_fragment(int bits) {
  return find({LayoutFamily::wgmma, {0, 0, 0}, MatrixRole::a, bits, false});
}

const FragmentLayout* wmma_fragment(const MatrixShape& shape, MatrixRole role, int bits,
                                    bool padded) {
  return find({LayoutFamily::wmma, shape, role, bits, padded});
}

}  // namespace kiln::emulated
