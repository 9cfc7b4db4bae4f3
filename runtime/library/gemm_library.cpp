// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What the public classes do for products of matrices.
#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "kiln/library.hpp"
#include "runtime/library/gemm_entry.hpp"
#include "runtime/library/library_state.hpp"
#include "runtime/library/prepare_side_by_side.hpp"
#include "runtime/library/printable_errors.hpp"
#include "runtime/library/workspaces.hpp"
#include "runtime/process/fork_guard.hpp"
#include "templates/kernels/common/gemm_args.cuh"

namespace kiln {
namespace {

static_assert(GemmArgs::kMostOperands == kMostEpilogueOperands,
              "GemmArgs must have room for every epilogue operand of a Gemm");

using detail::GemmEntry;

std::uintptr_t address(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

/// Whether A and B have elements, D having some.
bool has_product(const GemmEntry& entry) {
  return entry.k != 0;
}

void check_operand(char name, const void* pointer, std::uintptr_t mask) {
  if (pointer == nullptr) throw Error(ErrorKind::usage, fmt::format("launch: {} is null", name));
  if ((address(pointer) & mask) == 0) return;
  throw Error(
      ErrorKind::usage,
      fmt::format("launch: {0} = {1} is not a multiple of {2} bytes, which alignment_{3} requires. "
                  "Next: align the operand, or request a kernel with a smaller alignment_{3}",
                  name, pointer, mask + 1, static_cast<char>(name - 'A' + 'a')));
}

bool is_workspace(const void* pointer) {
  return (address(pointer) & (kCallerWorkspaceAlignment - 1)) == 0;
}

void check_workspace(const void* pointer) {
  if (is_workspace(pointer)) return;
  throw Error(ErrorKind::usage, fmt::format("launch: workspace = {} is not a multiple of {} bytes",
                                            pointer, kCallerWorkspaceAlignment));
}

/// Whether a kernel that converts the factor to its accumulator's type computes with that factor.
/// Infinities and NaN are themselves in every floating-point type.
bool holds(const GemmEntry& entry, double factor) {
  const bool in_range = std::fabs(factor) <= entry.largest_scalar;
  if (entry.whole_scalars) return in_range && factor == std::trunc(factor);
  return in_range || !std::isfinite(factor);
}

void check_scalar(const GemmEntry& entry, const char* name, double factor) {
  if (holds(entry, factor)) return;
  throw Error(
      ErrorKind::usage,
      fmt::format(
          "launch: {0} = {1} does not fit into the accumulator's type. Next: pass {2} between "
          "-{3} and {3}",
          name, factor, entry.whole_scalars ? "a whole number" : "a number", entry.largest_scalar));
}

/// Whether the expression has a use for the factors that were given.
bool names_factors(const GemmEntry& entry, const GemmOperands& operands) {
  return (entry.names_alpha || operands.alpha == 1.0) && (entry.names_beta || operands.beta == 0.0);
}

/// Reports which operand of the expression is missing or misplaced, if one is.
void check_epilogue_operands(const GemmEntry& entry, const GemmOperands& operands) {
  for (int i = 0; i < entry.epilogue_operands; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const EpilogueOperand& operand = operands.epilogue[at];
    const std::string name = entry.epilogue.operand_name(i);
    if (operand.data == nullptr) {
      throw Error(ErrorKind::usage,
                  fmt::format("launch: {}, operand {} of the epilogue, is null", name, i));
    }
    if ((address(operand.data) & entry.epilogue_masks[at]) != 0) {
      throw Error(
          ErrorKind::usage,
          fmt::format("launch: {} = {} is not a multiple of {} bytes, the size of an element", name,
                      operand.data, entry.epilogue_masks[at] + 1));
    }
    if (operand.ld != 0 && (!entry.epilogue_matrices[at] || operand.ld < entry.n)) {
      throw Error(
          ErrorKind::usage,
          fmt::format(
              "launch: {}.ld = {} is not valid: {}", name, operand.ld,
              entry.epilogue_matrices[at]
                  ? fmt::format("each row has {0} elements, so ld must be at least {0}", entry.n)
                  : "only operands like x[m,n] have a leading dimension"));
    }
  }
}

/// Reports what is wrong with operands that the launch refused.
[[noreturn]] void refuse(const GemmEntry& entry, const GemmOperands& operands) {
  const bool writes = !entry.launches.empty();
  if (writes && has_product(entry)) {
    check_operand('A', operands.a, entry.mask_a);
    check_operand('B', operands.b, entry.mask_b);
  }
  if (writes) check_operand('D', operands.d, entry.mask_d);
  if (writes) check_epilogue_operands(entry, operands);
  if (writes) check_workspace(operands.workspace);
  check_scalar(entry, "alpha", operands.alpha);
  check_scalar(entry, "beta", operands.beta);
  if (!names_factors(entry, operands)) {
    const bool is_alpha = !entry.names_alpha && operands.alpha != 1.0;
    const std::string_view name = is_alpha ? "alpha" : "beta";
    throw Error(
        ErrorKind::usage,
        fmt::format("launch: {0} = {1} has no effect, because the epilogue \"{2}\" does not "
                    "use {0}. Next: pass {0} = {3}",
                    name, is_alpha ? operands.alpha : operands.beta, entry.epilogue.text(),
                    is_alpha ? 1 : 0));
  }
  if (!entry.reads_c) {
    throw Error(ErrorKind::usage, fmt::format("launch: beta = {}, but this kernel does not read C. "
                                              "Next: request a kernel with reads_c = true",
                                              operands.beta));
  }
  check_operand('C', operands.c, entry.mask_c);
  throw Error(ErrorKind::internal,
              "launch: Kiln refused this launch, but found no error in its arguments. Next: report "
              "this as a bug of Kiln");
}

/// The factors are representable in the accumulator, and C is there to be scaled; for a launch that
/// has nothing to do.
bool valid_factors(const GemmEntry& entry, const GemmOperands& operands) {
  const bool used = entry.epilogue.is_default() ? operands.beta == 0.0 || entry.reads_c
                                                : names_factors(entry, operands);
  return used && holds(entry, operands.alpha) && holds(entry, operands.beta);
}

/// Every operand present and aligned, and the factors representable in the accumulator. `c`
/// counts if beta makes the kernel read it.
bool valid(const GemmEntry& entry, const GemmOperands& operands) {
  for (int i = 0; i < entry.epilogue_operands; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const EpilogueOperand& operand = operands.epilogue[at];
    const std::uintptr_t data = address(operand.data);
    if (data == 0 || (data & entry.epilogue_masks[at]) != 0) return false;
    if (operand.ld != 0 && (!entry.epilogue_matrices[at] || operand.ld < entry.n)) return false;
  }
  const std::uintptr_t d = address(operands.d);
  if (d == 0 || (d & entry.mask_d) != 0 || !is_workspace(operands.workspace)) return false;
  if (has_product(entry)) [[likely]] {
    const std::uintptr_t a = address(operands.a);
    const std::uintptr_t b = address(operands.b);
    if (a == 0 || b == 0 || ((a & entry.mask_a) | (b & entry.mask_b)) != 0) return false;
  }
  if (!holds(entry, operands.alpha)) return false;
  if (!names_factors(entry, operands)) return false;
  const bool needs_c = entry.epilogue.is_default() ? operands.beta != 0.0 : entry.reads_c;
  if (!holds(entry, operands.beta)) return false;
  if (!needs_c) return true;
  const std::uintptr_t c = address(operands.c);
  return entry.reads_c && c != 0 && (c & entry.mask_c) == 0;
}

}  // namespace

void Kernel::launch(Stream stream, const GemmOperands& operands) const {
  const auto& entry = static_cast<const GemmEntry&>(*entry_);
  if (entry.process != detail::this_process()) [[unlikely]]
    detail::refuse_parents_object();
  if (entry.launches.empty()) [[unlikely]] {
    if (!valid_factors(entry, operands)) refuse(entry, operands);
    return;
  }
  if (!valid(entry, operands)) [[unlikely]] {
    refuse(entry, operands);
  }
  GemmArgs args{};
  args.a = operands.a;
  args.b = operands.b;
  args.c = operands.c;
  args.d = operands.d;
  if (entry.workspace_bytes > 0) {
    args.workspace = operands.workspace != nullptr
                         ? operands.workspace
                         : entry.workspaces->get(stream, entry.workspace_bytes);
  }
  args.lda = lda_;
  args.ldb = ldb_;
  args.ldc = ldc_;
  args.ldd = ldd_;
  // No product, no factor of it: zero times an infinite alpha would be NaN.
  const bool unscaled = !has_product(entry) && entry.epilogue.is_default();
  args.alpha = unscaled ? 0.0 : operands.alpha;
  args.beta = operands.beta;
  for (int i = 0; i < entry.epilogue_operands; ++i) {
    const auto at = static_cast<std::size_t>(i);
    args.operand[at] = operands.epilogue[at].data;
    args.operand_ld[at] = operands.epilogue[at].ld != 0 ? operands.epilogue[at].ld : entry.n;
  }
  args.m = entry.m;
  args.n = entry.n;
  args.k = entry.k;
  for (LaunchRequest request : entry.launches) {
    request.arguments = &args;
    request.argument_bytes = sizeof(args);
    const DeviceStatus status = entry.device->launch(request, stream);
    if (!status.ok()) [[unlikely]] {
      detail::fail_launch(entry, status);
    }
  }
}

Kernel Library::get(const Gemm& problem) const {
  return detail::with_printable_errors([&] { return state().gemms().get(problem); });
}

void Library::prepare(const std::vector<Gemm>& problems) const {
  if (!state().is_of_this_process()) detail::refuse_parents_object();
  detail::prepare_side_by_side(problems.size(),
                               [&](std::size_t i) { static_cast<void>(get(problems[i])); });
}

}  // namespace kiln
