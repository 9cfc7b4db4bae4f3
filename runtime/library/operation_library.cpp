// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What the public classes do for operations that files declare.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "kiln/library.hpp"
#include "runtime/library/library_state.hpp"
#include "runtime/library/operation_entry.hpp"
#include "runtime/library/prepare_side_by_side.hpp"
#include "runtime/library/printable_errors.hpp"
#include "runtime/library/workspaces.hpp"
#include "runtime/process/fork_guard.hpp"
#include "templates/launch/argument_plan.hpp"
#include "templates/nearest_name.hpp"
#include "templates/operation/scalar_text.hpp"
#include "templates/printable.hpp"

namespace kiln {
namespace {

using detail::OperationEntry;
using detail::ScalarRule;

const OperationEntry& entry_of_operation(const detail::KernelEntry& entry) {
  return static_cast<const OperationEntry&>(entry);
}

std::uintptr_t address_of(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

/// Whether it is the value that kernels get. Infinities and NaN are themselves in every
/// floating-point type.
bool is_of_type(const ScalarRule& rule, Scalar value) {
  return rule.range.has(value) || (!rule.range.whole && !std::isfinite(value.as_double()));
}

bool is_aligned(const void* pointer, std::size_t alignment) {
  return (address_of(pointer) & (alignment - 1)) == 0;
}

bool is_in_order(const OperationEntry& entry, const Arguments& arguments) {
  if (arguments.operands.size() != entry.operands.size()) return false;
  if (arguments.scalars.size() > entry.scalars.size()) return false;
  for (std::size_t i = 0; i < arguments.scalars.size(); ++i) {
    if (!is_of_type(entry.scalars[i], arguments.scalars[i])) return false;
  }
  if (entry.launches.empty()) return true;
  for (std::size_t i = 0; i < entry.operands.size(); ++i) {
    if (entry.operands[i].bytes == 0) continue;
    const void* const pointer = arguments.operands[i];
    if (pointer == nullptr || !is_aligned(pointer, entry.operands[i].alignment)) {
      return false;
    }
  }
  return is_aligned(arguments.workspace, kCallerWorkspaceAlignment);
}

[[noreturn]] void refuse_launch(const OperationEntry& entry, const std::string& why) {
  throw Error(ErrorKind::usage,
              printable(fmt::format("launch of {}: {}", entry.operation->name, why)));
}

/// "x, y": what is to be given.
std::string operand_list(const Operation& operation) {
  std::string text;
  for (const OperandSpec& operand : operation.operands) {
    text += (text.empty() ? "" : ", ") + operand.name;
  }
  return text;
}

void check_given_operand(const OperationEntry& entry, std::size_t index, const void* pointer) {
  const std::string& name = entry.operation->operands[index].name;
  if (pointer == nullptr) {
    refuse_launch(entry, fmt::format("{}, operand {}, is null", name, index));
  }
  const std::size_t alignment = entry.operands[index].alignment;
  if (is_aligned(pointer, alignment)) return;
  refuse_launch(
      entry,
      fmt::format(
          "{} = {} is not a multiple of {} bytes. Kiln requires this alignment for {}. Next: "
          "copy the operand to an aligned address",
          name, pointer, alignment,
          alignment == kOperandAlignment ? "every operand" : "this operand"));
}

/// Reports what is wrong with arguments that the launch refused.
[[noreturn]] void refuse_arguments(const OperationEntry& entry, const Arguments& arguments) {
  const Operation& operation = *entry.operation;
  if (arguments.operands.size() != entry.operands.size()) {
    refuse_launch(
        entry,
        fmt::format("the launch passes {} operands, but the operation has {}: {}. "
                    "Next: pass null for each operand that the problem does not use",
                    arguments.operands.size(), entry.operands.size(), operand_list(operation)));
  }
  if (arguments.scalars.size() > entry.scalars.size()) {
    refuse_launch(entry, fmt::format("the launch passes {} scalars, but the operation has {}",
                                     arguments.scalars.size(), entry.scalars.size()));
  }
  for (std::size_t i = 0; i < arguments.scalars.size(); ++i) {
    if (is_of_type(entry.scalars[i], arguments.scalars[i])) continue;
    const ScalarSpec& scalar = operation.scalars[i];
    refuse_launch(entry, fmt::format("the scalar {}: {}", scalar.name,
                                     why_not_of_type(scalar.type, arguments.scalars[i])));
  }
  for (std::size_t i = 0; i < entry.operands.size(); ++i) {
    if (entry.operands[i].bytes > 0) check_given_operand(entry, i, arguments.operands[i]);
  }
  refuse_launch(entry, fmt::format("workspace = {} is not a multiple of {} bytes",
                                   arguments.workspace, kCallerWorkspaceAlignment));
}

/// Where the name is; throws Error(usage) if it is nowhere.
template <class Spec>
std::size_t index_in(const OperationEntry& entry, const std::vector<Spec>& specs,
                     std::string_view what, std::string_view name) {
  const auto found = std::ranges::find(specs, name, &Spec::name);
  if (found != specs.end()) return static_cast<std::size_t>(found - specs.begin());
  std::vector<std::string> known;
  for (const Spec& spec : specs) known.push_back(spec.name);
  throw Error(ErrorKind::usage,
              printable(fmt::format("{} has no {} \"{}\"{}", entry.operation->name, what, name,
                                    did_you_mean(name, known))));
}

}  // namespace

void OperationKernel::launch(Stream stream, const Arguments& arguments) const {
  const OperationEntry& entry = entry_of_operation(*entry_);
  if (entry.process != detail::this_process()) [[unlikely]]
    detail::refuse_parents_object();
  if (!is_in_order(entry, arguments)) [[unlikely]] {
    refuse_arguments(entry, arguments);
  }
  if (entry.launches.empty()) [[unlikely]]
    return;
  // Only what is counted is written and read.
  std::array<std::uintptr_t, kMostOperands> operands;
  const std::size_t operand_count = entry.operands.size();
  for (std::size_t i = 0; i < operand_count; ++i) {
    operands[i] = entry.operands[i].takes_part ? address_of(arguments.operands[i]) : 0;
  }
  std::array<Scalar, kMostScalars> scalars;
  const std::size_t scalar_count = entry.scalars.size();
  for (std::size_t i = 0; i < scalar_count; ++i) {
    const bool given = i < arguments.scalars.size();
    scalars[i] = given ? arguments.scalars[i] : entry.scalars[i].value;
  }
  ArgumentValues values;
  values.operands = {operands.data(), operand_count};
  values.scalars = {scalars.data(), scalar_count};
  if (entry.workspace_bytes > 0) {
    values.workspace = address_of(arguments.workspace != nullptr
                                      ? arguments.workspace
                                      : entry.workspaces->get(stream, entry.workspace_bytes));
  }
  if (!entry.constants.empty()) {
    const DeviceStatus status =
        fill_constant_arrays(*entry.device, entry.constants, values.operands, stream);
    if (!status.ok()) [[unlikely]] {
      detail::fail_launch(entry, status);
    }
  }
  alignas(std::max_align_t) std::array<std::byte, kMostArgumentBytes> argument;
  for (std::size_t i = 0; i < entry.launches.size(); ++i) {
    fill_argument(entry.arguments[i], values, argument.data());
    LaunchRequest request = entry.launches[i];
    request.arguments = argument.data();
    const DeviceStatus status = entry.device->launch(request, stream);
    if (!status.ok()) [[unlikely]] {
      detail::fail_launch(entry, status);
    }
  }
}

std::size_t OperationKernel::operand_index(std::string_view name) const {
  const OperationEntry& entry = entry_of_operation(*entry_);
  return index_in(entry, entry.operation->operands, "operand", name);
}

std::size_t OperationKernel::scalar_index(std::string_view name) const {
  const OperationEntry& entry = entry_of_operation(*entry_);
  return index_in(entry, entry.operation->scalars, "scalar", name);
}

std::size_t OperationKernel::operand_count() const noexcept {
  return entry_of_operation(*entry_).operands.size();
}

std::size_t OperationKernel::scalar_count() const noexcept {
  return entry_of_operation(*entry_).scalars.size();
}

std::size_t OperationKernel::operand_bytes(std::size_t index) const {
  const OperationEntry& entry = entry_of_operation(*entry_);
  if (index < entry.operands.size()) return static_cast<std::size_t>(entry.operands[index].bytes);
  throw Error(ErrorKind::usage, fmt::format("{} has {} operands, so there is no operand {}",
                                            entry.operation->name, entry.operands.size(), index));
}

Arguments OperationKernel::arguments() const {
  const OperationEntry& entry = entry_of_operation(*entry_);
  const std::array<const void*, kMostOperands> nothing{};
  std::array<Scalar, kMostScalars> declared{};
  std::ranges::transform(entry.scalars, declared.begin(), &ScalarRule::value);
  return {{nothing.data(), entry.operands.size()}, {declared.data(), entry.scalars.size()}};
}

OperationKernel Library::get(const OperationProblem& problem) const {
  return detail::with_printable_errors([&] { return state().operations().get(problem); });
}

void Library::prepare(const std::vector<OperationProblem>& problems) const {
  if (!state().is_of_this_process()) detail::refuse_parents_object();
  detail::prepare_side_by_side(problems.size(),
                               [&](std::size_t i) { static_cast<void>(get(problems[i])); });
}

}  // namespace kiln
