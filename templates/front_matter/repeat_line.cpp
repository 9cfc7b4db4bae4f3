// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/front_matter/repeat_line.hpp"

#include <fmt/format.h>

#include <charconv>

#include "templates/front_matter/front_matter.hpp"
#include "templates/text_pieces.hpp"

namespace kiln {
namespace {

constexpr int kMostInGroup = 64;

int parse_group(const FrontMatterLine& line, TextPart clause) {
  const auto words = split_words(clause.text);
  int count = 0;
  if (words.size() == 2 && words[0].text == "launches") {
    const std::string_view number = words[1].text;
    const auto [end, status] = std::from_chars(number.data(), number.data() + number.size(), count);
    if (status != std::errc{} || end != number.data() + number.size()) count = 0;
  }
  if (count < 1 || count > kMostInGroup) {
    line.fail(clause.offset,
              fmt::format("expected after ';': \"launches N\", where N is the number of launches "
                          "that repeat together: this one and those below it, from 1 to {}",
                          kMostInGroup));
  }
  return count;
}

}  // namespace

RepeatSpec parse_repeat(const FrontMatterLine& line, const NameTable& names) {
  const auto clauses = split_clauses(line.text);
  RepeatSpec repeat{
      Expression::parse(clauses[0].text, names, line.text_place.at(clauses[0].offset))};
  if (clauses.size() > 2) {
    line.fail(clauses[2].offset, "only one \"; launches N\" may follow the number of repetitions");
  }
  if (clauses.size() == 2) repeat.launches = parse_group(line, clauses[1]);
  return repeat;
}

NameTable names_with_repeat(const FrontMatterLine& line, const NameTable& names, RunSpec& run) {
  NameTable all = names;
  for (const auto* const name : {"repeat_index", "repeat_count"}) {
    if (all.find(name) >= 0) {
      line.fail_at_key(fmt::format(
          "\"{}\" has a meaning in a template with a \"repeat\" line, but another line declares "
          "this name; rename what that line declares",
          name));
    }
    all.intern(name);
  }
  run.repeat_slot = all.find("repeat_index");
  return all;
}

void check_group(const FrontMatterLine& line, const std::vector<LaunchSpec>& launches,
                 std::size_t index) {
  const auto count = static_cast<std::size_t>(launches[index].repeat->launches);
  if (index + count > launches.size()) {
    line.fail(0,
              fmt::format("{} launches are to repeat together, but only {} follow{}, this one "
                          "included",
                          count, launches.size() - index, launches.size() - index == 1 ? "s" : ""));
  }
  for (std::size_t i = index + 1; i < index + count; ++i) {
    if (!launches[i].repeat) continue;
    line.fail(0, fmt::format("the launch of {} (line {}) repeats together with this launch, so it "
                             "cannot have a \"repeat\" line of its own; remove that line",
                             launches[i].kernel, launches[i].line));
  }
}

}  // namespace kiln
