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

/// A size, or another whole number that has a name.
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

/// One problem of an operation that a file of the template path declares
/// (docs/reference/operations.md has the grammar; `kiln operations NAME` shows what an operation
/// takes). Products of matrices are built in and have a description of their own, Gemm.
///
///     kiln::OperationProblem softmax{
///         .operation = "softmax",
///         .sizes = {{"rows", 1000}, {"cols", 4096}},
///         .types = {{"x", kiln::DType::f16}, {"y", kiln::DType::f16}}};
///
/// Every size, type slot and trait of the declaration is named, once, in any order: the order makes
/// no difference. Only a size with a default, such as the distance between rows, may be left out.
/// Sizes are in elements, and what they count is the declaration's to say; they lie in the ranges
/// that it states. Scalars are no part of a problem but of a launch. Nor are addresses: kernels are
/// promised that every operand starts on a multiple of kOperandAlignment bytes and lies tight in
/// memory, row-major, its last extent contiguous, unless the declaration says otherwise (`align`,
/// `ld`).
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

/// Operands and scalars that an operation may have to be launched by a library.
inline constexpr std::size_t kMostOperands = 32;
inline constexpr std::size_t kMostScalars = 32;
/// Bytes, of which the address of every operand is a multiple whose declaration says no other
/// number. Memory from cudaMalloc and
/// DeviceMemory has more; a pointer into the middle of an array may have less.
inline constexpr std::size_t kOperandAlignment = 16;
/// The same for a workspace that the caller gives.
inline constexpr std::size_t kCallerWorkspaceAlignment = 256;

/// At most `Most` values, held without an allocation.
template <class Value, std::size_t Most>
class ShortList {
 public:
  using value_type = Value;
  using const_iterator = const Value*;
  constexpr ShortList() = default;
  ShortList(std::initializer_list<Value> values) : ShortList(values.begin(), values.size()) {}
  /// Copies them, each converted to Value. Throws Error(usage) if there are more than `Most`.
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
  /// Precondition, as usual: `index` is less than size().
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

/// What one launch of an operation's kernel is given, by position: in the order in which the file
/// declares operands and scalars. OperationKernel::operand_index() and scalar_index() find a
/// position by its name, once, before the loop that launches.
struct Arguments {
  /// The address in device memory of every operand, outputs too. One that the operation leaves out
  /// for this problem (`when`) has a place as well; what is there is not looked at, and kernels get
  /// null. Nor is that of an operand without elements. No output overlaps another operand; one that
  /// is declared `inout` is read and then written in place.
  ShortList<const void*, kMostOperands> operands = {};
  /// The first scalars; those that are not given have the value of the declaration. Each is a
  /// number that its type has, or is rounded to it if that is a floating-point type.
  ShortList<Scalar, kMostScalars> scalars = {};
  /// Memory of the caller's for the kernel to work in: OperationKernel::workspace_bytes(), which no
  /// other launch uses at the time. Null: the library's, of which each stream has one.
  void* workspace = nullptr;
};

}  // namespace kiln
