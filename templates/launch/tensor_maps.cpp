// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/launch/tensor_maps.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>

#include "kiln/error.hpp"

namespace kiln {
namespace {

// The rules of cuTensorMapEncodeTiled (CUDA driver API, "Tensor Map Object Management").
constexpr std::int64_t kMostBox = 256;
constexpr std::int64_t kLine = 16;  ///< bytes that addresses and strides are multiples of
constexpr std::int64_t kMostStride = std::int64_t{1} << 40;

class Planner {
 public:
  Planner(const TensorMapSpec& spec, const std::function<std::int64_t(const Expression&)>& value)
      : spec_(spec), value_(value) {}

  TensorMapPlan run(const Operation& operation, const Problem& problem) {
    plan_.type = problem.type(spec_.slot).value_or(DType::f16);
    if (packed_values(plan_.type) > 1) {
      fail(fmt::format("a tensor map cannot describe the packed type {} (several values per byte)",
                       to_string(plan_.type)));
    }
    place(operation);
    plan_.rank = static_cast<std::uint8_t>(spec_.extents.size());
    for (std::size_t i = 0; i < plan_.rank; ++i) {
      const auto extent =
          in_range("extent", spec_.extents[i], 0, std::numeric_limits<std::int32_t>::max());
      plan_.extents[i] = static_cast<std::uint32_t>(extent);
      if (extent > 0) continue;
      // A kernel that makes no copies says so, and nothing else of the map matters then.
      plan_.rank = 0;
      return plan_;
    }
    for (std::size_t i = 0; i < plan_.rank; ++i) {
      plan_.box[i] = static_cast<std::uint16_t>(in_range("box", spec_.box[i], 1, kMostBox));
    }
    strides();
    plan_.swizzle = choice("swizzle", spec_.swizzle, {0, 32, 64, 128});
    plan_.promotion = choice("promote", spec_.promote, {0, 64, 128, 256});
    const std::int64_t row = plan_.box[0] * std::int64_t{size_bytes(plan_.type)};
    if (row % kLine != 0)
      fail(fmt::format("a row of the box has {} bytes, which is not a multiple of 16", row));
    if (plan_.swizzle != 0 && row > plan_.swizzle) {
      fail(fmt::format("a row of the box has {} bytes, more than the swizzle of {} bytes", row,
                       plan_.swizzle));
    }
    return plan_;
  }

 private:
  [[noreturn]] void fail(const std::string& message) const {
    throw Error(ErrorKind::template_,
                fmt::format("line {}: map of {}: {}", spec_.line, spec_.slot, message));
  }

  [[nodiscard]] std::int64_t in_range(std::string_view what, const Expression& expression,
                                      std::int64_t least, std::int64_t most) const {
    const std::int64_t result = value_(expression);
    if (result < least || result > most) {
      fail(fmt::format("{} \"{}\" is {}, but must be from {} to {}", what, expression.text(),
                       result, least, most));
    }
    return result;
  }

  [[nodiscard]] std::uint16_t choice(std::string_view what,
                                     const std::optional<Expression>& expression,
                                     std::initializer_list<std::int64_t> allowed) const {
    if (!expression) return 0;
    const std::int64_t result = value_(*expression);
    if (std::find(allowed.begin(), allowed.end(), result) == allowed.end()) {
      fail(fmt::format("{} \"{}\" is {}, but the allowed values are {}", what, expression->text(),
                       result, fmt::join(allowed, " ")));
    }
    return static_cast<std::uint16_t>(result);
  }

  void place(const Operation& operation) {
    const std::int64_t in_workspace = spec_.workspace ? value_(*spec_.workspace) : -1;
    const OperandSpec* const operand = operation.operand(spec_.slot);
    in_workspace_ = in_workspace >= 0;
    if (in_workspace_) {
      if (in_workspace % kLine != 0) fail("the \"in_workspace\" offset is not a multiple of 16");
      plan_.offset = in_workspace;
      plan_.pointer_at = operation.workspace_at;
    } else if (operand != nullptr) {
      plan_.pointer_at = operand->pointer_at;
      plan_.ld_at = operand->ld_at;
    } else {
      fail(fmt::format(
          "the operation has no operand \"{}\", so the tensor must be in the workspace. The "
          "\"in_workspace\" offset is {}, but must be at least 0",
          spec_.slot, in_workspace));
    }
  }

  void strides() {
    for (std::size_t i = 0; i + 1 < plan_.rank; ++i) {
      const std::int64_t pitch = spec_.pitch.empty() ? 0 : value_(spec_.pitch[i]);
      if (pitch == 0 && i == 0 && !in_workspace_) continue;
      const std::int64_t most = kMostStride / size_bytes(plan_.type) - 1;
      if (pitch < 1 || pitch > most) {
        fail(fmt::format("the pitch of dimension {1} is {0}, but must be from 1 to {2}", pitch,
                         i + 1, most));
      }
      plan_.strides[i] = pitch * size_bytes(plan_.type);
      if (plan_.strides[i] % kLine != 0) {
        fail(fmt::format("dimension {} has a stride of {} bytes, which is not a multiple of 16",
                         i + 1, plan_.strides[i]));
      }
    }
  }

  const TensorMapSpec& spec_;
  const std::function<std::int64_t(const Expression&)>& value_;
  TensorMapPlan plan_;
  bool in_workspace_ = false;
};

}  // namespace

TensorMapPlan plan_tensor_map(const TensorMapSpec& spec, const Operation& operation,
                              const Problem& problem,
                              const std::function<std::int64_t(const Expression&)>& value) {
  return Planner(spec, value).run(operation, problem);
}

std::string describe(const TensorMapPlan& plan) {
  const std::size_t rank = plan.rank;
  return fmt::format("map {} at={}+{} ld={} extents={} box={} strides={} swizzle={} promote={}",
                     to_string(plan.type), plan.pointer_at, plan.offset, plan.ld_at,
                     fmt::join(std::span(plan.extents).first(rank), ","),
                     fmt::join(std::span(plan.box).first(rank), ","),
                     fmt::join(std::span(plan.strides).first(rank > 0 ? rank - 1 : 0), ","),
                     plan.swizzle, plan.promotion);
}

BoundTensorMap bind_tensor_map(const TensorMapPlan& plan, const void* argument) noexcept {
  BoundTensorMap bound;
  const auto* const bytes = static_cast<const unsigned char*>(argument);
  std::memcpy(&bound.address, bytes + plan.pointer_at, sizeof(bound.address));
  bound.address += static_cast<std::uint64_t>(plan.offset);
  bound.strides = plan.strides;
  if (plan.rank > 1 && plan.strides[0] == 0) {
    std::int64_t elements = 0;
    std::memcpy(&elements, bytes + plan.ld_at, sizeof(elements));
    bound.strides[0] = elements * size_bytes(plan.type);
  }
  return bound;
}

}  // namespace kiln
