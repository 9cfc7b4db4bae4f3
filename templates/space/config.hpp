// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kiln {

/// One choice for every tunable of a template: names to values (templates/space/tunable_value.hpp),
/// ordered by name, so that equal configurations have equal text.
class Config {
 public:
  Config() = default;
  /// Of a name that repeats, the last value counts.
  Config(std::initializer_list<std::pair<std::string_view, std::int64_t>> values) {
    for (const auto& [name, value] : values) set(name, value);
  }

  void set(std::string_view name, std::int64_t value);
  [[nodiscard]] std::optional<std::int64_t> find(std::string_view name) const;
  /// Throws Error(usage) if the name is unknown.
  [[nodiscard]] std::int64_t at(std::string_view name) const;
  /// By ascending name.
  [[nodiscard]] const std::vector<std::pair<std::string, std::int64_t>>& values() const {
    return values_;
  }
  [[nodiscard]] bool empty() const { return values_.empty(); }

  /// "copy=cp_async stages=3 tile_m=128": sorted by name, separated by one space.
  [[nodiscard]] std::string canonical() const;
  /// Reads canonical text, with spaces or commas between the pairs. Throws Error(usage) that names
  /// the faulty pair (no '=', empty or repeated name, neither a number nor a name).
  [[nodiscard]] static Config parse(std::string_view text);

  friend bool operator==(const Config&, const Config&) = default;
  friend auto operator<=>(const Config&, const Config&) = default;

 private:
  /// Where `name` is, or belongs.
  [[nodiscard]] std::size_t place_of(std::string_view name) const;

  /// Sorted, not a map: searches copy configurations far more often than they look up names.
  std::vector<std::pair<std::string, std::int64_t>> values_;
};

}  // namespace kiln
