// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include "templates/epilogue/epilogue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>

#include "templates/printable.hpp"
#include "templates/render/renderer.hpp"

namespace kiln {
namespace {

using Node = EpilogueExpression::Node;
using Kind = Node::Kind;

constexpr std::array<std::string_view, 4> kExtentTexts{"[]", "[m]", "[n]", "[m,n]"};
constexpr std::array<std::string_view, 4> kExtentReaders{"only", "of_row", "of_column", "of_both"};

/// How tightly a node binds: what binds less than its surroundings needs parentheses.
enum Binding : int { kChoice = 0, kSum = 1, kProduct = 2, kUnary = 3, kPrimary = 4 };

Binding binding_of(const Node& node) {
  switch (node.kind) {
    case Kind::select:
      return kChoice;
    case Kind::infix:
      return node.word == "+" || node.word == "-" ? kSum : kProduct;
    case Kind::negate:
      return kUnary;
    default:
      return kPrimary;
  }
}

/// The canonical text.
class Writer {
 public:
  Writer(const EpilogueExpression& expression, std::optional<DType> d)
      : expression_(expression), d_(d) {}

  [[nodiscard]] std::string text(int index, int least = kChoice) const {
    const Node& node = expression_.nodes()[static_cast<std::size_t>(index)];
    const std::string inner = plain(node);
    return binding_of(node) < least ? fmt::format("({})", inner) : inner;
  }

 private:
  [[nodiscard]] std::string plain(const Node& node) const {
    const auto argument = [&](std::size_t i, int least) { return text(node.arguments[i], least); };
    switch (node.kind) {
      case Kind::number:
        return fmt::format("{}", node.number);
      case Kind::name:
        return node.word;
      case Kind::operand:
        return operand(expression_.operands()[static_cast<std::size_t>(node.operand)]);
      case Kind::call: {
        std::string list;
        for (std::size_t i = 0; i < node.arguments.size(); ++i) {
          list += (i == 0 ? "" : ",") + argument(i, kChoice);
        }
        return fmt::format("{}({})", node.word, list);
      }
      case Kind::amax:
        return fmt::format("amax({},{})", argument(0, kChoice),
                           operand(expression_.operands()[static_cast<std::size_t>(node.operand)]));
      case Kind::negate:
        return "-" + argument(0, kUnary);
      case Kind::infix: {
        const int binding = binding_of(node);
        // Operators group from the left, and floating-point ones are not associative.
        return argument(0, binding) + node.word + argument(1, binding + 1);
      }
      case Kind::select:
        return fmt::format("{}{}{}?{}:{}", argument(0, kSum), node.word, argument(1, kSum),
                           argument(2, kChoice), argument(3, kChoice));
    }
    return {};
  }

  [[nodiscard]] std::string operand(const EpilogueSlot& one) const {
    std::string type;
    if (d_) {
      type = fmt::format(":{}", to_string(element_type(one, *d_)));
    } else if (one.type) {
      type = fmt::format(":{}", to_string(*one.type));
    }
    return one.name + type + std::string(kExtentTexts[static_cast<std::size_t>(one.extent)]);
  }

  const EpilogueExpression& expression_;
  std::optional<DType> d_;
};

/// The macro's body.
class CodeWriter {
 public:
  CodeWriter(const EpilogueExpression& expression, DType d) : expression_(expression), d_(d) {}

