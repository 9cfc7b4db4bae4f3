// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// The text of an operation.
#include "tools/adopt/operation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "tools/adopt/types.hpp"

namespace kiln::tools {
namespace {

constexpr int kReferenceBlock = 256;

/// A comment of two remarks, the one that asks for a check behind.
std::string joined_remarks(const std::string& first, const std::string& second) {
  if (first.empty() || second.empty()) return first + second;
  return first + "; " + second;
}

bool is_wide(const OperandGuess& operand) {
  return operand.element &&
         (operand.element->type == DType::s64 || operand.element->type == DType::u64);
}

bool is_whole_type(DType type) {
  const auto number = parse_number_type(to_string(type));
  return number && range_of(*number).whole;
}

class OperationWriter {
 public:
  explicit OperationWriter(const AdoptionGuess& guess) : guess_(guess), problem_(guess.problem) {}

  AdoptedFile run() {
    lines_.add("operation", guess_.operation);
    lines_.add("purpose", fmt::format("{}: say in one line what the operation computes", kFillIn));
    write_sizes();
    for (const auto& operand : problem_.operands) write_type(operand);
    for (const auto& scalar : problem_.scalars) {
      const bool is_known = !scalar.usual.empty();
      lines_.add("scalar",
                 fmt::format("{} {} = {}", scalar.name, scalar.type, is_known ? scalar.usual : "1"),
                 is_known ? scalar.comment : "CHECK: " + scalar.comment + "the default value");
    }
    for (const auto& operand : problem_.operands) write_operand(operand);
    write_results();
    std::string code;
    if (guess_.twin) {
      code = write_twin();
    } else {
      code = write_skeleton();
    }
    return {guess_.operation + ".cu", lines_.text() + "\n" + code, lines_.marks()};
  }

 private:
  void write_sizes() {
    if (problem_.sizes.empty()) {
      lines_.add("size", kFillIn,
                 "no parameter of the kernel is a size; write a name of your choice, such as n");
    }
    for (const auto& size : problem_.sizes) {
      if (size.macro && size.macro->is_fixed) {
        lines_.add("size", fmt::format("{0} {1}..{1} = {1}", size.name, *size.macro->value),
                   fmt::format("CHECK: a size of the problem, which line {} of {} fixes",
                               size.macro->line, guess_.file));
        continue;
      }
      lines_.add("size", size.name + " 1..2147483647", size.comment);
    }
  }

  void write_type(const OperandGuess& operand) {
    if (problem_.scalar_types.contains(operand.template_type)) {
      lines_.add("type", operand.name + " f32",
                 fmt::format("CHECK: list only one type: {} is also the type of a scalar, and "
                             "each scalar has one fixed type",
                             operand.template_type));
    } else if (!operand.template_type.empty()) {
      lines_.add("type", operand.name + " f32 f64",
                 fmt::format("CHECK: add the other types that {} can have, such as f16",
                             operand.template_type));
    } else if (!operand.element) {
      lines_.add(
          "type", fmt::format("{} {}", operand.name, kFillIn),
          fmt::format("an element type with the same size and bit format as {}", operand.cpp_type));
    } else {
      const auto name = to_string(operand.element->type);
      lines_.add("type", fmt::format("{} {}", operand.name, name),
                 operand.element->is_exact
                     ? ""
                     : fmt::format("CHECK: the element type for {}", operand.cpp_type));
    }
  }

  void write_operand(const OperandGuess& operand) {
    std::string comment = joined_remarks(operand.extents_comment, operand.role_comment);
    const bool is_index = operand.role == "in" && operand.element && operand.element->is_exact &&
                          (operand.element->type == DType::s32 || is_wide(operand));
    if (is_index && operand.fill.empty()) {
      comment = joined_remarks(comment, "if these are indices, add \"; fill integers 0 (n - 1)\"");
    }
    lines_.add("operand",
               fmt::format("{} {}: {}{}{}", operand.name, operand.role, operand.extents,
                           operand.has_pointers ? "; pointers" : "",
                           operand.fill.empty() ? "" : "; fill " + operand.fill),
               comment);
  }

  void write_results() {
    for (const auto& operand : problem_.operands) {
      if (operand.role == "in") continue;
      if (!operand.right.empty()) {
        lines_.add("right", operand.name + " " + operand.right);
      } else if (operand.element && is_whole_type(operand.element->type)) {
        lines_.add("right", operand.name + " exact", "CHECK: integers must match exactly");
      } else {
        lines_.add("right", fmt::format("{} {}", operand.name, kFillIn),
                   "tolerance: \"exact\", \"within 1e-5 1e-6\" (relative, absolute) or "
                   "\"bound 16 of f32\" (16 unit roundoffs)");
      }
    }
    write_cases();
    lines_.add("flops", kFillIn,
               "floating-point operations of one run; a multiply-add counts as two");
  }

