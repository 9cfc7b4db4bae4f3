// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "kiln/error.hpp"
#include "templates/front_matter/constant_line.hpp"
#include "templates/nearest_name.hpp"
#include "templates/operation/operation.hpp"
#include "templates/operation/scalar_text.hpp"
#include "tools/command_line/exit_code.hpp"
#include "tools/command_line/problem_flags.hpp"
#include "tools/command_line/value_kinds.hpp"
#include "tools/output/json.hpp"
#include "tools/output/table.hpp"
#include "tools/output/units.hpp"
#include "tools/verbs/verbs.hpp"

namespace kiln::tools {
namespace {

struct OperationsOptions {
  std::string name;
  bool names = false;
  bool flags = false;
};

std::vector<std::string> templates_of(const Catalog& catalog, const Operation& operation) {
  std::vector<std::string> names;
  for (const auto& each : catalog.templates()) {
    if (each.operation() == operation.name) names.push_back(each.name());
  }
  return names;
}

std::vector<std::string> texts_of(const std::vector<Expression>& expressions) {
  std::vector<std::string> texts;
  for (const Expression& each : expressions) texts.push_back(each.text());
  return texts;
}

std::vector<std::string> names_of(const std::vector<DType>& types) {
  std::vector<std::string> names;
  for (const DType type : types) names.emplace_back(to_string(type));
  return names;
}

/// "integers 0 (n - 1)", as the declaration has it.
std::string fill_text(const FillSpec& fill) {
  std::string text(to_string(fill.kind));
  if (!fill.kernel.empty()) text += " " + fill.kernel;
  if (fill.low) text += fmt::format(" {} {}", fill.low->text(), fill.high->text());
  return text;
}

/// "bound 16 of f32", likewise.
std::string right_text(const RightSpec& right) {
  switch (right.kind) {
    case RightSpec::Kind::exact:
      return "exact";
    case RightSpec::Kind::bound:
      return fmt::format("bound {} of {}", right.factor->text(), right.roundoff_of);
    case RightSpec::Kind::within:
      return fmt::format("within {} {}", right.relative, right.absolute);
    case RightSpec::Kind::checker:
      return "checker";
  }
  return "";
}

/// "rows=7 cols=33".
std::string case_text(const std::vector<NamedValue>& sizes) {
  std::string text;
  for (const NamedValue& size : sizes) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", size.name, size.value);
  }
  return text;
}

/// What one line of front matter says of an operand after its role.
std::string operand_text(const OperandSpec& operand) {
  std::string text = fmt::format("{}", fmt::join(texts_of(operand.extents), ", "));
  if (operand.ld) text += "  ld " + operand.ld->text();
  if (operand.align) text += "  align " + operand.align->text();
  if (operand.pointers) text += "  pointers";
  if (operand.scratch) text += "  scratch";
  if (!operand.file.empty()) text += "  fill file " + operand.file;
  if (operand.fill.kind != FillSpec::Kind::normal) text += "  fill " + fill_text(operand.fill);
  if (operand.when) text += "  when " + operand.when->text();
  return text;
}

Json operands_json(const Operation& operation) {
  Json operands = Json::array();
  for (const auto& operand : operation.operands) {
    Json one{{"name", operand.name},
             {"role", to_string(operand.role)},
             {"extents", texts_of(operand.extents)}};
    if (operand.ld) one["ld"] = operand.ld->text();
    if (operand.align) one["align"] = operand.align->text();
    if (operand.pointers) one["pointers"] = true;
    if (operand.scratch) one["scratch"] = true;
    if (operand.when) one["when"] = operand.when->text();
    if (operand.role != OperandRole::out) one["fill"] = fill_text(operand.fill);
    if (!operand.file.empty()) one["file"] = operand.file;
    one["comment"] = operand.comment;
    operands.push_back(std::move(one));
  }
  return operands;
}

std::vector<std::string> constants_of(const JudgeKernel& judge, const Operation& operation) {
  std::vector<std::string> texts;
  for (const ConstantSpec& constant : judge.constants) {
    texts.push_back(constant_text(constant, operation));
  }
  return texts;
}

Json judge_json(const JudgeKernel& judge, const Operation& operation) {
  return {{"kernel", judge.kernel},
          {"grid", texts_of(judge.grid)},
          {"block", texts_of(judge.block)},
          {"args", argument_text(judge.args, operation)},
          {"constants", constants_of(judge, operation)}};
}

/// The reference kernel, if there is one, and what is right by it or by the checker.
Json reference_json(const Operation& operation) {
  const Operation::Judge& judge = operation.judge;
  Json json = judge.reference ? judge_json(*judge.reference, operation) : Json::object();
  if (judge.checker) json["checker"] = judge_json(*judge.checker, operation);
  if (!judge.fills.empty()) json["fills"] = Json::array();
  for (const auto& fill : judge.fills) {
    json["fills"].push_back(judge_json(fill.kernel, operation));
  }
  if (!judge.independent.empty()) json["independent"] = judge.independent;
  json["right"] = Json::object();
  for (const auto& right : judge.rights) {
    json["right"][operation.operands[right.operand].name] = right_text(right);
  }
  if (judge.integers) json["integers"] = judge.integers->text();
  json["ragged"] = Json::array();
  for (const auto& sizes : judge.ragged) {
    Json one = Json::object();
    for (const NamedValue& size : sizes) one[size.name] = size.value;
    json["ragged"].push_back(std::move(one));
  }
  return json;
}

Json operation_json(const Catalog& catalog, const Operation& operation) {
  Json json;
  json["name"] = operation.name;
  json["purpose"] = operation.purpose;
  json["file"] = operation.origin.file;
  json["sizes"] = Json::array();
  for (const auto& size : operation.sizes) {
    Json one{
        {"name", size.name}, {"least", size.least}, {"most", size.most}, {"comment", size.comment}};
    if (size.value) one["default"] = size.value->text();
    json["sizes"].push_back(std::move(one));
  }
  json["derived"] = Json::array();
  for (const auto& [name, value] : operation.derived) {
    json["derived"].push_back({{"name", name}, {"value", value.text()}});
  }
  json["types"] = Json::array();
  for (const TypeSlotSpec& slot : operation.slots) {
    json["types"].push_back(
        {{"slot", slot.name}, {"types", names_of(slot.types)}, {"comment", slot.comment}});
  }
  json["scalars"] = Json::array();
  for (const auto& scalar : operation.scalars) {
    json["scalars"].push_back(
        {{"name", scalar.name},
         {"type", to_string(scalar.type)},
         {"value", scalar.value.visit([](auto number) { return Json(number); })},
         {"comment", scalar.comment}});
  }
  json["traits"] = Json::array();
  for (const auto& trait : operation.traits) {
    json["traits"].push_back(
        {{"name", trait.name}, {"values", trait.values}, {"comment", trait.comment}});
  }
  json["operands"] = operands_json(operation);
  json["flops"] = operation.cost.flops->text();
  if (operation.cost.bytes) json["bytes"] = operation.cost.bytes->text();
  for (const MetricSpec& metric : operation.metrics) {
    json["metrics"][metric.name] = metric.value.text();
  }
  json["deterministic"] = operation.judge.deterministic;
  if (operation.is_declared()) json["reference"] = reference_json(operation);
  json["templates"] = templates_of(catalog, operation);
  return json;
}

/// Texts of one width and the comments behind them.
class CommentedFacts {
 public:
  void add(std::string name, std::string text, std::string comment) {
    rows_.push_back({std::move(name), std::move(text), std::move(comment)});
  }
  /// Below a title, or "" if there are none.
  [[nodiscard]] std::string text(std::string_view title) const {
    if (rows_.empty()) return "";
    std::size_t width = 0;
    for (const Row& row : rows_) width = std::max(width, row.text.size());
    FactSheet facts;
    for (const Row& row : rows_) {
      facts.add(row.name, width == 0 ? row.comment
                                     : fmt::format("{:<{}}   {}", row.text, width, row.comment));
    }
    return fmt::format("\n{}\n{}", title, facts.text());
  }

