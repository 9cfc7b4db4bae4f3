// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Whether a problem is one of an operation's.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "kiln/error.hpp"
#include "templates/nearest_name.hpp"
#include "templates/operation/number_type.hpp"
#include "templates/operation/operation.hpp"
#include "templates/operation/scalar_text.hpp"
#include "templates/operation/typed_operation.hpp"

namespace kiln {
namespace {

class ProblemCheck {
 public:
  ProblemCheck(const Operation& operation, const Problem& problem)
      : operation_(operation), problem_(problem) {}

  void run() {
    if (problem_.operation != operation_.name) {
      refuse(fmt::format("the problem names the operation \"{}\"", problem_.operation));
    }
    values_ = operation_.whole_values(problem_);
    check_names("size", problem_.sizes, &NamedValue::name, operation_.size_names());
    check_names("type", problem_.types, &NamedType::slot, operation_.type_slots());
    check_names("trait", problem_.traits, &NamedValue::name, operation_.trait_names());
    check_sizes();
    check_types();
    check_traits();
    if (operation_.is_declared() && !problem_.epilogue.empty()) {
      refuse(fmt::format("only {} can have an epilogue", typed_operation_names()));
    }
    for (const OperandSpec& operand : operation_.operands) check_operand(operand);
    check_cost("flops", operation_.cost.flops, operation_.flops(problem_));
    check_cost("bytes", operation_.cost.bytes, operation_.bytes(problem_));
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(ErrorKind::usage,
                fmt::format("the problem \"{}\" does not fit the operation {}: {}; \"kiln "
                            "operations {}\" shows the "
                            "sizes, types and traits of the operation",
                            problem_.canonical(), operation_.name, why, operation_.name));
  }

  /// Each name is known, and none is there twice; whole_values() has seen that none is missing.
  template <class Field>
  void check_names(std::string_view what, const std::vector<Field>& fields,
                   std::string Field::*name, const std::vector<std::string>& known) const {
    for (auto at = fields.begin(); at != fields.end(); ++at) {
      const std::string& each = (*at).*name;
      if (std::ranges::find(known, each) == known.end()) {
        refuse(fmt::format("there is no {} \"{}\"{}", what, each, did_you_mean(each, known)));
      }
      if (std::ranges::find(fields.begin(), at, each, name) != at) {
        refuse(fmt::format("the {} \"{}\" is given twice", what, each));
      }
    }
  }

  /// Rates, predictions and the limits of what is believed are made of them.
  void check_cost(std::string_view key, const std::optional<Expression>& cost, double value) const {
    if (value >= 0.0 && std::isfinite(value)) return;
    const std::string text = cost ? cost->text() : "";
    refuse(
        fmt::format("the value of \"{}\" is {}, but must be finite and not negative; correct the "
                    "line \"{} {}\" of {}",
                    key, value, key, text, operation_.origin.file));
  }

  void check_sizes() const {
    for (const SizeSpec& size : operation_.sizes) {
      const auto value = problem_.size(size.name);
      if (value < size.least || value > size.most) {
        refuse(fmt::format("{} is {}, but must be from {} to {}", size.name, *value, size.least,
                           size.most));
      }
    }
  }

  void check_types() const {
    for (const TypeSlotSpec& slot : operation_.slots) {
      const DType type = problem_.type(slot.name).value();
      const auto& allowed = slot.types;
      if (!allowed.empty() && std::ranges::find(allowed, type) == allowed.end()) {
        std::vector<std::string_view> names;
        for (const DType each : allowed) names.push_back(to_string(each));
        refuse(fmt::format("{} is {}, but the allowed types are {}", slot.name, to_string(type),
                           fmt::join(names, " ")));
      }
      if (operation_.is_declared() && packed_values(type) > 1) {
        refuse(fmt::format("{} is {}, a packed type, which only gemm supports", slot.name,
                           to_string(type)));
      }
    }
  }

  void check_traits() const {
    for (const TraitSpec& trait : operation_.traits) {
      const auto value = problem_.trait(trait.name).value();
      if (std::ranges::find(trait.values, value) != trait.values.end()) continue;
      refuse(fmt::format("{} is {}, but the allowed values are {}", trait.name, value,
                         fmt::join(trait.values, " ")));
    }
  }

