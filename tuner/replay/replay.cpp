// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/replay/replay.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "kiln/error.hpp"
#include "templates/operation/gemm_problem.hpp"

namespace kiln {
namespace {

constexpr double kGood = 0.95;
constexpr double kVeryGood = 0.98;

/// Strategies ask a template only for its name and its cost lines, of which this one has none.
KernelTemplate stand_in(std::size_t parameters) {
  std::string text =
      "//@ template   measured\n//@ purpose    Stands for the kernel that was measured.\n"
      "//@ operation  gemm\n//@ arch       sm >= 50\n//@ types      a=f32 b=a c=a d=a acc=f32\n"
      "//@ launch     measured\n//@   grid     1\n//@   block    1\n\n"
      "struct MeasuredConfig {  //@ config\n";
  for (std::size_t i = 0; i < parameters; ++i) {
    text += fmt::format("  int p{};  //@ tune 0*\n", i);
  }
  text +=
      "};\ntemplate <MeasuredConfig C, class A, class B, class CIn, class D, class Acc>\n"
      "__global__ void measured(const kiln::GemmArgs args) {}\n";
  return KernelTemplate::parse("measured.cu", text);
}

/// Integers keep their values, so that strategies see how far apart they are; others become the
/// numbers of their places.
std::vector<std::int64_t> numbers_of(const MeasuredSpace::Parameter& parameter) {
  std::vector<std::int64_t> numbers;
  for (const std::string& text : parameter.values) {
    std::int32_t number = 0;
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (fault != std::errc() || end != text.data() + text.size()) {
      numbers.clear();
      for (std::size_t i = 0; i < parameter.values.size(); ++i) {
        numbers.push_back(static_cast<std::int64_t>(i));
      }
      return numbers;
    }
    numbers.push_back(number);
  }
  return numbers;
}

Problem any_problem() {
  return to_problem(Gemm::of(DType::f32, 16, 16, 16));
}

}  // namespace

Replay::Replay(const MeasuredSpace& measured) : template_(stand_in(measured.parameters.size())) {
  NameTable names;
  std::vector<Tunable> tunables;
  std::vector<int> slots;
  std::vector<std::vector<std::int64_t>> numbers;
  for (std::size_t i = 0; i < measured.parameters.size(); ++i) {
    numbers.push_back(numbers_of(measured.parameters[i]));
    tunables.push_back({fmt::format("p{}", i), numbers.back(), numbers.back().front(), ""});
    slots.push_back(names.intern(tunables.back().name));
  }
  auto listed = std::make_shared<std::vector<std::vector<std::int64_t>>>();
  best_ns_ = std::numeric_limits<double>::infinity();
  for (const MeasuredSpace::Measured& row : measured.rows) {
    std::vector<std::int64_t> values;
    Config config;
    for (std::size_t i = 0; i < row.code.size(); ++i) {
      values.push_back(numbers[i][row.code[i]]);
      config.set(tunables[i].name, values.back());
    }
    listed->push_back(std::move(values));
    rows_[config] = {row.outcome, row.time_ns};
    if (row.outcome != Outcome::ok) continue;
    ++working_;
    best_ns_ = std::min(best_ns_, row.time_ns);
  }
  if (working_ == 0) {
    throw Error(ErrorKind::usage,
                "no configuration in the file has a time, so there is nothing to search for. Next: "
                "check that the file contains results of a finished tuning run");
  }
  std::sort(listed->begin(), listed->end());
  // Each beginning of a configuration is one of some row, so no dead branch is ever entered.
  std::vector<Requirement> requirements;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    const std::vector<int> first(slots.begin(), slots.begin() + static_cast<std::ptrdiff_t>(i + 1));
    requirements.push_back({Expression::listed(listed, first, "measured"), ""});
  }
  space_.parts.push_back(
      {&template_, ParamSpace(names, std::move(tunables), {}, std::move(requirements), {}, {}), 0});
}

ReplayRun Replay::run(const std::string& strategy, std::uint64_t seed,
                      const ReplayLimits& limits) const {
  const Problem problem = any_problem();
  const DeviceLimits device_limits = *limits_of_arch("sm_80");
  const DeviceClass device;
  const auto search = make_strategy(strategy, {space_, problem, device_limits, device, seed});
  ReplayRun run;
  double best_ns = std::numeric_limits<double>::infinity();
  std::deque<Candidate> in_flight;
  bool is_done = false;
  while (run.evaluations < limits.evaluations && run.to_98 == 0) {
    while (!is_done && in_flight.size() < std::max<std::uint64_t>(limits.in_flight, 1)) {
      auto candidate = search->propose();
      is_done = !candidate;
      if (candidate) in_flight.push_back(std::move(*candidate));
    }
    if (in_flight.empty()) break;
    const Candidate candidate = std::move(in_flight.front());
    in_flight.pop_front();
    const Row& row = rows_.at(candidate.config);
    ++run.evaluations;
    if (row.outcome == Outcome::ok) best_ns = std::min(best_ns, row.time_ns);
    if (run.to_95 == 0 && best_ns_ >= kGood * best_ns) run.to_95 = run.evaluations;
    if (run.to_98 == 0 && best_ns_ >= kVeryGood * best_ns) run.to_98 = run.evaluations;
    search->observe(candidate, row.outcome, row.time_ns);
  }
  run.best_share = best_ns_ / best_ns;
  return run;
}

}  // namespace kiln
