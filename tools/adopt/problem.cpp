// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// Sizes, scalars and operands from the parameters of kernels.
#include "tools/adopt/problem.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "templates/template_names.hpp"
#include "tools/adopt/between.hpp"
#include "tools/adopt/tunables.hpp"

namespace kiln::tools {
namespace {

class ProblemReader {
 public:
  ProblemReader(const SourceModel& model, const std::vector<AdoptedKernel>& kernels,
                const std::vector<SizeMacro>& macros)
      : model_(model), kernels_(kernels), macros_(macros) {}

  ProblemGuess run() {
    result_.between = find_between(model_, kernels_);
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      for (const auto& parameter : kernels_[k].source->parameters) {
        if (parameter.pointers == 1 || parameter.pointers == 2) {
          add_operand(k, parameter);
        } else if (parameter.pointers == 0 && !counts_between(k, parameter)) {
          add_number(k, parameter);
        }
      }
    }
    for (const SizeMacro& macro : macros_) {
      NumberGuess size;
      size.parameter = macro.name;
      size.type = "int";
      size.macro = macro;
      result_.sizes.push_back(std::move(size));
    }
    for (std::size_t i = 0; i < result_.row_sizes.size(); ++i) find_row_size(i);
    for (const auto& constant : model_.constants) add_constant(constant);
    // An operand's types give it further names, so sizes and scalars choose theirs afterwards.
    for (auto& operand : result_.operands) operand.name = unique_name(operand.parameter, true);
    for (auto* numbers : {&result_.sizes, &result_.scalars}) {
      for (auto& number : *numbers) {
        number.name = unique_name(number.macro && !number.macro->is_fixed
                                      ? name_beside_macro(number.parameter)
                                      : number.parameter,
                                  false);
        result_.names.emplace(number.parameter, number.name);
      }
    }
    for (auto& size : result_.row_sizes) {
      if (!size.empty()) size = result_.names.at(size);
    }
    count_between();
    for (auto& operand : result_.operands) {
      if (!operand.is_constant && !guess_row_extents(operand)) guess_extents(operand);
    }
    return std::move(result_);
  }

 private:
  using Parameter = SourceParameter;

  [[nodiscard]] std::string role_in(std::size_t kernel, const Parameter& parameter) const {
    return role_of(kernels_[kernel], parameter);
  }

  /// How many elements what kernels leave has, where sizes tell.
  void count_between() {
    for (auto& each : result_.between) {
      if (each.is_by_block) continue;
      const auto& facts = kernels_[each.writer].facts;
      const auto used = facts.pointers.find(each.written);
      const auto of_grid = grid_sizes(kernels_[each.writer], result_);
      std::string extents;
      if (used != facts.pointers.end() && used->second.extents.size() == 1) {
        extents = renamed_words(*used->second.extents.begin(), result_.names);
      } else if (!of_grid.empty()) {
        extents = fmt::format("{}", fmt::join(of_grid, ", "));
      }
      for (auto at = extents.find(", "); at != std::string::npos; at = extents.find(", ", at)) {
        extents.replace(at, 2, " * ");
      }
      each.elements = extents;
    }
  }

  /// An integer of a kernel whose every input is what another has left: how many those are.
  [[nodiscard]] bool counts_between(std::size_t kernel, const Parameter& parameter) const {
    if (!integer_type(parameter.type, model_.type_aliases)) return false;
    bool reads = false;
    for (const auto& each : kernels_[kernel].source->parameters) {
      if (each.pointers != 1 || role_in(kernel, each) == "out") continue;
      if (result_.read_between(kernel, each.name) == nullptr) return false;
      reads = true;
    }
    return reads;
  }

