// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/nearest_name.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>
#include <vector>

namespace kiln {
namespace {

bool is_decimal(char c) {
  return c >= '0' && c <= '9';
}

/// Letters to insert, delete or replace, and neighbours to swap.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);  // a row of the table, above the last one
  std::vector<std::size_t> last(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::vector<std::size_t> row(b.size() + 1, i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = last[j] + (a[i] == b[j] ? 0 : 1);
      row[j + 1] = std::min({replaced, row[j] + 1, last[j + 1] + 1});
      const bool are_swapped = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j];
      if (are_swapped) row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
    before = std::exchange(last, std::move(row));
  }
  return last.back();
}

bool equal_but_for_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

bool are_siblings(std::string_view a, std::string_view b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() == a.size() + 1 && b.starts_with(a)) return b.back() == 's' || is_decimal(b.back());
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const bool ends_word = i + 1 == a.size() || a[i + 1] == '_';
    if (a[i] != b[i] && !ends_word && !(is_decimal(a[i]) && is_decimal(b[i]))) return false;
  }
  return true;
}

bool is_typo_of(std::string_view name, std::string_view other) {
  constexpr std::size_t kMostEdits = 2;
  constexpr std::size_t kLettersOfAnEdit = 4;
  if (name == other) return false;
  if (equal_but_for_case(name, other)) return true;
  const auto edits = std::min(name.size(), other.size()) / kLettersOfAnEdit;
  return !are_siblings(name, other) && edit_distance(name, other) <= std::min(edits, kMostEdits);
}

std::string nearest_name(std::string_view name, std::span<const std::string> candidates) {
  // A third of the letters wrong is still a typo; more is another word, and so is one of two.
  constexpr std::size_t kLongestName = 64;
  if (name.size() > kLongestName) return {};
  std::size_t best = std::max<std::size_t>(1, name.size() / 3) + 1;
  std::string_view nearest;
  for (const auto& candidate : candidates) {
    const auto distance = edit_distance(name, candidate);
    const bool is_other_word = 2 * distance >= std::max(name.size(), candidate.size()) &&
                               !equal_but_for_case(name, candidate);
    if (distance < best && !is_other_word) {
      best = distance;
      nearest = candidate;
    }
  }
  return std::string(nearest);
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  const auto nearest = nearest_name(name, candidates);
  return nearest.empty() ? std::string() : fmt::format("; did you mean \"{}\"?", nearest);
}

std::string meant_or_known(std::string_view name, std::span<const std::string> candidates) {
  const std::string meant = did_you_mean(name, candidates);
  if (candidates.empty() || (candidates.size() == 1 && !meant.empty())) return meant;
  return fmt::format("{}{} {} {}", meant.empty() ? ";" : meant, meant.empty() ? " there" : " There",
                     candidates.size() == 1 ? "is" : "are", fmt::join(candidates, ", "));
}

}  // namespace kiln
