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

/// The name and the value of a size or a trait.
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

/// A type slot and its element type in a problem. A type slot is a name for an element type. The
/// declaration of an operation lists the type slots. A problem chooses one element type for each
/// slot.
struct NamedType {
  std::string slot;
  DType type = DType::f32;
  friend bool operator==(const NamedType& left, const NamedType& right) {
    return left.slot == right.slot && left.type == right.type;
  }
  friend bool operator!=(const NamedType& left, const NamedType& right) { return !(left == right); }
};

/// One problem of an operation. A file in the template path must declare the operation;
/// docs/reference/operations.md describes declarations. `kiln operations NAME` prints the sizes,
/// types and traits of an operation. For a matrix multiplication, use Gemm.
///
///     kiln::OperationProblem softmax{
///         .operation = "softmax",
///         .sizes = {{"rows", 1000}, {"cols", 4096}},
///         .types = {{"x", kiln::DType::f16}, {"y", kiln::DType::f16}}};
///
/// Set every type slot and every trait. Also set every size that has no default in the declaration.
/// Sizes with a default are optional. List each name only once, in any order. Sizes count elements.
/// The declaration states the meaning and range of each size. Scalars are arguments of a launch,
/// not part of a problem.
///
/// Addresses are also arguments of a launch. The address of every operand must be a multiple of
/// kOperandAlignment, unless the declaration states another `align`. An operand is row-major and
/// contiguous, unless the declaration states an `ld`.
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

/// The maximum number of operands that an operation can have.
inline constexpr std::size_t kMostOperands = 32;
/// The maximum number of scalars that an operation can have.
inline constexpr std::size_t kMostScalars = 32;
/// The required alignment of an operand's address, in bytes. A declaration can require another
/// alignment with `align`. Memory from cudaMalloc and from DeviceMemory is aligned to at least 256
/// bytes. The address of an element inside an array may be less aligned.
inline constexpr std::size_t kOperandAlignment = 16;
/// The required alignment, in bytes, of a workspace that the caller allocates.
inline constexpr std::size_t kCallerWorkspaceAlignment = 256;

/// A list of at most `Most` values, stored in the object itself without dynamic memory.
template <class Value, std::size_t Most>
class ShortList {
 public:
  using value_type = Value;
  using const_iterator = const Value*;
  constexpr ShortList() = default;
  ShortList(std::initializer_list<Value> values) : ShortList(values.begin(), values.size()) {}
  /// Copies `count` values, and converts each to Value. Throws Error(usage) if `count` exceeds
  /// `Most`.
  template <class Given, std::enable_if_t<std::is_convertible_v<const Given&, Value>, int> = 0>
  ShortList(const Given* values, std::size_t count) : count_(count) {
    if (count > Most) {
      throw Error(ErrorKind::usage, "launch: " + std::to_string(count) +
                                        " values are given in one list, but a list has at most " +
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

/// The arguments of one launch of an operation's kernel. Operands and scalars are in the order of
/// the declaration. To find a position by name, call OperationKernel::operand_index() or
/// OperationKernel::scalar_index(). Look up positions once, before the launch loop.
struct Arguments {
  /// The device address of every operand, including outputs. No output may overlap another operand.
  /// A kernel reads an `inout` operand and then writes the result to the same memory.
  ///
  /// An operand is absent from a problem if its `when` condition in the declaration is false. An
  /// absent operand still has a position in this list. The launch ignores the address there, and
  /// the kernel gets null. The launch also ignores the address of an operand without elements.
  ShortList<const void*, kMostOperands> operands = {};
  /// The values of the scalars, in the order of the declaration. If the list is shorter than the
  /// declaration, the remaining scalars get their declared defaults. A value must be in the range
  /// of the scalar's declared type. If this type is an integer type, the value must be an integer.
  /// If this type is a floating-point type, the launch rounds the value to this type.
  ShortList<Scalar, kMostScalars> scalars = {};
  /// The workspace of the launch. If `workspace` is null, the launch uses the library's workspace
  /// for the stream. Otherwise it must point to OperationKernel::workspace_bytes() bytes of device
  /// memory. The address of this memory must be a multiple of kCallerWorkspaceAlignment. No other
  /// launch may use this memory at the same time.
  void* workspace = nullptr;
};

}  // namespace kiln
