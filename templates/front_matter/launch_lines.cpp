// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/front_matter/launch_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "templates/check/cooperative_check.hpp"
#include "templates/front_matter/allow_line.hpp"
#include "templates/front_matter/front_matter.hpp"
#include "templates/front_matter/tensor_map_line.hpp"
#include "templates/launch/tensor_map_plan.hpp"
#include "templates/operation/typed_operation.hpp"

namespace kiln {
namespace {

constexpr std::size_t kMaxDimensions = 3;

constexpr std::array<std::string_view, 10> kParts{
    "grid", "block", "cluster", "smem", "when", "overlap", "map", "allow", "cooperative", "args"};

Expression expression(const FrontMatterLine& line, const NameTable& names, TextPart part) {
  return Expression::parse(part.text, names, line.text_place.at(part.offset));
}

std::vector<Expression> expressions(const FrontMatterLine& line, const NameTable& names) {
  std::vector<Expression> list;
  for (const auto& part : split_arguments(line.text)) {
    if (list.size() == kMaxDimensions) {
      line.fail(part.offset, "a launch has at most three dimensions");
    }
    list.push_back(expression(line, names, part));
  }
  return list;
}

void add_map(const FrontMatterLine& line, const Operation& operation, const NameTable& names,
             LaunchSpec& launch) {
  if (operation.is_declared()) {
    line.fail_at_key(
        fmt::format("\"map\" lines are only for kernels of {}; kernels of {} get no tensor maps",
                    typed_operation_names(), operation.name));
  }
  if (launch.maps.size() == kMostTensorMaps) {
    line.fail_at_key(
        fmt::format("this launch has too many \"map\" lines; the limit is {}", kMostTensorMaps));
  }
  launch.maps.push_back(parse_tensor_map(line, operation, names));
}

std::optional<Expression>* single_part(LaunchSpec& launch, std::string_view key) {
  return key == "smem"          ? &launch.smem
         : key == "when"        ? &launch.when
         : key == "overlap"     ? &launch.overlap
         : key == "cooperative" ? &launch.cooperative
                                : nullptr;
}

}  // namespace

bool is_launch_part(std::string_view key) {
  return std::ranges::find(kParts, key) != kParts.end();
}

void add_launch_part(const FrontMatterLine& line, const Operation& operation,
                     const NameTable& names, LaunchSpec& launch) {
  if (line.key == "allow") return add_allowance(line, launch.allowances);
  if (line.key == "map") return add_map(line, operation, names, launch);
  const auto refuse_second = [&] {
    line.fail_at_key(fmt::format("this launch has two \"{}\" lines; remove one of them", line.key));
  };
  if (auto* const part = single_part(launch, line.key)) {
    if (*part) refuse_second();
    // The bare word says that the launch always is.
    const bool is_bare = line.key == "cooperative" && line.text.empty();
    *part = expression(line, names, {is_bare ? std::string_view("1") : line.text, 0});
    refuse_cooperative_overlap(line, launch);
    return;
  }
  auto& extents = line.key == "grid"    ? launch.grid
                  : line.key == "block" ? launch.block
                                        : launch.cluster;
  if (!extents.empty()) refuse_second();
  extents = expressions(line, names);
}

}  // namespace kiln
