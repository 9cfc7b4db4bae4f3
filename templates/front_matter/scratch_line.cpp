// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/front_matter/scratch_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "kiln/types.hpp"
#include "templates/front_matter/front_matter.hpp"
#include "templates/nearest_name.hpp"
#include "templates/text_pieces.hpp"

namespace kiln {
namespace {

constexpr std::size_t kMostScratch = 32;
constexpr std::size_t kMostScratchExtents = 8;

void check_scratch_type(const FrontMatterLine& line, TextPart type, const Operation& operation) {
  const auto& slots = operation.type_slots();
  if (std::ranges::find(slots, type.text) != slots.end()) return;
  const auto named = parse_dtype(type.text);
  if (named && packed_values(*named) == 1) return;
  std::vector<std::string> known = slots;
  for (std::size_t i = 0; i < kDTypeNames.size(); ++i) {
    if (packed_values(static_cast<DType>(i)) == 1) known.emplace_back(kDTypeNames[i]);
  }
  line.fail(type.offset, fmt::format("\"{}\" is neither a type slot of {} nor an element type "
                                     "with one value per element{}",
                                     type.text, operation.name, did_you_mean(type.text, known)));
}

bool is_taken(std::string_view name, const Operation& operation, const NameTable& names,
              const std::vector<ScratchSpec>& scratch) {
  const auto is_named = [&](const auto& list) {
    return std::ranges::any_of(list, [&](const auto& each) { return each.name == name; });
  };
  const auto& slots = operation.type_slots();
  return name == "workspace" || names.find(name) >= 0 || is_named(operation.operands) ||
         is_named(operation.scalars) || is_named(scratch) ||
         std::ranges::find(slots, name) != slots.end();
}

}  // namespace

void add_scratch(const FrontMatterLine& line, const Operation& operation, const NameTable& names,
                 std::vector<ScratchSpec>& scratch) {
  if (!operation.is_declared()) {
    line.fail_at_key(
        fmt::format("a \"scratch\" line is not possible here, because kernels of {} "
                    "get the workspace in their struct; write a \"workspace\" line",
                    operation.name));
  }
  if (scratch.size() == kMostScratch) {
    line.fail_at_key(
        fmt::format("the template has too many \"scratch\" lines; the limit is {}", kMostScratch));
  }
  const std::string_view text = line.text;
  const auto colon = text.find(':');
  const auto head = split_words(text.substr(0, colon));
  if (colon == std::string_view::npos || head.size() != 2) {
    line.fail(0,
              "write a scratch array as \"partial f32: ceil_div(n, tile)\": its name, the type "
              "of its elements, a colon and its extents");
  }
  ScratchSpec spec;
  spec.name = head[0].text;
  spec.type = head[1].text;
  spec.line = line.text_place.line;
  if (!is_identifier(spec.name)) {
    line.fail(0, "the name of a scratch array consists of letters, digits and underscores");
  }
  if (is_taken(spec.name, operation, names, scratch)) {
    line.fail(0, fmt::format("the name \"{}\" is already used in this template or its operation; "
                             "choose another name",
                             spec.name));
  }
  check_scratch_type(line, head[1], operation);
  for (const auto& [extent, offset] : split_arguments(text.substr(colon + 1))) {
    if (spec.extents.size() == kMostScratchExtents) {
      line.fail(colon + 1 + offset, fmt::format("the array has too many extents; the limit is {}",
                                                kMostScratchExtents));
    }
    spec.extents.push_back(
        Expression::parse(extent, names, line.text_place.at(colon + 1 + offset)));
  }
  scratch.push_back(std::move(spec));
}

}  // namespace kiln
