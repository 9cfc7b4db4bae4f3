// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/objective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "kiln/error.hpp"
#include "templates/expression/expression.hpp"
#include "templates/front_matter/front_matter_lines.hpp"
#include "templates/nearest_name.hpp"
#include "templates/printable.hpp"
#include "templates/space/tunable_value.hpp"
#include "templates/text_pieces.hpp"

namespace kiln {
namespace {

constexpr std::size_t kMostCharacters = 1000;
constexpr double kNsPerS = 1e9;

constexpr int slot_of(std::string_view figure) {
  const auto* const found = std::ranges::find(Objective::kFigures, figure);
  return static_cast<int>(found - Objective::kFigures.begin());
}
constexpr int kTimeNs = slot_of("time_ns");
constexpr int kTimeS = slot_of("time_s");
constexpr int kEnergy = slot_of("energy_j");
constexpr int kPower = slot_of("power_w");
constexpr int kRegisters = slot_of("registers");
constexpr int kSpill = slot_of("spill_bytes");
constexpr int kStack = slot_of("stack_bytes");
constexpr int kSmem = slot_of("smem_bytes");
constexpr int kOccupancy = slot_of("occupancy");

/// All figures are real numbers, so that a quotient keeps its fraction.
const NameTable& figure_names() {
  static const NameTable names = [] {
    NameTable table;
    const std::int64_t real = value_of_double(0.5).value();
    for (const std::string_view figure : Objective::kFigures) {
      table.set_values(table.intern(figure), std::span(&real, 1));
    }
    return table;
  }();
  return names;
}

template <class Names>
std::vector<std::string> texts(const Names& names) {
  return {names.begin(), names.end()};
}

}  // namespace

struct Objective::Formula {
  Expression expression;
  std::string text;
  bool needs_energy = false;
  bool needs_resources = false;
};

/// The figures of a trial by slot; what it lacks is said apart.
struct Objective::Figures {
  std::array<double, kFigures.size()> values{};
  bool has_energy = false;
  bool has_resources = false;
};

Objective Objective::parse(std::string_view text, const std::string& source) {
  text = trimmed(text);
  Objective objective;
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (text != kNames[i]) continue;
    objective.kind_ = static_cast<Kind>(i);
    return objective;
  }
  const bool is_name = is_identifier(text) && std::ranges::find(kFigures, text) == kFigures.end();
  if (text.empty() || is_name) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: there is no objective \"{}\"{}. Next: name one of these, or write "
                            "an expression of {}",
                            source, printable(text), meant_or_known(text, texts(kNames)),
                            fmt::join(kFigures, ", ")));
  }
  const bool is_plain = std::ranges::all_of(text, [](char c) { return c >= ' ' && c < '\x7f'; });
  if (text.size() > kMostCharacters || !is_plain) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: an objective is one line of at most {} ASCII characters", source,
                            kMostCharacters));
  }
  const SourcePlace place{source, 1, 1, std::string(text)};
  Formula formula{[&] {
                    try {
                      return Expression::parse(text, figure_names(), place, Expression::Real::kept);
                    } catch (const Error& error) {
                      throw Error(ErrorKind::usage, error.what());
                    }
                  }(),
                  std::string(text)};
  const std::vector<int>& used = formula.expression.names_used();
  if (used.empty()) {
    throw Error(ErrorKind::usage,
                fmt::format("{}: the objective \"{}\" is the same for every candidate. Next: use "
                            "at least one of {}",
                            source, text, fmt::join(kFigures, ", ")));
  }
  const auto uses = [&](int slot) { return std::ranges::binary_search(used, slot); };
  formula.needs_energy = uses(kEnergy) || uses(kPower);
  formula.needs_resources = std::ranges::any_of(used, [](int slot) { return slot >= kRegisters; });
  objective.kind_ = Kind::expression;
  objective.formula_ = std::make_shared<const Formula>(std::move(formula));
  return objective;
}

