// SPDX-FileCopyrightText: 2026 The Kiln authors
// SPDX-License-Identifier: Apache-2.0
// What a T1 file says in the place of guesses: tunables, restrictions, grid and block.
#include "tools/adopt/space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "tools/adopt/space_arguments.hpp"
#include "tools/adopt/translate.hpp"
#include "tools/adopt/types.hpp"

namespace kiln::tools {
namespace {

const std::string* word_of(const PythonValue& value) {
  return std::get_if<std::string>(&value.value);
}

/// The number that a kernel is compiled with, of values that are none 1.
std::int64_t number_of(const PythonValue& value) {
  if (const auto* const integer = std::get_if<std::int64_t>(&value.value)) return *integer;
  const auto* const truth = std::get_if<bool>(&value.value);
  return truth == nullptr || *truth ? 1 : 0;
}

bool is_in_source(const SourceModel& model, std::string_view name) {
  const auto has_name = [&](const std::vector<CodeToken>& tokens) {
    return std::any_of(tokens.begin(), tokens.end(),
                       [&](const CodeToken& token) { return token.is(name); });
  };
  const auto& directives = model.code.directives;
  return has_name(model.code.tokens) ||
         std::any_of(directives.begin(), directives.end(),
                     [&](const CodeDirective& each) { return has_name(each.tokens); });
}

/// The default: what the file says, or else what `tunable` has if it is among the values, or else
/// the first value.
PythonValue usual_of(const SpaceParameter& parameter, const TunableGuess& tunable) {
  if (parameter.usual) return *parameter.usual;
  const std::string own = std::to_string(tunable.usual);
  for (const auto& value : parameter.values) {
    if (tunable.is_of_file && python_text(value) == own) return value;
  }
  return parameter.values.front();
}

/// Gives a tunable the values of the T1 file.
void set_values(const SpaceParameter& parameter, const std::string& file, TunableGuess& tunable) {
  const PythonValue usual = usual_of(parameter, tunable);
  tunable.is_listed = true;
  tunable.values = printed_values(parameter.values, usual);
  tunable.comment = "";
  tunable.usual = number_of(usual);
  if (const auto* const word = word_of(usual)) tunable.usual_word = *word;
  if (!tunable.values.empty()) return;
  std::vector<std::string> texts;
  for (const auto& value : parameter.values) texts.push_back(python_text(value));
  tunable.comment =
      fmt::format("{} lists {}: write names in their place", file, fmt::join(texts, ", "));
}

class SpaceApplier {
 public:
  SpaceApplier(const SpaceFile& space, AdoptionGuess& guess) : space_(space), guess_(guess) {}

  void run() {
    set_template_values();
    collect_names();
    for (const auto& condition : space_.conditions) add_condition(condition);
    LaunchGuess& launch = guess_.made.launches.front();
    apply_block(launch);
    apply_grid(launch);
    apply_shared_memory(launch);
  }

 private:
  [[nodiscard]] std::string quoted(const SpaceExpression& expression) const {
    return fmt::format("{} has \"{}\"", space_.file, expression.text);
  }

  /// Tunables that are template parameters have names of their own.
  void set_template_values() {
    for (const auto& parameter : space_.parameters) {
      for (auto& tunable : guess_.made.tunables) {
        const bool is_own = tunable.template_parameter == parameter.name;
        if (!is_own) continue;
        set_values(parameter, space_.file, tunable);
        names_.names[parameter.name] = tunable.name;
      }
    }
  }

  void collect_names() {
    for (const auto& parameter : space_.parameters) {
      names_.names.try_emplace(parameter.name, parameter.name);
      bool is_positive = true, is_not_negative = true, has_words = false;
      std::set<std::string> words;
      for (const auto& value : parameter.values) {
        if (const auto* const word = word_of(value)) {
          has_words = true;
          words.insert(*word);
          continue;
        }
        const auto* const real = std::get_if<double>(&value.value);
        has_words = has_words || real != nullptr;
        is_positive = is_positive && number_of(value) > 0;
        is_not_negative = is_not_negative && number_of(value) >= 0;
      }
      if (has_words) names_.words.emplace(parameter.name, std::move(words));
      if (is_positive) names_.positive.insert(parameter.name);
      if (is_not_negative) names_.not_negative.insert(parameter.name);
    }
    for (const auto& size : guess_.problem.sizes) {
      names_.names.try_emplace(size.parameter, size.name);
      names_.positive.insert(size.parameter);
    }
  }

