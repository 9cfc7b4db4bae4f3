// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <vector>

#include "templates/operation.hpp"
#include "tools/exit_code.hpp"
#include "tools/output/json.hpp"
#include "tools/output/table.hpp"
#include "tools/output/units.hpp"
#include "tools/verbs.hpp"

namespace kiln::tools {
namespace {

std::vector<std::string> templates_of(const Catalog& catalog, const Operation& operation) {
  std::vector<std::string> names;
  for (const auto& each : catalog.templates()) {
    if (each.operation() == operation.name) names.push_back(each.name());
  }
  return names;
}

std::string extents_text(const OperandSpec& operand) {
  std::vector<std::string> texts;
  for (const Expression& extent : operand.extents) texts.push_back(extent.text());
  return fmt::format("{}", fmt::join(texts, ", "));
}

Json operation_json(const Catalog& catalog, const Operation& operation) {
  Json json;
  json["name"] = operation.name;
  json["purpose"] = operation.purpose;
  json["sizes"] = Json::array();
  for (const auto& size : operation.sizes) {
    json["sizes"].push_back({{"name", size.name},
                             {"least", size.least},
                             {"most", size.most},
                             {"comment", size.comment}});
  }
  json["types"] = Json::array();
  for (std::size_t i = 0; i < operation.type_slots.size(); ++i) {
    json["types"].push_back(
        {{"slot", operation.type_slots[i]}, {"comment", operation.slot_comments[i]}});
  }
  json["traits"] = Json::array();
  for (const auto& trait : operation.traits) {
    json["traits"].push_back(
        {{"name", trait.name}, {"values", trait.values}, {"comment", trait.comment}});
  }
  json["operands"] = Json::array();
  for (const auto& operand : operation.operands) {
    Json one{{"name", operand.name}, {"role", to_string(operand.role)}};
    one["extents"] = Json::array();
    for (const Expression& extent : operand.extents) one["extents"].push_back(extent.text());
    if (operand.when) one["when"] = operand.when->text();
    json["operands"].push_back(std::move(one));
  }
  json["flops"] = operation.flops_text;
  if (!operation.bytes_text.empty()) json["bytes"] = operation.bytes_text;
  json["templates"] = templates_of(catalog, operation);
  return json;
}

std::string operation_text(const Catalog& catalog, const Operation& operation) {
  std::string text = fmt::format("{}: {}\n", operation.name, operation.purpose);
  text += "\nsizes\n";
  FactSheet sizes;
  for (const auto& size : operation.sizes) {
    sizes.add(size.name,
              fmt::format("{} to {:<14}  {}", size.least, count_text(size.most), size.comment));
  }
  text += sizes.text() + "\ntypes\n";
  FactSheet types;
  for (std::size_t i = 0; i < operation.type_slots.size(); ++i) {
    types.add(operation.type_slots[i], operation.slot_comments[i]);
  }
  text += types.text();
  if (!operation.traits.empty()) {
    text += "\ntraits\n";
    FactSheet traits;
    for (const auto& trait : operation.traits) {
      traits.add(trait.name,
                 fmt::format("{:<12}  {}", fmt::format("{}", fmt::join(trait.values, " ")),
                             trait.comment));
    }
    text += traits.text();
  }
  text += "\noperands\n";
  FactSheet operands;
  for (const auto& operand : operation.operands) {
    operands.add(operand.name,
                 fmt::format("{:<5}  {}{}", to_string(operand.role), extents_text(operand),
                             operand.when ? fmt::format("  when {}", operand.when->text()) : ""));
  }
  text += operands.text() + "\ncost\n";
  FactSheet cost;
  cost.add("flops", operation.flops_text);
  cost.add("bytes", operation.bytes_text.empty() ? "of the operands, each moved once"
                                                 : operation.bytes_text);
  text += cost.text();
  const auto names = templates_of(catalog, operation);
  return text + fmt::format("\ntemplates\n  {}\n",
                            names.empty() ? "none" : fmt::format("{}", fmt::join(names, " ")));
}

/// `name` is that of an operation: the command line takes no other.
int describe(Context& context, const std::string& name) {
  const Operation& operation = *find_operation(name);
  if (!context.flags.json) {
    context.print(operation_text(context.catalog(), operation));
    return kExitOk;
  }
  Json document = json_document("operation");
  document.update(operation_json(context.catalog(), operation));
  context.print(json_text(document));
  return kExitOk;
}

int list(Context& context) {
  const Catalog& catalog = context.catalog();
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
    table.add_row({each->name, fmt::format("{}", fmt::join(each->size_names, " ")),
                   fmt::format("{}", templates_of(catalog, *each).size()), each->purpose});
  }
  context.print(table.text());
  return kExitOk;
}

}  // namespace

Action add_operations(CLI::App& verb) {
  auto name = std::make_shared<std::string>();
  verb.add_option("name", *name, "Operation to describe in full")->type_name("OPERATION");
  return
      [name](Context& context) { return name->empty() ? list(context) : describe(context, *name); };
}

}  // namespace kiln::tools
