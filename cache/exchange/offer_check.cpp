// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "cache/exchange/offer_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string_view>

#include "cache/exchange/physical_limits.hpp"
#include "cache/rows/trial_check.hpp"
#include "cache/schema/schema.hpp"
#include "cache/statistics.hpp"
#include "kiln/error.hpp"
#include "templates/operation/operation.hpp"
#include "templates/operation/typed_operation.hpp"

namespace kiln {
namespace {

constexpr std::int64_t kDayMs = 86'400'000;
constexpr std::int64_t kFirstDateUnixMs = 1'577'836'800'000;  // 2020-01-01, before there was Kiln
/// For the last bits, which another machine's arithmetic may round differently.
constexpr double kLastBits = 1e-9;

std::string day_text(std::int64_t unix_ms) {
  using namespace std::chrono;
  const year_month_day day{floor<days>(sys_time<milliseconds>(milliseconds(unix_ms)))};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()),
                     static_cast<unsigned>(day.month()), static_cast<unsigned>(day.day()));
}

void check_date(std::string_view field, std::int64_t unix_ms) {
  const std::int64_t now = unix_ms_now();
  if (unix_ms >= kFirstDateUnixMs && unix_ms <= now + kDayMs) return;
  throw Error(ErrorKind::usage,
              fmt::format("field '{}' is {}, but must be a date from 2020 to tomorrow (today is {} "
                          "by this machine's clock)",
                          field, is_date(unix_ms) ? day_text(unix_ms) : fmt::format("{}", unix_ms),
                          day_text(now)));
}

void check_statistic(std::string_view field, double value, double expected, double scale) {
  if (std::abs(value - expected) <= kLastBits * scale) return;
  throw Error(ErrorKind::usage,
              fmt::format("trial field '{}' is {}, but Kiln computes {} from 'samples_ns'", field,
                          value, expected));
}

/// Finalists were timed in turns, and what counts is the ratio to the first of them, in its clock
/// (tuner/session/finalists.cpp): so the median need not be one of the samples, but lies close to
/// where they do.
void check_interleaved(const Timing& timing) {
  constexpr double kClocks = 1.25;
  const auto [least, greatest] = std::ranges::minmax_element(timing.samples_ns);
  const bool is_near = least != timing.samples_ns.end() && timing.median_ns * kClocks >= *least &&
                       timing.median_ns <= *greatest * kClocks;
  if (!is_near) {
    throw Error(ErrorKind::usage,
                fmt::format("trial field 'median_ns' is {}, but must be between 0.8 times the "
                            "smallest sample and 1.25 times the largest sample in 'samples_ns'",
                            timing.median_ns));
  }
  if (timing.spread_ns >= 0.0 && timing.spread_ns <= timing.median_ns / 2.0) return;
  throw Error(ErrorKind::usage,
              fmt::format("trial field 'spread_ns' is {}, but must be at most half of 'median_ns'",
                          timing.spread_ns));
}

void check_statistics(const Timing& timing) {
  if (timing.interleaved) return check_interleaved(timing);
  Timing expected;
  expected.samples_ns = timing.samples_ns;
  summarise(expected);
  check_statistic("median_ns", timing.median_ns, expected.median_ns, expected.median_ns);
  check_statistic("spread_ns", timing.spread_ns, expected.spread_ns, expected.median_ns);
}

/// No device of one board has drawn as much so far; what is near 0 is no device at work.
void check_energy(const Timing& timing) {
  constexpr double kMostWatts = 5000.0;
  const double watts = timing.energy_j / timing.median_ns * 1e9;
  const bool possible = watts <= kMostWatts && timing.energy_spread_j <= timing.energy_j;
  if (timing.energy_j == 0.0 || possible) return;
  throw Error(ErrorKind::usage,
              fmt::format("trial field 'energy_j' is {} +- {}, which is {:.0f} W for this time; "
                          "Kiln accepts at most {:.0f} W, and a spread of at most the energy",
                          timing.energy_j, timing.energy_spread_j, watts, kMostWatts));
}

void check_rate(const Trial& trial) {
  const double time_ns = trial.timing->median_ns;
  const double least_ns = least_time_ns(trial.key.problem, trial.key.device);
  if (time_ns <= 0.0 || time_ns >= least_ns) return;
  const auto flops = flops_of(trial.key.problem.kind_text(), trial.key.problem.sizes_text());
  throw Error(
      ErrorKind::usage,
      fmt::format(
          "trial field 'median_ns' is {0}{1}, but {2} needs at least {3:.0f} ns for this problem",
          time_ns, flops ? fmt::format(" ({:.0f} TFLOP/s)", *flops / time_ns / 1e3) : "",
          trial.key.device.name, least_ns));
}

/// Names in another order would be another problem.
template <class Field>
bool in_order(const std::vector<Field>& fields, std::string Field::*name,
              const std::vector<std::string>& declared) {
  return std::ranges::equal(fields, declared, {}, name);
}

}  // namespace

void check_declared(const Problem& problem) {
  const Operation* const operation = find_operation(problem.operation);
  if (operation == nullptr) return;
  operation->check(problem);
  const bool ordered = in_order(problem.sizes, &NamedValue::name, operation->size_names()) &&
                       in_order(problem.types, &NamedType::slot, operation->type_slots()) &&
                       in_order(problem.traits, &NamedValue::name, operation->trait_names());
  if (!ordered) {
    throw Error(
        ErrorKind::usage,
        fmt::format("the problem \"{}\" does not list its sizes, types and traits in the order in "
                    "which the operation {} declares them",
                    problem.canonical(), operation->name));
  }
  const TypedOperation* const typed = find_typed_operation(problem.operation);
  if (typed != nullptr) typed->check(problem);
}

void check_offer(const Trial& trial) {
  check_declared(trial.key.problem);
  check_date("created_unix_ms", trial.created_unix_ms);
  if (!trial.timing) return;
  // Another autotuner's time need not be the median of its samples.
  if (trial.provenance != Provenance::imported) check_statistics(*trial.timing);
  check_energy(*trial.timing);
  check_rate(trial);
}

void check_offer(const SessionRecord& session) {
  check_declared(session.problem);
  check_date("started_unix_ms", session.started_unix_ms);
  if (session.ended_unix_ms != 0) check_date("ended_unix_ms", session.ended_unix_ms);
}

}  // namespace kiln
