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
#include "templates/front_matter/repeat_line.hpp"
#include "templates/front_matter/tensor_map_line.hpp"
#include "templates/launch/tensor_map_plan.hpp"
#include "templates/operation/typed_operation.hpp"

namespace kiln {
namespace {

constexpr std::size_t kMaxDimensions = 3;

constexpr std::array<std::string_view, 11> kParts{"grid",        "block",   "cluster", "smem",
                                                  "when",        "overlap", "map",     "allow",
                                                  "cooperative", "args",    "repeat"};

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
  if (line.key == "repeat") {
    if (launch.repeat) refuse_second();
    launch.repeat = parse_repeat(line, names);
    return;
  }
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

std::vector<ArgumentSpec> default_kernel_arguments(const Operation& operation,
                                                   const NameTable& names, const RunSpec& run) {
  auto list = default_argument_list(operation, names);
  for (const ConstantSpec& constant : run.constants) {
    std::erase_if(list, [&](const ArgumentSpec& argument) {
      return argument.kind == ArgumentSpec::Kind::operand && argument.index == constant.operand;
    });
  }
  return list;
}

ArgumentSpec struct_at_launch(const StructSpec& launch_struct, const NameTable& names) {
  ArgumentSpec whole;
  whole.kind = ArgumentSpec::Kind::structure;
  for (const auto& field : launch_struct.fields) {
    ArgumentSpec& member = whole.members.emplace_back();
    member.kind = ArgumentSpec::Kind::number;
    member.value = Expression::parse(field.name, names, {"", 1, 1});
  }
  return whole;
}

bool passes_workspace(const std::vector<ArgumentSpec>& args) {
  return std::ranges::any_of(args, [](const ArgumentSpec& arg) {
    const bool is_workspace = arg.kind == ArgumentSpec::Kind::workspace && arg.scratch_name.empty();
    return is_workspace || passes_workspace(arg.members);
  });
}

void check_repeats(const std::vector<FrontMatterLine>& lines,
                   const std::vector<LaunchSpec>& launches) {
  std::size_t next = 0;  // the launch after the one that the line belongs to
  for (const FrontMatterLine& line : lines) {
    next += line.key == "launch" ? 1 : 0;
    if (line.key == "repeat") check_group(line, launches, next - 1);
  }
}

namespace {

bool passes_scratch(const std::vector<ArgumentSpec>& args, std::string_view name) {
  return std::ranges::any_of(args, [&](const ArgumentSpec& arg) {
    return arg.scratch_name == name || passes_scratch(arg.members, name);
  });
}

}  // namespace

void check_scratch_is_used(const FrontMatterLine& line, const std::vector<LaunchSpec>& launches) {
  const std::string_view text = line.text;
  const auto name = split_words(text.substr(0, text.find(':')))[0].text;
  for (const LaunchSpec& launch : launches) {
    if (passes_scratch(launch.args, name)) return;
  }
  line.fail(0, fmt::format("no launch passes the scratch array {0} to its kernel. Next: write {0} "
                           "into the \"args\" line of the launches that use it, or remove this "
                           "line",
                           name));
}

}  // namespace kiln
