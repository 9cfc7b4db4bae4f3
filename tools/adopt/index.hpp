// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/adopt/body.hpp"
#include "tools/adopt/source.hpp"

namespace kiln::tools {

/// Follows blockIdx from where a kernel mentions it to what it is compared with.
class IndexReader {
 public:
  IndexReader(const SourceModel& model, const SourceKernel& kernel,
              const std::set<std::string, std::less<>>& constants,
              const std::set<std::string, std::less<>>& sizes);

  [[nodiscard]] const std::array<DimensionUse, 3>& dimensions() const { return dimensions_; }
  [[nodiscard]] const std::set<std::string, std::less<>>& compared() const { return compared_; }
  [[nodiscard]] const std::set<std::string, std::less<>>& indexing() const { return indexing_; }

  [[nodiscard]] std::set<std::pair<std::string, std::string>> steps() const;

  /// Tokens [first, second).
  using Range = std::pair<std::size_t, std::size_t>;
  /// Whether tokens depend on blockIdx.
  [[nodiscard]] bool depends_on_block(Range range) const { return dimensions_of(range) != 0; }
  /// Behind the expression that begins there: at its comma, semicolon or parenthesis.
  [[nodiscard]] std::size_t expression_end(std::size_t begin) const;
  /// Whether they are a blockIdx and nothing more, perhaps through variables.
  [[nodiscard]] bool is_block_number(Range range, int depth = 0) const;
  /// The extents of an array with that index, the outermost first: "height, width"; "" if the index
  /// does not tell all of them.
  [[nodiscard]] std::string extents_of(Range index) const;

 private:
  [[nodiscard]] bool sees(std::size_t i, std::string_view text) const;
  /// A word that is no member of something else.
  [[nodiscard]] bool is_variable(std::size_t i) const;
  void read_builtins();
  void follow_assignments();
  void read_comparisons();
  void read_factors();
  void read_indices();
  void read_rows();
  void read_strides();
  void read_columns();
  /// A product of an index: its factors.
  using Term = std::vector<Range>;
  /// `a * b + c` as products.
  [[nodiscard]] std::vector<Term> terms_of(Range range, int depth) const;
  /// Without parentheses and casts around all of it; the value of a variable in its place.
  [[nodiscard]] Range inner_range(Range range) const;
  /// An index within rows: the size that is their length, what selects the row, and the rest.
  struct RowIndex {
    std::string length;
    std::vector<Term> row, rest;
  };
  [[nodiscard]] RowIndex row_index(const std::vector<Term>& terms) const;
  [[nodiscard]] std::string extents_of(const std::vector<Term>& terms, int depth) const;
  /// The size that all variables of the ranges are below, or "".
  [[nodiscard]] std::string bound_of(const std::vector<Term>& terms) const;
  struct Bounds {
    std::set<std::string> sizes;
    std::set<std::string_view> seen;  ///< variables whose values are known
  };
  void add_bounds(Range range, Bounds& bounds) const;
  [[nodiscard]] unsigned dimensions_of(const std::vector<Term>& terms) const;
  /// `sides` of a product: one depends on one blockIdx, the other is a size.
  void add_row_length(Range block, Range length);
  /// `index` depends on blockIdx, `bound` does not.
  void add_bound(int dimension, Range index, Range bound);
  /// Remembers the expressions that an index is made of.
  void add_index(Range range);
  /// What multiplies tokens [begin, end) and the groups around them.
  void add_factors(int dimension, std::size_t begin, std::size_t end);
  [[nodiscard]] bool is_integer_type(std::size_t begin, std::size_t end) const;
  /// Behind a cast to an integer, `(size_t)`, `size_t` before a parenthesis, `static_cast<size_t>`;
  /// `begin` itself if there is none.
  [[nodiscard]] std::size_t cast_end(std::size_t begin) const;
  /// Where the casts before an operand begin.
  [[nodiscard]] std::size_t cast_begin(std::size_t operand) const;
  [[nodiscard]] std::size_t operand_end(std::size_t begin) const;
  [[nodiscard]] std::size_t operand_begin(std::size_t end) const;
  void add_factor(int dimension, Range range);
  void add_factor_text(int dimension, std::string text);
  /// `<< range`: a factor that is a power of two.
  void add_shift(int dimension, Range range);
  /// " * 8" of `<< 3`, " / 8" of `>> 3`, within `range`; nothing where more than the operand
  /// before it is shifted, or by more than a number.
  [[nodiscard]] std::optional<std::string> shift_text(Range range, std::size_t at) const;
  [[nodiscard]] std::optional<Range> group_around(std::size_t begin, std::size_t end) const;
  [[nodiscard]] Range left_side(std::size_t comparison) const;
  [[nodiscard]] Range right_side(std::size_t comparison) const;
  /// The dimensions of blockIdx that the tokens depend on, a bit each.
  [[nodiscard]] unsigned dimensions_of(Range range) const;
  /// The text of an expression of parameters (if those may take part) and constants, with variables
  /// replaced by what they are set to; nothing if anything else takes part.
  [[nodiscard]] std::optional<std::string> plain_text(Range range, bool with_parameters,
                                                      int depth = 0) const;
  [[nodiscard]] bool has_integer(const std::string& text) const;

  const SourceModel& model_;
  const std::vector<CodeToken>& tokens_;
  std::size_t begin_;
  std::size_t end_;
  const std::set<std::string, std::less<>>& constants_;
  std::set<std::string, std::less<>> integers_;             ///< parameters
  std::map<std::string, unsigned, std::less<>> variables_;  ///< by dimensions they depend on
  /// Of variables that are set several times, where, and what they then depend on.
  std::map<std::string, std::vector<std::pair<std::size_t, unsigned>>, std::less<>> settings_;
  std::set<std::string, std::less<>> mixed_;  ///< of variables, those that others are added to
  [[nodiscard]] unsigned dimensions_at(std::size_t i) const;
  std::map<std::string, Range, std::less<>> values_;  ///< of variables that are set once
  std::set<std::string, std::less<>> set_again_;
  std::multimap<std::string, Range, std::less<>> assignments_;        ///< all of them
  std::map<std::string, std::set<std::string>, std::less<>> limits_;  ///< sizes above variables
  std::set<Range> indices_;  ///< expressions that lead to what is compared with a size
  std::array<DimensionUse, 3> dimensions_;
  std::map<std::string, int, std::less<>> comparisons_;  ///< of integers
  std::set<std::string, std::less<>> compared_, indexing_;
};

}  // namespace kiln::tools