  void add_operand(std::size_t kernel, const Parameter& parameter) {
    if (result_.written_between(kernel, parameter.name) != nullptr ||
        result_.read_between(kernel, parameter.name) != nullptr) {
      return;
    }
    const std::string role = role_in(kernel, parameter);
    for (auto& known : result_.operands) {
      if (known.parameter != parameter.name) continue;
      // What was read before is an input; what an earlier kernel wrote need not be one.
      if (known.role == "in" && role != "in") known.role = "inout";
      known.is_const = known.is_const && parameter.is_const;
      return;
    }
    OperandGuess operand;
    operand.parameter = parameter.name;
    operand.role = role;
    operand.has_pointers = parameter.pointers == 2;
    operand.cpp_type = parameter.type;
    operand.is_const = parameter.is_const;
    const PointerUse& used = use_of(kernels_[kernel], parameter.name);
    if (used.is_atomic) {
      operand.role_comment = "inout: atomics add to the old values";
    } else if (role == "inout") {
      operand.role_comment = "inout: the kernel also reads this array";
    } else if (!parameter.is_const && used.is_given_away && !used.is_written) {
      operand.role_comment = role + " is a guess: adopt cannot see all uses of this array";
    } else if (!parameter.is_const && role == "in") {
      operand.role_comment = "in: the kernel never writes this array";
    }
    for (const auto& each : kernels_[kernel].source->template_parameters) {
      if (each.kind == SourceTemplateParameter::Kind::type && each.name == parameter.type) {
        operand.template_type = each.name;
      }
    }
    if (operand.template_type.empty()) {
      operand.element = element_type(parameter.type, model_.type_aliases);
    }
    result_.operands.push_back(std::move(operand));
  }

  /// An array that the host fills: its extents are numbers, or else nothing that sizes say.
  void add_constant(const SourceConstant& constant) {
    if (constant.is_template || constant.is_pointer) return;  // a note says so
    OperandGuess operand;
    operand.parameter = constant.name;
    operand.role = "in";
    operand.cpp_type = constant.type;
    operand.element = element_type(constant.type, model_.type_aliases);
    operand.is_constant = true;
    operand.array = constant.qualified_name;
    for (const auto& extent : constant.extents) {
      const auto text = constant_text(extent, model_, {});
      operand.extents += (operand.extents.empty() ? "" : ", ") + text.value_or(kFillIn);
      if (!text)
        operand.extents_comment =
            "write the extents from the declaration of this array; smaller extents are allowed";
    }
    if (constant.extents.empty()) operand.extents = "1";
    if (!operand.element) {
      operand.extents = kFillIn;
      operand.extents_comment = fmt::format("number of elements of {}", constant.name);
    }
    if (operand.element && operand.element->parts > 1) {
      operand.extents += fmt::format(", {}", operand.element->parts);
    }
    result_.operands.push_back(std::move(operand));
  }

  static bool is_known(const std::vector<NumberGuess>& numbers, const std::string& name) {
    return std::any_of(numbers.begin(), numbers.end(),
                       [&](const NumberGuess& each) { return each.parameter == name; });
  }

  void add_number(std::size_t kernel, const Parameter& parameter) {
    if (is_known(result_.sizes, parameter.name) || is_known(result_.scalars, parameter.name)) {
      return;
    }
    for (const auto& each : kernels_[kernel].source->template_parameters) {
      const bool is_type = each.kind == SourceTemplateParameter::Kind::type;
      if (!is_type || each.name != parameter.type) continue;
      result_.scalar_types.insert(each.name);
      result_.scalars.push_back(
          {parameter.name, "", "f32", fmt::format("a {}, ", each.name), "", ""});
      return;
    }
    const auto scalar = number_type(parameter.type, model_.type_aliases);
    const auto type = integer_type(parameter.type, model_.type_aliases);
    if (!scalar) return;
    const std::string scalar_name(to_string(*scalar));
    if (!type) {
      result_.scalars.push_back({parameter.name, "", scalar_name, "", "", ""});
      return;
    }
    const BodyFacts& facts = kernels_[kernel].facts;
    const bool is_bound = facts.compared.contains(parameter.name);
    const std::string lower = snake_case(parameter.name);
    const bool is_pitch = lower.starts_with("ld") || lower.find("stride") != std::string::npos ||
                          lower.find("pitch") != std::string::npos;
    const bool is_used = is_bound || facts.indexing.contains(parameter.name);
    if (is_used || is_size_name(parameter.name)) {
      const char* const comment =
          is_pitch   ? "CHECK: is this a size, or does the value follow from other sizes?"
          : !is_used ? "CHECK: is this a size or a scalar?"
                     : "";
      result_.sizes.push_back({parameter.name, "", *type, comment});
      return;
    }
    result_.scalars.push_back({parameter.name, "", scalar_name, "a scalar, or a size; "});
  }

