// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/cuda/cublaslt_epilogue.hpp"

#include <string_view>

#include "templates/epilogue/epilogue.hpp"

namespace kiln {
namespace {

using Node = EpilogueExpression::Node;
using Kind = Node::Kind;

// cublasLtEpilogue_t: one bit for each step.
constexpr int kRelu = 2;
constexpr int kBias = 4;
constexpr int kGelu = 32;
constexpr int kDefault = 1;

/// Reads the terms of a sum.
class SumReader {
 public:
  SumReader(const EpilogueExpression& expression, DType d) : expression_(expression), d_(d) {}

  bool read(int index) {
    const Node& node = at(index);
    if (node.kind == Kind::infix && node.word == "+") {
      return read(node.arguments[0]) && read(node.arguments[1]);
    }
    return read_term(node);
  }
  /// Nothing but one product, and at most one C and one bias.
  [[nodiscard]] bool whole() const { return products_ == 1 && cs_ <= 1 && biases_ <= 1; }
  [[nodiscard]] CublasLtEpilogue found() const {
    CublasLtEpilogue result = found_;
    result.with_c = cs_ == 1;
    return result;
  }

 private:
  [[nodiscard]] const Node& at(int index) const {
    return expression_.nodes()[static_cast<std::size_t>(index)];
  }
  [[nodiscard]] bool is_name(const Node& node, std::string_view name) const {
    return node.kind == Kind::name && node.word == name;
  }
  /// Whether the node is that product of two names, either way round.
  [[nodiscard]] bool is_product(const Node& node, std::string_view x, std::string_view y) const {
    if (node.kind != Kind::infix || node.word != "*") return false;
    const Node& left = at(node.arguments[0]);
    const Node& right = at(node.arguments[1]);
    return (is_name(left, x) && is_name(right, y)) || (is_name(left, y) && is_name(right, x));
  }

  bool read_term(const Node& node) {
    if (is_name(node, "acc") || is_product(node, "acc", "alpha")) {
      ++products_;
      found_.with_alpha = node.kind == Kind::infix;
      return true;
    }
    if (is_name(node, "c") || is_product(node, "c", "beta")) {
      ++cs_;
      found_.with_beta = node.kind == Kind::infix;
      return true;
    }
    if (node.kind != Kind::operand) return false;
    const EpilogueSlot& slot = expression_.operands()[static_cast<std::size_t>(node.operand)];
    if (slot.extent != OperandExtent::column || element_type(slot, d_) != d_) return false;
    ++biases_;
    found_.bias_operand = node.operand;
    return true;
  }

  const EpilogueExpression& expression_;
  DType d_;
  CublasLtEpilogue found_;
  int products_ = 0, cs_ = 0, biases_ = 0;
};

}  // namespace

std::optional<CublasLtEpilogue> cublaslt_epilogue(const Gemm& gemm) {
  const auto* const entry = gemm.epilogue.entry();
  if (entry == nullptr) return CublasLtEpilogue{};
  const EpilogueExpression& expression = entry->expression;
  int index = static_cast<int>(expression.nodes().size()) - 1;
  const Node& root = expression.nodes().back();
  int activation = 0;
  if (root.kind == Kind::call) {
    activation = root.word == "relu" ? kRelu : root.word == "gelu_tanh" ? kGelu : 0;
    if (activation == 0) return std::nullopt;
    index = root.arguments[0];
  }
  SumReader sum(expression, gemm.d);
  if (!sum.read(index) || !sum.whole()) return std::nullopt;
  CublasLtEpilogue result = sum.found();
  const int code = activation | (result.bias_operand >= 0 ? kBias : 0);
  result.code = code == 0 ? kDefault : code;
  return result;
}

}  // namespace kiln
