// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/epilogue.hpp"
#include "kiln/types.hpp"

namespace kiln {

/// Which elements an operand of an epilogue has.
enum class OperandExtent : std::uint8_t {
  one,     ///< x[]: a number
  row,     ///< x[m]: one for each row of D
  column,  ///< x[n]: one for each column of D
  both,    ///< x[m,n]: a matrix like D
};

struct EpilogueSlot {
  std::string name;
  OperandExtent extent = OperandExtent::one;
  std::optional<DType> type;  ///< as written; nothing: see element_type()
  bool recorded = false;      ///< amax() writes it: f32 or f64
  friend bool operator==(const EpilogueSlot&, const EpilogueSlot&) = default;
};

/// The type of an operand's elements where the result is that D.
[[nodiscard]] DType element_type(const EpilogueSlot& operand, DType d);

/// An expression, read. Immutable.
class EpilogueExpression {
 public:
  /// One operation with its arguments, nodes before it: a tree whose root is the last.
  struct Node {
    /// `amax` has one argument and its operand.
    enum class Kind : std::uint8_t { number, name, operand, call, amax, infix, negate, select };
    Kind kind = Kind::number;
    double number = 0.0;
    std::string word;  ///< name, function or operator
    int operand = -1;
    std::vector<int> arguments;
  };

  /// Reads an expression; docs/reference/library.md and kiln/epilogue.hpp say what it may contain.
  /// Throws Error(usage): "epilogue: column 7: ...", the text, and a caret.
  [[nodiscard]] static EpilogueExpression parse(std::string_view text);

  /// The text that equal expressions share, without spaces. With `d`, every operand says its type.
  [[nodiscard]] std::string canonical(std::optional<DType> d = std::nullopt) const;
  /// The body of the macro KILN_EPILOGUE(x) in terms of EpilogueNames, see common/epilogue.cuh.
  [[nodiscard]] std::string device_code(DType d) const;
  /// Which operands amax() records in that have this extent, as bits.
  [[nodiscard]] unsigned peaks(OperandExtent extent) const;

  [[nodiscard]] bool reads_c() const { return names("c"); }
  /// Whether it says `acc`, `alpha`, `beta` or `c`.
  [[nodiscard]] bool names(std::string_view name) const;
  /// In order of appearance, which is that of launches.
  [[nodiscard]] const std::vector<EpilogueSlot>& operands() const { return operands_; }
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }

 private:
  friend class EpilogueParser;
  std::vector<Node> nodes_;
  std::vector<EpilogueSlot> operands_;
};

namespace detail {
/// What a handle stands for; kept for ever.
struct EpilogueEntry {
  EpilogueExpression expression;
  std::string text;      ///< canonical
  std::uint32_t number;  ///< 1, 2, ... in this process
};
}  // namespace detail

}  // namespace kiln
