// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tools/output/units.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>
#include <ctime>

#include "templates/operation/operation.hpp"

namespace kiln::tools {
namespace {

/// Four significant digits, as a person writes them: 4.540, 65.12, 310.2, 1634.
std::string four_digits(double value) {
  if (value >= 1000.0) return fmt::format("{:.0f}", value);
  if (value >= 100.0) return fmt::format("{:.1f}", value);
  if (value >= 10.0) return fmt::format("{:.2f}", value);
  return fmt::format("{:.3f}", value);
}

/// Below it no GPU has as many operations for a byte as it can do in the byte's time.
constexpr double kFlopsOfAByte = 10.0;

}  // namespace

std::string time_text(double ns) {
  if (ns < 1e3) return fmt::format("{:.1f} ns", ns);
  if (ns < 1e6) return four_digits(ns / 1e3) + " us";
  if (ns < 1e9) return four_digits(ns / 1e6) + " ms";
  return four_digits(ns / 1e9) + " s";
}

std::string si_text(double value, const std::string& unit) {
  struct Prefix {
    double factor;
    const char* text;
  };
  constexpr std::array<Prefix, 12> kPrefixes{{{1e18, "E"},
                                              {1e15, "P"},
                                              {1e12, "T"},
                                              {1e9, "G"},
                                              {1e6, "M"},
                                              {1e3, "k"},
                                              {1.0, ""},
                                              {1e-3, "m"},
                                              {1e-6, "u"},
                                              {1e-9, "n"},
                                              {1e-12, "p"},
                                              {1e-15, "f"}}};
  if (value == 0.0) return fmt::format("0 {}", unit);
  for (const auto& [factor, prefix] : kPrefixes) {
    if (std::abs(value) >= factor) {
      const std::string digits = four_digits(std::abs(value) / factor);
      return fmt::format("{}{} {}{}", value < 0.0 ? "-" : "", digits, prefix, unit);
    }
  }
  return fmt::format("{:g} {}", value, unit);
}

std::string energy_text(double joules) {
  return si_text(joules, "J");
}

std::string power_text(double watts) {
  return fmt::format("{:.1f} W", watts);
}

std::string seconds_text(double seconds) {
  if (seconds < 0.95) return fmt::format("{:.1f} s", std::fmax(seconds, 0.0));
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} m {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} m", whole / 3600, whole % 3600 / 60);
}

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array<const char*, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024.0 && unit + 1 < kUnits.size()) {
    value /= 1024.0;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string percent_text(double fraction) {
  return fmt::format("{:.1f} %", fraction * 100.0);
}

std::string date_text(std::int64_t unix_ms) {
  return fmt::format("{:%Y-%m-%d %H:%M}", fmt::gmtime(static_cast<std::time_t>(unix_ms / 1000)));
}

std::string count_text(std::uint64_t count) {
  std::string digits = fmt::format("{}", count);
  for (auto place = static_cast<std::ptrdiff_t>(digits.size()) - 3; place > 0; place -= 3) {
    digits.insert(static_cast<std::size_t>(place), 1, ',');
  }
  return digits;
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count_text(count), noun, count == 1 ? "" : "s");
}

double tera_flops(const Problem& problem, double time_ns) {
  const Operation* operation = find_operation(problem.operation);
  if (operation == nullptr || time_ns <= 0.0) return 0.0;
  return operation->flops(problem) / time_ns / 1e3;
}

double giga_bytes(const Problem& problem, double time_ns) {
  const Operation* operation = find_operation(problem.operation);
  if (operation == nullptr || time_ns <= 0.0) return 0.0;
  return operation->bytes(problem) / time_ns;
}

namespace {

/// "points_per_s" to "points/s".
std::string unit_of(const std::string& name) {
  constexpr std::string_view kPer = "_per_";
  const std::size_t at = name.find(kPer);
  if (at == std::string::npos || at == 0) return name;
  std::string under = name.substr(at + kPer.size());
  if (under == "j") under = "J";
  if (under == "w") under = "W";
  return under.empty() ? name : fmt::format("{}/{}", name.substr(0, at), under);
}

/// "12.34 Gpoints/s", "0.8312 share": a number that has no unit gets no prefix that makes it small.
std::string metric_text(const std::string& name, double value) {
  const std::string unit = unit_of(name);
  const bool has_unit = unit != name;
  return has_unit || std::abs(value) >= 1.0 ? si_text(value, unit)
                                            : fmt::format("{:.4g} {}", value, name);
}

std::string usual_rate_text(const Operation& declared, const Problem& problem, double time_ns) {
  const Operation* const operation = &declared;
  const bool moves = operation->flops(problem) < kFlopsOfAByte * operation->bytes(problem);
  if (operation->is_declared() && moves) {
    const double rate = giga_bytes(problem, time_ns);
    return rate < 1e3 ? fmt::format("{:.1f} GB/s", rate) : fmt::format("{:.2f} TB/s", rate / 1e3);
  }
  const double rate = tera_flops(problem, time_ns);
  return rate < 1.0 ? fmt::format("{:.1f} GFLOP/s", rate * 1e3)
                    : fmt::format("{:.1f} TFLOP/s", rate);
}

}  // namespace

std::vector<MetricValue> metrics_of(const Problem& problem, double time_ns, double energy_j) {
  std::vector<MetricValue> metrics;
  const Operation* const operation = find_operation(problem.operation);
  if (operation == nullptr || time_ns <= 0.0) return metrics;
  for (const MetricSpec& spec : operation->metrics) {
    const auto value = operation->metric(spec, problem, {time_ns, energy_j});
    if (value) metrics.push_back({spec.name, *value, metric_text(spec.name, *value)});
  }
  return metrics;
}

std::string rate_text(const Problem& problem, double time_ns) {
  const Operation* const operation = find_operation(problem.operation);
  if (operation == nullptr) return "";
  const auto metrics = metrics_of(problem, time_ns);
  return metrics.empty() ? usual_rate_text(*operation, problem, time_ns) : metrics.front().text;
}

std::string rates_text(const Problem& problem, double time_ns, double energy_j) {
  const Operation* const operation = find_operation(problem.operation);
  if (operation == nullptr) return "";
  std::string text;
  for (const auto& metric : metrics_of(problem, time_ns, energy_j)) text += metric.text + ", ";
  return text + usual_rate_text(*operation, problem, time_ns);
}

}  // namespace kiln::tools
