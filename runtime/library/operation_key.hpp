// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "kiln/operation.hpp"

namespace kiln::detail {

/// The same for equal problems, whatever the order of their fields. It allocates nothing.
[[nodiscard]] inline std::size_t hash_of(const OperationProblem& problem) noexcept {
  constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15ULL;
  const auto text = [](std::string_view name) -> std::uint64_t {
    return std::hash<std::string_view>()(name);
  };
  const auto field = [&](std::uint64_t list, std::string_view name, std::uint64_t value) {
    const std::uint64_t mixed = (text(name) ^ (value + list) * kMix) * 0xbf58476d1ce4e5b9ULL;
    return mixed ^ (mixed >> 31);
  };
  std::uint64_t sum = text(problem.operation);
  for (const auto& [name, value] : problem.sizes) {
    sum += field(1, name, static_cast<std::uint64_t>(value));
  }
  for (const auto& [slot, type] : problem.types) {
    sum += field(2, slot, static_cast<std::uint64_t>(type));
  }
  for (const auto& [name, value] : problem.traits) {
    sum += field(3, name, static_cast<std::uint64_t>(value));
  }
  return static_cast<std::size_t>(sum ^ (sum >> 32));
}

/// A problem that is looked for, in the order in which the application gave its fields. It refers
/// to the application's.
struct OperationRequest {
  const OperationProblem& problem;
  std::size_t hashed;
  explicit OperationRequest(const OperationProblem& given) noexcept
      : problem(given), hashed(hash_of(given)) {}
  [[nodiscard]] std::size_t hash() const noexcept { return hashed; }
};

/// A valid problem: no list names anything twice.
struct OperationKey {
  OperationProblem problem;
  std::size_t hashed = 0;
  explicit OperationKey(OperationProblem valid)
      : problem(std::move(valid)), hashed(hash_of(problem)) {}
  [[nodiscard]] std::size_t hash() const noexcept { return hashed; }

  friend bool operator==(const OperationKey& key, const OperationRequest& request) noexcept {
    if (key.hashed != request.hashed) return false;
    const OperationProblem& known = key.problem;
    const OperationProblem& asked = request.problem;
    // As many fields, and each of the valid problem among them: then there are no others.
    const auto same = [](const auto& fields, const auto& others) {
      return fields.size() == others.size() &&
             std::all_of(fields.begin(), fields.end(), [&](const auto& each) {
               return std::find(others.begin(), others.end(), each) != others.end();
             });
    };
    return known.operation == asked.operation && same(known.sizes, asked.sizes) &&
           same(known.types, asked.types) && same(known.traits, asked.traits);
  }
  friend bool operator==(const OperationKey& left, const OperationKey& right) noexcept {
    return left.hashed == right.hashed && left.problem == right.problem;
  }
};

}  // namespace kiln::detail
