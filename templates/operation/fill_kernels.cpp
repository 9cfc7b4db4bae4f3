// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/operation/fill_kernels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "templates/nearest_name.hpp"
#include "templates/text_pieces.hpp"

namespace kiln {
namespace {

using ArgumentKind = ArgumentSpec::Kind;

/// Whether the arguments, members of structs too, have the operand as one of these kinds.
template <std::size_t N>
bool passes_operand(const std::vector<ArgumentSpec>& args, std::size_t operand,
                    const std::array<ArgumentKind, N>& kinds) {
  return std::ranges::any_of(args, [&](const ArgumentSpec& arg) {
    const bool is_of_kind = std::ranges::find(kinds, arg.kind) != kinds.end();
    return (is_of_kind && arg.index == operand) || passes_operand(arg.members, operand, kinds);
  });
}

constexpr std::array kOwnType{ArgumentKind::operand};
constexpr std::array kFloat64{ArgumentKind::float64};
constexpr std::array kAnyType{ArgumentKind::operand, ArgumentKind::float64};

bool reads(const FillKernel& fill, std::size_t operand) {
  if (std::ranges::find(fill.operands, operand) != fill.operands.end()) return false;
  const auto is_constant = [&](const ConstantSpec& constant) {
    return constant.operand == operand;
  };
  return passes_operand(fill.kernel.args, operand, kAnyType) ||
         std::ranges::any_of(fill.kernel.constants, is_constant);
}

/// What the kernel of a `fill` line makes must be an argument in its own type.
void check_made_operands(const FrontMatterLine& line, const FillKernel& fill,
                         const Operation& operation) {
  for (const std::uint16_t index : fill.operands) {
    const std::string& name = operation.operands[index].name;
    if (passes_operand(fill.kernel.args, index, kFloat64)) {
      line.fail(0, fmt::format("the kernel makes {0}, so it must write the element type of {0}. "
                               "Next: write \"{0}\" instead of \"{0}.f64\" in its \"args\" line",
                               name));
    }
    if (!passes_operand(fill.kernel.args, index, kOwnType)) {
      line.fail(0, fmt::format("the operand {0} has \"fill kernel {1}\", but {0} is not among the "
                               "arguments of {1}. Next: add \"{0}\" to its \"args\" line",
                               name, kernel_without_arguments(fill.kernel.kernel)));
    }
    for (const ConstantSpec& constant : fill.kernel.constants) {
      if (constant.operand != index) continue;
      line.fail(0, fmt::format("the kernel makes {0}, so it cannot read {0} from constant memory; "
                               "remove the line \"constant {1} = {0}\"",
                               name, constant.array));
    }
  }
}

/// The fill kernel that makes what another needs; nothing if all of that is there.
std::optional<std::size_t> missing_maker(const std::vector<FillKernel>& fills, std::size_t of,
                                         const std::vector<bool>& done) {
  for (std::size_t i = 0; i < fills.size(); ++i) {
    if (i == of || done[i]) continue;
    const auto needs = [&](std::uint16_t operand) { return reads(fills[of], operand); };
    if (std::ranges::any_of(fills[i].operands, needs)) return i;
  }
  return std::nullopt;
}

/// Each of the kernels that are left waits for another one: follows them until one comes again.
[[noreturn]] void refuse_cycle(const std::vector<FrontMatterLine>& lines,
                               const std::vector<FillKernel>& fills,
                               const std::vector<bool>& done) {
  std::vector<std::size_t> path{
      static_cast<std::size_t>(std::ranges::find(done, false) - done.begin())};
  for (;;) {
    const std::size_t next = *missing_maker(fills, path.back(), done);
    const auto before = std::ranges::find(path, next) - path.begin();
    path.push_back(next);
    if (before == std::ssize(path) - 1) continue;
    path.erase(path.begin(), path.begin() + before);
    break;
  }
  std::vector<std::string> names;
  for (const std::size_t each : path) {
    names.push_back(kernel_without_arguments(fills[each].kernel.kernel));
  }
  lines[path.front()].fail(
      0, fmt::format("these fill kernels need each other's results, so none of them can run "
                     "first: {}. Next: let one of them read only operands that the others do not "
                     "make",
                     fmt::join(names, " needs ")));
}

}  // namespace

std::string kernel_without_arguments(std::string_view kernel) {
  return std::string(trimmed(kernel.substr(0, kernel.find('<'))));
}

std::vector<ArgumentSpec> read_fill_arguments(const FrontMatterLine& fill,
                                              const FrontMatterLine* args,
                                              const Operation& operation) {
  if (args == nullptr) {
    fill.fail_at_key(
        "the fill kernel has no \"args\" line; add an \"args\" line below this line, with the "
        "operands that the kernel makes and what it needs for that");
  }
  auto list = parse_argument_list(*args, operation, operation.names(), ArgumentsOf::fill);
  for (std::size_t i = 0; i < operation.operands.size(); ++i) {
    const OperandSpec& operand = operation.operands[i];
    if (operand.role != OperandRole::out || !passes_operand(list, i, kAnyType)) continue;
    args->fail(0, fmt::format("{0} is an output, which has no data before a kernel has run. Next: "
                              "remove \"{0}\" from the arguments of this fill kernel",
                              operand.name));
  }
  return list;
}

void connect_fills(const std::vector<FrontMatterLine>& operands,
                   const std::vector<FrontMatterLine>& fills, Operation& operation) {
  std::vector<FillKernel>& kernels = operation.judge.fills;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    const std::string name = kernel_without_arguments(kernels[i].kernel.kernel);
    if (std::ranges::find(names, name) != names.end()) {
      fills[i].fail(0, fmt::format("two \"fill\" lines name the kernel {}; remove one of them, or "
                                   "give its kernel another name",
                                   name));
    }
    names.push_back(name);
  }
  for (std::size_t i = 0; i < operation.operands.size(); ++i) {
    const FillSpec& fill = operation.operands[i].fill;
    if (fill.kind != FillSpec::Kind::kernel) continue;
    const auto found = std::ranges::find(names, fill.kernel);
    if (found == names.end()) {
      operands[i].fail(
          operands[i].text.find(fill.kernel, operands[i].text.find("kernel")),
          fmt::format("no \"fill\" line names the kernel {0}{1}. Next: add the line \"//@ fill "
                      "{0}\", and below it its \"grid\", \"block\" and \"args\" lines",
                      fill.kernel, names.empty() ? "" : meant_or_known(fill.kernel, names)));
    }
    kernels[static_cast<std::size_t>(found - names.begin())].operands.push_back(
        static_cast<std::uint16_t>(i));
  }
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (kernels[i].operands.empty()) {
      fills[i].fail(0, fmt::format("no operand is filled by this kernel. Next: write \"; fill "
                                   "kernel {}\" after the extents of an operand, or remove this "
                                   "line",
                                   names[i]));
    }
    check_made_operands(fills[i], kernels[i], operation);
  }
  std::vector<FillKernel> ordered;
  std::vector<bool> done(kernels.size(), false);
  while (ordered.size() < kernels.size()) {
    const std::size_t before = ordered.size();
    for (std::size_t i = 0; i < kernels.size(); ++i) {
      if (done[i] || missing_maker(kernels, i, done)) continue;
      ordered.push_back(kernels[i]);
      done[i] = true;
    }
    if (ordered.size() == before) refuse_cycle(fills, kernels, done);
  }
  kernels = std::move(ordered);
}

}  // namespace kiln