  /// Sizes that no tile divides, small enough for the emulated GPU.
  void write_cases() {
    if (problem_.sizes.empty()) {
      lines_.add("ragged", kFillIn, "more sizes to verify, e.g. n=1");
      return;
    }
    constexpr std::array<std::int64_t, 3> kFlat{1, 1000, 4097};
    // Either of two sizes is the larger one in some line, so that none passes in the other's place.
    // The last one is for kernels that compute whole tiles only.
    constexpr std::array<std::array<std::int64_t, 3>, 5> kDeep{
        {{1, 1, 1}, {17, 33, 5}, {40, 70, 9}, {45, 19, 61}, {128, 64, 32}}};
    const auto& requirements = guess_.made.requirements;
    const bool has_whole_tiles =
        std::any_of(requirements.begin(), requirements.end(), [&](const RequirementGuess& each) {
          return std::any_of(
              problem_.sizes.begin(), problem_.sizes.end(),
              [&](const NumberGuess& size) { return each.text.starts_with(size.name + " % "); });
        });
    const std::size_t count = has_whole_tiles ? kDeep.size() : kDeep.size() - 1;
    const bool is_flat = problem_.sizes.size() == 1;
    std::set<std::string> done;
    for (std::size_t i = 0; i < (is_flat ? kFlat.size() : count); ++i) {
      std::vector<std::string> sizes;
      for (std::size_t j = 0; j < problem_.sizes.size(); ++j) {
        const auto value =
            fixed_value(problem_.sizes[j]).value_or(is_flat ? kFlat[i] : kDeep[i][j % 3]);
        sizes.push_back(fmt::format("{}={}", problem_.sizes[j].name, value));
      }
      const std::string line = fmt::format("{}", fmt::join(sizes, " "));
      if (done.insert(line).second) lines_.add("ragged", line);
    }
  }

  /// What the kernel is compiled for: a small value, where it is compiled for several.
  [[nodiscard]] std::optional<std::int64_t> fixed_value(const NumberGuess& size) const {
    if (!size.macro) return std::nullopt;
    if (size.macro->is_fixed) return size.macro->value;
    for (const auto& tunable : guess_.macros) {
      if (tunable.name == size.parameter && tunable.is_listed) return tunable.usual;
    }
    return kSmallExtent;
  }

  /// The file without the kernels that are tuned.
  std::string write_twin() {
    const FixedLaunch launch =
        guess_fixed_launch(*guess_.model, *guess_.twin, problem_, guess_.macros);
    lines_.add("reference", launch.kernel, "CHECK: is this kernel simple and correct?");
    lines_.add_part("grid", launch.grid, "CHECK: number of blocks");
    lines_.add_part("block", launch.block);
    const bool is_known = std::all_of(
        launch.args.begin(), launch.args.end(),
        [](const std::string& item) { return item.find(kFillIn) == std::string::npos; });
    lines_.add_part("args", launch.args, is_known ? "" : "the arguments of the reference kernel");
    // Its arrays are declared in this file, too.
    for (const auto& operand : problem_.operands) {
      if (!operand.is_constant) continue;
      lines_.add_part("constant", {fmt::format("{} = {}", operand.array, operand.name)});
    }
    const std::string code = code_without_tuned();
    // Tunables that are left have to be something.
    std::string defines;
    for (const auto& macro : guess_.macros) {
      if (!macro.is_of_file && mentions(code, macro.name)) {
        defines +=
            fmt::format("#define {} {}\n", macro.name,
                        macro.usual_word.empty() ? std::to_string(macro.usual) : macro.usual_word);
      }
    }
    return defines.empty() ? code : defines + "\n" + code;
  }

  static bool mentions(const std::string& code, const std::string& name) {
    const CodeText text = read_code(code);
    const auto has_name = [&](const std::vector<CodeToken>& tokens) {
      return std::any_of(tokens.begin(), tokens.end(),
                         [&](const CodeToken& token) { return token.is(name); });
    };
    return has_name(text.tokens) ||
           std::any_of(text.directives.begin(), text.directives.end(),
                       [&](const CodeDirective& each) { return has_name(each.tokens); });
  }

  [[nodiscard]] std::string code_without_tuned() const {
    const auto& tokens = guess_.model->code.tokens;
    std::vector<std::pair<std::size_t, std::size_t>> removed;
    for (const auto& kernel : guess_.kernels) {
      const CodeToken& last = tokens[kernel.source->body_end];
      removed.emplace_back(tokens[kernel.source->begin].offset, last.offset + last.length);
    }
    std::sort(removed.begin(), removed.end());
    std::string code;
    std::size_t at = std::min(guess_.source.find_first_not_of("\r\n"), guess_.source.size());
    for (const auto& [begin, end] : removed) {
      code += guess_.source.substr(at, begin - at);
      at = std::min(guess_.source.find_first_not_of("\r\n", end), guess_.source.size());
    }
    return code + std::string(guess_.source.substr(at));
  }

