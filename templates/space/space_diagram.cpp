// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/space/space_diagram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "kiln/error.hpp"

namespace kiln {
namespace {

/// Memory bound: beyond it nodes are recounted each time they are needed.
constexpr std::size_t kMaxStoredValues = std::size_t{16} << 20;

/// Hash of `width` values, the i-th of which is `value(i)`.
template <class Value>
std::uint64_t hash(std::size_t width, const Value& value) {
  std::uint64_t mixed = 0x9e3779b97f4a7c15U;
  for (std::size_t i = 0; i < width; ++i) {
    mixed ^= static_cast<std::uint64_t>(value(i));
    mixed *= 0xff51afd7ed558ccdU;
    mixed ^= mixed >> 32;
  }
  return mixed;
}

}  // namespace

std::size_t SpaceDiagram::Level::probe(std::span<const std::int64_t> values) const {
  const std::size_t width = slots_.size();
  const auto own = [&](std::size_t i) { return values[static_cast<std::size_t>(slots_[i])]; };
  const auto same = [&](const std::int64_t* key) {
    for (std::size_t i = 0; i < width; ++i) {
      if (key[i] != own(i)) return false;
    }
    return true;
  };
  const std::size_t mask = table_.size() - 1;
  std::size_t at = hash(width, own) & mask;
  while (table_[at] != kEmpty && !same(keys_.data() + table_[at] * width)) at = (at + 1) & mask;
  return at;
}

const SpaceDiagram::Node* SpaceDiagram::Level::find(std::span<const std::int64_t> values) const {
  const auto index = table_[probe(values)];
  return index == kEmpty ? nullptr : &nodes_[index];
}

void SpaceDiagram::Level::insert(std::span<const std::int64_t> values, const Node& node) {
  if (2 * (nodes_.size() + 1) > table_.size()) grow();
  table_[probe(values)] = static_cast<std::uint32_t>(nodes_.size());
  for (const int slot : slots_) keys_.push_back(values[static_cast<std::size_t>(slot)]);
  nodes_.push_back(node);
}

void SpaceDiagram::Level::grow() {
  table_.assign(2 * table_.size(), kEmpty);
  const std::size_t mask = table_.size() - 1;
  const std::size_t width = slots_.size();
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    const std::int64_t* const key = keys_.data() + node * width;
    std::size_t at = hash(width, [key](std::size_t i) { return key[i]; }) & mask;
    while (table_[at] != kEmpty) at = (at + 1) & mask;
    table_[at] = static_cast<std::uint32_t>(node);
  }
}

SpaceDiagram::SpaceDiagram(const SpaceProgram& program, const std::string& origin)
    : program_(program), origin_(origin) {
  for (std::size_t level = 0; level < program_.depth(); ++level) {
    levels_.emplace_back(program_.live(level));
  }
  auto values = program_.start();
  if (program_.possible()) build(0, values);
}

bool SpaceDiagram::stored(std::size_t level) const {
  // A node of the last level is cheaper to count than to keep; level 0 has only one.
  return level == 0 || level + 1 < program_.depth();
}

template <class Child>
SpaceDiagram::Node SpaceDiagram::combine(std::size_t level, std::span<std::int64_t> values,
                                         const Child& child) const {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  const Tunable& tunable = program_.tunables()[level];
  Node sum{0, std::numeric_limits<std::uint32_t>::max()};
  for (const auto value : tunable.values) {
    if (!program_.bind(level, value, values)) continue;
    const Node below = child(level + 1, values);
    if (below.count == 0) continue;
    sum.count = below.count > kMost - sum.count ? kMost : sum.count + below.count;
    const std::uint32_t step = value == tunable.default_value ? 0 : 1;
    sum.distance = std::min(sum.distance, below.distance + step);
  }
  return sum;
}

void SpaceDiagram::count_work(std::size_t level) {
  work_ += program_.tunables()[level].values.size() * program_.work(level);
  if (work_ <= kMostWork) return;
  throw Error(ErrorKind::template_,
              fmt::format("{}{}counting the configurations would take too long, because the "
                          "requirements combine too many tunables. Next: declare the tunables of "
                          "each requirement on adjacent lines. If this is not enough, split long "
                          "requirements, or fix the values of some tunables with --set.",
                          origin_, origin_.empty() ? "" : ": "));
}

SpaceDiagram::Node SpaceDiagram::build(std::size_t level, std::span<std::int64_t> values) {
  if (level == program_.depth()) return {1, 0};
  const auto descend = [this](std::size_t next, std::span<std::int64_t> bound) {
    return build(next, bound);
  };
  if (!stored(level)) {
    count_work(level);
    return combine(level, values, descend);
  }
  if (const Node* known = levels_[level].find(values)) return *known;
  count_work(level);
  const Node result = combine(level, values, descend);
  // Besides its key a node takes about as much as four values: itself and its table entries.
  const std::size_t cost = program_.live(level).size() + 4;
  if (stored_values_ + cost <= kMaxStoredValues) {
    stored_values_ += cost;
    levels_[level].insert(values, result);
  }
  return result;
}

SpaceDiagram::Node SpaceDiagram::node(std::size_t level, std::span<std::int64_t> values) const {
  if (!program_.possible()) return {};
  if (level == program_.depth()) return {1, 0};
  if (stored(level)) {
    if (const Node* known = levels_[level].find(values)) return *known;
  }
  return combine(level, values, [this](std::size_t next, std::span<std::int64_t> bound) {
    return node(next, bound);
  });
}

}  // namespace kiln