  /// Whether it can be in memory at all, and has numbers to be filled with.
  void check_operand(const OperandSpec& operand) const {
    if (operand.when && value_of(operand, "when", *operand.when) == 0) return;
    std::int64_t bytes = size_bytes(problem_.type(operand.name).value());
    for (const Expression& extent : operand.extents) {
      std::int64_t length = value_of(operand, "extent", extent);
      if (length < 0) {
        refuse(fmt::format("the extent \"{}\" of the operand {} is {}, but must not be negative",
                           extent.text(), operand.name, length));
      }
      if (operand.ld && &extent == &operand.extents.back()) length = distance(operand, length);
      if (length > 0 && bytes > std::numeric_limits<std::int64_t>::max() / length) {
        refuse(fmt::format("the operand {} has more than 2^63 bytes", operand.name));
      }
      bytes *= length;
    }
    if (operand.align) check_alignment(operand);
    if (bytes == 0 || !operand.fill.low) return;
    if (operand.fill.kind == FillSpec::Kind::sorted && is_complex(*problem_.type(operand.name))) {
      refuse(fmt::format(
          "the operand {} is filled with \"sorted\" numbers, but complex numbers have no order",
          operand.name));
    }
    const std::int64_t low = value_of(operand, "fill", *operand.fill.low);
    const std::int64_t high = value_of(operand, "fill", *operand.fill.high);
    if (low > high) {
      refuse_fill(operand, low, high, "write the smaller number first");
    }
    const DType type = problem_.type(operand.name).value();
    const auto number = parse_number_type(to_string(type));
    if (!number || !range_of(*number).whole) return;
    for (const std::int64_t bound : {low, high}) {
      const std::string why = why_not_of_type(*number, bound);
      if (!why.empty()) refuse_fill(operand, low, high, why);
    }
  }

  [[noreturn]] void refuse_fill(const OperandSpec& operand, std::int64_t low, std::int64_t high,
                                const std::string& why) const {
    throw Error(ErrorKind::usage, fmt::format("{}:{}: the operand {} cannot be filled with numbers "
                                              "from {} to {}: {}. The problem is \"{}\"",
                                              operation_.origin.file, operand.line, operand.name,
                                              low, high, why, problem_.canonical()));
  }

  /// From row to row; 0 if a row has no elements.
  [[nodiscard]] std::int64_t distance(const OperandSpec& operand, std::int64_t length) const {
    const std::int64_t distance = value_of(operand, "ld", *operand.ld);
    if (distance < length) {
      refuse(
          fmt::format("the operand {} has rows of {} elements, but a leading dimension of "
                      "only {} ({})",
                      operand.name, length, distance, operand.ld->text()));
    }
    return length == 0 ? 0 : distance;
  }

  void check_alignment(const OperandSpec& operand) const {
    const std::int64_t alignment = value_of(operand, "align", *operand.align);
    constexpr std::array<std::int64_t, 5> kPossible{1, 2, 4, 8, 16};
    if (std::ranges::find(kPossible, alignment) != kPossible.end()) return;
    refuse(
        fmt::format("the alignment \"{}\" of the operand {} is {}, but the allowed values are "
                    "{} bytes",
                    operand.align->text(), operand.name, alignment, fmt::join(kPossible, " ")));
  }

  [[nodiscard]] std::int64_t value_of(const OperandSpec& operand, std::string_view what,
                                      const Expression& expression) const {
    const auto value = expression.evaluate(values_);
    if (!value) {
      refuse(
          fmt::format("\"{}\" ({} of the operand {}) is undefined: a division by zero or an "
                      "overflow",
                      expression.text(), what, operand.name));
    }
    return *value;
  }

  const Operation& operation_;
  const Problem& problem_;
  std::vector<std::int64_t> values_;
};

}  // namespace

void Operation::check(const Problem& problem) const {
  ProblemCheck(*this, problem).run();
}

}  // namespace kiln