  void add_condition(const SpaceExpression& condition) {
    const auto made = translated_condition(condition.node, condition.place, names_);
    if (made.text.empty()) {
      guess_.made.requirements.push_back(
          {kFillIn,
           fmt::format("{}: adopt cannot translate this: {}", quoted(condition), made.why)});
    } else if (made.text != "true") {
      guess_.made.requirements.push_back({made.text, ""});
    }
  }

  /// Extents up to the last that is not 1.
  [[nodiscard]] static std::size_t extents_of(
      const std::array<std::optional<SpaceExpression>, 3>& extents) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < extents.size(); ++i) {
      if (extents[i] && (i == 0 || extents[i]->text != "1")) count = i + 1;
    }
    return count;
  }

  void apply_block(LaunchGuess& launch) {
    const std::size_t count = extents_of(space_.local);
    if (count == 0) return;
    launch.block.clear();
    launch.block_comment = "";
    for (std::size_t i = 0; i < count; ++i) {
      if (!space_.local[i]) {
        launch.block.emplace_back("1");
        continue;
      }
      const auto& extent = *space_.local[i];
      const auto made = translated_number(extent.node, extent.place, names_);
      launch.block.push_back(made.text.empty() ? kFillIn : made.text);
      if (made.text.empty()) {
        launch.block_comment =
            fmt::format("{}: adopt cannot translate this: {}", quoted(extent), made.why);
      } else if (made.is_rounded_up && launch.block_comment.empty()) {
        launch.block_comment = fmt::format("CHECK: {}", quoted(extent));
      }
    }
  }

  /// Numbers that are the value of one size stand for this size.
  void name_sizes(PythonNode& node) const {
    if (node.kind == PythonNode::Kind::integer) {
      const std::string name = size_with_value(guess_.problem, node.text);
      if (name.empty()) return;
      node.kind = PythonNode::Kind::name;
      node.text = name;
      return;
    }
    for (auto& part : node.parts) name_sizes(part);
  }

  /// `blocks * threads` becomes `blocks`.
  [[nodiscard]] bool divide(SpaceExpression& extent, const std::string& threads) const {
    if (extent.node.kind != PythonNode::Kind::binary || extent.node.text != "*") return false;
    for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
      if (translated_number(extent.node.parts[i], extent.place, names_).text != threads) continue;
      PythonNode other = std::move(extent.node.parts[1 - i]);
      extent.node = std::move(other);
      return true;
    }
    return false;
  }

  void apply_grid(LaunchGuess& launch) {
    const std::size_t count = extents_of(space_.global);
    if (count == 0) return;
    std::vector<std::string> grid, originals;
    std::string why;
    for (std::size_t i = 0; i < count; ++i) {
      if (!space_.global[i]) {
        grid.emplace_back("1");
        continue;
      }
      SpaceExpression extent = *space_.global[i];
      originals.push_back(extent.text);
      name_sizes(extent.node);
      const std::string threads = i < launch.block.size() ? launch.block[i] : "1";
      const bool is_divided = space_.is_global_in_threads && divide(extent, threads);
      const auto made = translated_number(extent.node, extent.place, names_);
      std::string blocks = made.text.empty() ? kFillIn : made.text;
      if (made.text.empty()) why = made.why;
      if (space_.is_global_in_threads && !is_divided && blocks != kFillIn && threads != "1") {
        blocks = threads == kFillIn ? kFillIn : fmt::format("ceil_div({}, {})", blocks, threads);
      }
      grid.push_back(std::move(blocks));
    }
    const std::string shown =
        fmt::format("{} has GlobalSize \"{}\"{}", space_.file, fmt::join(originals, "\", \""),
                    space_.is_global_in_threads ? " in threads" : "");
    const bool is_known =
        std::find(launch.grid.begin(), launch.grid.end(), kFillIn) == launch.grid.end();
    const bool is_translated = std::find(grid.begin(), grid.end(), kFillIn) == grid.end();
    if (is_known && grid != launch.grid) {
      launch.grid_comment = "CHECK: number of blocks; " + shown;
    } else if (!is_known && is_translated) {
      launch.grid = std::move(grid);
      launch.grid_comment = "CHECK: number of blocks, for every size; " + shown;
    } else if (!is_known) {
      launch.grid_comment = "number of blocks; " + shown + (why.empty() ? "" : "; " + why);
    }
  }

  void apply_shared_memory(LaunchGuess& launch) const {
    if (!space_.shared_memory || space_.shared_memory->text == "0") return;
    const auto& bytes = *space_.shared_memory;
    const auto made = translated_number(bytes.node, bytes.place, names_);
    launch.smem = made.text.empty() ? kFillIn : made.text;
    launch.smem_comment = made.text.empty() ? quoted(bytes) + ": " + made.why : "";
  }

  const SpaceFile& space_;
  AdoptionGuess& guess_;
  TranslatedNames names_;
};

}  // namespace

