// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tuner/replay/measured_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <unordered_map>
#include <utility>

#include "cache/exchange/foreign_results.hpp"
#include "kiln/error.hpp"
#include "templates/printable.hpp"

namespace kiln {
namespace {

constexpr std::size_t kMostCodes = std::numeric_limits<std::uint16_t>::max();

/// The values of the tunable at that place, in the order of the codes.
std::vector<std::string> values_at(const ForeignResults& file, std::size_t place) {
  std::vector<std::string> values;
  std::unordered_map<std::string_view, bool> met;
  bool all_numbers = true;
  for (const ForeignResult& result : file.results) {
    const ForeignValue& value = result.values[place];
    if (!met.try_emplace(value.text, true).second) continue;
    all_numbers = all_numbers && value.kind == ForeignValue::Kind::number;
    values.push_back(value.text);
  }
  if (all_numbers) {
    std::ranges::sort(values, {},
                      [](const std::string& text) { return std::strtod(text.c_str(), nullptr); });
  }
  return values;
}

}  // namespace

MeasuredSpace read_measured_space(const std::filesystem::path& path) {
  constexpr double kNsPerMs = 1e6;
  constexpr double kSecondsPerMs = 1e-3;
  const ForeignResults file = read_foreign_results(path);
  MeasuredSpace space{file.kernel, file.device, file.objective, {}, {}};
  space.rows.resize(file.results.size());
  for (std::size_t place = 0; place < file.names.size(); ++place) {
    MeasuredSpace::Parameter parameter{file.names[place], values_at(file, place)};
    if (parameter.values.size() > kMostCodes) {
      throw Error(ErrorKind::usage,
                  fmt::format("{}: tunable {} has more than {} values", path.string(),
                              printable(parameter.name), kMostCodes));
    }
    std::unordered_map<std::string_view, std::uint16_t> codes;
    for (std::size_t i = 0; i < parameter.values.size(); ++i) {
      codes.emplace(parameter.values[i], static_cast<std::uint16_t>(i));
    }
    for (std::size_t row = 0; row < space.rows.size(); ++row) {
      space.rows[row].code.push_back(codes.at(file.results[row].values[place].text));
    }
    space.parameters.push_back(std::move(parameter));
  }
  for (std::size_t row = 0; row < space.rows.size(); ++row) {
    const ForeignResult& result = file.results[row];
    space.rows[row].outcome = result.outcome;
    space.rows[row].time_ns = result.time_ms * kNsPerMs;
    space.rows[row].compile_s = result.compile_ms * kSecondsPerMs;
  }
  return space;
}

}  // namespace kiln
