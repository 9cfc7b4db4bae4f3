// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The text of a template.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "tools/adopt/operation.hpp"

namespace kiln::tools {
namespace {

using TunableKind = TunableGuess::Kind;

class TemplateWriter {
 public:
  explicit TemplateWriter(const AdoptionGuess& guess) : guess_(guess) {}

  AdoptedFile run() {
    lines_.add("template", guess_.template_name);
    lines_.add("purpose", fmt::format("The unchanged kernel of {}.", guess_.file));
    lines_.add("operation", guess_.operation);
    write_types();
    for (const auto& tunable : guess_.made.tunables) write_tunable(tunable);
    write_requirements();
    if (!guess_.made.workspace.empty()) {
      lines_.add("workspace", guess_.made.workspace, guess_.made.workspace_comment);
    }
    for (const auto& launch : guess_.made.launches) write_launch(launch);
    for (const auto& operand : guess_.problem.operands) {
      if (!operand.is_constant) continue;
      lines_.add("constant", fmt::format("{} = {}", operand.array, operand.name));
    }
    return {guess_.template_name + ".cu", lines_.text() + "\n" + std::string(guess_.source),
            lines_.marks()};
  }

 private:
  /// Operands of one template parameter have one type.
  void write_types() {
    std::map<std::string, std::string> first;  // operand of a template parameter
    bool is_tied = false;
    std::vector<std::string> slots;
    for (const auto& operand : guess_.problem.operands) {
      std::string types = operand.element ? std::string(to_string(operand.element->type)) : kFillIn;
      if (!operand.template_type.empty()) {
        const auto [known, is_new] = first.emplace(operand.template_type, operand.name);
        const bool is_fixed = guess_.problem.scalar_types.contains(operand.template_type);
        types = !is_new ? known->second : is_fixed ? "f32" : "f32|f64";
        is_tied = is_tied || !is_new;
      }
      slots.push_back(fmt::format("{}={}", operand.name, types));
    }
    if (is_tied) lines_.add("types", fmt::format("{}", fmt::join(slots, " ")));
  }

  void write_tunable(const TunableGuess& tunable) {
    if (tunable.is_listed) {
      lines_.add(
          "tune",
          fmt::format("{} = {}", tunable.name, tunable.values.empty() ? kFillIn : tunable.values),
          tunable.comment);
    } else if (tunable.kind == TunableKind::extent) {
      const std::string values = tunable.is_of_file && tunable.usual > kSmallExtent
                                     ? fmt::format("{} {}*", kSmallExtent, tunable.usual)
                                 : tunable.is_of_file
                                     ? fmt::format("{}* {}", tunable.usual, kSmallExtent)
                                     : fmt::format("{}* {}", kSmallExtent, kFillIn);
      lines_.add("tune",
                 fmt::format("{} = {}", tunable.name,
                             tunable.usual == kSmallExtent && tunable.is_of_file
                                 ? fmt::format("{}*", kSmallExtent)
                                 : values),
                 fmt::format("{}the values of the size {} that you tune; {} is for test problems",
                             tunable.is_of_file ? "CHECK: " : "",
                             guess_.problem.names.at(tunable.name), kSmallExtent));
    } else if (tunable.kind == TunableKind::size) {
      lines_.add("let", fmt::format("{} = {}", tunable.name, kFillIn),
                 "write a number; the sizes of a problem are not known at compile time");
    } else if (tunable.values.empty()) {
      lines_.add("tune", fmt::format("{} = {}", tunable.name, kFillIn),
                 fmt::format("list the values, and put * after the default: {}",
                             tunable.is_of_file ? fmt::format("{}*", tunable.usual) : "1* 2 4"));
    } else {
      lines_.add("tune", fmt::format("{} = {}", tunable.name, tunable.values), tunable.comment);
    }
  }

  void write_requirements() {
    std::vector<std::string> done;
    const auto require = [&](const std::string& text, const std::string& comment) {
      if (std::find(done.begin(), done.end(), text) != done.end()) return;
      done.push_back(text);
      lines_.add("require", text, comment);
    };
    for (const auto& launch : guess_.made.launches) {
      const auto& block = launch.block;
      const bool is_number =
          block.size() == 1 && block.front().find_first_not_of("0123456789") == std::string::npos;
      if (is_number || std::count(block.begin(), block.end(), kFillIn) > 0) continue;
      require(fmt::format("{} <= device.max_threads", fmt::join(block, " * ")), "");
      if (launch.most_threads.empty()) continue;
      require(fmt::format("{} <= {}", fmt::join(block, " * "), launch.most_threads),
              "__launch_bounds__");
    }
    for (const auto& tunable : guess_.made.tunables) {
      if (tunable.kind != TunableKind::extent) continue;
      require(fmt::format("{} == {}", tunable.name, guess_.problem.names.at(tunable.name)),
              "the kernel is compiled for one value of this size");
    }
    for (const auto& each : guess_.made.requirements) {
      // Those that are to be filled in differ by their comments.
      if (each.text == kFillIn) {
        lines_.add("require", each.text, each.comment);
      } else {
        require(each.text, each.comment);
      }
    }
    for (const auto& launch : guess_.made.launches) {
      for (std::size_t i = 1; i < launch.grid.size(); ++i) {
        if (launch.grid[i] != "1") require(launch.grid[i] + " <= 65535", "limit of a grid");
      }
    }
  }

  void write_launch(const LaunchGuess& launch) {
    lines_.add("launch", launch.kernel, launch.kernel_comment);
    lines_.add_part("grid", launch.grid, launch.grid_comment);
    lines_.add_part("block", launch.block, launch.block_comment);
    if (!launch.smem.empty()) lines_.add_part("smem", {launch.smem}, launch.smem_comment);
    if (launch.is_cooperative) {
      lines_.add_part(
          "cooperative", {""},
          "CHECK: blocks wait for each other, so all blocks must be resident at the same time");
    }
    // A kernel without parameters has no list.
    if (!launch.args.empty()) lines_.add_part("args", launch.args, launch.args_comment);
  }

  const AdoptionGuess& guess_;
  FrontLines lines_;
};

}  // namespace

AdoptedFile template_file(const AdoptionGuess& guess) {
  return TemplateWriter(guess).run();
}

}  // namespace kiln::tools