  /// Blocks that nothing compares with a size, though a row's length multiplies them, have a row
  /// each: of a size that the kernel does not look at, or is not even given.
  void find_row_size(std::size_t dimension) {
    const BodyFacts& facts = kernels_.front().facts;
    const DimensionUse& use = facts.dimensions[dimension];
    if (!use.has_block || !use.bounds.empty() || use.row_lengths.empty()) return;
    if (use.columns.size() == 1) return;
    const auto is_row = [&](const NumberGuess& size) {
      const auto& lengths = use.row_lengths;
      return !facts.compared.contains(size.parameter) &&
             std::find(lengths.begin(), lengths.end(), size.parameter) == lengths.end() &&
             std::find(result_.row_sizes.begin(), result_.row_sizes.end(), size.parameter) ==
                 result_.row_sizes.end();
    };
    const auto unused = std::find_if(result_.sizes.begin(), result_.sizes.end(), is_row);
    if (unused != result_.sizes.end()) {
      result_.row_sizes[dimension] = unused->parameter;
      return;
    }
    std::string name = dimension == 2 ? "batch" : "rows";
    const auto& parameters = kernels_.front().source->parameters;
    const auto is_taken = [&](const std::string& wanted) {
      return is_known(result_.sizes, wanted) ||
             std::any_of(parameters.begin(), parameters.end(),
                         [&](const Parameter& each) { return each.name == wanted; });
    };
    while (is_taken(name)) name.insert(0, "outer_");
    result_.row_sizes[dimension] = name;
    result_.sizes.push_back(
        {name, "", "int", "CHECK: adopt added this size; it is the number of blocks"});
  }

  /// The size that blocks have one value of each, whether or not the kernel compares it; "": none.
  [[nodiscard]] std::string row_size(std::size_t dimension) const {
    if (!result_.row_sizes[dimension].empty()) return result_.row_sizes[dimension];
    const DimensionUse& use = kernels_.front().facts.dimensions[dimension];
    if (!use.has_block || use.bounds.empty() || !use.factors.empty() || use.row_lengths.empty()) {
      return "";
    }
    const auto name = result_.names.find(use.bounds.front());
    return name != result_.names.end() && is_known(result_.sizes, name->first) ? name->second : "";
  }

  /// Of arrays whose rows blocks have, or of one number for each, or of one row for all.
  bool guess_row_extents(OperandGuess& operand) const {
    const BodyFacts& facts = kernels_.front().facts;
    const auto used = facts.pointers.find(operand.parameter);
    if (used == facts.pointers.end()) return false;
    std::vector<std::string> of_grid, lengths;
    for (std::size_t i = result_.row_sizes.size(); i-- > 0;) {
      const std::string row = row_size(i);
      if (row.empty()) continue;
      of_grid.push_back(row);
      lengths = facts.dimensions[i].row_lengths;
    }
    if (of_grid.size() != 1 || lengths.size() != 1 || used->second.is_indirect) return false;
    const std::string& length = result_.names.at(lengths.front());
    const PointerUse& use = used->second;
    if (use.is_by_block_and_more) {
      operand.extents = fmt::format("{}, {}", of_grid.front(), length);
    } else if (use.is_by_block_number) {
      operand.extents = of_grid.front();
    } else if (use.is_without_block) {
      operand.extents = length;
    } else {
      return false;
    }
    if (operand.element && operand.element->parts > 1) {
      operand.extents += fmt::format(", {}", operand.element->parts);
    }
    operand.extents_comment = "CHECK: extents";
    return true;
  }

