// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Blocks that have a row each, and threads that walk along it.
#include <algorithm>

#include "tools/adopt/index.hpp"
#include "tools/adopt/types.hpp"

namespace kiln::tools {

void IndexReader::read_rows() {
  for (std::size_t i = begin_ + 1; i + 1 < end_; ++i) {
    if (!tokens_[i].is("*")) continue;
    const Range left{operand_begin(i), i};
    const Range right{i + 1, operand_end(i + 1)};
    if (right.second <= right.first) continue;
    add_row_length(left, right);
    add_row_length(right, left);
  }
}

void IndexReader::add_row_length(Range block, Range length) {
  const auto text = plain_text(length, true);
  if (!text || !integers_.contains(*text)) return;
  const unsigned mask = dimensions_of(block);
  for (std::size_t dimension = 0; dimension < dimensions_.size(); ++dimension) {
    if (mask != 1U << dimension) continue;
    auto& lengths = dimensions_[dimension].row_lengths;
    if (std::find(lengths.begin(), lengths.end(), *text) == lengths.end()) {
      lengths.push_back(*text);
    }
  }
}

bool IndexReader::is_block_number(Range range, int depth) const {
  constexpr int kMostVariables = 4;
  if (depth > kMostVariables) return false;
  bool has_block = false;
  for (std::size_t i = range.first; i < range.second; ++i) {
    const bool computes = tokens_[i].is("+") || tokens_[i].is("-") || tokens_[i].is("*") ||
                          tokens_[i].is("/") || tokens_[i].is("%") || tokens_[i].is("<<") ||
                          tokens_[i].is(">>") || tokens_[i].is("threadIdx");
    if (computes) return false;
    if (!is_variable(i)) continue;
    has_block = has_block || tokens_[i].is("blockIdx");
    const auto value = values_.find(tokens_[i].text);
    if (value == values_.end()) continue;
    if (set_again_.contains(tokens_[i].text) || !is_block_number(value->second, depth + 1)) {
      return false;
    }
    has_block = true;
  }
  return has_block;
}

/// `for (int c = threadIdx.x; c < cols; c += 256)`.
void IndexReader::read_strides() {
  constexpr std::string_view kAxes = "xyz";
  for (std::size_t i = begin_; i + 1 < end_; ++i) {
    if (!tokens_[i].is("for") || !sees(i + 1, "(")) continue;
    const auto close = closing_bracket(tokens_, i + 1, end_);
    for (std::size_t at = i + 2; at + 1 < close; ++at) {
      if (!tokens_[at].is("+=")) continue;
      const auto stride = plain_text({at + 1, expression_end(at + 1)}, false);
      if (!stride || stride->find("blockDim") != std::string::npos) break;
      for (std::size_t start = i + 2; start + 2 < at && !tokens_[start].is(";"); ++start) {
        if (!tokens_[start].is("threadIdx")) continue;
        const auto axis = kAxes.find(tokens_[start + 2].text);
        if (axis < dimensions_.size()) dimensions_[axis].strides.push_back(*stride);
      }
      break;
    }
  }
}

/// `for (int k = 0; k < depth; k += TILE)`, of a size that nothing else is compared with.
std::set<std::pair<std::string, std::string>> IndexReader::steps() const {
  std::set<std::pair<std::string, std::string>> result;
  for (std::size_t i = begin_; i + 1 < end_; ++i) {
    if (!tokens_[i].is("for") || !sees(i + 1, "(")) continue;
    const auto close = closing_bracket(tokens_, i + 1, end_);
    // The size is the last word of the condition, the step that of the loop.
    if (close >= end_ || close < i + 8 || !sees(close - 2, "+=") || !sees(close - 4, ";")) continue;
    const std::string size(tokens_[close - 5].text), step(tokens_[close - 1].text);
    const auto count = comparisons_.find(size);
    const bool is_loop = sees(close - 6, "<") && count != comparisons_.end() && count->second == 1;
    const bool begins_at_zero = sees(i + 4, "=") && sees(i + 5, "0");
    if (is_loop && begins_at_zero && integers_.contains(size) && constants_.contains(step)) {
      result.emplace(size, step);
    }
  }
  return result;
}

}  // namespace kiln::tools
