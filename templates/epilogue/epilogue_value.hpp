// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "templates/epilogue/epilogue.hpp"
#include "templates/kernels/common/epilogue_math.cuh"

namespace kiln {

/// The value of an expression on the host, with the bound on what a kernel that computes in Compute
/// may have instead. `of_name(word)` gives `acc`, `alpha`, `beta` and `c`, `of_operand(index)` the
/// operands, each as a Bounded<Compute>. `record(index, value)` gets what amax() records in the
/// operand `index`.
template <class Compute, class OfName, class OfOperand, class Record>
[[nodiscard]] epilogue::Bounded<Compute> evaluate(const EpilogueExpression& expression,
                                                  const OfName& of_name,
                                                  const OfOperand& of_operand,
                                                  const Record& record) {
  using Number = epilogue::Bounded<Compute>;
  using Kind = EpilogueExpression::Node::Kind;
  std::vector<Number> values;
  const auto call = [](const std::string& word, const std::vector<Number>& x) {
    if (word == "relu") return epilogue::relu(x[0]);
    if (word == "gelu") return epilogue::gelu(x[0]);
    if (word == "gelu_tanh") return epilogue::gelu_tanh(x[0]);
    if (word == "silu") return epilogue::silu(x[0]);
    if (word == "sigmoid") return epilogue::sigmoid(x[0]);
    if (word == "tanh") return epilogue::tanh(x[0]);
    if (word == "exp") return epilogue::exp(x[0]);
    if (word == "log") return epilogue::log(x[0]);
    if (word == "sqrt") return epilogue::sqrt(x[0]);
    if (word == "rsqrt") return epilogue::rsqrt(x[0]);
    if (word == "abs") return epilogue::abs(x[0]);
    if (word == "min") return epilogue::min(x[0], x[1]);
    if (word == "max") return epilogue::max(x[0], x[1]);
    return epilogue::clamp(x[0], x[1], x[2]);
  };
  for (const auto& node : expression.nodes()) {
    std::vector<Number> x;
    for (const int argument : node.arguments) {
      x.push_back(values[static_cast<std::size_t>(argument)]);
    }
    switch (node.kind) {
      case Kind::number:
        values.push_back(Number(node.number));
        break;
      case Kind::name:
        values.push_back(of_name(node.word));
        break;
      case Kind::operand:
        values.push_back(of_operand(node.operand));
        break;
      case Kind::call:
        values.push_back(call(node.word, x));
        break;
      case Kind::amax:
        record(node.operand, x[0]);
        values.push_back(x[0]);
        break;
      case Kind::negate:
        values.push_back(-x[0]);
        break;
      case Kind::infix:
        values.push_back(node.word == "+"   ? x[0] + x[1]
                         : node.word == "-" ? x[0] - x[1]
                         : node.word == "*" ? x[0] * x[1]
                                            : x[0] / x[1]);
        break;
      case Kind::select: {
        const bool swapped = node.word.front() == '>';
        const Number& left = x[swapped ? 1 : 0];
        const Number& right = x[swapped ? 0 : 1];
        const auto truth =
            node.word.size() == 2 ? epilogue::less_equal(left, right) : epilogue::less(left, right);
        values.push_back(epilogue::select(truth, x[2], x[3]));
        break;
      }
    }
  }
  return values.back();
}

}  // namespace kiln