 private:
  struct Row {
    std::string name, text, comment;
  };
  std::vector<Row> rows_;
};

std::string problem_text(const Operation& operation) {
  CommentedFacts sizes, derived, types, scalars, traits, operands;
  for (const auto& size : operation.sizes) {
    std::string text = fmt::format("{} to {}", size.least, count_text(size.most));
    if (size.value) text += fmt::format(", default {}", size.value->text());
    sizes.add(size.name, std::move(text), size.comment);
  }
  for (const auto& [name, value] : operation.derived) derived.add(name, value.text(), "");
  for (const TypeSlotSpec& slot : operation.slots) {
    types.add(slot.name, fmt::format("{}", fmt::join(names_of(slot.types), " ")), slot.comment);
  }
  for (const auto& scalar : operation.scalars) {
    scalars.add(scalar.name,
                fmt::format("{} = {}", to_string(scalar.type), scalar_text(scalar.value)),
                scalar.comment);
  }
  for (const auto& trait : operation.traits) {
    traits.add(trait.name, fmt::format("{}", fmt::join(trait.values, " ")), trait.comment);
  }
  for (const auto& operand : operation.operands) {
    operands.add(operand.name,
                 fmt::format("{:<5}  {}", to_string(operand.role), operand_text(operand)),
                 operand.comment);
  }
  return sizes.text("sizes") + derived.text("derived sizes") + types.text("types") +
         scalars.text("scalars") + traits.text("traits") + operands.text("operands");
}

std::string judge_text(std::string_view title, const JudgeKernel& judge,
                       const Operation& operation) {
  FactSheet facts;
  facts.add("kernel", judge.kernel);
  facts.add("grid", fmt::format("{}", fmt::join(texts_of(judge.grid), ", ")));
  facts.add("block", fmt::format("{}", fmt::join(texts_of(judge.block), ", ")));
  facts.add("args", argument_text(judge.args, operation));
  for (const auto& text : constants_of(judge, operation)) facts.add("constant", text);
  return fmt::format("\n{}\n{}", title, facts.text());
}

std::string reference_text(const Operation& operation) {
  if (!operation.is_declared()) return "";
  const Operation::Judge& judge = operation.judge;
  FactSheet results;
  for (const auto& right : judge.rights) {
    results.add(operation.operands[right.operand].name, right_text(right));
  }
  if (judge.integers) {
    const std::string& most = judge.integers->text();
    results.add(
        "integers",
        most == "0"
            ? "results are inexact, even for integer inputs"
            : fmt::format("results are exact for integer inputs from -R to R, R = {}", most));
  }
  std::vector<std::string> cases;
  for (const auto& sizes : judge.ragged) cases.push_back(case_text(sizes));
  results.add("ragged", fmt::format("{}", fmt::join(cases, "\n")));
  results.add("bits", judge.deterministic ? "every run gives the same bits"
                                          : "two runs may give different bits");
  if (!judge.independent.empty()) {
    results.add("parts", fmt::format("in a very large problem, Kiln checks only some {0}",
                                     judge.independent));
  }
  std::string text = "\ncorrect results\n" + results.text();
  if (judge.reference) text += judge_text("reference", *judge.reference, operation);
  if (judge.checker) text += judge_text("checker", *judge.checker, operation);
  for (const auto& fill : judge.fills) text += judge_text("fill", fill.kernel, operation);
  return text;
}

std::string operation_text(const Catalog& catalog, const Operation& operation) {
  FactSheet cost;
  cost.add("flops", operation.cost.flops->text());
  cost.add("bytes", operation.cost.bytes ? operation.cost.bytes->text()
                                         : "sum of the sizes of all operands; an inout operand "
                                           "counts twice (one read, one write)");
  for (const MetricSpec& metric : operation.metrics) {
    cost.add(metric.name, metric.comment.empty()
                              ? metric.value.text()
                              : fmt::format("{} ({})", metric.value.text(), metric.comment));
  }
  const auto names = templates_of(catalog, operation);
  return fmt::format("{}: {}\n", operation.name, operation.purpose) + problem_text(operation) +
         "\ncost\n" + cost.text() + reference_text(operation) +
         fmt::format("\ntemplates\n  {}\n",
                     names.empty() ? "none" : fmt::format("{}", fmt::join(names, " ")));
}

/// Asked after the catalog was read, which declares what its directories have.
const Operation& operation_of(const std::string& name) {
  if (const Operation* const found = find_operation(name)) return *found;
  std::vector<std::string> known;
  for (const Operation* each : operations()) known.push_back(each->name);
  throw Error(ErrorKind::usage,
              fmt::format("{} is unknown; {}{}{}", name,
                          known.size() == 1 ? "the only choice is " : "choose from ",
                          fmt::join(known, ", "), did_you_mean(name, known)));
}

/// Of an operation there is much to say even if its templates are malformed.
void describe_without_templates(Context& context, const std::string& name) {
  if (find_operation(name) != nullptr) context.asked_error.reset();
}

int describe(Context& context, const std::string& name) {
  describe_without_templates(context, name);
  const Catalog& catalog = context.catalog();
  const Operation& operation = operation_of(name);
  if (!context.flags.json) {
    context.print(operation_text(catalog, operation));
    return kExitOk;
  }
  Json document = json_document("operation");
  document.update(operation_json(catalog, operation));
  context.print(json_text(document));
  return kExitOk;
}

/// "--x<tab>Type of x<tab>f16 bf16 ...": a flag, its meaning without tabs, and the words for its
/// value if some are known.
std::string flag_line(const std::string& flag, const CLI::Option& option) {
  std::string meaning = option.get_description();
  std::ranges::replace(meaning, '\t', ' ');
  std::string line = fmt::format("--{}\t{}", flag, meaning);
  const ValueKind* const kind = find_value_kind(option.get_type_name());
  if (kind != nullptr && !kind->words().empty()) {
    line += fmt::format("\t{}", fmt::join(kind->words(), " "));
  }
  return line + "\n";
}

/// For completion in shells: what a verb would declare for problems of the operation.
int print_flags(Context& context, const std::string& name) {
  describe_without_templates(context, name);
  static_cast<void>(context.catalog());  // declares the operations of its folders
  CLI::App verb;
  verb.set_help_flag();
  ProblemFlags flags;
  flags.add_to(verb, operation_of(name), ProblemFlags::Word::none);
  for (const CLI::Option* each : verb.get_options()) {
    for (const auto& flag : each->get_lnames()) {
      context.print(flag_line(flag, *each));
    }
  }
  return kExitOk;
}

int list(Context& context, bool only_names) {
  const Catalog& catalog = context.catalog();
  if (only_names) {
    for (const Operation* each : operations()) context.print(each->name + "\n");
    return kExitOk;
  }
  if (context.flags.json) {
    Json document = json_document("operations");
    document["operations"] = Json::array();
    for (const Operation* each : operations()) {
      document["operations"].push_back(operation_json(catalog, *each));
    }
    context.print(json_text(document));
    return kExitOk;
  }
  Table table({{"name"}, {"sizes"}, {"templates", Table::Align::right}, {"purpose"}});
  for (const Operation* each : operations()) {
    table.add_row({each->name, fmt::format("{}", fmt::join(each->size_names(), " ")),
                   fmt::format("{}", templates_of(catalog, *each).size()), each->purpose});
  }
  context.print(table.text());
  return kExitOk;
}

}  // namespace

Action add_operations(CLI::App& verb, const Operation& /*operation*/) {
  auto options = std::make_shared<OperationsOptions>();
  auto* const name = verb.add_option("name", options->name, "Operation to describe in full");
  name->type_name("NAME");
  auto* const names =
      verb.add_flag("--names", options->names, "Print only the names, one per line");
  verb.add_flag("--flags", options->flags,
                "Print only the flags that describe a problem of the operation. Each line contains "
                "one flag, its meaning and its known values, separated by tabs")
      ->needs(name)
      ->excludes(names);
  return [options](Context& context) {
    if (options->flags) return print_flags(context, options->name);
    return options->name.empty() ? list(context, options->names) : describe(context, options->name);
  };
}

}  // namespace kiln::tools
