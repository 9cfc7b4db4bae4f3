// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// From the lines of a declaration to an Operation.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "kiln/error.hpp"
#include "templates/front_matter/constant_line.hpp"
#include "templates/front_matter/front_matter.hpp"
#include "templates/nearest_name.hpp"
#include "templates/operation/fill_kernels.hpp"
#include "templates/operation/operation.hpp"
#include "templates/operation/operation_lines.hpp"
#include "templates/operation/reference_kernel.hpp"
#include "templates/template_names.hpp"
#include "templates/text_pieces.hpp"

namespace kiln {
namespace {

constexpr std::size_t kMostExtents = 8;
/// Each of them is verified for every candidate.
constexpr std::size_t kMostRagged = 64;
/// Sizes, traits and type slots, of each as many: all are in the key of a problem.
constexpr std::size_t kMostNames = 32;

constexpr std::size_t kMostMetrics = 16;

/// Names that canonical texts, expressions and lists of arguments have for something else.
constexpr std::array<std::string_view, 9> kTakenNames{"workspace",   "epilogue", "operation",
                                                      "type",        "device",   "wrong",
                                                      "first_wrong", "true",     "false"};

const std::vector<std::string>& operation_keys() {
  static const std::vector<std::string> keys{
      "operation", "purpose",   "size",     "let",         "type",          "scalar",
      "trait",     "operand",   "right",    "ragged",      "deterministic", "flops",
      "bytes",     "reference", "checker",  "independent", "integers",      "grid",
      "block",     "args",      "constant", "include",     "fill",          "metric"};
  return keys;
}

/// What follows from a reference or a checker, and is idle without one.
constexpr std::array<std::string_view, 9> kOfReference{
    "right", "ragged", "integers", "independent", "grid", "block", "args", "constant", "fill"};

constexpr std::array<std::string_view, 9> kOnlyOnce{"operation", "purpose",  "flops",
                                                    "bytes",     "integers", "deterministic",
                                                    "reference", "checker",  "independent"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

class OperationParser {
 public:
  OperationParser(const std::string& file, std::string_view source)
      : file_(file), lines_(read_front_matter(file, source, operation_keys())) {
    result_.origin.file = file;
    result_.origin.source = source;
    result_.origin.path = file;
  }

  Operation run() {
    check_keys();
    const FrontMatterLine& name = need("operation");
    if (!is_identifier(name.text)) {
      name.fail(0, "an operation's name consists of letters, digits and underscores");
    }
    result_.name = name.text;
    result_.purpose = need("purpose").text;
    need("size");
    need("type");
    need("operand");
    read_names();
    for_each("operand", [this](const FrontMatterLine& line) { read_operand(line); });
    const FrontMatterLine& flops = need("flops");
    result_.cost.flops = expression(flops, {flops.text, 0});
    for_each("bytes", [this](const FrontMatterLine& line) {
      result_.cost.bytes = expression(line, {line.text, 0});
    });
    for_each("metric", [this](const FrontMatterLine& line) {
      check_count(line, result_.metrics.size(), kMostMetrics);
      result_.metrics.push_back(parse_metric(line, result_));
    });
    for_each("include", [this](const FrontMatterLine& line) {
      result_.origin.includes.push_back({line.text, line.key_place.line});
    });
    for_each("deterministic", [this](const FrontMatterLine& line) {
      if (line.text != "0" && line.text != "1") {
        line.fail(0,
                  "\"deterministic\" must be 1 (all runs give the same bits) or 0 (results of two "
                  "runs may differ)");
      }
      result_.judge.deterministic = line.text == "1";
    });
    read_results();
    const FrontMatterLine* const reference = find("reference");
    const FrontMatterLine* const checker = find("checker");
    if (reference != nullptr || checker != nullptr) {
      check_verifiable(reference != nullptr ? *reference : *checker);
    }
    if (reference != nullptr) result_.judge.reference = read_judge(*reference);
    if (checker != nullptr) result_.judge.checker = read_judge(*checker);
    read_fills();
    for_each("independent", [this](const FrontMatterLine& line) {
      result_.judge.independent = parse_independent(line, result_);
    });
    return std::move(result_);
  }

 private:
  template <class Visit>
  void for_each(std::string_view key, const Visit& visit) const {
    for (const auto& line : lines_) {
      if (line.key == key) visit(line);
    }
  }

  [[nodiscard]] const FrontMatterLine* find(std::string_view key) const {
    const auto found = std::ranges::find(lines_, key, &FrontMatterLine::key);
    return found == lines_.end() ? nullptr : &*found;
  }

  const FrontMatterLine& need(std::string_view key) const {
    if (const FrontMatterLine* const line = find(key)) return *line;
    throw Error(
        ErrorKind::template_,
        fmt::format(
            "{}:1:1: the operation has no \"//@ {}\" line; see docs/reference/operations.md", file_,
            key));
  }

  void check_keys() const {
    const auto& keys = operation_keys();
    for (const auto& line : lines_) {
      if (line.is_declaration()) {
        line.fail_at_key(
            fmt::format("an operation cannot have a config struct; remove \"//@ {}\" here, or move "
                        "this declaration to the file of a template",
                        line.key));
      }
      if (std::ranges::find(keys, line.key) == keys.end()) {
        line.fail_at_key(fmt::format("unknown key \"{}\" of an operation{}", line.key,
                                     did_you_mean(line.key, keys)));
      }
      if (line.text.empty()) line.fail(0, fmt::format("\"{}\" needs a value", line.key));
      if (is_one_of(kOnlyOnce, line.key) && find(line.key) != &line) {
        line.fail_at_key(
            fmt::format("the operation has two \"{}\" lines; remove one of them", line.key));
      }
      const bool has_judge = find("reference") != nullptr || find("checker") != nullptr;
      if (is_one_of(kOfReference, line.key) && !has_judge) {
        line.fail_at_key(
            fmt::format("\"{}\" needs a \"//@ reference\" line or a \"//@ checker\" line. The "
                        "reference kernel computes correct results; the checker kernel checks the "
                        "results of a candidate",
                        line.key));
      }
    }
  }

  /// What expressions mention may stand anywhere in the file; Operation::values() has the same
  /// order.
  void read_names() {
    for (const auto type : kDTypeNames) result_.names_.all.intern(fmt::format("type.{}", type));
    for_each("size", [this](const FrontMatterLine& line) {
      const std::string_view text = line.text;
      check_count(line, result_.sizes.size(), kMostNames);
      declare(line, std::string(trimmed(text.substr(0, text.find_first_of(" \t\r=")))));
      result_.sizes.push_back(parse_size(line, result_.names_.all));
      result_.names_.sizes.push_back(result_.sizes.back().name);
      result_.names_.all.intern(result_.sizes.back().name);
    });
    for_each("trait", [this](const FrontMatterLine& line) {
      check_count(line, result_.traits.size(), kMostNames);
      declare(line);
      result_.traits.push_back(parse_trait(line));
      result_.names_.traits.push_back(result_.traits.back().name);
      result_.names_.all.intern(result_.traits.back().name);
    });
    for_each("type", [this](const FrontMatterLine& line) { read_type(line); });
    for_each("scalar", [this](const FrontMatterLine& line) {
      check_count(line, result_.scalars.size(), kMostScalars);
      declare(line);
      result_.scalars.push_back(parse_scalar(line));
    });
    for_each("let", [this](const FrontMatterLine& line) { read_let(line); });
  }

  /// That one more of the line's kind is not too many.
  static void check_count(const FrontMatterLine& line, std::size_t count, std::size_t most) {
    if (count < most) return;
    line.fail_at_key(
        fmt::format("the operation has too many \"{1}\" lines; the limit is {0}", most, line.key));
  }

  /// The name at the beginning of a line must mean nothing else.
  void declare(const FrontMatterLine& line) {
    const std::string_view text = line.text;
    declare(line, std::string(text.substr(0, text.find_first_of(kLineSpace))));
  }

  void declare(const FrontMatterLine& line, const std::string& name) {
    if (!is_identifier(name)) {
      line.fail(
          0, fmt::format("the name of a {} consists of letters, digits and underscores", line.key));
    }
    if (is_one_of(kTakenNames, name) || device_names().find(name) >= 0) {
      line.fail(0, fmt::format("\"{}\" is reserved in every operation; choose another name", name));
    }
    if (std::ranges::find(declared_, name) != declared_.end() ||
        result_.names_.all.find(name) >= 0) {
      line.fail(0, fmt::format("the name \"{}\" is already used in this operation", name));
    }
    declared_.push_back(name);
  }

  Expression expression(const FrontMatterLine& line, TextPart part) const {
    return Expression::parse(part.text, result_.names_.all, line.text_place.at(part.offset));
  }

  void read_type(const FrontMatterLine& line) {
    check_count(line, result_.names_.slots.size(), kMostNames);
    declare(line);
    const std::string slot = declared_.back();
    for (const auto* const property : {"_bytes", "_packed", "_type"}) {
      if (result_.names_.all.find(slot + property) >= 0) {
        line.fail(
            0, fmt::format("the type slot \"{0}\" automatically declares the name \"{0}{1}\", but "
                           "another line already declares \"{0}{1}\"; rename one of the two",
                           slot, property));
      }
      result_.names_.all.intern(slot + property);
    }
    result_.names_.slots.push_back(slot);
    result_.slots.push_back({slot, parse_slot_types(line), line.comment, line.text_place.line});
  }

  /// `halves = ceil_div(cols, 2)`, of names that are declared by other lines or by lets above.
  void read_let(const FrontMatterLine& line) {
    const std::string_view text = line.text;
    const auto equals = text.find('=');
    const auto name = trimmed(text.substr(0, equals));
    if (equals == std::string_view::npos || !is_identifier(name)) {
      line.fail(0, "write a derived size as \"let name = expression\"");
    }
    declare(line, std::string(name));
    Expression value = expression(line, inner_part({text, 0}, text.substr(equals + 1)));
    result_.names_.all.intern(name);
    result_.derived.emplace_back(name, std::move(value));
  }

  /// `c in: m, n; when reads_c; fill uniform`.
  void read_operand(const FrontMatterLine& line) {
    const std::string_view text = line.text;
    const auto colon = text.find(':');
    const auto head = split_words(text.substr(0, colon));
    if (colon == std::string_view::npos || head.size() != 2) {
      line.fail(0, "write an operand as \"name in: rows, columns\"; the role is in, out or inout");
    }
    check_count(line, result_.operands.size(), kMostOperands);
    OperandSpec operand;
    operand.name = head[0].text;
    operand.comment = line.comment;
    operand.line = line.key_place.line;
    if (std::ranges::find(result_.names_.slots, operand.name) == result_.names_.slots.end()) {
      line.fail(head[0].offset,
                fmt::format("there is no type slot \"{0}\" for this operand; add a line such as "
                            "\"//@ type {0} f16 f32\"{1}",
                            operand.name, did_you_mean(operand.name, result_.names_.slots)));
    }
    if (result_.operand(operand.name) != nullptr) {
      line.fail(
          head[0].offset,
          fmt::format("the operation has two operands \"{}\"; rename one of them", operand.name));
    }
    operand.role = role_of(line, head[1]);
    const auto clauses = split_clauses(text.substr(colon + 1));
    read_extents(line, {clauses[0].text, clauses[0].offset + colon + 1}, operand);
    bool is_filled = false;
    for (std::size_t i = 1; i < clauses.size(); ++i) {
      read_clause(line, {clauses[i].text, clauses[i].offset + colon + 1}, operand, is_filled);
    }
    if (operand.ld && operand.extents.size() == 1) {
      line.fail(
          0,
          fmt::format("{} has only one extent, so there is no distance between rows; remove \"ld\"",
                      operand.name));
    }
    if (operand.pointers && (operand.extents.size() == 1 || operand.ld)) {
      line.fail(
          0, operand.ld
                 ? fmt::format("{} has \"pointers\", and arrays behind pointers have no gaps "
                               "between rows; remove \"ld\"",
                               operand.name)
                 : fmt::format(
                       "with \"pointers\", {} needs at least two extents. The first extent is the "
                       "number of pointers, and the others are the extents of each array",
                       operand.name));
    }
    result_.operands.push_back(std::move(operand));
  }

  static OperandRole role_of(const FrontMatterLine& line, TextPart word) {
    for (const auto role : {OperandRole::in, OperandRole::out, OperandRole::inout}) {
      if (to_string(role) == word.text) return role;
    }
    line.fail(word.offset,
              fmt::format("\"{}\" is not a role of an operand; write in, out or inout", word.text));
  }

  void read_extents(const FrontMatterLine& line, TextPart list, OperandSpec& operand) const {
    for (const auto& [text, offset] : split_arguments(list.text)) {
      if (operand.extents.size() == kMostExtents) {
        line.fail(list.offset + offset,
                  fmt::format("the operand has too many extents; the limit is {}", kMostExtents));
      }
      operand.extents.push_back(expression(line, {text, list.offset + offset}));
    }
  }

  void read_clause(const FrontMatterLine& line, TextPart clause, OperandSpec& operand,
                   bool& is_filled) const {
    const auto word = clause.text.substr(0, clause.text.find_first_of(kLineSpace));
    const TextPart rest = inner_part(clause, clause.text.substr(word.size()));
    const auto read_once = [&](std::optional<Expression>& value) {
      if (value)
        line.fail(clause.offset,
                  fmt::format("this operand has two \"{}\" parts; remove one of them", word));
      value = expression(line, rest);
    };
    if (word == "when") {
      read_once(operand.when);
    } else if (word == "ld") {
      read_once(operand.ld);
    } else if (word == "align") {
      read_once(operand.align);
    } else if (word == "pointers") {
      if (operand.pointers || !rest.text.empty()) {
        line.fail(clause.offset, "write \"pointers\" only once, and without a value");
      }
      operand.pointers = true;
    } else if (word == "scratch") {
      if (operand.role != OperandRole::in) {
        line.fail(clause.offset,
                  fmt::format("\"scratch\" is only for inputs, but {} is written in any case; "
                              "remove \"scratch\"",
                              operand.name));
      }
      if (operand.scratch || !rest.text.empty()) {
        line.fail(clause.offset, "write \"scratch\" only once, and without a value");
      }
      operand.scratch = true;
    } else if (word == "fill") {
      if (operand.role == OperandRole::out) {
        line.fail(clause.offset,
                  fmt::format("\"fill\" is only for inputs, but {} is an output; remove \"fill\"",
                              operand.name));
      }
      if (rest.text.substr(0, rest.text.find_first_of(kLineSpace)) == "file") {
        if (!operand.file.empty()) {
          line.fail(clause.offset, "this operand has two \"fill file\" parts; remove one of them");
        }
        operand.file = parse_fill_file(line, rest);
        return;
      }
      if (is_filled)
        line.fail(clause.offset, "this operand has two \"fill\" parts; remove one of them");
      is_filled = true;
      operand.fill = parse_fill(line, rest, result_.names_.all);
    } else {
      static const std::vector<std::string> known{"when",  "fill",     "ld",
                                                  "align", "pointers", "scratch"};
      line.fail(clause.offset, fmt::format("expected after ';': \"when CONDITION\", \"fill KIND\", "
                                           "\"ld DISTANCE\", \"align BYTES\", \"pointers\" or "
                                           "\"scratch\"{}",
                                           did_you_mean(word, known)));
    }
  }

  /// What is right, and what is verified to be.
  void read_results() {
    for_each("right", [this](const FrontMatterLine& line) {
      RightSpec right = parse_right(line, result_);
      if (std::ranges::find(result_.judge.rights, right.operand, &RightSpec::operand) !=
          result_.judge.rights.end()) {
        line.fail(0, fmt::format("{} has two \"right\" lines; remove one of them",
                                 result_.operands[right.operand].name));
      }
      result_.judge.rights.push_back(std::move(right));
    });
    for_each("integers", [this](const FrontMatterLine& line) {
      result_.judge.integers = expression(line, {line.text, 0});
    });
    for_each("ragged", [this](const FrontMatterLine& line) {
      if (result_.judge.ragged.size() == kMostRagged) {
        line.fail_at_key(fmt::format("the operation has too many \"ragged\" lines; the limit is {}",
                                     kMostRagged));
      }
      result_.judge.ragged.push_back(parse_ragged(line, result_));
    });
  }

  /// A reference or a checker, with the parts that follow its line.
  JudgeKernel read_judge(const FrontMatterLine& line) const {
    JudgeKernel judge;
    judge.kernel = line.text;
    judge.line = line.text_place.line;
    check_judge_kernel(line, result_.origin.source);
    const std::string& key = line.key;
    const FrontMatterLine* of = nullptr;  // what the parts belong to
    const FrontMatterLine* args = nullptr;
    for (const auto& part : lines_) {
      if (part.key == "reference" || part.key == "checker" || part.key == "fill") of = &part;
      const bool is_args = part.key == "args";
      const bool is_constant = part.key == "constant";
      if (!is_args && !is_constant && part.key != "grid" && part.key != "block") continue;
      if (of == nullptr) {
        part.fail_at_key(fmt::format("\"{}\" belongs below the \"{}\" line", part.key, key));
      }
      if (of != &line) continue;
      if (is_constant) {
        add_constant(part, result_, result_.origin.source, judge.constants);
        continue;
      }
      auto& extents = part.key == "grid" ? judge.grid : judge.block;
      if (is_args ? args != nullptr : !extents.empty()) {
        part.fail_at_key(
            fmt::format("the {1} has two \"{0}\" lines; remove one of them", part.key, key));
      }
      if (is_args) {
        args = &part;
      } else {
        read_extent_list(part, extents);
      }
    }
    for (const auto& [name, extents] : {std::pair{"grid", &judge.grid}, {"block", &judge.block}}) {
      if (!extents->empty()) continue;
      line.fail_at_key(fmt::format(
          "the {0} has no \"{1}\" line; add a \"{1}\" line below this line", key, name));
    }
    const bool checks = key == "checker";
    const FrontMatterLine& list = args == nullptr ? line : *args;
    judge.args_line = args == nullptr ? 0 : args->text_place.line;
    if (key == "fill") {
      judge.args = read_fill_arguments(line, args, result_);
      return judge;
    }
    judge.args = args == nullptr
                     ? default_argument_list(result_, result_.names_.all)
                     : parse_argument_list(list, result_, result_.names_.all,
                                           checks ? ArgumentsOf::checker : ArgumentsOf::reference);
    const auto check = checks ? check_checker_arguments : check_reference_results;
    check(list, result_, judge.args);
    return judge;
  }

  void read_fills() {
    std::vector<FrontMatterLine> operands, fills;
    for_each("operand", [&](const FrontMatterLine& line) { operands.push_back(line); });
    for_each("fill", [&](const FrontMatterLine& line) {
      fills.push_back(line);
      result_.judge.fills.push_back({read_judge(line), {}});
    });
    connect_fills(operands, fills, result_);
  }

  void read_extent_list(const FrontMatterLine& line, std::vector<Expression>& extents) const {
    constexpr std::size_t kMostDimensions = 3;
    for (const auto& part : split_arguments(line.text)) {
      if (extents.size() == kMostDimensions) {
        line.fail(part.offset, "a launch has at most three dimensions");
      }
      extents.push_back(expression(line, part));
    }
  }

  /// That there is a kernel for every kind of rule, and a rule for every kernel.
  void check_judges() const {
    for (const bool by_checker : {false, true}) {
      const std::string_view key = by_checker ? "checker" : "reference";
      const auto right = std::ranges::find_if(result_.judge.rights, [&](const RightSpec& each) {
        return (each.kind == RightSpec::Kind::checker) == by_checker;
      });
      const FrontMatterLine* const line = find(key);
      const bool is_needed = right != result_.judge.rights.end();
      if (is_needed == (line != nullptr)) continue;
      if (!is_needed) {
        line->fail_at_key(fmt::format(
            "no \"right\" line uses this {0}; remove the {0}, or add a \"right\" line", key));
      }
      for_each("right", [&](const FrontMatterLine& rule) {
        if (rule.text_place.line != right->line) return;
        rule.fail(0, fmt::format("this \"right\" line needs a {0} kernel, but the file names none; "
                                 "add a \"//@ {0} NAME\" line "
                                 "with the name of a kernel of this file",
                                 key));
      });
    }
  }

  /// What a reference can be compared by.
  void check_verifiable(const FrontMatterLine& line) const {
    for (std::size_t i = 0; i < result_.operands.size(); ++i) {
      const OperandSpec& operand = result_.operands[i];
      if (operand.role == OperandRole::in ||
          std::ranges::find(result_.judge.rights, i, &RightSpec::operand) !=
              result_.judge.rights.end()) {
        continue;
      }
      line.fail_at_key(
          fmt::format("the output {0} has no \"right\" line. Next: add \"//@ right {0} exact\", "
                      "\"//@ right {0} bound 4 of {0}\" "
                      "(an error of 4 unit roundoffs), or \"//@ "
                      "right {0} within 1e-5 1e-6\" (relative and absolute error)",
                      operand.name));
    }
    check_judges();
    if (result_.judge.ragged.empty()) {
      std::vector<std::string> sizes;
      for (const SizeSpec& size : result_.sizes) {
        sizes.push_back(fmt::format("{}={}", size.name, std::max<std::int64_t>(size.least, 1)));
      }
      line.fail_at_key(fmt::format(
          "an operation with a reference needs at least one \"ragged\" line; add \"//@ ragged {}\"",
          fmt::join(sizes, " ")));
    }
    for (const SizeSpec& size : result_.sizes) check_default_is_varied(size);
    for_each("type", [](const FrontMatterLine& type) {
      const auto words = split_words(type.text);
      for (std::size_t i = 1; i < words.size(); ++i) {
        if (packed_values(parse_dtype(words[i].text).value()) == 1) continue;
        type.fail(words[i].offset, fmt::format("an operation with a reference cannot use the "
                                               "packed type {} (several values per byte)",
                                               words[i].text));
      }
    });
  }

  /// A kernel that takes a default for granted is right wherever that holds.
  void check_default_is_varied(const SizeSpec& size) const {
    if (!size.value) return;
    const bool is_varied = std::ranges::any_of(result_.judge.ragged, [&](const auto& sizes) {
      auto others = sizes;
      std::erase_if(others, [&](const NamedValue& each) { return each.name == size.name; });
      return result_.with_defaults(others) != sizes;
    });
    if (is_varied) return;
    for_each("size", [&](const FrontMatterLine& line) {
      if (parse_size(line, result_.names_.all).name != size.name) return;
      line.fail(
          0,
          fmt::format(
              "every \"ragged\" line uses the default of {0}, so a kernel that "
              "ignores {0} would pass; in one of these lines, add \"{0}=...\" with another value",
              size.name));
    });
  }

  const std::string& file_;
  std::vector<FrontMatterLine> lines_;
  std::vector<std::string> declared_;  ///< sizes, traits, slots, scalars, derived sizes
  Operation result_;
};

const std::vector<std::string>& declaration_keys() {
  return operation_keys();
}

Operation Operation::parse(const std::string& file, std::string_view source) {
  return OperationParser(file, source).run();
}

bool declares_operation(std::string_view source) {
  constexpr std::string_view kMark = "//@";
  bool found = false;
  for (std::size_t begin = 0; begin < source.size();) {
    const auto end = std::min(source.find('\n', begin), source.size());
    const auto line = source.substr(begin, end - begin);
    begin = end + 1;
    if (!line.starts_with(kMark)) continue;
    const auto words = split_words(trimmed(line.substr(kMark.size())));
    if (words.empty()) continue;
    if (words.front().text == "template") return false;
    found = found || words.front().text == "operation";
  }
  return found;
}

}  // namespace kiln
