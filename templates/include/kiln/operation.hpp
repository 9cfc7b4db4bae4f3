// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <type_traits>
#include <vector>

#include "kiln/error.hpp"
#include "kiln/scalar.hpp"
#include "kiln/types.hpp"

namespace kiln {

/// A size, or another named integer.
struct NamedValue {
  std::string name;
  std::int64_t value = 0;
  friend bool operator==(const NamedValue& left, const NamedValue& right) {
    return left.name == right.name && left.value == right.value;
  }
  friend bool operator!=(const NamedValue& left, const NamedValue& right) {
    return !(left == right);
  }
};

/// The element type of a type slot.
struct NamedType {
  std::string slot;
  DType type = DType::f32;
  friend bool operator==(const NamedType& left, const NamedType& right) {
    return left.slot == right.slot && left.type == right.type;
  }
  friend bool operator!=(const NamedType& left, const NamedType& right) { return !(left == right); }
};

/// One problem of an operation that a file of the template path declares.
/// docs/reference/operations.md has the grammar; `kiln operations NAME` shows what an operation
/// takes. For matrix products, which are built in, use Gemm.
///
///     kiln::OperationProblem softmax{
///         .operation = "softmax",
///         .sizes = {{"rows", 1000}, {"cols", 4096}},
///         .types = {{"x", kiln::DType::f16}, {"y", kiln::DType::f16}}};
///
/// Name every size, type slot and trait of the declaration once, in any order. Only a size with a
/// default, such as the distance between rows, may be left out. Sizes count elements; the
/// declaration says which, and states their ranges. Scalars belong to a launch, not to a problem.
///
/// Addresses belong to a launch too. Every operand starts on a multiple of kOperandAlignment bytes
/// and lies tight in memory, row-major, with the last extent contiguous, unless the declaration
/// says otherwise (`align`, `ld`).
struct OperationProblem {
  std::string operation;
  std::vector<NamedValue> sizes;
  std::vector<NamedType> types;
  std::vector<NamedValue> traits = {};

  friend bool operator==(const OperationProblem& left, const OperationProblem& right) {
    return left.operation == right.operation && left.sizes == right.sizes &&
           left.types == right.types && left.traits == right.traits;
  }
  friend bool operator!=(const OperationProblem& left, const OperationProblem& right) {
    return !(left == right);
  }
};

/// The most operands and scalars that an operation may have.
inline constexpr std::size_t kMostOperands = 32;
inline constexpr std::size_t kMostScalars = 32;
/// Required alignment in bytes of every operand whose declaration states no other. Memory from
/// cudaMalloc and DeviceMemory has a larger one; a pointer into the middle of an array may have
/// less.
inline constexpr std::size_t kOperandAlignment = 16;
/// Required alignment in bytes of a workspace of the caller's.
inline constexpr std::size_t kCallerWorkspaceAlignment = 256;

/// At most `Most` values, stored without an allocation.
template <class Value, std::size_t Most>
class ShortList {
 public:
  using value_type = Value;
  using const_iterator = const Value*;
  constexpr ShortList() = default;
  ShortList(std::initializer_list<Value> values) : ShortList(values.begin(), values.size()) {}
  /// Copies `count` values, each converted to Value. Throws Error(usage) if there are more than
  /// `Most`.
  template <class Given, std::enable_if_t<std::is_convertible_v<const Given&, Value>, int> = 0>
  ShortList(const Given* values, std::size_t count) : count_(count) {
    if (count > Most) {
      throw Error(ErrorKind::usage, "launch: " + std::to_string(count) +
                                        " values are given, and no operation takes more than " +
                                        std::to_string(Most));
    }
    std::copy(values, values + count, values_.begin());
  }

  [[nodiscard]] constexpr std::size_t size() const { return count_; }
  /// Precondition: `index` is less than size().
  [[nodiscard]] constexpr Value& operator[](std::size_t index) { return values_[index]; }
  [[nodiscard]] constexpr const Value& operator[](std::size_t index) const {
    return values_[index];
  }
  [[nodiscard]] constexpr const Value* begin() const { return values_.data(); }
  [[nodiscard]] constexpr const Value* end() const { return values_.data() + count_; }

 private:
  std::array<Value, Most> values_{};
  std::size_t count_ = 0;
};

/// The arguments of one launch of an operation's kernel, by position: in the order in which the
/// file declares operands and scalars. OperationKernel::operand_index() and scalar_index() find a
/// position by name; call them once, before the loop that launches.
struct Arguments {
  /// The address in device memory of every operand, outputs included. An operand that takes no part
  /// in this problem (`when`) has a position too; its address is ignored, and kernels get null. The
  /// address of an operand without elements is ignored too. No output may overlap another operand.
  /// A kernel reads an `inout` operand, then writes it in place.
  ShortList<const void*, kMostOperands> operands = {};
  /// The first scalars; the others have their declared values. Each must be a value of its declared
  /// type; floating-point types round instead.
  ShortList<Scalar, kMostScalars> scalars = {};
  /// The caller's workspace: OperationKernel::workspace_bytes() of device memory, aligned to
  /// kCallerWorkspaceAlignment, which no other launch uses at the same time. Null: the library's
  /// workspace for the stream.
  void* workspace = nullptr;
};

}  // namespace kiln