std::optional<Objective> Objective::read(std::string_view text) {
  try {
    return parse(text, "objective");
  } catch (const Error&) {
    return std::nullopt;
  }
}

const std::string& Objective::canonical() const {
  static const auto names = texts(kNames);
  return formula_ ? formula_->text : names[static_cast<std::size_t>(kind_)];
}

bool Objective::needs_energy() const {
  return formula_ ? formula_->needs_energy : kind_ != Kind::time;
}

Objective::Figures Objective::figures_of(const Trial& trial, double factor) {
  Figures figures;
  auto& values = figures.values;
  const Timing& timing = *trial.timing;
  values[kTimeNs] = timing.median_ns * factor;
  values[kTimeS] = values[kTimeNs] / kNsPerS;
  figures.has_energy = timing.energy_j > 0.0;
  values[kEnergy] = timing.energy_j * factor;
  values[kPower] = timing.power_w;
  figures.has_resources = trial.resources.has_value();
  if (trial.resources) {
    const KernelResources& used = *trial.resources;
    values[kRegisters] = used.registers;
    values[kSpill] = static_cast<double>(used.spill_store_bytes) + used.spill_load_bytes;
    values[kStack] = used.stack_bytes;
    values[kSmem] = static_cast<double>(used.smem_static_bytes + used.smem_dynamic_bytes);
    values[kOccupancy] = used.occupancy;
  }
  return figures;
}

std::optional<double> Objective::evaluate(const Figures& figures) const {
  const auto& values = figures.values;
  std::optional<double> value;
  switch (kind_) {
    case Kind::time:
      value = values[kTimeNs];
      break;
    case Kind::energy:
      value = values[kEnergy];
      break;
    case Kind::energy_delay:
      value = values[kEnergy] * values[kTimeS];
      break;
    case Kind::expression:
      value = formula_->expression.evaluate_real(values);
      break;
  }
  if (!value || !std::isfinite(*value) || *value <= 0.0) return std::nullopt;
  return value;
}

bool Objective::lacks(const Figures& figures) const {
  if (needs_energy() && !figures.has_energy) return true;
  return formula_ && formula_->needs_resources && !figures.has_resources;
}

std::optional<Objective::Value> Objective::value_of(const Trial& trial, double factor) const {
  const Figures figures = figures_of(trial, factor);
  if (lacks(figures)) return std::nullopt;
  const auto value = evaluate(figures);
  if (!value) return std::nullopt;
  // How much the value changes if a figure moves to the end of its interval.
  const auto effect = [&](const auto& change) {
    Figures other = figures;
    change(other.values);
    const auto changed = evaluate(other);
    return changed ? std::abs(*changed - *value) : *value;
  };
  const Timing& timing = *trial.timing;
  double noise = effect([&](auto& values) {
    values[kTimeNs] += timing.spread_ns * factor;
    values[kTimeS] = values[kTimeNs] / kNsPerS;
  });
  if (figures.has_energy) {
    noise += effect([&](auto& values) {
      const double relative = timing.energy_spread_j / timing.energy_j;
      values[kEnergy] *= 1.0 + relative;
      values[kPower] *= 1.0 + relative;
    });
  }
  return Value{*value, noise};
}

void Objective::require_value(const Trial& trial) const {
  const Figures figures = figures_of(trial, 1.0);
  if (lacks(figures) || evaluate(figures)) return;
  const auto value = formula_ ? formula_->expression.evaluate_real(figures.values) : std::nullopt;
  const std::string why = value && std::isfinite(*value)
                              ? fmt::format("is {:g}, but must be above 0; add a constant", *value)
                              : "has no value (a division by zero, or an overflow)";
  throw Error(ErrorKind::usage,
              fmt::format("the objective \"{}\" {} (candidate {} {})", canonical(), why,
                          trial.key.template_name, trial.key.config.canonical()));
}

}  // namespace kiln