  /// A tunable has the macro's own name: `grid_width` leaves "width" to the size, `W` "w".
  [[nodiscard]] static std::string name_beside_macro(const std::string& macro) {
    const std::string lower = snake_case(macro);
    for (auto at = lower.find('_'); at != std::string::npos; at = lower.find('_', at + 1)) {
      const std::string last = lower.substr(at + 1);
      if (is_size_name(last)) return last;
    }
    return lower == macro ? lower + "_size" : lower;
  }

  /// Names of an operation differ, and some mean something in each of them.
  std::string unique_name(const std::string& parameter, bool is_operand) {
    static const std::set<std::string, std::less<>> kTaken{
        "workspace", "epilogue", "operation", "type", "device", "true", "false", kFillIn};
    std::string name = parameter.empty() ? "unnamed" : parameter;
    while (kTaken.contains(name) || used_names_.contains(name) || device_names().find(name) >= 0) {
      name += '_';
    }
    used_names_.insert(name);
    if (is_operand) {
      for (const char* const property : {"_bytes", "_packed", "_type"}) {
        used_names_.insert(name + property);
      }
    }
    result_.names.emplace(parameter, name);
    return name;
  }

  /// Where an operand is written, in all kernels.
  [[nodiscard]] std::set<std::string> written_places(const std::string& parameter) const {
    std::set<std::string> places;
    for (const auto& kernel : kernels_) {
      const auto found = kernel.facts.pointers.find(parameter);
      if (found == kernel.facts.pointers.end()) continue;
      places.insert(found->second.written_at.begin(), found->second.written_at.end());
    }
    return places;
  }

  /// What all indices of the operand agree on, in all kernels, or "".
  [[nodiscard]] std::string indexed_extents(const std::string& parameter) const {
    std::set<std::string> extents;
    for (const auto& kernel : kernels_) {
      const auto found = kernel.facts.pointers.find(parameter);
      if (found == kernel.facts.pointers.end() || found->second.is_indirect) continue;
      extents.insert(found->second.extents.begin(), found->second.extents.end());
    }
    return extents.size() == 1 ? renamed_words(*extents.begin(), result_.names) : "";
  }

  /// The kernel that writes an operand, or else the first that has it.
  [[nodiscard]] const AdoptedKernel& kernel_of(const OperandGuess& operand) const {
    const AdoptedKernel* first = nullptr;
    for (const auto& kernel : kernels_) {
      const auto found = kernel.facts.pointers.find(operand.parameter);
      if (found == kernel.facts.pointers.end()) continue;
      if (first == nullptr) first = &kernel;
      if (found->second.is_written && operand.role != "in") return kernel;
    }
    return first == nullptr ? kernels_.front() : *first;
  }