  [[nodiscard]] std::string code(int index) const {
    const Node& node = expression_.nodes()[static_cast<std::size_t>(index)];
    const auto argument = [&](std::size_t i) { return code(node.arguments[i]); };
    switch (node.kind) {
      case Kind::number: {
        std::string digits = fmt::format("{}", node.number);
        if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
        return fmt::format("(x).number({})", digits);
      }
      case Kind::name:
        return "(x)." + node.word;
      case Kind::operand: {
        const auto& one = expression_.operands()[static_cast<std::size_t>(node.operand)];
        return fmt::format("(x).template {}<{}, {}>()",
                           kExtentReaders[static_cast<std::size_t>(one.extent)], node.operand,
                           device_type_name(element_type(one, d_)));
      }
      case Kind::call: {
        std::string list;
        for (std::size_t i = 0; i < node.arguments.size(); ++i) {
          list += (i == 0 ? "" : ", ") + argument(i);
        }
        return fmt::format("kiln::epilogue::{}({})", node.word, list);
      }
      case Kind::amax: {
        const auto& one = expression_.operands()[static_cast<std::size_t>(node.operand)];
        return fmt::format("(x).template amax_{}<{}>({})",
                           kExtentReaders[static_cast<std::size_t>(one.extent)], node.operand,
                           argument(0));
      }
      case Kind::negate:
        return fmt::format("(-{})", argument(0));
      case Kind::infix:
        return fmt::format("({} {} {})", argument(0), node.word, argument(1));
      case Kind::select: {
        const bool swapped = node.word.front() == '>';
        return fmt::format("kiln::epilogue::select(kiln::epilogue::{}({}, {}), {}, {})",
                           node.word.size() == 2 ? "less_equal" : "less", argument(swapped ? 1 : 0),
                           argument(swapped ? 0 : 1), argument(2), argument(3));
      }
    }
    return {};
  }

 private:
  const EpilogueExpression& expression_;
  DType d_;
};

int root_of(const EpilogueExpression& expression) {
  return static_cast<int>(expression.nodes().size()) - 1;
}

/// All expressions of the process, newest first. A list that only grows, without a lock: one that
/// another thread holds during a fork() would never be released in the child.
struct Kept {
  detail::EpilogueEntry entry;
  const Kept* next = nullptr;
};
std::atomic<const Kept*> kept_expressions{nullptr};

const detail::EpilogueEntry* keep(EpilogueExpression expression) {
  auto added = std::make_unique<Kept>();
  added->entry.text = expression.canonical();
  added->entry.expression = std::move(expression);
  const Kept* first = kept_expressions.load(std::memory_order_acquire);
  for (;;) {
    for (const Kept* one = first; one != nullptr; one = one->next) {
      if (one->entry.text == added->entry.text) return &one->entry;
    }
    added->next = first;
    added->entry.number = first == nullptr ? 1 : first->entry.number + 1;
    if (kept_expressions.compare_exchange_weak(first, added.get(), std::memory_order_acq_rel)) {
      return &added.release()->entry;
    }
  }
}

}  // namespace

DType element_type(const EpilogueSlot& operand, DType d) {
  if (operand.type) return *operand.type;
  if (operand.recorded) return d == DType::f64 ? DType::f64 : DType::f32;
  switch (d) {
    case DType::s8:
    case DType::u8:
    case DType::s32:
    case DType::tf32:
      return DType::f32;
    default:
      return d;
  }
}

bool EpilogueExpression::names(std::string_view name) const {
  return std::any_of(nodes_.begin(), nodes_.end(), [&](const Node& node) {
    return node.kind == Kind::name && node.word == name;
  });
}

std::string EpilogueExpression::canonical(std::optional<DType> d) const {
  return Writer(*this, d).text(root_of(*this));
}

std::string EpilogueExpression::device_code(DType d) const {
  return CodeWriter(*this, d).code(root_of(*this));
}

unsigned EpilogueExpression::peaks(OperandExtent extent) const {
  unsigned found = 0;
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const bool counts = operands_[i].recorded && operands_[i].extent == extent;
    found |= counts ? 1U << i : 0U;
  }
  return found;
}

Epilogue::Epilogue(std::string_view expression) {
  if (expression.empty()) return;
  try {
    entry_ = keep(EpilogueExpression::parse(expression));
  } catch (const Error& error) {
    // It quotes the expression, and applications print it.
    throw Error(error.kind(), printable(error.what()));
  }
}

std::string Epilogue::text() const {
  return entry_ == nullptr ? std::string() : entry_->text;
}

bool Epilogue::reads_c() const {
  return entry_ != nullptr && entry_->expression.reads_c();
}

int Epilogue::operand_count() const {
  return entry_ == nullptr ? 0 : static_cast<int>(entry_->expression.operands().size());
}

std::string Epilogue::operand_name(int index) const {
  return entry_->expression.operands().at(static_cast<std::size_t>(index)).name;
}

}  // namespace kiln