std::vector<TunableGuess> tunables_of_space(const SpaceFile& space, const SourceModel& model,
                                            const std::vector<AdoptedKernel>& kernels,
                                            std::vector<TunableGuess> found) {
  std::vector<TunableGuess> result;
  for (const auto& parameter : space.parameters) {
    const bool is_of_template =
        std::any_of(kernels.begin(), kernels.end(), [&](const AdoptedKernel& kernel) {
          const auto& own = kernel.source->template_parameters;
          return std::any_of(own.begin(), own.end(),
                             [&](const auto& each) { return each.name == parameter.name; });
        });
    if (is_of_template) continue;
    const auto known = std::find_if(found.begin(), found.end(), [&](const TunableGuess& each) {
      return each.name == parameter.name;
    });
    TunableGuess tunable;
    if (known != found.end()) {
      tunable = *known;
      found.erase(known);
    } else {
      const auto macro = model.macros.find(parameter.name);
      const auto usual =
          macro == model.macros.end() ? std::nullopt : constant_number(macro->second.body, model);
      tunable = guess_tunable(parameter.name, usual, block_dimensions(model));
      tunable.is_of_file = usual.has_value();
    }
    set_values(parameter, space.file, tunable);
    if (tunable.comment.empty() && !is_in_source(model, parameter.name)) {
      tunable.comment = "only in the launch and the requirements";
    }
    result.push_back(std::move(tunable));
  }
  // What the file gives a value is no tunable then; what nothing defines has to be something.
  for (auto& each : found) {
    if (each.is_of_file) continue;
    each.comment = fmt::format("CHECK: {} does not list this name", space.file);
    result.push_back(std::move(each));
  }
  return result;
}

void apply_space_values(const SpaceFile& space, AdoptionGuess& guess) {
  SpaceApplier(space, guess).run();
}

std::vector<std::string> space_notes(const SpaceFile& space, const AdoptionGuess& guess) {
  std::vector<std::string> notes;
  for (const auto& parameter : space.parameters) {
    const auto macro = guess.model->macros.find(parameter.name);
    if (macro == guess.model->macros.end() || macro->second.is_default) continue;
    const auto kind = guess_tunable(parameter.name, std::nullopt, 1).kind;
    const bool is_noted = kind == TunableGuess::Kind::block || kind == TunableGuess::Kind::tile;
    if (is_noted && constant_number(macro->second.body, *guess.model)) continue;
    notes.push_back(fmt::format(
        "line {} always defines {}, so Kiln cannot tune this macro: write \"#ifndef {}\" above "
        "this line and \"#endif\" below this line, and run adopt again",
        macro->second.line, parameter.name, parameter.name));
  }
  const std::string own = std::filesystem::path(space.kernel_file).filename().string();
  if (!own.empty() && own != guess.file) {
    notes.push_back(
        fmt::format("{} describes a kernel in {}, but you adopt {}: check that both "
                    "belong together",
                    space.file, own, guess.file));
  }
  if (!space.compiler_options.empty()) {
    notes.push_back(fmt::format(
        "{} lists the compiler options {}, but Kiln has no flag for these: write __launch_bounds__ "
        "or intrinsics such as __expf in the source instead",
        space.file, fmt::join(space.compiler_options, " ")));
  }
  const auto of_arguments = argument_notes(space, guess);
  notes.insert(notes.end(), of_arguments.begin(), of_arguments.end());
  return notes;
}

}  // namespace kiln::tools
