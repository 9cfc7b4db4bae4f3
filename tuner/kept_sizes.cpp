// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/kept_sizes.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "kiln/error.hpp"

namespace kiln {
namespace {

/// With more sizes, only single ones and pairs are tried.
constexpr std::size_t kMostSizesInFull = 8;

/// Sets of some but not all of so many sizes, a bit for each, the smallest sets first.
std::vector<std::uint64_t> sets_of_sizes(std::size_t sizes) {
  std::vector<std::uint64_t> sets;
  if (sizes <= kMostSizesInFull) {
    for (std::uint64_t set = 1; set + 1 < std::uint64_t{1} << sizes; ++set) sets.push_back(set);
  } else {
    for (std::size_t first = 0; first < sizes; ++first) {
      for (std::size_t second = 0; second <= first; ++second) {
        sets.push_back(std::uint64_t{1} << first | std::uint64_t{1} << second);
      }
    }
  }
  std::ranges::stable_sort(sets, {}, [](std::uint64_t set) { return std::popcount(set); });
  return sets;
}

bool is_allowed(const Operation& operation, const Problem& problem) {
  try {
    operation.check(problem);
    return !operation.has_no_results(problem);
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::vector<Problem> ragged_problems(const Operation& operation, const Problem& problem,
                                     const std::vector<std::string>& kept) {
  std::vector<Problem> problems;
  for (const auto& sizes : operation.judge.ragged) {
    Problem ragged = problem;
    ragged.sizes = sizes;
    for (NamedValue& size : ragged.sizes) {
      if (std::ranges::find(kept, size.name) == kept.end()) continue;
      size.value = problem.size(size.name).value_or(size.value);
    }
    const bool is_known =
        ragged.sizes == problem.sizes ||
        std::ranges::find(problems, ragged.sizes, &Problem::sizes) != problems.end();
    if (!is_known && is_allowed(operation, ragged)) problems.push_back(std::move(ragged));
  }
  return problems;
}

std::vector<std::string> kept_sizes(const KernelTemplate& kernel_template, const Problem& problem,
                                    const DeviceLimits& limits) {
  const Operation* const operation = find_operation(problem.operation);
  if (operation == nullptr || !operation->is_declared()) return {};
  const auto config = kernel_template.space(problem, limits).default_config();
  if (!config) return {};
  const auto suits = [&](const std::vector<std::string>& kept) {
    return std::ranges::any_of(ragged_problems(*operation, problem, kept), [&](const Problem& one) {
      return kernel_template.space(one, limits).contains(*config);
    });
  };
  if (suits({})) return {};
  const std::vector<std::string>& names = operation->size_names();
  for (const std::uint64_t set : sets_of_sizes(names.size())) {
    std::vector<std::string> kept;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if ((set >> i & 1) != 0) kept.push_back(names[i]);
    }
    if (suits(kept)) return kept;
  }
  return {};
}

}  // namespace kiln