  /// The elements that the reference computes: those of the first operand that is written.
  [[nodiscard]] std::vector<std::string> result_extents() const {
    for (const auto& operand : problem_.operands) {
      if (operand.role == "in") continue;
      if (operand.extents == kFillIn) break;
      std::vector<std::string> extents;
      for (std::size_t begin = 0; begin <= operand.extents.size();) {
        const auto end = std::min(operand.extents.find(", ", begin), operand.extents.size());
        extents.push_back(operand.extents.substr(begin, end - begin));
        begin = end + 2;
      }
      return extents;
    }
    return {};
  }

  std::string write_skeleton() {
    const std::string name = guess_.operation + "_reference";
    const auto extents = result_extents();
    lines_.add("reference", kFillIn, "complete " + name + " below, then write this name here");
    std::string grid = kFillIn;
    if (extents == std::vector<std::string>{"1"}) {
      grid = "1";
    } else if (!extents.empty()) {
      grid =
          fmt::format("min(ceil_div({}, {}), 65536)", fmt::join(extents, " * "), kReferenceBlock);
    }
    lines_.add_part("grid", {grid}, extents.empty() ? "number of blocks of the reference" : "");
    lines_.add_part("block", {std::to_string(kReferenceBlock)});
    std::vector<std::string> args, parameters, inputs;
    for (const auto& operand : problem_.operands) {
      const std::string constant = operand.role == "in" ? "const " : "";
      const bool has_parts = operand.element && is_complex(operand.element->type);
      // Float64 does not have all of these.
      std::string type = has_parts ? "double2" : "double";
      if (is_wide(operand)) {
        type = cpp_spelling(parse_number_type(to_string(operand.element->type)).value());
      }
      args.push_back(operand.name + (is_wide(operand) ? "" : ".f64"));
      parameters.push_back(fmt::format("{}{}* {}", constant, type, operand.name));
      if (operand.role != "out") inputs.push_back(operand.name);
    }
    for (const auto& size : problem_.sizes) {
      args.push_back(size.name);
      parameters.push_back("int " + size.name);
    }
    for (const auto& scalar : problem_.scalars) {
      // Plain C++ has no arithmetic on the 16-bit ones without their header.
      const bool is_short = scalar.type == "f16" || scalar.type == "bf16";
      const auto type = is_short ? NumberType::f32 : parse_number_type(scalar.type).value();
      args.push_back((is_short ? "(float) " : "") + scalar.name);
      parameters.push_back(fmt::format("{} {}", cpp_spelling(type), scalar.name));
    }
    lines_.add_part("args", args);
    return skeleton_code(name, parameters, extents, inputs);
  }

  [[nodiscard]] std::string skeleton_code(const std::string& name,
                                          const std::vector<std::string>& parameters,
                                          const std::vector<std::string>& extents,
                                          const std::vector<std::string>& inputs) const {
    const std::string head = fmt::format("__global__ void {}(", name);
    std::string code = head;
    std::size_t column = head.size();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const std::string part = parameters[i] + (i + 1 < parameters.size() ? "," : ") {");
      constexpr std::size_t kColumns = 100;
      if (i > 0 && column + 1 + part.size() > kColumns) {
        code += "\n" + std::string(head.size(), ' ');
        column = head.size();
      } else if (i > 0) {
        code += ' ';
        ++column;
      }
      code += part;
      column += part.size();
    }
    if (parameters.empty()) code += ") {";
    std::string count = kFillIn;
    if (!extents.empty()) {
      count = extents.front();
      if (extents.size() > 1) count = fmt::format("static_cast<long long>({})", count);
      for (std::size_t i = 1; i < extents.size(); ++i) count += " * " + extents[i];
    }
    std::string written = "the result";
    for (const auto& operand : problem_.operands) {
      if (operand.role == "in") continue;
      written = operand.name + "[at]";
      break;
    }
    code += fmt::format("\n  const long long elements = {};\n", count);
    code += fmt::format(
        "  for (long long at = blockIdx.x * {0}LL + threadIdx.x; at < elements; at += gridDim.x * "
        "{0}LL) {{\n",
        kReferenceBlock);
    code += fmt::format("    // {}: {}{}\n  }}\n}}\n", kFillIn, written,
                        inputs.empty() ? "" : fmt::format(" from {}", fmt::join(inputs, ", ")));
    return code;
  }

  const AdoptionGuess& guess_;
  const ProblemGuess& problem_;
  FrontLines lines_;
};

}  // namespace

AdoptedFile operation_file(const AdoptionGuess& guess) {
  return OperationWriter(guess).run();
}

}  // namespace kiln::tools
