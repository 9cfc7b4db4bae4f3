// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/lookup/neighbours.hpp"

#include <algorithm>
#include <cmath>

#include "kiln/error.hpp"

namespace kiln {
namespace {

/// Differences of logarithms are off by a few units in the last place; limits are not meant to be
/// that exact.
constexpr double kRounding = 1e-9;

double log2_of(std::int64_t size) {
  return std::log2(static_cast<double>(size));
}

}  // namespace

SizeTable::SizeTable(const Problem& problem) {
  for (const NamedValue& size : problem.sizes) names_.push_back(size.name);
}

bool SizeTable::add(const std::string& sizes_text) {
  std::vector<NamedValue> sizes;
  try {
    sizes = Problem::parse("any | " + sizes_text).sizes;
  } catch (const Error&) {
    return false;
  }
  const bool fits = std::equal(sizes.begin(), sizes.end(), names_.begin(), names_.end(),
                               [](const NamedValue& size, const std::string& name) {
                                 return size.name == name && size.value >= 1;
                               });
  if (!fits) return false;
  for (const NamedValue& size : sizes) log2_.push_back(log2_of(size.value));
  problems_.push_back(std::move(sizes));
  texts_.push_back(sizes_text);
  known_.insert(sizes_text);
  return true;
}

bool SizeTable::contains(const std::string& sizes_text) const {
  return known_.contains(sizes_text);
}

NeighbourQueue::NeighbourQueue(std::shared_ptr<const SizeTable> table, const Problem& wanted,
                               const NeighbourLimits& limits, Itself itself)
    : table_(std::move(table)), wanted_(wanted) {
  std::vector<double> point;
  for (const NamedValue& size : wanted.sizes) {
    if (size.value < 1) return;
    point.push_back(log2_of(size.value));
  }
  const std::size_t count = point.size();
  const std::string own = wanted.sizes_text();
  const double* row = table_->log2_.data();
  for (std::size_t i = 0; i < table_->texts_.size(); ++i, row += count) {
    double sum = 0.0;
    std::size_t near = 0;
    for (; near < count; ++near) {
      const double octaves = std::abs(row[near] - point[near]);
      sum += octaves;
      if (octaves > limits.octaves_per_size + kRounding) break;
    }
    if (near < count || sum > limits.octaves + kRounding) continue;
    if (itself == Itself::left_out && sum < kRounding && table_->texts_[i] == own) continue;
    heap_.emplace_back(sum, i);
  }
  std::make_heap(heap_.begin(), heap_.end(),
                 [this](const Place& left, const Place& right) { return farther(left, right); });
}

bool NeighbourQueue::farther(const Place& left, const Place& right) const {
  if (left.first != right.first) return left.first > right.first;
  return table_->texts_[left.second] > table_->texts_[right.second];
}

std::optional<Neighbour> NeighbourQueue::next() {
  if (heap_.empty()) return std::nullopt;
  std::pop_heap(heap_.begin(), heap_.end(),
                [this](const Place& left, const Place& right) { return farther(left, right); });
  const auto [octaves, i] = heap_.back();
  heap_.pop_back();
  Neighbour neighbour{wanted_, octaves};
  neighbour.problem.sizes = table_->problems_[i];
  return neighbour;
}

}  // namespace kiln
