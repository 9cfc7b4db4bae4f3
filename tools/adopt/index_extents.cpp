// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What the index of an array tells of its extents: `(z * ny + y) * nx + x`.
#include <algorithm>
#include <array>

#include "tools/adopt/index.hpp"

namespace kiln::tools {
namespace {

constexpr int kMostExtents = 8;
constexpr int kMostHops = 4;  // from a variable to what it is set to
constexpr std::size_t kMostTerms = 32;

}  // namespace

IndexReader::Range IndexReader::inner_range(Range range) const {
  for (int hop = 0; hop < kMostHops && range.first < range.second; ++hop) {
    if (const auto behind = cast_end(range.first);
        behind > range.first && operand_end(range.first) == range.second) {
      range.first = behind;
    } else if (tokens_[range.first].is("(") &&
               closing_bracket(tokens_, range.first, end_) + 1 == range.second) {
      range = {range.first + 1, range.second - 1};
    } else if (range.second == range.first + 1) {
      const auto value = values_.find(tokens_[range.first].text);
      const bool is_fixed = value != values_.end() && !set_again_.contains(value->first);
      // A variable that something is compared with says more than what it is set to.
      if (!is_fixed || limits_.contains(value->first)) break;
      range = value->second;
    } else {
      break;
    }
  }
  return range;
}

std::vector<IndexReader::Term> IndexReader::terms_of(Range range, int depth) const {
  range = inner_range(range);
  std::vector<Term> terms(1);
  std::size_t begin = range.first;
  bool is_plain = true;  // of sums and products
  const auto end_factor = [&](std::size_t at) {
    if (at > begin) terms.back().push_back({begin, at});
    is_plain = is_plain && terms.back().size() <= kMostTerms;
    begin = at + 1;
  };
  for (std::size_t i = range.first; i < range.second; ++i) {
    const CodeToken& token = tokens_[i];
    if (token.is("(") || token.is("[")) {
      i = std::min(closing_bracket(tokens_, i, end_), range.second - 1);
    } else if (token.is("+") || token.is("-")) {
      end_factor(i);
      if (!terms.back().empty()) terms.emplace_back();
    } else if (token.is("*")) {
      end_factor(i);
    } else if (token.is("/") || token.is("%") || token.is("?") || token.is("<<") ||
               token.is(">>") || token.is("&") || token.is("|")) {
      is_plain = false;
    }
  }
  end_factor(range.second);
  if (!is_plain || terms.size() > kMostTerms) return {{range}};
  if (terms.back().empty()) terms.pop_back();
  // A sum within the sum: `base + (y * width + x)`, or a variable that is one.
  std::vector<Term> result;
  for (const Term& term : terms) {
    const Range inner = term.size() == 1 ? inner_range(term.front()) : Range{};
    if (term.size() == 1 && inner != term.front() && depth < kMostHops) {
      const auto more = terms_of(inner, depth + 1);
      result.insert(result.end(), more.begin(), more.end());
    } else {
      result.push_back(term);
    }
    if (result.size() > kMostTerms) return {{range}};
  }
  return result;
}

IndexReader::RowIndex IndexReader::row_index(const std::vector<Term>& terms) const {
  RowIndex index;
  const auto length_at = [&](const Term& term, const std::string& wanted) {
    for (std::size_t i = 0; term.size() > 1 && i < term.size(); ++i) {
      const auto text = plain_text(term[i], true);
      const bool is_it = text && integers_.contains(*text) && (wanted.empty() || *text == wanted);
      if (is_it) return i;
    }
    return term.size();
  };
  for (const Term& term : terms) {
    for (const Range& factor : term) {
      const auto text = plain_text(factor, true);
      if (term.size() < 2 || !text || !integers_.contains(*text)) continue;
      // The length of a row is a factor of all that select one.
      const bool is_common = std::all_of(terms.begin(), terms.end(), [&](const Term& each) {
        return length_at(each, "") == each.size() || length_at(each, *text) < each.size();
      });
      if (is_common) index.length = *text;
      if (is_common) break;
    }
    if (!index.length.empty()) break;
  }
  for (const Term& term : terms) {
    const auto at = index.length.empty() ? term.size() : length_at(term, index.length);
    if (at == term.size()) {
      index.rest.push_back(term);
      continue;
    }
    Term row = term;
    row.erase(row.begin() + static_cast<std::ptrdiff_t>(at));
    index.row.push_back(std::move(row));
  }
  return index;
}

void IndexReader::add_bounds(Range range, Bounds& bounds) const {
  for (std::size_t i = range.first; i < range.second; ++i) {
    if (!is_variable(i)) continue;
    if (tokens_[i].is("blockIdx") && i + 2 < range.second) {
      for (std::size_t dimension = 0; dimension < dimensions_.size(); ++dimension) {
        const bool is_it = tokens_[i + 2].is(std::array{"x", "y", "z"}.at(dimension));
        const auto& of_block = dimensions_[dimension].bounds;
        if (is_it && !of_block.empty()) bounds.sizes.insert(of_block.front());
      }
      continue;
    }
    const auto limit = limits_.find(tokens_[i].text);
    if (limit != limits_.end()) {
      bounds.sizes.insert(limit->second.begin(), limit->second.end());
      continue;
    }
    const auto value = values_.find(tokens_[i].text);
    constexpr std::size_t kMostVariables = 64;
    const bool is_new = value != values_.end() && bounds.seen.size() < kMostVariables &&
                        bounds.seen.insert(value->first).second;
    if (is_new) add_bounds(value->second, bounds);
  }
}

std::string IndexReader::bound_of(const std::vector<Term>& terms) const {
  Bounds bounds;
  for (const Term& term : terms) {
    for (const Range& factor : term) add_bounds(factor, bounds);
  }
  const auto& sizes = bounds.sizes;
  return sizes.size() == 1 && integers_.contains(*sizes.begin()) ? *sizes.begin() : "";
}

std::string IndexReader::extents_of(const std::vector<Term>& terms, int depth) const {
  if (depth > kMostExtents) return "";
  const RowIndex index = row_index(terms);
  if (index.length.empty()) return bound_of(terms);
  std::vector<Term> row;
  for (const Term& term : index.row) {
    if (term.size() > 1) {
      row.push_back(term);
      continue;
    }
    const auto more = terms_of(term.front(), 0);
    row.insert(row.end(), more.begin(), more.end());
  }
  const std::string outer = extents_of(row, depth + 1);
  // A row that is longer than what is read of it has a border.
  const std::string within = bound_of(index.rest);
  const bool fits = within.empty() || within == index.length;
  return outer.empty() || !fits ? "" : outer + ", " + index.length;
}

std::string IndexReader::extents_of(Range index) const {
  return extents_of(terms_of(index, 0), 0);
}

unsigned IndexReader::dimensions_of(const std::vector<Term>& terms) const {
  unsigned mask = 0;
  for (const Term& term : terms) {
    for (const Range& factor : term) mask |= dimensions_of(factor);
  }
  return mask;
}

void IndexReader::read_columns() {
  for (std::size_t i = begin_; i < end_; ++i) {
    if (!tokens_[i].is("[")) continue;
    const auto close = std::min(closing_bracket(tokens_, i, end_), end_);
    const RowIndex index = row_index(terms_of({i + 1, close}, 0));
    if (index.length.empty()) continue;
    const unsigned of_rest = dimensions_of(index.rest);
    for (std::size_t dimension = 0; dimension < dimensions_.size(); ++dimension) {
      if (of_rest != 1U << dimension || (dimensions_of(index.row) & of_rest) != 0) continue;
      auto& columns = dimensions_[dimension].columns;
      if (std::find(columns.begin(), columns.end(), index.length) == columns.end()) {
        columns.push_back(index.length);
      }
    }
  }
}

}  // namespace kiln::tools
