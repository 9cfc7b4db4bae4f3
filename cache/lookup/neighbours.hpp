// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "templates/operation/problem.hpp"

namespace kiln {

/// How far a problem may be from another one: |log2(size / size')| for each size, and their sum.
struct NeighbourLimits {
  double octaves_per_size = 0.0;
  double octaves = 0.0;
};

struct Neighbour {
  Problem problem;
  double octaves = 0.0;
};

/// The sizes of many problems of one kind, laid out for one quick pass over all of them.
class SizeTable {
 public:
  /// `problem` says which sizes there are; the kind is the same.
  explicit SizeTable(const Problem& problem);
  /// Adds a problem by the canonical text of its sizes; false if that is malformed, names other
  /// sizes or has one below 1.
  bool add(const std::string& sizes_text);
  [[nodiscard]] bool contains(const std::string& sizes_text) const;

 private:
  friend class NeighbourQueue;
  std::vector<std::string> names_;
  std::vector<std::vector<NamedValue>> problems_;
  std::vector<std::string> texts_;
  std::unordered_set<std::string> known_;  ///< the same texts
  std::vector<double> log2_;               ///< one row a problem
};

/// Whether a problem of the very sizes that were asked for counts as a neighbour.
enum class Itself : std::uint8_t { left_out, included };

/// Problems of a table within the limits of another one: the nearest first, then by the text of the
/// sizes. Finding the first few does not sort the rest.
class NeighbourQueue {
 public:
  NeighbourQueue() = default;
  NeighbourQueue(std::shared_ptr<const SizeTable> table, const Problem& wanted,
                 const NeighbourLimits& limits, Itself itself = Itself::left_out);
  [[nodiscard]] std::optional<Neighbour> next();

 private:
  using Place = std::pair<double, std::size_t>;  ///< distance, row of the table
  [[nodiscard]] bool farther(const Place& left, const Place& right) const;
  std::shared_ptr<const SizeTable> table_;
  Problem wanted_;
  std::vector<Place> heap_;
};

}  // namespace kiln