  void guess_extents(OperandGuess& operand) const {
    const auto sizes = result_.size_names();
    const auto places = written_places(operand.parameter);
    const AdoptedKernel& kernel = kernel_of(operand);
    const auto of_grid = grid_sizes(kernel, result_);
    const std::string indexed = indexed_extents(operand.parameter);
    const bool has_one_block =
        std::none_of(kernel.facts.dimensions.begin(), kernel.facts.dimensions.end(),
                     [](const DimensionUse& use) { return use.has_block; });
    const int parts = operand.element ? operand.element->parts : 1;
    const bool is_number = places.size() == 1 && *places.begin() == "0";
    const bool is_by_block =
        std::any_of(places.begin(), places.end(), [](const std::string& place) {
          return place.find("blockIdx") != std::string::npos &&
                 place.find("threadIdx") == std::string::npos;
        });
    operand.extents = kFillIn;
    operand.extents_comment = "extents";
    if (!sizes.empty()) {
      const auto& example = of_grid.empty() ? sizes : of_grid;
      operand.extents_comment += fmt::format(", such as: {}", fmt::join(example, ", "));
    }
    if (operand.has_pointers) {
      operand.extents_comment += "; the first extent is the number of pointers";
      if (of_grid.size() > 1) operand.extents = fmt::format("{}", fmt::join(of_grid, ", "));
    } else if ((is_number || (is_by_block && has_one_block)) && operand.role != "in") {
      operand.extents = "1";
    } else if (is_by_block) {
      operand.extents_comment =
          "extents: the number of values that all blocks together write; if the kernel needs "
          "these values only temporarily, replace the operand with a workspace";
    } else if (!indexed.empty() && (sizes.size() > 1 || indexed.find(',') != std::string::npos)) {
      operand.extents = indexed;
    } else if (sizes.size() == 1) {
      operand.extents = sizes.front();
    } else if (operand.role != "in" && !of_grid.empty() &&
               (of_grid.size() == sizes.size() || of_grid.size() > 1)) {
      operand.extents = fmt::format("{}", fmt::join(of_grid, ", "));
    }
    if (operand.extents == kFillIn) {
      if (parts > 1) operand.extents_comment += fmt::format("; the last extent is {}", parts);
      return;
    }
    if (parts > 1) operand.extents += fmt::format(", {}", parts);
    operand.extents_comment = "CHECK: extents";
  }

  const SourceModel& model_;
  const std::vector<AdoptedKernel>& kernels_;
  const std::vector<SizeMacro>& macros_;
  std::set<std::string, std::less<>> used_names_;
  ProblemGuess result_;
};

}  // namespace

const OperandGuess* ProblemGuess::operand(const std::string& parameter) const {
  const auto found = std::find_if(operands.begin(), operands.end(), [&](const OperandGuess& each) {
    return each.parameter == parameter;
  });
  return found == operands.end() ? nullptr : &*found;
}

const BetweenGuess* ProblemGuess::written_between(std::size_t kernel,
                                                  const std::string& parameter) const {
  for (const auto& each : between) {
    if (each.writer == kernel && each.written == parameter) return &each;
  }
  return nullptr;
}

const BetweenGuess* ProblemGuess::read_between(std::size_t kernel,
                                               const std::string& parameter) const {
  for (const auto& each : between) {
    if (each.reader == kernel && each.read == parameter) return &each;
  }
  return nullptr;
}

std::vector<std::string> ProblemGuess::size_names() const {
  std::vector<std::string> result;
  for (const auto& size : sizes) result.push_back(size.name);
  return result;
}

ProblemGuess guess_problem(const SourceModel& model, const std::vector<AdoptedKernel>& kernels,
                           const std::vector<SizeMacro>& macros) {
  return ProblemReader(model, kernels, macros).run();
}

std::string renamed_words(const std::string& text,
                          const std::map<std::string, std::string, std::less<>>& names) {
  std::string result;
  std::size_t copied = 0;
  for (const auto& token : read_code(text).tokens) {
    const auto found = names.find(token.text);
    if (found == names.end()) continue;
    result += text.substr(copied, token.offset - copied) + found->second;
    copied = token.offset + token.text.size();
  }
  return result + text.substr(copied);
}

std::vector<std::string> grid_sizes(const AdoptedKernel& kernel, const ProblemGuess& problem) {
  std::vector<std::string> result;
  const auto sizes = problem.size_names();
  for (std::size_t i = 3; i-- > 0;) {
    const DimensionUse& use = kernel.facts.dimensions[i];
    if (!use.has_block) continue;
    if (use.bounds.empty() && !problem.row_sizes[i].empty()) {
      result.push_back(problem.row_sizes[i]);
      continue;
    }
    const bool is_along_row = use.bounds.empty() && use.columns.size() == 1;
    if (use.bounds.empty() && !is_along_row) return {};
    const std::string name =
        renamed_words(is_along_row ? use.columns.front() : use.bounds.front(), problem.names);
    if (std::find(sizes.begin(), sizes.end(), name) == sizes.end()) return {};
    result.push_back(name);
  }
  return result;
}

}  // namespace kiln::tools
