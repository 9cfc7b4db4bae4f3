// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "templates/space/param_space.hpp"

namespace kiln::test {

/// Describes a parameter space in the terms of a template's front matter.
class SpaceBuilder {
 public:
  /// A name that is not tuned.
  SpaceBuilder& fix(std::string_view name, std::int64_t value) {
    names_.intern(name);
    fixed_.push_back(value);
    return *this;
  }
  SpaceBuilder& tune(const std::string& name, std::vector<std::int64_t> values) {
    const auto first = values.at(0);
    return tune(name, std::move(values), first);
  }
  SpaceBuilder& tune(const std::string& name, std::vector<std::int64_t> values,
                     std::int64_t default_value) {
    names_.intern(name);
    tunables_.push_back({name, std::move(values), default_value, ""});
    return *this;
  }
  SpaceBuilder& let(const std::string& name, std::string_view text) {
    auto value = Expression::parse(text, names_, place_);
    names_.intern(name);
    derived_.push_back({name, std::move(value), ""});
    return *this;
  }
  SpaceBuilder& require(std::string_view text, std::string why = "") {
    requirements_.push_back({Expression::parse(text, names_, place_), std::move(why)});
    return *this;
  }
  SpaceBuilder& prefer(std::string_view text) {
    preferences_.push_back({Expression::parse(text, names_, place_), ""});
    return *this;
  }
  /// Fixed names come first, so that their values are in the order of their slots.
  [[nodiscard]] ParamSpace build() const {
    return ParamSpace(names_, tunables_, derived_, requirements_, preferences_, fixed_);
  }
  [[nodiscard]] const NameTable& names() const { return names_; }

 private:
  SourcePlace place_{"space", 1, 1};
  NameTable names_;
  std::vector<Tunable> tunables_;
  std::vector<DerivedValue> derived_;
  std::vector<Requirement> requirements_;
  std::vector<Requirement> preferences_;
  std::vector<std::int64_t> fixed_;
};

/// first, first + step, ... up to last.
inline std::vector<std::int64_t> range(std::int64_t first, std::int64_t last,
                                       std::int64_t step = 1) {
  std::vector<std::int64_t> values;
  for (auto value = first; value <= last; value += step) values.push_back(value);
  return values;
}

/// All configurations in the order of enumeration.
inline std::vector<Config> all_of(const ParamSpace& space) {
  std::vector<Config> configs;
  space.for_each([&](const Config& config) {
    configs.push_back(config);
    return true;
  });
  return configs;
}

}  // namespace kiln::test
