// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace kiln {

/// One choice for every tunable of a template: names to integers, ordered by name, so that equal
/// configurations have equal text.
class Config {
 public:
  Config() = default;
  Config(std::initializer_list<std::pair<const std::string, std::int64_t>> values)
      : values_(values) {}

  void set(std::string name, std::int64_t value) { values_[std::move(name)] = value; }
  [[nodiscard]] std::optional<std::int64_t> find(std::string_view name) const;
  /// Throws Error(usage) if the name is unknown.
  [[nodiscard]] std::int64_t at(std::string_view name) const;
  [[nodiscard]] const std::map<std::string, std::int64_t, std::less<>>& values() const {
    return values_;
  }
  [[nodiscard]] bool empty() const { return values_.empty(); }

  /// "stages=3 tile_k=32 tile_m=128": sorted by name, separated by one space.
  [[nodiscard]] std::string canonical() const;
  /// Reads canonical text, with spaces or commas between the pairs. Throws Error(usage) that names
  /// the faulty pair (no '=', empty or repeated name, not an integer or out of range).
  [[nodiscard]] static Config parse(std::string_view text);

  friend bool operator==(const Config&, const Config&) = default;
  friend auto operator<=>(const Config&, const Config&) = default;

 private:
  std::map<std::string, std::int64_t, std::less<>> values_;
};

}  // namespace kiln
