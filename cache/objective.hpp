// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "cache/records.hpp"

namespace kiln {

/// What "best" means: a number for each trial, of which the smallest wins. Trials store figures
/// (times, energy, resources), so the same trials answer for every objective. Immutable and cheap
/// to copy; thread-safe.
class Objective {
 public:
  enum class Kind : std::uint8_t {
    time,          ///< time_ns
    energy,        ///< energy_j
    energy_delay,  ///< energy_j * time_s
    expression,    ///< what a user wrote
  };
  /// The names of all kinds but the last.
  static constexpr std::array<std::string_view, 3> kNames{"time", "energy", "energy_delay"};
  /// What an expression may mention, in the order of its slots.
  static constexpr std::array<std::string_view, 9> kFigures{
      "time_ns",     "time_s",      "energy_j",   "power_w",  "registers",
      "spill_bytes", "stack_bytes", "smem_bytes", "occupancy"};

  /// The time.
  Objective() = default;
  /// One of kNames, or an expression. Throws Error(usage) that points at the mistake; `source` says
  /// where the text is from ("--objective").
  [[nodiscard]] static Objective parse(std::string_view text, const std::string& source);
  /// For a text that parse() accepted, and for a stored one: nothing if it is malformed.
  [[nodiscard]] static std::optional<Objective> read(std::string_view text);

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool is_time() const { return kind_ == Kind::time; }
  /// Equal texts are equal objectives.
  [[nodiscard]] const std::string& canonical() const;
  /// Whether only trials with energy figures have a value.
  [[nodiscard]] bool needs_energy() const;
  /// Whether a candidate that takes twice as long is worse by about as much: then a search may drop
  /// it for its time.
  [[nodiscard]] bool follows_time() const { return kind_ != Kind::expression; }

  /// A trial's value, and half the width of the interval that its figures leave open.
  struct Value {
    double value = 0.0;
    double noise = 0.0;
  };
  /// With times and energies multiplied by `factor`. Nothing for a trial without the figures, and
  /// where the value is undefined or not above 0. Precondition: the trial has a time.
  [[nodiscard]] std::optional<Value> value_of(const Trial& trial, double factor = 1.0) const;
  /// Throws Error(usage) that names the trial if it has the figures and yet no value: silently
  /// leaving it out would make a worse one the best. Precondition: the trial has a time.
  void require_value(const Trial& trial) const;

  friend bool operator==(const Objective& left, const Objective& right) {
    return left.canonical() == right.canonical();
  }

 private:
  struct Formula;
  struct Figures;
  [[nodiscard]] bool lacks(const Figures& figures) const;
  [[nodiscard]] static Figures figures_of(const Trial& trial, double factor);
  [[nodiscard]] std::optional<double> evaluate(const Figures& figures) const;

  Kind kind_ = Kind::time;
  std::shared_ptr<const Formula> formula_;  ///< of an expression
};

}  // namespace kiln
