// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "tests/compile/mutants/mutants.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace kiln::testing {
namespace {

/// "kernel.cu:37" of the one line that contains `marker`; #line directives are followed, and
/// without folders. "" when there is no such line, or more than one.
std::string place_of(const std::string& source, const std::string& marker) {
  std::istringstream lines(source);
  std::string file = "kernel.cu";
  std::string place;
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.rfind("#line ", 0) == 0) {
      number = std::stoi(line.substr(6)) - 1;
      const auto begin = line.find('"');
      if (begin != std::string::npos) {
        file = line.substr(begin + 1, line.find('"', begin + 1) - begin - 1);
        file.erase(0, file.rfind('/') + 1);
      }
    } else if (line.find(marker) != std::string::npos) {
      if (!place.empty()) return {};
      place = fmt::format("{}:{}", file, number);
    }
  }
  return place;
}

std::string describe(const Observed& observed) {
  std::string text;
  for (const auto& report : observed.reports) text += "\n  " + report.describe();
  if (!observed.wrong.empty()) text += "\n  wrong: " + observed.wrong;
  return text.empty() ? "nothing" : text;
}

bool lies_in(const Observed& observed, const Region& region) {
  return observed.row >= region.first_row && observed.row < region.end_row &&
         observed.col >= region.first_col && observed.col < region.end_col;
}

void examine_mutant(Specimen& specimen, const Mutant& mutant) {
  std::string text;
  try {
    text = changed(specimen.source(), mutant.change);
  } catch (const std::invalid_argument& error) {
    FAIL() << error.what();
  }
  const Observed observed = specimen.run(text);
  if (!mutant.kind) {
    ASSERT_FALSE(observed.wrong.empty()) << "found: " << describe(observed);
    EXPECT_TRUE(lies_in(observed, mutant.region)) << observed.wrong;
    return;
  }
  const std::string place = place_of(text, mutant.line);
  ASSERT_FALSE(place.empty()) << "'" << mutant.line
                              << "' is not on one line; found: " << describe(observed);
  const bool found = std::any_of(
      observed.reports.begin(), observed.reports.end(),
      [&](const auto& report) { return report.place == place && report.finding == *mutant.kind; });
  EXPECT_TRUE(found) << "wanted " << emulated::name_of(*mutant.kind) << " at " << place
                     << ", found: " << describe(observed);
}

}  // namespace

void examine(Specimen& specimen, const std::vector<Mutant>& mutants) {
  const Observed original = specimen.run(specimen.source());
  EXPECT_TRUE(original.reports.empty() && original.wrong.empty()) << describe(original);
  for (const Mutant& mutant : mutants) {
    SCOPED_TRACE(mutant.name);
    examine_mutant(specimen, mutant);
  }
  ::testing::Test::RecordProperty("mutants", static_cast<int>(mutants.size()));
}

}  // namespace kiln::testing
